package enginetest

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Short names for the types of properties.
var (
	stringType = value.Of(value.String)
	boolType   = value.Of(value.Bool)
	i32Type    = value.Of(value.I32)
	i64Type    = value.Of(value.I64)
	u64Type    = value.Of(value.U64)
	f64Type    = value.Of(value.F64)
	blobType   = value.Of(value.Blob)
)

// listOf returns the type of lists of t.
func listOf(t value.Type) value.Type { t.List = true; return t }

// enumOf returns an enum type.
func enumOf(values ...string) value.Type {
	return value.Type{Kind: value.String, Enum: values}
}

// vectorOf returns the type of vectors of a length.
func vectorOf(dim int) value.Type { return value.Type{Kind: value.Vector, Dim: dim} }

// property returns a property with a name and a type.
func property(name string, t value.Type) *catalog.Property {
	return &catalog.Property{Name: name, Type: t}
}

// schemaOf returns an indexed schema with the given types.
func schemaOf(nodes []*catalog.Node, edges []*catalog.Edge) *catalog.Schema {
	s := &catalog.Schema{Nodes: nodes, Edges: edges}
	s.Index()
	return s
}

// people returns the schema of most cases: a keyed node type with every kind of property, a node
// type without a key, and edges between equal and different types.
func people() *catalog.Schema { return compileSchema("people") }

// crowd holds a graph of people. Knows has a path, a pair of parallel edges and an edge in the
// opposite direction. Follows has a cycle of three, a self-loop and a chain.
var crowd = textFile("crowd.ndjson")

// readCase is a case that reads the crowd.
type readCase struct {
	name  string            // name of the case within its group
	build func(p *readPlan) // builds the plan of the read
	args  []any             // arguments of the read
	want  string            // the expected rows, one per line
}

// readCases returns test cases named group/name that load the crowd and check a read.
func readCases(group string, cases []readCase) []testCase {
	var all []testCase
	for _, c := range cases {
		all = append(all, testCase{name: group + "/" + c.name, schema: people, run: func(s *session) {
			s.load(engine.Merge, crowd)
			p := s.read()
			c.build(p)
			s.expect(p, c.want, c.args...)
		}})
	}
	return all
}
