package engine

import (
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ChangeKind says how an entity changed.
type ChangeKind uint8

// The kinds of change.
const (
	Inserted ChangeKind = iota // the entity is new
	Updated                    // the entity existed and differs
	Deleted                    // the entity is gone
)

// String returns inserted, updated or deleted.
func (k ChangeKind) String() string { return [...]string{"inserted", "updated", "deleted"}[k] }

// PropertyChange is the change of the value of one property. The ends of an edge are reported as
// the properties "from" and "to". The values of both are strings that contain node ids, or for an end at an
// interface records of the node's type and id; see [plan.OfNode].
type PropertyChange struct {
	Name     string      // name of the property
	Old, New value.Value // null if the property has no value in that state
}

// EntityChange is the change that a commit made to one entity. If a commit deletes an entity and
// inserts another with the same type and id, the two count as one update.
type EntityChange struct {
	Kind   ChangeKind // inserted, updated or deleted
	Entity string     // "node" or "edge"
	Type   string     // name of the type
	// TypeID identifies the type in all commits of the graph. It stays the same when the type is
	// renamed. A type that takes the name of a dropped type has another id.
	TypeID   string
	ID       string
	From, To string // ids of an edge's ends; for a deleted edge, the ends that it had
	// FromType and ToType are the types of the nodes at the ends that are interfaces. They are "" for the
	// other ends.
	FromType, ToType string
	// Properties are the properties with changed values, in schema order, followed by the
	// properties that only the previous schema had. For an updated edge, "from" and "to" come
	// first. For an inserted or deleted entity, Properties are all that are not null.
	Properties []PropertyChange
	// Before and After are the whole entity before and after the commit, if ChangeRange.Images asks
	// for them; then Properties is empty. Before is nil for an inserted entity, and After for a
	// deleted one.
	Before, After *Image
}

// Image is an entity in one state.
type Image struct {
	From, To string // ids of an edge's ends
	// FromType and ToType are those of [EntityChange].
	FromType, ToType string
	Properties       []PropertyValue // all properties of the type, in schema order
}

// PropertyValue is a property with its value, which may be null.
type PropertyValue struct {
	Name  string      // name of the property
	Value value.Value // may be null
}

// Position returns the entity's place in the order of changes.
func (c *EntityChange) Position() ChangePosition {
	return ChangePosition{Entity: c.Entity, Type: c.Type, ID: c.ID}
}

// Bytes returns the approximate size of the values of the change.
func (c *EntityChange) Bytes() int {
	n := 0
	for _, p := range c.Properties {
		n += sizeOf(p.Old) + sizeOf(p.New)
	}
	for _, i := range []*Image{c.Before, c.After} {
		if i != nil {
			for _, p := range i.Properties {
				n += sizeOf(p.Value)
			}
		}
	}
	return n
}

// sizeOf returns the approximate size of a value in bytes.
func sizeOf(v value.Value) int {
	const fixed = 8
	switch {
	case v.IsList():
		n := fixed
		for _, e := range v.Elems() {
			n += sizeOf(e)
		}
		return n
	case v.Kind().Storage() == value.InText:
		return fixed + len(v.Str())
	case v.Kind().Storage() == value.InBytes:
		return fixed + len(v.Raw())
	case v.Kind().Storage() == value.InVector:
		return fixed + 4*len(v.Vector())
	}
	return fixed
}

// ChangePosition is a position in the list of changes of a commit. In the list, nodes come before
// edges. Nodes and edges are each ordered by the name of the type and then by id, byte by byte.
type ChangePosition struct {
	Entity string // "node" or "edge"; empty for the position before the first change
	Type   string // name of the type
	ID     string
}

// ChangeRange selects changes of a commit.
type ChangeRange struct {
	// After skips the changes up to and including this position. The error is a *BadArgument if
	// neither the commit nor its first parent has the type.
	After ChangePosition
	// Limit is the maximum number of changes to return; 0 means no limit.
	Limit int
	// MaxBytes limits the total of EntityChange.Bytes. The list ends after the first change with
	// which the total reaches MaxBytes. 0 means no limit.
	MaxBytes int
	// Entities, Types and Kinds select a change if its entity, type and kind are in these lists. An
	// empty list selects all. A type that neither state has selects nothing.
	Entities []string     // "node" or "edge"
	Types    []string     // names as the schema writes them
	Kinds    []ChangeKind // inserted, updated or deleted
	// Uncounted leaves Changes.Nodes and Changes.Edges out. They count all changes of the commit, also those that r does not select.
	Uncounted bool
	// Images asks for EntityChange.Before and EntityChange.After in place of Properties.
	Images bool
	// Rights, for [Graph.Changes], are what the caller may read; nil for everything. The error is a *NotAllowed unless they
	// allow each change of the commit whole.
	Rights *Rights
}

// Selects reports whether r selects changes of the given kind to entities of a type. It does not
// look at After.
func (r *ChangeRange) Selects(entity, typ string, kind ChangeKind) bool {
	in := func(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }
	return in(r.Entities, entity) && in(r.Types, typ) && (len(r.Kinds) == 0 || slices.Contains(r.Kinds, kind))
}

// ChangeCounts are the numbers of changed nodes, or of changed edges, by kind of change.
type ChangeCounts struct{ Inserted, Updated, Deleted int64 }

// Changes are the differences between a commit and its first parent. For the first commit of a
// graph, they are the differences from the empty graph.
type Changes struct {
	Commit       Commit         // the commit with the changes
	Nodes, Edges ChangeCounts   // counts of all changes, regardless of the range
	List         []EntityChange // changes in the range, in order of position
	More         bool           // the range selects changes after the last of List
}

// CleanupOptions select the commits that stay readable in addition to the heads of branches and the
// merge base of every two branches. The zero options keep no others.
type CleanupOptions struct {
	// KeepCommits is the number of newest commits to keep on each branch, including its head.
	KeepCommits int
	// Before, if not zero, keeps every commit made at or after this time.
	Before time.Time
	// ProposalKeep, if not zero, replaces OpenOptions.ProposalKeep for this cleanup.
	ProposalKeep time.Duration
	// DryRun reports what a cleanup would do and changes nothing.
	DryRun bool
}

// CleanupResult reports what a cleanup reclaimed.
type CleanupResult struct {
	Commits  int64 // commits that became unreadable
	Kept     int64 // commits that stay readable
	Segments int64 // files removed minus files written; in a dry run, files it would remove
	Bytes    int64 // size of the files in Segments
}
