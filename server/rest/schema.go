package rest

import (
	"context"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// schema answers with the source of the schema.
func (x *exchange) schema() error {
	return x.look(func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		s, err := env.Graph.Schema(ctx, engine.Target{Commit: c.ID})
		if err != nil {
			return nil, err
		}
		return &client.SchemaAnswer{SchemaSource: s.Source}, nil
	})
}

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
		Source: b.SchemaSource, Argument: "schema_source", Fixed: x.opts.SchemasFixed,
		Options: engine.SchemaOptions{
			WriteOptions:  engine.WriteOptions{Branch: b.Branch, IfCommit: k.IfCommit, IdempotencyKey: k.IdempotencyKey, DryRun: b.DryRun},
			AllowDataLoss: b.AllowDataLoss, Hard: b.Hard,
		},
	}}, encoding.Options{})
}

// applySchema is the call with an answer in the form of the REST API.
type applySchema struct {
	*operations.ApplySchema
	uri string
}

// Unwrap returns the wrapped call, for the log.
func (c *applySchema) Unwrap() tool.Call { return c.ApplySchema }

func (c *applySchema) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	change, err := c.Apply(ctx, env)
	if err != nil {
		return nil, err
	}
	a := &client.SchemaApplied{
		URI: c.uri, Supported: change.Supported, Applied: change.Commit != nil, Destructive: change.Destructive,
		StepCount: len(change.Steps), Steps: make([]client.SchemaStep, len(change.Steps)), GraphManifestVersion: change.Head.Seq,
		Branch: orMain(c.Options.Branch), Digest: change.Digest(), ActorID: orNil(env.Actor),
	}
	if change.Commit != nil {
		a.Commit = &change.Commit.ID
	}
	for i, s := range change.Steps {
		a.Steps[i] = client.SchemaStep{Code: string(s.Code), Step: s.String(), Destructive: s.Destructive(), Reason: s.Reason}
	}
	return c.Outcome(change, a), nil
}

func orMain(branch string) string {
	if branch == "" {
		return engine.MainBranch
	}
	return branch
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
