package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Proposal asks that the changes of one branch, the source, be merged into another branch, the
// target. A graph keeps its proposals in the same log as its commits. Proposals are not part of the
// data: no branch, export or read of a commit contains them.
//
// A proposal without a source asks instead that a query become a stored query of the graph; see [Proposal.Query].
type Proposal struct {
	ID string // a ULID, which the engine makes
	// Revision counts the stored versions of the proposal, from 1. A caller that changes a proposal
	// sends the revision that it has read; see [Graph.PutProposal].
	Revision       uint64
	State          ProposalState
	Source, Target string // names of branches; Source is empty for a proposed query, and Target then is main
	Title          string
	Description    string
	Author         string       // the actor who opened the proposal; empty if the caller gave none
	Resolutions    []Resolution // how to resolve conflicts of the merge
	Events         []ProposalEvent

	// Base, Head and TargetHead are the commits that the last event compared: the merge base, the
	// head of the source, and the head of the target. Cleanup keeps them readable.
	Base, Head, TargetHead string
	Merge                  string // the merge commit; empty unless State is ProposalMerged
}

// Query returns the text of the query that the proposal is about, or "" if it is about a branch. The text is that of the last
// event that opened or changed the proposal. So the events keep the earlier texts.
func (p *Proposal) Query() string {
	if p.Source != "" {
		return ""
	}
	for _, e := range slices.Backward(p.Events) {
		if e.Kind == EventOpened || e.Kind == EventChanged {
			return e.Text
		}
	}
	return ""
}

// ProposalState says whether a proposal is still open. The numbers are stored.
type ProposalState uint8

// The states of a proposal. The last two are final.
const (
	ProposalOpen   ProposalState = 1 // waits for reviews and for the merge
	ProposalMerged ProposalState = 2 // the target has the changes
	ProposalClosed ProposalState = 3 // ended without a merge
)

// proposalStates holds the names of the states, by number.
var proposalStates = [...]string{ProposalOpen: "open", ProposalMerged: "merged", ProposalClosed: "closed"}

// String returns open, merged or closed, and "" for a number that is no state.
func (s ProposalState) String() string {
	if int(s) >= len(proposalStates) {
		return ""
	}
	return proposalStates[s]
}

