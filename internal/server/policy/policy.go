// Package policy compiles policy bundles to Cedar and authorizes requests with them.
package policy

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

var _ access.Authorizer = (*Policy)(nil)

// Options describe the graph or server that a policy is compiled for.
type Options struct {
	// Graph is the id of the graph; empty means the server itself.
	Graph string

	// Graphs are all graphs that the file applies to, if it applies to more graphs than Graph. A
	// .cedar file may name any of them.
	Graphs []string

	// Queries are the stored queries that rules may name. They are the queries of every graph that
	// the file applies to, including queries that were left out at boot.
	Queries []string

	// AnyQuery turns off the check of query names. It is for a file whose graph is not known.
	AnyQuery bool

	// UnknownQueries allows rules that name a query that is not among Queries: such a rule has no effect on any other
	// query. [Policy.UnknownQueries] lists them.
	UnknownQueries bool

	// TokenGroups maps the names of groups in verified tokens to groups of the policy. Groups of a
	// token that are not in the map are ignored.
	TokenGroups map[string]string

	// Protected are the protected branches and owners that cluster.yaml states for a policy in Cedar's own
	// language. A policy in YAML states its own.
	Protected protected.Rules

	// EarlierAgents asks the policy about every agent of an actor, not only about the current one.
	EarlierAgents bool

	// Schemas are the schemas of the graphs that the file applies to. If there are any, the names of types and properties in
	// rules must be in one of them, and each filter must compile against those that have its type.
	Schemas []*catalog.Schema

	// Claims are the claims of callers that filters may use, as actor().NAME.
	Claims plan.Claims

	// LooseGroups allows TokenGroups to map to groups that this bundle does not define. Another
	// policy of the server defines them.
	LooseGroups bool
}

// Policy authorizes requests for one graph, or for the server. It is safe for concurrent use.
type Policy struct {
	target      types.EntityUID   // the graph or the server
	entities    *entities         // what Cedar can look up
	tokenGroups map[string]string // policy group by token group; other groups of a token are ignored
	earlier     bool              // ask about earlier agents too; see Options.EarlierAgents
	protected   []string          // protected branches, sorted
	// protections maps each branch that changes only by merging proposals to what such a merge
	// needs.
	protections map[string]*tool.Protection
	owners      map[string][]string // owners by actor
	tests       textTests           // how the rules test branch names
	named       []string            // branches that rules name, sorted
	groups      []string            // groups that rules may name, sorted
	unknown     diag.List           // names of queries that no query has
	all         policies            // in the order of the file

	byAction  map[tool.Action]*ruleSet
	narrowing bool // a rule may be about a part of the graph only
	several   bool // the file applies to several graphs

	filters   map[string]*protected.Filter // by name
	rowsOf    map[cedar.PolicyID]string    // the name of its filter, by rule
	claims    plan.Claims                  // that filters may use
	decisions decisions                    // caches decisions
	rights    rightsCache                  // caches rights
	source    *resolved                    // nil for a policy that was written in Cedar
}

// nativeExt is the extension of files in Cedar's own language.
const nativeExt = ".cedar"

// Read compiles the policy in a file; see [CompileFile]. The error is an error of reading the file, or a diag.List of
// all its faults.
func Read(path string, o Options) (*Policy, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return CompileFile(path, src, o)
}

// CompileFile compiles the text of a policy file: Cedar if its name ends in .cedar, and YAML otherwise. The error is a
// diag.List of all faults.
func CompileFile(path string, src []byte, o Options) (*Policy, error) {
	if filepath.Ext(path) == nativeExt {
		src = bytes.TrimPrefix(src, []byte("\ufeff")) // Windows editors write this mark before the text
		return CompileCedar(path, src, o)
	}
	return Compile(path, src, o)
}

// Compile compiles the text of a YAML bundle. Reports refer to the text by the name in the argument
// `file`. The error is a diag.List of all faults.
func Compile(file string, src []byte, o Options) (*Policy, error) {
	r := strictyaml.Read(file, src)
	res := resolve(parse(r), o)
	faults := append(r.Faults(), res.faults...)
	faults.Sort()
	if err := faults.Err(); err != nil {
		return nil, err
	}
	p := compileRules(res, o.Graph)
	p.tokenGroups, p.earlier, p.claims, p.several = o.TokenGroups, o.EarlierAgents, o.Claims, len(o.Graphs) > 1
	return p, nil
}

