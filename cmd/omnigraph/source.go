package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
	"github.com/omnigraph-go/omnigraph/server/access"
	"github.com/omnigraph-go/omnigraph/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/operations"
	"github.com/omnigraph-go/omnigraph/server/servedgraph"
)

// source is the graph that a verb works on: a store in this process, or a graph of a server. The
// returned values use the names of the REST interface.
type source interface {
	// Query runs a read and returns its envelope.
	Query(ctx context.Context, s *statement) (*rowsAnswer, error)
	// Mutate runs a mutation and returns its envelope.
	Mutate(ctx context.Context, s *statement, opts engine.WriteOptions) (*changeAnswer, error)
	// Queries lists the stored queries.
	Queries(ctx context.Context) ([]queryAnswer, error)
	// Invoke runs a stored query. It returns one envelope: the first for a read, the second for a
	// mutation. The options apply only to a mutation; the branch of s applies to both.
	Invoke(ctx context.Context, s *statement, opts engine.WriteOptions) (*rowsAnswer, *changeAnswer, error)

	Load(ctx context.Context, data *loadData, opts engine.LoadOptions) (*encoding.LoadAnswer, error)
	Export(ctx context.Context, e *export) (commit string, err error)
	// Blob returns the bytes of a Blob.
	Blob(ctx context.Context, p operations.BlobPlace, at engine.Target) ([]byte, error)

	Schema(ctx context.Context, at engine.Target) (*schemaAnswer, error)
	ApplySchema(ctx context.Context, s *schemaFile, opts engine.SchemaOptions) (*schemaChange, error)
	Snapshot(ctx context.Context, at engine.Target) (*snapshotAnswer, error)

	Branches(ctx context.Context) ([]branchAnswer, error)
	CreateBranch(ctx context.Context, name string, from engine.Target) (*branchCreated, error)
	DeleteBranch(ctx context.Context, name string) error
	Commits(ctx context.Context, branch string, r engine.CommitRange) ([]commitAnswer, error)
	Commit(ctx context.Context, id string) (*commitAnswer, error)
	// Changes lists the differences between a commit and its first parent.
	Changes(ctx context.Context, commit string, r engine.ChangeRange) (*changesAnswer, error)
	// Merge merges a branch, and then deletes it if remove is true. If there are conflicts, the
	// error is a *conflicted.
	Merge(ctx context.Context, from, into string, remove bool, opts engine.MergeOptions) (*mergeAnswer, error)

	// Verify returns the faults of the stored data.
	Verify(ctx context.Context) ([]operations.StoredFault, error)

	// Cleanup makes old commits unreadable.
	Cleanup(ctx context.Context, opts engine.CleanupOptions) (*cleanupAnswer, error)

	Close() error
}

// schemaFile is the text of a schema, and the name that faults use for it.
type schemaFile struct{ name, text string }

// rowsAnswer is the envelope of a read.
type rowsAnswer struct {
	// raw is the envelope as received. The members of its rows are in the order of the columns.
	raw json.RawMessage

	QueryName     string            `json:"query_name"`
	Target        json.RawMessage   `json:"target"`
	Columns       []string          `json:"columns"`
	Rows          []json.RawMessage `json:"rows"`
	RowCount      int64             `json:"row_count"`
	GraphCommitID string            `json:"graph_commit_id"`
	Truncated     bool              `json:"truncated,omitempty"`
	TruncatedBy   string            `json:"truncated_by,omitempty"`
	NextPageToken string            `json:"next_page_token,omitempty"`
}

func (a *rowsAnswer) report() *report {
	r := &report{doc: a.raw, columns: make([]column, len(a.Columns)), rows: rowsOf(a.Rows), note: plural(int64(len(a.Rows)), "row")}
	for i, c := range a.Columns {
		r.columns[i].key = c
	}
	if a.Truncated {
		r.note += ", and there are more"
	}
	return r
}

// changeAnswer is the envelope of a mutation.
type changeAnswer struct {
	Branch        string  `json:"branch"`
	QueryName     string  `json:"query_name"`
	AffectedNodes int64   `json:"affected_nodes"`
	AffectedEdges int64   `json:"affected_edges"`
	ActorID       *string `json:"actor_id"`
	Commit        *string `json:"commit"`
	DryRun        bool    `json:"dry_run,omitempty"`
}

func (a *changeAnswer) report() *report {
	note := ""
	if a.Commit == nil {
		note = "nothing was committed"
	}
	return single(a, note, "branch", "query_name", "affected_nodes", "affected_edges", "commit")
}

type queryAnswer struct {
	Name        string        `json:"name"`
	ToolName    string        `json:"tool_name"`
	Description string        `json:"description,omitempty"`
	Instruction string        `json:"instruction,omitempty"`
	Mutation    bool          `json:"mutation"`
	Params      []paramAnswer `json:"params"`
}

type schemaAnswer struct {
	SchemaSource string `json:"schema_source"`
}

// schemaChange describes a change of a schema, applied or planned.
type schemaChange struct {
	Supported   bool         `json:"supported"`
	Applied     bool         `json:"applied"`
	Destructive bool         `json:"destructive"`
	StepCount   int          `json:"step_count"`
	Steps       []stepAnswer `json:"steps"`
	Digest      string       `json:"digest"` // identifies the change
	Commit      *string      `json:"commit"`
}

type stepAnswer struct {
	Code        string `json:"code"`
	Step        string `json:"step"`
	Destructive bool   `json:"destructive"`
	Reason      string `json:"reason,omitempty"` // why the step is not supported
}

