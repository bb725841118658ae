package operations

import (
	"cmp"
	"context"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ApplySchema is the call that applies a schema to a branch.
type ApplySchema struct {
	Source   string // text of the new schema
	Argument string // the name of the argument that holds Source; schema if empty
	Branch   tool.BranchName
	Options  engine.SchemaOptions // Actor is set to the caller, and Branch to what the name stands for
	Notes    []string             // for the answer: about conditions that are null

	// File is the name of the file that the command line gave for Source. It is empty if a client
	// sent the text. A text from a file has no size limits, and all of its faults are reported.
	File string

	// Fixed, if not empty, says why schemas cannot be applied here and what to do instead. A caller
	// that has the permission gets this text in an *engine.Conflict.
	Fixed string
}

// FixedByCluster is the value of ApplySchema.Fixed for a graph of a cluster.
const FixedByCluster = "the graph belongs to a cluster, whose configuration sets its schema; edit the .pg file and run omnigraph cluster apply"

// SchemaApplyResult is the answer of ApplySchema.
type SchemaApplyResult struct {
	Supported     bool              `json:"supported" jsonschema_description:"The server can execute every step; false occurs only in a dry run."`
	Applied       bool              `json:"applied" jsonschema_description:"The call put the schema in force."`
	Destructive   bool              `json:"destructive" jsonschema_description:"A step removes values from the graph."`
	StepCount     int               `json:"step_count" jsonschema_description:"The number of steps, including steps that are not listed."`
	Steps         []SchemaApplyStep `json:"steps" jsonschema_description:"The steps; only the first steps, if the answer cannot hold all."`
	Branch        string            `json:"branch"` // the branch that the schema is for
	SchemaDigest  string            `json:"schema_digest" jsonschema_description:"The digest of the schema that was sent."`
	GraphCommitID *string           `json:"graph_commit_id" jsonschema_description:"The commit; null if nothing changed, and in a dry run."`
	ActorID       *string           `json:"actor_id"` // the caller; null if it has none
	Notes         []string          `json:"notes,omitempty" jsonschema_description:"About conditions that are null."`
}

// Cut drops steps from the end. StepCount still counts all of them.
func (a *SchemaApplyResult) Cut(bytes int) {
	const frame = 1 << 10 // approximate size of the answer without its steps
	size := frame
	for i, s := range a.Steps {
		b, err := encoding.JSON(s)
		if size += len(b) + 1; err != nil || size > bytes {
			a.Steps = a.Steps[:i]
			return
		}
	}
}

// SchemaApplyStep is one change of a schema.
type SchemaApplyStep struct {
	Step        string `json:"step"`        // what the step does, in words
	Destructive bool   `json:"destructive"` // the step removes values from the graph
	Reason      string `json:"reason,omitempty" jsonschema_description:"Why the server cannot execute the step, and what to do instead."`
}

// Needs returns the permission to apply a schema to the branch; a dry run also requires
// permission to read it.
func (c *ApplySchema) Needs() []tool.Need {
	return append([]tool.Need{{Action: tool.SchemaApply, Branch: c.Branch}}, access.WantsRead(c.Branch, c.Options.DryRun)...)
}

// RunOptions returns the options of the call.
func (c *ApplySchema) RunOptions() *queryrun.Options {
	return &queryrun.Options{DryRun: c.Options.DryRun, IdempotencyKey: c.Options.IdempotencyKey, IfCommit: c.Options.IfCommit}
}

// Run compiles the schema and applies it. Faults in the text give a *wireerror.Rejected.
func (c *ApplySchema) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	change, err := c.Apply(ctx, env)
	if err != nil {
		return nil, err
	}
	a := &SchemaApplyResult{
		Supported: change.Supported, Applied: change.Commit != nil, Destructive: change.Destructive,
		StepCount: len(change.Steps), Steps: make([]SchemaApplyStep, len(change.Steps)), Branch: env.Branch(c.Branch).Name(),
		SchemaDigest: change.To, GraphCommitID: encoding.OrNil(encoding.CommitID(change.Commit)), ActorID: encoding.ActorID(env.Actor), Notes: c.Notes,
	}
	for i, s := range change.Steps {
		a.Steps[i] = SchemaApplyStep{Step: s.String(), Destructive: s.Destructive(), Reason: s.Reason}
	}
	return c.Outcome(env, change, a), nil
}

// Apply applies the schema like Run but leaves the answer to the caller.
func (c *ApplySchema) Apply(ctx context.Context, env *tool.Env) (*engine.SchemaChange, error) {
	if c.Fixed != "" {
		return nil, &engine.Conflict{Reason: c.Fixed}
	}
	if c.File != "" {
		s, found := gq.CompileSchema(gq.Source{Name: c.File, Text: c.Source})
		if found.HasErrors() {
			return nil, &wireerror.Rejected{Diagnostics: found, Sources: map[string]string{c.File: c.Source}}
		}
		return c.apply(ctx, env, s)
	}
	var s *catalog.Schema
	var found diag.List
	err := WithText(ctx, env, cmp.Or(c.Argument, "schema"), c.Source, func(limits work.Limits) (err error) {
		s, found, err = gq.CompileSchemaWithin(ctx, limits, gq.Source{Name: schemaName, Text: c.Source})
		return err
	})
	if err != nil {
		return nil, err
	}
	if found.HasErrors() {
		return nil, &wireerror.Rejected{What: "the schema", Diagnostics: found.Cut(maxFaults), Sources: map[string]string{schemaName: c.Source}}
	}
	return c.apply(ctx, env, s)
}

