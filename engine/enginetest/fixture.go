package enginetest

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Short names for the types of properties.
var (
	stringType   = value.Of(value.String)
	boolType     = value.Of(value.Bool)
	i32Type      = value.Of(value.I32)
	i64Type      = value.Of(value.I64)
	u32Type      = value.Of(value.U32)
	u64Type      = value.Of(value.U64)
	f32Type      = value.Of(value.F32)
	f64Type      = value.Of(value.F64)
	dateType     = value.Of(value.Date)
	dateTimeType = value.Of(value.DateTime)
	blobType     = value.Of(value.Blob)
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
func people() *catalog.Schema {
	return schemaOf([]*catalog.Node{
		{Name: "Person", Key: []string{"name"}, Properties: []*catalog.Property{
			property("name", stringType),
			property("age", i32Type.Optional()),
			property("big", i64Type.Optional()),
			property("small", u32Type.Optional()),
			property("wide", u64Type.Optional()),
			property("ratio", f32Type.Optional()),
			property("score", f64Type.Optional()),
			property("active", boolType.Optional()),
			property("born", dateType.Optional()),
			property("seen", dateTimeType.Optional()),
			property("mood", enumOf("calm", "glad", "sad").Optional()),
			property("tags", listOf(stringType).Optional()),
			property("lucky", listOf(i32Type).Optional()),
			property("about", stringType.Optional()),
			property("photo", blobType.Optional()),
		}},
		{Name: "City", Properties: []*catalog.Property{
			property("name", stringType),
			property("place", vectorOf(2).Optional()),
		}},
	}, []*catalog.Edge{
		{Name: "Knows", From: "Person", To: "Person", Properties: []*catalog.Property{
			property("since", i32Type.Optional()),
			property("how", stringType.Optional()),
		}},
		{Name: "Follows", From: "Person", To: "Person"},
		{Name: "LivesIn", From: "Person", To: "City", Properties: []*catalog.Property{property("since", i32Type.Optional())}},
	})
}

// crowd holds a graph of people. Knows has a path, a pair of parallel edges and an edge in the
// opposite direction. Follows has a cycle of three, a self-loop and a chain.
const crowd = `
{"type":"Person","data":{"name":"ann","age":30,"big":9007199254740993,"small":1,"wide":18446744073709551615,"ratio":0.5,"score":1.5,"active":true,"born":"1994-02-28","seen":"2024-05-01T12:30:00.250Z","mood":"glad","tags":["go","tea"],"lucky":[3,7],"about":"Writes graph engines in Go"}}
{"type":"Person","data":{"name":"bob","age":25,"big":-5,"small":4294967295,"wide":"9007199254740993","ratio":0.25,"score":-2.25,"active":false,"born":"1999-12-31","seen":"2024-05-01T12:30:00.250Z","mood":"sad","tags":[],"lucky":[7],"about":"Runs the graphs of an engine room"}}
{"type":"Person","data":{"name":"cid","age":30,"score":0,"tags":["Tea"],"about":"a Gopher"}}
{"type":"Person","data":{"name":"dan"}}
{"type":"Person","data":{"name":"eve","age":41,"mood":"calm","active":true}}
{"type":"City","data":{"id":"c1","name":"Oslo","place":[59.5,10.5]}}
{"type":"City","data":{"id":"c2","name":"Rome"}}
{"edge":"Knows","from":"ann","to":"bob","data":{"id":"k1","since":2010,"how":"work"}}
{"edge":"Knows","from":"ann","to":"bob","data":{"id":"k2","since":2015}}
{"edge":"Knows","from":"bob","to":"cid","data":{"id":"k3","since":2010}}
{"edge":"Knows","from":"cid","to":"ann","data":{"id":"k4"}}
{"edge":"Follows","from":"ann","to":"bob","data":{"id":"f1"}}
{"edge":"Follows","from":"bob","to":"cid","data":{"id":"f2"}}
{"edge":"Follows","from":"cid","to":"ann","data":{"id":"f3"}}
{"edge":"Follows","from":"dan","to":"dan","data":{"id":"f4"}}
{"edge":"Follows","from":"dan","to":"eve","data":{"id":"f5"}}
{"edge":"Follows","from":"cid","to":"dan","data":{"id":"f6"}}
{"edge":"LivesIn","from":"ann","to":"c1","data":{"id":"l1","since":2001}}
{"edge":"LivesIn","from":"bob","to":"c1","data":{"id":"l2"}}
{"edge":"LivesIn","from":"cid","to":"c2","data":{"id":"l3","since":2020}}
`

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
