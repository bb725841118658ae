// Package fault lists deliberate faults of the engine. The random comparison must find each of them. The build tag
// faults compiles them in; without it, On is false, and the compiler removes the code of the faults.
package fault

// Fault is a deliberate fault of the engine, or None.
type Fault int

// The faults.
const (
	None Fault = iota

	// Reads: conditions.
	DroppedHolds   // a dropped condition in an `any` block keeps every row
	AnyStops       // an `any` block tests no further condition once one keeps a row
	AllEnds        // the conditions after a dropped one in an `all` block are not tested
	AllStops       // an `all` block tests no further condition once one keeps every row
	NullMatches    // a `not` or `exists` block over a variable that is null has a match
	RowsRenumbered // a `not` or `exists` block reports its matches by the numbers of its own rows
	MemberLost     // the last element of a list is not looked up
	MemberRepeats  // an element that is in a list twice is looked up twice
	EmptyIsNull    // an empty list is null
	FirstDecides   // the first row of a frame decides a test for null for the whole frame
	PatternFolds   // `matches` compares with the text in lower case
	PatternKept    // `matches` keeps the pattern of the run before
	UnequalNarrows // `!=` between a node of an interface and a node of a type requires that they are the same

	// Reads: expressions.
	SumWraps     // the sum of two integers wraps around
	BytesCounted // substring counts bytes
	DurationCut  // a Duration is rounded towards zero before it is subtracted
	DayCut       // the day of a DateTime before 1970 is rounded towards zero

	// Reads: `if` and `coalesce`.
	BranchShifted // an argument has the values of the first rows of the frame instead of those of the rows that need it
	CoalesceLast  // a later argument of `coalesce` replaces the value of an earlier one

	// Reads: traversals and walks.
	HopLost         // a walk stops one hop before its upper bound
	StartVisited    // a walk back to its start ends there at once
	HopsFromOne     // the length of a walk is at least 1
	LastWalk        // of several shortest walks, a read returns the nodes of one that does not come first
	AlternativeLost // a walk over several edge types does not follow the last one
	OneDirection    // of several edge types in both directions, a traversal follows the further ones in one

	// Reads: `optional` blocks.
	UnmatchedLost // if an `optional` block has no match for any row of a frame, these rows are lost
	OptionalLost  // an `optional` block that is counted as a factor drops the rows without a match

	// Reads: rows.
	NullsCounted  // the count of an optional variable counts the rows in which it is null
	NullsDistinct // count(distinct …) counts null as a value
	ValuesKept    // count(distinct …) keeps the values of the rows before
	NullsApart    // rows with a null belong to different groups
	GroupsKept    // the groups of the run before are kept
	KeepsLast     // collect(distinct …) keeps the last of several equal values instead of the first
	NodesUnsorted // collect lists nodes in the order in which the rows arrive
	HavingLost    // the last condition of several in `having` is not tested
	CutBefore     // the number of groups before `having` decides whether the limit cuts rows off
	LimitIsBound  // the upper bound of a limit's parameter is the limit
	LimitKept     // the limit of the run before is kept
	PageOverlaps  // a page begins with the last row of the page before
	PageRestarts  // a page contains the first rows of the result

	// Reads: subqueries.
	RowDropped  // subqueries find nothing for the last of several rows
	LimitShared // the limit of a `collect` block applies to several rows together
	ValueKept   // a subquery without outer variables keeps the value of the run before

	// Reads: interfaces.
	TypeLost     // a variable over an interface does not range over the last of several types
	TypesIgnored // nodes of different types are the same node if their ids are equal
	EndLost      // a traversal over an edge with an interface at an end does not start at the nodes of the last of several types

	// Reads: counts of patterns.
	ClosingOpen   // the last variable of a pattern is counted without a check of its other traversals
	TermsAdded    // each term of a count is added, even if it must be subtracted
	OppositeLoose // where two variables become one, the conditions on the second one are lost

	// Mutations.
	NamesFirst      // in a block, a name stands for what the first row inserted
	DeletedReturned // a mutation returns the id of an entity that it deleted after the insert
	UpsertReplaces  // an upsert clears the properties that it does not assign
	EndIgnored      // an upsert of an edge changes any edge from its source
	PredicateLost   // an update or delete of edges that finds them by their ends or ids tests no other predicate
	EndsLost        // an update of an edge does not copy its ends
	OldShared       // an update computes the new values from the first entity only
	OldOfAnother    // the old values of a new entity are those of another one
	BlockSees       // a statement of a block reads the changes of the statements before it in the block
	ConflictUnseen  // two rows of a block may give one property different values
	KeyReversed     // a node that is given by its key has the members of the key in the opposite order
	KeyKept         // in a block, a node that is given by its key is the one of the first row
	FieldsShifted   // a field of a record has the value of the next field
	RecordLost      // a `for` block does not run for the last record of a list

	// Rights to a part of a graph.
	PartKept          // the part of an earlier state stands for that of the next one, although entities have changed
	EndsUnchecked     // an edge stays in the part although its end has left it
	OnceHidden        // an edge stays hidden although its end came back
	MainIgnored       // an entity that is hidden in main is shown on a branch
	OneFilterIsEnough // an entity that passes one of several filters passes all
	BecomesUnchecked  // a write may make an entity that its rights do not allow

	// Storage.
	TombstonesDropped // a merge ignores the deletions of the source
	TargetUndone      // a merge undoes the target's changes of entities that the source changed too
	OrphansUnseen     // a merge does not see the target's edges at an interface if the source deletes the node there
	DroppedEditsLost  // a merge does not see that one side changed a property that the other side's schema dropped
	BackfillsAreEdits // a value of a @backfill conflicts with a deletion
	ClaimsAreEdits    // a change of membership alone conflicts with a deletion
	KeptWithoutEdges  // a node that a resolution keeps loses the edges that the other side deleted with it
	StaleOverlay      // a hash overlay ignores a new entry if its bucket is not empty
	OverlayNotWalked  // a walk does not follow the edges of the overlay
	DeadWalked        // a walk follows deleted edges
	DraftKeysLost     // the idempotency keys of a draft are forgotten when it ends

	// The last ones, so that a short run, which looks for every third fault, looks for the same others.
	MergeUnseen    // a merge may be about entities that its rights hide in the source
	MergeUnwritten // a merge may change entities that its rights do not allow
	MessageKept    // a commit has the message of the commit before it
	AsOfBefore     // an instant selects the last commit before it, not one at it

	ValidUnchecked    // an entity may end before it begins to be valid
	ValidUntilLast    // an entity is still valid at the instant at which it ends
	ValidKept         // what was valid at one instant is valid at each other one
	WrittenUnexamined // what is written while a schema change is examined is not examined
	KeptBaseStale     // the edges of a part that a walk follows are those of an earlier state
	MergesMakeRows    // a merge gives the rows of its source its own origin
)

