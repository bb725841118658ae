package builtin

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// SchemaAnswer is the answer of schema_get.
type SchemaAnswer struct {
	SchemaSource string `json:"schema_source" jsonschema_description:"The text of the schema."`
	SchemaDigest string `json:"schema_digest" jsonschema_description:"Changes when the schema does, layout and comments aside."`
}

func schemaGet() tool.Tool {
	return &builtin{
		desc: reader[branchArgs, SchemaAnswer](tool.Descriptor{
			Name:  "schema_get",
			Title: "Get the schema",
			Description: "Returns the graph's schema as its source text: node types with their properties, keys and constraints, " +
				"and edge types with the node types they lead between. Read it before writing a query: " +
				"graph_query and graph_mutate know only the types and properties that it names.",
		}),
		gates: gate(tool.Read),
		decode: onBranch(func(ctx context.Context, env *tool.Env, branch string) (any, string, error) {
			s, err := env.Graph.Schema(ctx, engine.Target{Branch: branch})
			if err != nil {
				return nil, "", err
			}
			return &SchemaAnswer{SchemaSource: s.Source, SchemaDigest: s.Digest}, "", nil
		}),
	}
}
