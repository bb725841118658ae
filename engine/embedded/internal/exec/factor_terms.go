package exec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// A condition $a != $b, or a block `not { $a knows $b }`, may keep parts from being taken off a pattern. The rows of the
// pattern with the condition are the rows without it, less the rows with its opposite. The opposite of the first is that
// the two variables are one, and that of the second is one more traversal. So the count of a pattern with n exclusions is
// the sum of 2ⁿ counts without exclusions, half of which are subtracted.

// maxExclusions is the maximum number of exclusions of a pattern that is counted in terms.
const maxExclusions = 3

// exclusion is a condition with an opposite that can be part of a pattern.
type exclusion struct {
	a, b plan.VarID // the variables that must differ, unless `not` is set
	cond *cond      // the condition; nil if `not` is set
	not  *test      // the block with one traversal
}

// term is a pattern whose count is multiplied and added.
type term struct {
	block *block
	times int64
	key   string // patterns with equal keys are equal
}

// exclusions returns the exclusions of a block whose opposites can be part of a pattern.
func (pl *planner) exclusions(b *block) (out []exclusion) {
	bound := func(v plan.VarID) bool { return slices.Contains(b.vars, v) }
	for _, c := range b.conds {
		if !c.compares() || c.op != plan.Ne || c.unless != plan.NoParam || c.left.kind != c.right.kind || c.left.kind != exprID && c.left.kind != exprRef {
			continue
		}
		x, y := c.left.v, c.right.v
		if x != y && bound(x) && bound(y) && pl.types[x] == pl.types[y] && pl.types[x].Entity == plan.Node && !pl.isShared(x) && !pl.isShared(y) {
			out = append(out, exclusion{a: min(x, y), b: max(x, y), cond: c})
		}
	}
	for _, t := range b.tests {
		if _, not := t.src.(plan.Not); !not || t.drops || len(t.block.links) != 1 || len(t.block.conds)+len(t.block.tests)+len(t.block.optionals) > 0 {
			continue
		}
		if l := t.block.links[0]; l.isPlain() && bound(l.From) && bound(l.To) && !slices.ContainsFunc(t.block.vars, func(v plan.VarID) bool { return v != plan.NoVar && !bound(v) }) {
			out = append(out, exclusion{not: t})
		}
	}
	return out
}

// terms returns the patterns in which a block can be counted. There is none if the block has no exclusions or too many of
// them, or if all terms cancel each other, because its clauses contradict each other.
func (pl *planner) terms(b *block) []term {
	all := pl.exclusions(b)
	if len(all) == 0 || len(all) > maxExclusions {
		return nil
	}
	base := *b
	base.conds = slices.DeleteFunc(slices.Clone(b.conds), func(c *cond) bool {
		return slices.ContainsFunc(all, func(e exclusion) bool { return e.cond == c })
	})
	base.tests = slices.DeleteFunc(slices.Clone(b.tests), func(t *test) bool {
		return slices.ContainsFunc(all, func(e exclusion) bool { return e.not == t })
	})
	for _, e := range all {
		if e.cond != nil && (pl.isTied(&base, e.a) || pl.isTied(&base, e.b)) {
			return nil
		}
	}
	var out []term
	for set := range 1 << len(all) {
		t := pl.opposite(&base, all, set)
		if i := slices.IndexFunc(out, func(o term) bool { return o.key == t.key }); i >= 0 {
			out[i].times += t.times
		} else {
			out = append(out, t)
		}
	}
	return slices.DeleteFunc(out, func(t term) bool { return t.times == 0 })
}

// isTied reports whether a clause of a block uses a variable in a way that keeps the variable from becoming another one.
func (pl *planner) isTied(b *block, v plan.VarID) bool {
	is := func(u plan.VarID) bool { return u == v }
	return slices.ContainsFunc(b.links, func(l *link) bool { return !l.isPlain() && (is(l.From) || is(l.To)) }) ||
		slices.ContainsFunc(b.conds, func(c *cond) bool { return !c.isLocal() && slices.ContainsFunc(c.vars, is) }) ||
		slices.ContainsFunc(b.tests, func(t *test) bool { return pl.wants(t, is) }) ||
		slices.ContainsFunc(b.optionals, func(o *optional) bool { return slices.ContainsFunc(o.block.vars, is) || pl.waitsFor(o, is) })
}

// waitsFor reports whether the conditions in or behind an `optional` block use one of the variables.
func (pl *planner) waitsFor(o *optional, is func(plan.VarID) bool) bool {
	return slices.ContainsFunc(slices.Concat(o.conds, o.block.conds), func(c *cond) bool { return slices.ContainsFunc(c.vars, is) }) ||
		slices.ContainsFunc(slices.Concat(o.tests, o.block.tests), func(t *test) bool { return pl.wants(t, is) })
}

