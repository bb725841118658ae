package vectorindex

import (
	"cmp"
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
)

const (
	// buildBreadth is the breadth of the searches of a build. The paper calls it efConstruction.
	buildBreadth = 128
	// buildBatch is the maximum number of nodes that are inserted together.
	buildBatch = 256
	// firstBatch is the number of nodes with which a graph begins. They are all compared with one
	// another.
	firstBatch = 64
)

// graphBuilder adds nodes to a graph under construction.
type graphBuilder struct {
	*Graph
	workers  int            // number of goroutines that insert nodes
	searches []*graphSearch // by worker
	linked   uint32         // nodes with lower numbers are in the graph
}

// Build builds a graph of the vectors in x. The graph covers the rows with numbers less than
// `covered`. If `earlier` is not nil, it must be a graph of an earlier state. The result then also
// contains the nodes of that graph, and x must contain only later rows. The function `ord` returns
// the ordinal of a row of x. At most `workers` goroutines build. The only possible error is that of
// the context.
func Build(ctx context.Context, earlier *Graph, dim int, x *column.Codes, ord func(row uint32) uint32, covered uint32, workers int) (*Graph, error) {
	g := &Graph{dim: dim, stride: x.Stride, entry: noNode}
	if earlier != nil {
		g = earlier.editable()
	}
	b := &graphBuilder{Graph: g, workers: max(1, workers), linked: uint32(len(g.ords))}
	for range b.workers {
		b.searches = append(b.searches, &graphSearch{})
	}
	g.coded(x, ord)
	g.covered = covered
	places := make([]uint32, (len(g.ords)-int(b.linked))*flatDegree)
	for i := range places {
		places[i] = noNode
	}
	g.links = append(g.links, places...)
	for int(b.linked) < len(g.ords) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := max(firstBatch, min(buildBatch, int(b.linked)/4))
		b.insert(min(b.linked+uint32(n), uint32(len(g.ords))))
	}
	return g, b.tune(ctx)
}

// editable returns a copy of a graph in memory. Nodes can be added to the copy. The full chunks of
// codes are shared.
func (g *Graph) editable() *Graph {
	g.load()
	c := &Graph{dim: g.dim, stride: g.stride, maxLack: g.maxLack, entry: g.entry, covered: g.covered, breadth: g.breadth, tuned: g.tuned, place: g.place}
	c.ords, c.rows = slices.Clone(g.ords), slices.Clone(g.rows)
	c.scale, c.lack = slices.Clone(g.scale), slices.Clone(g.lack)
	c.links = slices.Clone(g.links)
	c.codes = slices.Clone(g.codes)
	if n := len(g.ords) % chunkNodes; n > 0 {
		last := make([]int8, 0, chunkNodes*g.stride)
		c.codes[len(c.codes)-1] = append(last, c.codes[len(c.codes)-1]...)
	}
	c.layers = make([]graphLayer, len(g.layers))
	for i, l := range g.layers {
		c.layers[i] = graphLayer{slices.Clone(l.nodes), slices.Clone(l.links)}
	}
	c.oddOrds, c.oddRows = slices.Clone(g.oddOrds), slices.Clone(g.oddRows)
	return c
}

// joint contains the links that an inserted node gets in one layer.
type joint struct {
	node  uint32 // the inserted node
	layer int    // number of the layer
	to    []closeness
}

// insert inserts the nodes [b.linked, end).
func (b *graphBuilder) insert(end uint32) {
	first := b.linked
	joints := make([][]joint, end-first)
	parallel.Ranges(int(end-first), b.workers, 1, func(k, from, to int) {
		for i := from; i < to; i++ {
			joints[i] = b.find(b.searches[k], first+uint32(i), first, end)
		}
	})
	// reverse is a link from a node back to an inserted node.
	type reverse struct {
		layer    int
		from, to uint32
		c        closeness // of `to` as seen from `from`
	}
	var back []reverse
	for _, list := range joints {
		for _, j := range list {
			b.enter(j.layer, j.node)
			places := b.places(j.layer, j.node)
			for i, c := range j.to {
				places[i] = c.node()
				back = append(back, reverse{j.layer, c.node(), j.node, closenessOf(c.similarity(), j.node)})
			}
		}
	}
	slices.SortFunc(back, func(x, y reverse) int {
		return cmp.Or(cmp.Compare(x.layer, y.layer), cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to))
	})
	var starts []int
	for i := range back {
		if i == 0 || back[i].layer != back[i-1].layer || back[i].from != back[i-1].from {
			starts = append(starts, i)
		}
	}
	// Only one goroutine changes the links of a node.
	parallel.Ranges(len(starts), b.workers, 1, func(k, from, to int) {
		s := b.searches[k]
		for g := from; g < to; g++ {
			end := len(back)
			if g+1 < len(starts) {
				end = starts[g+1]
			}
			s.near = s.near[:0]
			group := back[starts[g]:end]
			for _, r := range group {
				s.near = append(s.near, r.c)
			}
			b.join(s, group[0].layer, group[0].from)
		}
	})
	b.linked = end
	for node := first; node < end; node++ {
		if b.entry == noNode || levelOf(b.ords[node]) > levelOf(b.ords[b.entry]) {
			b.entry = node
		}
	}
}

// enter makes room for the links of an inserted node in a layer above the lowest. Nodes must come
// in ascending order.
func (b *graphBuilder) enter(layer int, node uint32) {
	if layer == 0 {
		return
	}
	for len(b.layers) < layer {
		b.layers = append(b.layers, graphLayer{})
	}
	l := &b.layers[layer-1]
	l.nodes = append(l.nodes, node)
	for range degree {
		l.links = append(l.links, noNode)
	}
}

