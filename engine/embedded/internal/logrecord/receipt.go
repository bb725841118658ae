package logrecord

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
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

// positionKey begins the key of a receipt that holds the position of a source. No idempotency key begins so.
const positionKey = "\x00position "

// NewPosition returns the receipt of a commit that sets the position of a source.
func NewPosition(source, position string) *Receipt {
	return &Receipt{Key: positionKey + source, Row: []value.Value{value.OfString(position)}}
}

// Position returns the source and the position that the receipt holds, if it is one of [NewPosition].
func (c *Receipt) Position() (source, position string, ok bool) {
	if c == nil {
		return "", "", false
	}
	source, ok = strings.CutPrefix(c.Key, positionKey)
	if !ok || len(c.Row) != 1 {
		return "", "", false
	}
	return source, c.Row[0].Str(), true
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
	dst = codec.AppendText(dst, c.Key)
	dst = append(dst, c.Body[:]...)
	dst = append(dst, byte(c.Outcome))
	dst = binary.AppendVarint(dst, c.Nodes)
	dst = binary.AppendVarint(dst, c.Edges)
	for _, counts := range [][]engine.TypeCount{c.NodeIns, c.EdgeIns} {
		dst = binary.AppendUvarint(dst, uint64(len(counts)))
		for _, n := range counts {
			dst = codec.AppendText(dst, n.Type)
			dst = binary.AppendVarint(dst, n.Count)
		}
	}
	return append(appendReturned(dst, c.Row), c.Schema...)
}

// Pack returns the receipt in its stored form.
func (c *Receipt) Pack() string { return string(c.append(nil)) }

// UnpackReceipt returns the receipt that Pack stored in s. It panics if s holds no receipt.
func UnpackReceipt(s string) Receipt {
	r := &codec.Reader{Rest: codec.AppendText(nil, s)}
	c := readReceipt(r)
	if c == nil {
		panic("logrecord: " + strconv.Quote(s) + " is not a receipt")
	}
	return *c
}

// readReceipt reads a text that holds a receipt or is empty.
func readReceipt(r *codec.Reader) *Receipt {
	in := &codec.Reader{Rest: r.Bytes(r.Count())}
	if r.Err != nil || len(in.Rest) == 0 {
		return nil
	}
	c := &Receipt{Key: in.Text()}
	copy(c.Body[:], in.Bytes(len(c.Body)))
	c.Outcome = engine.MergeOutcome(in.Byte())
	c.Nodes, c.Edges = in.Varint(), in.Varint()
	for _, counts := range []*[]engine.TypeCount{&c.NodeIns, &c.EdgeIns} {
		for range in.Count() {
			*counts = append(*counts, engine.TypeCount{Type: in.Text(), Count: in.Varint()})
		}
	}
	if in.Err == nil && len(in.Rest) > 0 {
		if in.Rest[0] == rowMark {
			in.Byte()
			c.Row = readReturned(in)
		} else {
			c.Schema, in.Rest = slices.Clone(in.Rest), nil
		}
	}
	if in.Err == nil && (len(in.Rest) > 0 || c.Outcome > engine.Merged) {
		in.Fail(fmt.Sprintf("a receipt with outcome %d", c.Outcome))
	}
	if in.Err != nil {
		r.Err, r.Rest = in.Err, nil
		return nil
	}
	return c
}
