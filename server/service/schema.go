package service

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ApplySchema is the call that makes a schema the one in force on a branch.
type ApplySchema struct {
	Source  string
	Options engine.SchemaOptions // Actor is the caller's

	// Fixed, if not empty, says why no schema can be applied, and what to do instead:
	// whoever may apply one is told so by an *engine.Conflict.
	Fixed string
}

// FixedByCluster is why no schema can be applied to a graph of a cluster.
const FixedByCluster = "the graph is served from a cluster, whose schemas change through its configuration: edit the .pg file and run omnigraph cluster apply"

// SchemaApplied is the answer of ApplySchema.
type SchemaApplied struct {
	Supported    bool         `json:"supported" jsonschema_description:"Every step can be taken; only of a dry run it may be false."`
	Applied      bool         `json:"applied" jsonschema_description:"The schema is in force and was not before."`
	Destructive  bool         `json:"destructive" jsonschema_description:"A step takes values from the graph."`
	StepCount    int          `json:"step_count"`
	Steps        []SchemaStep `json:"steps"`
	Branch       string       `json:"branch"`
	SchemaDigest string       `json:"schema_digest" jsonschema_description:"Of the schema that was given."`
	Commit       *string      `json:"commit" jsonschema_description:"The id of the commit; null when nothing changed, and of a dry run."`
	ActorID      *string      `json:"actor_id"`
}

// SchemaStep is one change of a schema.
type SchemaStep struct {
	Step        string `json:"step"`
	Destructive bool   `json:"destructive"`
	Reason      string `json:"reason,omitempty" jsonschema_description:"Why the step cannot be taken, and what to do instead."`
}

// Grants returns the permission to apply a schema to the branch, and for a dry run to read
// the branch too.
func (c *ApplySchema) Grants() []tool.Grant {
	return append([]tool.Grant{{Action: tool.SchemaApply, Branch: c.Options.Branch}}, wantsRead(c.Options.Branch, c.Options.DryRun)...)
}

// Run compiles the schema and applies it. Faults of the text are a *Rejected.
func (c *ApplySchema) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	change, err := c.Apply(ctx, env)
	if err != nil {
		return nil, err
	}
	a := &SchemaApplied{
		Supported: change.Supported, Applied: change.Commit != nil, Destructive: change.Destructive,
		StepCount: len(change.Steps), Steps: make([]SchemaStep, len(change.Steps)), Branch: orMain(c.Options.Branch),
		SchemaDigest: change.To, Commit: orNil(commitID(change.Commit)), ActorID: orNil(env.Actor),
	}
	for i, s := range change.Steps {
		a.Steps[i] = SchemaStep{Step: s.String(), Destructive: s.Destructive(), Reason: s.Reason}
	}
	return c.Outcome(change, a), nil
}

// Apply is Run without an answer, for those that have one of their own.
func (c *ApplySchema) Apply(ctx context.Context, env *tool.Env) (*engine.SchemaChange, error) {
	if c.Fixed != "" {
		return nil, &engine.Conflict{Reason: c.Fixed}
	}
	s, found := gq.CompileSchema(gq.Source{Name: schemaName, Text: c.Source})
	if found.HasErrors() {
		return nil, &Rejected{What: "the schema", Diagnostics: found.Cut(maxFaults), Sources: map[string]string{schemaName: c.Source}}
	}
	opts := c.Options
	opts.Actor, opts.Branch = env.Actor, orMain(opts.Branch)
	return env.Graph.ApplySchema(ctx, c.Source, s, opts)
}

// Outcome is the outcome of what Apply did, with its answer.
func (c *ApplySchema) Outcome(change *engine.SchemaChange, answer any) *tool.Outcome {
	out := &tool.Outcome{Value: answer, Commit: change.Head.ID}
	if change.Commit != nil {
		out.Wrote = &tool.Written{Branch: orMain(c.Options.Branch), Commit: change.Commit}
	}
	return out
}

// schemaName stands for the text of a schema in the spans of diagnostics.
const schemaName = "schema"
