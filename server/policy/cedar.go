package policy

import (
	"iter"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/ast"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The entity types of the Cedar schema: Actor in [Group], Graph, Query in [Graph],
// Server.
const (
	actorType  types.EntityType = "Actor"
	groupType  types.EntityType = "Group"
	graphType  types.EntityType = "Graph"
	queryType  types.EntityType = "Query"
	serverType types.EntityType = "Server"
	actionType types.EntityType = "Action"
)

// serverID is the one entity of type Server; configuration calls it the same.
const serverID = "cluster"

// The attributes of the context, present in every request on a graph.
const (
	branchAttr    types.String = "branch"
	protectedAttr types.String = "protected"
	viaAttr       types.String = "via" // "" but for read and change
	queryAttr     types.String = "query"
)

func uid(t types.EntityType, id string) types.EntityUID {
	return types.NewEntityUID(t, types.String(id))
}

// compiled is one rule as Cedar has it.
type compiled struct {
	id     cedar.PolicyID
	policy *cedar.Policy
}

// policies is a set of them in rule order; it implements cedar.PolicyIterator.
type policies []compiled

// All implements cedar.PolicyIterator.
func (p policies) All() iter.Seq2[cedar.PolicyID, *cedar.Policy] {
	return func(yield func(cedar.PolicyID, *cedar.Policy) bool) {
		for _, c := range p {
			if !yield(c.id, c.policy) {
				return
			}
		}
	}
}

// compile writes a rule as one Cedar policy over the entity target, a Graph or the
// Server.
func compile(r rule, target types.EntityUID) compiled {
	head := ast.Annotation("id", types.String(r.id))
	p := head.Forbid()
	if r.permit {
		p = head.Permit()
	}
	switch a := r.actors.(type) {
	case anyActor:
		p.PrincipalIs(actorType)
	case groupActor:
		p.PrincipalIn(uid(groupType, string(a)))
	case listActor:
		if len(a) == 1 {
			p.PrincipalEq(uid(actorType, a[0]))
			break
		}
		p.PrincipalIs(actorType).When(set(actorType, a).Contains(ast.Principal()))
	}
	if len(r.actions) == 1 {
		p.ActionEq(uid(actionType, string(r.actions[0])))
	} else {
		var in []types.EntityUID
		for _, a := range r.actions {
			in = append(in, uid(actionType, string(a)))
		}
		p.ActionInSet(in...)
	}
	if len(r.queries) == 1 {
		p.ResourceEq(uid(queryType, r.queries[0]))
	} else {
		// A graph is in itself, and its queries are in it.
		p.ResourceIn(target)
		if r.queries != nil {
			p.When(set(queryType, r.queries).Contains(ast.Resource()))
		}
	}
	switch r.branch {
	case "protected":
		p.When(ast.Context().Access(protectedAttr))
	case "unprotected":
		p.When(ast.Not(ast.Context().Access(protectedAttr)))
	}
	if r.via != "" {
		p.When(ast.Context().Access(viaAttr).Equal(ast.String(r.via)))
	}
	return compiled{cedar.PolicyID(r.id), cedar.NewPolicyFromAST(p)}
}

func set(t types.EntityType, ids []string) ast.Node {
	var nodes []ast.Node
	for _, id := range ids {
		nodes = append(nodes, ast.Value(uid(t, id)))
	}
	return ast.Set(nodes...)
}

// entities are what Cedar knows of actors and queries.
type entities struct {
	actors  types.EntityMap // those in some group
	inGraph types.EntityUIDSet
}

// Get implements types.EntityGetter. Every query is in the policy's graph: whether
// it exists is the catalog's to say.
func (e *entities) Get(id types.EntityUID) (types.Entity, bool) {
	if id.Type == queryType {
		return types.Entity{UID: id, Parents: e.inGraph}, true
	}
	return e.actors.Get(id)
}

func newEntities(groupsOf map[string][]string, target types.EntityUID) *entities {
	e := &entities{actors: types.EntityMap{}, inGraph: types.NewEntityUIDSet(target)}
	for actor, groups := range groupsOf {
		var parents []types.EntityUID
		for _, g := range groups {
			parents = append(parents, uid(groupType, g))
		}
		id := uid(actorType, actor)
		e.actors[id] = types.Entity{UID: id, Parents: types.NewEntityUIDSet(parents...)}
	}
	return e
}

// byAction sorts policies by the actions in their scope: the others of a set cannot
// match a request, nor fail on it.
func byAction(rules []rule, target types.EntityUID) (map[tool.Action]policies, policies) {
	index, all := map[tool.Action]policies{}, policies{}
	for _, r := range rules {
		c := compile(r, target)
		all = append(all, c)
		for _, a := range r.actions {
			index[a] = append(index[a], c)
		}
	}
	return index, all
}