// opposite returns the term for a set of exclusions: the block with the opposites of those in the set, and without the
// others. The number `set` has a bit for each exclusion.
func (pl *planner) opposite(b *block, all []exclusion, set int) term {
	out := term{block: &block{tests: b.tests, optionals: b.optionals}, times: 1}
	same := make([]plan.VarID, len(pl.types)) // by variable: the variable that replaces it
	for v := range same {
		same[v] = plan.VarID(v)
	}
	links := slices.Clone(b.links)
	for i, e := range all {
		if set>>i&1 == 0 {
			continue
		}
		out.times = -out.times
		if e.not != nil {
			links = append(links, e.not.block.links[0])
			continue
		}
		from, to := max(same[e.a], same[e.b]), min(same[e.a], same[e.b])
		for v := range same {
			if same[v] == from {
				same[v] = to
			}
		}
	}
	var key []string
	for _, v := range b.vars {
		if v != plan.NoVar && !slices.Contains(out.block.vars, same[v]) {
			out.block.vars = append(out.block.vars, same[v])
			key = append(key, fmt.Sprint("var ", same[v]))
		}
	}
	for _, l := range links {
		pl.step(1)
		moved := l.between(same)
		if k := moved.key(); !slices.Contains(key, k) {
			key = append(key, k)
			out.block.links = append(out.block.links, moved)
		}
	}
	for _, c := range b.conds {
		pl.step(1)
		moved := c.of(same)
		if fault.On(fault.OppositeLoose) && moved != c {
			continue
		}
		out.block.conds = append(out.block.conds, moved)
		key = append(key, fmt.Sprintf("cond %p %v", c, moved.vars))
	}
	slices.Sort(key)
	out.key = strings.Join(key, "\n")
	return out
}

// between returns the link with the variables that replace its ends.
func (l *link) between(same []plan.VarID) *link {
	if same[l.From] == l.From && same[l.To] == l.To {
		return l
	}
	moved := *l
	moved.From, moved.To = same[l.From], same[l.To]
	return &moved
}

// key returns a text that two links have in common only if they have the same rows.
func (l *link) key() string {
	if !l.isPlain() && (l.same || l.Walk || l.EdgeVar != plan.NoVar || len(l.narrows) > 0 || l.general) {
		return fmt.Sprintf("link %p", l)
	}
	from, to := l.From, l.To
	if l.Undirected && from > to {
		from, to = to, from
	}
	return fmt.Sprint("link ", l.edge, l.or, l.Undirected, " ", from, " ", to)
}

// of returns a local condition with the variable that replaces its variable, and any other condition unchanged.
func (c *cond) of(same []plan.VarID) *cond {
	if len(c.vars) != 1 || same[c.vars[0]] == c.vars[0] {
		return c
	}
	moved := *c
	moved.vars = []plan.VarID{same[c.vars[0]]}
	for _, e := range [2]**expr{&moved.left, &moved.right} {
		if *e != nil && (*e).kind != exprConst {
			other := **e
			other.v = moved.vars[0]
			*e = &other
		}
	}
	return &moved
}

// layout says how the steps for a pattern are made.
type layout struct {
	rounds int        // rounds in which leaves are taken off the pattern
	start  plan.VarID // the first variable, or NoVar for the usual choice
	cost   float64    // estimated cost of a run, in rows that a step pushes
}

// multiplies reports whether the read only counts rows, in all or by groups.
func (pl *planner) multiplies() bool {
	return pl.read.Grouped && len(pl.aggs) > 0 && len(pl.fusions)+len(pl.drops)+len(pl.holdings)+len(pl.subqueries)+len(pl.routes) == 0 &&
		len(pl.match.vars) > 1 && !slices.ContainsFunc(pl.aggs, func(a aggregate) bool { return !a.rows }) &&
		!slices.ContainsFunc(pl.match.optionals, func(o *optional) bool { return len(o.block.optionals) > 0 })
}

// factorize replaces the steps of the body by steps that count without making all rows, if those cost less.
func (pl *planner) factorize() error {
	if !pl.multiplies() {
		return nil
	}
	gain, termGain := factorGain, 1.0
	usual := costOf(pl.body)
	switch {
	case pl.snap.Size() < smallGraph:
		gain, termGain = smallGain, smallGain
	case usual < smallCost:
		return nil // planning would take longer than the run
	}
	limit := gain * usual
	one, err := pl.cheapest(pl.match)
	if err != nil {
		return err
	}
	parts := []term{{block: pl.match, times: 1}}
	layouts := []layout{one}
	cost := one.cost
	if pl.countsOnly {
		if list := pl.terms(pl.match); len(list) > 0 {
			var of []layout
			total := 0.0
			for _, t := range list {
				l, err := pl.cheapest(t.block)
				if err != nil {
					return err
				}
				of, total = append(of, l), total+l.cost
			}
			if total < termGain*cost {
				parts, layouts, cost = list, of, total
			}
		}
	}
	if cost >= limit {
		return nil
	}
	var pipes []*pipe
	for i, t := range parts {
		p, _, err := pl.product(t.block, layouts[i])
		if err != nil {
			return err
		}
		last := p.steps[len(p.steps)-1].(*multiply)
		last.times = t.times
		pl.sweeps(p)
		pipes = append(pipes, p)
	}
	pl.body = pipes[0]
	if len(pipes) > 1 || parts[0].times != 1 {
		pl.body = &pipe{steps: []step{&terms{of: pipes}}, estimates: []float64{pipes[0].estimates[len(pipes[0].estimates)-1]}}
	}
	return nil
}