// find finds the links of a node that is not inserted yet, in each of its layers, from the highest
// to the lowest. The nodes [first, end) are inserted together with the node.
func (b *graphBuilder) find(s *graphSearch, node, first, end uint32) []joint {
	level := levelOf(b.ords[node])
	out := make([]joint, 0, level+1)
	t := &graphTarget{narrow: b.vector(node)}
	s.near = s.near[:0]
	if b.entry != noNode {
		s.near = append(s.near, b.descend(t, level))
	}
	for layer := level; layer >= 0; layer-- {
		s.best = s.best[:0]
		// The search of the next layer begins at the nodes that this search finds.
		if b.entry != noNode && layer <= len(b.layers) {
			s.begin(int(first))
			_, _ = b.explore(s, t, layer, buildBreadth, int(first), nil, nil) // cannot fail, because tick is nil
			s.near = append(s.near[:0], s.best...)
		}
		found := s.candidates[:0]
		for _, c := range s.best {
			found = append(found, closenessOf(c.similarity()*b.scale[node], c.node()))
		}
		for other := first; other < end; other++ {
			if other != node && levelOf(b.ords[other]) >= layer {
				found = append(found, closenessOf(b.similar(node, other, min(other+1, end-1)), other))
			}
		}
		s.candidates = found
		slices.Sort(found)
		found = found[:min(len(found), buildBreadth)]
		out = append(out, joint{node, layer, b.choose(found, degree, nil)})
	}
	return out
}

// join adds the links in s.near to the links of a node in a layer. If there are then too many
// links, it drops some.
func (b *graphBuilder) join(s *graphSearch, layer int, node uint32) {
	places := b.places(layer, node)
	for _, to := range b.linksOf(layer, node) {
		// Two nodes of one batch may have chosen each other.
		if !slices.ContainsFunc(s.near, func(c closeness) bool { return c.node() == to }) {
			s.near = append(s.near, closenessOf(b.similar(node, to, node), to))
		}
	}
	slices.Sort(s.near)
	if len(s.near) > len(places) {
		s.best = b.choose(s.near, len(places), s.best)
		s.near, s.best = s.best, s.near
	}
	for i := range places {
		places[i] = noNode
		if i < len(s.near) {
			places[i] = s.near[i].node()
		}
	}
}

const (
	// tuneQueries is the number of nodes that tune uses as queries.
	tuneQueries = 128
	// tuneRank is the number of nearest nodes that a search should find.
	tuneRank = 10
	// tuneRecall is the share of the nearest tuneRank nodes that a search must find.
	tuneRecall = 0.985
	// tuneAgain is the growth of a graph, in percent, after which the breadth is measured again.
	tuneAgain = 25
)

// breadths are the breadths that tune tries.
var breadths = []int{48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048}

// tune finds the least breadth at which searches find enough of the nearest nodes. To know the
// nearest nodes, it compares all nodes. Its queries are nodes of the graph, which are left out of
// their own results.
func (b *graphBuilder) tune(ctx context.Context) error {
	n := len(b.ords)
	if b.tuned > 0 && uint64(n)*100 < uint64(b.tuned)*(100+tuneAgain) {
		return nil
	}
	b.breadth, b.tuned = breadths[0], uint32(n)
	if n <= tuneQueries {
		return nil
	}
	var queries []uint32
	for i := range tuneQueries {
		if node := uint32(i * (n / tuneQueries)); node != b.entry {
			queries = append(queries, node)
		}
	}
	wanted := make([][]closeness, len(queries))
	b.each(ctx, queries, func(_ *graphSearch, i int, node uint32) {
		t := &graphTarget{narrow: b.vector(node)}
		var best []closeness
		for other := range uint32(n) {
			if other == node {
				continue
			}
			c := closenessOf(b.measure(t, other, min(other+1, uint32(n-1))), other)
			if len(best) < tuneRank {
				best = pushFarthest(best, c)
			} else if c < best[0] {
				replaceFarthest(best, c)
			}
		}
		wanted[i] = best
	})
	found := make([]int, len(queries))
	for _, breadth := range breadths {
		if breadth*degree > n {
			break // comparing all nodes takes as long
		}
		b.breadth = breadth
		b.each(ctx, queries, func(s *graphSearch, i int, node uint32) {
			t := &graphTarget{narrow: b.vector(node)}
			s.begin(n)
			s.visit(node)
			s.near = append(s.near[:0], b.descend(t, 0))
			if s.near[0].node() == node {
				s.near[0] = closenessOf(b.measure(t, b.entry, b.entry), b.entry)
			}
			_, _ = b.explore(s, t, 0, breadth, n, nil, nil) // cannot fail, because tick is nil
			found[i] = 0
			// A found node counts even if an equally similar node was wanted.
			for _, c := range s.best {
				if c.similarity() >= wanted[i][0].similarity() {
					found[i]++
				}
			}
			found[i] = min(found[i], tuneRank)
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		sum := 0
		for _, k := range found {
			sum += k
		}
		if float64(sum) >= tuneRecall*float64(tuneRank*len(queries)) {
			return nil
		}
	}
	b.breadth = 0
	return nil
}

// each calls f for the queries concurrently. Once ctx ends, it skips the rest of the queries.
func (b *graphBuilder) each(ctx context.Context, queries []uint32, f func(s *graphSearch, i int, node uint32)) {
	parallel.Ranges(len(queries), b.workers, 1, func(k, from, to int) {
		for i := from; i < to && ctx.Err() == nil; i++ {
			f(b.searches[k], i, queries[i])
		}
	})
}
