package exec

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/sink"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// A read that only counts rows need not make a row for each match. If a part of the pattern hangs on the rest by one
// variable and forms a tree, the number of matches of that part depends on the node of that variable alone. The planner
// takes such parts off the pattern. The steps make rows for the rest, the core, and the step [Multiply] counts each row
// as often as the product of the numbers of matches of the parts.

// Weight gives each node of a variable the number of matches of the parts that hang on the variable. It is the product
// of the factors.
type Weight struct {
	Var     plan.VarID // the variable
	Conds   []*ir.Cond // conditions on the variable; nodes that fail one have the weight 0
	Factors []*Factor  // none if each node that satisfies the conditions has the weight 1
	Kept    int        // position in matcher.weighed of the weights of all nodes; -1 if they are not kept
	// Part is set if the variable belongs to a part, so that the steps do not test its conditions.
	Part bool
}

// Factor is the number of matches of one part, or of all parts of an `optional` block at one variable.
type Factor struct {
	Branches []*Branch // the number is the product of these
	Optional bool      // a number of 0 counts as 1
}

// Branch is a traversal from a variable to another one, which is the first variable of a part.
type Branch struct {
	Expand         // from the variable outside of the part
	Of     *Weight // the weights of the other variable
}

// IsUniform reports whether each node has the weight 1.
func (w *Weight) IsUniform() bool { return len(w.Conds)+len(w.Factors) == 0 }

// Terms replaces the whole match of a read that only counts rows. The count is the sum of the counts of several patterns,
// some of them subtracted. Each pattern has its steps, which end with a step of type multiply.
type Terms struct{ Of []*Pipe }

// run implements [Step].
func (s *Terms) run(m *matcher, p *Pipe, _ int, _ *eval.Frame) error {
	for _, t := range s.Of {
		if err := m.start(t); err != nil {
			return err
		}
	}
	m.countRows(p, int(m.out.Counted))
	return nil
}

// Multiply is the last step of a read that counts rows. It counts each row as often as the product of the weights of its
// nodes says. It passes nothing on.
type Multiply struct {
	Of    []*Weight // the weights of variables of the row
	Times int64     // the factor of the whole count; negative in a term that is subtracted
	Last  *Closing  // nil for none
	Vars  []plan.VarID
}

// Closing stands for the steps that bind the last variable of the core and then check its other traversals. It looks at
// the nodes without making rows of them.
type Closing struct {
	Expand          // binds the last variable
	Checks []*Check // the other traversals of the variable
	Of     *Weight  // the weights of the variable, which are kept; nil if each node counts once
}

// run implements [Step].
func (s *Multiply) run(m *matcher, p *Pipe, _ int, f *eval.Frame) error {
	if err := m.prepareWeights(s); err != nil {
		return err
	}
	if err := m.Tick(f.N); err != nil {
		return err
	}
	weights := slices.Grow(m.weights[:0], f.N)[:f.N]
	m.weights = weights
	for i := range weights {
		weights[i] = 1
	}
	for _, w := range s.Of {
		if err := m.multiplyBy(w, f.Cols[w.Var][:f.N], weights); err != nil {
			return err
		}
	}
	if s.Last != nil {
		if err := s.Last.run(m, f, weights); err != nil {
			return err
		}
	}
	total := int64(0)
	rows := m.Chosen[:0]
	for i, n := range weights {
		if total += n; total < 0 {
			return sink.CountTooLarge()
		}
		if n != 0 {
			weights[len(rows)] = n
			rows = append(rows, uint32(i))
		}
	}
	m.Chosen = rows
	m.countRows(p, int(total))
	if m.CountsOnly {
		return m.out.CountTimes(total, s.Times)
	}
	f.Choose(rows, s.Vars)
	return m.out.GroupTimes(f, weights[:len(rows)])
}

// prepareWeights computes the weights that are kept.
func (m *matcher) prepareWeights(s *Multiply) error {
	for _, w := range s.Of {
		if err := m.keepWeights(w); err != nil {
			return err
		}
	}
	if s.Last != nil && s.Last.Of != nil {
		return m.keepWeights(s.Last.Of)
	}
	return nil
}