type snapshotAnswer struct {
	GraphBranch   string          `json:"graph_branch"`
	GraphCommitID string          `json:"graph_commit_id"`
	SchemaDigest  string          `json:"schema_digest"`
	Datasets      []datasetAnswer `json:"datasets"`
}

type datasetAnswer struct {
	TypeName    string `json:"type_name"`
	EntityKind  string `json:"entity_kind"`
	EntityCount int64  `json:"entity_count"`
}

// branchAnswer is a branch with its head. The head is null if the actor may not read the branch.
type branchAnswer struct {
	Name          string  `json:"name"`
	GraphCommitID *string `json:"graph_commit_id"`
	ActorID       *string `json:"actor_id"`
	CreatedAt     *int64  `json:"created_at"` // Unix microseconds
}

// branchCreated describes a new branch.
type branchCreated struct {
	Name    string  `json:"name"`
	From    string  `json:"from"`
	Commit  string  `json:"commit"` // the commit at which it starts
	ActorID *string `json:"actor_id"`
}

// commitAnswer is the JSON form of a commit.
type commitAnswer struct {
	GraphCommitID        string  `json:"graph_commit_id"`
	GraphBranch          string  `json:"graph_branch"`
	GraphManifestVersion uint64  `json:"graph_manifest_version"`
	ParentCommitID       *string `json:"parent_commit_id"`
	MergedParentCommitID *string `json:"merged_parent_commit_id"`
	ActorID              *string `json:"actor_id"`
	CreatedAt            int64   `json:"created_at"` // Unix microseconds
}

// commitColumns are the columns of a commit in a table.
var commitColumns = columns("graph_commit_id", "graph_branch", "graph_manifest_version", "created_at", "actor_id", "parent_commit_id", "merged_parent_commit_id")

// changesAnswer lists the changes of a commit.
type changesAnswer struct {
	GraphCommitID string         `json:"graph_commit_id"`
	Nodes         changeCounts   `json:"nodes"`
	Edges         changeCounts   `json:"edges"`
	Changes       []entityChange `json:"changes"`
	More          bool           `json:"more"` // there are changes after the last one
}

type changeCounts struct {
	Inserted int64 `json:"inserted"`
	Updated  int64 `json:"updated"`
	Deleted  int64 `json:"deleted"`
}

type entityChange struct {
	Kind       string           `json:"kind"` // inserted, updated or deleted
	EntityKind string           `json:"entity_kind"`
	TypeName   string           `json:"type_name"`
	ID         string           `json:"id"`
	From       string           `json:"from,omitempty"` // start of an edge
	To         string           `json:"to,omitempty"`
	Properties []propertyChange `json:"properties"`
}

type propertyChange struct {
	Name string          `json:"name"`
	Old  json.RawMessage `json:"old"`
	New  json.RawMessage `json:"new"`
}

type cleanupAnswer struct {
	CommitsReclaimed int64 `json:"commits_reclaimed"` // number of commits that became unreadable
	CommitsKept      int64 `json:"commits_kept"`
	FilesRemoved     int64 `json:"files_removed"`
	BytesFreed       int64 `json:"bytes_freed"`
	DryRun           bool  `json:"dry_run"`
}

type mergeAnswer struct {
	Source        string `json:"source"`
	Target        string `json:"target"`
	Outcome       string `json:"outcome"`
	AffectedNodes int64  `json:"affected_nodes"`
	AffectedEdges int64  `json:"affected_edges"`
	BranchDeleted bool   `json:"branch_deleted"`
	// BranchDeleteError says why the source branch still exists after it was merged.
	BranchDeleteError *string `json:"branch_delete_error"`
	Commit            *string `json:"commit"`
	ActorID           *string `json:"actor_id"`
	DryRun            bool    `json:"dry_run,omitempty"`
}

// graphFlags are the flags of a verb that works on a graph.
type graphFlags struct {
	endpoint
	formatFlags
}

func (f *graphFlags) flags(cmd *cobra.Command) {
	f.endpoint.flags(cmd)
	f.timeoutFlag(cmd)
	f.formatFlags.flags(cmd)
}

// run opens the graph, calls do, prints its report and closes the graph. It prints the report even
// if do also returns an error.
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
		token, err := e.token()
		if err != nil {
			return nil, err
		}
		return newRemote(e, token, cmd.ErrOrStderr()), nil
	}
	ctx := cmd.Context()
	g, err := openStore(ctx, e.store)
	if err != nil {
		return nil, err
	}
	served, err := e.local(ctx, g, slog.New(slog.DiscardHandler), servedgraph.Limits{Timeout: unhurried})
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return &local{Graph: g, served: served, actor: e.localActor()}, nil
}

// unhurried is the time limit of a command on a local graph: in effect, none.
const unhurried = 10 * 365 * 24 * time.Hour

// openStore opens a local graph.
func openStore(ctx context.Context, dir string) (*embedded.Graph, error) {
	g, err := embedded.Open(ctx, fs.OS(), dir, embedded.Options{})
	var missing *engine.NotFound
	if errors.As(err, &missing) {
		err = fmt.Errorf("%w; make it with: omnigraph init --schema FILE --store %s", err, shellescape.Quote(dir))
	}
	return g, err
}

func (e *endpoint) localActor() *access.Actor {
	a := &access.Actor{ID: e.actor, Source: "local"}
	if a.ID == "" {
		a.ID = localActor
	}
	return a
}
