package builtin_test

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// aboutPG is a schema with an edge type that ends at an interface.
const aboutPG = `interface Named { name: String }
node Person implements Named { name: String @key }
node Team implements Named { name: String @key }
node Note { text: String @key }
edge About: Note -> Named { rank: I32? }
`

// TestInterfaceEnd lists the changes of an edge with an interface at one end, and describes the types.
func TestInterfaceEnd(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	c.Graph = naive.New(aboutPG, servedtest.SchemaOf(t, aboutPG), naive.Sound)
	load := func(lines string) string {
		t.Helper()
		r, err := c.Graph.Load(t.Context(), strings.NewReader(lines), engine.LoadOptions{Mode: engine.Overwrite})
		if err != nil {
			t.Fatal(err)
		}
		return r.Head.ID
	}
	first := load(`{"type":"Person","data":{"name":"ann"}}
{"type":"Team","data":{"name":"ann"}}
{"type":"Note","data":{"text":"n1"}}
{"edge":"About","from":"n1","to":{"type":"Person","id":"ann"},"data":{"id":"a1"}}`)
	second := load(`{"edge":"About","from":"n1","to":{"type":"Team","id":"ann"},"data":{"id":"a1"}}`)
	r := servedtest.Reader
	run(t, c, []step{
		{"change_list", r, args{"commit": first}, 0, `{"kind":"edge","op":"insert","type":"About","id":"a1","from":"n1","to":{"type":"Person","id":"ann"},"properties":[]}`},
		{"change_list", r, args{"commit": second}, 0, `{"kind":"edge","op":"update","type":"About","id":"a1","from":"n1","to":{"type":"Team","id":"ann"},"properties":[{"name":"to","old":{"type":"Person","id":"ann"},"new":{"type":"Team","id":"ann"}}]}`},
		{"type_describe", r, args{"name": "Person"}, 0, `"edges_in":[{"edge":"About","other":"Note","clause":"$note about $person"`},
		{"type_describe", r, args{"name": "Note"}, 0, `"edges_out":[{"edge":"About","other":"Named","clause":"$note about $named"`},
		{"type_describe", r, args{"name": "About"}, 0, `"from":"Note","to":"Named"`},
		{"graph_query", r, args{"query": `query q() { match { $n $w:about $x } return { $w.from as source, $w.to as target } }`}, 0, `"rows":[{"source":"n1","target":{"type":"Team","id":"ann"}}]`},
	})
}
