// Package policy compiles policy bundles to Cedar and decides by them.
package policy

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

var _ service.Authorizer = (*Policy)(nil)

// mainBranch is what a grant without a branch is about; it is engine.MainBranch, said
// again because policies know no engine.
const mainBranch = "main"

// Options say what a bundle is compiled for.
type Options struct {
	// Graph is the graph's id; empty for the server itself.
	Graph string

	// Graphs are the graphs that the file applies to, when it applies to others
	// beside Graph; a .cedar file may name any of them.
	Graphs []string

	// Queries are the stored queries that rules may name: those of every graph that
	// the bundle applies to, ones left out at boot included.
	Queries []string

	// AnyQuery leaves the names of queries unchecked, for a file whose graph is not
	// known.
	AnyQuery bool

	// TokenGroups maps what verified tokens call a group to the policy's group. A group
	// of a token that is not in it counts for nothing.
	TokenGroups map[string]string

	// LooseGroups lets TokenGroups lead to groups that a bundle does not have: they are
	// those of another policy of the server.
	LooseGroups bool
}

// Policy decides for one graph, or for the server. It is safe for concurrent use.
type Policy struct {
	target      types.EntityUID
	entities    *entities
	tokenGroups map[string]string
	protected   []string // sorted
	tests       branchTests
	named       []string // branches that rules speak of, sorted
	groups      []string // that rules may name, sorted
	all         policies
	byAction    map[tool.Action]policies
	contexts    contexts
	source      *resolved // nil for one that was written in Cedar
}

// nativeExt ends the name of a file in Cedar's own language.
const nativeExt = ".cedar"

// Read compiles the bundle in a file: YAML, or Cedar when its name ends in .cedar. The
// error is that of reading it, or a diag.List of all its faults.
func Read(path string, o Options) (*Policy, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(path) == nativeExt {
		return CompileCedar(path, src, o)
	}
	return Compile(path, src, o)
}

// Compile compiles the text of a YAML bundle, called file in reports. The error is a
// diag.List of all faults.
func Compile(file string, src []byte, o Options) (*Policy, error) {
	r := strictyaml.Read(file, src)
	res := resolve(parse(r), o)
	if err := r.Faults().Err(); err != nil {
		return nil, err
	}
	p := compileRules(res, o.Graph)
	p.tokenGroups = o.TokenGroups
	return p, nil
}

// ReadOnly is the policy of a graph, or with an empty id of the server, that has
// tokens and no policy of its own: any actor may read and invoke stored queries, which
// then read; nobody may change, export or administer anything.
func ReadOnly(graph string) *Policy {
	actions := []tool.Action{tool.Read, tool.InvokeQuery}
	if graph == "" {
		actions = []tool.Action{tool.GraphList}
	}
	return compileRules(&resolved{rules: []rule{{id: "reads-only", permit: true, actors: anyActor{}, actions: actions, branch: "any"}}}, graph)
}

// Unrestricted is the policy of a graph, or with an empty id of the server, that runs
// unauthenticated: any actor may do anything.
func Unrestricted(graph string) *Policy {
	var actions []tool.Action
	for _, row := range actionTable {
		if row.server == (graph == "") {
			actions = append(actions, row.action)
		}
	}
	return compileRules(&resolved{rules: []rule{{id: "unrestricted", permit: true, actors: anyActor{}, actions: actions, branch: "any"}}}, graph)
}

// Nothing is the policy of a graph, or with an empty id of the server, for which a
// governed server has none: nobody may do anything.
func Nothing(graph string) *Policy { return compileRules(&resolved{}, graph) }

func compileRules(res *resolved, graph string) *Policy {
	target := targetOf(graph)
	var all policies
	for _, r := range res.rules {
		all = append(all, compile(r, target))
	}
	p := newPolicy(all, res.groupsOf, target)
	p.protected, p.named = res.protected, res.protected
	p.groups, p.source = slices.Sorted(slices.Values(res.groups)), res
	return p
}

func targetOf(graph string) types.EntityUID {
	if graph == "" {
		return uid(serverType, serverID)
	}
	return uid(graphType, graph)
}

func newPolicy(all policies, groupsOf map[string][]string, target types.EntityUID) *Policy {
	return &Policy{target: target, entities: newEntities(groupsOf, target), all: all, byAction: byAction(all), tests: branchTestsOf(all)}
}

