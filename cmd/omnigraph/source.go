package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

// graphVerbs holds the constructors of the verbs that work on a graph. Each verb's file appends its
// own in init.
var graphVerbs []func() *cobra.Command

// source is the graph that a verb works on: a store in this process, or a graph of a server. Its
// methods return the answers of REST, except that the answers of a store have no URI. Each verb's
// file implements the methods of the verb for both types of source.
type source interface {
	// Query runs a read and returns its envelope.
	Query(ctx context.Context, s *statement) (*client.ReadAnswer, error)
	// QueryArrow runs a read and writes its rows as an Arrow IPC stream.
	QueryArrow(ctx context.Context, s *statement, w io.Writer) error
	// InvokeArrow runs a stored read and writes its rows as an Arrow IPC stream.
	InvokeArrow(ctx context.Context, s *statement, w io.Writer) error
	// Mutate runs a mutation and returns its envelope.
	Mutate(ctx context.Context, s *statement, opts engine.WriteOptions) (*client.MutationAnswer, error)
	// Queries lists the stored queries.
	Queries(ctx context.Context) ([]client.QueryEntry, error)
	// Invoke runs a stored query. The options `opts` apply only to a mutation; the branch of `s`
	// applies to reads and mutations.
	Invoke(ctx context.Context, s *statement, opts engine.WriteOptions) (*client.InvokeAnswer, error)

	Load(ctx context.Context, data *loadData, opts engine.LoadOptions) (*client.LoadAnswer, error)
	Export(ctx context.Context, e *export) (commit string, err error)
	// Blob returns the bytes of a Blob.
	Blob(ctx context.Context, p operations.BlobPlace, at engine.Target) ([]byte, error)

	Schema(ctx context.Context, at engine.Target) (*client.SchemaAnswer, error)
	ApplySchema(ctx context.Context, s *schemaFile, opts engine.SchemaOptions) (*client.SchemaApplied, error)
	Snapshot(ctx context.Context, at engine.Target) (*client.SnapshotAnswer, error)

	Branches(ctx context.Context) ([]client.BranchHead, error)
	CreateBranch(ctx context.Context, name string, from engine.Target) (*client.BranchCreated, error)
	DeleteBranch(ctx context.Context, name string) error
	Commits(ctx context.Context, branch string, r engine.CommitRange) ([]client.CommitAnswer, error)
	Commit(ctx context.Context, id string) (*client.CommitAnswer, error)
	// Changes lists the differences between a commit and its first parent.
	Changes(ctx context.Context, commit string, q client.ChangeQuery) (*client.ChangesAnswer, error)
	// Merge merges a branch, and then deletes it if `remove` is true. If there are conflicts, the
	// error is a *conflicted.
	Merge(ctx context.Context, from, into string, remove bool, opts engine.MergeOptions) (*client.MergeAnswer, error)

	Proposals(ctx context.Context, q client.ProposalQuery) ([]client.ProposalSummary, error)
	Proposal(ctx context.Context, id string) (*client.ProposalAnswer, error)
	// ProposalChanges lists all changes of a proposal.
	ProposalChanges(ctx context.Context, id string, q client.ChangeQuery) (*client.ProposalChanges, error)
	OpenProposal(ctx context.Context, b client.ProposalBody) (*client.ProposalAnswer, error)
	ChangeProposal(ctx context.Context, id string, b client.ProposalChangeBody) (*client.ProposalAnswer, error)
	ReviewProposal(ctx context.Context, id string, b client.ProposalReviewBody) (*client.ProposalAnswer, error)
	// MergeProposal merges a proposal. If there are conflicts, the error is a *conflicted.
	MergeProposal(ctx context.Context, id string, b client.ProposalMergeBody) (*client.ProposalAnswer, error)
	CloseProposal(ctx context.Context, id string, b client.ProposalCloseBody) (*client.ProposalAnswer, error)

	// Checks runs the checks of the graph on the head of a branch.
	Checks(ctx context.Context, branch string) (*client.ChecksAnswer, error)

	// Verify returns the faults of the stored data.
	Verify(ctx context.Context) ([]client.StoredFault, error)

	// Cleanup makes old commits unreadable.
	Cleanup(ctx context.Context, opts engine.CleanupOptions) (*client.CleanedUp, error)

	Close() error
}

// schemaFile is the text of a schema, and the name that faults use for it.
type schemaFile struct{ name, text string }

