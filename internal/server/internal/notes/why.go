package notes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// whyTime bounds the reads that find the clause without a match.
const whyTime = 300 * time.Millisecond

// nothingOf returns a note if the graph has no node or no edge of a type that a read needs, or "". An actor who sees a part of
// the graph is told of its part.
func (l *lookup) nothingOf(q *plan.Query) string {
	snapshot, err := l.graph.Snapshot(l.ctx, l.at)
	if err != nil {
		return ""
	}
	none := func(counts []engine.TypeCount, name string) bool {
		return !slices.ContainsFunc(counts, func(c engine.TypeCount) bool { return c.Type == name && c.Count > 0 })
	}
	for _, c := range q.Read.Match {
		switch c := c.(type) {
		case plan.Bind:
			if v := q.Read.Vars[c.Var]; v.Entity == plan.Node && none(snapshot.Nodes, v.Type) {
				return "there is no " + v.Type + " at all"
			}
		case plan.Traverse:
			edges := c.Edges()
			if c.Min > 0 && !slices.ContainsFunc(edges, func(e string) bool { return !none(snapshot.Edges, e) }) {
				return "there is no edge " + strings.Join(edges, " or ") + " at all"
			}
		}
	}
	return ""
}

// firstWithout returns a note that names the first clause of a read that no assignment meets, or "". It reads with ever more
// clauses, each of them as soon as its variables are bound, until there is no row.
func (l *lookup) firstWithout(q *plan.Query, args engine.Args) string {
	ctx, cancel := context.WithTimeout(l.ctx, whyTime)
	defer cancel()
	bound := map[plan.VarID]bool{}
	var ties []plan.VarID
	bind := func(ids ...plan.VarID) {
		for _, id := range ids {
			if id != plan.NoVar && !bound[id] {
				bound[id] = true
				if q.Read.Vars[id].Entity != plan.Walk {
					ties = append(ties, id)
				}
			}
		}
	}
	var match []plan.Clause
	waiting := slices.Clone(q.Read.Match)
	for len(waiting) > 0 {
		next := slices.IndexFunc(waiting, func(c plan.Clause) bool {
			f, ok := c.(plan.Filter)
			return ok && len(bound) > 0 && !slices.ContainsFunc(variables(f), func(id plan.VarID) bool { return !bound[id] })
		})
		if next < 0 {
			next = slices.IndexFunc(waiting, func(c plan.Clause) bool {
				switch c.(type) {
				case plan.Bind, plan.Traverse:
					return true
				}
				return false
			})
		}
		next = max(next, 0)
		clause := waiting[next]
		waiting = slices.Delete(waiting, next, next+1)
		switch c := clause.(type) {
		case plan.Optional:
			continue
		case plan.Bind:
			bind(c.Var)
		case plan.Traverse:
			bind(c.From, c.To, c.EdgeVar)
		}
		match = append(match, clause)
		if len(ties) == 0 { // a condition on literals and parameters alone, in a match without variables
			return unmet(q, clause)
		}
		r, err := l.graph.Query(ctx, &plan.Query{Name: "note", Params: q.Params, Uses: q.Uses, Read: &plan.Read{
			Vars: q.Read.Vars, Match: match, Valid: q.Read.Valid, Ties: ties, Limit: 1,
			Columns: []plan.Column{{Name: "id", Expr: plan.ID{Var: ties[0]}, Type: value.Of(value.String)}},
		}}, args, l.at)
		if err != nil {
			return ""
		}
		b, err := r.Next(ctx)
		_ = r.Close()
		switch {
		case err != nil:
			return ""
		case b == nil || b.Len == 0:
			return unmet(q, clause)
		}
	}
	if len(q.Read.Having) > 0 {
		return "the match has rows, but none of them meets the conditions on the returned columns"
	}
	return ""
}

// unmet returns the note on a clause that no assignment meets that the clauses before it find.
func unmet(q *plan.Query, c plan.Clause) string {
	vars := q.Read.Vars
	switch c := c.(type) {
	case plan.Traverse:
		verb := "leads from"
		if c.Undirected {
			verb = "joins"
		}
		return fmt.Sprintf("no edge %s %s %s to %s, with the conditions before it", strings.Join(c.Edges(), " or "), verb, called(vars[c.From]), called(vars[c.To]))
	case plan.Filter:
		on := variables(c)
		if len(on) == 0 || slices.Contains(on, plan.NoVar) {
			break
		}
		what := "the condition"
		if props := properties(c); len(props) > 0 {
			what += " on " + strings.Join(props, " and ")
		}
		if t, ok := c.Cond.(plan.TextMatch); ok {
			what = "the search in " + t.Prop.Name
		}
		return fmt.Sprintf("no %s meets %s, with those before it", called(vars[on[0]]), what)
	case plan.Not:
		return "all that the match finds has a match of the not block, which leaves it out"
	}
	return "nothing meets all conditions; leave some of them out to see which one"
}

// called returns how a note names a variable.
func called(v plan.Var) string {
	switch {
	case v.Name == "_" || v.Name == "":
		return v.Type
	case v.Type == "":
		return "$" + v.Name
	}
	return v.Type + " $" + v.Name
}

// variables returns the variables in the expressions of a filter.
func variables(f plan.Filter) (ids []plan.VarID) {
	each(f, func(id plan.VarID, _ string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	})
	return ids
}

// properties returns the properties in the expressions of a filter.
func properties(f plan.Filter) (names []string) {
	each(f, func(_ plan.VarID, name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	return names
}

// each calls visit with each use of a variable in a filter, and with the property that is used, or "".
func each(f plan.Filter, visit func(plan.VarID, string)) {
	if t, ok := f.Cond.(plan.TextMatch); ok {
		visit(t.Prop.Var, t.Prop.Name)
	}
	plan.WalkClauses([]plan.Clause{f}, func(e plan.Expr) {
		switch e := e.(type) {
		case plan.Prop:
			visit(e.Var, e.Name)
		case plan.ID:
			visit(e.Var, "id")
		case plan.Endpoint:
			visit(e.Var, "")
		case plan.EndNode:
			visit(e.Var, "")
		case plan.Origin:
			visit(e.Var, "")
		case plan.WalkPart:
			visit(e.Var, "")
		case plan.Whole:
			visit(e.Var, "")
		case plan.Holds, plan.BlockAgg, plan.BlockRows:
			visit(plan.NoVar, "") // a block has variables of its own, so its filter comes last
		}
	})
}
