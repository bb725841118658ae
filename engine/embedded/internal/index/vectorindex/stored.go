package vectorindex

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
)

// A segment that holds a graph of vectors has these blocks, numbers little-endian:
//
//	vectors  format 1 byte; then uvarints: components of a vector, nodes, rows covered, breadth,
//	         nodes for which the breadth was measured, the entry plus one (0 in an empty graph),
//	         vectors that are not finite, layers above the lowest, and the nodes of each of these
//	ords     by node: its ordinal, 4 bytes
//	rows     by node: its row, 4 bytes; ascending
//	codes    by node: a byte for each component, padded with zeros to a multiple of 32
//	scale    by node: the length of one step of its codes, a 4-byte float
//	lack     by node: the error of its codes, a 4-byte float
//	links    by node: its links in the lowest layer, 32 times 4 bytes; unused places have all bits set
//	upper.n  by layer above the lowest: its nodes, 4 bytes each; ascending
//	upper.l  by layer and node: its links, 16 times 4 bytes
//	odd.o    by vector that is not finite: its ordinal, 4 bytes
//	odd.r    by vector that is not finite: its row, 4 bytes

// maxBreadth is the maximum breadth of a stored graph.
const maxBreadth = 1 << 16

// Name returns the name of the segment in which the graph is stored, or "" if it is not stored.
func (g *Graph) Name() string {
	if name := g.segment.Load(); name != nil {
		return *name
	}
	return ""
}

// Named records the segment in which the graph is stored. Only the goroutine that writes manifests
// may call it.
func (g *Graph) Named(name string) {
	g.segment.Store(&name)
	if m := g.mapped.Load(); m != nil {
		m.segment.Store(&name)
	}
}

// Map makes views read the graph from src, which must be the segment with the name
// [Graph.Name]. The memory of a graph that was built in memory is then freed as soon as no
// search uses it. Map throws the faults that it finds in src. Only the goroutine that writes
// manifests may call it.
func (g *Graph) Map(src column.Source) {
	if g.stored == nil && g.mapped.Load() == nil {
		g.mapped.Store(OpenGraph(g.Name(), src, g.dim, g.covered))
	}
}

// Mapped returns the graph as [Graph.Map] has read it from its segment, or g if Map has not
// been called or g was read from a segment.
func (g *Graph) Mapped() *Graph {
	if m := g.mapped.Load(); m != nil {
		return m
	}
	return g
}

// storedGraph reads the codes and the links of a stored graph, which are most of its bytes. A search
// verifies only the pieces that it needs. After many reads both blocks are read whole; see
// [column.Pending.ByPieces].
type storedGraph struct {
	unread column.Pending       // whether the codes and links of the graph must be read
	codes  column.Block[int8]   // the stored codes, node by node
	links  column.Block[uint32] // the stored links, node by node
}

// byPieces reports whether codes and links must be read from g.stored, which must not be nil. If it
// returns false, g.codes and g.links contain them.
func (g *Graph) byPieces() bool {
	return g.stored.unread.Left() && g.stored.unread.ByPieces(1, func() int { return g.stored.codes.Len() + 4*g.stored.links.Len() }, nil, g.read)
}

// load reads all codes and links of a stored graph into memory, unless that has been done.
func (g *Graph) load() {
	if g.stored != nil {
		g.stored.unread.Resolve(g.read)
	}
}

// read reads all codes and links of a stored graph into memory.
func (g *Graph) read() {
	src := g.place.Source
	codes, links := column.Read[int8](src, "codes", g.stored.codes.Len()), column.Read[uint32](src, "links", g.stored.links.Len())
	g.setCodes(codes)
	g.links = links
}

// codesOf returns the codes of n nodes, beginning with the node at position `first`. All n nodes
// must be in one chunk.
func (g *Graph) codesOf(first, n int) []int8 {
	if g.stored != nil && g.byPieces() {
		return g.stored.codes.Range(first*g.stride, (first+n)*g.stride)
	}
	at := first % chunkNodes * g.stride
	return g.codes[first/chunkNodes][at : at+n*g.stride]
}

// Cold reports that no block is compressed: searches read all of them in place.
func (g *Graph) Cold(string) (cold, delta bool) { return false, false }

// Blocks calls `add` for each block of the graph, one after another.
func (g *Graph) Blocks(add func(name string, data []byte) error) error {
	g.load()
	meta := []byte{format.Current}
	for _, n := range []int{g.dim, len(g.ords), int(g.covered), g.breadth, int(g.tuned), int(g.entry + 1), len(g.oddOrds), len(g.layers)} {
		meta = binary.AppendUvarint(meta, uint64(n))
	}
	var nodes, links []uint32
	for _, l := range g.layers {
		meta = binary.AppendUvarint(meta, uint64(len(l.nodes)))
		nodes, links = append(nodes, l.nodes...), append(links, l.links...)
	}
	codes := g.whole
	if codes == nil {
		codes = slices.Concat(g.codes...)
	}
	for _, b := range []struct {
		name string
		data []byte
	}{
		{"vectors", meta}, {"ords", column.Bytes(g.ords)}, {"rows", column.Bytes(g.rows)}, {"codes", column.Bytes(codes)},
		{"scale", column.Bytes(g.scale)}, {"lack", column.Bytes(g.lack)}, {"links", column.Bytes(g.links)},
		{"upper.n", column.Bytes(nodes)}, {"upper.l", column.Bytes(links)},
		{"odd.o", column.Bytes(g.oddOrds)}, {"odd.r", column.Bytes(g.oddRows)},
	} {
		if err := add(b.name, b.data); err != nil {
			return err
		}
	}
	return nil
}