// keepWeights computes the weights of all nodes of a variable, if they are kept, and those of the variables below.
func (m *matcher) keepWeights(w *Weight) error {
	if w.Kept >= 0 && m.weighed[w.Kept] != nil {
		return nil
	}
	for _, f := range w.Factors {
		for _, b := range f.Branches {
			if err := m.keepWeights(b.Of); err != nil {
				return err
			}
		}
	}
	if w.Kept < 0 {
		return nil
	}
	table := m.Table(w.Var)
	if err := m.Spend(8 * int(table.Ordinals())); err != nil {
		return err
	}
	list := make([]int64, table.Ordinals())
	var err error
	if table.Ordinals() < splitNodes {
		err = m.weigh(w, list)
	} else {
		err = m.together(func(m *matcher) error { return m.weigh(w, list) })
	}
	if err == nil {
		m.weighed[w.Kept] = list
	}
	return err
}

// weigh writes the weights of the nodes in the units that the goroutine takes into a list.
func (m *matcher) weigh(w *Weight, list []int64) error {
	table := m.Table(w.Var)
	f := &m.weighing
	if f.Cols == nil {
		f.Cols = make([][]uint32, m.program.slots())
		m.charged(eval.ColumnHead * len(f.Cols))
	}
	m.column(f, w.Var)
	tests := Filter{Conds: w.Conds, Vars: []plan.VarID{w.Var}}
	values := make([]int64, eval.FrameSize)
	for from, to := range units(table) {
		if !m.share.take() {
			continue
		}
		for next := from; next < to; {
			if err := m.Tick(eval.FrameSize); err != nil {
				return err
			}
			f.N, next = table.ScanTo(next, to, f.Cols[w.Var][:eval.FrameSize])
			if f.N == 0 || len(w.Conds) > 0 && !tests.keep(m, f) {
				continue
			}
			for i := range f.N {
				values[i] = 1
			}
			for _, factor := range w.Factors {
				if err := m.factor(factor, f.Cols[w.Var][:f.N], values); err != nil {
					return err
				}
			}
			for i, ord := range f.Cols[w.Var][:f.N] {
				list[ord] = values[i]
			}
		}
	}
	return nil
}

// multiplyBy multiplies each number in `products` by the weight of the node at the same position.
func (m *matcher) multiplyBy(w *Weight, nodes []uint32, products []int64) error {
	if w.Kept < 0 {
		for _, f := range w.Factors {
			if err := m.factor(f, nodes, products); err != nil {
				return err
			}
		}
		return nil
	}
	list := m.weighed[w.Kept]
	for i, node := range nodes {
		n, err := sink.Product(products[i], list[node])
		if err != nil {
			return err
		}
		products[i] = n
	}
	return nil
}

// factor multiplies each number in `products` by the factor of the node at the same position.
func (m *matcher) factor(s *Factor, nodes []uint32, products []int64) error {
	if !s.Optional {
		return m.branch(s.Branches[0], nodes, products)
	}
	own := make([]int64, len(nodes))
	for i := range own {
		own[i] = min(products[i], 1) // there is nothing to count where the product is 0 already
	}
	for _, b := range s.Branches {
		if err := m.branch(b, nodes, own); err != nil {
			return err
		}
	}
	for i, n := range own {
		if !fault.On(fault.OptionalLost) {
			n = max(n, 1)
		}
		n, err := sink.Product(products[i], n)
		if err != nil {
			return err
		}
		products[i] = n
	}
	return nil
}

// branch multiplies each number in `products` by the sum of the weights of the nodes to which the branch leads from the
// node at the same position. It skips the numbers that are 0. The weights are kept, or each of them is 1: then `list` is
// nil, and the sum is the number of neighbours, which is the degree if hops[0].Whole. planner.keepWeights ensures this.
func (m *matcher) branch(b *Branch, nodes []uint32, products []int64) error {
	var room [2]eval.Hop
	hops := m.HopsOf(room[:0], b.Link, b.Undirected || !b.Back, b.Undirected || b.Back)
	var list []int64
	if b.Of.Kept >= 0 {
		list = m.weighed[b.Of.Kept]
	}
	whole := len(hops) == 1 && hops[0].Whole
	examined := 0
	for i, node := range nodes {
		if products[i] == 0 {
			continue
		}
		if whole && list == nil {
			n, err := sink.Product(products[i], int64(hops[0].Adj.BaseDegree(node)))
			if err != nil {
				return err
			}
			products[i] = n
			continue
		}
		var others []uint32
		var err error
		if whole {
			others = hops[0].Adj.Others(node)
			if examined += 1 + len(others); examined > eval.FrameSize {
				err, examined = m.Tick(examined), 0
			}
		} else {
			others, err = m.distinctNeighbours(&b.Expand, hops, node)
		}
		if err != nil {
			return err
		}
		sum, err := sink.SumOf(list, others)
		if err != nil {
			return err
		}
		if products[i], err = sink.Product(products[i], sum); err != nil {
			return err
		}
	}
	return m.Tick(examined)
}

