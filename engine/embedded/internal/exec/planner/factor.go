package planner

import (
	"math"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// peeler takes parts off a block.
type peeler struct {
	*planner
	vars    []plan.VarID   // the variables of the core
	links   []*ir.Link     // the traversals of the core
	conds   []*ir.Cond     // the conditions of the core
	options []*ir.Optional // the `optional` blocks of the core
	tests   []*ir.Test     // the tests of the core
	fixed   []bool         // by variable: whether it must stay in the core
	weights []*exec.Weight // by variable; nil for a variable without conditions and parts
}

// newPeeler returns a peeler for a block of the match.
func (pl *planner) newPeeler(b *ir.Block) *peeler {
	p := &peeler{planner: pl, links: slices.Clone(b.Links), conds: slices.Clone(b.Conds), options: slices.Clone(b.Optionals), tests: b.Tests,
		fixed: make([]bool, len(pl.Types)), weights: make([]*exec.Weight, len(pl.Types))}
	for _, v := range b.Vars {
		if v != plan.NoVar && !slices.Contains(p.vars, v) {
			p.vars = append(p.vars, v)
		}
	}
	fix := func(vars ...plan.VarID) {
		for _, v := range vars {
			if v != plan.NoVar {
				p.fixed[v] = true
			}
		}
	}
	fix(pl.Keep...)
	for v, t := range pl.Types {
		p.fixed[v] = p.fixed[v] || t == ir.WalkType || t.Entity != plan.Node || pl.IsShared(plan.VarID(v))
	}
	for _, l := range p.links {
		if !l.IsPlain() {
			fix(l.From, l.To, l.EdgeVar)
		}
	}
	for _, c := range p.conds {
		if !c.IsLocal() || pl.finds(c) {
			fix(c.Vars...)
		}
	}
	for _, t := range p.tests {
		fix(pl.mentioned(nil, t)...)
	}
	return p
}

// mentioned appends the variables of a test to `vars`, including the variables in its blocks.
func (pl *planner) mentioned(vars []plan.VarID, t *ir.Test) []plan.VarID {
	pl.wants(t, func(v plan.VarID) bool { vars = append(vars, v); return false })
	return vars
}

// finds reports whether an index may find the nodes of a variable by a condition, which is local.
func (pl *planner) finds(c *ir.Cond) bool {
	if !c.Determines() && c.List < 0 {
		return false
	}
	for _, e := range [2]*ir.Expr{c.Left, c.Right} {
		switch {
		case e.Kind == ir.ExprID:
			return true
		case e.Kind != ir.ExprProp:
		case slices.Contains(pl.Types[e.Var].Key, e.Prop), slices.ContainsFunc(pl.Types[e.Var].Tuples, func(t []int) bool { return slices.Contains(t, e.Prop) }):
			return true
		}
	}
	return false
}

// weight returns the weight of a variable, which it makes if there is none yet.
func (p *peeler) weight(v plan.VarID) *exec.Weight {
	if p.weights[v] == nil {
		p.weights[v] = &exec.Weight{Var: v, Kept: -1}
	}
	return p.weights[v]
}

// linksAt returns the traversals of the core that lead to or from a variable.
func (p *peeler) linksAt(v plan.VarID) (out []*ir.Link) {
	for _, l := range p.links {
		p.Step(1)
		if l.From == v || l.To == v {
			out = append(out, l)
		}
	}
	return out
}

// isLeaf reports whether a variable can be taken off the core.
func (p *peeler) isLeaf(v plan.VarID) bool {
	return !p.fixed[v] && len(p.linksAt(v)) == 1 && !slices.ContainsFunc(p.options, func(o *ir.Optional) bool { return slices.Contains(o.Block.Vars, v) })
}

// round takes the leaves off the core, each with its conditions and its parts. It reports whether there was one.
func (p *peeler) round() bool {
	var leaves []plan.VarID
	for _, v := range p.vars {
		if p.isLeaf(v) {
			leaves = append(leaves, v)
		}
	}
	// Of the last two variables, the one with parts stays, because a degree needs no weights.
	slices.SortStableFunc(leaves, func(a, b plan.VarID) int { return p.parts(a) - p.parts(b) })
	any := false
	for _, v := range leaves {
		if p.isLeaf(v) {
			any = true
			l := p.linksAt(v)[0]
			at := l.From
			if at == v {
				at = l.To
			}
			p.links = slices.DeleteFunc(p.links, func(o *ir.Link) bool { return o == l })
			w := p.weight(at)
			w.Factors = append(w.Factors, &exec.Factor{Branches: []*exec.Branch{p.take(v, l, at)}})
		}
	}
	return any
}

// parts returns the number of conditions and factors of a variable.
func (p *peeler) parts(v plan.VarID) int {
	n := 0
	if w := p.weights[v]; w != nil {
		n = len(w.Factors)
	}
	for _, c := range p.conds {
		if slices.Contains(c.Vars, v) {
			n++
		}
	}
	return n
}

// take moves a variable out of the core, with its conditions. It returns the branch that leads to the variable.
func (p *peeler) take(v plan.VarID, l *ir.Link, at plan.VarID) *exec.Branch {
	w := p.weight(v)
	w.Part = true
	p.conds = slices.DeleteFunc(p.conds, func(c *ir.Cond) bool {
		own := slices.Contains(c.Vars, v)
		if own {
			w.Conds = append(w.Conds, c)
		}
		return own
	})
	p.vars = slices.DeleteFunc(p.vars, func(u plan.VarID) bool { return u == v })
	out := &exec.Branch{Of: w}
	out.Traversal = exec.Traversal{Link: l, Back: l.To == at, Near: at, Far: v, ID: p.frame()}
	return out
}

// optionals takes the `optional` blocks off the core that form trees at one variable of it.
func (p *peeler) optionals() {
	var left []*ir.Optional
	for i, o := range p.options {
		f := (*exec.Factor)(nil)
		at := p.joint(o, p.options[i+1:])
		if at != plan.NoVar {
			f = p.optional(o, at)
		}
		if f == nil {
			left = append(left, o)
			continue
		}
		p.weight(at).Factors = append(p.weight(at).Factors, f)
	}
	p.options = left
	for _, o := range left {
		for _, t := range o.Tests {
			for _, v := range p.mentioned(nil, t) {
				if v != plan.NoVar {
					p.fixed[v] = true
				}
			}
		}
		for _, c := range slices.Concat(o.Conds, o.Block.Conds) {
			for _, v := range c.Vars {
				p.fixed[v] = true
			}
		}
		for _, t := range o.Block.Tests {
			for _, v := range p.mentioned(nil, t) {
				if v != plan.NoVar {
					p.fixed[v] = true
				}
			}
		}
	}
}

// joint returns the only variable outside of an `optional` block that the block uses. It returns plan.NoVar if there is
// no such variable, or if something outside of the block uses the variables of the block.
func (p *peeler) joint(o *ir.Optional, later []*ir.Optional) plan.VarID {
	if len(o.Conds)+len(o.Tests)+len(o.Block.Tests) > 0 {
		return plan.NoVar
	}
	for _, v := range o.Binds {
		is := func(u plan.VarID) bool { return u == v }
		used := func(l *ir.Optional) bool { return slices.Contains(l.Block.Vars, v) || p.waitsFor(l, is) }
		if p.fixed[v] || slices.ContainsFunc(later, used) {
			return plan.NoVar
		}
	}
	at := plan.NoVar
	for _, l := range o.Block.Links {
		if !l.IsPlain() {
			return plan.NoVar
		}
		for _, v := range [2]plan.VarID{l.From, l.To} {
			if slices.Contains(o.Binds, v) {
				continue
			}
			if at != plan.NoVar && at != v || p.Read.Vars[v].Optional || p.IsShared(v) {
				return plan.NoVar
			}
			at = v
		}
	}
	for _, c := range o.Block.Conds {
		if !c.IsLocal() || !slices.Contains(o.Binds, c.Vars[0]) {
			return plan.NoVar
		}
	}
	return at
}

// optional returns the factor for an `optional` block at a variable, or nil if the block is no tree.
func (p *peeler) optional(o *ir.Optional, at plan.VarID) *exec.Factor {
	in := &peeler{planner: p.planner, vars: append(slices.Clone(o.Binds), at), links: slices.Clone(o.Block.Links), conds: slices.Clone(o.Block.Conds),
		fixed: make([]bool, len(p.Types)), weights: make([]*exec.Weight, len(p.Types))}
	in.fixed[at] = true
	for in.round() {
	}
	if len(in.links)+len(in.conds) > 0 || len(in.vars) != 1 {
		return nil
	}
	f := &exec.Factor{Optional: true}
	for _, one := range in.weight(at).Factors {
		f.Branches = append(f.Branches, one.Branches...)
	}
	return f
}

// core returns what is left of the block, and the weights of its variables.
func (p *peeler) core() (*ir.Block, []*exec.Weight) {
	b := &ir.Block{Vars: p.vars, Links: p.links, Conds: p.conds, Tests: p.tests, Optionals: p.options}
	var out []*exec.Weight
	for _, v := range p.vars {
		if w := p.weights[v]; w != nil && len(w.Factors) > 0 {
			out = append(out, w)
		}
	}
	return b, out
}

// The costs of parts of the work, in rows that a traversal receives or yields.
const (
	scanRow    = 0.1 // of a row that a scan makes
	filterRow  = 0.5 // of a row that a filter tests
	edgeCost   = 0.2 // of an edge to a node whose weight is added
	nodeCost   = 0.2 // of a node with a weight that is kept
	closingRow = 1.0 // of a row for which the last variable is looked at
	rowCost    = 0.2 // of a look at the weight of a row, or at a degree
	// factorGain is the share of the cost of the usual steps that steps with weights may cost.
	factorGain = 0.7
	// In a graph with fewer nodes and edges than smallGraph, any steps are fast. There smallGain replaces factorGain, so
	// that tests with small graphs run the steps with weights, too.
	smallGraph = 512
	// Steps that cost less than smallCost are not replaced in larger graphs.
	smallCost = 256
	smallGain = 4
)

// keepWeights decides which weights are kept, and returns the cost of all weights below w. The weight w is asked for a number of
// rows.
func (pl *planner) keepWeights(w *exec.Weight, rows float64) float64 {
	live := float64(pl.live(w.Var))
	each, total := 0.0, 0.0
	for _, f := range w.Factors {
		for _, b := range f.Branches {
			if b.Of.IsUniform() && !b.Undirected && b.OrTypes == nil {
				each += rowCost
				continue
			}
			each += edgeCost * pl.fanout(b.Link, b.Back)
			if !b.Of.IsUniform() {
				total += pl.keepWeights(b.Of, math.Inf(1))
			}
		}
	}
	if rows <= live {
		return total + rows*each
	}
	w.Kept = pl.Weighed
	pl.Weighed++
	if math.IsInf(rows, 1) {
		rows = 0
	}
	return total + live*(nodeCost+each) + rows*rowCost
}