// OpenGraph opens a stored graph of vectors with dim components. It throws faults in the
// graph; see package corruption. It does not read the codes and the links. The graph keeps src,
// from which searches read codes and links; a search throws the faults that it finds in them.
func OpenGraph(name string, src column.Source, dim int, covered uint32) *Graph {
	at := &index.BlockPlace{Source: src, Name: "of vectors"}
	meta := column.RawBlock(src, "vectors")
	if len(meta) == 0 {
		at.Fail("block vectors is empty")
	}
	at.Check(format.Vectors, uint32(meta[0]))
	var n [8]uint64
	rest, ok := index.ReadUvarints(meta[1:], n[:])
	if !ok || n[7] > 16 {
		at.Fail("block vectors is truncated or claims too many layers")
	}
	sizes := make([]uint64, n[7])
	if rest, ok = index.ReadUvarints(rest, sizes); !ok || len(rest) > 0 {
		at.Fail("block vectors is truncated")
	}
	nodes, odd := int(n[1]), int(n[6])
	switch {
	case int(n[0]) != dim || uint32(n[2]) != covered:
		at.Fail("found vectors of %d components from %d rows, expected %d components from %d rows", n[0], n[2], dim, covered)
	case n[3] > maxBreadth || n[5] > n[1] || (n[5] == 0) != (nodes == 0):
		at.Fail("the breadth %d or the entry %d is not valid for %d nodes", n[3], n[5], nodes)
	}
	g := &Graph{dim: dim, stride: column.NewCodes(dim).Stride, covered: covered, breadth: int(n[3]), tuned: uint32(n[4]), entry: uint32(n[5]) - 1,
		place: at, stored: &storedGraph{},
		ords: column.Read[uint32](src, "ords", nodes), rows: column.Read[uint32](src, "rows", nodes),
		scale: column.Read[float32](src, "scale", nodes), lack: column.Read[float32](src, "lack", nodes),
		oddOrds: column.Read[uint32](src, "odd.o", odd), oddRows: column.Read[uint32](src, "odd.r", odd),
	}
	g.Named(name)
	g.stored.codes = column.OpenBlockOf[int8](src, "codes", nodes*g.stride)
	g.stored.links = column.OpenBlockOf[uint32](src, "links", nodes*flatDegree)
	g.stored.unread.Defer()
	for i, row := range g.rows {
		if row >= covered || i > 0 && row <= g.rows[i-1] {
			at.Fail("node %d is for row %d, but the rows must ascend and be below %d", i, row, covered)
		}
	}
	for _, lack := range g.lack {
		g.maxLack = max(g.maxLack, lack)
	}
	for _, row := range g.oddRows {
		if row >= covered {
			at.Fail("a vector that is not finite is for row %d, but the index covers only %d rows", row, covered)
		}
	}
	total := 0
	for _, size := range sizes {
		if total += int(size); size == 0 || size > n[1] {
			at.Fail("a layer has %d nodes, expected 1 to %d", size, nodes)
		}
	}
	upper, links := column.Read[uint32](src, "upper.n", total), column.Read[uint32](src, "upper.l", total*degree)
	for _, size := range sizes {
		l := graphLayer{upper[:size:size], links[: size*degree : size*degree]}
		upper, links = upper[size:], links[size*degree:]
		for i, node := range l.nodes {
			if int(node) >= nodes || i > 0 && node <= l.nodes[i-1] {
				at.Fail("entry %d of a layer is node %d, but the nodes must ascend and be below %d", i, node, nodes)
			}
		}
		g.layers = append(g.layers, l)
	}
	return g
}

// Verify compares the graph with the vectors of the rows and checks the links. The result `part` is
// the name of the segment in which the graph is stored, if it is stored. Verify throws the faults
// of links.
func (v *View) Verify(vector Vectors) (part string, err error) {
	g := v.graph
	for node := range uint32(len(g.ords)) {
		g.linksOf(0, node)
		if !v.counts(node) {
			continue
		}
		x, ok := vector(g.rows[node])
		if !ok || len(x) != g.dim {
			return g.Name(), fmt.Errorf("the index covers row %d, which has no vector of %d components", g.rows[node], g.dim)
		}
		c := column.NewCodes(g.dim)
		c.Add(g.rows[node], x)
		if len(c.Rows) == 0 || !slices.Equal(c.Bytes, g.vector(node)) || c.Scale[0] != g.scale[node] || c.Error[0] != g.lack[node] {
			return g.Name(), fmt.Errorf("the codes of row %d do not match its vector", g.rows[node])
		}
	}
	for i := range g.layers {
		for _, node := range g.layers[i].nodes {
			for _, to := range g.linksOf(i+1, node) {
				g.places(i+1, to)
			}
		}
	}
	if g.entry != noNode {
		g.places(len(g.layers), g.entry)
	}
	return "", nil
}
