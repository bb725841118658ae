package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// ruleID matches the valid ids of rules and groups. The ids appear in explanations and in Cedar
// annotations.
var ruleID = regexp.MustCompile(ruleIDPattern)

// bundle is a policy file as parsed. The names in it are not resolved.
type bundle struct {
	at        *strictyaml.Node // nil if the file has no usable root
	groups    []groupClause    // in the order of the file
	protected protected.Rules  // protected branches and owners
	rules     []ruleClause     // in the order of the file
}

// groupClause is a group of the file, with its actors.
type groupClause struct {
	name    strictyaml.Entry   // name of the group
	members []strictyaml.Entry // names of its actors
}

// ruleClause is a rule of the file.
type ruleClause struct {
	id      string
	at      *strictyaml.Node           // where a fault of the whole rule is reported
	permit  bool                       // the rule allows; otherwise it denies
	any     bool                       // true for actors: any
	group   *strictyaml.Entry          // group of actors; nil for none
	ids     []strictyaml.Entry         // listed actors
	actions []strictyaml.Entry         // the actions that the rule is about
	scopes  map[scope]*strictyaml.Node // only the scopes in the rule
	branch  string                     // value of either branch scope; "any" if absent
	via     string                     // value of via; "" if absent
	queries []strictyaml.Entry         // the queries that the rule is limited to
	sources []strictyaml.Entry         // the sources that the rule is limited to
	asAgent bool                       // the rule has as: agent
	through *strictyaml.Entry          // group in through; nil for none
	unless  *strictyaml.Entry          // group in unless; nil for none

	partsAt    *strictyaml.Node   // the first of types, properties and rows; nil without them
	types      []strictyaml.Entry // the types that the rule is limited to
	properties []strictyaml.Entry // the properties that the rule is limited to, as Type.property
	rows       *strictyaml.Entry  // the filter in rows; nil for none
}

// parse reads the structure of a bundle and reports the parts that do not have the expected
// structure.
func parse(r *strictyaml.Reader) *bundle {
	b := &bundle{}
	root := r.Root()
	if root == nil {
		if len(r.Faults()) == 0 {
			r.Whole(strictyaml.Missing, "the policy is empty", "write the keys version and rules")
		}
		return b
	}
	f, ok := root.Mapping("a policy", Settings)
	if !ok {
		return b
	}
	root.Require(f, "version", "the policy").Number()
	b.at = root
	groups, _ := f["groups"].Entries("groups")
	for _, g := range groups {
		if !ruleID.MatchString(g.Key) {
			g.At.Fault(strictyaml.BadValue, "a group's name must be at most 64 letters, digits and _ . -", "choose another name")
		}
		members, _ := g.Value.Texts("group " + g.Key)
		b.groups = append(b.groups, groupClause{g, actors(members)})
	}
	b.protected = protected.Parse(f["protected_branches"], f["owners"], f["filters"])
	rules, _ := root.Require(f, "rules", "the policy").List("rules")
	first := map[string]int{}
	for _, n := range rules {
		rule, ok := parseRule(n)
		if !ok {
			continue
		}
		if line, twice := first[rule.id]; twice && rule.id != "" {
			rule.at.Fault(strictyaml.Duplicate, fmt.Sprintf("rule %s is here and on line %d", rule.id, line), "give each rule its own id")
		} else {
			first[rule.id] = rule.at.Span().Start.Line
		}
		b.rules = append(b.rules, rule)
	}
	return b
}

// parseRule reads one rule. It returns false if the rule is too broken for further checks.
func parseRule(n *strictyaml.Node) (ruleClause, bool) {
	c := ruleClause{at: n, branch: "any", scopes: map[scope]*strictyaml.Node{}}
	f, ok := n.Mapping("a rule", ruleSettings)
	if !ok {
		return c, false
	}
	what := "the rule"
	if id := n.Require(f, "id", what); id != nil {
		if s, ok := id.Text("id"); ok {
			c.id, c.at, what = s, id, "rule "+s
			if !ruleID.MatchString(s) {
				id.Fault(strictyaml.BadValue, "a rule's id must be at most 64 letters, digits and _ . -", "choose another id")
			}
		}
	}
	body, allow := f["allow"], true
	if body == nil {
		body, allow = f["deny"], false
	}
	c.permit = allow
	switch {
	case body == nil:
		if len(f) == 0 || len(f) == 1 && f["id"] != nil {
			c.at.Fault(strictyaml.Missing, what+" has neither allow nor deny", "add one of the two")
		}
		return c, false
	case allow && f["deny"] != nil:
		f["deny"].Fault(strictyaml.Contradicts, what+" has both allow and deny", "split it into two rules")
		return c, false
	}
	f, ok = body.Mapping(what, clauseSettings)
	if !ok {
		return c, false
	}
	okActors := c.parseActors(body.Require(f, "actors", what))
	if a := body.Require(f, "actions", what); a != nil {
		c.actions, ok = a.Texts("actions")
		if ok && len(c.actions) == 0 {
			a.Fault(strictyaml.Missing, what+" has no actions", "list some of "+strings.Join(actionNames(), ", "))
		}
	}
	c.parseScopes(f)
	c.parseLink(f)
	c.unless = groupIn(f["unless"], "unless")
	c.parseParts(f)
	return c, okActors
}

