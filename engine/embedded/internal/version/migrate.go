package version

import (
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/textindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/membership"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Migrate changes the schema of the transaction's state. It must be the transaction's first
// operation. The error is a *engine.Corrupt; see [Snapshot.Carried].
func (tx *Txn) Migrate(ch schema.Change) error {
	before, examined := tx.base, tx.examined
	base, lost, err := before.carriedTo(ch, examined.of(before, ch))
	if err != nil {
		return err
	}
	number, replays := tx.number, tx.replays
	*tx = *Begin(base)
	tx.number, tx.replays = number, replays
	tx.change, tx.before, tx.lost, tx.examined = &ch, before, lost, examined
	return nil
}

// Change returns the schema change of the transaction, or nil.
func (tx *Txn) Change() *schema.Change { return tx.change }

// Carried returns the state with another schema. Entities keep their ordinals, and rows
// keep their places. The error is a *engine.Corrupt if the carry does not fit the two
// schemas. Edges at nodes of a type that has left the interface at their end are removed.
func (s *Snapshot) Carried(ch schema.Change) (*Snapshot, error) {
	out, _, err := s.carriedTo(ch, nil)
	return out, err
}

// carriedTo does the work of Carried. It also returns, by edge type, the sources of the edges that it removed. It takes the new
// indexes and the converted segments of the examined state, if that is not nil.
func (s *Snapshot) carriedTo(ch schema.Change, examined *Examined) (*Snapshot, map[*schema.Type][]uint32, error) {
	if ch.Carry == nil { // the state has the schema already
		return s, nil, nil
	}
	if err := ch.Carry.Check(s.Schema, ch.Schema); err != nil {
		return nil, nil, err
	}
	out := NewSnapshot(ch.Schema, s.Commit)
	moved := map[*schema.Type]*Table{} // with the ordinals of the previous ends
	for _, part := range []struct {
		carries []schema.TypeCarry
		olds    []*Table
		news    []*Table
	}{{ch.Carry.Nodes, s.nodes, out.nodes}, {ch.Carry.Edges, s.edges, out.edges}} {
		for i, tc := range part.carries {
			if tc.From < 0 {
				continue
			}
			old, now := part.olds[tc.From], part.news[i].Type
			moves := now.Entity == plan.Edge && ch.Carry.Moves(s.Schema, ch.Schema, old.Type, now)
			var earlier, made *Table
			if examined != nil && !moves {
				earlier, made = examined.table(now.Entity, tc.From), examined.after.Table(now.Entity, i)
			}
			t, err := old.carried(now, tc, ch.Carry.Hard, earlier, made)
			if err != nil {
				return nil, nil, err
			}
			if moves {
				moved[now] = t
				continue
			}
			part.news[i] = t
		}
	}
	out, lost := out.carryReferences(s.Schema, ch.Carry)
	if len(moved) > 0 {
		out = out.moveEnds(s, ch.Carry, moved, lost)
	}
	return out, lost, nil
}

// carried returns the table as a table of type typ. If `made` is not nil, it is what carried made of an earlier state of the
// table.
func (t *Table) carried(typ *schema.Type, tc schema.TypeCarry, hard bool, earlier, made *Table) (*Table, error) {
	n := *t
	n.Type, n.line = typ, nil
	same := len(t.Type.Props) == len(typ.Props)
	for p, q := range tc.Props {
		same = same && p == q && tc.Keeps(t.Type, typ, p)
	}
	n.tail = slices.Clip(t.tail)
	if !same {
		n.tail = carriedTail(t, typ, tc, earlier, made)
	}
	rename := func(text string) string { return text }
	if names := tc.Names(t.Type, typ); names != nil && t.Claimed() {
		rename = func(text string) string { return membership.Renamed(text, names) }
		n.tail = slices.Clone(n.tail)
		for i := range n.tail {
			n.tail[i].Claims = rename(n.tail[i].Claims)
		}
	}
	dropped := false
	for q := range t.Type.Props {
		dropped = dropped || hard && !slices.Contains(tc.Props, q)
	}
	n.Segs = make([]*segment.Segment, len(t.Segs))
	for i, s := range t.Segs {
		if made != nil && i < min(len(earlier.Segs), len(made.Segs)) && earlier.Segs[i] == s {
			n.Segs[i] = made.Segs[i]
			continue
		}
		c, err := s.Carried(t.Type, typ, tc)
		if err == nil {
			err = c.RenameClaims(rename)
		}
		if err != nil {
			return nil, err
		}
		if dropped {
			c.Name, c.Origin = "", nil
		}
		n.Segs[i] = c
	}
	n.idx = make([]index.Hash, len(typ.Tuples))
	// A segment of stored bases belongs to one type, found by its name, and holds the bases of all
	// its tuples.
	if typ.Name != t.Type.Name || len(typ.Tuples) != len(t.Type.Tuples) {
		n.levels = nil
	}
	for i, tuple := range typ.Tuples {
		j := t.Type.SameTuple(typ, tuple, tc)
		if j != i {
			n.levels = nil
		}
		switch {
		case j >= 0:
			n.idx[i] = t.idx[j]
		case made != nil:
			n.idx[i] = extended(made.idx[i], earlier, t, &n.Rows, tuple)
		default:
			n.idx[i] = index.BuildHash(n.next, tupleHashes(&n.Rows, tuple))
		}
	}
	n.texts = t.texts.carried(typ, tc)
	return &n, nil
}

// carriedBlock is the number of rows whose converted values share one allocation.
const carriedBlock = 16

// carriedTail returns the rows of the tail of t with the values that they have in type typ. Like carried, it takes what it made of an
// earlier state.
func carriedTail(t *Table, typ *schema.Type, tc schema.TypeCarry, earlier, made *Table) []Row {
	tail, width := slices.Clone(t.tail), len(typ.Props)
	done := 0
	if made != nil {
		done = min(len(earlier.tail), len(made.tail))
	}
	rows := tc.Rows(t.Type, typ)
	var block []value.Value
	for i := range tail {
		was := tail[i].Vals
		if i < done && len(was) > 0 && len(earlier.tail[i].Vals) > 0 && &earlier.tail[i].Vals[0] == &was[0] {
			tail[i].Vals = made.tail[i].Vals
			continue
		}
		if len(block) < width {
			block = make([]value.Value, width*carriedBlock)
		}
		tail[i].Vals, block = block[:width:width], block[width:]
		rows.Convert(tail[i].Vals, was)
	}
	return tail
}

// carried returns the searches for a table with the same rows and another type.
func (s *searches) carried(to *schema.Type, tc schema.TypeCarry) *searches {
	n := &searches{typ: to}
	before := s.next()
	n.nearby.follow(&before.nearby, to, tc.Props)
	for p, q := range tc.Props {
		if view := before.earlier[q]; q >= 0 && view != nil && tc.Keeps(s.typ, to, p) {
			if n.earlier == nil {
				n.earlier = map[int]*textindex.View{}
			}
			n.earlier[p] = view
		}
	}
	return n
}

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