// names are the names of the faults.
var names = [...]string{
	DroppedHolds:   "dropped_holds",
	AnyStops:       "any_stops",
	AllEnds:        "all_ends",
	AllStops:       "all_stops",
	NullMatches:    "null_matches",
	RowsRenumbered: "rows_renumbered",
	MemberLost:     "member_lost",
	MemberRepeats:  "member_repeats",
	EmptyIsNull:    "empty_is_null",
	FirstDecides:   "first_decides",
	PatternFolds:   "pattern_folds",
	PatternKept:    "pattern_kept",
	UnequalNarrows: "unequal_narrows",

	SumWraps:     "sum_wraps",
	BytesCounted: "bytes_counted",
	DurationCut:  "duration_cut",
	DayCut:       "day_cut",

	BranchShifted: "branch_shifted",
	CoalesceLast:  "coalesce_last",

	HopLost:         "hop_lost",
	StartVisited:    "start_visited",
	HopsFromOne:     "hops_from_one",
	LastWalk:        "last_walk",
	AlternativeLost: "alternative_lost",
	OneDirection:    "one_direction",

	UnmatchedLost: "unmatched_lost",
	OptionalLost:  "optional_lost",

	NullsCounted:  "nulls_counted",
	NullsDistinct: "nulls_distinct",
	ValuesKept:    "values_kept",
	NullsApart:    "nulls_apart",
	GroupsKept:    "groups_kept",
	KeepsLast:     "keeps_last",
	NodesUnsorted: "nodes_unsorted",
	HavingLost:    "having_lost",
	CutBefore:     "cut_before",
	LimitIsBound:  "limit_is_bound",
	LimitKept:     "limit_kept",
	PageOverlaps:  "page_overlaps",
	PageRestarts:  "page_restarts",

	RowDropped:  "row_dropped",
	LimitShared: "limit_shared",
	ValueKept:   "value_kept",

	TypeLost:     "type_lost",
	TypesIgnored: "types_ignored",
	EndLost:      "end_lost",

	ClosingOpen:   "closing_open",
	TermsAdded:    "terms_added",
	OppositeLoose: "opposite_loose",

	NamesFirst:      "names_first",
	DeletedReturned: "deleted_returned",
	UpsertReplaces:  "upsert_replaces",
	EndIgnored:      "end_ignored",
	PredicateLost:   "predicate_lost",
	EndsLost:        "ends_lost",
	OldShared:       "old_shared",
	OldOfAnother:    "old_of_another",
	BlockSees:       "block_sees",
	ConflictUnseen:  "conflict_unseen",
	KeyReversed:     "key_reversed",
	KeyKept:         "key_kept",
	FieldsShifted:   "fields_shifted",
	RecordLost:      "record_lost",

	PartKept:          "part_kept",
	EndsUnchecked:     "ends_unchecked",
	OnceHidden:        "once_hidden",
	MainIgnored:       "main_ignored",
	OneFilterIsEnough: "one_filter_is_enough",
	BecomesUnchecked:  "becomes_unchecked",

	TombstonesDropped: "tombstones_dropped",
	TargetUndone:      "target_undone",
	OrphansUnseen:     "orphans_unseen",
	DroppedEditsLost:  "dropped_edits_lost",
	BackfillsAreEdits: "backfills_are_edits",
	ClaimsAreEdits:    "claims_are_edits",
	KeptWithoutEdges:  "kept_without_edges",
	StaleOverlay:      "stale_overlay",
	OverlayNotWalked:  "overlay_not_walked",
	DeadWalked:        "dead_walked",
	DraftKeysLost:     "draft_keys_lost",

	MergeUnseen:    "merge_unseen",
	MergeUnwritten: "merge_unwritten",
	MessageKept:    "message_kept",
	AsOfBefore:     "as_of_before",

	ValidUnchecked:    "valid_unchecked",
	ValidUntilLast:    "valid_until_last",
	ValidKept:         "valid_kept",
	WrittenUnexamined: "written_unexamined",
	KeptBaseStale:     "kept_base_stale",
	MergesMakeRows:    "merges_make_rows",
}

// String returns the name of the fault, and "" for None.
func (f Fault) String() string { return names[f] }

// All returns every fault.
func All() []Fault {
	all := make([]Fault, 0, len(names)-1)
	for f := None + 1; int(f) < len(names); f++ {
		all = append(all, f)
	}
	return all
}

// Count returns 1 if the fault is on, otherwise 0.
func Count(f Fault) int {
	if On(f) {
		return 1
	}
	return 0
}
