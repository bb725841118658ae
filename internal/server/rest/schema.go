package rest

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

type schemaBody struct {
	SchemaSource  string  `json:"schema_source" jsonschema_description:"The whole .pg source: what it leaves out is dropped."`
	AllowDataLoss *bool   `json:"allow_data_loss,omitempty" jsonschema_description:"Permit steps that take values from the graph."`
	Branch        *string `json:"branch,omitempty" jsonschema_description:"The branch to apply it to; main when it is left out."`
	DryRun        *bool   `json:"dry_run,omitempty" jsonschema_description:"Report the steps and change nothing."`
	Hard          *bool   `json:"hard,omitempty" jsonschema_description:"Make drops of properties hard ones: what is stored of the head soon holds their values no longer."`
}

// schema answers with the source of the schema.
func (x *exchange) schema() error {
	return x.look(func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		s, err := env.Graph.Schema(ctx, engine.Target{Commit: c.ID})
		if err != nil {
			return nil, err
		}
		return &schemaAnswer{SchemaSource: s.Source}, nil
	})
}

// applySchema applies a new schema, unless schemas are fixed on this server.
func (x *exchange) applySchema() error {
	var b schemaBody
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
			WriteOptions:  engine.WriteOptions{Branch: orEmpty(b.Branch), IfCommit: k.IfCommit, IdempotencyKey: k.IdempotencyKey, DryRun: isTrue(b.DryRun)},
			AllowDataLoss: isTrue(b.AllowDataLoss), Hard: isTrue(b.Hard),
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
	a := &SchemaApplied{
		URI: c.uri, Supported: change.Supported, Applied: change.Commit != nil, Destructive: change.Destructive,
		StepCount: len(change.Steps), Steps: make([]SchemaStep, len(change.Steps)), GraphManifestVersion: change.Head.Seq,
		Branch: orMain(c.Options.Branch), Digest: change.Digest(), ActorID: orNil(env.Actor),
	}
	if change.Commit != nil {
		a.Commit = &change.Commit.ID
	}
	for i, s := range change.Steps {
		a.Steps[i] = SchemaStep{Code: string(s.Code), Step: s.String(), Destructive: s.Destructive(), Reason: s.Reason}
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