// distinctNeighbours returns the nodes to which the edges of a node lead, each once. The list is valid until the next
// call for the same step. It is faster than neighbours if the edges are followed in both directions.
func (m *matcher) distinctNeighbours(s *Expand, hops []eval.Hop, node uint32) ([]uint32, error) {
	if len(hops) != 2 || !hops[0].Plain(node) || !hops[1].Plain(node) {
		_, others, err := m.neighbours(s, hops, node)
		return others, err
	}
	a, b := hops[0].Adj.Others(node), hops[1].Adj.Others(node)
	if err := m.Tick(1 + (len(a)+len(b))/8); err != nil {
		return nil, err
	}
	near := &m.around[s.ID]
	was := cap(near.Nodes)
	out := slices.Grow(near.Nodes[:0], len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		out = append(out, min(x, y))
		if x <= y {
			a = a[1:]
		}
		if y <= x {
			b = b[1:]
		}
	}
	out = append(append(out, a...), b...)
	near.Nodes = out
	return out, m.Hold(4 * (cap(out) - was))
}

// run multiplies each number in `products` by the sum of the weights of the nodes that the last variable can be in the row at
// the same position.
func (s *Closing) run(m *matcher, f *eval.Frame, products []int64) error {
	var room [2]eval.Hop
	hops := m.HopsOf(room[:0], s.Link, s.Undirected || !s.Back, s.Undirected || s.Back)
	var list []int64
	if s.Of != nil {
		list = m.weighed[s.Of.Kept]
	}
	tests := make([]edgeTest, len(s.Checks))
	whole := len(hops) == 1 && hops[0].Whole
	for i := range f.N {
		if products[i] == 0 {
			continue
		}
		var others []uint32
		var err error
		if whole {
			others, err = hops[0].Adj.Others(f.Cols[s.Near][i]), m.Tick(1)
		} else {
			others, err = m.distinctNeighbours(&s.Expand, hops, f.Cols[s.Near][i])
		}
		if err != nil {
			return err
		}
		if len(others) == 0 {
			products[i] = 0
			continue
		}
		for k, c := range s.Checks {
			if tests[k], err = s.test(m, c, tests[k], f, i, len(others)); err != nil {
				return err
			}
		}
		if err := m.Tick(len(others)); err != nil {
			return err
		}
		sum := int64(0)
		for _, other := range others {
			if !fault.On(fault.ClosingOpen) && !joinsAll(tests, other) {
				continue
			}
			n := int64(1)
			if list != nil {
				n = list[other]
			}
			if sum += n; sum < 0 {
				return sink.CountTooLarge()
			}
		}
		if products[i], err = sink.Product(products[i], sum); err != nil {
			return err
		}
	}
	return nil
}

// test returns the test of a traversal between the last variable and the node of row i. It returns the parameter `was`,
// the test for an earlier row, if that one is for the same node.
func (s *Closing) test(m *matcher, c *Check, was edgeTest, f *eval.Frame, i, tests int) (edgeTest, error) {
	v, back := c.From, false
	if v == s.Far {
		v, back = c.To, true
	}
	node := f.Cols[v][i]
	if was.n > 0 && was.node == node {
		return was, nil
	}
	rows := 1
	for rows < f.N-i && f.Cols[v][i+rows] == node {
		rows++
	}
	return m.edgeTest(c, node, back, rows*max(1, tests))
}

// joinsAll reports whether each of the tests is true for a node.
func joinsAll(tests []edgeTest, node uint32) bool {
	for k := range tests {
		if !tests[k].joins(node) {
			return false
		}
	}
	return true
}