// costOf estimates the cost of the steps of a pipe, in rows that a step receives or yields.
func costOf(p *pipe) float64 {
	total, in := 0.0, 1.0
	for i, n := range p.estimates {
		switch p.steps[i].(type) {
		case *scan:
			total += n * scanRow
		case *filter, *idFilter:
			total += in * filterRow
		default:
			total += in
			if i < len(p.estimates)-1 || p.counts == nil {
				total += n
			}
		}
		in = n
	}
	return total
}

// maxRounds is the number of rounds in which leaves are taken off a pattern at most.
const maxRounds = 8

// cheapest returns the layout of the steps for a pattern that costs the least. It leaves no trace in the planner.
func (pl *planner) cheapest(b *block) (best layout, err error) {
	was := *pl.arrangement
	defer func() { *pl.arrangement = was }()
	for rounds := range maxRounds + 1 {
		core, _, more := pl.peel(b, rounds)
		for _, start := range pl.starts(core) {
			*pl.arrangement = was
			l := layout{rounds: rounds, start: start}
			if _, l.cost, err = pl.product(b, l); err != nil {
				return best, err
			}
			if rounds == 0 && start == plan.NoVar || l.cost < best.cost {
				best = l
			}
		}
		if !more {
			break
		}
	}
	return best, nil
}

// maxStarts is the number of variables of a pattern from which the planner tries to start at most.
const maxStarts = 6

// starts returns the variables from which the steps of a block may start. The first one is NoVar, for the usual choice.
func (pl *planner) starts(b *block) []plan.VarID {
	out := []plan.VarID{plan.NoVar}
	if len(b.vars) > maxStarts {
		return out
	}
	for _, v := range b.vars {
		if v != plan.NoVar && pl.types[v].Entity == plan.Node && !slices.Contains(out, v) && !pl.read.Vars[v].Optional {
			out = append(out, v)
		}
	}
	return out
}

// peel takes the leaves off a block in a number of rounds. It returns the core and the weights of its variables, and
// reports whether there was a leaf in the last round.
func (pl *planner) peel(b *block, rounds int) (core *block, weights []*weight, more bool) {
	p := pl.newPeeler(b)
	more = true
	for i := 0; i < rounds && more; i++ {
		if i == 0 {
			p.optionals()
		}
		more = p.round() || i == 0
	}
	core, weights = p.core()
	return core, weights, more
}

// product makes the steps that count a pattern, and returns their cost.
func (pl *planner) product(b *block, l layout) (*pipe, float64, error) {
	core, weights, _ := pl.peel(b, l.rounds)
	p, err := pl.pipeFrom(core, l.start)
	if err != nil {
		return nil, 0, err
	}
	s := &multiply{of: weights, times: 1, vars: pl.keep}
	rows := 1.0
	if n := len(p.estimates); n > 0 {
		rows = p.estimates[n-1]
	}
	cost := costOf(p)
	if s.last = pl.closing(p, core); s.last != nil {
		cost = costOf(p)
		if n := len(p.estimates); n > 0 {
			rows = p.estimates[n-1]
		}
		each := pl.fanout(s.last.link, s.last.back)
		for i, w := range s.of {
			if w.v == s.last.to {
				s.last.of = w
				s.of = slices.Delete(s.of, i, i+1)
				cost += pl.keepWeights(w, math.Inf(1))
				break
			}
		}
		cost += rows * (closingRow + each*edgeCost*float64(len(s.last.checks)))
	}
	for _, w := range s.of {
		cost += pl.keepWeights(w, rows)
	}
	p.steps = append(p.steps, s)
	p.estimates = append(p.estimates, cmp.Or(rows, 1))
	p.work = cost
	return p, cost, nil
}

// closing removes the steps from the end of a pipe that bind the last variable and check its other traversals, and
// returns what stands for them. It returns nil if the pipe does not end with such steps.
func (pl *planner) closing(p *pipe, core *block) *closing {
	n := len(p.steps)
	var checks []*check
	for n > 0 {
		c, ok := p.steps[n-1].(*check)
		if !ok || c.EdgeVar != plan.NoVar || c.not || c.From == c.To || !c.isPlain() {
			break
		}
		checks = append(checks, c)
		n--
	}
	if n == 0 {
		return nil
	}
	last, ok := p.steps[n-1].(*expand)
	if !ok || !last.isPlain() || slices.Contains(pl.keep, last.to) || slices.ContainsFunc(checks, func(c *check) bool { return c.From != last.to && c.To != last.to }) {
		return nil
	}
	p.steps, p.estimates = p.steps[:n-1], p.estimates[:n-1]
	return &closing{expand: *last, checks: checks}
}
