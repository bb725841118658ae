// Package engine is the contract between a graph and its callers: the operations of a graph, their
// results and their errors. An engine implements [Graph], and [Engine] to open graphs; package
// embedded is the default one. Package enginetest tests an engine against this contract.
package engine

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// MainBranch is the branch that every graph has.
const MainBranch = "main"

// Graph is one graph. All methods may be called concurrently. If the context of a call ends, the
// method stops and returns the error of that context.
type Graph interface {
	Reader
	History
	Writer
	Branching
	Review
	Condition
}

// Reader is the part of a [Graph] that reads the states of a graph.
type Reader interface {
	// Schema returns the schema in force at the target.
	Schema(ctx context.Context, at Target) (*Schema, error)

	// Snapshot returns the commit that a target resolves to and the number of entities in it.
	Snapshot(ctx context.Context, at Target) (*Snapshot, error)

	// Bind checks that a plan fits the schema at the target, without running it. The error is a
	// *SchemaMismatch that lists the parts that do not fit.
	Bind(ctx context.Context, q *plan.Query, at Target) error

	// Query runs a read on one immutable snapshot of the target. The caller closes the result. An
	// engine may keep data that it derives from q for as long as q lives, so q must not change
	// after its first use.
	Query(ctx context.Context, q *plan.Query, args Args, at Target) (Result, error)

	// Explain describes how the engine would run a query on the target: the operators that it has
	// chosen, and the number of rows that it expects from each. If `analyze` is true, Explain also
	// runs the read on one snapshot and reports the actual row counts and times. It then needs the
	// arguments that Query needs. If `analyze` is false, it ignores `args`. Analyzing a mutation
	// would mean writing, so the error is a *BadArgument.
	Explain(ctx context.Context, q *plan.Query, args Args, at Target, analyze bool) (*Explanation, error)

	// Export writes the entities at the target, with their ids, as NDJSON that Load accepts. Nodes
	// come before edges. Nodes and edges are each ordered by type, in schema order, and then by id.
	// Loading the output into an empty graph with the same schema makes an equal graph. Export
	// returns the commit that it read.
	Export(ctx context.Context, w io.Writer, at Target, opts ExportOptions) (Commit, error)
}

// History is the part of a [Graph] that reads what happened to a graph.
type History interface {
	// Commits lists the commits of a branch, newest first: its head, the head's first parent, and
	// so on. Their sequence numbers descend without a gap.
	Commits(ctx context.Context, branch string, r CommitRange) ([]Commit, error)

	// Commit returns the commit with the given id, on any branch.
	Commit(ctx context.Context, id string) (Commit, error)

	// Changes lists the differences between a commit and its first parent, in an order that is
	// always the same. The commit must be an ancestor of the head of a live branch. The error is a
	// *NotFound if the commit or its parent cannot be read any more. If a cleanup is the reason,
	// the field Reclaimed of the error is set. The field Name is then the id of the unreadable
	// commit, or of the earlier one if both are unreadable.
	Changes(ctx context.Context, commit string, r ChangeRange) (*Changes, error)
}

// Writer is the part of a [Graph] that changes the data and the schema of a graph.
type Writer interface {
	// Mutate runs a mutation as one commit. It makes no commit if the mutation changes nothing.
	Mutate(ctx context.Context, q *plan.Query, args Args, opts WriteOptions) (Change, error)

	// Load reads NDJSON and applies it as one commit. If any line is bad, Load applies nothing and
	// the error is a *LoadErrors.
	Load(ctx context.Context, r io.Reader, opts LoadOptions) (*LoadResult, error)

	// ApplySchema puts a schema in force on a branch, as one commit, and migrates the stored data.
	// A type or property that keeps its name, or is renamed with @rename_from, keeps its values.
	// The argument `source` is stored as the text of the schema and never parsed; a difference in
	// `source` alone is also a change. The error is an *UnsupportedMigration, a *DataLoss, or a
	// *ConstraintViolations if stored data breaks a rule of the schema. A dry run reports all
	// steps. The only one of these errors that a dry run can return is a *ConstraintViolations.
	ApplySchema(ctx context.Context, source string, schema *catalog.Schema, opts SchemaOptions) (*SchemaChange, error)

	// Cleanup makes old commits unreadable and reclaims the data that only they need. It always
	// keeps the heads of branches and the merge base of every two branches. Commits and Commit
	// still list a commit that was cleaned up, but reading its state fails with a *NotFound. Open
	// results stay readable.
	Cleanup(ctx context.Context, opts CleanupOptions) (*CleanupResult, error)
}

