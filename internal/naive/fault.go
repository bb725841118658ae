package naive

// Fault is a deliberate fault of the model. The comparison must be able to detect every fault, so
// the tests of package enginetest seed each one.
type Fault uint8

// The faults. Each is a mistake that an engine could plausibly make.
const (
	Sound Fault = iota // no fault

	// Reads: bounds and traversals.
	MaxHopsShort      // a walk with bounds omits its last hop
	MinHopsIgnored    // a walk reports destinations nearer than the lower bound
	SourceVisited     // a walk back to its start finds nothing
	StartReported     // a walk reports the node that it starts at if a cycle leads back to it
	WalkNotShortest   // a destination is also reported at a longer distance
	UndirectedOneWay  // an undirected traversal only follows edges forwards
	ParallelRows      // parallel edges multiply rows
	ParallelMerged    // an edge binding yields only one of several parallel edges
	SelfLoopDropped   // edges from a node to itself are ignored
	NestedNotIgnored  // a `not` block inside a `not` block always holds
	NotUncorrelated   // a `not` block ignores the bindings of outer variables
	FilterInNotPassed // filters inside a `not` block are ignored
	LastEdgeIgnored   // a traversal of several edge types does not follow the last one
	HopsFromOne       // the length of a walk counts its nodes
	WalkReversed      // the nodes of a walk are listed from its end
	LastWalk          // of several shortest walks, a read returns the one that comes last

	// Rights.
	HiddenKept       // an entity is shown that its filter hides
	HiddenEndKept    // an edge is shown although one of its ends is hidden
	BranchOpensDoor  // an entity that is hidden on main is shown on a branch that changed it
	WriteAsItWas     // a write changes an entity that it may not change as it was
	WriteAsItBecomes // a write makes an entity that it may not change

	// Reads: conditions.
	NullEqualsNull    // null = null holds
	NullUnequal       // null != x holds
	OptionalKept      // an optional filter applies even if its parameter is null
	RoundedCompare    // numbers are compared as F64
	StrictBounds      // <= and >= behave as < and >
	NullIsZero        // arithmetic treats null as 0
	OverflowWraps     // integers wrap around when they overflow
	DivisionCut       // / drops the fraction
	RemainderFloored  // % has the sign of the divisor
	CoalesceLast      // coalesce returns its last argument
	RoundHalfEven     // round rounds a half to an even number
	LengthInBytes     // the function length counts bytes
	SubstringFromOne  // substring counts positions from 1
	WeekFromSunday    // weekday returns 1 for Sunday
	DaysReversed      // days_between counts from its second argument to its first
	ContainsFolds     // contains and starts_with ignore case
	StartsAnywhere    // starts_with behaves as contains
	MembershipPartial // contains on a list of strings matches substrings
	AnyTokenIsAll     // a search for any token requires all tokens
	PhraseUnordered   // match_text accepts its tokens in any order and place
	FuzzyShort        // fuzzy allows one edit less
	DroppedHoldsInAny // a dropped condition makes the `any` block around it hold
	ValueNegated      // the truth of a `not` block as a value is that of its clauses
	ValueInnerUnbound // an `exists` block as a value ignores the bindings of outer variables
	BlockNeverDropped // a block with only dropped clauses is evaluated like any other
	AllIsAny          // an `all` block holds if one of its conditions holds
	InFirstOnly       // `in` looks only at the first element of the list
	PatternAnchored   // a pattern must match the whole text
	OptionalRequired  // an `optional` block without a match removes the row
	OptionalOnce      // an `optional` block extends a row by its first match only
	NullBoundAnew     // an `optional` block over a variable that is null binds the variable anew
	UnmatchedCounted  // count counts the rows in which an optional variable is null

	// Reads: interfaces.
	InterfaceShort // a variable over an interface leaves out the nodes of one type
	TypesIgnored   // nodes of different types are the same node if their ids are equal
	EndByID        // a traversal finds the nodes at an end at an interface by their ids, whatever their types are

	// Reads: subqueries.
	SubqueryUnbound // a subquery ignores the bindings of outer variables
	SubqueryOnce    // an aggregate over a block looks only at one match
	FirstIsLast     // first yields the last row of its block
	BlockLimitOff   // a collect block yields one row more than its limit

	// Reads: rows.
	NullsLast        // ascending order puts nulls last
	TiesReversed     // ties are broken by descending ids
	LimitFirst       // the limit is applied before the order
	LimitOff         // a read returns one row more than the limit
	CutUnsaid        // a result does not say that the limit cut rows off
	CountsNulls      // count counts nulls
	DistinctIgnored  // count and collect ignore the word distinct
	CollectReversed  // collect lists its values in the reverse order
	HavingIgnored    // the conditions of having do not apply
	HavingIsAny      // one of the conditions of having is enough
	DistinctRepeats  // return distinct returns equal rows more than once
	AverageOverNulls // avg divides by the number of rows, including nulls
	NoEmptyGroup     // an aggregate over no rows yields no row
	NullGroupDropped // the group of a null key is omitted
	MinIsFirst       // min returns the first value
	SumRounds        // a sum is rounded after each addition
	WholeWithoutID   // a whole node has an empty id
	LateSnapshot     // a result is evaluated when it is read, not when the query is made

	// Reads: ranking.
	InverseWrong       // the inverse document frequency uses another formula
	StatisticsFiltered // BM25 takes its statistics from the match, not from the type
	LengthIgnored      // BM25 treats every text as being of average length
	TokensRepeated     // a token that occurs twice in the query counts twice
	UnmatchedKept      // ordering by bm25 keeps the rows that match no token
	NullVectorKept     // a null vector is a candidate
	LengthsKept        // nearest does not divide by the lengths of the vectors
	RankFromZero       // ranks are counted from 0
	FilterLate         // filters apply after the limit

	// Reads: parameters.
	LimitIsBound    // the upper bound of a limit's parameter replaces the argument as the limit
	DefaultIgnored  // a parameter with a default cannot be left out
	BoundsExclusive // an argument that equals a bound of its parameter is refused

	// Writes.
	DeleteKeepsLast   // a delete keeps the last of its matches
	NoCascade         // the edges of a deleted node stay
	CascadeByID       // with a node, edges at interfaces are deleted that end at a node of another type with the same id
	UniqueEndByID     // a unique rule ignores the types of nodes at an interface
	CardByID          // the edges of a node are counted with those of nodes of other types with the same id
	CascadeForward    // only the outgoing edges of a deleted node are deleted
	UpsertKeeps       // an upsert keeps the properties that it does not set
	UpdateClears      // an update clears the properties that it does not assign
	UpdateFirst       // an update changes only one match
	EarlierUnseen     // later statements do not see the effects of earlier ones
	PartialCommit     // the statements before a failing one are committed
	EmptyCommit       // a write that changes nothing makes a commit
	RequiredUnchecked // a required property may be null
	EnumUnchecked     // an enum accepts any string
	RangeExclusive    // a range excludes its ends
	CheckAnchored     // a check must match the whole string
	UniqueUnchecked   // uniqueness is not checked
	UniqueNulls       // a tuple with a null must be unique, too
	EndpointUnchecked // an edge may lead to a node that does not exist
	MaxCardUnchecked  // the maximum number of edges is not checked
	MinCardUnchecked  // the minimum number of edges is not checked
	StrictOverwrites  // a strict insert of an existing id replaces it
	UpsertReplaces    // an upsert clears the properties that it does not assign
	OldIsNull         // the old values of an upsert are null
	AndIsOr           // one of several predicates is enough
	BlockSeesChanges  // a statement of a block sees the changes of the statements before it in the block
	RecordShifted     // the fields of a record are those of its neighbours
	ConflictUnseen    // two rows of a block may give one property different values
	UpdateRepeats     // an update in a block acts once for each row

	// Loads.
	MergeKeeps          // a merge keeps the properties that a line omits
	AppendUpserts       // an append replaces existing entities
	OverwriteKeeps      // an overwrite keeps the existing entities
	OverwriteAll        // an overwrite clears every type
	BadLinesSkipped     // the good lines of a bad load are loaded
	LinesOff            // line numbers do not count blank lines
	DuplicateKeyAllowed // the same key twice in a file is not an error
	FirstEdgeStands     // if the last of several lines stands, the first one does
	EdgeNotFound        // an edge without an id is new, although one with its ends exists
	EdgeMoves           // a line moves an edge to other nodes
	PatchReplaces       // a patch clears the properties that a line omits
	PatchKeepsNulls     // a patch keeps the properties that a line clears

	// Sources.
	ClaimsForgotten      // an entity loses its sources when it is written otherwise
	EditsUncounted       // a sync does not know that others changed its values
	LetGoKeeps           // a property that a source lets go keeps its value
	LostStays            // a sync deletes nothing
	OtherSourcesIgnored  // a sync deletes entities that other sources claim
	SyncDeletesAll       // a sync deletes entities that no source created
	SyncCascades         // a sync deletes nodes with the edges of others
	SyncUnguarded        // a sync deletes any number of entities
	YieldIgnored         // a source that yields a property sets it
	MergeKeepsClaims     // a merge keeps the sources that the target has
	ExportForgetsSources // an export omits the sources

	// Versions.
	BranchesShared    // a write to a branch is visible on the others
	ForkFromMain      // a new branch always starts at main
	IfCommitIgnored   // a write ignores IfCommit
	DryRunCommits     // a dry run commits
	KeyIgnored        // an idempotency key has no effect
	CommitsOldest     // commits are listed oldest first
	MergeKeepsDeleted // a merge ignores the deletions of the source
	MergeTakesSource  // if both sides changed a property, the source's value wins
	MergeTwoWay       // a merge copies every row of the source that differs in the target
	MergeWholeRows    // two changes of an entity conflict even if they change different properties
	MergeOrphans      // a merge drops edges with a missing endpoint
	MergeFirst        // a merge reports only the first conflict
	MergeDropsEdits   // a merge drops the values of a property that the other side's schema dropped
	KeptWithoutEdges  // a node that a resolution keeps loses the edges that the other side deleted with it
	MergeUnchecked    // a merge checks no constraints
	ResolutionIgnored // a merge ignores the resolutions of conflicts
	PreviewIsTarget   // the preview of a merge lacks the changes of the source
	MergeOneParent    // the commit of a merge has one parent, so the base of a later merge is too old
	ExportWithoutID   // an export omits the id of an entity without a key
	ExportEdgesFlip   // an export swaps the ends of edges

	// Schemas.
	RenameLoses       // a renamed property is treated as one dropped and another added
	DefaultForgotten  // an insert that leaves out a property does not give it its default
	BackfillForgotten // a schema change does not evaluate @backfill
	BackfillIsEdit    // a value of a @backfill conflicts with a deletion
	LatestDefault     // a merge compares with the latest default, not with the one that the rows got
	SchemaUnchecked   // the rules that a schema adds are not checked for stored data
	CastUnchecked     // a value that a new type does not have becomes null
	DataLossAllowed   // a schema that drops values needs no permission
	LeaverKeepsEdges  // a type that no longer implements an interface keeps its edges there
	RenameAnew        // a renamed type gets another type id

	// History.
	CommitIsHead       // reading an old commit returns the head
	ChangesKeepDeleted // the changes omit deleted entities
	ChangesFromSource  // the changes of a merge are computed against the source, not the target
	CleanupDropsBases  // a cleanup reclaims merge bases
	CleanupKeepsLines  // a cleanup reclaims no commits of the branches

	// Drafts.
	MergeKeepsDraft // a merge does not end the draft that is its source
	DraftKeyLost    // a draft that has ended does not remember its idempotency keys
	DraftForgotten  // a draft that has ended is unknown
	DraftBehindLost // the distance from main counts from the beginning of the draft
	DraftUnguarded  // a draft can be ended while it has an open proposal

	// The last ones, so that a short run, which looks for every fourth fault, looks for the same others.
	MergeUnseen        // a merge shows and makes changes that the caller may not see
	FollowedDeletesAll // a delete of a followed source deletes entities that the source did not create
	MessageOfParent    // a commit has the message of the commit before it

	// Two clocks.
	AsOfExclusive // an instant selects the last commit before it, not one at it
	AsOfIgnored   // a read ignores the instant as of which it reads
	UntilIncluded // an entity is still valid at the instant at which it ends
	SinceExcluded // an entity is not yet valid at the instant at which it begins
	PeriodIsStart // a read sees what is valid at the start of its period
	EndsOutlived  // an edge outlives a node at its end
	ValidUnruled  // an entity may end before it begins to be valid

	// Origin.
	MergeSigns // a merge takes the place of the commits that made the rows of its source
	MadeByLast // the commit that last changed an entity takes the place of the one that made it

	faults // number of faults
)

