package value

// Widen converts a number, or a list of numbers, to a wider kind; see [Kind.Widens]. The numbers do
// not change. Null stays null.
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
	if !to.IsFloat() {
		return OfBits(to, v.Bits())
	}
	switch v.Kind().Storage() {
	case InFloat32, InFloat64:
		return OfF64(v.Float())
	case InUint32:
		return OfF64(float64(v.Uint()))
	default:
		return OfF64(float64(v.Int()))
	}
}
