package version

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
)

// AppendChange appends the transaction's schema change and its operations. A KindSchema
// record holds them after its header, or names a segment that holds them in its block
// "change":
//
//	where     1 byte, 0: the rest follows; 1: the segment's name, a text (uvarint length,
//	          bytes), follows, and the rest is in the segment
//	format    1 byte
//	schema    its digest, source and catalog encoding, each a text
//	ancestors uvarint count; for each its digest (text) and the carry from it, see AppendCarry
//	carry     the carry from the previous schema
//	ops       operations, which name types of the new schema
//
// AppendChange appends all of this except the field `where`.
func (tx *Txn) AppendChange(dst []byte, encoded func(*schema.Schema) []byte) []byte {
	dst = append(dst, format.Current)
	dst = schema.AppendSchema(dst, tx.change.Schema, encoded(tx.change.Schema))
	dst = schema.AppendAncestors(dst, tx.change.Schema)
	return tx.AppendOps(schema.AppendCarry(dst, tx.change.Carry, tx.change.Schema))
}

// ReadChange reads what AppendChange wrote. It returns the change and the encoded
// operations.
func ReadChange(b []byte, decode schema.Decoder) (ch schema.Change, ops []byte, err error) {
	r := &codec.Reader{Rest: b}
	r.Format(format.Change)
	ch.Schema = schema.ReadSchema(r, decode)
	if r.Err != nil {
		return schema.Change{}, nil, r.Err
	}
	ch.Schema.Ancestors = schema.ReadAncestors(r, ch.Schema)
	ch.Carry = schema.ReadCarry(r, ch.Schema)
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