// apply applies the compiled schema `s` for the caller.
func (c *ApplySchema) apply(ctx context.Context, env *tool.Env, s *catalog.Schema) (*engine.SchemaChange, error) {
	opts, branch := c.Options, env.Branch(c.Branch)
	opts.Actor, opts.Tool, opts.Branch, opts.Message = env.Actor, env.Tool, branch.Name(), cmp.Or(opts.Message, env.Message)
	var change *engine.SchemaChange
	err := c.confirmed(ctx, env, s, branch, opts, func(heads tool.Heads) (err error) {
		opts.IfCommit = heads.Require(0, opts.IfCommit)
		change, err = env.Graph.ApplySchema(ctx, c.Source, s, opts)
		return err
	})
	return change, err
}

// confirmed runs the function write, unless the call would remove stored values and the caller must confirm
// that first. Only a call with the option AllowDataLoss removes any.
func (c *ApplySchema) confirmed(ctx context.Context, env *tool.Env, s *catalog.Schema, branch tool.Branch, opts engine.SchemaOptions, write func(tool.Heads) error) error {
	if !env.Confirms(tool.SchemaApply) || opts.DryRun || !opts.AllowDataLoss {
		return write(nil)
	}
	opts.DryRun, opts.IdempotencyKey = true, ""
	change, err := env.Graph.ApplySchema(ctx, c.Source, s, opts)
	if err != nil {
		return err
	}
	if !change.Destructive {
		return write(nil)
	}
	what := "apply a schema to the branch " + opts.Branch + ", which removes stored values"
	if env.MayRead() {
		var steps []string
		for _, step := range change.Steps {
			if step.Destructive() {
				steps = append(steps, strings.TrimPrefix(step.String(), "- "))
			}
		}
		what += ": " + listNames(steps)
	}
	return env.Confirmed(ctx, tool.Step{Action: tool.SchemaApply, What: what, Branches: []tool.Branch{branch}}, write)
}

// Applied returns the answer of REST, without the URI.
func (c *ApplySchema) Applied(env *tool.Env, change *engine.SchemaChange) *client.SchemaApplied {
	a := &client.SchemaApplied{
		Supported: change.Supported, Applied: change.Commit != nil, Destructive: change.Destructive,
		StepCount: len(change.Steps), Steps: schemaSteps(change.Steps), GraphManifestVersion: change.Head.Seq,
		Branch: env.Branch(c.Branch).Name(), Digest: change.Digest(), GraphCommitID: encoding.OrNil(encoding.CommitID(change.Commit)), ActorID: encoding.ActorID(env.Actor),
	}
	return a
}

// schemaSteps returns the steps of a change of the schema in their wire form.
func schemaSteps(steps []catalog.Step) []client.SchemaStep {
	list := make([]client.SchemaStep, len(steps))
	for i, s := range steps {
		list[i] = client.SchemaStep{Code: string(s.Code), Step: s.String(), Destructive: s.Destructive(), Reason: s.Reason}
	}
	return list
}

// schemaEvent describes the difference between two schemas for a change feed. The schema `was` is nil
// for the first commit of a graph.
func schemaEvent(was, is *engine.Schema) *client.SchemaEvent {
	e := &client.SchemaEvent{SchemaDigest: is.Digest, SchemaSource: is.Source}
	before := &catalog.Schema{}
	if was != nil {
		before, e.ParentSchemaDigest = was.Catalog, &was.Digest
	}
	steps := catalog.Diff(before, is.Catalog).Steps
	for i := range steps {
		steps[i].Reason = "" // the stored data permitted the step
	}
	e.Steps = schemaSteps(steps)
	return e
}

// Outcome returns the outcome of Apply with the given answer.
func (c *ApplySchema) Outcome(env *tool.Env, change *engine.SchemaChange, answer any) *tool.Outcome {
	out := &tool.Outcome{Value: answer, Commit: change.Head.ID}
	if change.Commit != nil {
		out.Wrote = &tool.Written{Branch: new(env.Branch(c.Branch)), Commit: change.Commit}
	}
	return out
}

// schemaName is the file name of a schema's text in the spans of diagnostics.
const schemaName = "schema"

// LogArguments returns the arguments of the call for the log.
func (c *ApplySchema) LogArguments() [][]byte {
	options := []byte{0, 0}
	for i, set := range []bool{c.Options.AllowDataLoss, c.Options.Hard} {
		if set {
			options[i] = 1
		}
	}
	return [][]byte{[]byte(c.Source), options}
}

// LogKey returns the idempotency key for the log.
func (c *ApplySchema) LogKey() string { return c.Options.IdempotencyKey }
