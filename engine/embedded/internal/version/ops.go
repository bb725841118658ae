package version

import (
	"encoding/binary"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The layout of an operation of a commit:
//
//	op       code          1 byte: delete node 1, delete edge 2, put node 3, put edge 4,
//	                       skip node 5, skip edge 6
//	         type          uvarint, position in the schema
//	         id            text; not in a skip
//	         from, to      texts; only in put edge
//	         row           see package codec; only in puts
//
// A put replaces the entity with its id, or creates one. A skip consumes an ordinal without
// assigning it to an entity, so that a replay assigns the same ordinals to the entities. Operations
// take effect in order.

const (
	opDeleteNode = 1 + iota // deletes a node
	opDeleteEdge            // deletes an edge
	opPutNode               // inserts or replaces a node
	opPutEdge               // inserts or replaces an edge
	opSkipNode              // assigns the ordinal of a node that the commit also deletes
	opSkipEdge              // assigns the ordinal of an edge that the commit also deletes
)

// AppendOps appends the changes of the transaction as operations.
func (tx *Txn) AppendOps(dst []byte) []byte {
	type list struct {
		edits                []*edit
		del, put, skip, kind byte
	}
	nodes := list{tx.nodes, opDeleteNode, opPutNode, opSkipNode, 0}
	edges := list{tx.edges, opDeleteEdge, opPutEdge, opSkipEdge, 1}
	op := func(code byte, e *edit) {
		dst = append(dst, code)
		dst = binary.AppendUvarint(dst, uint64(e.Type.Index))
	}
	// Deletes come first, because a put may reuse the id of a deleted entity. Edges come
	// before nodes, because a node may be deleted only after its edges.
	for _, l := range []list{edges, nodes} {
		for _, e := range l.edits {
			if e == nil {
				continue
			}
			for _, ord := range e.sortedTouched() {
				if e.before.Alive(ord) && !e.Alive(ord) {
					op(l.del, e)
					dst = codec.AppendText(dst, e.before.ID(ord))
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
					op(l.skip, e)
				case !e.Alive(ord) || !e.changed(ord):
				default:
					op(l.put, e)
					dst = codec.AppendText(dst, e.ID(ord))
					if l.kind == 1 {
						src, dstOrd := e.Ends(ord)
						dst = codec.AppendText(dst, tx.Table(tx.base.Schema.Nodes[e.Type.From]).ID(src))
						dst = codec.AppendText(dst, tx.Table(tx.base.Schema.Nodes[e.Type.To]).ID(dstOrd))
					}
					dst = codec.AppendRow(dst, e.Type.Props, func(p int) value.Value { return e.Value(ord, p) })
				}
			}
		}
	}
	return dst
}

// ApplyOps applies operations to the transaction. The error is a *engine.Corrupt.
func (tx *Txn) ApplyOps(ops []byte) error {
	r := &codec.Reader{Rest: ops}
	s := tx.base.Schema
	for len(r.Rest) > 0 && r.Err == nil {
		code := r.Byte()
		types := s.Nodes
		if code == opDeleteEdge || code == opPutEdge || code == opSkipEdge {
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
		case opPutNode:
			id := r.Text()
			if row := r.Row(t.Props); r.Err == nil {
				tx.Put(t, Row{ID: id, Vals: row})
			}
		case opPutEdge:
			id := r.Text()
			src, _ := readEntity(r, tx, s.Nodes[t.From])
			dst, _ := readEntity(r, tx, s.Nodes[t.To])
			if row := r.Row(t.Props); r.Err == nil {
				tx.Put(t, Row{ID: id, Src: src, Dst: dst, Vals: row})
			}
		case opSkipNode, opSkipEdge:
			tx.edit(t).skip()
		default:
			r.Fail(fmt.Sprintf("an operation has the unknown code %d", code))
		}
	}
	return r.Err
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