// Branching is the part of a [Graph] that makes, compares and merges branches.
type Branching interface {
	// Branches lists the branches in name order.
	Branches(ctx context.Context) ([]Branch, error)

	// CreateBranch makes a branch. The head of the new branch is the commit of the target. The
	// branch shares all of its data with its origin. If the name is not valid (see
	// [CheckBranchName]), the error is a *BadArgument. If the branch exists, the error is a
	// *Conflict. The error is a *NotFound if the target does not exist, or if a cleanup has
	// reclaimed the merge base of the new branch and another branch.
	CreateBranch(ctx context.Context, name string, from Target) (Branch, error)

	// DeleteBranch removes a branch. Data that other branches also use stays. The error is a
	// *Conflict if the branch is main.
	DeleteBranch(ctx context.Context, name string) error

	// DeleteBranchAt is like DeleteBranch, for a caller that has seen the head of the branch. If
	// another commit is now the head, the error is a *PreconditionFailed. So the call does not
	// delete writes that the caller has not seen.
	DeleteBranchAt(ctx context.Context, name, head string) error

	// Merge applies the changes of the source branch to the target, as one commit with two parents.
	// These are the changes since the lowest common ancestor of the two branches. If there are
	// several lowest common ancestors, Merge uses the one with the greatest id. It matches entities
	// by type and id and merges them property by property.
	//
	// If the schemas of the two branches differ, one must descend from the other and becomes the
	// schema of the outcome. Merge first migrates the other side and the ancestor to that schema;
	// this removes the types and properties that the schema has dropped. If the other side changed
	// an entity of a dropped type, the entity is a DeleteVsUpdate conflict.
	//
	// The error is a *MergeConflicts that lists all conflicts, a *SchemasDiverge, or a *BadArgument
	// if source and target are the same branch. If a merge with the same idempotency key has
	// committed, Merge returns its outcome even if the source no longer exists.
	Merge(ctx context.Context, source, target string, opts MergeOptions) (*MergeResult, error)

	// Compare compares two states as a merge of the first into the second would: it reports the
	// changes since their merge base, and the conflicts that the resolutions do not resolve. It
	// changes nothing. The error is a *SchemasDiverge, a *BadArgument for a resolution that does not
	// fit the schema or for an entity of opts.Shown that the caller does not see (parameter on), or a *NotFound.
	Compare(ctx context.Context, source, target Target, opts CompareOptions) (*Comparison, error)

	// Preview computes the state that a merge of the first target into the second one would commit,
	// and commits nothing. The resolutions resolve conflicts of the merge. The errors are those of
	// Compare, and a *MergeConflicts that lists the conflicts without a resolution.
	Preview(ctx context.Context, source, target Target, resolutions []Resolution) (Preview, error)
}

