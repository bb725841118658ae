package schema

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The flags of a stored carry.
const (
	hardDrop  = 1 // Carry.Hard
	withKinds = 2 // the types of TypeCarry.Via follow each property
	hasStarts = 4 // TypeCarry.Starts follows the properties of each type
)

// AppendSchema appends a schema in the layout of a manifest. The parameter `encoded` is the
// encoding of its catalog.
func AppendSchema(dst []byte, s *Schema, encoded []byte) []byte {
	dst = codec.AppendText(dst, s.Digest)
	dst = codec.AppendText(dst, s.Source)
	return codec.AppendText(dst, string(encoded))
}

// ReadSchema reads a schema that AppendSchema wrote. The function `decode` decodes the catalog.
func ReadSchema(r *codec.Reader, decode Decoder) *Schema {
	digest, source, encoded := r.Text(), r.Text(), r.Bytes(r.Count())
	if r.Err != nil {
		return nil
	}
	c, err := decode(encoded)
	if err == nil {
		var s *Schema
		if s, err = New(source, digest, c); err == nil {
			return s
		}
	}
	r.Fail("the schema: " + err.Error())
	return nil
}

// AppendCarry appends a carry to the schema `to`:
//
//	flags          1 byte: 1 for a hard drop, 2 for types of properties, 4 for starts
//	nodes, edges   uvarint count; for each type its previous type: uvarint, 0 for none,
//	               else its position + 1; uvarint count of properties, and for each its
//	               previous property in the same way, and with flag 2: uvarint count
//	               of the types between the two, and for each the kind: 1 byte, and of a
//	               Decimal the uvarint of its digits, see value.Type.Dim; with flag 4 then
//	               the uvarint count of TypeCarry.Starts, and for each the uvarint position
//	               of its property, 1 byte: 1 for Unfilled, and a row of the value, see
//	               package codec
func AppendCarry(dst []byte, c *Carry, to *Schema) []byte {
	via := func(tc TypeCarry) bool { return tc.Via != nil }
	starts := func(tc TypeCarry) bool { return tc.Starts != nil }
	flags := byte(0)
	if c.Hard {
		flags = hardDrop
	}
	if slices.ContainsFunc(c.Nodes, via) || slices.ContainsFunc(c.Edges, via) {
		flags |= withKinds
	}
	if slices.ContainsFunc(c.Nodes, starts) || slices.ContainsFunc(c.Edges, starts) {
		flags |= hasStarts
	}
	dst = append(dst, flags)
	for _, part := range []struct {
		list  []TypeCarry
		types []*Type
	}{{c.Nodes, to.Nodes}, {c.Edges, to.Edges}} {
		dst = binary.AppendUvarint(dst, uint64(len(part.list)))
		for i, tc := range part.list {
			dst = binary.AppendUvarint(dst, uint64(tc.From+1))
			dst = binary.AppendUvarint(dst, uint64(len(tc.Props)))
			for p, q := range tc.Props {
				dst = binary.AppendUvarint(dst, uint64(q+1))
				if flags&withKinds == 0 {
					continue
				}
				dst = binary.AppendUvarint(dst, uint64(len(tc.Via[p])))
				for _, s := range tc.Via[p] {
					if dst = append(dst, byte(s.Kind)); s.Kind == value.Decimal {
						dst = binary.AppendUvarint(dst, uint64(s.Dim))
					}
				}
			}
			if flags&hasStarts == 0 {
				continue
			}
			dst = binary.AppendUvarint(dst, uint64(len(tc.Starts)))
			for _, p := range slices.Sorted(maps.Keys(tc.Starts)) {
				unfilled := byte(0)
				if tc.Starts[p].Unfilled {
					unfilled = 1
				}
				dst = append(binary.AppendUvarint(dst, uint64(p)), unfilled)
				dst = codec.AppendRow(dst, part.types[i].Props[p:p+1], func(int) value.Value { return tc.Starts[p].Value })
			}
		}
	}
	return dst
}

// ReadCarry reads a Carry to the schema `to`, which may be another one if the bytes are corrupt.
func ReadCarry(r *codec.Reader, to *Schema) *Carry {
	flags := r.Byte()
	if flags > hardDrop|withKinds|hasStarts {
		r.Fail(fmt.Sprintf("a schema change has the unknown flags %d", flags))
		return nil
	}
	c := &Carry{Hard: flags&hardDrop != 0}
	for _, part := range []struct {
		list  *[]TypeCarry
		types []*Type
	}{{&c.Nodes, to.Nodes}, {&c.Edges, to.Edges}} {
		for i := range r.Count() {
			tc := TypeCarry{From: int(r.Ordinal()) - 1, Props: make([]int, r.Count())}
			for p := range tc.Props {
				tc.Props[p] = int(r.Ordinal()) - 1
				if flags&withKinds == 0 {
					continue
				}
				for range r.Count() {
					if tc.Via == nil {
						tc.Via = map[int][]ScalarType{}
					}
					tc.Via[p] = append(tc.Via[p], readScalarType(r))
				}
			}
			if flags&hasStarts != 0 {
				tc.readStarts(r, part.types, i)
			}
			*part.list = append(*part.list, tc)
		}
	}
	return c
}

// readScalarType reads a type of TypeCarry.Via.
func readScalarType(r *codec.Reader) ScalarType {
	s := ScalarType{Kind: value.Kind(r.Byte())}
	if r.Err == nil && !s.Kind.IsKind() {
		r.Fail(fmt.Sprintf("a schema change has the unknown kind %d", s.Kind))
	}
	if s.Kind == value.Decimal {
		s.Dim = int(r.Ordinal())
		if t := (value.Type{Dim: s.Dim}); r.Err == nil && !value.IsDecimal(t.Precision(), t.Scale()) {
			r.Fail(fmt.Sprintf("a schema change has a Decimal with the digits %d", s.Dim))
		}
	}
	return s
}

// readStarts reads the field Starts of the carry of type i.
func (tc *TypeCarry) readStarts(r *codec.Reader, types []*Type, i int) {
	for range r.Count() {
		p := r.Index(len(tc.Props))
		if r.Err == nil && (i >= len(types) || p >= len(types[i].Props)) {
			r.Fail("the types of a schema do not match the values that their properties start with")
		}
		if r.Err != nil {
			return
		}
		if tc.Starts == nil {
			tc.Starts = map[int]Start{}
		}
		unfilled := r.Byte()
		if unfilled > 1 {
			r.Fail(fmt.Sprintf("the start of a property has the unknown flag %d", unfilled))
		}
		if row := r.Row(types[i].Props[p : p+1]); r.Err == nil {
			tc.Starts[p] = Start{row[0], unfilled == 1}
		}
	}
}

// AppendAncestors appends the encoding of a schema's ancestors to dst.
func AppendAncestors(dst []byte, s *Schema) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s.Ancestors)))
	for _, a := range s.Ancestors {
		dst = AppendCarry(codec.AppendText(dst, a.Digest), a.Carry, s)
	}
	return dst
}

// ReadAncestors reads the ancestors of a schema.
func ReadAncestors(r *codec.Reader, s *Schema) (all []Ancestor) {
	for range r.Count() {
		a := Ancestor{Digest: r.Text(), Carry: ReadCarry(r, s)}
		if r.Err == nil && !(a.Carry.reaches(a.Carry.Nodes, s.Nodes) && a.Carry.reaches(a.Carry.Edges, s.Edges)) {
			r.Fail("the types of a schema do not match those of its ancestor")
		}
		if r.Err != nil {
			return nil
		}
		all = append(all, a)
	}
	return all
}
