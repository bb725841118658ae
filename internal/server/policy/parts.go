package policy

import (
	"slices"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ruleSet has the rules about one action. The other rules of a policy can neither match a request for the action nor fail on
// it. Rules with a filter are apart from the others, and permits with one from forbids, because their reasons name the filters.
type ruleSet struct {
	all        policies // in the order of the file
	plain      policies // the rules without a filter
	rowPermits policies // the rules with a filter that allow
	rowForbids policies // the rules with a filter that deny
	narrowed   bool     // a rule may be about a part of the graph only
	permits    policies // the rules that may allow a part only
	denials    *ruleSet // the rules that deny a part only, with everything allowed
	open       bool     // everything is allowed that no rule denies

	// parts has the types and properties that the permits name, and one of each that none names.
	parts []types.EntityUID
}

// ruleSets indexes policies by the actions in their scope. Every action has a set.
func ruleSets(all policies) map[tool.Action]*ruleSet {
	index := map[tool.Action]*ruleSet{}
	for _, row := range tool.Actions() {
		s := &ruleSet{parts: []types.EntityUID{uid(typeType, " "), uid(propertyType, " . ")}}
		index[row.Action] = s
		for _, c := range all {
			if !includesAction(c.policy.AST().Action, uid(actionType, string(row.Action))) {
				continue
			}
			s.all = append(s.all, c)
			s.narrowed = s.narrowed || c.narrowed && row.On == tool.OnBranch
			if c.narrowed && c.policy.Effect() == cedar.Permit {
				s.permits, s.parts = append(s.permits, c), joined(s.parts, c.resources)
			}
			switch {
			case c.rows == "":
				s.plain = append(s.plain, c)
			case c.policy.Effect() == cedar.Permit:
				s.rowPermits = append(s.rowPermits, c)
			default:
				s.rowForbids = append(s.rowForbids, c)
			}
		}
		s.denials = &ruleSet{rowForbids: s.rowForbids, open: true}
		for _, c := range s.plain {
			if c.narrowed && c.policy.Effect() == cedar.Forbid {
				s.denials.plain = append(s.denials.plain, c)
			}
		}
	}
	return index
}

// authorize decides about a request as a whole. A rule that allows a part of the graph allows the request, and a rule that denies a
// part does not deny it; see [Policy.Rights]. The diagnostic has the rules that decided. A nil set denies.
func (s *ruleSet) authorize(known types.EntityGetter, req cedar.Request) (allowed bool, d cedar.Diagnostic) {
	if s == nil || len(s.all) == 0 {
		return false, d
	}
	decision, d := cedar.Authorize(s.plain, known, req)
	// Cedar skips a rule that fails to evaluate. If that rule forbids, skipping it would allow the
	// request.
	if decision == cedar.Allow || len(d.Errors)+len(d.Reasons) > 0 || !s.narrowed {
		return decision == cedar.Allow && len(d.Errors) == 0, d
	}
	for _, resource := range append([]types.EntityUID{req.Resource}, s.parts...) {
		req.Resource = resource
		if decision, part := cedar.Authorize(s.permits, known, req); decision == cedar.Allow && len(part.Errors) == 0 {
			d.Reasons = joined(d.Reasons, part.Reasons)
		}
	}
	return len(d.Reasons) > 0, d
}

// partEntities adds to entities the interfaces that types implement.
type partEntities struct {
	types.EntityGetter
	parents map[types.EntityUID]types.EntityUIDSet // of types and properties of the schema
}

// Get implements types.EntityGetter.
func (e *partEntities) Get(id types.EntityUID) (types.Entity, bool) {
	if parents, ok := e.parents[id]; ok {
		return types.Entity{UID: id, Parents: parents}, true
	}
	return e.EntityGetter.Get(id)
}

// answer says which rules match a request for one resource.
type answer struct {
	permit, forbid   bool // rules without a filter; a rule that cannot be evaluated forbids
	permits, forbids []cedar.PolicyID
	rows, notRows    []cedar.PolicyID // permits and forbids with a filter
}

// or returns what the rules say about a thing that is in another: it is permitted if either is, and forbidden if either is.
func (a answer) or(b answer) answer {
	return answer{
		a.permit || b.permit, a.forbid || b.forbid, joined(a.permits, b.permits), joined(a.forbids, b.forbids),
		joined(a.rows, b.rows), joined(a.notRows, b.notRows),
	}
}

// joined returns the elements of both lists once.
func joined[T comparable](a, b []T) []T {
	all := slices.Clone(a)
	for _, v := range b {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// asker asks the rules about the parts of a graph for one link and one grant.
type asker struct {
	policy *Policy
	set    *ruleSet
	known  *partEntities
	req    cedar.Request // for the whole graph
	asked  map[types.EntityUID]answer
}

// asker returns an asker. It returns false if no rule can answer the question.
func (p *Policy) asker(l link, g tool.Grant) (*asker, bool) {
	req, ok := p.request(l, g)
	if !ok {
		return nil, false
	}
	return &asker{p, p.byAction[g.Action], &partEntities{p.entitiesFor(l), map[types.EntityUID]types.EntityUIDSet{}}, req, map[types.EntityUID]answer{}}, true
}

// forbidsOnly leaves out all rules but those that deny a part, if the link does not have the grant at all.
func (a *asker) forbidsOnly() {
	if allowed, _ := a.set.authorize(a.known, a.req); !allowed {
		a.set = a.set.denials
	}
}

// ask returns what the rules say about one resource alone.
func (a *asker) ask(resource types.EntityUID) answer {
	if known, ok := a.asked[resource]; ok {
		return known
	}
	req := a.req
	req.Resource = resource
	var r answer
	evaluate := func(set policies) (ids []cedar.PolicyID, allowed bool) {
		decision, d := cedar.Authorize(set, a.known, req)
		for _, reason := range d.Reasons {
			ids = append(ids, reason.PolicyID)
		}
		for _, e := range d.Errors {
			r.forbid, r.forbids = true, append(r.forbids, e.PolicyID)
		}
		return ids, decision == cedar.Allow
	}
	ids, allowed := evaluate(a.set.plain)
	if allowed {
		r.permit, r.permits = true, ids
	} else if ids != nil {
		r.forbid, r.forbids = true, append(r.forbids, ids...)
	}
	r.permit = r.permit || a.set.open
	r.rows, _ = evaluate(a.set.rowPermits)
	r.notRows, _ = evaluate(a.set.rowForbids)
	a.asked[resource] = r
	return r
}

// typeAnswer says what the rules say about a type that implements interfaces.
func (a *asker) typeAnswer(typ string, implements []string) answer {
	parents := []types.EntityUID{a.policy.target}
	r := a.ask(a.policy.target)
	for _, i := range implements {
		r = r.or(a.ask(uid(typeType, i)))
		parents = append(parents, uid(typeType, i))
	}
	id := uid(typeType, typ)
	a.known.parents[id] = types.NewEntityUIDSet(parents...)
	return r.or(a.ask(id))
}

// propertyAnswer says what the rules say about a property alone, and not because of its type. The interfaces are those
// of the type that have the property.
func (a *asker) propertyAnswer(typ, property string, interfaces []string) answer {
	parents := []types.EntityUID{uid(typeType, typ)}
	var r answer
	for _, i := range interfaces {
		id := uid(propertyType, i+"."+property)
		r = r.or(a.ask(id))
		parents = append(parents, id)
	}
	id := uid(propertyType, typ+"."+property)
	a.known.parents[id] = types.NewEntityUIDSet(parents...)
	return r.or(a.ask(id))
}

// covers reports whether a filter is about the entities of a type.
func (p *Policy) covers(rule cedar.PolicyID, typ string, implements []string) bool {
	f := p.filters[p.rowsOf[rule]]
	return f != nil && (f.Type == typ || slices.Contains(implements, f.Type))
}

// shownPart says what a link may see of a type.
type shownPart struct {
	none       bool
	hidden     []string         // the properties that it may not see, sorted
	any, notIn []cedar.PolicyID // the rules whose filters an entity must pass one of, and none of
	rules      []cedar.PolicyID // the rules that decided about the type
}

// kind is a node type or an edge type, as far as rules see it.
type kind struct {
	name       string
	implements []string
	properties []*catalog.Property
	key        []string
	interfaces func(property string) []string // those of implements that have the property
}

// kinds returns the types of a schema: first the node types, then the edge types.
func kinds(s *catalog.Schema) (nodes, edges []kind) {
	for _, n := range s.Nodes {
		nodes = append(nodes, kind{n.Name, n.Implements, n.Properties, n.Key, func(property string) []string {
			return slices.DeleteFunc(slices.Clone(n.Implements), func(i string) bool { return s.Interface(i) == nil || s.Interface(i).Property(property) == nil })
		}})
	}
	for _, e := range s.Edges {
		edges = append(edges, kind{e.Name, nil, e.Properties, nil, func(string) []string { return nil }})
	}
	return nodes, edges
}

// shown says what the link may see of a type. A permit for a property alone adds nothing to permits with filters, because the
// other entities would show that property only.
func (a *asker) shown(k kind) shownPart {
	r := a.typeAnswer(k.name, k.implements)
	s := shownPart{none: r.forbid, rules: r.forbids}
	covered := func(rules []cedar.PolicyID) []cedar.PolicyID {
		return slices.DeleteFunc(slices.Clone(rules), func(id cedar.PolicyID) bool { return !a.policy.covers(id, k.name, k.implements) })
	}
	if r.forbid {
		return s
	}
	s.rules, s.notIn = r.permits, covered(r.notRows)
	if !r.permit {
		s.any = covered(r.rows)
		s.rules = s.any
	}
	s.rules = joined(s.rules, s.notIn)
	open, some := r.permit || len(s.any) > 0, false
	hidden := map[string]bool{}
	for _, property := range k.properties {
		of := a.propertyAnswer(k.name, property.Name, k.interfaces(property.Name))
		key := slices.Contains(k.key, property.Name)
		switch {
		case of.forbid && key:
			// A key cannot be hidden, because the id shows it.
			return shownPart{none: true, rules: of.forbids}
		case of.forbid, !open && !of.permit && !key:
			hidden[property.Name] = true
			s.rules = joined(s.rules, of.forbids)
		case !open && of.permit:
			some = true
			s.rules = joined(s.rules, of.permits)
		}
	}
	if !open && !some {
		return shownPart{none: true}
	}
	for _, property := range k.properties {
		if property.Embed != nil && hidden[property.Embed.Source] {
			hidden[property.Name] = true
		}
		if hidden[property.Name] {
			s.hidden = append(s.hidden, property.Name)
		}
	}
	slices.Sort(s.hidden)
	return s
}
