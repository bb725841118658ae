package engine

import (
	"fmt"
	"unicode/utf8"
)

// MaxBranchName is the maximum length of a branch name, in characters.
const MaxBranchName = 200

// CheckBranchName checks the name of a new branch: 1 to [MaxBranchName] ASCII letters, digits and _
// - . in segments separated by /. A segment must not be empty, "." or "..", because clients and
// proxies remove such segments from the path of a URL. The error is a *BadArgument. A graph may
// hold older branches with a segment ".".
func CheckBranchName(name string) error {
	bad := func(format string, args ...any) error {
		return &BadArgument{Param: "name", Detail: fmt.Sprintf(format, args...)}
	}
	if n := utf8.RuneCountInString(name); n == 0 || n > MaxBranchName {
		return bad("the branch name has %d characters, expected 1 to %d", n, MaxBranchName)
	}
	if _, taken := DraftID(name); taken {
		return bad("the branch name %q is that of a draft, which only OpenDraft makes; choose another name", name)
	}
	start := 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			c := name[i]
			if c != '_' && c != '-' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
				_, size := utf8.DecodeRuneInString(name[i:]) // size is 1 for a byte that is not UTF-8
				return bad("the branch name %q has %q at position %d, expected letters a to z and A to Z, digits, _ - . and /", name, name[i:i+size], i+1)
			}
			continue
		}
		switch segment := name[start:i]; segment {
		case "":
			return bad("the branch name %q has an empty segment; use / only between segments", name)
		case ".", "..":
			return bad("the branch name %q has the segment %q, which clients remove from URLs; choose another name", name, segment)
		}
		start = i + 1
	}
	return nil
}

// CommitRange selects commits of a branch.
type CommitRange struct {
	// Before, if not 0, leaves out the commits with this sequence number and greater ones.
	Before uint64
	// Limit is the maximum number of commits to return; 0 means no limit.
	Limit int
}

// ExportOptions select what to export.
type ExportOptions struct {
	Types []string // names of node and edge types; empty for all. An unknown name is a *BadArgument

	// StringIntegers writes values of the types I64 and U64 as strings of digits, for readers that store
	// numbers as float64. A load takes both forms.
	StringIntegers bool
}

// MergeOptions name the actor of a merge and the conditions for it; see [WriteOptions].
type MergeOptions struct {
	Actor          string // recorded in the commit
	Message        string // see WriteOptions
	IfCommit       string // required head of the target
	IdempotencyKey string // see WriteOptions
	DryRun         bool   // see WriteOptions
	Tool           string // recorded in the commit

	// IfSource, if not empty, is the commit that must be the head of the source; otherwise the
	// error is a *PreconditionFailed. If IfCommit is set too, the merge commits exactly what
	// [Graph.Compare] reported for these two commits and the same resolutions.
	IfSource    string
	Resolutions []Resolution // how to resolve conflicts

	// ReadsSource and ReadsTarget are what the caller may read of the branches, and Writes what it may change of the
	// target; nil for everything. A merge is whole or refused: the error is a *NotAllowed unless they allow each change and
	// each conflict.
	ReadsSource, ReadsTarget, Writes *Rights

	// Proposal, if not nil, is the open proposal that the merge completes, as the caller read it,
	// with the events of the merge added. One log record holds the merge commit and the proposal.
	// The error is a *Conflict if the revision differs from the stored one.
	Proposal  *Proposal
	Approvers []string // the actors whose approvals of the proposal count; recorded in the commit
}

// MergeOutcome says how a merge ended.
type MergeOutcome uint8

// The outcomes of a merge. AlreadyUpToDate: no entity of the target would change, and nothing was
// committed. FastForward: the target had no commits that the source lacked. Merged: both sides had
// commits that the other lacked.
const (
	AlreadyUpToDate MergeOutcome = iota // see above
	FastForward                         // see above
	Merged                              // see above
)

