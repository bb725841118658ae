package queryrun

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/notes"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Tool is the tool that runs a stored query.
type Tool struct{ tool.StoredQuery }

// Gates returns two grants: one to invoke the query, and one for what the query does on a branch, a read or
// a change. A query that runs as an ad-hoc one has only the second.
func (t Tool) Gates() []tool.Grant {
	if t.Info().AdHoc {
		return []tool.Grant{t.Does()}
	}
	return []tool.Grant{{Action: tool.InvokeQuery, Query: t.Info().Name}, t.Does()}
}

// Does returns the grant for what the query does on a branch.
func (t Tool) Does() tool.Grant {
	g := tool.Grant{Action: tool.Read, Via: tool.Stored, Query: t.Info().Name}
	if t.Info().AdHoc {
		g.Via, g.Query = tool.AdHoc, ""
	}
	if t.Info().Mutation {
		g.Action = tool.Change
	}
	return g
}

// Decode reads the arguments of the tool: {"params": {…}, "branch"?}, the run options of a read or
// a mutation, and the query's parameters in the member `params`. The error is a
// *tool.ArgumentError.
func (t Tool) Decode(args json.RawMessage) (tool.Call, error) {
	return DecodeMembers(t.StoredQuery, arguments.Members(args))
}

// DecodeMembers is like [Tool.Decode], but the caller may already have read other members of the
// object.
func DecodeMembers(t tool.StoredQuery, o *arguments.Object) (tool.Call, error) {
	o.Nest(func(name string) bool {
		return isParam(t.Plan(), name) && name != "params" && !slices.Contains(OptionNames, name)
	})
	params := o.Raw("params")
	branch := o.OptString("branch")
	read := ReadOptions
	if t.Info().Mutation {
		read = WriteOptions
	}
	options := read(o)
	decoded, err := arguments.Decode(params, t.Params())
	if o.Broken() {
		return nil, o.Done()
	}
	o.Merge("params", err)
	if err := o.Done(); err != nil {
		return nil, misplaced(err.(*tool.ArgumentError), t.Plan())
	}
	call := &Call{Query: t, Args: decoded, Options: options}
	if branch != nil {
		call.Branch = tool.BranchName(*branch)
	}
	return call, nil
}

// Call is a call of a stored query with decoded parameters.
type Call struct {
	Query   tool.StoredQuery // the query to run
	Args    engine.Args      // decoded parameters, in the order in which the query declares them
	Branch  tool.BranchName
	Options Options // such as the page token or a dry run
}

// Needs returns two permissions: one to invoke the query, and one for what the query does on
// the branch, a read or a change. A query that runs as an ad-hoc one needs only the second.
func (c *Call) Needs() []tool.Need {
	if c.Query.Info().AdHoc {
		return []tool.Need{c.Options.Need(c.Branch, tool.AdHoc)}
	}
	name := c.Query.Info().Name
	inner := c.Options.Need(c.Branch, tool.Stored)
	inner.Query = name
	if c.Query.Info().Mutation {
		inner.Action = tool.Change
	}
	return []tool.Need{{Action: tool.InvokeQuery, Query: name}, inner}
}

// RunOptions returns the options of the call.
func (c *Call) RunOptions() *Options { return &c.Options }

// Run executes the query's plan.
func (c *Call) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	q := c.Query.Plan()
	if q.Mutation != nil {
		return mutation(ctx, env, q, env.Caller.With(q.Params, c.Args), env.Branch(c.Branch), q.Name, &c.Options)
	}
	r, err := c.Options.Reading(ctx, env, c.Branch)
	if err != nil {
		return nil, err
	}
	args, said := c.Arguments(ctx, env, r.At)
	out, err := r.Run(ctx, env, q, args)
	if err == nil {
		out.Read.Findings = append(out.Read.Findings, said...)
	}
	return out, err
}

// Arguments returns the arguments of a read for its plan, with those that say who the caller is, and with whole paths in place of
// their ends. It returns a note for each end of a path.
func (c *Call) Arguments(ctx context.Context, env *tool.Env, at engine.Target) (args engine.Args, said []string) {
	q := c.Query.Plan()
	args = env.Caller.With(q.Params, c.Args)
	if !c.Query.Info().AdHoc && env.MayRead() {
		return notes.WholePaths(ctx, env.Graph, q, args, at)
	}
	return args, nil
}

