package planner

import (
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// planner arranges the clauses of a bound query into steps, the cheapest first.
type planner struct {
	*ir.Query
	*exec.Arrangement
	*ir.Meter
	estimator
}

// newPlanner returns a planner for program p. The sizes in `snap` decide the order of the steps.
func newPlanner(p *exec.Program, snap *version.Snapshot, work *ir.Meter) *planner {
	return &planner{Query: &p.Query, Arrangement: &p.Arrangement, Meter: work, estimator: estimator{of: p.Types, over: p.Over, snap: snap}}
}

// plan chooses the steps of the program and their order.
func (pl *planner) plan() error {
	first := pl.top()
	if first != nil {
		pl.Body = &exec.Pipe{Steps: []exec.Step{first}, Estimates: []float64{min(float64(pl.Read.Limit), float64(pl.live(first.Var)))}}
	} else {
		var err error
		if pl.Body, err = pl.pipe(pl.Match, nil); err != nil {
			return err
		}
		if err := pl.connected(); err != nil {
			return err
		}
	}
	for _, t := range pl.Havings {
		pl.HavingTests = append(pl.HavingTests, arrangedHaving(t))
	}
	if err := pl.arrangeHoldings(); err != nil {
		return err
	}
	if err := pl.arrangeSubqueries(); err != nil {
		return err
	}
	pl.followOrder()
	pl.columnScans(pl.Body)
	if d := pl.degrees(); d != nil && d.CountsRows(pl.Query) {
		d.ID = pl.frame()
		pl.Body = &exec.Pipe{Steps: []exec.Step{d}, Estimates: []float64{float64(pl.live(d.Var))}}
	} else {
		pl.findCounting()
		if err := pl.factorize(); err != nil {
			return err
		}
	}
	pl.lookAhead()
	pl.splitting()
	pl.First = pl.firstLookup()
	if first != nil {
		return nil
	}
	if s := pl.approximate(); s != nil {
		est := s.Rows.Estimates[len(s.Rows.Estimates)-1]
		pl.Body = &exec.Pipe{Steps: []exec.Step{s}, Estimates: []float64{min(est, float64(pl.Read.Limit))}}
	}
	return nil
}

// findCounting finds out whether the read only counts its rows. Such a run need not make the
// rows: the last step can return their number instead.
func (pl *planner) findCounting() {
	pl.CountsOnly = pl.Read.Grouped && len(pl.Fusions)+len(pl.Drops) == 0 &&
		!slices.ContainsFunc(pl.Columns, func(c ir.Projection) bool { return c.Agg < 0 }) &&
		!slices.ContainsFunc(pl.Aggs, func(a ir.Aggregate) bool { return !a.Rows })
	if !pl.CountsOnly {
		return
	}
	switch last := pl.Body.Steps[len(pl.Body.Steps)-1].(type) {
	case *exec.Expand:
		pl.Body.Counts = last
	case *exec.Reach:
		if !last.Both {
			pl.Body.Counts = last
		}
	}
}

// frame reserves a frame for a step and returns its number.
func (pl *planner) frame() int {
	pl.Frames++
	return pl.Frames - 1
}

// pipe arranges the clauses of a block into steps. The parameter `outer` is the scope that
// surrounds a block inside the match; it is nil for the match itself.
func (pl *planner) pipe(b *ir.Block, outer *scope) (*exec.Pipe, error) {
	return pl.pipeIn(b, pl.scope(b, outer))
}

// pipeFrom arranges the clauses of the match into steps. The first step binds the variable `start`, unless that is NoVar.
func (pl *planner) pipeFrom(b *ir.Block, start plan.VarID) (*exec.Pipe, error) {
	s := pl.scope(b, nil)
	s.start = start
	return pl.pipeIn(b, s)
}

// pipeIn arranges the clauses of a block into steps.
func (pl *planner) pipeIn(b *ir.Block, s *scope) (*exec.Pipe, error) {
	p, err := pl.arrangeScope(s)
	if err != nil {
		return nil, err
	}
	for _, o := range b.Optionals {
		if err := pl.addOptional(s, o); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// arrangeScope arranges the clauses of a scope into steps, except `optional` blocks.
func (pl *planner) arrangeScope(s *scope) (*exec.Pipe, error) {
	for {
		if err := pl.settle(s); err != nil {
			return nil, err
		}
		if len(s.unbound) == 0 {
			break
		}
		if err := pl.extend(s); err != nil {
			return nil, err
		}
	}
	if s.open+len(s.tests)+len(s.links) > 0 {
		return nil, ir.Mismatch("a clause uses a variable that nothing binds")
	}
	return s.pipe, nil
}

// settle adds the steps that only remove rows: filters, traversals between bound variables,
// and blocks. It adds each one as soon as its variables are bound.
func (pl *planner) settle(s *scope) error {
	pl.settleFilters(s)
	open := s.links[:0]
	for i, l := range s.links {
		pl.Step(1)
		if !s.bound(l.From) || !s.bound(l.To) {
			open = append(open, l)
			continue
		}
		s.pipe.Steps = append(s.pipe.Steps, pl.check(s, l))
		s.scaleRows(pl.fanout(l, false) / max(1, float64(pl.live(l.To))))
		if l.EdgeVar != plan.NoVar {
			s.links = append(open, s.links[i+1:]...)
			s.bind(l.EdgeVar)
			return pl.settle(s) // the filters on the edge variable may be ready
		}
	}
	s.links = open
	return pl.settleTests(s)
}

// settleFilters adds a step for the filters that use only bound variables.
func (pl *planner) settleFilters(s *scope) {
	var conds []*ir.Cond
	share := 1.0
	slices.SortFunc(s.ready, func(a, b *pendingCond) int { return a.at - b.at })
	for _, w := range s.ready {
		pl.Step(1)
		if w.done {
			continue
		}
		w.done = true
		if id := pl.idCond(w.cond); id != nil {
			id.Vars = slices.Clip(s.vars)
			s.pipe.Steps = append(s.pipe.Steps, id)
			kept := 1.0
			if !id.Not {
				kept = 1 / max(1, float64(pl.live(id.Var)))
			}
			s.scaleRows(kept)
			continue
		}
		share *= w.cond.Share()
		conds = append(conds, w.cond)
	}
	s.ready = s.ready[:0]
	if conds != nil {
		// Test texts last, because reading them costs the most.
		slices.SortStableFunc(conds, func(a, b *ir.Cond) int { return a.Weight() - b.Weight() })
		s.pipe.Steps = append(s.pipe.Steps, &exec.Filter{Conds: conds, Vars: slices.Clip(s.vars)})
	}
	s.scaleRows(share)
}

// accessPath lists the ways in which the filters of a block can bind a variable, when certain other
// variables are already bound.
type accessPath struct {
	lookup *exec.Lookup      // nil for none
	probe  *exec.Probe       // nil for none
	sorted *exec.Sorted      // nil for none
	each   *exec.Members     // nil for none
	shared *exec.ProbeShared // nil for none
	text   int               // position in ir.Query.Texts, or -1
	share  float64           // estimated share of the variable's entities that the filters keep
}

// accessPath finds the access path of a variable. The scope keeps it until it binds another
// variable that a filter relates to this one.
func (pl *planner) accessPath(s *scope, v plan.VarID) *accessPath {
	if e := s.accessPaths[v]; e != nil {
		return e
	}
	e := &accessPath{text: -1, share: 1}
	if pl.IsShared(v) {
		e.shared = pl.probeShared(s, v)
	} else {
		e.lookup = pl.lookup(s, v)
	}
	for w := range pl.filtersOn(s, v) {
		if w.unbound == 1 {
			e.share *= w.cond.Share()
		}
	}
	if e.lookup != nil {
		e.share = min(e.share, 1/max(1, float64(pl.live(v))))
	}
	if pl.Types[v].Entity == plan.Node && !pl.IsShared(v) {
		e.probe, e.sorted, e.each = pl.probe(s, v), pl.sorted(s, v), pl.members(s, v)
		if t, ok := pl.textFilter(s, v); ok {
			e.text = t
		}
	}
	if s.accessPaths == nil {
		s.accessPaths = map[plan.VarID]*accessPath{}
	}
	s.accessPaths[v] = e
	return e
}

// The costs of a search itself, in rows. They also decide which search to prefer if several
// find equally few entities.
const (
	lookupCost = 1 // by id or key
	probeCost  = 2 // by an indexed tuple
	sortedCost = 3 // by a sorted index
	scanCost   = 4 // of the rows, or of a text index
	// probeShare is the share of the entities that a probe finds, according to the estimate of its
	// cost.
	probeShare = 0.01
)

// extend adds the cheapest step that binds a variable.
func (pl *planner) extend(s *scope) error {
	best, cost, rows := func() {}, math.Inf(1), 1.0
	// The cost of an offer is the number of rows that remain after the filters that follow it. The
	// parameter `times` is the number of rows that the offer makes from one row.
	offer := func(c, times float64, add func()) {
		if c < cost {
			best, cost, rows = add, c, times
		}
	}
	onward := s.connected && s.isOpen()
	for _, v := range s.unbound {
		pl.Step(1)
		if onward || pl.Types[v].Entity != plan.Node || s.start != plan.NoVar && !s.bound(s.start) && v != s.start {
			continue
		}
		live := float64(pl.live(v))
		e := pl.accessPath(s, v)
		if e.lookup != nil {
			offer(lookupCost, 1, func() { pl.addLookup(s, e.lookup) })
		}
		if e.probe != nil {
			offer(probeCost+live*probeShare, live*math.Pow(ir.EqualShare, float64(len(e.probe.Exprs))), func() { pl.addProbe(s, e.probe) })
		}
		if e.shared != nil {
			offer(pl.cost(e.shared), pl.found(e.shared), func() { pl.addProbeShared(s, e.shared) })
		}
		if e.each != nil {
			offer(pl.costIn(e.each, live), pl.foundIn(e.each, live), func() { pl.addMembers(s, e.each) })
		}
		if e.text >= 0 {
			offer(scanCost+live*ir.TextShare, live*ir.TextShare, func() { pl.addTextScan(s, v, e.text) })
		}
		if e.sorted != nil {
			offer(sortedCost+live*e.share, live*e.share, func() { pl.addSorted(s, e.sorted) })
		}
		scan := pl.addScan
		if pl.IsShared(v) {
			scan = pl.addScanShared
		}
		offer(scanCost+live*e.share, live, func() { scan(s, v) })
	}
	for i, l := range s.links {
		pl.Step(1)
		take := func() { s.links = slices.Delete(s.links, i, i+1) }
		if !l.Walk && l.EdgeVar != plan.NoVar && !s.bound(l.EdgeVar) {
			if found := pl.accessPath(s, l.EdgeVar).lookup; found != nil {
				offer(lookupCost, 1, func() { take(); pl.addEdgeLookup(s, l, found) })
			}
		}
		if s.bound(l.From) == s.bound(l.To) {
			continue
		}
		to, back := l.To, false
		if s.bound(l.To) {
			to, back = l.From, true
		}
		fanout := pl.fanout(l, back)
		path := pl.accessPath(s, to)
		cost := fanout * path.share
		if l.Walk && l.EdgeVar == plan.NoVar && path.lookup != nil {
			// Look the end up first. The check of a walk between two nodes remembers what the nodes of one end reach, whereas a walk
			// from the other end would begin again in each row, such as in each row for which a block is tested.
			cost = max(cost, lookupCost)
		}
		if s.connected {
			cost = cost*pl.following(s, l, to) + fanout*expandedRow
		}
		offer(cost, fanout, func() { take(); pl.addExpand(s, l, back) })
	}
	if math.IsInf(cost, 1) {
		return ir.Mismatch("nothing binds $%s", pl.Read.Vars[s.unbound[0]].Name)
	}
	best()
	s.scaleRows(rows)
	return nil
}

// equals finds a filter that requires an expression of v to equal another expression in every run.
// The other expression has the given kind, and is constant or bound.
func (pl *planner) equals(s *scope, v plan.VarID, is func(*ir.Expr) bool, want value.Kind) *ir.Expr {
	for w := range pl.filtersOn(s, v) {
		if !w.cond.Determines() {
			continue
		}
		for _, side := range [2][2]*ir.Expr{{w.cond.Left, w.cond.Right}, {w.cond.Right, w.cond.Left}} {
			if is(side[0]) && side[1].Type.Kind == want && !side[1].Type.List && s.isKnown(side[1]) {
				return side[1]
			}
		}
	}
	return nil
}

// isKnown reports whether the value of an expression is known before the next variable is
// bound.
func (s *scope) isKnown(e *ir.Expr) bool {
	switch e.Kind {
	case ir.ExprConst:
		return true
	case ir.ExprProp, ir.ExprID, ir.ExprEnd:
		return s.bound(e.Var)
	case ir.ExprMatch, ir.ExprBM25, ir.ExprNearest, ir.ExprFused, ir.ExprApply, ir.ExprTest, ir.ExprHolds, ir.ExprBlockAgg, ir.ExprMember, ir.ExprAgg, ir.ExprWalk, ir.ExprOrigin, ir.ExprRef:
	}
	return false
}
