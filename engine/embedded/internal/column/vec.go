package column

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Vec is a column of a batch with reusable memory. Queries read properties into it.
type Vec struct {
	engine.Column
	valid engine.Bitmap // memory for Valid while Valid is nil
	used  int           // number of places used since the last Forget
}

// Reset prepares the vector for n values of type t, none of them null. Their contents are
// left over from earlier use.
func (v *Vec) Reset(t value.Type, n int) {
	v.Type, v.Valid, v.Fields = t, nil, nil
	v.used = max(v.used, n)
	if t.List {
		v.Lists = resize(v.Lists, n)
		return
	}
	switch t.Kind.Storage() {
	case value.InText, value.InBytes:
		v.Strings = resize(v.Strings, n)
	case value.InFloat32, value.InFloat64:
		v.Floats = resize(v.Floats, n)
	case value.InVector:
		v.Vectors = resize(v.Vectors, n)
	default:
		v.Ints = resize(v.Ints, n)
	}
}

// Forget clears references to the engine's memory, so that a pooled vector keeps nothing
// alive.
func (v *Vec) Forget() {
	clear(v.Strings[:min(v.used, cap(v.Strings))])
	clear(v.Vectors[:min(v.used, cap(v.Vectors))])
	clear(v.Lists[:min(v.used, cap(v.Lists))])
	v.used = 0
}

// SetNull makes value i null. It clears a list value; other kinds keep the old value in
// memory.
func (v *Vec) SetNull(i int) {
	if v.Valid == nil {
		words := (v.size() + 63) / 64
		v.valid = resize(v.valid, words)
		for j := range v.valid {
			v.valid[j] = ^uint64(0)
		}
		v.Valid = v.valid
	}
	v.Valid.Clear(i)
	if v.Type.List {
		v.Lists[i] = value.Null
	}
}

// Set sets value i to x, which must be null or of the vector's type.
func (v *Vec) Set(i int, x value.Value) {
	if x.IsNull() {
		v.SetNull(i)
		return
	}
	if v.Valid != nil {
		v.Valid.Set(i)
	}
	if v.Type.List {
		v.Lists[i] = x
		return
	}
	switch v.Type.Kind.Storage() {
	case value.InText:
		v.Strings[i] = x.Str()
	case value.InBytes:
		v.Strings[i] = x.Raw()
	case value.InFloat32, value.InFloat64:
		v.Floats[i] = x.Float()
	case value.InVector:
		v.Vectors[i] = x.Vector()
	default:
		v.Ints[i] = int64(x.Bits())
	}
}

// size returns the number of entries in the vector's array.
func (v *Vec) size() int {
	if v.Type.List {
		return len(v.Lists)
	}
	switch v.Type.Kind.Storage() {
	case value.InText, value.InBytes:
		return len(v.Strings)
	case value.InFloat32, value.InFloat64:
		return len(v.Floats)
	case value.InVector:
		return len(v.Vectors)
	}
	return len(v.Ints)
}

// resize returns s with length n. It reuses the memory of s if it is large enough; the values are
// undefined.
func resize[S ~[]E, E any](s S, n int) S {
	if cap(s) < n {
		return slices.Grow(s[:0], n)[:n]
	}
	return s[:n]
}
