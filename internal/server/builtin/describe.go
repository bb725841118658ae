package builtin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/guide"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// describeArgs are the arguments of type_describe.
type describeArgs struct {
	Name   *string `json:"name,omitempty" jsonschema_description:"Default: all types."`
	Branch *string `json:"branch,omitempty" jsonschema_description:"Default main."`
}

// DescribeAnswer is the answer of type_describe: a list of all types, or the types that have one
// name.
type DescribeAnswer struct {
	Nodes []string `json:"nodes,omitempty" jsonschema_description:"Without a name: the node types, one line each."`
	Edges []string `json:"edges,omitempty" jsonschema_description:"Without a name: the edge types, one line each."`

	Types []TypeAnswer `json:"types,omitempty" jsonschema_description:"With a name: the type; two when a node and an edge type share the name."`
}

// TypeAnswer is the full description of a type.
type TypeAnswer struct {
	Kind        string           `json:"kind" jsonschema:"enum=node,enum=edge"`
	Name        string           `json:"name"`
	Description string           `json:"description,omitempty"`
	From        string           `json:"from,omitempty" jsonschema_description:"Of an edge: its source type or interface."`
	To          string           `json:"to,omitempty" jsonschema_description:"Of an edge: its target type or interface."`
	Implements  []string         `json:"implements,omitempty" jsonschema_description:"Of a node: its interfaces."`
	Clause      string           `json:"clause" jsonschema_description:"How a match binds it."`
	Rules       []string         `json:"rules" jsonschema_description:"Key, unique, range and other rules, as the schema spells them."`
	Properties  []PropertyAnswer `json:"properties"`
	EdgesOut    []EdgeAnswer     `json:"edges_out,omitempty" jsonschema_description:"Of a node: the edges that lead away from it."`
	EdgesIn     []EdgeAnswer     `json:"edges_in,omitempty" jsonschema_description:"Of a node: the edges that lead to it."`
	Queries     []UsingAnswer    `json:"stored_queries" jsonschema_description:"The stored queries that use the type. Prefer one that fits to a query of your own."`
}

// PropertyAnswer is a property of a type.
type PropertyAnswer struct {
	Name        string   `json:"name"`
	Type        string   `json:"type" jsonschema_description:"As the schema spells it; a trailing ? says that it may be null."`
	Description string   `json:"description,omitempty"`
	Operators   []string `json:"operators" jsonschema_description:"What a condition may do with it; a name with a parenthesis is a function of the property and a text."`
	Rankings    []string `json:"rankings,omitempty" jsonschema_description:"The functions that rank by it in return and order."`
	Example     string   `json:"example,omitempty" jsonschema_description:"A condition on it, with a parameter called as the property."`
}

// EdgeAnswer describes an edge type that starts or ends at the described node type.
type EdgeAnswer struct {
	Edge        string   `json:"edge"` // name of the edge type
	Other       string   `json:"other" jsonschema_description:"The type at the other end."`
	Clause      string   `json:"clause" jsonschema_description:"How a match follows it; the variable of the type's own clause is the type described."`
	Properties  []string `json:"properties,omitempty"`  // name and type of each property of the edge
	Description string   `json:"description,omitempty"` // text of @description
}

// UsingAnswer is a stored query that uses a type.
type UsingAnswer struct {
	Query       string `json:"query"` // name of the query
	Tool        string `json:"tool" jsonschema_description:"The tool that runs it."`
	Call        string `json:"call" jsonschema_description:"How to call it: the tool and its arguments, with the type of each parameter in place of its value; a ? says that the parameter may be left out."`
	Description string `json:"description,omitempty"`
	Mutation    bool   `json:"mutation"` // the query writes
}

// describeType returns the tool type_describe.
func describeType() tool.Tool {
	return &builtin{
		desc: reader[describeArgs, DescribeAnswer](tool.Descriptor{
			Name:  "type_describe",
			Title: "Describe a type",
			Description: "Without a name, lists all types of nodes and edges, the kinds of things and relations that the graph knows: call it first. " +
				"With a name, returns all that a query needs: properties, or fields, and which are required, with operators and an example, rules, edges as clauses to paste, " +
				"and the stored queries that use the type.",
		}),
		gates: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			name, branch := orEmpty(o.OptString("name")), named(o, "branch")
			if err := o.Done(); err != nil {
				return nil, err
			}
			return readsBranch(branch, "describe one type by its name; schema_get returns all types", func(ctx context.Context, env *tool.Env, branch tool.Branch) (any, string, error) {
				s, err := env.Graph.Schema(ctx, branch.At())
				if err != nil {
					return nil, "", err
				}
				if name == "" {
					return allTypes(s.Catalog), "", nil
				}
				a := &DescribeAnswer{}
				if n := s.Catalog.Node(name); n != nil {
					a.Types = append(a.Types, nodeAnswer(ctx, s.Catalog, n, env))
				}
				if e := s.Catalog.Edge(name); e != nil {
					a.Types = append(a.Types, edgeAnswer(ctx, e, env))
				}
				if a.Types == nil {
					return nil, "", noType("name", name, s.Catalog, true)
				}
				return a, "", nil
			}), nil
		},
	}
}

