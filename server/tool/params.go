package tool

import "github.com/omnigraph-go/omnigraph/gq/value"

// Scalar is the set of Go types for parameters that are neither lists nor vectors.
type Scalar interface {
	string | bool | int32 | uint32 | float32 | float64 |
		value.BigInt | value.BigUint | value.DateValue | value.DateTimeValue | value.BlobValue
}

// String returns a required String.
func (o *Object) String(name string) string { return required[string](o, name, value.String) }

// OptString returns an optional String.
func (o *Object) OptString(name string) *string { return optional[string](o, name, value.String) }

// Enum returns a required String that is one of the allowed values.
func (o *Object) Enum(name string, allowed ...string) string {
	v := o.Value(name, value.Type{Kind: value.String, Enum: allowed})
	return orZero[string](v)
}

// OptEnum returns an optional String that is one of the allowed values.
func (o *Object) OptEnum(name string, allowed ...string) *string {
	return orNil[string](o.Value(name, value.Type{Kind: value.String, Enum: allowed, Nullable: true}))
}

// Bool returns a required Bool.
func (o *Object) Bool(name string) bool { return required[bool](o, name, value.Bool) }

// OptBool returns an optional Bool.
func (o *Object) OptBool(name string) *bool { return optional[bool](o, name, value.Bool) }

// I32 returns a required I32.
func (o *Object) I32(name string) int32 { return required[int32](o, name, value.I32) }

// OptI32 returns an optional I32.
func (o *Object) OptI32(name string) *int32 { return optional[int32](o, name, value.I32) }

// I64 returns a required I64.
func (o *Object) I64(name string) value.BigInt { return required[value.BigInt](o, name, value.I64) }

// OptI64 returns an optional I64.
func (o *Object) OptI64(name string) *value.BigInt {
	return optional[value.BigInt](o, name, value.I64)
}

// U32 returns a required U32.
func (o *Object) U32(name string) uint32 { return required[uint32](o, name, value.U32) }

// OptU32 returns an optional U32.
func (o *Object) OptU32(name string) *uint32 { return optional[uint32](o, name, value.U32) }

// U64 returns a required U64.
func (o *Object) U64(name string) value.BigUint { return required[value.BigUint](o, name, value.U64) }

// OptU64 returns an optional U64.
func (o *Object) OptU64(name string) *value.BigUint {
	return optional[value.BigUint](o, name, value.U64)
}

// F32 returns a required F32.
func (o *Object) F32(name string) float32 { return required[float32](o, name, value.F32) }

// OptF32 returns an optional F32.
func (o *Object) OptF32(name string) *float32 { return optional[float32](o, name, value.F32) }

// F64 returns a required F64.
func (o *Object) F64(name string) float64 { return required[float64](o, name, value.F64) }

// OptF64 returns an optional F64.
func (o *Object) OptF64(name string) *float64 { return optional[float64](o, name, value.F64) }

// Date returns a required Date.
func (o *Object) Date(name string) value.DateValue {
	return required[value.DateValue](o, name, value.Date)
}

// OptDate returns an optional Date.
func (o *Object) OptDate(name string) *value.DateValue {
	return optional[value.DateValue](o, name, value.Date)
}

// DateTime returns a required DateTime.
func (o *Object) DateTime(name string) value.DateTimeValue {
	return required[value.DateTimeValue](o, name, value.DateTime)
}

// OptDateTime returns an optional DateTime.
func (o *Object) OptDateTime(name string) *value.DateTimeValue {
	return optional[value.DateTimeValue](o, name, value.DateTime)
}

// Blob returns a required Blob.
func (o *Object) Blob(name string) value.BlobValue {
	return required[value.BlobValue](o, name, value.Blob)
}

// OptBlob returns an optional Blob.
func (o *Object) OptBlob(name string) *value.BlobValue {
	return optional[value.BlobValue](o, name, value.Blob)
}

// Vector returns a required Vector of dim components.
func (o *Object) Vector(name string, dim int) []float32 {
	return vector(o.Value(name, value.Type{Kind: value.Vector, Dim: dim}))
}

// OptVector returns an optional Vector of dim components, or nil if it is absent.
func (o *Object) OptVector(name string, dim int) []float32 {
	return vector(o.Value(name, value.Type{Kind: value.Vector, Dim: dim, Nullable: true}))
}

// ListOf returns a required list of scalars of kind k. T must be the Go type of that kind.
func ListOf[T Scalar](o *Object, name string, k value.Kind) []T {
	return list[T](o.Value(name, value.Type{Kind: k, List: true}))
}

// OptListOf returns an optional list, or nil if it is absent. See [ListOf].
func OptListOf[T Scalar](o *Object, name string, k value.Kind) []T {
	return list[T](o.Value(name, value.Type{Kind: k, List: true, Nullable: true}))
}

func required[T Scalar](o *Object, name string, k value.Kind) T {
	return orZero[T](o.Value(name, value.Of(k)))
}

func optional[T Scalar](o *Object, name string, k value.Kind) *T {
	return orNil[T](o.Value(name, value.Of(k).Optional()))
}

func orZero[T Scalar](v value.Value) (t T) {
	if !v.IsNull() {
		t = goValue[T](v)
	}
	return t
}

func orNil[T Scalar](v value.Value) *T {
	if v.IsNull() {
		return nil
	}
	t := goValue[T](v)
	return &t
}

func vector(v value.Value) []float32 {
	if v.IsNull() {
		return nil
	}
	return v.Vector()
}

func list[T Scalar](v value.Value) []T {
	if v.IsNull() {
		return nil
	}
	elems := v.Elems()
	ts := make([]T, len(elems))
	for i, e := range elems {
		ts[i] = goValue[T](e)
	}
	return ts
}

// goValue returns a scalar as the Go type of its kind.
func goValue[T Scalar](v value.Value) (t T) {
	switch p := any(&t).(type) {
	case *string:
		*p = v.Str()
	case *bool:
		*p = v.Bool()
	case *int32:
		*p = int32(v.Int())
	case *uint32:
		*p = uint32(v.Uint())
	case *float32:
		*p = float32(v.Float())
	case *float64:
		*p = v.Float()
	case *value.BigInt:
		*p = value.BigInt(v.Int())
	case *value.BigUint:
		*p = value.BigUint(v.Uint())
	case *value.DateValue:
		*p = value.DateValue(v.Int())
	case *value.DateTimeValue:
		*p = value.DateTimeValue(v.Int())
	case *value.BlobValue:
		*p = v.Bytes()
	}
	return t
}