// Review is the part of a [Graph] that keeps proposals, drafts and watches.
type Review interface {
	// Proposals lists proposals, newest first.
	Proposals(ctx context.Context, r ProposalRange) ([]Proposal, error)

	// Proposal returns the proposal with the given id. It sees every version of it that a call had begun to
	// store, or waits for it: once a reader sees the commit of a merge, the proposal is merged.
	Proposal(ctx context.Context, id string) (*Proposal, error)

	// PutProposal stores a proposal and returns the stored version. If p.ID is empty, it opens a
	// new proposal; the error is a *Conflict if an open proposal has the same source and target. If
	// p.ID is set, it changes an open proposal or closes it; the error is a *Conflict unless
	// p.Revision is the stored revision. PutProposal sets the revision, the commits, the ids of new
	// events, and the times of events without one. It never changes Source, Target and Author. Only Merge makes a
	// proposal of a branch merged; PutProposal makes one of a query merged. If [MaxOpenProposals] or [MaxProposalBytes] is exceeded, the error is a
	// *TooLarge.
	//
	// DeleteBranch refuses the source and the target of an open proposal with a *Conflict.
	PutProposal(ctx context.Context, p Proposal) (*Proposal, error)

	// ProposalEvents lists the events of all proposals in the order in which they were stored. An
	// event that is added later comes after all events of earlier answers, also after the graph was
	// opened again, copied, or taken over by another server. The error is a *NotFound if the graph
	// never had the event r.After, and an *EventsReclaimed if a cleanup removed a later event.
	ProposalEvents(ctx context.Context, r EventRange) (*EventPage, error)

	// Drafts lists drafts in the order in which they were opened.
	Drafts(ctx context.Context, r DraftRange) ([]Draft, error)

	// Draft returns the draft with the given id, which may have ended.
	Draft(ctx context.Context, id string) (*Draft, error)

	// OpenDraft returns the open draft with the given owner and name, or makes a draft and its branch
	// if there is none; `made` reports whether it did. The error is a *TooLarge if the owner has
	// NewDraft.Max drafts already, and a *BadArgument if the name is not valid (see
	// [CheckDraftName]).
	//
	// Merge ends a draft that is its source. If the draft is the source of an open proposal other
	// than the merged one, the error of Merge is a *Conflict. DeleteBranch ends a draft too, and
	// refuses one under an open proposal. After the end of a draft, its branch is not listed, and
	// calls about the branch get a *DraftClosed. Only a repeated write with an idempotency key still
	// gets its first outcome.
	OpenDraft(ctx context.Context, n NewDraft) (d *Draft, made bool, err error)

	// EndDraft ends an open draft. The error is a *DraftClosed if the draft has ended already, and a
	// *Conflict if an open proposal needs it.
	EndDraft(ctx context.Context, id string, end DraftEnd) error

	// Watches lists watches in the order in which they were made.
	Watches(ctx context.Context, r WatchRange) ([]Watch, error)

	// CreateWatch stores a new watch and returns it with its id and time. It does not look at the query. The
	// error is a *NotFound if the branch does not exist, and a *TooLarge if the owner has `most` watches
	// already (0 for no limit) or the arguments or the state exceed [MaxWatchBytes].
	CreateWatch(ctx context.Context, w Watch, most int) (*Watch, error)

	// ChangeWatch replaces the state of a watch by what `change` returns for it. Nothing changes the watch meanwhile, and `change`
	// must not call the graph. A nil state is none. ChangeWatch writes nothing if the state stays the same or `change` returns an
	// error, which it returns. The error is a *NotFound if there is no such watch, and a *TooLarge if the state exceeds
	// [MaxWatchBytes].
	ChangeWatch(ctx context.Context, id string, change func(state []byte) ([]byte, error)) error

	// DeleteWatch deletes a watch. The error is a *NotFound if there is no such watch.
	DeleteWatch(ctx context.Context, id string) error
}

// Condition is the part of a [Graph] that tells and ends the condition of a graph.
type Condition interface {
	// Verify reads all stored data and checks it. The error joins a *Corrupt for each fault. The
	// error is an *Unsupported if the engine stores nothing.
	Verify(ctx context.Context) error

	// Stats returns figures for monitoring, also after Close. It is cheap enough to call every few
	// seconds.
	Stats() Stats

	// Failure returns nil while the graph accepts writes, and otherwise the *Unavailable that
	// writes get. It is cheap enough to call every second.
	Failure() error

	// MustReopen reports whether the graph refuses writes until it is closed and opened again. It
	// is false if Failure returns nil, and if the graph recovers by itself.
	MustReopen() bool

	// Close waits for the calls in progress and releases the graph.
	Close() error
}

// Args are the arguments of a query, by position in its Params. The value of an optional parameter
// that the caller leaves out is null. Values must be of the declared kinds.
type Args []value.Value

// Target selects the state of the graph that a call reads. The zero Target is the head of main.
type Target struct {
	Branch string // empty for main
	Commit string // commit id, instead of a branch head; an ancestor of a live branch's head
	// AtLeast, if not empty, is a commit that the branch must have reached, such as the caller's
	// own last write. The error is a *NotFound if it is not a commit of the branch.
	AtLeast string
	// AsOf, if not zero, selects an earlier state: that of the last commit at or before this instant among the
	// branch's head or the commit, its first parent, the first parent of that, and so on. A commit in flight
	// with such a time is awaited. The error is a *BadArgument for an instant in the future, and a
	// *NotFound if there was no commit yet. Only calls that read take it.
	AsOf time.Time
	// Now, if not zero, is the instant that now() returns in a read; otherwise now() reads the
	// clock. A read of one commit at one instant always returns the same rows in the same order.
	Now time.Time
	// Rights restrict what Snapshot, Bind, Query, Explain and Export see. The other methods ignore them. A plan that names a property
	// that is not allowed does not fit the schema. On a branch other
	// than main, an entity must also pass its filters in the head of main, and in the merge base of the branch and main, wherever it
	// exists there; in an earlier state, also in the head of main.
	Rights *Rights
	// Schema, if not empty, is the digest that the schema of the target must have; otherwise the error of Bind, Query and Explain is a
	// *SchemaMismatch. A plan binds by names, which can mean something else in another schema.
	Schema string
}

