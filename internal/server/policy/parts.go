package policy

import (
	"slices"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ruleSet has the rules about one action. The other rules of a policy can neither match a request for the action nor fail on
// it. Rules with a filter are apart from the others, and permits with one from forbids, because their reasons name the filters.
type ruleSet struct {
	all        policies  // in the order of the file
	plain      policies  // the rules without a filter
	rowPermits policies  // the rules with a filter that allow
	rowForbids policies  // the rules with a filter that deny
	narrowed   bool      // a rule may be about a part of the graph only
	permits    policies  // the rules that may allow a part only
	queries    textTests // how the rules test the names of stored queries
	byVia      bool      // a rule reads whether a stored query makes the call
	denials    *ruleSet  // the rules that deny a part only, with everything allowed
	open       bool      // everything is allowed that no rule denies
	unnamed    bool      // no rule names the action, and so the policy does not decide about it; see tool.ActionRow.IfNamed

	// parts has the types and properties that the permits name, and one of each that none names.
	parts []types.EntityUID
}

// ruleSets indexes policies by the actions in their scope. Every action has a set.
func ruleSets(all policies) map[tool.Action]*ruleSet {
	index := map[tool.Action]*ruleSet{}
	for _, row := range tool.Actions() {
		s := &ruleSet{parts: []types.EntityUID{uid(typeType, " "), uid(propertyType, " . ")}}
		index[row.Action] = s
		s.unnamed = row.IfNamed && !all.name(row.Action)
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
		s.queries, s.byVia = testsOf(queryAttr, s.all), reads(viaAttr, s.all)
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
	switch {
	case s == nil:
		return false, d
	case s.unnamed, len(s.all) == 0:
		return s.unnamed, d
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
	former *asker // asks about the names that types and properties had before a rename
}

// asker returns an asker. It returns false if no rule can answer the question.
func (p *Policy) asker(l link, g tool.Grant) (*asker, bool) {
	req, ok := p.request(l, g)
	if !ok {
		return nil, false
	}
	one := func() *asker {
		return &asker{policy: p, set: p.byAction[g.Action], known: &partEntities{p.entitiesFor(l), map[types.EntityUID]types.EntityUIDSet{}}, req: req, asked: map[types.EntityUID]answer{}}
	}
	a := one()
	a.former = one()
	return a, true
}

// forbidsOnly leaves out all rules but those that deny a part, if the link does not have the grant at all.
func (a *asker) forbidsOnly() {
	if allowed, _ := a.set.authorize(a.known, a.req); !allowed {
		a.set = a.set.denials
		a.former.set = a.set
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

// typeAnswer says what the rules say about a type, under its present and its former name.
func (a *asker) typeAnswer(k kind) answer {
	parents := []types.EntityUID{a.policy.target}
	r := a.ask(a.policy.target)
	for _, i := range k.implements {
		r = r.or(a.ask(uid(typeType, i)))
		parents = append(parents, uid(typeType, i))
	}
	of := func(a *asker, name string) answer {
		id := uid(typeType, name)
		a.known.parents[id] = types.NewEntityUIDSet(parents...)
		return a.ask(id)
	}
	if k.former != "" {
		r = r.or(of(a.former, k.former).unless(k.reused))
	}
	return r.or(of(a, k.name))
}

// propertyAnswer says what the rules say about a property alone, and not because of its type, under its present and its former name.
func (a *asker) propertyAnswer(k kind, property *catalog.Property) answer {
	of := func(a *asker, typ, name string) (r answer) {
		parents := []types.EntityUID{uid(typeType, typ)}
		for _, i := range k.interfaces(property.Name) {
			id := uid(propertyType, i+"."+name)
			r = r.or(a.ask(id))
			parents = append(parents, id)
		}
		id := uid(propertyType, typ+"."+name)
		a.known.parents[id] = types.NewEntityUIDSet(parents...)
		return r.or(a.ask(id))
	}
	r := of(a, k.name, property.Name)
	if k.former != "" {
		r = r.or(of(a.former, k.former, property.Name).unless(k.reused))
	}
	if was := property.RenameFrom; was != "" {
		reused := slices.ContainsFunc(k.properties, func(p *catalog.Property) bool { return p.Name == was })
		r = r.or(of(a.former, k.name, was).unless(reused))
		if k.former != "" {
			r = r.or(of(a.former, k.former, was).unless(reused || k.reused))
		}
	}
	return r
}

// unless returns an answer about a former name. If something else has the name now, the rules that allow mean that.
func (a answer) unless(reused bool) answer {
	if reused {
		a.permit, a.permits, a.rows = false, nil, nil
	}
	return a
}

// filter returns the filter of a rule, or nil.
func (a *asker) filter(rule cedar.PolicyID) *protected.Filter {
	return a.policy.filters[a.policy.rowsOf[rule]]
}

// covers reports whether a filter, or nil, is about the entities of a type, which may have had another name.
func covers(f *protected.Filter, k kind, permits bool) bool {
	if f == nil {
		return false
	}
	return f.Type == k.name || slices.Contains(k.implements, f.Type) || f.Type == k.former && !(permits && k.reused)
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
	former     string // its name before a rename; "" without one
	reused     bool   // another type has that name now
	implements []string
	properties []*catalog.Property
	key        []string
	interfaces func(property string) []string // those of implements that have the property
}

// kinds returns the types of a schema: first the node types, then the edge types.
func kinds(s *catalog.Schema) (nodes, edges []kind) {
	reused := func(former string) bool {
		return former != "" && (s.Node(former) != nil || s.Edge(former) != nil || s.Interface(former) != nil)
	}
	for _, n := range s.Nodes {
		nodes = append(nodes, kind{n.Name, n.RenameFrom, reused(n.RenameFrom), n.Implements, n.Properties, n.Key, func(property string) []string {
			return slices.DeleteFunc(slices.Clone(n.Implements), func(i string) bool { return s.Interface(i) == nil || s.Interface(i).Property(property) == nil })
		}})
	}
	for _, e := range s.Edges {
		edges = append(edges, kind{e.Name, e.RenameFrom, reused(e.RenameFrom), nil, e.Properties, nil, func(string) []string { return nil }})
	}
	return nodes, edges
}

// shown says what the link may see of a type. A permit for a property alone adds nothing to permits with filters, because the
// other entities would show that property only.
func (a *asker) shown(k kind) shownPart {
	r := a.typeAnswer(k)
	s := shownPart{none: r.forbid, rules: r.forbids}
	covered := func(rules []cedar.PolicyID, permits bool) []cedar.PolicyID {
		return slices.DeleteFunc(slices.Clone(rules), func(id cedar.PolicyID) bool { return !covers(a.filter(id), k, permits) })
	}
	if r.forbid {
		return s
	}
	// A rule with a filter for another type cannot say which of these entities it denies, so it denies all. One that is about the
	// whole graph is about the type of its filter.
	whole := a.ask(a.policy.target).notRows
	for _, rule := range r.notRows {
		if !slices.Contains(whole, rule) && !covers(a.filter(rule), k, false) {
			return shownPart{none: true, rules: []cedar.PolicyID{rule}}
		}
	}
	s.rules, s.notIn = r.permits, covered(r.notRows, false)
	if !r.permit {
		s.any = covered(r.rows, true)
		s.rules = s.any
	}
	s.rules = joined(s.rules, s.notIn)
	open, some := r.permit || len(s.any) > 0, false
	hidden := map[string]bool{}
	for _, property := range k.properties {
		of := a.propertyAnswer(k, property)
		for _, rule := range of.notRows {
			if !slices.Contains(r.notRows, rule) { // it denies rows of a property
				of.forbid, of.forbids = true, joined(of.forbids, []cedar.PolicyID{rule})
			}
		}
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
