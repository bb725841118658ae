package builtin

import (
	"context"
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// SchemaGetResult is the answer of schema_get.
type SchemaGetResult struct {
	SchemaSource string `json:"schema_source" jsonschema_description:"The text of the schema."`
	SchemaDigest string `json:"schema_digest" jsonschema_description:"Changes when the schema does, layout and comments aside."`
}

// schemaGet returns the tool schema_get.
func schemaGet() tool.Tool {
	return &builtin{
		desc: reader[branchArgs, SchemaGetResult](tool.Descriptor{
			Name:        "schema_get",
			Title:       "Get the schema",
			Description: "Returns the data model, the whole schema as .pg text: all entities (node types), edge types, and the properties, or attributes, that you can store. It is long; type_describe shows one type.",
		}),
		gates: gate(tool.Read),
		decode: onBranch("describe one type at a time with type_describe", func(ctx context.Context, env *tool.Env, branch tool.Branch) (any, string, error) {
			s, err := env.Graph.Schema(ctx, branch.At())
			if err != nil {
				return nil, "", err
			}
			source, err := restricted.Source(s, "schema_get")
			if err != nil {
				return nil, "", err
			}
			return &SchemaGetResult{SchemaSource: source, SchemaDigest: s.Digest}, "", nil
		}),
	}
}

// schemaArgs are the arguments of schema_apply.
type schemaArgs struct {
	Schema         string  `json:"schema" jsonschema_description:"Whole .pg source; what it leaves out is dropped."`
	Branch         *string `json:"branch,omitempty" jsonschema_description:"Default main."`
	DryRun         *bool   `json:"dry_run,omitempty" jsonschema_description:"Commit nothing. Do first."`
	AllowDataLoss  *bool   `json:"allow_data_loss,omitempty" jsonschema_description:"Permit steps that lose values."`
	IfCommit       *string `json:"if_commit,omitempty" jsonschema_description:"Fail unless it is the head."`
	IdempotencyKey *string `json:"idempotency_key,omitempty" jsonschema_description:"A repeat within a day changes nothing."`
	Message        *string `json:"message,omitempty"`
}

// schemaApply returns the tool that applies a schema. The function `how` adapts the call to a local
// store or a cluster.
func schemaApply(how func(*operations.ApplySchema) tool.Call) tool.Tool {
	d := writer[schemaArgs, operations.SchemaApplyResult](tool.Descriptor{
		Name:  "schema_apply",
		Title: "Apply a schema",
		Description: "Changes the data model, for instance to add a field, or to also store a further type: applies a .pg schema to a branch and converts the data, as one commit. " +
			"Start from the source of schema_get. To rename a type or property, write @rename_from(\"Old\"). " +
			"It fails in a cluster, whose configuration sets the schema.",
		Destructive: true,
	})
	return &builtin{desc: d, gates: gate(tool.SchemaApply), decode: func(args json.RawMessage) (tool.Call, error) {
		o := arguments.Members(args)
		c := &operations.ApplySchema{Source: o.String("schema")}
		c.Branch = named(o, "branch")
		c.Options.DryRun = isTrue(o.OptBool("dry_run"))
		c.Options.AllowDataLoss = isTrue(o.OptBool("allow_data_loss"))
		c.Options.IfCommit, c.Options.IdempotencyKey = o.Guard("if_commit"), o.Guard("idempotency_key")
		c.Options.Message = orEmpty(o.OptString("message"))
		c.Notes = o.Unguarded("if_commit", "idempotency_key")
		if err := o.Done(); err != nil {
			return nil, err
		}
		return how(c), nil
	}}
}

// localSchema returns the call unchanged, for a graph outside a cluster.
func localSchema(c *operations.ApplySchema) tool.Call { return c }

// clusterSchema makes the call fail with a reason. A schema applied without changing the
// cluster's configuration would be reverted by the next deployment.
func clusterSchema(c *operations.ApplySchema) tool.Call {
	c.Fixed = operations.FixedByCluster
	return c
}

// isTrue reports whether an optional argument is given and true.
func isTrue(b *bool) bool { return b != nil && *b }
