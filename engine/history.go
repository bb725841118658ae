package engine

import (
	"time"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ChangeKind says what became of an entity.
type ChangeKind uint8

// The kinds of change.
const (
	Inserted ChangeKind = iota
	Updated
	Deleted
)

// String returns inserted, updated or deleted.
func (k ChangeKind) String() string { return [...]string{"inserted", "updated", "deleted"}[k] }

// PropertyChange is a property with another value than before. Of an edge "from" and
// "to" are among them, strings that are the ids of its ends.
type PropertyChange struct {
	Name     string
	Old, New value.Value // null where there was, or is, none
}

// EntityChange is what a commit did to an entity. A deleted entity and one inserted under
// its id are one that is updated.
type EntityChange struct {
	Kind     ChangeKind
	Entity   string // "node" or "edge"
	Type     string
	ID       string
	From, To string // ids of an edge's ends; those that it had, of a deleted one
	// Properties are those with another value, in schema order, then those that only the
	// schema before had; "from" and "to" of an updated edge come first. Of an inserted or
	// a deleted entity they are those that are not null.
	Properties []PropertyChange
}

// Position returns the entity's place in the order of changes.
func (c *EntityChange) Position() ChangePosition {
	return ChangePosition{Entity: c.Entity, Type: c.Type, ID: c.ID}
}

// ChangePosition is a place in the order of the changes of a commit: nodes, then edges,
// each by type in schema order and by id. Types that the commit dropped come last.
type ChangePosition struct {
	Entity string // "node" or "edge"; empty for the place before all
	Type   string
	ID     string
}

// ChangeRange selects changes of a commit.
type ChangeRange struct {
	// After leaves out the changes up to this one. A type that neither the commit nor
	// its first parent has is a *BadArgument.
	After ChangePosition
	// Limit is the most changes to return, 0 for all.
	Limit int
}

// ChangeCounts are numbers of entities of one kind.
type ChangeCounts struct{ Inserted, Updated, Deleted int64 }

// Changes are what a commit changed against its first parent; the first commit of a
// graph, against nothing.
type Changes struct {
	Commit       Commit
	Nodes, Edges ChangeCounts // of all changes, whatever the range
	List         []EntityChange
	More         bool // there are changes behind the last of the list
}

// CleanupOptions say which commits stay readable, beside the heads of branches and the
// merge bases of every two: the zero options keep no other.
type CleanupOptions struct {
	// KeepCommits keeps as many commits of each branch's line, its head among them.
	KeepCommits int
	// Before, if not zero, keeps the commits that are not older.
	Before time.Time
	// DryRun reports what a cleanup would do, and does nothing.
	DryRun bool
}

// CleanupResult says what a cleanup reclaimed.
type CleanupResult struct {
	Commits  int64 // commits that were readable before
	Kept     int64 // commits that still are
	Segments int64 // files removed, less those written; of a dry run those that would be removed
	Bytes    int64 // of these files
}
