// Package policy compiles policy bundles to Cedar and decides by them.
package policy

import (
	"bytes"
	"os"
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

	// Queries are the stored queries that rules may name: those of every graph that
	// the bundle applies to, ones left out at boot included.
	Queries []string
}

// Policy decides for one graph, or for the server. It is safe for concurrent use.
type Policy struct {
	target    types.EntityUID
	entities  *entities
	protected []string
	all       policies
	byAction  map[tool.Action]policies
	contexts  contexts
}

// Read compiles the bundle in a file. The error is that of reading it, or a diag.List
// of all its faults.
func Read(path string, o Options) (*Policy, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Compile(path, src, o)
}

// Compile compiles the text of a bundle, called file in reports. The error is a
// diag.List of all faults.
func Compile(file string, src []byte, o Options) (*Policy, error) {
	r := strictyaml.Read(file, src)
	res := resolve(parse(r), o)
	if err := r.Faults().Err(); err != nil {
		return nil, err
	}
	return build(res, o.Graph), nil
}

// ReadOnly is the policy of a graph, or with an empty id of the server, that has
// tokens and no policy of its own: any actor may read and invoke stored queries, which
// then read; nobody may change, export or administer anything.
func ReadOnly(graph string) *Policy {
	actions := []tool.Action{tool.Read, tool.InvokeQuery}
	if graph == "" {
		actions = []tool.Action{tool.GraphList}
	}
	return build(&resolved{rules: []rule{{id: "reads-only", permit: true, actors: anyActor{}, actions: actions, branch: "any"}}}, graph)
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
	return build(&resolved{rules: []rule{{id: "unrestricted", permit: true, actors: anyActor{}, actions: actions, branch: "any"}}}, graph)
}

// Nothing is the policy of a graph, or with an empty id of the server, for which a
// governed server has none: nobody may do anything.
func Nothing(graph string) *Policy { return build(&resolved{}, graph) }

func build(res *resolved, graph string) *Policy {
	p := &Policy{target: uid(serverType, serverID), protected: res.protected}
	if graph != "" {
		p.target = uid(graphType, graph)
	}
	p.entities = newEntities(res.groupsOf, p.target)
	p.byAction, p.all = byAction(res.rules, p.target)
	return p
}

// Allowed implements service.Authorizer. No rule means no, and a rule that forbids
// wins. Whoever asks in a way that no rule can answer is denied.
func (p *Policy) Allowed(actor *service.Actor, g tool.Grant) bool {
	if actor == nil || actor.ID == "" {
		return false
	}
	rules := p.byAction[g.Action]
	if len(rules) == 0 {
		return false
	}
	req := cedar.Request{
		Principal: uid(actorType, actor.ID),
		Action:    uid(actionType, string(g.Action)),
		Resource:  p.target,
	}
	key := contextKey{branch: g.Branch, query: g.Query}
	if key.branch == "" {
		key.branch = mainBranch
	}
	switch g.Action {
	case tool.Read, tool.Change:
		switch g.Via {
		case "":
			key.via = tool.AdHoc
		case tool.AdHoc, tool.Stored:
			key.via = g.Via
		default:
			return false
		}
	case tool.InvokeQuery:
		if g.Query == "" {
			return false
		}
		req.Resource = uid(queryType, g.Query)
	}
	if p.target.Type != serverType {
		req.Context = p.contexts.of(key, p.isProtected)
	}
	decision, diagnostic := cedar.Authorize(rules, p.entities, req)
	// A rule that fails to evaluate is skipped by Cedar; were it one that forbids,
	// its silence would allow.
	return decision == cedar.Allow && len(diagnostic.Errors) == 0
}

// Branches implements service.Authorizer: the protected branches, sorted.
func (p *Policy) Branches() []string { return slices.Clone(p.protected) }

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

type contextKey struct {
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
	rec = types.NewRecord(types.RecordMap{
		branchAttr:    types.String(key.branch),
		protectedAttr: types.Boolean(protected(key.branch)),
		viaAttr:       types.String(key.via),
		queryAttr:     types.String(key.query),
	})
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
