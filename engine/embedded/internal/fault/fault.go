// Package fault lists deliberate faults of the engine. The random comparison must find each of them. The build tag
// faults compiles them in; without it, On is false, and the compiler removes the code of the faults.
package fault

// Fault is a deliberate fault of the engine, or None.
type Fault int

// The faults.
const (
	None              Fault = iota
	HopLost                 // a walk stops one hop before its upper bound
	AlternativeLost         // a walk over several edge types does not follow the last one
	LastWalk                // of several shortest walks, a read returns the nodes of one that does not come first
	DroppedHolds            // a dropped condition in an `any` block keeps every row
	MemberLost              // the last element of a list is not looked up
	UnmatchedLost           // if an `optional` block has no match for any row of a frame, these rows are lost
	NullsCounted            // the count of an optional variable counts the rows in which it is null
	NullsDistinct           // count(distinct …) counts null as a value
	KeepsLast               // collect(distinct …) keeps the last of several equal values instead of the first
	NodesUnsorted           // collect lists nodes in the order in which the rows arrive
	HavingLost              // the last condition of several in `having` is not tested
	CutBefore               // the number of groups before `having` decides whether the limit cuts rows off
	RowDropped              // subqueries find nothing for the last of several rows
	LimitShared             // the limit of a `collect` block applies to several rows together
	TypeLost                // a variable over an interface does not range over the last of several types
	TypesIgnored            // nodes of different types are the same node if their ids are equal
	UpsertReplaces          // an upsert clears the properties that it does not assign
	BlockSees               // a statement of a block reads the changes of the statements before it in the block
	FieldsShifted           // a field of a record has the value of the next field
	RecordLost              // a `for` block does not run for the last record of a list
	OptionalLost            // an `optional` block that is counted as a factor drops the rows without a match
	ClosingOpen             // the last variable of a pattern is counted without a check of its other traversals
	TermsAdded              // each term of a count is added, even if it must be subtracted
	OppositeLoose           // where two variables become one, the conditions on the second one are lost
	TombstonesDropped       // a merge ignores the deletions of the source
	StaleOverlay            // a hash overlay ignores a new entry if its bucket is not empty
	DraftKeysLost           // the idempotency keys of a draft are forgotten when it ends
)

// names are the names of the faults.
var names = [...]string{
	HopLost:           "hop_lost",
	AlternativeLost:   "alternative_lost",
	LastWalk:          "last_walk",
	DroppedHolds:      "dropped_holds",
	MemberLost:        "member_lost",
	UnmatchedLost:     "unmatched_lost",
	NullsCounted:      "nulls_counted",
	NullsDistinct:     "nulls_distinct",
	KeepsLast:         "keeps_last",
	NodesUnsorted:     "nodes_unsorted",
	HavingLost:        "having_lost",
	CutBefore:         "cut_before",
	RowDropped:        "row_dropped",
	LimitShared:       "limit_shared",
	TypeLost:          "type_lost",
	TypesIgnored:      "types_ignored",
	UpsertReplaces:    "upsert_replaces",
	BlockSees:         "block_sees",
	FieldsShifted:     "fields_shifted",
	RecordLost:        "record_lost",
	OptionalLost:      "optional_lost",
	ClosingOpen:       "closing_open",
	TermsAdded:        "terms_added",
	OppositeLoose:     "opposite_loose",
	TombstonesDropped: "tombstones_dropped",
	StaleOverlay:      "stale_overlay",
	DraftKeysLost:     "draft_keys_lost",
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
