package policy

import (
	"fmt"
	"slices"

	"github.com/cedar-policy/cedar-go"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Warnings returns what is allowed in a policy, but probably not meant: a permit of stored queries without their names where other
// rules hide a part of the graph, filters that read what the actors whom they confine may change, and rules that deny actors to read
// what they may export.
func (p *Policy) Warnings(schemas ...*catalog.Schema) diag.List {
	var list diag.List
	if p.source != nil {
		for _, r := range p.source.rules {
			if r.permit && r.via == tool.Stored && r.queries == nil && slices.ContainsFunc(r.actions, func(a tool.Action) bool { return narrowed(p.source.rules, a) }) {
				list = append(list, diag.Diagnostic{Code: strictyaml.Contradicts, Severity: diag.Warning, Span: r.at,
					Message: fmt.Sprintf("rule %s allows what other rules hide to every stored query", r.id), Help: "add queries with the stored queries that may show it"})
			}
		}
	}
	for _, s := range schemas {
		for _, d := range append(p.changeable(&engine.Schema{Catalog: s, Digest: catalog.Digest(s)}), exportable(p, s)...) {
			if !slices.ContainsFunc(list, func(have diag.Diagnostic) bool { return have.Message == d.Message && have.Span == d.Span }) {
				list = append(list, d)
			}
		}
	}
	return list
}

// narrowed reports whether one of the rules is about a part of what an action is about.
func narrowed(rules []rule, action tool.Action) bool {
	return slices.ContainsFunc(rules, func(r rule) bool {
		return slices.Contains(r.actions, action) && len(r.part.types)+len(r.part.properties) > 0
	})
}

// changeable returns a warning for each filter that reads something that an actor whom it confines may change.
func (p *Policy) changeable(schema *engine.Schema) (list diag.List) {
	type thing struct {
		entity        plan.Entity
		typ, property string
	}
	nodes, edges := kinds(schema.Catalog)
	all := []struct {
		entity plan.Entity
		kinds  []kind
	}{{plan.Node, nodes}, {plan.Edge, edges}}
	warned := map[*protected.Filter]bool{}
	for _, l := range candidates(p) {
		reads, ok := p.asker(l, tool.Grant{Action: tool.Read})
		changes, also := p.asker(l, tool.Grant{Action: tool.Change})
		if !ok || !also {
			continue
		}
		if allowed, _ := p.byAction[tool.Change].authorize(changes.known, changes.req); !allowed {
			continue
		}
		// may maps what the link may change to true: a type, or a type with a property.
		may := map[thing]bool{}
		for _, of := range all {
			for _, k := range of.kinds {
				shown := changes.shown(k)
				may[thing{of.entity, k.name, ""}] = !shown.none && of.entity == plan.Edge
				for _, property := range k.properties {
					may[thing{of.entity, k.name, property.Name}] = !shown.none && !slices.Contains(shown.hidden, property.Name) && !slices.Contains(k.key, property.Name)
				}
			}
		}
		for _, of := range all {
			for _, k := range of.kinds {
				shown := reads.shown(k)
				for _, rule := range slices.Concat(shown.any, shown.notIn) {
					f := p.filters[p.rowsOf[rule]]
					rows := p.compiled(f, schema, of.entity, k.name)
					if rows == nil || warned[f] {
						continue
					}
					i := slices.IndexFunc(rows.uses, func(u plan.Use) bool {
						return (u.Property != "" || u.Type != k.name) && may[thing{u.Entity, u.Type, u.Property}]
					})
					if i < 0 {
						continue
					}
					warned[f] = true
					who, what := l.words(), rows.uses[i].Type
					if rows.uses[i].Property != "" {
						what += "." + rows.uses[i].Property
					}
					list = append(list, diag.Diagnostic{Code: strictyaml.Contradicts, Severity: diag.Warning, Span: f.At.Span(),
						Message: fmt.Sprintf("filter %s reads %s, which %s may change, so they can change what they see", f.Name, what, who),
						Help:    "deny them change of it, or let the filter read what others keep"})
				}
			}
		}
	}
	list.Sort()
	return list
}

// candidates returns links that stand for all actors: one that the policy does not name, one of each group, and each that it names.
func candidates(p *Policy) []link {
	all := []link{{id: unnamed}}
	for _, group := range p.groups {
		all = append(all, link{id: unnamed, also: []string{group}})
	}
	for _, actor := range p.namedActors() {
		all = append(all, link{id: actor})
	}
	return all
}

// words names the actors for whom a candidate stands.
func (l link) words() string {
	switch {
	case l.also != nil:
		return "the actors of group " + l.also[0]
	case l.id != unnamed:
		return l.id
	}
	return "actors that the policy does not name"
}

// exportable returns a warning for each rule that denies an actor to read a part that the actor may export.
func exportable(p *Policy, schema *catalog.Schema) (list diag.List) {
	nodes, edges := kinds(schema)
	warned := map[cedar.PolicyID]bool{}
	for _, l := range candidates(p) {
		reads, ok := p.asker(l, tool.Grant{Action: tool.Read})
		exports, also := p.asker(l, tool.Grant{Action: tool.Export})
		if !ok || !also || !exports.set.narrowed && !reads.set.narrowed {
			continue
		}
		if allowed, _ := exports.set.authorize(exports.known, exports.req); !allowed {
			continue
		}
		reads.forbidsOnly()
		warn := func(rules []cedar.PolicyID, what string) {
			for _, c := range p.all {
				if c.narrowed && !warned[c.id] && slices.Contains(rules, c.id) {
					warned[c.id] = true
					list = append(list, diag.Diagnostic{Code: strictyaml.Contradicts, Severity: diag.Warning, Span: c.at,
						Message: fmt.Sprintf("rule %s denies to read %s, which %s may export", c.id, what, l.words()), Help: "add export to its actions"})
				}
			}
		}
		for _, k := range slices.Concat(nodes, edges) {
			read, export := reads.shown(k), exports.shown(k)
			if export.none {
				continue
			}
			if warn(reads.typeAnswer(k).forbids, k.name); read.none {
				continue
			}
			for _, rule := range read.notIn {
				if !slices.ContainsFunc(export.notIn, func(other cedar.PolicyID) bool { return p.rowsOf[other] == p.rowsOf[rule] }) {
					warn([]cedar.PolicyID{rule}, "rows of "+k.name)
				}
			}
			for _, property := range k.properties {
				if !slices.Contains(export.hidden, property.Name) {
					warn(reads.propertyAnswer(k, property).forbids, k.name+"."+property.Name)
				}
			}
		}
	}
	return list
}
