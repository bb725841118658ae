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
	if p.Plan.Mutation != nil && !slices.ContainsFunc(p.Info.Params, used) {
		p.report(syntax.SpanOf(p.Syntax.Name), "declare parameters for the values", nil, "mutation %s writes the same data on every call", p.Plan.Name)
	}
}

// upsertClears reports keyed inserts that leave out nullable properties.
func upsertClears(p *queryPass) {
	for i, st := range p.statements() {
		ins, ok := st.(plan.Insert)
		if !ok || ins.Entity != plan.Node {
			continue
		}
		n := p.in.Schema.Node(ins.Type)
		if len(n.Key) == 0 {
			continue
		}
		var cleared []string
		for _, prop := range n.Properties {
			if prop.Type.Nullable && !assigns(ins.Set, prop.Name) && (prop.Embed == nil || !assigns(ins.Set, prop.Embed.Source)) {
				cleared = append(cleared, prop.Name)
			}
		}
		if len(cleared) > 0 {
			at := p.Syntax.Body.(*syntax.Mutation).Statements[i].(*syntax.Insert).Type
			p.report(syntax.SpanOf(at), "assign them, or use update for an existing node", nil,
				"if the key exists, the insert of %s sets %s to null", ins.Type, strings.Join(cleared, ", "))
		}
	}
}

// nullAssigned reports optional parameters for required properties.
func nullAssigned(p *queryPass) {
	for i, st := range p.statements() {
		var set []plan.Assign
		var written []*syntax.Assign
		switch st := st.(type) {
		case plan.Insert:
			set, written = st.Set, p.Syntax.Body.(*syntax.Mutation).Statements[i].(*syntax.Insert).Set
		case plan.Update:
			set, written = st.Set, p.Syntax.Body.(*syntax.Mutation).Statements[i].(*syntax.Update).Set
		case plan.Delete:
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
			name := p.Plan.Params[param].Name
			if _, bare := a.Value.(plan.ParamRef); bare {
				p.report(at, "declare the parameter without ?", nil, "the property %s is required, but a call may leave out its value $%s", a.Name, name)
				continue
			}
			p.report(at, "declare $"+name+" without ?, or write coalesce(…, …) with a value to assign instead", nil,
				"the property %s is required, but its value is null if a call leaves out $%s", a.Name, name)
		}
	}
}

// statements returns the statements of a mutation, or nil for a read.
func (p *queryPass) statements() []plan.Statement {
	if p.Plan.Mutation == nil {
		return nil
	}
	return p.Plan.Mutation.Statements
}

// assigns reports whether one of the assignments sets the property.
func assigns(set []plan.Assign, name string) bool {
	return slices.ContainsFunc(set, func(a plan.Assign) bool { return a.Name == name })
}
