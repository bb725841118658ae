package builtin

import (
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// explainArgs are the arguments of query_explain.
type explainArgs struct {
	Query   string         `json:"query" jsonschema_description:"A query in GQ."`
	Name    *string        `json:"name,omitempty" jsonschema_description:"Which, if several."`
	Params  map[string]any `json:"params,omitempty" jsonschema_description:"For analyze; without $."`
	Branch  *string        `json:"branch,omitempty" jsonschema_description:"Default main."`
	Analyze *bool          `json:"analyze,omitempty" jsonschema_description:"Run the read; report rows and time by operator."`
}

// explain returns the tool query_explain.
func explain() tool.Tool {
	return &builtin{
		desc: reader[explainArgs, client.Explained](tool.Descriptor{
			Name:        "query_explain",
			Title:       "Explain a query",
			Description: "Shows the plan of a query, for instance of one that is slow or takes long: the steps that the engine would make, with indexes and expected rows, and with analyze where the time of a read goes. It never runs a mutation.",
		}),
		gates: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			c := &operations.ExplainQuery{
				AdHoc:   *adHoc(o),
				Analyze: isTrue(o.OptBool("analyze")),
			}
			return c, o.Done()
		},
	}
}
