package naive

// Fault is a deliberate fault of the model. A comparison that cannot tell a model with
// a fault from one without is of no use; the tests of package enginetest seed each.
type Fault uint8

// The faults. Each is what an engine might well get wrong.
const (
	Sound Fault = iota // none

	// Reads: bounds and traversals.
	MaxHopsShort      // the last hop of a walk with bounds is left out
	MinHopsIgnored    // destinations nearer than the lower bound are reported
	SourceVisited     // a walk never reports its own source
	WalkNotShortest   // a destination is also reported at a longer distance
	UndirectedOneWay  // an undirected traversal follows edges forwards only
	ParallelRows      // parallel edges multiply rows
	ParallelMerged    // an edge binding yields one of the parallel edges
	SelfLoopDropped   // edges from a node to itself are not seen
	NestedNotIgnored  // a not inside a not holds always
	NotUncorrelated   // a not asks for any assignment, of outer variables too
	FilterInNotPassed // filters inside a not are left out

	// Reads: conditions.
	NullEqualsNull    // null = null holds
	NullUnequal       // null != x holds
	OptionalKept      // an optional filter applies although its parameter is null
	RoundedCompare    // numbers are compared as F64
	StrictBounds      // <= and >= are < and >
	ContainsFolds     // contains and starts_with ignore case
	StartsAnywhere    // starts_with is contains
	MembershipPartial // contains on a list of strings takes substrings
	AnyTokenIsAll     // search wants all the tokens
	PhraseUnordered   // match_text takes its tokens anywhere
	FuzzyShort        // fuzzy allows an edit less

	// Reads: rows.
	NullsLast        // ascending order puts nulls last
	TiesReversed     // ties are broken by ids descending
	LimitFirst       // the limit is taken before the order
	LimitOff         // a row more than the limit
	CountsNulls      // count counts nulls
	AverageOverNulls // avg divides by the rows, nulls included
	NoEmptyGroup     // an aggregate over no rows yields no row
	NullGroupDropped // the group of a null key is left out
	MinIsFirst       // min takes the first value
	SumRounds        // a sum is rounded after each addition
	WholeWithoutID   // a whole node has an empty id
	LateSnapshot     // a result is evaluated when it is read, not when it is asked for

	// Reads: ranking.
	InverseWrong       // the inverse document frequency has another formula
	StatisticsFiltered // BM25 takes its statistics of the match, not of the type
	LengthIgnored      // BM25 takes every text to be of average length
	TokensRepeated     // a token that stands twice in the query counts twice
	UnmatchedKept      // ordering by bm25 keeps the rows that match no token
	NullVectorKept     // a null vector is a candidate
	LengthsKept        // nearest does not divide by the lengths
	RankFromZero       // ranks are counted from 0
	FilterLate         // filters apply after the limit is taken

	// Writes.
	DeleteKeepsLast   // a delete forgets the last of its matches
	NoCascade         // the edges of a deleted node stay
	CascadeForward    // only the outgoing edges of a deleted node go
	UpsertKeeps       // an upsert keeps the properties that it does not set
	UpdateClears      // an update clears what it does not assign
	UpdateFirst       // an update changes one match only
	EarlierUnseen     // later statements do not see earlier ones
	PartialCommit     // the statements before a faulty one are committed
	EmptyCommit       // a write that changes nothing commits
	RequiredUnchecked // a required property may be null
	EnumUnchecked     // an enum takes any string
	RangeExclusive    // the ends of a range are outside
	CheckAnchored     // a check matches the whole string
	UniqueUnchecked   // uniqueness is not checked
	UniqueNulls       // a tuple with a null counts for uniqueness
	EndpointUnchecked // an edge may lead to a node that does not exist
	MaxCardUnchecked  // the greatest number of edges is not checked
	MinCardUnchecked  // the least number of edges is not checked
	StrictOverwrites  // a strict insert of an existing id replaces it

	// Loads.
	MergeKeeps          // a merge keeps the properties that a line leaves out
	AppendUpserts       // an append replaces what exists
	OverwriteKeeps      // an overwrite keeps what was there
	OverwriteAll        // an overwrite clears every type
	BadLinesSkipped     // the good lines of a bad load are loaded
	LinesOff            // line numbers do not count blank lines
	DuplicateKeyAllowed // the same key twice in a file is no error
	FirstEdgeStands     // of the same edge id twice in a merge, the first stands

	// Versions.
	BranchesShared    // a write to a branch shows on the others
	ForkFromMain      // a branch always begins at main
	IfCommitIgnored   // a write does not look at the head that it asks for
	DryRunCommits     // a dry run commits
	KeyIgnored        // an idempotency key has no effect
	CommitsOldest     // commits are listed oldest first
	MergeKeepsDeleted // a merge drops the tombstones of the source
	MergeTakesSource  // where both sides changed a property, the source's value stands
	MergeTwoWay       // a merge takes the whole rows of the source that the target has otherwise
	MergeWholeRows    // both sides changing an entity conflict, whatever the properties
	MergeOrphans      // a merge leaves out edges that lack an end
	MergeFirst        // a merge reports the first conflict only
	MergeUnchecked    // a merge asks no constraint
	MergeOneParent    // the commit of a merge has one parent: later merges begin too early
	ExportWithoutID   // an export names no entity that has no key
	ExportEdgesFlip   // an export swaps the ends of edges

	// Schemas.
	RenameLoses     // a renamed property is one that is dropped and another that is added
	SchemaUnchecked // rules that a schema adds are not asked of what is stored
	DataLossAllowed // a schema that drops values needs no leave

	// History.
	CommitIsHead       // a commit of the past reads as the head
	ChangesKeepDeleted // deleted entities are not among the changes
	ChangesOfMerged    // a merge's changes are those against the source
	CleanupDropsBases  // a cleanup reclaims merge bases
	CleanupKeepsLines  // a cleanup reclaims nothing in the branches' lines

	faults // the number of faults
)

