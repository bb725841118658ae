package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// graphVerbs holds the constructors of the verbs that work on a graph. Each verb's file appends its
// own in init.
var graphVerbs []func() *cobra.Command

// source is the graph that a verb works on: a graph of a server, or a store in this process. Verbs ask both in the same
// way: with the client of REST, which for a store calls the handler of REST in this process. The answers of a store thus
// have the form of those of a server.
type source struct {
	client *client.Client // sends the requests
	graph  *client.Graph  // the graph of the server or of the store
	store  *store         // the store; nil for a graph of a server
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
var commitColumns = columns("graph_commit_id", "graph_branch", "graph_manifest_version", "created_at", "actor_id", "parent_commit_id", "merged_parent_commit_id", "message")

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
func (f *graphFlags) run(cmd *cobra.Command, do func(ctx context.Context, s *source) (*report, error)) (err error) {
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
func (e *endpoint) open(cmd *cobra.Command) (*source, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	for _, other := range []string{"branch", "from"} {
		if !cmd.Flags().Changed("at") || !cmd.Flags().Changed(other) {
			continue
		}
		if other != "branch" || !tool.IsInstant(cmd.Flags().Lookup("at").Value.String()) {
			return nil, usage.Errorf("--%s and --at are both given; choose one", other)
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
		fmt.Fprintf(cmd.ErrOrStderr(), "omnigraph: %s:\n%s\n", why, terminal.PrintableLines(faults.Error()))
	}
	served, err := e.local(ctx, g, slog.New(slog.DiscardHandler), warn, servedgraph.Limits{Timeout: noTimeLimit}, nil)
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return newLocal(&store{Graph: g, served: served, actor: e.localActor()})
}

// Close closes the store, or the connections to the server.
func (src *source) Close() error {
	src.client.Close()
	if src.store != nil {
		return src.store.Close()
	}
	return nil
}

// noTimeLimit is the time limit of a command on a local graph: in effect, none.
const noTimeLimit = 10 * 365 * 24 * time.Hour

// localActor returns the actor for a local graph.
func (e *endpoint) localActor() *access.Actor {
	a := access.Named(cmp.Or(e.actor, localActor), e.groups)
	a.Source = "local"
	return a
}
