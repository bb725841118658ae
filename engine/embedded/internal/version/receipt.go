package version

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Receipt records the call that made a commit, so that a retry of the call gets the same
// answer.
type Receipt struct {
	Key  string   // the call's idempotency key
	Body [32]byte // digest of the request
	// The response to the call, without the commit.
	Outcome          engine.MergeOutcome // for a merge: its outcome
	Nodes, Edges     int64               // numbers of entities that the call changed
	NodeIns, EdgeIns []engine.TypeCount  // numbers of a load or a mutation, as package embedded packs them
	Row              []value.Value       // for a mutation: the row that it returned, or nil
	Schema           []byte              // for a schema change: the encoding of the previous catalog
}

// Receipted is a receipt with its commit.
type Receipted struct {
	Commit  engine.Commit // the commit that the call made
	Receipt Receipt       // the record of the call
}

// append appends the receipt, or nothing if it is nil:
//
//	key            text (uvarint length, bytes)
//	body           32 bytes
//	outcome        1 byte
//	nodes, edges   varints
//	counts         of nodes, then of edges: uvarint count, for each its type (text) and
//	               number (varint)
//	row or schema  the rest: see appendReturned for a row.
func (c *Receipt) append(dst []byte) []byte {
	if c == nil {
		return dst
	}
	dst = appendText(dst, c.Key)
	dst = append(dst, c.Body[:]...)
	dst = append(dst, byte(c.Outcome))
	dst = binary.AppendVarint(dst, c.Nodes)
	dst = binary.AppendVarint(dst, c.Edges)
	for _, counts := range [][]engine.TypeCount{c.NodeIns, c.EdgeIns} {
		dst = binary.AppendUvarint(dst, uint64(len(counts)))
		for _, n := range counts {
			dst = appendText(dst, n.Type)
			dst = binary.AppendVarint(dst, n.Count)
		}
	}
	return append(appendReturned(dst, c.Row), c.Schema...)
}

// Pack returns the receipt in its stored form.
func (c *Receipt) Pack() string { return string(c.append(nil)) }

// UnpackReceipt returns the receipt that Pack stored in s. It panics if s holds no receipt.
func UnpackReceipt(s string) Receipt {
	r := &reader{b: appendText(nil, s)}
	c := readReceipt(r)
	if c == nil {
		panic("version: " + strconv.Quote(s) + " is not a receipt")
	}
	return *c
}

// readReceipt reads a text that holds a receipt or is empty.
func readReceipt(r *reader) *Receipt {
	in := &reader{b: r.bytes(r.count())}
	if r.err != nil || len(in.b) == 0 {
		return nil
	}
	c := &Receipt{Key: in.text()}
	copy(c.Body[:], in.bytes(len(c.Body)))
	c.Outcome = engine.MergeOutcome(in.byte())
	c.Nodes, c.Edges = in.varint(), in.varint()
	for _, counts := range []*[]engine.TypeCount{&c.NodeIns, &c.EdgeIns} {
		for range in.count() {
			*counts = append(*counts, engine.TypeCount{Type: in.text(), Count: in.varint()})
		}
	}
	if in.err == nil && len(in.b) > 0 {
		if in.b[0] == rowMark {
			in.byte()
			c.Row = readReturned(in)
		} else {
			c.Schema, in.b = slices.Clone(in.b), nil
		}
	}
	if in.err == nil && (len(in.b) > 0 || c.Outcome > engine.Merged) {
		in.fail(fmt.Sprintf("a receipt with outcome %d", c.Outcome))
	}
	if in.err != nil {
		r.err, r.b = in.err, nil
		return nil
	}
	return c
}
