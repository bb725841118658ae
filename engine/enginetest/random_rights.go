package enginetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file draws rights to a part of a graph.

// drawRights sometimes draws rights for a statement: what it may read and, for a write, what it may change. It takes its random numbers
// from d.restricts, so that the other statements of a seed do not depend on it.
func (d *drawer) drawRights(s *step) {
	own := *d
	merge := s.branching != nil && s.branching.source != ""
	if merge {
		own.restricts = d.joins
	}
	own.Rand = own.restricts.Rand
	chance := 25
	if s.query != nil && s.query.Mutation != nil && slices.ContainsFunc(s.query.Mutation.Statements, func(st plan.Statement) bool { _, ok := st.(plan.Delete); return ok }) {
		chance = 60 // deletions meet most rules
	}
	if !own.percent(max(chance, *rightsFlag)) || s.query == nil && s.load == "" && !merge {
		return
	}
	if s.query != nil && s.query.Read != nil {
		s.reads = own.rights()
		return
	}
	if own.percent(75) {
		s.reads = own.rights()
	}
	if own.percent(60) {
		s.changes = own.rights()
	}
}

// rights draws rights, often those of an earlier statement: an engine may keep what it found for them.
func (d *drawer) rights() *engine.Rights {
	known := d.restricts.granted
	if len(known) > 0 && d.percent(75) {
		return pick(d, known[max(0, len(known)-3):])
	}
	r := &engine.Rights{Digest: fmt.Sprint(d.Uint64()), Nodes: map[string]*engine.TypeRights{}, Edges: map[string]*engine.TypeRights{}}
	for _, n := range d.schema.Nodes {
		if of := d.typeRights(plan.Node, n.Name); of != nil {
			for _, p := range n.Properties {
				if !slices.Contains(n.Key, p.Name) && d.percent(10) {
					of.Properties = append(of.Properties, p.Name)
				}
			}
			slices.Sort(of.Properties)
			r.Nodes[n.Name] = of
		}
	}
	for _, e := range d.schema.Edges {
		if of := d.typeRights(plan.Edge, e.Name); of != nil && d.percent(70) {
			r.Edges[e.Name] = of
		}
	}
	d.restricts.granted = append(known, r)
	return r
}

// typeRights draws the rights to a type, or nil.
func (d *drawer) typeRights(kind plan.Entity, typ string) *engine.TypeRights {
	of := &engine.TypeRights{}
	switch {
	case d.percent(40):
		return nil
	case d.percent(8):
		of.None = true
		return of
	}
	for range d.IntN(3) {
		var list []*engine.RowFilter
		for range d.between(1, 2) {
			list = append(list, d.rowFilter(kind, typ))
		}
		of.Any = append(of.Any, list)
	}
	if len(of.Any) == 0 || d.percent(25) {
		of.All = append(of.All, d.rowFilter(kind, typ))
	}
	return of
}

// rowFilter draws a filter of a type.
func (d *drawer) rowFilter(kind plan.Entity, typ string) *engine.RowFilter {
	for {
		r := &readDraw{drawer: d, readPlan: newRead(d.schema), product: 1}
		var it plan.VarID
		if kind == plan.Node {
			it = r.bound(kind, typ)
			r.match(plan.Bind{Var: it})
		} else {
			edge := d.schema.Edge(typ)
			ends := [2]plan.VarID{}
			for i, to := range []bool{false, true} {
				name, isInterface := edge.End(to)
				of := plan.Node
				if isInterface {
					of = plan.Interface
				}
				ends[i] = r.bound(of, name)
			}
			it = r.edge("it", typ)
			r.match(plan.Traverse{Edge: typ, From: ends[0], To: ends[1], EdgeVar: it, Min: 1, Max: 1})
		}
		r.outer = []plan.VarID{it}
		for range d.between(1, 2) {
			switch {
			case kind == plan.Node && d.percent(25):
				r.match(r.condition(0))
			case kind == plan.Node && d.percent(20):
				r.match(r.clause(&r.outer, 0)...)
				if d.percent(60) {
					r.match(r.filter(r.outer)) // perhaps on another entity
				}
			default:
				r.match(r.filter([]plan.VarID{it}))
			}
		}
		r.ret(id(it))
		q := r.query()
		if strings.Contains(planText(q), "now()") || slices.ContainsFunc(q.Params, func(p plan.Param) bool {
			return p.Pattern != nil || p.Bounds.Min != nil || p.Bounds.Max != nil || p.Type.Kind == value.Decimal
		}) || strings.Contains(planText(q), " matches ") {
			continue // a filter has no instant of its own, and its arguments are known to fit
		}
		among := *q
		read := *q.Read
		list := value.Type{Kind: value.String, List: true}
		among.Params = append(slices.Clone(q.Params), plan.Param{Name: "among", Type: list})
		read.Match = append(slices.Clone(read.Match), plan.Filter{Cond: plan.Compare{Op: plan.In, Left: id(it), Right: plan.ParamRef{Index: len(q.Params)}, Unless: plan.NoParam}})
		among.Read = &read
		return &engine.RowFilter{Name: "drawn", Entities: q, Among: &among, Args: r.args}
	}
}

// rightsText returns rights for a script.
func rightsText(what string, r *engine.Rights) string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	for i, types := range []map[string]*engine.TypeRights{r.Nodes, r.Edges} {
		kind := [...]string{"node", "edge"}[i]
		for _, typ := range slices.Sorted(maps.Keys(types)) {
			of := types[typ]
			fmt.Fprintf(&b, "%s %s %s: none %t, without %v\n", what, kind, typ, of.None, of.Properties)
			for i, list := range append(slices.Clone(of.Any), of.All) {
				for _, f := range list {
					fmt.Fprintf(&b, "  in list %d of %d and one of all: %sargs %s\n", i, len(of.Any), planText(f.Entities), argsText(f.Args))
				}
			}
		}
	}
	return b.String()
}
