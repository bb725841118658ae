package policy

import (
	"iter"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	build "github.com/cedar-policy/cedar-go/ast"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The entity types of the Cedar schema. An Actor can be in a Group, and a Query is in its Graph. A Type is in its Graph and in the
// interfaces that it implements, which are Types too; a Property is in its Type, and in the same property of an interface.
const (
	actorType  types.EntityType = "Actor"
	groupType  types.EntityType = "Group"
	graphType  types.EntityType = "Graph"
	queryType  types.EntityType = "Query"
	serverType types.EntityType = "Server"
	actionType types.EntityType = "Action"

	typeType     types.EntityType = "Type"     // a node type, an edge type or an interface, such as Case
	propertyType types.EntityType = "Property" // such as Case.team
)

// rowsAnnotation is the annotation with the name of the filter that narrows a policy.
const rowsAnnotation types.AnnotationKey = "rows"

// serverID is the id of the single entity of type Server. The configuration uses the same name.
const serverID = "cluster"

// The attributes of the context. A request has only the attributes that belong to its action.
const (
	branchAttr    types.String = "branch"    // name of the branch
	protectedAttr types.String = "protected" // whether the branch is protected
	ownDraftAttr  types.String = "own_draft" // whether the branch is a draft of the actor
	viaAttr       types.String = "via"       // adhoc or stored
	queryAttr     types.String = "query"     // the stored query; "" if via is adhoc
	sourceAttr    types.String = "source"    // the source of a load

	linkAttr         types.String = "link"          // subject or agent: as whom the principal takes part in the call
	actingAttr       types.String = "acting"        // whether an agent makes the call for another actor
	actingGroupsAttr types.String = "acting_groups" // the groups of that agent
	agentsAttr       types.String = "agents"        // that agent alone, or nothing
)

// uid returns the Cedar id of an entity.
func uid(t types.EntityType, id string) types.EntityUID {
	return types.NewEntityUID(t, types.String(id))
}

// compiled is one rule as a Cedar policy.
type compiled struct {
	id     cedar.PolicyID
	policy *cedar.Policy // the rule in the form of the Cedar library
	at     diag.Span     // the place of the rule in the file

	rows      string            // the filter that narrows the policy; "" for none
	narrowed  bool              // the policy may be about a part of the graph only
	resources []types.EntityUID // the types and properties that the policy names
}

// newCompiled returns a rule for a Cedar policy.
func newCompiled(id cedar.PolicyID, p *cedar.Policy, at diag.Span) compiled {
	c := compiled{id: id, policy: p, at: at, rows: string(p.Annotations()[rowsAnnotation])}
	for _, e := range mentions(p).entities {
		if e.Type == typeType || e.Type == propertyType {
			c.resources = append(c.resources, e)
		}
	}
	tree := p.AST()
	whole := false
	switch r := tree.Resource.(type) {
	case ast.ScopeTypeAll:
		whole = true
	case ast.ScopeTypeEq:
		whole = r.Entity.Type != typeType && r.Entity.Type != propertyType
	case ast.ScopeTypeIn:
		whole = r.Entity.Type != typeType && r.Entity.Type != propertyType
	}
	c.narrowed = !whole || c.rows != "" || c.resources != nil
	for _, condition := range tree.Conditions {
		ast.Inspect(ast.NewNode(condition.Body), func(n ast.IsNode) bool {
			if v, ok := n.(ast.NodeTypeVariable); ok && v.Name == "resource" {
				c.narrowed = true
			}
			return true
		})
	}
	return c
}

// policies is a list of compiled rules in rule order. It implements cedar.PolicyIterator.
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

// compile translates a rule to one Cedar policy about the entity `target`, which is a Graph or the
// Server. The argument `also` holds further conditions of the policy.
func compile(r rule, target types.EntityUID, also ...build.Node) compiled {
	head := build.Annotation("id", types.String(r.id))
	if r.part.rows != "" {
		head = head.Annotation(rowsAnnotation, types.String(r.part.rows))
	}
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
		p.PrincipalIs(actorType).When(set(actorType, a).Contains(build.Principal()))
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
	byQuery := len(r.actions) > 0 && r.actions[0] == tool.InvokeQuery
	switch {
	case byQuery && len(r.queries) == 1:
		p.ResourceEq(uid(queryType, r.queries[0]))
	default:
		// ResourceIn covers the graph itself with its queries, types and properties.
		p.ResourceIn(r.part.scope(target))
		if byQuery && r.queries != nil {
			p.When(set(queryType, r.queries).Contains(build.Resource()))
		}
	}
	if condition, ok := r.part.condition(); ok {
		p.When(condition)
	}
	if !byQuery && r.queries != nil {
		p.When(texts(r.queries).Contains(build.Context().Access(queryAttr)))
	}
	if r.sources != nil {
		p.When(texts(r.sources).Contains(build.Context().Access(sourceAttr)))
	}
	if r.unless != "" {
		p.Unless(build.Principal().In(build.Value(uid(groupType, r.unless))))
	}
	switch r.branch {
	case "protected":
		p.When(build.Context().Access(protectedAttr))
	case "unprotected":
		p.When(build.Not(build.Context().Access(protectedAttr)))
	case "draft":
		p.When(build.Context().Access(ownDraftAttr))
	}
	if r.asAgent {
		p.When(build.Context().Access(linkAttr).Equal(build.String(agentLink)))
	}
	if r.through != "" {
		p.When(throughAgent(build.Context().Access(actingGroupsAttr).Contains(build.Value(uid(groupType, r.through)))))
	}
	if r.via != "" {
		p.When(build.Context().Access(viaAttr).Equal(build.String(r.via)))
	}
	for _, condition := range also {
		p.When(condition)
	}
	return newCompiled(cedar.PolicyID(r.id), cedar.NewPolicyFromAST(p), r.at)
}

// scope returns the entity that contains the part, and everything that condition selects.
func (p *part) scope(target types.EntityUID) types.EntityUID {
	switch {
	case len(p.types) == 1 && p.properties == nil:
		return uid(typeType, p.types[0])
	case len(p.properties) == 1 && p.types == nil:
		return uid(propertyType, p.properties[0])
	}
	return target
}

// condition returns the condition on the resource for a part that is more than its scope. Cedar's sets hold entities of one type.
func (p *part) condition() (build.Node, bool) {
	if len(p.types)+len(p.properties) < 2 {
		return build.Node{}, false
	}
	types, properties := build.Resource().In(set(typeType, p.types)), build.Resource().In(set(propertyType, p.properties))
	switch {
	case p.properties == nil:
		return types, true
	case p.types == nil:
		return properties, true
	}
	return types.Or(properties), true
}

// throughAgent returns a condition on the agent through which the principal makes a call.
func throughAgent(condition build.Node) build.Node {
	return build.Context().Access(linkAttr).Equal(build.String(subjectLink)).And(condition)
}

// texts returns a Cedar set of texts.
func texts(list []string) build.Node {
	var nodes []build.Node
	for _, s := range list {
		nodes = append(nodes, build.String(types.String(s)))
	}
	return build.Set(nodes...)
}

// set returns a Cedar set of entities of one type.
func set(t types.EntityType, ids []string) build.Node {
	var nodes []build.Node
	for _, id := range ids {
		nodes = append(nodes, build.Value(uid(t, id)))
	}
	return build.Set(nodes...)
}

// entities are the actors and queries that Cedar can look up.
type entities struct {
	actors  types.EntityMap    // actors that are in some group
	inGraph types.EntityUIDSet // the policy's graph, as parent of every query
}

// Get implements types.EntityGetter. Every query and every type counts as being in the policy's graph; the catalog
// decides whether it exists.
func (e *entities) Get(id types.EntityUID) (types.Entity, bool) {
	switch id.Type {
	case queryType, typeType:
		return types.Entity{UID: id, Parents: e.inGraph}, true
	case propertyType:
		typ, _, _ := strings.Cut(string(id.ID), ".")
		return types.Entity{UID: id, Parents: types.NewEntityUIDSet(uid(typeType, typ))}, true
	}
	return e.actors.Get(id)
}

// newEntities returns the actors with their groups. The argument `target` is the graph or server of
// the policy.
func newEntities(groupsOf map[string][]string, target types.EntityUID) *entities {
	e := &entities{actors: types.EntityMap{}, inGraph: types.NewEntityUIDSet(target)}
	for actor, groups := range groupsOf {
		id := uid(actorType, actor)
		e.actors[id] = types.Entity{UID: id, Parents: groupSet(groups)}
	}
	return e
}

// groupSet returns groups as entities.
func groupSet(groups []string) types.EntityUIDSet {
	var parents []types.EntityUID
	for _, g := range groups {
		parents = append(parents, uid(groupType, g))
	}
	return types.NewEntityUIDSet(parents...)
}

// actorInGroups is a set of entities. One actor of the set is in additional groups.
type actorInGroups struct {
	*entities
	actor types.Entity // the actor, with all of its groups
}

// Get implements types.EntityGetter.
func (m *actorInGroups) Get(id types.EntityUID) (types.Entity, bool) {
	if id == m.actor.UID {
		return m.actor, true
	}
	return m.entities.Get(id)
}

// withGroups returns entities in which the actor is in the given groups in addition to its own
// groups.
func (e *entities) withGroups(actor types.EntityUID, groups []string) types.EntityGetter {
	all := groups
	if known, ok := e.actors[actor]; ok {
		for g := range known.Parents.All() {
			all = append(all, string(g.ID))
		}
	}
	return &actorInGroups{e, types.Entity{UID: actor, Parents: groupSet(all)}}
}

// includesAction reports whether the action scope of a policy includes an action. Actions have no
// parents here, so "in" only means equality.
func includesAction(scope ast.IsActionScopeNode, action types.EntityUID) bool {
	switch s := scope.(type) {
	case ast.ScopeTypeAll:
		return true
	case ast.ScopeTypeEq:
		return s.Entity == action
	case ast.ScopeTypeIn:
		return s.Entity == action
	case ast.ScopeTypeInSet:
		return slices.Contains(s.Entities, action)
	}
	return true
}
