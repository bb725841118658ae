package rest

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

type schemaAnswer struct {
	SchemaSource string `json:"schema_source"`
}

// schema answers with the text of the schema.
func (x *exchange) schema() error {
	return x.look(func(ctx context.Context, g engine.Graph, at engine.Target) (any, error) {
		s, err := g.Schema(ctx, at)
		if err != nil {
			return nil, err
		}
		return &schemaAnswer{SchemaSource: s.Source}, nil
	})
}

// look reads the target that the URL names, once it is known which commit that is: a
// client that has that commit's answer already is told so, and nothing is read.
func (x *exchange) look(read func(ctx context.Context, g engine.Graph, at engine.Target) (any, error)) error {
	return x.answer(&service.Look{At: x.target(), Unless: x.held, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		return read(ctx, env.Graph, engine.Target{Commit: c.ID})
	}}, service.Encoding{})
}
