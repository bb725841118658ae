// Package builtin implements the hand-written tools that every graph has.
package builtin

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/omnigraph-go/omnigraph/internal/jsonschema"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// All returns the built-in tools of a graph that a cluster serves, in listing order. The argument
// `version` is the version of the server.
func All(version string) []tool.Tool { return tools(version, clusterSchema) }

// Local returns the built-in tools of a local store that serves one client over standard input and
// output. In contrast to the tools of [All], they can apply schemas and index Go modules. The command that
// serves the store gives the function that reads a module, so that other servers do not link it.
func Local(version string, read CodeReader) []tool.Tool {
	return append(tools(version, localSchema), codeIndex(read))
}

// Publishing returns the built-in tools of a server that publishes proposed queries.
func Publishing() []tool.Tool { return []tool.Tool{queryPropose()} }

// Watching returns the built-in tool of a server that serves stored queries, which clients list only if they ask for its set.
func Watching() []tool.Tool { return []tool.Tool{watch()} }

// tools returns the built-in tools.
func tools(version string, schema func(*operations.ApplySchema) tool.Call) []tool.Tool {
	return []tool.Tool{
		health(version), reference(), describeType(), typePath(), schemaGet(), validate(), explain(), query(), snapshot(),
		branchList(), commitList(), commitGet(), changeList(), proposalGet(),
		mutate(), load(), branchCreate(), branchDelete(), branchMerge(), proposalSubmit(), proposalResolve(), schemaApply(schema),
	}
}

// builtin is a tool with a fixed descriptor. The function `decode` makes a call from its arguments.
type builtin struct {
	desc   *tool.Descriptor // what callers see of the tool
	gates  []tool.Grant     // permissions without which, on one branch, a caller does not see the tool
	decode func(args json.RawMessage) (tool.Call, error)

	// elsewhere are permissions that a call needs on another branch than the gates.
	elsewhere []tool.Grant
}

// Elsewhere implements [access.Elsewhere].
func (t *builtin) Elsewhere() []tool.Grant { return t.elsewhere }

// Descriptor implements [tool.Tool].
func (t *builtin) Descriptor() *tool.Descriptor { return t.desc }

// Gates implements [tool.Tool].
func (t *builtin) Gates() []tool.Grant { return t.gates }

// Decode implements [tool.Tool].
func (t *builtin) Decode(args json.RawMessage) (tool.Call, error) { return t.decode(args) }

// gate returns the grant for an ad-hoc action, without a branch.
func gate(a tool.Action) []tool.Grant { return []tool.Grant{{Action: a, Via: tool.AdHoc}} }

// call is a call that answers with a value, and with the commit that the value describes, if any.
// The function `run` carries it out and returns the answer.
type call struct {
	needs []tool.Need // permissions that the call needs
	less  string      // advice on how to get a smaller answer
	run   func(ctx context.Context, env *tool.Env) (v any, commit string, err error)
}

// Needs implements [tool.Call].
func (c *call) Needs() []tool.Need { return c.needs }

// Run implements tool.Call.
func (c *call) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	v, commit, err := c.run(ctx, env)
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: v, Commit: commit, Less: c.less}, nil
}

// reader completes the descriptor of a tool that changes nothing.
func reader[Args, Result any](d tool.Descriptor) *tool.Descriptor {
	d.ReadOnly, d.Idempotent = true, true
	d.InputSchema = jsonschema.Input(reflect.TypeFor[Args]())
	d.OutputSchema = jsonschema.Output(reflect.TypeFor[Result]())
	return &d
}

// writer completes the descriptor of a tool that makes changes.
func writer[Args, Result any](d tool.Descriptor) *tool.Descriptor {
	d.InputSchema = jsonschema.Input(reflect.TypeFor[Args]())
	d.OutputSchema = jsonschema.Output(reflect.TypeFor[Result]())
	return &d
}

// branchArgs are the arguments of a tool that takes only a branch.
type branchArgs struct {
	Branch *string `json:"branch,omitempty" jsonschema_description:"Default main."`
}

// named reads an optional member that names a branch.
func named(o *arguments.Object, member string) tool.BranchName {
	return tool.BranchName(orEmpty(o.OptString(member)))
}

// onBranch returns a decoder of branchArgs. The decoded call reads the branch.
func onBranch(less string, run func(ctx context.Context, env *tool.Env, branch tool.Branch) (v any, commit string, err error)) func(json.RawMessage) (tool.Call, error) {
	return func(args json.RawMessage) (tool.Call, error) {
		o := arguments.Members(args)
		branch := named(o, "branch")
		if err := o.Done(); err != nil {
			return nil, err
		}
		return readsBranch(branch, less, run), nil
	}
}

// readsBranch returns a call that reads a branch.
func readsBranch(name tool.BranchName, less string, run func(ctx context.Context, env *tool.Env, branch tool.Branch) (v any, commit string, err error)) *call {
	return &call{
		less:  less,
		needs: []tool.Need{{Action: tool.Read, Branch: name, Via: tool.AdHoc}},
		run:   func(ctx context.Context, env *tool.Env) (any, string, error) { return run(ctx, env, env.Branch(name)) },
	}
}

// orEmpty returns the text that s points to, or "".
func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
