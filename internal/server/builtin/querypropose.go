package builtin

import (
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// queryProposeArgs are the arguments of query_propose.
type queryProposeArgs struct {
	Name        string   `json:"name"`
	Query       string   `json:"query" jsonschema_description:"GQ text of one read; an @example for each required parameter."`
	Description string   `json:"description" jsonschema_description:"Of the new tool."`
	Questions   []string `json:"questions,omitempty" jsonschema_description:"That it answers."`
	Why         string   `json:"why" jsonschema_description:"For the reviewer."`
}

// queryPropose returns the tool query_propose.
func queryPropose() tool.Tool {
	return &builtin{
		desc: writer[queryProposeArgs, ProposalStatus](tool.Descriptor{
			Name:        "query_propose",
			Title:       "Propose a stored query",
			Description: "Asks a reviewer to make a query that works well a tool for everyone. Propose it again under its name to change it; proposal_get shows the review.",
		}),
		gates: append([]tool.Grant{{Action: tool.QueryPropose}}, gate(tool.Read)...),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			b := client.QueryProposalBody{Name: o.String("name"), Query: o.String("query"), Description: o.String("description"), Questions: o.OptStrings("questions"), Why: o.String("why")}
			if err := o.Done(); err != nil {
				return nil, err
			}
			return operations.Shaped(operations.ProposeQuery(b), statusOf), nil
		},
	}
}
