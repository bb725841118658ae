// Package pagetoken defines the content of a page token, and the encoding of that content as bytes.
// The content is a reader's place in the rows of a read or in a list. The package contains no key
// and no cipher; package seal has them.
package pagetoken

import "time"

// List names the list that a place is in.
type List string

// The lists. The text is part of tokens and of messages.
const (
	Branches List = "branches" // the branches of a graph
	Commits  List = "commits"  // the commits of Place.Branch
	Changes  List = "changes"  // the changes of Place.Commit

	Feed List = "change feed" // the changes of Place.Commit in the change feed of Place.Branch

	Proposals       List = "proposals"        // the proposals of a graph
	Audit           List = "audit"            // the audit trail of a graph
	ProposalChanges List = "proposal changes" // the changes of the proposal with the id Place.Branch
	Comparison      List = "comparison"       // the changes between two states, which Place.Branch names
)

// Place is a reader's place in the rows of a read or in a list. It also has everything that must
// stay the same for the next page to continue. In a list, Snapshot, Now, Plan, Args and Row are
// zero.
type Place struct {
	Graph  string // the graph's id
	Actor  string // the id of the actor that read the earlier pages
	Branch string // the branch that the reader named; empty when Snapshot is set
	// Snapshot reports that the reader named the commit, not a branch.
	Snapshot bool
	Commit   string    // the commit that the rows or changes come from
	Now      time.Time // the value of now() in the read, with microsecond precision
	Plan     Digest    // digest of the plan of the read
	Args     Digest    // digest of the arguments of the read
	Row      int64     // number of rows before the place

	List  List   // the list; empty for the rows of a read
	After string // in a list: the last item before the place
}

// Invalid reports that a token cannot be opened.
type Invalid struct{ Reason string }

func (e *Invalid) Error() string { return "the page token " + e.Reason }

// Instant returns t with the precision of a page token, which is one microsecond.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
