package rest

import (
	"context"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// applySchema applies a new schema, unless schemas are fixed on this server.
func (x *exchange) applySchema() error {
	var b client.SchemaBody
	o, err := x.textBody(&b)
	if err != nil {
		return err
	}
	if err := o.Done(); err != nil {
		return err
	}
	k := x.runOptions()
	return x.answer(&applySchema{uri: x.uri(), ApplySchema: &operations.ApplySchema{
		Source: b.SchemaSource, Argument: "schema_source", File: x.file(), Branch: tool.BranchName(b.Branch), Fixed: x.opts.SchemasFixed,
		Options: engine.SchemaOptions{
			WriteOptions:  engine.WriteOptions{IfCommit: k.IfCommit, IdempotencyKey: k.IdempotencyKey, Message: k.Message, DryRun: b.DryRun},
			AllowDataLoss: b.AllowDataLoss, Hard: b.Hard,
		},
	}}, encoding.Options{})
}

// applySchema is the call with an answer in the form of the REST API.
type applySchema struct {
	*operations.ApplySchema
	uri string // address of the graph in the answer
}

// Unwrap returns the wrapped call, for the log.
func (c *applySchema) Unwrap() tool.Call { return c.ApplySchema }

// Run applies the schema and answers in the form of the REST API.
func (c *applySchema) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	change, err := c.Apply(ctx, env)
	if err != nil {
		return nil, err
	}
	a := c.Applied(env, change)
	a.URI = c.uri
	return c.Outcome(env, change, a), nil
}