// String returns already_up_to_date, fast_forward or merged.
func (o MergeOutcome) String() string {
	return [...]string{"already_up_to_date", "fast_forward", "merged"}[o]
}

// MergeResult is the outcome of a merge.
type MergeResult struct {
	Outcome MergeOutcome // how the merge ended
	Commit  *Commit      // on the target; nil if nothing changed and in a dry run
	Head    Commit       // head of the target after the merge
	Nodes   int64        // nodes of the target inserted, updated or deleted
	Edges   int64        // edges of the target inserted, updated or deleted
}

// ConflictKind says why a merge cannot combine two changes.
type ConflictKind uint8

// The kinds of conflict.
const (
	// DivergentInsert: both sides inserted the entity, with different values.
	DivergentInsert ConflictKind = iota
	// DivergentUpdate: both sides changed the property, to different values.
	DivergentUpdate
	// DeleteVsUpdate: one side deleted an entity that the other changed, or the schema of one side dropped the
	// type or the property of a value that the other side changed.
	DeleteVsUpdate
	// OrphanEdge: an edge of one side needs a node that the other side deleted.
	OrphanEdge
	// UniqueViolation: entities of the two sides share values that must be unique.
	UniqueViolation
	// CardinalityViolation: a node would have too few or too many edges.
	CardinalityViolation
	// ValueConstraintViolation: an entity would break a rule about its own values.
	ValueConstraintViolation
)

// conflictKinds holds the names of the kinds, by number.
var conflictKinds = [...]string{"divergent_insert", "divergent_update", "delete_vs_update", "orphan_edge", "unique_violation",
	"cardinality_violation", "value_constraint_violation"}

// String returns the wire name of the kind, such as divergent_insert.
func (k ConflictKind) String() string { return conflictKinds[k] }

// MergeConflict is one reason why a merge is impossible.
type MergeConflict struct {
	Kind   ConflictKind // what kind of conflict it is
	Entity string       // "node" or "edge"
	Type   string       // name of the type
	// ID is the id of the entity. For a CardinalityViolation, it is the id of the node that the
	// edges of Type lead from.
	ID string
	// Property is the property at fault: "from" or "to" for the ends of an edge, or the members of
	// a unique rule joined by ", ". It is empty if the whole entity is at fault.
	Property string
	Message  string // the reason as a sentence

	// Base, Ours and Theirs are the entity in the merge base, in the target and in the source. nil
	// means that the entity does not exist in that state. If Property is a property of the type,
	// the images have only that property; if it is "from" or "to", they have no properties. The
	// images are set for a DivergentInsert, a DivergentUpdate, and a DeleteVsUpdate unless a schema dropped the
	// type or the property.
	Base, Ours, Theirs *Image

	// Edges, for a DeleteVsUpdate of a node, is the number of edges that the deletion of the node took with it:
	// edges at the node in the merge base that the deleting side lacks, and that the other side still has. If a
	// resolution keeps the node, it keeps those that the other side did not change, unless the deleting side
	// also deleted their other end.
	Edges int
}

// Place returns the place that a resolution of the conflict has.
func (c *MergeConflict) Place() ConflictPlace {
	return ConflictPlace{Entity: c.Entity, Type: c.Type, ID: c.ID, Property: c.Property}
}

// Resolvable reports whether a resolution can resolve the conflict. Otherwise one of the branches
// must change.
func (c *MergeConflict) Resolvable() bool {
	deleted := c.Kind == DeleteVsUpdate && (c.Ours != nil || c.Theirs != nil) // by a write, not by a schema
	return c.Kind == DivergentInsert || c.Kind == DivergentUpdate || deleted
}

// MergeConflicts lists all conflicts of a merge. The merge published nothing.
type MergeConflicts struct{ Conflicts []MergeConflict }

// PreconditionFailed says that the head of a branch is not the commit that a write required. Actual
// is empty if the actor may not read the branch.
type PreconditionFailed struct{ Expected, Actual string }
