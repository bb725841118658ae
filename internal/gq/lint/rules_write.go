package lint

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// The rules about mutations.

// hardCoded reports mutations without a parameter.
func hardCoded(p *queryPass) {
	used := func(s check.Symbol) bool { return s.Uses > 0 }
	matches := func(st plan.Statement) bool { each, ok := st.(plan.ForEach); return ok && each.Read != nil }
	if m := p.Plan.Mutation; m != nil && !slices.ContainsFunc(p.Info.Params, used) && !slices.ContainsFunc(m.Statements, matches) {
		p.report(syntax.SpanOf(p.Syntax.Name), "declare parameters for the values", nil, "mutation %s writes the same data on every call", p.Plan.Name)
	}
}

// upsertClears reports keyed inserts that leave out nullable properties.
func upsertClears(p *queryPass) {
	for _, w := range p.written() {
		ins, ok := w.st.(plan.Insert)
		if !ok || ins.Entity != plan.Node || ins.Upsert || ins.New {
			continue
		}
		n := p.in.Schema.Node(ins.Type)
		if len(n.Key) == 0 {
			continue
		}
		var cleared, reset []string
		for _, prop := range n.Properties {
			if prop.Default != nil {
				if !assigns(ins.Set, prop.Name) {
					reset = append(reset, prop.Name)
				}
				continue
			}
			if prop.Type.Nullable && !assigns(ins.Set, prop.Name) && (prop.Embed == nil || !assigns(ins.Set, prop.Embed.Source)) {
				cleared = append(cleared, prop.Name)
			}
		}
		if len(cleared) > 0 {
			at := w.tree.(*syntax.Insert).Type
			p.report(syntax.SpanOf(at), "assign them, or write upsert to keep them, or insert new to refuse a node that exists", nil,
				"if the key exists, the insert of %s sets %s to null", ins.Type, strings.Join(cleared, ", "))
		} else if len(reset) > 0 {
			at := w.tree.(*syntax.Insert).Type
			p.report(syntax.SpanOf(at), "assign them, or write upsert to keep them, or insert new to refuse a node that exists", nil,
				"if the key exists, the insert of %s sets %s back to the default", ins.Type, strings.Join(reset, ", "))
		}
	}
}

// nullAssigned reports optional parameters for required properties.
func nullAssigned(p *queryPass) {
	for _, st := range p.written() {
		set, _ := plan.Written(st.st)
		var written []*syntax.Assign
		switch tree := st.tree.(type) {
		case *syntax.Insert:
			written = tree.Set
		case *syntax.Update:
			written = tree.Set
		case *syntax.Delete, *syntax.MatchBlock, *syntax.ListBlock:
		}
		for _, a := range set {
			param, ok := p.nullParam(a.Value)
			if !ok || a.Type.Nullable {
				continue
			}
			at := p.Info.Params[param].Span
			for _, w := range written {
				if w.Name.Value == a.Name {
					at = w.Value.Source().Span()
				}
			}
			name := p.Plan.Params[param].Spelled()
			if p.Plan.Params[param].Caller != "" {
				p.report(at, "write coalesce(…, …) with a value to assign instead", nil, "the property %s is required, but %s is null if the caller's token lacks the claim", a.Name, name)
				continue
			}
			if _, bare := a.Value.(plan.ParamRef); bare {
				p.report(at, "declare the parameter without ?", nil, "the property %s is required, but a call may leave out its value %s", a.Name, name)
				continue
			}
			p.report(at, "declare "+name+" without ?, or write coalesce(…, …) with a value to assign instead", nil,
				"the property %s is required, but its value is null if a call leaves out %s", a.Name, name)
		}
	}
}

// written is a statement of a mutation in both forms, compiled and parsed.
type written struct {
	st   plan.Statement
	tree syntax.Statement
}

// written returns the statements of a mutation, including those in blocks, or nil for a read.
func (p *queryPass) written() []written {
	if p.Plan.Mutation == nil {
		return nil
	}
	var list []written
	p.Plan.Mutation.Walk(func(st plan.Statement) { list = append(list, written{st: st}) })
	i := 0
	p.Syntax.Body.(*syntax.Mutation).Walk(func(st syntax.Statement) {
		list[i].tree = st
		i++
	})
	return list
}

// repeatedInsert reports the variables of a match that make an insert run more often, although no statement uses them.
func repeatedInsert(p *queryPass) {
	block := -1
	for _, w := range p.written() {
		each, ok := w.st.(plan.ForEach)
		if !ok {
			continue
		}
		block++
		inserts := func(st plan.Statement) bool { ins, ok := st.(plan.Insert); return ok && !ins.Upsert }
		if each.Read == nil || !slices.ContainsFunc(each.Statements, inserts) {
			continue
		}
		vars := p.Info.Blocks[block].Vars
		inner := func(v plan.VarID) bool { return vars[v].Inner }
		pinned := atMostOne(p.in.Meter, p.in.Schema, each.Read, inner)
		used := usedInBlock(each)
		for i, v := range each.Read.Vars {
			id := plan.VarID(i)
			if !used[id] && !pinned[id] && !inner(id) {
				p.report(vars[i].Span, "use the variable in a statement, or write exists { … } around its clauses", nil,
					"the insert runs once for each $%s, but no statement uses it", v.Name)
			}
		}
	}
}

// usedInBlock returns the variables of a match whose values the statements of the block use.
func usedInBlock(each plan.ForEach) map[plan.VarID]bool {
	used := map[plan.VarID]bool{}
	for _, st := range each.Statements {
		for _, e := range plan.StatementExprs(st) {
			plan.WalkExpr(e, func(e plan.Expr) {
				if cell, ok := e.(plan.Cell); ok {
					exprVar(each.Read.Columns[cell.Column].Expr, func(v plan.VarID) { used[v] = true })
				}
			})
		}
	}
	return used
}

// assigns reports whether one of the assignments sets the property.
func assigns(set []plan.Assign, name string) bool {
	return slices.ContainsFunc(set, func(a plan.Assign) bool { return a.Name == name })
}