// Mutation runs a mutation of a text on a branch.
func Mutation(ctx context.Context, env *tool.Env, q *plan.Query, args engine.Args, branch tool.Branch, k *Options) (*tool.Outcome, error) {
	return mutation(ctx, env, q, args, branch, "", k)
}

// mutation runs a mutation on a branch. For a stored query, statement is its name.
func mutation(ctx context.Context, env *tool.Env, q *plan.Query, args engine.Args, branch tool.Branch, statement string, k *Options) (*tool.Outcome, error) {
	opts := k.Write(env, branch)
	opts.Statement = statement
	var change engine.Change
	write := func(heads tool.Heads) (err error) {
		opts.IfCommit = heads.Require(0, opts.IfCommit)
		change, err = env.Graph.Mutate(ctx, q, args, opts)
		return err
	}
	var err error
	if types := deleted(q.Mutation); len(types) > 0 && !k.DryRun {
		what := "run " + q.Name + ", which deletes " + strings.Join(types, ", ") + " from the branch " + opts.Branch
		err = env.Confirmed(ctx, tool.Step{Action: tool.Change, What: what, Branches: []tool.Branch{branch}}, write)
	} else {
		err = write(nil)
	}
	if err != nil {
		return nil, err
	}
	stored := func() []string {
		if change.Nodes == 0 && change.Edges == 0 && env.MayRead() {
			at := branch.At()
			at.Now = env.Now
			return notes.ForIdle(ctx, env.Graph, q, args, at)
		}
		return notes.Replaced(&change, k.DryRun)
	}
	return &tool.Outcome{Change: &tool.ChangeOutcome{Columns: q.Mutation.Returns, Query: q.Name, Branch: branch, Change: change, DryRun: k.DryRun, Notes: k.Notes(), StoredNotes: stored}}, nil
}

// deleted returns the types of which a mutation deletes entities, each once, in the order of the
// statements.
func deleted(m *plan.Mutation) []string {
	var types []string
	m.Walk(func(s plan.Statement) {
		if d, ok := s.(plan.Delete); ok && !slices.Contains(types, d.Type) {
			types = append(types, d.Type)
		}
	})
	return types
}

// OptionNames are the members of the arguments of a stored query other than params.
var OptionNames = []string{"branch", "snapshot", "page_token", "dry_run", "idempotency_key", "if_commit", "message"}

// misplaced improves the help of an error for the two most common mistakes: a parameter outside
// params, and a run option inside it.
func misplaced(e *tool.ArgumentError, q *plan.Query) *tool.ArgumentError {
	for _, f := range append([]*tool.ArgumentError{e}, e.Also...) {
		inside, in := strings.CutPrefix(f.Path, "params.")
		switch {
		case in && slices.Contains(OptionNames, inside) && !isParam(q, inside):
			f.Help = `put it next to "params", not inside`
		case f.Path != "params" && !slices.Contains(OptionNames, f.Path) && isParam(q, f.Path):
			f.Help = `put it inside "params"`
		}
	}
	return e
}

// isParam reports whether the query has a parameter with the name.
func isParam(q *plan.Query, name string) bool {
	return slices.ContainsFunc(q.Declared(), func(p plan.Param) bool { return p.Name == name })
}

// LogArguments returns the arguments of the call for the log.
func (c *Call) LogArguments() [][]byte {
	d := pagetoken.ArgsDigest(c.Args)
	return [][]byte{d[:]}
}

// LogUses returns what the query uses of the schema, for the audit trail.
func (c *Call) LogUses() []plan.Use { return c.Query.Plan().Uses }

// LogValues returns the arguments as text, by the name of the parameter, for an audit trail with values.
func (c *Call) LogValues() any {
	values := map[string]any{}
	for i, p := range c.Query.Plan().Params {
		if i < len(c.Args) && !c.Args[i].IsNull() {
			values[p.Name] = textOf(c.Args[i])
		}
	}
	return values
}

// textOf returns a value as text, or a list as texts.
func textOf(v value.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind() == value.Vector:
		return v.Vector()
	case !v.IsList():
		return string(value.AppendText(nil, v))
	}
	texts := []any{}
	for _, e := range v.Elems() {
		texts = append(texts, textOf(e))
	}
	return texts
}

// LogKey returns the idempotency key for the log.
func (c *Call) LogKey() string { return c.Options.IdempotencyKey }