// rowsReport returns the report of a read.
func rowsReport(a *client.ReadAnswer) *report {
	r := &report{doc: a, columns: make([]column, len(a.Columns)), rows: rowsOf(a.Rows), note: plural(int64(len(a.Rows)), "row")}
	for i, c := range a.Columns {
		r.columns[i].key = c
	}
	if a.Truncated {
		r.note += "; there are more"
	}
	if a.TruncatedBy == "limit" {
		r.note += " beyond the limit of the query"
	}
	for i, note := range a.Notes {
		a.Notes[i] = flagNote(note)
		r.note += "; " + a.Notes[i]
	}
	return r
}

// flagNote returns a note on an answer. If the note names the argument that reads a draft, flagNote
// names the flag instead.
func flagNote(note string) string {
	if name, ok := encoding.DraftOfNote(note); ok {
		return "read from main; you have an open draft: to read it, add --branch " + shellescape.Quote(name)
	}
	return note
}

// mutationReport returns the report of a mutation.
func mutationReport(a *client.MutationAnswer) *report {
	note := ""
	if a.Commit == nil {
		note = "nothing was committed" // also if there are notes
	}
	note = withEffects(note, &a.WriteEffects)
	r := single(a, note, "branch", "query_name", "affected_nodes", "affected_edges", "commit")
	r.objects = r.rows
	r.rows = []any{mutationRow{a, a.Commit.ID()}}
	return r
}

// mutationRow is the table row of a mutation. It shows the id of the commit instead of the whole
// commit.
type mutationRow struct {
	*client.MutationAnswer
	Commit *string `json:"commit"` // id of the commit; null if nothing was committed
}

// invokeReport returns the report of a stored query.
func invokeReport(a *client.InvokeAnswer) *report {
	if a.Read != nil {
		return rowsReport(a.Read)
	}
	return mutationReport(a.Mutation)
}

// commitColumns are the columns of a commit in a table.
var commitColumns = columns("graph_commit_id", "graph_branch", "graph_manifest_version", "created_at", "actor_id", "parent_commit_id", "merged_parent_commit_id")

// graphFlags are the flags of a verb that works on a graph.
type graphFlags struct {
	endpoint
	formatFlags
}

// flags adds the flags to a command.
func (f *graphFlags) flags(cmd *cobra.Command) {
	f.endpoint.flags(cmd)
	f.timeoutFlag(cmd)
	f.formatFlags.flags(cmd)
}

// run opens the graph, calls the function `do`, prints the report that `do` returned and closes the
// graph. It prints the report even if `do` also returns an error.
func (f *graphFlags) run(cmd *cobra.Command, do func(ctx context.Context, s source) (*report, error)) (err error) {
	if err := f.formatFlags.check(); err != nil {
		return err
	}
	ctx, done := f.within(cmd)
	defer func() { err = done(err) }()
	s, err := f.open(cmd)
	if err != nil {
		return err
	}
	r, err := do(ctx, s)
	// Print the report even if closing fails, because it may describe a commit.
	err = errors.Join(err, s.Close())
	if r != nil {
		err = errors.Join(err, f.print(cmd, r))
	}
	return err
}

// open opens the graph that the flags name.
func (e *endpoint) open(cmd *cobra.Command) (source, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	for _, other := range []string{"branch", "from"} {
		if cmd.Flags().Changed("at") && cmd.Flags().Changed(other) {
			return nil, usageError{fmt.Errorf("--%s and --at are both given; choose one", other)}
		}
	}
	if e.server != "" {
		token, err := e.token(cmd.Context(), cmd.ErrOrStderr())
		if err != nil {
			return nil, err
		}
		return newRemote(e, token, cmd.ErrOrStderr())
	}
	ctx := cmd.Context()
	g, err := e.openStore(ctx, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	warn := func(why string, faults error) {
		fmt.Fprintf(cmd.ErrOrStderr(), "omnigraph: %s:\n%s\n", why, printableLines(faults.Error()))
	}
	served, err := e.local(ctx, g, slog.New(slog.DiscardHandler), warn, servedgraph.Limits{Timeout: noTimeLimit}, nil)
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return newLocal(g, served, e.localActor())
}

// noTimeLimit is the time limit of a command on a local graph: in effect, none.
const noTimeLimit = 10 * 365 * 24 * time.Hour

// localActor returns the actor for a local graph.
func (e *endpoint) localActor() *access.Actor {
	a := &access.Actor{ID: e.actor, Source: "local"}
	if a.ID == "" {
		a.ID = localActor
	}
	return a
}
