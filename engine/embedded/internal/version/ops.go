package version

import (
	"encoding/binary"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/membership"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The layout of an operation of a commit. Code 9, which only a bulk record has, is not one of them; see Txn.AppendLate.
//
//	op       code          1 byte: delete node 1, delete edge 2, put node 3, put edge 4,
//	                       skip node 5, skip edge 6, put claimed node 7, put claimed edge 8
//	         type          uvarint, position in the schema
//	         id            text; not in a skip
//	         from, to      texts; only in puts of edges
//	         row           see package codec; only in puts
//	         membership    text, see package membership; only in puts of claimed entities
//	         stamp         uvarints: the numbers of the commits that made and changed the entity; only if the code
//	                       has the flag 16, which only puts have; not before format 14
//
// A put replaces the entity with its id, or creates one. One without a membership is of an entity that has none before and
// after it. One without a stamp gets its origin from the commit: an entity that exists keeps the commit that made it. A skip consumes an ordinal without
// assigning it to an entity, so that a replay assigns the same ordinals to the entities. Operations
// take effect in order.

const (
	opDeleteNode = 1 + iota // deletes a node
	opDeleteEdge            // deletes an edge
	opPutNode               // inserts or replaces a node
	opPutEdge               // inserts or replaces an edge
	opSkipNode              // assigns the ordinal of a node that the commit also deletes
	opSkipEdge              // assigns the ordinal of an edge that the commit also deletes
	opClaimNode             // inserts or replaces a node with its membership, which may be empty
	opClaimEdge             // inserts or replaces an edge with its membership, which may be empty
	opStored                // stands for the operations in the block "ops" of a segment; see AppendLate
)

// stamped is the flag of a put with a stamp.
const stamped = 16

// AppendOps appends the changes of the transaction as operations.
func (tx *Txn) AppendOps(dst []byte) []byte {
	type list struct {
		edits []*edit
		skip  byte
	}
	nodes, edges := list{tx.nodes, opSkipNode}, list{tx.edges, opSkipEdge}
	// Deletes come first, because a put may reuse the id of a deleted entity. Edges come
	// before nodes, because a node may be deleted only after its edges.
	for _, l := range []list{edges, nodes} {
		for _, e := range l.edits {
			if e == nil {
				continue
			}
			for _, ord := range e.sortedTouched() {
				if e.before.Alive(ord) && !e.Alive(ord) {
					dst = appendDelete(dst, e.before, ord)
				}
			}
		}
	}
	for _, l := range []list{nodes, edges} {
		for _, e := range l.edits {
			if e == nil {
				continue
			}
			for _, ord := range e.sortedTouched() {
				switch {
				case !e.Alive(ord) && ord >= e.before.next:
					dst = appendOp(dst, l.skip, e.Table)
				case !e.Alive(ord) || !e.changed(ord):
				default:
					claimed := e.Claims(ord) != "" || e.before.Alive(ord) && e.before.Claims(ord) != ""
					dst = tx.appendPut(dst, e.Table, ord, claimed, e.Stamp(ord) != tx.derived(e, ord))
				}
			}
		}
	}
	return dst
}

// appendOp appends the code of an operation and the type of its entity.
func appendOp(dst []byte, code byte, t *Table) []byte {
	return binary.AppendUvarint(append(dst, code), uint64(t.Type.Index))
}

// appendDelete appends the operation that deletes an entity, which is alive in t.
func appendDelete(dst []byte, t *Table, ord uint32) []byte {
	code := byte(opDeleteNode)
	if t.Type.Entity == plan.Edge {
		code = opDeleteEdge
	}
	return codec.AppendText(appendOp(dst, code, t), t.ID(ord))
}

// appendPut appends the operation that puts an entity of a table of the transaction, with its membership and its stamp if the last two
// arguments say so.
func (tx *Txn) appendPut(dst []byte, t *Table, ord uint32, claimed, stamps bool) []byte {
	edge := t.Type.Entity == plan.Edge
	code := byte(opPutNode)
	switch {
	case edge && claimed:
		code = opClaimEdge
	case edge:
		code = opPutEdge
	case claimed:
		code = opClaimNode
	}
	if stamps {
		code |= stamped
	}
	dst = codec.AppendText(appendOp(dst, code, t), t.ID(ord))
	if edge {
		src, dstOrd := t.Ends(ord)
		dst = codec.AppendText(dst, tx.Table(tx.base.Schema.Nodes[t.Type.From]).ID(src))
		dst = codec.AppendText(dst, tx.Table(tx.base.Schema.Nodes[t.Type.To]).ID(dstOrd))
	}
	dst = codec.AppendRow(dst, t.Type.Props, func(p int) value.Value { return t.Value(ord, p) })
	if claimed {
		dst = codec.AppendText(dst, t.Claims(ord))
	}
	if stamps {
		s := t.Stamp(ord)
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(s.Made)), uint64(s.Changed))
	}
	return dst
}

