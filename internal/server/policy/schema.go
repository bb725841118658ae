package policy

import (
	"sync"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/ast"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// CedarSchema returns the published Cedar schema in Cedar's own language: the entities, the
// actions, and the attributes in the context of each action.
func CedarSchema() string {
	b, err := cedarSchema().MarshalCedar()
	if err != nil {
		panic(err) // cannot happen: the schema is made from a table
	}
	return string(b)
}

// cedarSchema builds the Cedar schema from the tables of actions and attributes.
func cedarSchema() *schema.Schema {
	ref := func(t types.EntityType) ast.EntityTypeRef { return ast.EntityType(t) }
	s := &ast.Schema{
		Entities: ast.Entities{
			ast.Ident(actorType): {ParentTypes: []ast.EntityTypeRef{ref(groupType)}},
			ast.Ident(groupType): {},
			ast.Ident(graphType): {},
			ast.Ident(queryType): {ParentTypes: []ast.EntityTypeRef{ref(graphType)}},

			ast.Ident(typeType):     {ParentTypes: []ast.EntityTypeRef{ref(graphType), ref(typeType)}},
			ast.Ident(propertyType): {ParentTypes: []ast.EntityTypeRef{ref(typeType), ref(propertyType)}},
		},
		Enums:   ast.Enums{ast.Ident(serverType): {Values: []types.String{serverID}}},
		Actions: ast.Actions{},
	}
	for _, row := range tool.Actions() {
		on := []ast.EntityTypeRef{ref(graphType)}
		switch {
		case row.Server():
			on = []ast.EntityTypeRef{ref(serverType)}
		case scopesOf(&row)&queriesScope != 0:
			on = []ast.EntityTypeRef{ref(queryType)}
		case row.On == tool.OnBranch:
			on = append(on, ref(typeType), ref(propertyType))
		}
		s.Actions[types.String(row.Action)] = ast.Action{AppliesTo: &ast.AppliesTo{
			Principals: []ast.EntityTypeRef{ref(actorType)}, Resources: on, Context: contextType(contextAttrsOf(&row)),
		}}
	}
	return schema.NewSchemaFromAST(s)
}

// contextType returns the type of the context of an action that has the given attributes.
func contextType(a contextAttrs) ast.RecordType {
	rec := ast.RecordType{
		linkAttr: {Type: ast.String()}, actingAttr: {Type: ast.Bool()},
		actingGroupsAttr: {Type: ast.Set(ast.EntityType(groupType))}, agentsAttr: {Type: ast.Set(ast.EntityType(actorType))},
	}
	switch a {
	case linkAttrs:
	case sourceAttrs:
		rec[sourceAttr] = ast.Attribute{Type: ast.String()}
	case accessAttrs:
		rec[viaAttr], rec[queryAttr] = ast.Attribute{Type: ast.String()}, ast.Attribute{Type: ast.String()}
		fallthrough
	case branchAttrs:
		rec[branchAttr], rec[protectedAttr] = ast.Attribute{Type: ast.String()}, ast.Attribute{Type: ast.Bool()}
		rec[ownDraftAttr] = ast.Attribute{Type: ast.Bool()}
	}
	return rec
}

// validator checks policies and requests against the published schema.
var validator = sync.OnceValue(func() *validate.Validator {
	resolved, err := cedarSchema().Resolve()
	if err != nil {
		panic(err) // cannot happen: the schema is made from a table
	}
	return validate.New(resolved)
})