// ParseProposalState returns the state with the given name, and whether there is one.
func ParseProposalState(name string) (ProposalState, bool) {
	for s := ProposalOpen; s <= ProposalClosed; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

// ProposalEventKind says what an event of a proposal is. The numbers are stored.
type ProposalEventKind uint8

// The kinds of event.
const (
	EventOpened    ProposalEventKind = 1 // the author opened the proposal
	EventChanged   ProposalEventKind = 2 // someone changed the title or the description
	EventCommented ProposalEventKind = 3 // a comment without a decision
	EventApproved  ProposalEventKind = 4 // a reviewer approved Digest
	EventRejected  ProposalEventKind = 5 // a reviewer asked for changes to Digest
	EventMerged    ProposalEventKind = 6 // someone merged the proposal
	EventClosed    ProposalEventKind = 7 // someone closed the proposal without a merge
	EventResolved  ProposalEventKind = 8 // someone resolved conflicts of the merge
)

// eventKinds holds the names of the kinds, by number.
var eventKinds = [...]string{EventOpened: "opened", EventChanged: "changed", EventCommented: "commented", EventApproved: "approved",
	EventRejected: "changes_requested", EventMerged: "merged", EventClosed: "closed", EventResolved: "resolved"}

// String returns the wire name of the kind, such as changes_requested, and "" for a number that is
// no kind.
func (k ProposalEventKind) String() string {
	if int(k) >= len(eventKinds) {
		return ""
	}
	return eventKinds[k]
}

// ProposalEvent is one step in the life of a proposal.
type ProposalEvent struct {
	// ID is a ULID, which the engine makes. The ids of the events of a graph ascend in the order in
	// which the graph stored them.
	ID     string
	Kind   ProposalEventKind
	Actor  string    // the actor of the step; empty if the caller gave none
	Groups []string  // the groups in the actor's token and those of its agents; the merge checks whether they may review
	Time   time.Time // with a precision of microseconds
	Text   string    // the comment, which may be empty; the query of an event that opens or changes a proposal of a query
	// Digest identifies the changes and resolutions that the actor saw; see [ChangeHash]. It is set
	// for EventApproved, EventRejected, EventMerged and EventResolved.
	Digest string
	// On is the entity that a comment is about. If the comment is about the whole proposal, On is
	// the zero position.
	On ChangePosition
}

// MaxOpenProposals is the number of proposals that may be open on a graph at the same time.
const MaxOpenProposals = 1000

// ProposalKeep is how long a cleanup keeps a merged or closed proposal, and its commits readable,
// after the last event of the proposal, unless OpenOptions.ProposalKeep says otherwise.
const ProposalKeep = 90 * 24 * time.Hour

// MaxProposalBytes is the limit on the stored size of a proposal with all its events.
const MaxProposalBytes = 1 << 20

// ProposalRange selects proposals.
type ProposalRange struct {
	State ProposalState // 0 for every state
	// Before, if not empty, is the id of a proposal. The range leaves out that proposal and all
	// newer ones.
	Before string
	Limit  int // maximum number of proposals; 0 for all
}

// MergeSide says which value a resolution gives a property or an entity. The numbers are stored.
type MergeSide uint8

// The sides. In a merge, ours is the target and theirs is the source.
const (
	TakeOurs   MergeSide = 1 // keep the state of the target
	TakeTheirs MergeSide = 2 // take the state of the source
	TakeValue  MergeSide = 3 // set the property to the value of the resolution
)

// mergeSides holds the names of the sides, by number.
var mergeSides = [...]string{TakeOurs: "ours", TakeTheirs: "theirs", TakeValue: "value"}

// String returns ours, theirs or value, and "" for a number that is no side.
func (s MergeSide) String() string {
	if int(s) >= len(mergeSides) {
		return ""
	}
	return mergeSides[s]
}

// ParseMergeSide returns the side with the given name, and whether there is one.
func ParseMergeSide(name string) (MergeSide, bool) {
	for s := TakeOurs; s <= TakeValue; s++ {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

// ConflictPlace identifies a conflict that a resolution can resolve: one property of an entity, or
// the whole entity if Property is empty.
type ConflictPlace struct {
	Entity   string // "node" or "edge"
	Type     string // name of the type
	ID       string // id of the entity
	Property string // name of the property, or "from" or "to" for the ends of an edge; may be empty
}

// Resolution resolves one conflict of a merge. For a DivergentInsert or a DivergentUpdate, it may
// take any side; for a DeleteVsUpdate, only ours or theirs. Conflicts of the other kinds have no
// resolution, because one of the branches must change first. If the merge does not have the
// conflict, the resolution has no effect.
type Resolution struct {
	ConflictPlace
	Take MergeSide
	// Value is for TakeValue: the value, which may be null. For the end of an edge it is a string, and for an end
	// at an interface a record of the node's type and id; see [plan.OfNode].
	Value value.Value
}

// CompareOptions say what [Graph.Compare] reports.
type CompareOptions struct {
	Resolutions []Resolution // Compare does not report conflicts that these resolve
	Changes     *ChangeRange // the changes to list; nil for none
	// MaxConflicts is the maximum number of conflicts that Compare lists; 0 for all. A comparison with
	// a maximum takes less memory, and its result can be remembered.
	MaxConflicts int
	// ListOnly asks for nothing but the list. Of the Comparison, Compare then sets only Source, Target,
	// Base, List and More. It does not try the merge, so it reports no fault of Resolutions, and a page
	// of a large difference takes less time.
	ListOnly bool
	// Shown are entities of which a caller with rights to a part must see each in one of the states. It need not say why the caller does
	// not: the entity may be hidden, or missing.
	Shown []ChangePosition
}

// Comparison is the comparison of two branches before a merge.
type Comparison struct {
	Source, Target, Base Commit       // the heads, and the merge base
	Nodes, Edges         ChangeCounts // changes from Base to Source, regardless of the range
	// MergedNodes and MergedEdges are the changes from Target to the result of the merge; zero if there are conflicts.
	MergedNodes, MergedEdges ChangeCounts
	// Digest is the digest of all changes from Base to Source, and of the resolutions; see
	// [ChangeHash].
	Digest        string
	List          []EntityChange  // the changes in the range, in order of position
	More          bool            // the range selects further changes, which come after List
	Conflicts     []MergeConflict // the first ones, if CompareOptions.MaxConflicts is set
	ConflictCount int             // the number of all conflicts
	Outcome       MergeOutcome    // of the merge; Merged if there are conflicts
}

// Preview is the state that a merge would commit. It does not change when the branches change. It
// is safe for concurrent use, and keeps the memory of the state until the caller drops it. After its
// graph has been closed, Query returns an *Unavailable.
type Preview interface {
	// Query runs a read on the state, like [Graph.Query]. In the read, now() returns the argument
	// `now`, or the current time if `now` is zero. The commit of the result is the one that the merge
	// would have as its first parent.
	Query(ctx context.Context, q *plan.Query, args Args, now time.Time) (Result, error)

	// Changes lists the changes from the target to the state, in order of position, and reports whether the
	// range selects further ones.
	Changes(ctx context.Context, r ChangeRange) (list []EntityChange, more bool, err error)

	// Entity returns an entity of the state, or nil if the state does not have it. It reports whether the
	// target has it in the same form, or does not have it either.
	Entity(ctx context.Context, at ChangePosition) (image *Image, same bool, err error)
}

// ChangeHash computes the digest of the changes that a reviewer looks at. A merge of the target
// into the source does not change the digest if the two sides changed different properties. The
// zero value is ready to use.
type ChangeHash struct {
	h       hash.Hash
	pending []byte // written, and not hashed yet; see hashBytes
	text    []byte // memory for the text of a value, reused
}

// hashBytes is the number of bytes that a ChangeHash collects before it hashes them. A call of the hash
// for each text would take longer than the hash itself.
const hashBytes = 4 << 10

// flush hashes the pending bytes. It changes nothing if there are none.
func (c *ChangeHash) flush() {
	if c.h == nil {
		c.h = sha256.New()
	}
	if len(c.pending) > 0 {
		c.h.Write(c.pending)
		c.pending = c.pending[:0]
	}
}

// add hashes texts, each with its length.
func (c *ChangeHash) add(texts ...string) {
	for _, s := range texts {
		c.pending = binary.AppendUvarint(c.pending, uint64(len(s)))
		c.pending = append(c.pending, s...)
		if len(c.pending) >= hashBytes {
			c.flush()
		}
	}
}

// addValue hashes a value with its type.
func (c *ChangeHash) addValue(v value.Value) {
	if v.IsNull() {
		c.add("null")
		return
	}
	c.add(v.Type().String())
	switch {
	case v.IsList():
		elems := v.Elems()
		c.pending = binary.AppendUvarint(c.pending, uint64(len(elems)))
		for _, e := range elems {
			c.addValue(e)
		}
	case v.Kind() == value.Vector:
		for _, f := range v.Vector() {
			c.pending = binary.LittleEndian.AppendUint32(c.pending, math.Float32bits(f))
		}
	case v.Kind() == value.String:
		c.add(v.Str())
	default:
		c.text = value.AppendText(c.text[:0], v)
		c.pending = binary.AppendUvarint(c.pending, uint64(len(c.text)))
		c.pending = append(c.pending, c.text...)
	}
}

// Change adds the next change. The caller adds the changes in the order of [Graph.Changes], without
// images.
func (c *ChangeHash) Change(e *EntityChange) {
	c.add("change", e.Kind.String(), e.Entity, e.Type, e.ID, e.From, e.To)
	if e.FromType+e.ToType != "" {
		c.add("types of the ends", e.FromType, e.ToType)
	}
	for _, p := range e.Properties {
		c.add("property", p.Name)
		c.addValue(p.Old)
		c.addValue(p.New)
	}
}

// Resolve adds the next resolution, after all changes.
func (c *ChangeHash) Resolve(r *Resolution) {
	c.add("resolution", r.Entity, r.Type, r.ID, r.Property, r.Take.String())
	c.addValue(r.Value)
}

// Clone returns a hash of the same changes. Changes and resolutions that are added to one of the two do
// not count for the other. Several goroutines may clone a clone.
func (c *ChangeHash) Clone() *ChangeHash {
	c.flush()
	h, err := c.h.(hash.Cloner).Clone()
	if err != nil {
		panic(err) // the hashes of crypto/sha256 can be cloned
	}
	return &ChangeHash{h: h}
}

// Sum returns the digest: "sha256:" and hex digits. The hash must not be used afterwards.
func (c *ChangeHash) Sum() string {
	c.add("end")
	c.flush()
	return "sha256:" + hex.EncodeToString(c.h.Sum(nil))
}