// Schema is a schema with its source.
type Schema struct {
	Source  string          // the .pg text
	Catalog *catalog.Schema // the resolved types and rules
	Digest  string          // "sha256:" and hex digits; does not depend on layout or comments
}

// Commit is one published change of a graph.
type Commit struct {
	ID      string    // a ULID
	Seq     uint64    // contiguous per branch, from 1; Seq alone orders commits
	Branch  string    // the branch it was made on
	Parents []string  // none for the first commit; two for a merge, the branch's own first
	Actor   string    // the actor who made it, with the agents that acted for it, see SplitActor; empty if the caller gave none
	Time    time.Time // with a precision of microseconds
	Schema  string    // digest of the schema in force after it
	Message string    // what its author says about it, see CheckMessage; empty for none
}

// Branch is a named pointer to a commit, its head.
type Branch struct {
	Name string // name of the branch
	Head Commit // the commit that it points to
}

// Snapshot describes one state of a graph.
type Snapshot struct {
	Commit Commit      // the commit that made the state
	Nodes  []TypeCount // in schema order
	Edges  []TypeCount // in schema order
}

// TypeCount is the number of entities of one type.
type TypeCount struct {
	Type  string // name of the type
	Count int64  // number of entities
}

// WriteOptions say where to write, as which actor, and under which conditions.
type WriteOptions struct {
	Branch string // empty for main
	Actor  string // recorded in the commit
	// Message is recorded in the commit. The error is a *BadArgument if it is not valid, see [CheckMessage].
	Message string

	// IfCommit, if not empty, is the commit that must be the head of the branch; otherwise the
	// error is a *PreconditionFailed.
	IfCommit string
	// IdempotencyKey, if not empty, makes it safe to repeat a call. If a call with the same key,
	// branch and actor committed less than 24 hours ago, the repeated call returns the outcome of
	// that commit and changes nothing. If its statement, arguments or input differ, the error is a
	// *Conflict.
	IdempotencyKey string
	// Statement, if not empty, is the name by which callers of Mutate know the statement. A repeated call is then one with the same
	// name, arguments and columns of the answer, also if the plan is another one by now, for example since a property has another name.
	Statement string
	// DryRun reports what the write would do, and commits nothing.
	DryRun bool
	// Reads and Writes restrict what Mutate and Load may read, and which entities they may change: an entity must be
	// allowed by Writes before the change and after it. Otherwise the error is a *NotAllowed.
	Reads, Writes *Rights
	// Schema, if not empty, is the digest that the schema of the branch must have; otherwise the error of Mutate is a *SchemaMismatch.
	Schema string
}

// Change is the outcome of a mutation.
type Change struct {
	Commit *Commit // nil if nothing changed and in a dry run
	Head   Commit  // the branch head after the call
	Nodes  int64   // nodes inserted, updated or deleted
	Edges  int64   // edges inserted, updated or deleted, cascades included
	// Row is the row that the mutation returns, or nil. It has a value for each column of
	// Mutation.Returns and, for a whole node, one for each field. If the idempotency key shows that
	// the call repeats an earlier one, Row is the row of the earlier call.
	Row []value.Value
	// Effects say in detail what the mutation did. If the call repeats an earlier one, they
	// are those of the earlier call; nil if an older program made it.
	Effects *WriteEffects
}

// LoadMode selects what a load does with entities that exist already.
type LoadMode uint8

// The load modes. Merge replaces whole rows. Append fails with a *KeyConflict if an id exists.
// Overwrite first removes every entity of each type that occurs in the input. Patch sets the
// properties that a line has, clears those that are null there, and keeps the others. Sync does as Patch, and lets go of what
// its source claimed before and lacks now; see [SyncOptions].
//
// Merge, Patch and Sync find the entity that a line means. A node has its key, or the id in the line. An edge has the id
// in the line; else it is the edge with the same values in the first unique constraint of its type that includes src
// and dst and has no null in the line. If there is no such edge, the new one gets the id [DerivedEdgeID], or a ULID if
// another edge has that id. A line that leaves open which entity it means is a fault.
const (
	Merge     LoadMode = iota // replaces the rows of entities that exist
	Append                    // fails if an entity exists
	Overwrite                 // first removes the entities of the types in the input
	Patch                     // changes the properties in the input
	Sync                      // changes the properties in the input, and follows a source
)

// loadModes has the name of each mode.
var loadModes = [...]string{"merge", "append", "overwrite", "patch", "sync"}

// LoadModes lists the names of the modes.
func LoadModes() []string { return slices.Clone(loadModes[:]) }