// Allowed implements service.Authorizer. No rule means no, and a rule that forbids
// wins. Whoever asks in a way that no rule can answer is denied.
func (p *Policy) Allowed(actor *service.Actor, g tool.Grant) bool {
	rules := p.byAction[g.Action]
	if len(rules) == 0 {
		return false
	}
	req, ok := p.request(actor, g)
	if !ok {
		return false
	}
	decision, diagnostic := cedar.Authorize(rules, p.known(actor), req)
	// A rule that fails to evaluate is skipped by Cedar; were it one that forbids,
	// its silence would allow.
	return decision == cedar.Allow && len(diagnostic.Errors) == 0
}

// request writes a question as Cedar asks it; false means that no rule can answer it.
func (p *Policy) request(actor *service.Actor, g tool.Grant) (req cedar.Request, ok bool) {
	row, known := rowOf(g.Action)
	if actor == nil || actor.ID == "" || !known || row.server != (p.target.Type == serverType) {
		return req, false
	}
	req = cedar.Request{
		Principal: uid(actorType, actor.ID),
		Action:    uid(actionType, string(g.Action)),
		Resource:  p.target,
	}
	if g.Action == tool.InvokeQuery {
		if g.Query == "" {
			return req, false
		}
		req.Resource = uid(queryType, g.Query)
	}
	key := contextKey{about: aboutOf(row)}
	switch key.about {
	case aboutNothing:
		return req, true
	case aboutAccess:
		switch g.Via {
		case "":
			key.via = tool.AdHoc
		case tool.AdHoc, tool.Stored:
			key.via = g.Via
		default:
			return req, false
		}
		key.query = g.Query
	case aboutBranch:
	}
	key.branch = cmp.Or(g.Branch, mainBranch)
	req.Context = p.contexts.of(key, p.isProtected)
	return req, true
}

// known is what Cedar may know while it decides about an actor.
func (p *Policy) known(actor *service.Actor) types.EntityGetter {
	var groups []string
	if len(p.tokenGroups) > 0 {
		for _, g := range actor.Groups {
			if mapped, ok := p.tokenGroups[g]; ok {
				groups = append(groups, mapped)
			}
		}
	}
	if groups == nil {
		return p.entities
	}
	return p.entities.with(uid(actorType, actor.ID), groups)
}

// Branches implements service.Authorizer: the protected branches and those that rules
// name, sorted.
func (p *Policy) Branches() []string { return slices.Clone(p.named) }

// Groups are those that the policy knows, sorted: the ones of a bundle, and in a .cedar
// file the ones that it names.
func (p *Policy) Groups() []string { return slices.Clone(p.groups) }

// CedarText is the policy in Cedar's own language, in rule order.
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

func (p *Policy) isProtected(branch string) bool {
	_, found := slices.BinarySearch(p.protected, branch)
	return found
}

// contexts keeps the records of requests seen before, since building one costs more
// than the decision.
type contexts struct {
	mu   sync.RWMutex
	seen map[contextKey]types.Record
}

// What is kept is bounded in number and in bytes of a name: branch names come from
// callers.
const (
	maxContexts = 4096
	maxKeptName = 256
)

// about is what the context of an action says.
type about uint8

const (
	aboutNothing about = iota
	aboutBranch        // branch and protected
	aboutAccess        // these, via and query
)

func aboutOf(row actionRow) about {
	switch {
	case row.scopes&viaScope != 0:
		return aboutAccess
	case row.scopes&(branchScope|targetBranchScope) != 0:
		return aboutBranch
	}
	return aboutNothing
}

type contextKey struct {
	about         about
	branch, query string
	via           tool.Via
}

func (c *contexts) of(key contextKey, protected func(branch string) bool) types.Record {
	c.mu.RLock()
	rec, ok := c.seen[key]
	c.mu.RUnlock()
	if ok {
		return rec
	}
	says := types.RecordMap{
		branchAttr:    types.String(key.branch),
		protectedAttr: types.Boolean(protected(key.branch)),
	}
	if key.about == aboutAccess {
		says[viaAttr], says[queryAttr] = types.String(key.via), types.String(key.query)
	}
	rec = types.NewRecord(says)
	if len(key.branch)+len(key.query) > maxKeptName {
		return rec
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || len(c.seen) >= maxContexts {
		c.seen = map[contextKey]types.Record{}
	}
	c.seen[key] = rec
	return rec
}
