package column

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Null returns a column of n nulls. The column occupies one bit per value.
func Null(t value.Type, n int) *Column {
	return &Column{typ: t.Optional(), n: n, valid: engine.NewBitmap(n), allNull: true}
}

// Stored returns the column with all the arrays of its type, in the form that Blocks
// writes. For a column made by Null this is another column.
func (c *Column) Stored() *Column {
	if !c.allNull {
		return c
	}
	b := NewBuilder(c.typ)
	for range c.n {
		b.AppendNull()
	}
	return b.Finish(nil)
}

// Mapped returns a column of type t with the results of f for the values. f may return null, also if t does not allow
// null. The error is a *engine.TooLarge.
func (c *Column) Mapped(t value.Type, f func(value.Value) value.Value) (*Column, error) {
	if c.allNull {
		return Null(t, c.n), nil
	}
	b := NewBuilder(t)
	for i := range uint32(c.n) {
		if err := b.Append(f(c.Value(i))); err != nil {
			return nil, err
		}
	}
	return b.Finish(nil), nil
}

// Repeat returns a column of type t with n equal values. The error is a *engine.TooLarge.
func Repeat(t value.Type, v value.Value, n int) (*Column, error) {
	b := NewBuilder(t)
	for range n {
		if err := b.Append(v); err != nil {
			return nil, err
		}
	}
	return b.Finish(nil), nil
}

// forget clears the old values of n places that become null, because they may alias
// released memory.
func forget(dst *Vec, at, n int) {
	switch {
	case dst.Type.List: // SetNull clears them
	case dst.Type.Kind.Storage().HasBytes():
		clear(dst.Strings[at : at+n])
	case dst.Type.Kind == value.Vector:
		clear(dst.Vectors[at : at+n])
	case dst.Type.Kind.IsFloat():
		clear(dst.Floats[at : at+n])
	default:
		clear(dst.Ints[at : at+n])
	}
}