// Faults lists every fault but [Sound].
func Faults() []Fault {
	var all []Fault
	for f := Sound + 1; f < faults; f++ {
		all = append(all, f)
	}
	return all
}

var faultNames = [...]string{
	Sound: "Sound", MaxHopsShort: "MaxHopsShort", MinHopsIgnored: "MinHopsIgnored", SourceVisited: "SourceVisited",
	WalkNotShortest: "WalkNotShortest", UndirectedOneWay: "UndirectedOneWay", ParallelRows: "ParallelRows",
	ParallelMerged: "ParallelMerged", SelfLoopDropped: "SelfLoopDropped", NestedNotIgnored: "NestedNotIgnored",
	NotUncorrelated: "NotUncorrelated", FilterInNotPassed: "FilterInNotPassed",
	NullEqualsNull: "NullEqualsNull", NullUnequal: "NullUnequal", OptionalKept: "OptionalKept",
	RoundedCompare: "RoundedCompare", StrictBounds: "StrictBounds", ContainsFolds: "ContainsFolds",
	StartsAnywhere: "StartsAnywhere", MembershipPartial: "MembershipPartial", AnyTokenIsAll: "AnyTokenIsAll",
	PhraseUnordered: "PhraseUnordered", FuzzyShort: "FuzzyShort",
	NullsLast: "NullsLast", TiesReversed: "TiesReversed", LimitFirst: "LimitFirst", LimitOff: "LimitOff",
	CountsNulls: "CountsNulls", AverageOverNulls: "AverageOverNulls", NoEmptyGroup: "NoEmptyGroup",
	NullGroupDropped: "NullGroupDropped", MinIsFirst: "MinIsFirst", SumRounds: "SumRounds", WholeWithoutID: "WholeWithoutID",
	LateSnapshot: "LateSnapshot",
	InverseWrong: "InverseWrong", StatisticsFiltered: "StatisticsFiltered", LengthIgnored: "LengthIgnored",
	TokensRepeated: "TokensRepeated", UnmatchedKept: "UnmatchedKept", NullVectorKept: "NullVectorKept",
	LengthsKept: "LengthsKept", RankFromZero: "RankFromZero", FilterLate: "FilterLate",
	DeleteKeepsLast: "DeleteKeepsLast", NoCascade: "NoCascade", CascadeForward: "CascadeForward",
	UpsertKeeps: "UpsertKeeps", UpdateClears: "UpdateClears", UpdateFirst: "UpdateFirst",
	EarlierUnseen: "EarlierUnseen", PartialCommit: "PartialCommit", EmptyCommit: "EmptyCommit",
	RequiredUnchecked: "RequiredUnchecked", EnumUnchecked: "EnumUnchecked", RangeExclusive: "RangeExclusive",
	CheckAnchored: "CheckAnchored", UniqueUnchecked: "UniqueUnchecked", UniqueNulls: "UniqueNulls",
	EndpointUnchecked: "EndpointUnchecked", MaxCardUnchecked: "MaxCardUnchecked", MinCardUnchecked: "MinCardUnchecked",
	StrictOverwrites: "StrictOverwrites",
	MergeKeeps:       "MergeKeeps", AppendUpserts: "AppendUpserts", OverwriteKeeps: "OverwriteKeeps",
	OverwriteAll: "OverwriteAll", BadLinesSkipped: "BadLinesSkipped", LinesOff: "LinesOff",
	DuplicateKeyAllowed: "DuplicateKeyAllowed", FirstEdgeStands: "FirstEdgeStands",
	BranchesShared: "BranchesShared", ForkFromMain: "ForkFromMain", IfCommitIgnored: "IfCommitIgnored", DryRunCommits: "DryRunCommits", KeyIgnored: "KeyIgnored", CommitsOldest: "CommitsOldest", MergeKeepsDeleted: "MergeKeepsDeleted", MergeTakesSource: "MergeTakesSource", MergeTwoWay: "MergeTwoWay", MergeWholeRows: "MergeWholeRows", MergeOrphans: "MergeOrphans", MergeFirst: "MergeFirst", MergeUnchecked: "MergeUnchecked", MergeOneParent: "MergeOneParent", ExportWithoutID: "ExportWithoutID", ExportEdgesFlip: "ExportEdgesFlip",
	RenameLoses: "RenameLoses", SchemaUnchecked: "SchemaUnchecked", DataLossAllowed: "DataLossAllowed",
	CommitIsHead: "CommitIsHead", ChangesKeepDeleted: "ChangesKeepDeleted", ChangesOfMerged: "ChangesOfMerged",
	CleanupDropsBases: "CleanupDropsBases", CleanupKeepsLines: "CleanupKeepsLines",
}

// String returns the fault's name.
func (f Fault) String() string { return faultNames[f] }