// ApplyOps applies operations to the transaction. The error is a *engine.Corrupt.
func (tx *Txn) ApplyOps(ops []byte) error {
	r := &codec.Reader{Rest: ops}
	s := tx.base.Schema
	for len(r.Rest) > 0 && r.Err == nil {
		code := r.Byte()
		how := putRow{carries: code&stamped != 0}
		if put := code &^ stamped; how.carries && (put == opPutNode || put == opPutEdge || put == opClaimNode || put == opClaimEdge) {
			code = put
		}
		types := s.Nodes
		if code == opDeleteEdge || code == opPutEdge || code == opSkipEdge || code == opClaimEdge {
			types = s.Edges
		}
		i := r.Index(len(types))
		if r.Err != nil {
			break
		}
		t := types[i]
		switch code {
		case opDeleteNode, opDeleteEdge:
			if ord, ok := readEntity(r, tx, t); ok {
				if connected(tx, t, ord) {
					r.Fail(fmt.Sprintf("node %s is deleted before its edges", t.Name))
					break
				}
				tx.edit(t).delete(ord)
			}
		case opPutNode, opClaimNode:
			id := r.Text()
			row := Row{ID: id, Vals: r.Row(t.Props), Claims: readClaims(r, code), Stamp: readStamp(r, how)}
			if r.Err == nil {
				tx.put(t, row, how)
			}
		case opPutEdge, opClaimEdge:
			id := r.Text()
			src, _ := readEntity(r, tx, s.Nodes[t.From])
			dst, _ := readEntity(r, tx, s.Nodes[t.To])
			row := Row{ID: id, Src: src, Dst: dst, Vals: r.Row(t.Props), Claims: readClaims(r, code), Stamp: readStamp(r, how)}
			if r.Err == nil {
				tx.put(t, row, how)
			}
		case opSkipNode, opSkipEdge:
			tx.edit(t).skip()
		default:
			r.Fail(fmt.Sprintf("an operation has the unknown code %d", code))
		}
	}
	return r.Err
}

// readClaims reads the membership at the end of a put.
func readClaims(r *codec.Reader, code byte) string {
	if code != opClaimNode && code != opClaimEdge {
		return ""
	}
	text := r.Text()
	if _, err := membership.Parse(text); r.Err == nil && err != nil {
		r.Fail("a membership: " + err.Error())
	}
	return text
}

// readStamp reads the stamp at the end of a put that carries one.
func readStamp(r *codec.Reader, how putRow) (s segment.Stamp) {
	if how.carries {
		s = segment.Stamp{Made: r.Ordinal(), Changed: r.Ordinal()}
	}
	return s
}

// connected reports whether a node has a live edge.
func connected(tx *Txn, t *schema.Type, ord uint32) bool {
	for _, e := range t.Out {
		if edges := tx.Table(tx.base.Schema.Edges[e]); Degree(edges, edges.Out(), ord) > 0 {
			return true
		}
	}
	for _, e := range t.In {
		if edges := tx.Table(tx.base.Schema.Edges[e]); Degree(edges, edges.In(), ord) > 0 {
			return true
		}
	}
	return false
}

// readEntity reads an id and looks up its entity. It fails if there is none.
func readEntity(r *codec.Reader, tx *Txn, t *schema.Type) (uint32, bool) {
	id := r.Text()
	if r.Err != nil {
		return 0, false
	}
	ord, ok := tx.Table(t).Lookup(id)
	if !ok {
		r.Fail(fmt.Sprintf("%s %s %q does not exist", t.Entity, t.Name, id))
	}
	return ord, ok
}