// Faults returns every fault except [Sound].
func Faults() []Fault {
	var all []Fault
	for f := Sound + 1; f < faults; f++ {
		all = append(all, f)
	}
	return all
}

// faultNames are the names of the constants.
var faultNames = [...]string{
	Sound: "Sound", MaxHopsShort: "MaxHopsShort", MinHopsIgnored: "MinHopsIgnored", SourceVisited: "SourceVisited",
	StartReported: "StartReported",
	HiddenKept:    "HiddenKept", HiddenEndKept: "HiddenEndKept", BranchOpensDoor: "BranchOpensDoor", WriteAsItWas: "WriteAsItWas", WriteAsItBecomes: "WriteAsItBecomes",
	MergeUnseen:     "MergeUnseen",
	WalkNotShortest: "WalkNotShortest", UndirectedOneWay: "UndirectedOneWay", ParallelRows: "ParallelRows",
	ParallelMerged: "ParallelMerged", SelfLoopDropped: "SelfLoopDropped", NestedNotIgnored: "NestedNotIgnored",
	NotUncorrelated: "NotUncorrelated", FilterInNotPassed: "FilterInNotPassed",
	LastEdgeIgnored: "LastEdgeIgnored", HopsFromOne: "HopsFromOne", WalkReversed: "WalkReversed", LastWalk: "LastWalk",
	NullEqualsNull: "NullEqualsNull", NullUnequal: "NullUnequal", OptionalKept: "OptionalKept",
	RoundedCompare: "RoundedCompare", StrictBounds: "StrictBounds", ContainsFolds: "ContainsFolds",
	StartsAnywhere: "StartsAnywhere", MembershipPartial: "MembershipPartial", AnyTokenIsAll: "AnyTokenIsAll",
	PhraseUnordered: "PhraseUnordered", FuzzyShort: "FuzzyShort",
	DroppedHoldsInAny: "DroppedHoldsInAny", ValueNegated: "ValueNegated", ValueInnerUnbound: "ValueInnerUnbound", BlockNeverDropped: "BlockNeverDropped", AllIsAny: "AllIsAny",
	InFirstOnly: "InFirstOnly", PatternAnchored: "PatternAnchored",
	OptionalRequired: "OptionalRequired", OptionalOnce: "OptionalOnce", NullBoundAnew: "NullBoundAnew", UnmatchedCounted: "UnmatchedCounted",
	NullIsZero: "NullIsZero", OverflowWraps: "OverflowWraps", DivisionCut: "DivisionCut", RemainderFloored: "RemainderFloored",
	CoalesceLast: "CoalesceLast", RoundHalfEven: "RoundHalfEven", LengthInBytes: "LengthInBytes", SubstringFromOne: "SubstringFromOne",
	WeekFromSunday: "WeekFromSunday", DaysReversed: "DaysReversed",
	InterfaceShort: "InterfaceShort", TypesIgnored: "TypesIgnored", EndByID: "EndByID",
	SubqueryUnbound: "SubqueryUnbound", SubqueryOnce: "SubqueryOnce", FirstIsLast: "FirstIsLast", BlockLimitOff: "BlockLimitOff",
	NullsLast: "NullsLast", TiesReversed: "TiesReversed", LimitFirst: "LimitFirst", LimitOff: "LimitOff",
	CutUnsaid:       "CutUnsaid",
	DistinctIgnored: "DistinctIgnored", CollectReversed: "CollectReversed", DistinctRepeats: "DistinctRepeats", HavingIgnored: "HavingIgnored", HavingIsAny: "HavingIsAny",
	CountsNulls: "CountsNulls", AverageOverNulls: "AverageOverNulls", NoEmptyGroup: "NoEmptyGroup",
	NullGroupDropped: "NullGroupDropped", MinIsFirst: "MinIsFirst", SumRounds: "SumRounds", WholeWithoutID: "WholeWithoutID",
	LateSnapshot: "LateSnapshot",
	InverseWrong: "InverseWrong", StatisticsFiltered: "StatisticsFiltered", LengthIgnored: "LengthIgnored",
	TokensRepeated: "TokensRepeated", UnmatchedKept: "UnmatchedKept", NullVectorKept: "NullVectorKept",
	LengthsKept: "LengthsKept", RankFromZero: "RankFromZero", FilterLate: "FilterLate",
	LimitIsBound: "LimitIsBound", DefaultIgnored: "DefaultIgnored", BoundsExclusive: "BoundsExclusive",
	DeleteKeepsLast: "DeleteKeepsLast", NoCascade: "NoCascade", CascadeForward: "CascadeForward", CascadeByID: "CascadeByID", UniqueEndByID: "UniqueEndByID", CardByID: "CardByID",
	UpsertReplaces: "UpsertReplaces", OldIsNull: "OldIsNull", AndIsOr: "AndIsOr", BlockSeesChanges: "BlockSeesChanges", ConflictUnseen: "ConflictUnseen", UpdateRepeats: "UpdateRepeats",
	RecordShifted: "RecordShifted", UpsertKeeps: "UpsertKeeps", UpdateClears: "UpdateClears", UpdateFirst: "UpdateFirst",
	EarlierUnseen: "EarlierUnseen", PartialCommit: "PartialCommit", EmptyCommit: "EmptyCommit",
	RequiredUnchecked: "RequiredUnchecked", EnumUnchecked: "EnumUnchecked", RangeExclusive: "RangeExclusive",
	CheckAnchored: "CheckAnchored", UniqueUnchecked: "UniqueUnchecked", UniqueNulls: "UniqueNulls",
	EndpointUnchecked: "EndpointUnchecked", MaxCardUnchecked: "MaxCardUnchecked", MinCardUnchecked: "MinCardUnchecked",
	StrictOverwrites: "StrictOverwrites",
	MergeKeeps:       "MergeKeeps", AppendUpserts: "AppendUpserts", OverwriteKeeps: "OverwriteKeeps",
	OverwriteAll: "OverwriteAll", BadLinesSkipped: "BadLinesSkipped", LinesOff: "LinesOff",
	DuplicateKeyAllowed: "DuplicateKeyAllowed", FirstEdgeStands: "FirstEdgeStands",
	EdgeNotFound: "EdgeNotFound", EdgeMoves: "EdgeMoves", PatchReplaces: "PatchReplaces", PatchKeepsNulls: "PatchKeepsNulls",
	ClaimsForgotten: "ClaimsForgotten", EditsUncounted: "EditsUncounted", LetGoKeeps: "LetGoKeeps", LostStays: "LostStays", OtherSourcesIgnored: "OtherSourcesIgnored",
	SyncDeletesAll: "SyncDeletesAll", FollowedDeletesAll: "FollowedDeletesAll", SyncCascades: "SyncCascades", SyncUnguarded: "SyncUnguarded", YieldIgnored: "YieldIgnored", MergeKeepsClaims: "MergeKeepsClaims", ExportForgetsSources: "ExportForgetsSources",
	BranchesShared: "BranchesShared", ForkFromMain: "ForkFromMain", IfCommitIgnored: "IfCommitIgnored", DryRunCommits: "DryRunCommits", MessageOfParent: "MessageOfParent", KeyIgnored: "KeyIgnored", CommitsOldest: "CommitsOldest", MergeKeepsDeleted: "MergeKeepsDeleted", MergeTakesSource: "MergeTakesSource", MergeTwoWay: "MergeTwoWay", MergeWholeRows: "MergeWholeRows", MergeOrphans: "MergeOrphans", MergeFirst: "MergeFirst", MergeUnchecked: "MergeUnchecked", MergeDropsEdits: "MergeDropsEdits", KeptWithoutEdges: "KeptWithoutEdges", ResolutionIgnored: "ResolutionIgnored", PreviewIsTarget: "PreviewIsTarget", MergeKeepsDraft: "MergeKeepsDraft", DraftKeyLost: "DraftKeyLost", DraftForgotten: "DraftForgotten", DraftBehindLost: "DraftBehindLost", DraftUnguarded: "DraftUnguarded", MergeOneParent: "MergeOneParent", ExportWithoutID: "ExportWithoutID", ExportEdgesFlip: "ExportEdgesFlip",
	RenameLoses: "RenameLoses", DefaultForgotten: "DefaultForgotten", BackfillForgotten: "BackfillForgotten", BackfillIsEdit: "BackfillIsEdit", LatestDefault: "LatestDefault", SchemaUnchecked: "SchemaUnchecked", CastUnchecked: "CastUnchecked", DataLossAllowed: "DataLossAllowed", RenameAnew: "RenameAnew", LeaverKeepsEdges: "LeaverKeepsEdges",
	CommitIsHead: "CommitIsHead", ChangesKeepDeleted: "ChangesKeepDeleted", ChangesFromSource: "ChangesFromSource",
	AsOfExclusive: "AsOfExclusive", AsOfIgnored: "AsOfIgnored",
	UntilIncluded: "UntilIncluded", SinceExcluded: "SinceExcluded", PeriodIsStart: "PeriodIsStart", EndsOutlived: "EndsOutlived", ValidUnruled: "ValidUnruled",
	CleanupDropsBases: "CleanupDropsBases", CleanupKeepsLines: "CleanupKeepsLines",
	MergeSigns: "MergeSigns", MadeByLast: "MadeByLast",
}

// String returns the fault's name.
func (f Fault) String() string { return faultNames[f] }
