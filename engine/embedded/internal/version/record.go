package version

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The kinds of log record. The payload of every kind begins with its format number.
const (
	// KindRows is a commit with its operations inline: a header, then operations.
	KindRows uint8 = 1
	// KindBulk is a commit with its rows in segments: a header, then the parts; see [AppendParts].
	KindBulk uint8 = 2
	// KindSpilled is a commit with its operations in the block "ops" of a segment: a header, then
	// the name of the segment.
	KindSpilled uint8 = 3
	// KindBranch creates or deletes a branch; see [Branching].
	KindBranch uint8 = 4
	// KindSchema is a commit that changes the schema: a header, then the change; see
	// [Txn.AppendChange].
	KindSchema uint8 = 5
	// KindProposal is a new version of a proposal; see [AppendProposal].
	KindProposal uint8 = 6
	// KindProposalMerge is a merge commit and the proposal that it merges; see
	// [AppendProposalMerge].
	KindProposalMerge uint8 = 7
	// KindDraft opens or ends a draft, together with the change of its branch or with the merge that
	// ends it; see [Drafting].
	KindDraft uint8 = 8
)

// The layout of the payloads:
//
//	header   format        1 byte
//	         id            16 bytes, a ULID
//	         seq           uvarint
//	         time          varint, microseconds
//	         branch, actor texts (uvarint length, bytes)
//	         parents       uvarint count, 16 bytes each
//	         receipt       text, empty for none; see [Receipt]
//	op       code          1 byte: delete node 1, delete edge 2, put node 3, put edge 4,
//	                       skip node 5, skip edge 6
//	         type          uvarint, position in the schema
//	         id            text; not in a skip
//	         from, to      texts; only in put edge
//	         row           see the row codec; only in puts
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

// AppendHeader appends the header of a record. The receipt may be nil.
func AppendHeader(dst []byte, c engine.Commit, receipt *Receipt) []byte {
	dst = append(dst, format.Current)
	dst = codec.AppendULID(dst, c.ID)
	dst = binary.AppendUvarint(dst, c.Seq)
	dst = binary.AppendVarint(dst, c.Time.UnixMicro())
	dst = codec.AppendText(dst, c.Branch)
	dst = codec.AppendText(dst, c.Actor)
	dst = binary.AppendUvarint(dst, uint64(len(c.Parents)))
	for _, p := range c.Parents {
		dst = codec.AppendULID(dst, p)
	}
	return codec.AppendText(dst, string(receipt.append(nil)))
}

// Header reads the header of a record, and returns the rest of the payload. The header does not
// hold the digest of the schema: a commit has the schema of its parent, unless it changes the
// schema.
func Header(payload []byte) (c engine.Commit, receipt *Receipt, rest []byte, err error) {
	r := &codec.Reader{Rest: payload}
	c, receipt = readHeader(r)
	return c, receipt, r.Rest, r.Err
}

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

// AppendSpilled appends the name of the segment that holds a commit's operations.
func AppendSpilled(dst []byte, segment string) []byte { return codec.AppendText(dst, segment) }

// ReadSpilled reads the name that AppendSpilled wrote.
func ReadSpilled(b []byte) (segment string, err error) {
	r := &codec.Reader{Rest: b}
	segment = r.Text()
	return segment, r.Err
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

// readHeader reads the header of a record: the commit, and its receipt or nil.
func readHeader(r *codec.Reader) (c engine.Commit, receipt *Receipt) {
	r.Format(format.Record)
	c.ID = r.ULID()
	c.Seq = r.Uvarint()
	c.Time = time.UnixMicro(r.Varint()).UTC()
	c.Branch = r.Text()
	c.Actor = r.Text()
	for range r.Count() {
		c.Parents = append(c.Parents, r.ULID())
	}
	return c, readReceipt(r)
}
