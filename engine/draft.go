package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// DraftPrefix begins the name of the branch of every draft. The id of the draft follows it.
const DraftPrefix = "draft/"

// Draft is a branch that belongs to one actor. It ends when it is merged, when someone deletes it,
// and when it expires. The graph remembers a draft that has ended, so that a call about it gets a
// *[DraftClosed] and never the data of another branch.
type Draft struct {
	ID    string // a ULID, which the engine makes
	Owner string // the actor to whom the draft belongs
	Name  string // the name that the owner gave it; empty for the owner's first draft
	State DraftState
	Made  time.Time // when the draft was opened, with a precision of microseconds

	// Ended, By and Merge are set once the draft has ended: the time, the actor who ended it (empty
	// if it expired, or if the caller gave none), and the merge commit if State is DraftMerged.
	Ended time.Time
	By    string
	Merge string

	// Head, Written and MainAhead are set while the draft is open: the commit at the head of its
	// branch, the time of its last write (or Made, if there was none), and the number of commits of
	// main that the draft does not contain. Lists leave out MainAhead.
	Head      string
	Written   time.Time
	MainAhead uint64
}

// Branch returns the name of the draft's branch.
func (d *Draft) Branch() string { return DraftPrefix + d.ID }

// DraftState says whether a draft is still open. The numbers are stored.
type DraftState uint8

// The states of a draft. All but the first are final.
const (
	DraftOpen    DraftState = 1 // its owner may write to it
	DraftMerged  DraftState = 2 // another branch has its changes
	DraftDeleted DraftState = 3 // someone deleted it
	DraftExpired DraftState = 4 // nobody wrote to it for too long
)

// draftStates holds the names of the states, by number.
var draftStates = [...]string{DraftOpen: "open", DraftMerged: "merged", DraftDeleted: "deleted", DraftExpired: "expired"}

// String returns open, merged, deleted or expired, and "" for a number that is no state.
func (s DraftState) String() string {
	if int(s) >= len(draftStates) {
		return ""
	}
	return draftStates[s]
}

// DraftID returns the id in the name of a branch that belongs to a draft, and whether the name has
// the form of such a branch.
func DraftID(branch string) (id string, ok bool) {
	id, ok = strings.CutPrefix(branch, DraftPrefix)
	if !ok {
		return "", false
	}
	parsed, err := ulid.ParseStrict(id)
	return id, err == nil && parsed.String() == id
}

// CheckDraftName checks the name that an actor gives a second draft: one segment of a branch name,
// which must not look like an id. The empty name, of an actor's first draft, is valid too. The error
// is a *BadArgument.
func CheckDraftName(name string) error {
	if name == "" {
		return nil
	}
	if strings.Contains(name, "/") {
		return &BadArgument{Param: "name", Detail: fmt.Sprintf("the name %q of a draft has a /, expected letters a to z and A to Z, digits, _ - and .", name)}
	}
	if _, err := ulid.ParseStrict(strings.ToUpper(name)); err == nil {
		return &BadArgument{Param: "name", Detail: fmt.Sprintf("the name %q of a draft looks like an id; choose another name", name)}
	}
	return CheckBranchName(DraftPrefix + name)
}

// NewDraft says which draft to open.
type NewDraft struct {
	Owner string // the actor to whom the draft belongs
	Name  string // see [Draft.Name]
	// Commit, if not empty, is the commit at which the draft begins; otherwise the draft begins at the
	// head of main. If the commit is not one of main, or cannot be read any more, the error is a
	// *PreconditionFailed.
	Commit string
	// Max is the number of drafts that the owner may have at the same time; 0 means no limit.
	Max int
}

// DraftEnd says how a draft ends.
type DraftEnd struct {
	State DraftState // DraftDeleted or DraftExpired; ignored if Unused is set
	By    string     // the actor who ends it
	// IfHead, if not empty, is the commit that must be the head of the draft; otherwise the error is
	// a *PreconditionFailed.
	IfHead string
	// Unused forgets the draft completely, as if it had never been opened. The error is a *Conflict
	// if the draft has a commit of its own.
	Unused bool
}

// DraftRange selects drafts.
type DraftRange struct {
	ID    string     // the id of the only draft to select; empty for all
	Owner string     // the owner; empty for all
	State DraftState // 0 for every state
	// Key, if not empty, selects the drafts to which the owner wrote with this idempotency key in the
	// last 24 hours.
	Key string
}

// DraftClosed says that a branch belonged to a draft that has ended. Draft has the state of the
// draft and how it ended.
type DraftClosed struct{ Draft Draft }

func (e *DraftClosed) Error() string {
	d := &e.Draft
	text := fmt.Sprintf("draft %s is closed: it was %s", d.Branch(), d.State)
	switch d.State {
	case DraftMerged:
		text += " with commit " + d.Merge
	case DraftExpired:
		text = fmt.Sprintf("draft %s is closed: it expired", d.Branch())
	}
	if d.By != "" {
		text += " by " + d.By
	}
	return text + "; a write to `draft`, without an id, goes to a new draft"
}

// Retryable implements [Error].
func (*DraftClosed) Retryable() bool { return false }
