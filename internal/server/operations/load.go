package operations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Load is the call that loads NDJSON.
type Load struct {
	Data io.Reader       // the NDJSON
	Mode engine.LoadMode // what to do with entities that already exist
	// NewEdges, LastWins and Sync are those of [engine.LoadOptions].
	NewEdges, LastWins bool
	Sync               engine.SyncOptions
	Changes            *engine.SourceChanges // see [engine.LoadOptions]; nil for other loads
	Branch             tool.BranchName
	Options            queryrun.Options // such as a dry run
}

// Needs returns the permission to change the branch, and those to load in the name of the sources of the load; a dry run also
// requires permission to read the branch. A load of changes is in the name of the source that claims the entities, and of the one
// whose position it moves.
func (c *Load) Needs() []tool.Need {
	needs := []tool.Need{{Action: tool.Change, Branch: c.Branch, Via: tool.AdHoc}}
	if c.Sync.Source != "" {
		needs = append(needs, tool.Need{Action: tool.LoadSource, Source: c.Sync.Source})
	}
	if c.Changes != nil {
		if name := c.Changes.DefaultClaim(); name != c.Sync.Source {
			needs = append(needs, tool.Need{Action: tool.LoadSource, Source: name})
		}
	}
	return append(needs, access.WantsRead(c.Branch, c.Options.DryRun)...)
}

// claims asks the policy about the sources that lines name, each once.
type claims struct {
	env *tool.Env

	mu      sync.Mutex
	allowed map[string]bool // guarded by mu
	denied  error           // guarded by mu; the first one
}

// ask implements [engine.LoadOptions].Claims.
func (c *claims) ask(source string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.allowed[source] {
		return nil
	}
	if err := c.env.Require(tool.Grant{Action: tool.LoadSource, Source: source}); err != nil {
		c.denied = cmp.Or(c.denied, err)
		return err
	}
	if c.allowed == nil {
		c.allowed = map[string]bool{}
	}
	c.allowed[source] = true
	return nil
}

// RunOptions returns the options of the call.
func (c *Load) RunOptions() *queryrun.Options { return &c.Options }

// Run loads the data as one commit.
func (c *Load) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	return c.run(ctx, env, env.Branch(c.Branch))
}

// run loads the data into a branch.
func (c *Load) run(ctx context.Context, env *tool.Env, branch tool.Branch) (*tool.Outcome, error) {
	if err := c.Options.Check(true, c.Branch); err != nil {
		return nil, err
	}
	opts := c.Options.Write(env, branch)
	var res *engine.LoadResult
	write := func(heads tool.Heads) (err error) {
		opts.IfCommit = heads.Require(0, opts.IfCommit)
		named := claims{env: env}
		res, err = env.Graph.Load(ctx, c.Data, engine.LoadOptions{WriteOptions: opts, Mode: c.Mode, NewEdges: c.NewEdges, LastWins: c.LastWins, Sync: c.Sync, Changes: c.Changes, Claims: named.ask})
		if err != nil && named.denied != nil {
			return named.denied
		}
		return err
	}
	what := ""
	switch {
	case c.Options.DryRun:
	case c.Mode == engine.Overwrite:
		what = "remove all entities of the types in the data from the branch " + opts.Branch + ", and load the data"
	case c.Mode == engine.Sync && c.Sync.ApproveDeletes > 0:
		what = fmt.Sprintf("delete %d entities, which the data of the source %s lack, from the branch %s, and load the data", c.Sync.ApproveDeletes, c.Sync.Source, opts.Branch)
	}
	var err error
	if what != "" {
		err = env.Confirmed(ctx, tool.Step{Action: tool.Change, What: what, Branches: []tool.Branch{branch}}, write)
	} else {
		err = write(nil)
	}
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Load: &tool.LoadOutcome{Branch: branch, Mode: c.Mode, Result: res, DryRun: c.Options.DryRun, Notes: c.Options.Notes()}}, nil
}

