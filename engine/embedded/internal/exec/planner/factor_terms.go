package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// exclusion is a condition with an opposite that can be part of a pattern.
type exclusion struct {
	a, b plan.VarID // the variables that must differ, unless `not` is set
	cond *ir.Cond   // the condition; nil if `not` is set
	not  *ir.Test   // the block with one traversal
}

// term is a pattern whose count is multiplied and added.
type term struct {
	block *ir.Block
	times int64
	key   string // patterns with equal keys are equal
}

// A condition $a != $b, or a block `not { $a knows $b }`, may keep parts from being taken off a pattern. The rows of the
// pattern with the condition are the rows without it, less the rows with its opposite. The opposite of the first is that
// the two variables are one, and that of the second is one more traversal. So the count of a pattern with n exclusions is
// the sum of 2ⁿ counts without exclusions, half of which are subtracted.

// maxExclusions is the maximum number of exclusions of a pattern that is counted in terms.
const maxExclusions = 3

// exclusions returns the exclusions of a block whose opposites can be part of a pattern.
func (pl *planner) exclusions(b *ir.Block) (out []exclusion) {
	bound := func(v plan.VarID) bool { return slices.Contains(b.Vars, v) }
	for _, c := range b.Conds {
		if !c.Compares() || c.Op != plan.Ne || c.Unless != plan.NoParam || c.Left.Kind != c.Right.Kind || c.Left.Kind != ir.ExprID && c.Left.Kind != ir.ExprRef {
			continue
		}
		x, y := c.Left.Var, c.Right.Var
		if x != y && bound(x) && bound(y) && pl.Types[x] == pl.Types[y] && pl.Types[x].Entity == plan.Node && !pl.IsShared(x) && !pl.IsShared(y) {
			out = append(out, exclusion{a: min(x, y), b: max(x, y), cond: c})
		}
	}
	for _, t := range b.Tests {
		if _, not := t.Src.(plan.Not); !not || t.Drops || len(t.Block.Links) != 1 || len(t.Block.Conds)+len(t.Block.Tests)+len(t.Block.Optionals) > 0 {
			continue
		}
		if l := t.Block.Links[0]; l.IsPlain() && bound(l.From) && bound(l.To) && !slices.ContainsFunc(t.Block.Vars, func(v plan.VarID) bool { return v != plan.NoVar && !bound(v) }) {
			out = append(out, exclusion{not: t})
		}
	}
	return out
}