// ReadOnly returns the policy of a graph that has tokens and no policy of its own; an empty id
// means the server. Any actor may read and may invoke stored queries, which can then only read. No
// actor may change, export or administer anything.
func ReadOnly(graph string) *Policy {
	actions := []tool.Action{tool.Read, tool.InvokeQuery}
	if graph == "" {
		actions = []tool.Action{tool.GraphList}
	}
	return compileRules(&resolved{rules: []rule{{id: "reads-only", permit: true, actors: anyActor{}, actions: actions, branch: "any"}}}, graph)
}

// Unrestricted returns the policy of a graph that runs unauthenticated; an empty id means the
// server. Any actor may do anything.
func Unrestricted(graph string) *Policy {
	var actions []tool.Action
	for _, row := range tool.Actions() {
		if row.Server() == (graph == "") {
			actions = append(actions, row.Action)
		}
	}
	return compileRules(&resolved{rules: []rule{{id: "unrestricted", permit: true, actors: anyActor{}, actions: actions, branch: "any"}}}, graph)
}

// Nothing returns the policy of a graph without a policy on a governed server; an empty id means
// the server. No actor may do anything.
func Nothing(graph string) *Policy { return compileRules(&resolved{}, graph) }

// compileRules returns the policy of a graph for rules with resolved names. An empty `graph` means
// the server.
func compileRules(res *resolved, graph string) *Policy {
	target := targetOf(graph)
	var all policies
	for _, r := range res.rules {
		all = append(all, compile(r, target))
	}
	p := newPolicy(all, res.groupsOf, target)
	p.protected, p.named, p.protections, p.owners = res.protected, res.protected, res.protections, res.owners
	p.groups, p.source, p.unknown = slices.Sorted(slices.Values(res.groups)), res, res.unknown
	setFilters(p, res.filters)
	return p
}

// UnknownQueries lists, as warnings, the names of queries in the rules that no query has. It is for
// [Options.UnknownQueries]; without it, such a name is a fault.
func (p *Policy) UnknownQueries() diag.List { return p.unknown }

// unknownQuery returns the warning for a rule that names a query that does not exist.
func unknownQuery(name, rule string, at diag.Span, known []string) diag.Diagnostic {
	help := "apply the query, or correct the name"
	if near := diag.DidYouMean(name, known); near != "" {
		help = near
	}
	return diag.Diagnostic{Code: strictyaml.UnknownName, Severity: diag.Warning, Span: at, Message: fmt.Sprintf("unknown query %q in %s", name, rule), Help: help}
}

// NamesQuery reports whether a rule names the stored query.
func (p *Policy) NamesQuery(name string) bool {
	if p.source != nil {
		return slices.ContainsFunc(p.source.rules, func(r rule) bool { return slices.Contains(r.queries, name) })
	}
	return slices.ContainsFunc(p.all, func(c compiled) bool { return slices.Contains(mentions(c.policy).entities, uid(queryType, name)) })
}

// Decides reports whether a policy decides about an action; see [tool.ActionRow].IfNamed.
func Decides(p *Policy, a tool.Action) bool { return !p.byAction[a].unnamed }

// Sources lists the sources of loads that rules name, sorted.
func (p *Policy) Sources() []string {
	if s := p.byAction[tool.LoadSource]; s != nil && !s.unnamed {
		return slices.DeleteFunc(slices.Clone(testsOf(sourceAttr, s.all).literals), func(name string) bool { return engine.CheckSource(name) != nil })
	}
	return nil
}

// targetOf returns the entity of a graph, or of the server if graph is empty.
func targetOf(graph string) types.EntityUID {
	if graph == "" {
		return uid(serverType, serverID)
	}
	return uid(graphType, graph)
}

// newPolicy returns the policy for compiled rules. The map `groupsOf` has the groups of each actor.
func newPolicy(all policies, groupsOf map[string][]string, target types.EntityUID) *Policy {
	p := &Policy{target: target, entities: newEntities(groupsOf, target), all: all, byAction: ruleSets(all), tests: testsOf(branchAttr, all)}
	for _, s := range p.byAction {
		p.narrowing = p.narrowing || s.narrowed
	}
	return p
}

// decide makes the decision that Allowed caches.
func (p *Policy) decide(actor *access.Actor, g tool.Grant) bool {
	for _, l := range p.links(actor) {
		req, ok := p.request(l, g)
		if !ok {
			return false
		}
		if allowed, _ := p.byAction[g.Action].authorize(p.entitiesFor(l), req); !allowed {
			return false
		}
	}
	return true
}

