package builtin

import (
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// explainArgs are the arguments of query_explain.
type explainArgs struct {
	Query   string         `json:"query" jsonschema_description:"The GQ text of a read or a mutation."`
	Name    *string        `json:"name,omitempty" jsonschema_description:"Which query to explain, when the text holds several."`
	Params  map[string]any `json:"params,omitempty" jsonschema_description:"The query's parameters by name, without the $; needed only with analyze."`
	Branch  *string        `json:"branch,omitempty" jsonschema_description:"The branch to explain it on; main when it is left out."`
	Analyze *bool          `json:"analyze,omitempty" jsonschema_description:"Run the read, too, and say how many rows each operator yielded and how long it took."`
}

// explain returns the tool query_explain.
func explain() tool.Tool {
	return &builtin{
		desc: reader[explainArgs, operations.Explained](tool.Descriptor{
			Name:  "query_explain",
			Title: "Explain a query",
			Description: "Shows how a query would run: its operators and indexes, the rows expected of each, and the types and properties that it uses. " +
				"It runs the query only if you set analyze, and never runs a mutation. Use it for a slow query, or before one that may read a lot. " +
				"An example: {\"query\": \"query q() { match { $p: Person } return { count($p) as n } }\"}.",
		}),
		gates: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			c := &operations.ExplainQuery{
				AdHoc:   operations.AdHoc{Source: o.String("query"), Name: orEmpty(o.OptString("name")), Params: o.Raw("params"), Branch: orEmpty(o.OptString("branch"))},
				Analyze: isTrue(o.OptBool("analyze")),
			}
			return c, o.Done()
		},
	}
}
