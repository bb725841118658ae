// Package engine is the contract between a graph and whoever uses it: what can be
// asked of a graph, what comes back, and how it fails. An engine is an
// implementation of [Graph]; package embedded is the default one.
package engine

import (
	"context"
	"io"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// MainBranch is the branch that every graph has.
const MainBranch = "main"

// Graph is one graph. All methods may be called concurrently. Every method stops
// with the context's error when the context ends.
type Graph interface {
	// Schema returns the schema in force at the target.
	Schema(ctx context.Context, at Target) (*Schema, error)

	// Snapshot says which commit a target is and how many entities it has.
	Snapshot(ctx context.Context, at Target) (*Snapshot, error)

	// Branches lists the branches in name order.
	Branches(ctx context.Context) ([]Branch, error)

	// CreateBranch makes a branch whose head is the target's commit. It shares all that
	// it holds with its origin. The error is a *BadArgument for the name (see
	// [CheckBranchName]), a *Conflict when the branch exists, a *NotFound for the
	// target, or for its merge base with another branch if a cleanup has reclaimed that.
	CreateBranch(ctx context.Context, name string, from Target) (Branch, error)

	// DeleteBranch removes a branch, and nothing that others share. Of main the error
	// is a *Conflict.
	DeleteBranch(ctx context.Context, name string) error

	// DeleteBranchAt is DeleteBranch for a caller that has seen the head of the branch:
	// when it is another commit by now the error is a *PreconditionFailed, so that nothing
	// goes with the branch that was written to it meanwhile.
	DeleteBranchAt(ctx context.Context, name, head string) error

	// Commits lists the commits of a branch, newest first: its head, the head's first
	// parent, and so on. Their sequence numbers descend without a gap.
	Commits(ctx context.Context, branch string, r CommitRange) ([]Commit, error)

	// Commit returns the commit with an id, on whichever branch it was made.
	Commit(ctx context.Context, id string) (Commit, error)

	// Changes lists what a commit that is an ancestor of a live branch changed against its
	// first parent, in an order that does not change. The error is a *NotFound when one of
	// the two is not readable any more.
	Changes(ctx context.Context, commit string, r ChangeRange) (*Changes, error)

	// Cleanup makes commits of the past unreadable and reclaims what only they need:
	// never the head of a branch, nor the merge base of two. They are still listed; to
	// read one is a *NotFound for its state. Results that are open stay readable.
	Cleanup(ctx context.Context, opts CleanupOptions) (*CleanupResult, error)

	// Merge brings what the source branch changed since its lowest common ancestor with
	// the target into the target, as one commit with two parents. Of several such
	// ancestors, the one with the greatest id counts. Entities are matched by type and
	// id and merged property by property. Of the two schemas, if they differ, one has to
	// descend from the other, and is the outcome's: the other side and the ancestor are
	// first brought along to it, and lose what it has dropped. An entity that the other
	// side changed and whose type is dropped is a DeleteVsUpdate. The error is a
	// *MergeConflicts with every conflict there is, a *SchemasDiverge, a *BadArgument when
	// source and target are one. A merge that was made under its idempotency key is
	// answered also when the source is there no more.
	Merge(ctx context.Context, source, target string, opts MergeOptions) (*MergeResult, error)

	// ApplySchema makes a schema the one in force on a branch, as one commit, and brings
	// the stored data along: what has the same name, or is renamed with @rename_from,
	// keeps its values. source is kept as the schema's text and never parsed; when it is
	// all that differs it is a change too. The error is an *UnsupportedMigration, a
	// *DataLoss, or a *ConstraintViolations when stored data breaks a rule of the
	// schema. A dry run reports all steps, and fails only for violations.
	ApplySchema(ctx context.Context, source string, schema *catalog.Schema, opts SchemaOptions) (*SchemaChange, error)

	// Bind checks that a plan fits the schema at the target, without running it. The
	// error is a *SchemaMismatch naming what does not fit.
	Bind(ctx context.Context, q *plan.Query, at Target) error

	// Query runs a read on one immutable snapshot of the target. The caller closes
	// the result. An engine may keep what it derives from q for as long as q lives:
	// q must not change after its first use.
	Query(ctx context.Context, q *plan.Query, args Args, at Target) (Result, error)

	// Explain says how a query would be run on the target: the operators that the engine
	// has chosen, and how many rows it expects of each. With analyze it runs the read
	// too, on one snapshot, and says how many rows there were and what they took; then
	// the arguments are those of Query, else they are not looked at. A mutation is not
	// analyzed, since it would have to write: the error is a *BadArgument.
	Explain(ctx context.Context, q *plan.Query, args Args, at Target, analyze bool) (*Explanation, error)

	// Mutate runs a mutation as one commit, or as none when it changes nothing.
	Mutate(ctx context.Context, q *plan.Query, args Args, opts WriteOptions) (Change, error)

	// Load reads NDJSON and applies it as one commit. When any line is bad nothing
	// is loaded and the error is a *LoadErrors.
	Load(ctx context.Context, r io.Reader, opts LoadOptions) (*LoadResult, error)

	// Export writes the entities at the target as NDJSON that a load takes: nodes, then
	// edges, by type in schema order and in id order, each with its id. Loaded into an
	// empty graph of the same schema it makes an equal one. It returns the commit that
	// was read.
	Export(ctx context.Context, w io.Writer, at Target, opts ExportOptions) (Commit, error)

	// Close waits for the calls under way and releases the graph.
	Close() error
}

// Args are the arguments of a query by position in its Params: null for an optional
// parameter that is left out. Values must be of the declared kinds.
type Args []value.Value

// Target says which state of the graph a call is about. The zero Target is the
// head of main.
type Target struct {
	Branch string // empty for main
	Commit string // instead of a branch head, the id of a commit that is an ancestor of a live branch's
	// AtLeast, if not empty, is a commit that the branch has to have reached, such as
	// one's own last write: *NotFound if it is no commit of the branch.
	AtLeast string
	// Now, if not zero, is the instant of now() in a read, instead of the clock's: a read
	// of one commit at one instant always has the same rows in the same order.
	Now time.Time
}

// Schema is a schema with its source.
type Schema struct {
	Source  string // the .pg text
	Catalog *catalog.Schema
	Digest  string // sha256:…, insensitive to layout and comments
}

// Commit is one published change of a graph.
type Commit struct {
	ID      string    // a ULID
	Seq     uint64    // dense per branch, from 1; the order of commits is by Seq alone
	Branch  string    // the branch it was made on
	Parents []string  // none for the first, two for a merge: the branch's own first
	Actor   string    // who made it; empty when nobody was named
	Time    time.Time // in microseconds
	Schema  string    // digest of the schema in force after it
}

// Branch is a named line of commits.
type Branch struct {
	Name string
	Head Commit
}

// Snapshot describes one state of a graph.
type Snapshot struct {
	Commit Commit
	Nodes  []TypeCount // in schema order
	Edges  []TypeCount
}

// TypeCount is the number of entities of one type.
type TypeCount struct {
	Type  string
	Count int64
}

// WriteOptions say where and as whom to write.
type WriteOptions struct {
	Branch string // empty for main
	Actor  string // recorded in the commit

	// IfCommit, if not empty, is the commit that the branch head has to be; the error
	// is a *PreconditionFailed when it is another.
	IfCommit string
	// IdempotencyKey, if not empty, makes a call with the same key, branch and actor
	// within 24 hours return the outcome of the first that committed, and change
	// nothing. With another statement, arguments or input it is a *Conflict.
	IdempotencyKey string
	// DryRun reports what the write would do, and commits nothing.
	DryRun bool
}

// Change is the outcome of a mutation.
type Change struct {
	Commit *Commit // nil when nothing changed, and of a dry run
	Head   Commit  // the branch head afterwards
	Nodes  int64   // nodes inserted, updated or deleted
	Edges  int64   // edges inserted or deleted, cascades included
}

// LoadMode says what a load does with entities that exist.
type LoadMode uint8

// The load modes. Merge replaces whole rows, Append fails on an existing id with a
// *KeyConflict, Overwrite first removes every entity of the types that occur in the
// input.
const (
	Merge LoadMode = iota
	Append
	Overwrite
)

// String returns merge, append or overwrite.
func (m LoadMode) String() string { return [...]string{"merge", "append", "overwrite"}[m] }

// ParseLoadMode returns the mode called name.
func ParseLoadMode(name string) (LoadMode, bool) {
	for m := Merge; m <= Overwrite; m++ {
		if m.String() == name {
			return m, true
		}
	}
	return 0, false
}

// LoadOptions say how to load.
type LoadOptions struct {
	WriteOptions
	Mode LoadMode
	// Progress, if set, is called now and then with the lines read so far, by one goroutine
	// at a time.
	Progress func(lines int64)
}

// LoadResult is the outcome of a load. Counts are of the entities in the input.
type LoadResult struct {
	Commit *Commit // nil when nothing changed
	Head   Commit
	Nodes  []TypeCount // types that occur in the input, in schema order
	Edges  []TypeCount
}
