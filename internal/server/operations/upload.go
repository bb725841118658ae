package operations

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/tableimport"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Upload is the call that receives data for a later load, or that asks about such data. It changes nothing in the graph.
type Upload struct {
	Branch tool.BranchName // the branch that the data is for
	Do     func(ctx context.Context, env *tool.Env) error
}

// Needs returns the permission that the load will need, so that only those who may load can occupy storage.
func (c *Upload) Needs() []tool.Need {
	return []tool.Need{{Action: tool.Change, Branch: c.Branch, Via: tool.AdHoc}}
}

// NoTimeLimit exempts the call from the time limit: it may take as long as the client needs to send the data.
func (*Upload) NoTimeLimit() {}

// Run receives the data.
func (c *Upload) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	return &tool.Outcome{Value: struct{}{}}, c.Do(ctx, env)
}

// LogArguments returns the arguments of the call for the log.
func (*Upload) LogArguments() [][]byte { return [][]byte{} }

// owned returns a file with the owner of its places.
func owned(f *tableimport.File, env *tool.Env) *tableimport.File {
	of := *f
	of.Owner = env.GraphID + "\x00" + env.Actor
	return &of
}

// InferImport is the call that proposes a map for an uploaded table. Its answer is a client.ImportProposal.
type InferImport struct {
	File   *tableimport.File
	Branch tool.BranchName // the branch whose schema the map is for
}

// NoTimeLimit exempts the call from the time limit, as the import.
func (*InferImport) NoTimeLimit() {}

// Needs returns the permission to read the branch, because the map has names of its schema.
func (c *InferImport) Needs() []tool.Need { return []tool.Need{access.ToRead(c.Branch)} }

// Run reads the table.
func (c *InferImport) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	s, err := env.Graph.Schema(ctx, env.Branch(c.Branch).At())
	if err != nil {
		return nil, err
	}
	a, err := tableimport.Propose(ctx, owned(c.File, env), s.Catalog)
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: a, Less: "import a table with fewer columns"}, nil
}

// LogArguments returns the arguments of the call for the log.
func (c *InferImport) LogArguments() [][]byte { return [][]byte{[]byte(c.File.Name)} }

// Import is the call that imports an uploaded table: a load of the lines that a map makes of it. The time
// limit of calls does not apply: the size of the file and the places for tables bound it, and the end of the request ends it.
type Import struct {
	Load *Load // without data
	File *tableimport.File
	Map  string
	Most int64 // bytes of the lines; 0 for any
}

// NoTimeLimit exempts an import from the time limit, as a load.
func (*Import) NoTimeLimit() {}

// RunOptions returns the options of the call.
func (c *Import) RunOptions() *queryrun.Options { return c.Load.RunOptions() }

// LogKey returns the idempotency key.
func (c *Import) LogKey() string { return c.Load.LogKey() }

// Needs returns the permissions of the load, and that to read the branch: faults of the map tell names of its schema.
func (c *Import) Needs() []tool.Need {
	needs := c.Load.Needs()
	if !c.Load.Options.DryRun { // the dry run of a load needs it already
		needs = append(needs, access.ToRead(c.Load.Branch))
	}
	return needs
}

// Run imports the table as one commit.
func (c *Import) Run(ctx context.Context, env *tool.Env) (out *tool.Outcome, err error) {
	s, err := env.Graph.Schema(ctx, env.Branch(c.Load.Branch).At())
	if err != nil {
		return nil, err
	}
	in, err := tableimport.New(ctx, owned(c.File, env), c.Map, s.Catalog, c.Load.Mode, c.Most)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	load := *c.Load
	load.Data = in
	if out, err = load.Run(ctx, env); err != nil {
		return nil, in.Explain(ctx, err)
	}
	return out, nil
}

// LogArguments returns the arguments of the call for the log.
func (c *Import) LogArguments() [][]byte {
	return append(c.Load.LogArguments(), []byte(c.File.Name), []byte(c.Map))
}