// String returns merge, append, overwrite, patch or sync.
func (m LoadMode) String() string { return loadModes[m] }

// Finds reports whether the mode finds the entity that a line means, and changes it.
func (m LoadMode) Finds() bool { return m == Merge || m == Patch || m == Sync }

// Patches reports whether an entity keeps the properties that its line leaves out.
func (m LoadMode) Patches() bool { return m == Patch || m == Sync }

// ParseLoadMode returns the mode with the given name, and whether there is one.
func ParseLoadMode(name string) (LoadMode, bool) {
	m := slices.Index(loadModes[:], name)
	return LoadMode(max(m, 0)), m >= 0
}

// LoadOptions say how to load.
type LoadOptions struct {
	WriteOptions
	Mode LoadMode // what to do with entities that exist
	// NewEdges says that in the modes Merge and Patch, an edge without an id whose type has no unique constraint
	// with src and dst is another edge, as in the mode Append. Without it, such a line is a fault.
	NewEdges bool
	// LastWins says that in the modes Merge and Patch, several lines may have the same entity. The last one stands;
	// patches are applied in the order of their lines. Without it, such a line is a fault.
	LastWins bool
	Sync     SyncOptions // in the mode Sync; with Changes, see SyncOptions
	// Changes, if set, says that the lines are changes of another database that the graph follows.
	Changes *SourceChanges
	// Claims, if set, is asked about each source that a line names in its member sources, or whose claim the member takes away. An error is a fault of the line. Several
	// goroutines call it at a time.
	Claims func(source string) error
	// Progress, if set, is called from time to time with the number of lines read so far. Only one
	// goroutine calls it at a time.
	Progress func(lines int64)
}

// SourceChanges describes a load of changes of another database, in the mode Merge or Patch, or of a copy of it, in the mode Sync. The load stores the position up to which
// the branch has the changes of a source, in the same commit as the changes. The position lasts until another load
// moves it. A new branch has no positions.
//
// The lines of the load may do more than those of other loads. An edge with an id may have other ends than the stored
// one; it moves. A line with the member "delete" and the id of an entity, in place of "data", deletes the entity, and
// a node with its edges. A node with the member "was", the id of another node, takes that node's properties and edges, and that
// node is gone. In a load that claims its lines for a source, the delete of an entity only lets it go, as in the mode Sync: an
// entity stays if another source claims it, if no source created it, if the source does not claim it, and if it is a node
// with an edge that another source claims or that no source created. Deletes take effect first, then moves, then the other lines. A delete or a move of an entity that does not exist does nothing.
type SourceChanges struct {
	Source string // name of the source
	// After is the position that the branch must have, or "" for none; otherwise the error is a *Conflict.
	After string
	// Position is the new position; a commit is made if it differs from After, even if no entity changes. If it is empty,
	// the load must have no lines; it only reports the position.
	Position string
}

// CheckChanges returns a *BadArgument if the options of a load do not fit its Changes.
func (o *LoadOptions) CheckChanges() error {
	c := o.Changes
	switch {
	case c == nil:
		return nil
	case c.Source == "" || len(c.Source) > MaxPosition || len(c.Position) > MaxPosition:
		return &BadArgument{Detail: fmt.Sprintf("a source needs a name, and its name and its position are at most %d bytes long", MaxPosition)}
	case !o.Mode.Finds():
		return &BadArgument{Detail: "changes of a source are loaded with the mode merge, patch or sync"}
	case o.Mode == Sync && c.Position == "":
		return &BadArgument{Detail: "a sync of a source that the graph follows needs its new position"}
	case o.IdempotencyKey != "":
		return &BadArgument{Detail: "a load of changes takes no idempotency key; its position shows whether it was made"}
	}
	return nil
}

// MaxPosition is the maximum length of a position, in bytes.
const MaxPosition = 64 << 10

// LoadResult is the outcome of a load. The counts are of entities in the input.
type LoadResult struct {
	Commit *Commit     // nil if nothing changed
	Head   Commit      // head of the branch after the load
	Nodes  []TypeCount // types that occur in the input, in schema order
	Edges  []TypeCount // like Nodes

	// Effects say in detail what the load did. They count each entity that differs from before once, so an
	// entity in the input that is unchanged is in none of the numbers. If the call repeats an earlier one, they are those
	// of the earlier call; nil if an older program made it.
	Effects *WriteEffects
	Sync    *SyncResult // only in the mode Sync

	// Position is the position of the source after the load, if the load has Changes; "" if there is none.
	Position string
}