// NoTimeLimit exempts a load from the time limit: it may take as long as the client needs to
// send it.
func (c *Load) NoTimeLimit() {}

// LoadFrom is a load into a branch that the call creates if it does not exist. LoadFrom.Needs
// returns the permissions for the load. If Run creates the branch, it also requires those of a
// CreateBranch.
type LoadFrom struct {
	*Load
	From tool.BranchName // the branch that a created branch starts from
}

// Run creates the branch, if the caller has the permission, and loads the data. If the load
// fails, Run deletes the branch that it created. If the branch already exists, Run only
// loads, and the permission to create a branch is not required.
func (c *LoadFrom) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	_, err := env.Graph.Schema(ctx, env.Branch(c.Branch).At())
	var missing *engine.NotFound
	var closed *engine.DraftClosed // the load may repeat one that was made before the draft ended
	switch {
	case err == nil, errors.As(err, &closed):
		return c.Load.Run(ctx, env)
	case !errors.As(err, &missing):
		return nil, err
	}
	branch, err := newBranch("branch", c.Branch)
	if err != nil {
		return nil, err
	}
	from := env.Branch(c.From)
	if err := env.Require(tool.Grant{Action: tool.BranchCreate, Branch: branch}, access.ReadOn(from)); err != nil {
		return nil, err
	}
	// The grants of the load include change on the branch, so the log shows the use of protection_bypass.
	start, _, err := startOfProtected(ctx, env, branch, from.At())
	if err != nil {
		return nil, err
	}
	if c.Options.DryRun {
		return c.dryRun(ctx, env, branch, from)
	}
	made, err := env.Graph.CreateBranch(ctx, branch.Name(), start)
	var exists *engine.Conflict
	switch {
	case errors.As(err, &exists): // somebody created the branch in the meantime
		return c.Load.Run(ctx, env)
	case err != nil:
		return nil, asArgument("branch", err)
	}
	out, err := c.Load.Run(ctx, env)
	if err != nil {
		return nil, deleteCreated(ctx, env.Graph, made, err)
	}
	out.Load.From = &from
	return out, nil
}

// dryRun makes a dry run of the load. It does not create the branch, because others could see
// a branch that exists even for a moment and write to it. It runs the load on From instead,
// which has the data that the new branch would start with.
func (c *LoadFrom) dryRun(ctx context.Context, env *tool.Env, branch, from tool.Branch) (*tool.Outcome, error) {
	if err := engine.CheckBranchName(branch.Name()); err != nil {
		return nil, asArgument("branch", err)
	}
	out, err := c.Load.run(ctx, env, from)
	if err != nil {
		return nil, err
	}
	out.Load.Branch, out.Load.From = branch, &from
	return out, nil
}

// deleteCreated deletes the branch that a load created before it failed with err. It keeps the
// branch if the outcome of the load is unknown or if somebody has written to the branch
// since.
func deleteCreated(ctx context.Context, g engine.Graph, made engine.Branch, err error) error {
	var unsure *engine.Indeterminate
	if errors.As(err, &unsure) {
		return err
	}
	fault := g.DeleteBranchAt(context.WithoutCancel(ctx), made.Name, made.Head.ID)
	var written *engine.PreconditionFailed
	var missing *engine.NotFound
	if errors.As(fault, &written) || errors.As(fault, &missing) {
		return err
	}
	return errors.Join(err, fault)
}

// LogArguments returns the arguments of the call for the log.
func (c *Load) LogArguments() [][]byte { return [][]byte{[]byte(c.Mode.String())} }

// LogArguments returns the arguments of the call for the log.
func (c *LoadFrom) LogArguments() [][]byte {
	return [][]byte{[]byte(c.Mode.String()), []byte(c.From)}
}

// LogKey returns the idempotency key for the log.
func (c *Load) LogKey() string { return c.Options.IdempotencyKey }

// TeeData copies the data to w as the engine reads it.
func (c *Load) TeeData(w io.Writer) {
	if c.Data != nil {
		c.Data = io.TeeReader(c.Data, w)
	}
}