// request translates a question about a link to a Cedar request. It returns false if no rule can answer the
// question.
func (p *Policy) request(l link, g tool.Grant) (req cedar.Request, ok bool) {
	row, known := rowOf(g.Action)
	if l.id == "" || !known || row.Server() != (p.target.Type == serverType) {
		return req, false
	}
	req = cedar.Request{
		Principal: uid(actorType, l.id),
		Action:    uid(actionType, string(g.Action)),
		Resource:  p.target,
	}
	if g.Action == tool.InvokeQuery {
		if g.Query == "" {
			return req, false
		}
		req.Resource = uid(queryType, g.Query)
	}
	branch := g.Branch.Name()
	attributes := types.RecordMap{}
	p.addLink(attributes, l)
	if attrs := contextAttrsOf(row); attrs == branchAttrs || attrs == accessAttrs {
		attributes[branchAttr], attributes[protectedAttr] = types.String(branch), types.Boolean(p.isProtected(branch))
		attributes[ownDraftAttr] = types.Boolean(g.OwnDraft)
	}
	switch contextAttrsOf(row) {
	case sourceAttrs:
		attributes[sourceAttr] = types.String(g.Source)
	case accessAttrs:
		via := cmp.Or(g.Via, row.Vias[0])
		if g.Action == tool.Change && via == tool.Proposed {
			via = tool.AdHoc // rules do not tell a change of a proposal apart
		}
		if !slices.Contains(row.Vias[:], via) {
			return req, false
		}
		attributes[viaAttr], attributes[queryAttr] = types.String(via), types.String(g.Query)
	case branchAttrs, linkAttrs:
	}
	req.Context = types.NewRecord(attributes)
	return req, true
}

// entitiesFor returns the entities that Cedar uses for a decision about a link.
func (p *Policy) entitiesFor(l link) types.EntityGetter {
	groups := append(p.mapped(l.groups), l.also...)
	if groups == nil {
		return p.entities
	}
	return p.entities.withGroups(uid(actorType, l.id), groups)
}

// mapped returns the groups of the policy that the groups of a token stand for, or nil.
func (p *Policy) mapped(ofToken []string) (groups []string) {
	if len(p.tokenGroups) > 0 {
		for _, g := range ofToken {
			if mapped, ok := p.tokenGroups[g]; ok {
				groups = append(groups, mapped)
			}
		}
	}
	return groups
}

// Branches implements access.Authorizer. It returns the protected branches and the branches that
// rules name, sorted.
func (p *Policy) Branches() []string { return slices.Clone(p.named) }

// Groups returns the groups of the policy, sorted. They are the groups that a bundle defines, or
// the groups that a .cedar file names.
func (p *Policy) Groups() []string { return slices.Clone(p.groups) }

// CedarText returns the policy in Cedar's own language, in rule order.
func (p *Policy) CedarText() string {
	var b bytes.Buffer
	for i, c := range p.all {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.Write(c.policy.MarshalCedar())
		b.WriteByte('\n')
	}
	return b.String()
}

// Protection implements access.Authorizer.
func (p *Policy) Protection(branch tool.Branch) *tool.Protection { return p.protections[branch.Name()] }

// Owns implements access.Authorizer.
func (p *Policy) Owns(owner, actor string) bool { return slices.Contains(p.owners[actor], owner) }

// InGroup implements access.Authorizer. The groups of the agents of the actor do not count.
func (p *Policy) InGroup(actor *access.Actor, group string) bool {
	e, ok := p.entitiesFor(link{id: actor.ID, groups: actor.Groups}).Get(uid(actorType, actor.ID))
	return ok && e.Parents.Contains(uid(groupType, group))
}

// isProtected reports whether a branch is protected.
func (p *Policy) isProtected(branch string) bool {
	_, found := slices.BinarySearch(p.protected, branch)
	return found
}

// contextAttrs says which attributes the context of an action has.
type contextAttrs uint8

const (
	linkAttrs   contextAttrs = iota // the attributes link, acting, acting_groups and agents
	branchAttrs                     // also the attributes branch, protected and own_draft
	accessAttrs                     // also the attributes branch, protected, own_draft, via and query
	sourceAttrs                     // those of linkAttrs, and source
)

// contextAttrsOf returns the attributes that the context of an action has.
func contextAttrsOf(row *tool.ActionRow) contextAttrs {
	switch {
	case scopesOf(row)&viaScope != 0:
		return accessAttrs
	case scopesOf(row)&(branchScope|targetBranchScope) != 0:
		return branchAttrs
	case scopesOf(row)&sourcesScope != 0:
		return sourceAttrs
	}
	return linkAttrs
}
