package lint

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// The rules about the whole catalog.

// neverUpdated reports nullable properties that no update sets.
func neverUpdated(p *pass) {
	set := map[string]map[string]bool{} // node type to the properties that an update sets
	for _, q := range p.stored {
		if q.Plan.Mutation == nil {
			continue
		}
		q.Plan.Mutation.Walk(func(st plan.Statement) {
			ins, _ := st.(plan.Insert)
			_, updates := st.(plan.Update)
			entity, typ := plan.Target(st)
			if entity != plan.Node || !updates && !ins.Upsert {
				return
			}
			if set[typ] == nil {
				set[typ] = map[string]bool{}
			}
			assigned, _ := plan.Written(st)
			for _, a := range assigned {
				set[typ][a.Name] = true
			}
		})
	}
	for _, n := range p.in.Schema.Nodes {
		if set[n.Name] == nil {
			continue
		}
		for _, prop := range n.Properties {
			if prop.Type.Nullable && prop.Embed == nil && prop.Type.Kind != value.Blob && !set[n.Name][prop.Name] {
				p.report(p.propertySpan(n.Name, n.Implements, prop.Name), "set the property in an update, or remove it", nil,
					"no query that updates %s sets %s", n.Name, prop.Name)
			}
		}
	}
}

// propertySpan returns the span where a node type, or one of its interfaces, declares a
// property.
func (p *pass) propertySpan(node string, interfaces []string, prop string) diag.Span {
	var at diag.Span
	for _, d := range p.in.SchemaTree.Decls {
		switch d := d.(type) {
		case *syntax.Interface:
			if !slices.Contains(interfaces, d.Name.Value) || at.File != "" {
				continue
			}
			for _, own := range d.Properties {
				if own.Name.Value == prop {
					at = syntax.SpanOf(own.Name)
				}
			}
		case *syntax.Node:
			if d.Name.Value != node {
				continue
			}
			for _, m := range d.Members {
				if own, ok := m.(*syntax.Property); ok && own.Name.Value == prop {
					return syntax.SpanOf(own.Name)
				}
			}
		case *syntax.Edge:
		}
	}
	return at
}

// duplicateQuery reports queries with the same name in several files.
func duplicateQuery(p *pass) {
	first := map[string]diag.Span{}
	for _, f := range p.in.Files {
		for _, q := range f.Queries {
			at := syntax.SpanOf(q.Name)
			before, again := first[q.Name.Value]
			switch {
			case !again:
				first[q.Name.Value] = at
			case before.File != at.File: // the checker reports duplicates within a file
				p.report(at, "rename one of them", nil, "query %s is also declared at %s", q.Name.Value, before)
			}
		}
	}
}

// overBudget reports a graph with tools that take too many tokens in tools/list.
func overBudget(p *pass) {
	list, budget := p.in.ToolList, p.in.Config.tokenBudget()
	if list == nil || Tokens(list.Bytes) <= budget || len(p.stored) == 0 {
		return
	}
	queries, largest := 0, ""
	for _, name := range slices.Sorted(maps.Keys(list.Queries)) {
		n := list.Queries[name]
		queries += n
		if n > list.Queries[largest] {
			largest = name
		}
	}
	for _, q := range p.stored {
		if q.Plan.Name == largest {
			p.report(syntax.SpanOf(q.Syntax.Name), "shorten descriptions, hide queries that no model calls with @mcp(expose: false), or lower mcp.meta_threshold in cluster.yaml, so that two tools replace the tools of the queries", nil,
				"tools/list takes about %d tokens, over the budget of %d; the stored queries take %d of them, and the largest is %s with %d",
				Tokens(list.Bytes), budget, Tokens(queries), q.Tool(), Tokens(list.Queries[largest]))
			return
		}
	}
	p.report(syntax.SpanOf(p.stored[0].Syntax.Name), "set a higher token_budget in gq.yaml", nil,
		"tools/list takes about %d tokens, over the budget of %d, although none of its tools is a stored query", Tokens(list.Bytes), budget)
}

// Tokens estimates the number of tokens in a text of the given size, at BytesPerToken bytes a
// token.
func Tokens(bytes int) int { return (bytes + BytesPerToken - 1) / BytesPerToken }

// untouchedType reports types that no stored query uses.
func untouchedType(p *pass) {
	type key struct {
		entity plan.Entity
		name   string
	}
	touched := map[key]bool{}
	for _, q := range p.stored {
		for _, u := range q.Plan.Uses {
			touched[key{u.Entity, u.Type}] = true
			if u.Entity == plan.Interface && u.Property == "" {
				for _, n := range p.in.Schema.Implementers(u.Type) {
					touched[key{plan.Node, n.Name}] = true
				}
			}
		}
	}
	for _, d := range p.in.SchemaTree.Decls {
		switch d := d.(type) {
		case *syntax.Interface:
		case *syntax.Node:
			if !touched[key{plan.Node, d.Name.Value}] {
				p.report(syntax.SpanOf(d.Name), "", nil, "no query uses node %s", d.Name.Value)
			}
		case *syntax.Edge:
			if !touched[key{plan.Edge, d.Name.Value}] {
				p.report(syntax.SpanOf(d.Name), "", nil, "no query uses edge %s", d.Name.Value)
			}
		}
	}
}

// sameDescription reports tools with the same description.
func sameDescription(p *pass) {
	first := map[string]*Query{}
	for _, q := range p.stored {
		text := strings.Join(strings.Fields(cmp.Or(q.Description, q.Instruction)), " ")
		if !q.Expose || text == "" {
			continue
		}
		before, again := first[text]
		if !again {
			first[text] = q
			continue
		}
		p.report(syntax.SpanOf(q.Syntax.Name), "describe the difference between them", nil, "%s has the same description as %s", q.Plan.Name, before.Plan.Name)
	}
}