// allTypes returns one line for each type.
func allTypes(s *catalog.Schema) *DescribeAnswer {
	a := &DescribeAnswer{}
	for _, n := range s.Nodes {
		a.Nodes = append(a.Nodes, guide.NodeLine(n))
	}
	for _, e := range s.Edges {
		a.Edges = append(a.Edges, guide.EdgeLine(e))
	}
	return a
}

// nodeAnswer describes a node type.
func nodeAnswer(ctx context.Context, s *catalog.Schema, n *catalog.Node, env *tool.Env) TypeAnswer {
	v := guide.NodeVariable(n)
	a := TypeAnswer{
		Kind: "node", Name: n.Name, Description: n.Description, Implements: n.Implements, Clause: v + ": " + n.Name,
		Rules: append([]string{}, n.Rules()...), Properties: properties(v, n.Properties), Queries: using(ctx, env, plan.Node, n.Name, n.Implements),
	}
	for _, e := range s.Edges {
		if s.AtEnd(e, false, n.Name, false) {
			a.EdgesOut = append(a.EdgesOut, endAnswer(e, e.To, guide.EdgeOut(n, e)))
		}
		if s.AtEnd(e, true, n.Name, false) {
			a.EdgesIn = append(a.EdgesIn, endAnswer(e, e.From, guide.EdgeIn(n, e)))
		}
	}
	return a
}

// edgeAnswer describes an edge type.
func edgeAnswer(ctx context.Context, e *catalog.Edge, env *tool.Env) TypeAnswer {
	v, clause := guide.BoundEdge(e)
	return TypeAnswer{
		Kind: "edge", Name: e.Name, Description: e.Description, From: e.From, To: e.To, Clause: clause,
		Rules: append([]string{}, e.Rules()...), Properties: properties(v, e.Properties), Queries: using(ctx, env, plan.Edge, e.Name, nil),
	}
}

// endAnswer describes an edge type as seen from the node type at one of its ends. The node type at
// the other end is `other`.
func endAnswer(e *catalog.Edge, other, clause string) EdgeAnswer {
	a := EdgeAnswer{Edge: e.Name, Other: other, Clause: clause, Description: e.Description}
	for _, p := range e.Properties {
		a.Properties = append(a.Properties, p.Name+": "+p.Type.String())
	}
	return a
}

// properties describes the properties of a type. In the examples, the argument `variable` is the
// variable for an entity of the type.
func properties(variable string, props []*catalog.Property) []PropertyAnswer {
	answers := make([]PropertyAnswer, len(props))
	for i, p := range props {
		example, _ := guide.Filter(variable, p, guide.Usual(p.Type))
		answers[i] = PropertyAnswer{
			Name: p.Name, Type: p.Type.String(), Description: p.Description,
			Operators: append([]string{}, guide.Operators(p.Type)...), Rankings: guide.Rankings(p.Type), Example: example,
		}
	}
	return answers
}

// using lists the queries that use a type or one of the interfaces that it implements.
func using(ctx context.Context, env *tool.Env, entity plan.Entity, name string, implements []string) []UsingAnswer {
	answers := []UsingAnswer{}
	for _, q := range env.Queries(ctx) {
		if slices.ContainsFunc(q.Plan().Uses, func(u plan.Use) bool { return u.Covers(entity, name, implements) }) {
			info := q.Info()
			name, call := queryrun.HowToCall(q, env.RunTool)
			answers = append(answers, UsingAnswer{Query: info.Name, Tool: name, Call: call, Description: info.Description, Mutation: info.Mutation})
		}
	}
	return answers
}

// maxNear is the maximum number of similar names that an error suggests.
const maxNear = 3

// noType returns the error for an unknown type name. It suggests similar names.
func noType(path, name string, s *catalog.Schema, edges bool) error {
	var names []string
	for _, n := range s.Nodes {
		names = append(names, n.Name)
	}
	if edges {
		for _, e := range s.Edges {
			names = append(names, e.Name)
		}
	}
	e := &tool.ArgumentError{Path: path, Detail: "the schema has no type " + name}
	if !edges {
		e.Detail = "the schema has no node type " + name
	}
	var members []string
	for _, n := range s.Nodes {
		if slices.Contains(n.Implements, name) {
			members = append(members, n.Name)
		}
	}
	if len(members) > 0 {
		e.Detail, e.Help = name+" is an interface, which this tool does not describe", "name a type that implements it: "+strings.Join(members[:min(len(members), maxListed)], ", ")
		return e
	}
	var near []string
	for rest := names; len(near) < maxNear; {
		n := diag.Closest(name, rest)
		if n == "" {
			break
		}
		near = append(near, n)
		rest = slices.DeleteFunc(slices.Clone(rest), func(other string) bool { return other == n })
	}
	switch {
	case len(near) > 0:
		e.Help = "did you mean " + strings.Join(near, ", or ") + "?"
	case len(names) <= maxListed:
		e.Help = "there are " + strings.Join(names, ", ")
	default:
		e.Help = "leave the name out to see all types"
	}
	return e
}

// maxListed is the maximum number of names in a message.
const maxListed = 30
