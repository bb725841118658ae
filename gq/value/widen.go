package value

// Widen converts a number, or a list of numbers, to a wider kind: I32 to I64 or F64, U32 to I64,
// U64 or F64, F32 to F64. The values do not change. Null stays null.
func Widen(v Value, to Kind) Value {
	switch {
	case v.IsNull() || v.Kind() == to:
		return v
	case v.IsList():
		elems := make([]Value, len(v.Elems()))
		for i, e := range v.Elems() {
			elems[i] = Widen(e, to)
		}
		return OfList(to, elems)
	}
	switch to {
	case I64:
		return OfI64(int64(v.Bits()))
	case U64:
		return OfU64(v.Bits())
	case F64:
		switch {
		case v.Kind().IsFloat():
			return OfF64(v.Float())
		case v.Kind() == U32:
			return OfF64(float64(v.Uint()))
		}
		return OfF64(float64(v.Int()))
	}
	panic("value: " + v.Kind().String() + " does not widen to " + to.String())
}
