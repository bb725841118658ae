package version

import (
	"encoding/binary"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
)

// AppendChange appends the transaction's schema change and its operations. A KindSchema
// record holds them after its header, or names a segment that holds them in its block
// "change":
//
//	where     1 byte, 0: the rest follows; 1: the segment's name, a text (uvarint length,
//	          bytes), follows, and the rest is in the segment
//	format    1 byte
//	schema    its digest, source and catalog encoding, each a text
//	ancestors uvarint count; for each its digest (text) and the carry from it, see appendCarry
//	carry     the carry from the previous schema
//	ops       operations, which name types of the new schema
//
// AppendChange appends all of this except the field `where`.
func (tx *Txn) AppendChange(dst []byte, encoded func(*Schema) []byte) []byte {
	dst = append(dst, format.Current)
	dst = appendSchema(dst, tx.change.Schema, encoded(tx.change.Schema))
	dst = appendAncestors(dst, tx.change.Schema)
	return tx.AppendOps(appendCarry(dst, tx.change.Carry))
}

// ReadChange reads what AppendChange wrote. It returns the change and the encoded
// operations.
func ReadChange(b []byte, decode Decoder) (ch Change, ops []byte, err error) {
	r := &codec.Reader{Rest: b}
	r.Format(format.Change)
	ch.Schema = readSchema(r, decode)
	if r.Err != nil {
		return Change{}, nil, r.Err
	}
	ch.Schema.Ancestors = readAncestors(r, ch.Schema)
	ch.Carry = readCarry(r)
	return ch, r.Rest, r.Err
}

// ReadWhere reads the field "where" of a KindSchema record. It returns the name of the segment that
// holds the change, or an empty name and the rest of the record. In the second case, the rest is
// the change.
func ReadWhere(b []byte) (segment string, rest []byte, err error) {
	r := &codec.Reader{Rest: b}
	switch w := r.Byte(); {
	case r.Err != nil || w == 0:
	case w == 1:
		segment = r.Text()
	default:
		r.Fail(fmt.Sprintf("the record says with the code %d where its change is stored, expected 0 or 1", w))
	}
	return segment, r.Rest, r.Err
}

// appendCarry appends a carry:
//
//	hard           1 byte, 0 or 1
//	nodes, edges   uvarint count; for each type its previous type: uvarint, 0 for none,
//	               else its position + 1; uvarint count of properties, and for each its
//	               previous property in the same way
func appendCarry(dst []byte, c *Carry) []byte {
	hard := byte(0)
	if c.Hard {
		hard = 1
	}
	dst = append(dst, hard)
	for _, list := range [][]TypeCarry{c.Nodes, c.Edges} {
		dst = binary.AppendUvarint(dst, uint64(len(list)))
		for _, tc := range list {
			dst = binary.AppendUvarint(dst, uint64(tc.From+1))
			dst = binary.AppendUvarint(dst, uint64(len(tc.Props)))
			for _, p := range tc.Props {
				dst = binary.AppendUvarint(dst, uint64(p+1))
			}
		}
	}
	return dst
}

// readCarry reads a Carry.
func readCarry(r *codec.Reader) *Carry {
	c := &Carry{Hard: r.Byte() == 1}
	for _, list := range []*[]TypeCarry{&c.Nodes, &c.Edges} {
		for range r.Count() {
			tc := TypeCarry{From: int(r.Ordinal()) - 1, Props: make([]int, r.Count())}
			for p := range tc.Props {
				tc.Props[p] = int(r.Ordinal()) - 1
			}
			*list = append(*list, tc)
		}
	}
	return c
}

// appendAncestors appends the encoding of a schema's ancestors to dst.
func appendAncestors(dst []byte, s *Schema) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s.Ancestors)))
	for _, a := range s.Ancestors {
		dst = appendCarry(codec.AppendText(dst, a.Digest), a.Carry)
	}
	return dst
}

// readAncestors reads the ancestors of a schema.
func readAncestors(r *codec.Reader, s *Schema) (all []Ancestor) {
	for range r.Count() {
		a := Ancestor{Digest: r.Text(), Carry: readCarry(r)}
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