// terms returns the patterns in which a block can be counted. There is none if the block has no exclusions or too many of
// them, or if all terms cancel each other, because its clauses contradict each other.
func (pl *planner) terms(b *ir.Block) []term {
	all := pl.exclusions(b)
	if len(all) == 0 || len(all) > maxExclusions {
		return nil
	}
	base := *b
	base.Conds = slices.DeleteFunc(slices.Clone(b.Conds), func(c *ir.Cond) bool {
		return slices.ContainsFunc(all, func(e exclusion) bool { return e.cond == c })
	})
	base.Tests = slices.DeleteFunc(slices.Clone(b.Tests), func(t *ir.Test) bool {
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
func (pl *planner) isTied(b *ir.Block, v plan.VarID) bool {
	is := func(u plan.VarID) bool { return u == v }
	return slices.ContainsFunc(b.Links, func(l *ir.Link) bool { return !l.IsPlain() && (is(l.From) || is(l.To)) }) ||
		slices.ContainsFunc(b.Conds, func(c *ir.Cond) bool { return !c.IsLocal() && slices.ContainsFunc(c.Vars, is) }) ||
		slices.ContainsFunc(b.Tests, func(t *ir.Test) bool { return pl.wants(t, is) }) ||
		slices.ContainsFunc(b.Optionals, func(o *ir.Optional) bool { return slices.ContainsFunc(o.Block.Vars, is) || pl.waitsFor(o, is) })
}

// waitsFor reports whether the conditions in or behind an `optional` block use one of the variables.
func (pl *planner) waitsFor(o *ir.Optional, is func(plan.VarID) bool) bool {
	return slices.ContainsFunc(slices.Concat(o.Conds, o.Block.Conds), func(c *ir.Cond) bool { return slices.ContainsFunc(c.Vars, is) }) ||
		slices.ContainsFunc(slices.Concat(o.Tests, o.Block.Tests), func(t *ir.Test) bool { return pl.wants(t, is) })
}

// opposite returns the term for a set of exclusions: the block with the opposites of those in the set, and without the
// others. The number `set` has a bit for each exclusion.
func (pl *planner) opposite(b *ir.Block, all []exclusion, set int) term {
	out := term{block: &ir.Block{Tests: b.Tests, Optionals: b.Optionals}, times: 1}
	same := make([]plan.VarID, len(pl.Types)) // by variable: the variable that replaces it
	for v := range same {
		same[v] = plan.VarID(v)
	}
	links := slices.Clone(b.Links)
	for i, e := range all {
		if set>>i&1 == 0 {
			continue
		}
		out.times = -out.times
		if e.not != nil {
			links = append(links, e.not.Block.Links[0])
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
	for _, v := range b.Vars {
		if v != plan.NoVar && !slices.Contains(out.block.Vars, same[v]) {
			out.block.Vars = append(out.block.Vars, same[v])
			key = append(key, fmt.Sprint("var ", same[v]))
		}
	}
	for _, l := range links {
		pl.Step(1)
		moved := l.Between(same)
		if k := moved.Key(); !slices.Contains(key, k) {
			key = append(key, k)
			out.block.Links = append(out.block.Links, moved)
		}
	}
	for _, c := range b.Conds {
		pl.Step(1)
		moved := c.Of(same)
		if fault.On(fault.OppositeLoose) && moved != c {
			continue
		}
		out.block.Conds = append(out.block.Conds, moved)
		key = append(key, fmt.Sprintf("cond %p %v", c, moved.Vars))
	}
	slices.Sort(key)
	out.key = strings.Join(key, "\n")
	return out
}

// layout says how the steps for a pattern are made.
type layout struct {
	rounds int        // rounds in which leaves are taken off the pattern
	start  plan.VarID // the first variable, or NoVar for the usual choice
	cost   float64    // estimated cost of a run, in rows that a step pushes
}

// multiplies reports whether the read only counts rows, in all or by groups.
func (pl *planner) multiplies() bool {
	return pl.Read.Grouped && len(pl.Aggs) > 0 && len(pl.Fusions)+len(pl.Drops)+len(pl.Holdings)+len(pl.Subqueries)+len(pl.Routes) == 0 &&
		len(pl.Match.Vars) > 1 && !slices.ContainsFunc(pl.Aggs, func(a ir.Aggregate) bool { return !a.Rows }) &&
		!slices.ContainsFunc(pl.Match.Optionals, func(o *ir.Optional) bool { return len(o.Block.Optionals) > 0 })
}

// factorize replaces the steps of the body by steps that count without making all rows, if those cost less.
func (pl *planner) factorize() error {
	if !pl.multiplies() {
		return nil
	}
	gain, termGain := factorGain, 1.0
	usual := costOf(pl.Body)
	switch {
	case pl.snap.Size() < smallGraph:
		gain, termGain = smallGain, smallGain
	case usual < smallCost:
		return nil // planning would take longer than the run
	}
	limit := gain * usual
	one, err := pl.cheapest(pl.Match)
	if err != nil {
		return err
	}
	parts := []term{{block: pl.Match, times: 1}}
	layouts := []layout{one}
	cost := one.cost
	if pl.CountsOnly {
		if list := pl.terms(pl.Match); len(list) > 0 {
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
	var pipes []*exec.Pipe
	for i, t := range parts {
		p, _, err := pl.product(t.block, layouts[i])
		if err != nil {
			return err
		}
		last := p.Steps[len(p.Steps)-1].(*exec.Multiply)
		last.Times = t.times
		pl.columnScans(p)
		pipes = append(pipes, p)
	}
	pl.Body = pipes[0]
	if len(pipes) > 1 || parts[0].times != 1 {
		pl.Body = &exec.Pipe{Steps: []exec.Step{&exec.Terms{Of: pipes}}, Estimates: []float64{pipes[0].Estimates[len(pipes[0].Estimates)-1]}}
	}
	return nil
}

// costOf estimates the cost of the steps of a pipe, in rows that a step receives or yields.
func costOf(p *exec.Pipe) float64 {
	total, in := 0.0, 1.0
	for i, n := range p.Estimates {
		switch p.Steps[i].(type) {
		case *exec.Scan:
			total += n * scanRow
		case *exec.Filter, *exec.IDFilter:
			total += in * filterRow
		default:
			total += in
			if i < len(p.Estimates)-1 || p.Counts == nil {
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
func (pl *planner) cheapest(b *ir.Block) (best layout, err error) {
	was := *pl.Arrangement
	defer func() { *pl.Arrangement = was }()
	for rounds := range maxRounds + 1 {
		core, _, more := pl.peel(b, rounds)
		for _, start := range pl.starts(core) {
			*pl.Arrangement = was
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
func (pl *planner) starts(b *ir.Block) []plan.VarID {
	out := []plan.VarID{plan.NoVar}
	if len(b.Vars) > maxStarts {
		return out
	}
	for _, v := range b.Vars {
		if v != plan.NoVar && pl.Types[v].Entity == plan.Node && !slices.Contains(out, v) && !pl.Read.Vars[v].Optional {
			out = append(out, v)
		}
	}
	return out
}

// peel takes the leaves off a block in a number of rounds. It returns the core and the weights of its variables, and
// reports whether there was a leaf in the last round.
func (pl *planner) peel(b *ir.Block, rounds int) (core *ir.Block, weights []*exec.Weight, more bool) {
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
func (pl *planner) product(b *ir.Block, l layout) (*exec.Pipe, float64, error) {
	core, weights, _ := pl.peel(b, l.rounds)
	p, err := pl.pipeFrom(core, l.start)
	if err != nil {
		return nil, 0, err
	}
	s := &exec.Multiply{Of: weights, Times: 1, Vars: pl.Keep}
	rows := 1.0
	if n := len(p.Estimates); n > 0 {
		rows = p.Estimates[n-1]
	}
	cost := costOf(p)
	if s.Last = pl.closing(p, core); s.Last != nil {
		cost = costOf(p)
		if n := len(p.Estimates); n > 0 {
			rows = p.Estimates[n-1]
		}
		each := pl.fanout(s.Last.Link, s.Last.Back)
		for i, w := range s.Of {
			if w.Var == s.Last.Far {
				s.Last.Of = w
				s.Of = slices.Delete(s.Of, i, i+1)
				cost += pl.keepWeights(w, math.Inf(1))
				break
			}
		}
		cost += rows * (closingRow + each*edgeCost*float64(len(s.Last.Checks)))
	}
	for _, w := range s.Of {
		cost += pl.keepWeights(w, rows)
	}
	p.Steps = append(p.Steps, s)
	p.Estimates = append(p.Estimates, cmp.Or(rows, 1))
	p.Work = cost
	return p, cost, nil
}

// closing removes the steps from the end of a pipe that bind the last variable and check its other traversals, and
// returns what stands for them. It returns nil if the pipe does not end with such steps.
func (pl *planner) closing(p *exec.Pipe, core *ir.Block) *exec.Closing {
	n := len(p.Steps)
	var checks []*exec.Check
	for n > 0 {
		c, ok := p.Steps[n-1].(*exec.Check)
		if !ok || c.EdgeVar != plan.NoVar || c.Not || c.From == c.To || !c.IsPlain() {
			break
		}
		checks = append(checks, c)
		n--
	}
	if n == 0 {
		return nil
	}
	last, ok := p.Steps[n-1].(*exec.Expand)
	if !ok || !last.IsPlain() || slices.Contains(pl.Keep, last.Far) || slices.ContainsFunc(checks, func(c *exec.Check) bool { return c.From != last.Far && c.To != last.Far }) {
		return nil
	}
	p.Steps, p.Estimates = p.Steps[:n-1], p.Estimates[:n-1]
	return &exec.Closing{Expand: *last, Checks: checks}
}