// parseParts reads the keys of a rule that narrow it to a part of the graph.
func (c *ruleClause) parseParts(f strictyaml.Fields) {
	c.partsAt = cmp.Or(f["types"], f["properties"], f["rows"])
	for _, list := range []struct {
		key string
		to  *[]strictyaml.Entry
	}{{"types", &c.types}, {"properties", &c.properties}} {
		n := f[list.key]
		if entries, ok := n.Texts(list.key); ok && len(entries) == 0 {
			n.Fault(strictyaml.Missing, list.key+" is an empty list", "leave "+list.key+" out if the rule is for all of them")
		} else {
			*list.to = entries
		}
	}
	if s, ok := f["rows"].Text("rows"); ok {
		c.rows = &strictyaml.Entry{Key: s, At: f["rows"]}
	}
	if c.rows != nil && f["properties"] != nil {
		f["properties"].Fault(strictyaml.Contradicts, "the rule has both rows and properties, but a property is hidden on all entities or on none", "write two rules")
		c.properties = nil
	}
}

// groupIn reads the group of a setting that has the single key group. It returns nil for an absent setting, and for one with
// faults.
func groupIn(n *strictyaml.Node, what string) *strictyaml.Entry {
	f, ok := n.Fields(what, "group")
	if !ok {
		return nil
	}
	if s, ok := n.Require(f, "group", what).Text(what + ".group"); ok {
		return &strictyaml.Entry{Key: s, At: f["group"]}
	}
	return nil
}

// parseActors reads any, {group: name} or {ids: [actor]}.
func (c *ruleClause) parseActors(n *strictyaml.Node) bool {
	const help = "write the word any, {group: name} or {ids: [actor]}"
	if n == nil {
		return false
	}
	if n.IsText() {
		s, ok := n.Text("actors")
		if ok && s != "any" {
			n.Fault(strictyaml.BadValue, fmt.Sprintf("actors is %.60q", s), help)
			return false
		}
		c.any = ok
		return ok
	}
	f, ok := n.Fields("actors", "group", "ids")
	switch {
	case !ok:
		return false
	case len(f) == 0:
		n.Fault(strictyaml.Missing, "actors is empty", help)
		return false
	case len(f) == 2:
		n.Fault(strictyaml.Contradicts, "actors has both group and ids", "split it into two rules")
		return false
	case f["group"] != nil:
		s, ok := f["group"].Text("actors.group")
		if ok {
			c.group = &strictyaml.Entry{Key: s, At: f["group"]}
		}
		return ok
	}
	ids, ok := f["ids"].Texts("actors.ids")
	if ok && len(ids) == 0 {
		if listed, _ := f["ids"].List("actors.ids"); len(listed) > 0 {
			return false // Texts has reported each bad entry
		}
		f["ids"].Fault(strictyaml.Missing, "actors.ids is an empty list", help)
	}
	c.ids = actors(ids)
	return len(c.ids) > 0
}

// parseScopes reads the keys of a rule that narrow it.
func (c *ruleClause) parseScopes(f strictyaml.Fields) {
	for _, s := range scopeKeys {
		n := f[s.key]
		if n == nil {
			continue
		}
		c.scopes[s.scope] = n
		switch s.scope {
		case branchScope, targetBranchScope:
			if v, ok := n.Word(); ok {
				c.branch = v
			}
		case viaScope:
			c.via, _ = n.Word()
		case queriesScope:
			var ok bool
			if c.queries, ok = n.Texts("queries"); ok && len(c.queries) == 0 {
				n.Fault(strictyaml.Missing, "queries is an empty list", "leave queries out if the rule is for every stored query")
			}
		case sourcesScope:
			var ok bool
			if c.sources, ok = n.Texts("sources"); ok && len(c.sources) == 0 {
				n.Fault(strictyaml.Missing, "sources is an empty list", "leave sources out if the rule is for every source")
			}
		}
	}
}

// parseLink reads the keys of a rule that say who must take part in the call, and how.
func (c *ruleClause) parseLink(f strictyaml.Fields) {
	if n := f["as"]; n != nil {
		word, _ := n.Word()
		c.asAgent = word == string(agentLink)
	}
	n := f["through"]
	if n == nil {
		return
	}
	switch {
	case c.permit:
		n.Fault(strictyaml.Contradicts, "through stands in a rule that allows, but an agent gets no more than the actor for whom it acts", "deny what the actor may not do through the agents")
		return
	case c.asAgent:
		n.Fault(strictyaml.Contradicts, "the rule has both as: agent and through", "as: agent is about the agent, and through about the actor for whom it acts; write two rules")
		return
	}
	c.through = groupIn(n, "through")
}

// actors returns the entries that are valid names of actors and reports the others.
func actors(entries []strictyaml.Entry) []strictyaml.Entry {
	var kept []strictyaml.Entry
	for _, e := range entries {
		if strings.ContainsFunc(e.Key, func(c rune) bool { return c <= ' ' || c >= 0x7f }) || len(e.Key) > 128 {
			e.At.Fault(strictyaml.BadValue, "an actor's name must be at most 128 ASCII characters without blanks", "write it as it is in the actor's token")
			continue
		}
		kept = append(kept, e)
	}
	return kept
}
