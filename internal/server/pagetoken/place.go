// Package pagetoken defines what a page token says about a reader's place in the rows of a read,
// and its bytes. It contains no key and no cipher; package seal has them.
package pagetoken

import "time"

// Place is a reader's place in the rows of a read, with everything that must stay the same
// for the next page to continue those rows.
type Place struct {
	Graph  string // the graph's id
	Actor  string // the id of the actor that read the earlier rows
	Branch string // the branch that the reader named; empty when Snapshot is set
	// Snapshot reports that the reader named the commit, not a branch.
	Snapshot bool
	Commit   string    // the commit that the rows come from
	Now      time.Time // the value of now() in the read, with microsecond precision
	Plan     Digest
	Args     Digest
	Row      int64 // number of rows before the place
}

// Invalid reports that a token cannot be opened.
type Invalid struct{ Reason string }

func (e *Invalid) Error() string { return "the page token " + e.Reason }

// Instant returns t with the precision of a page token, which is one microsecond.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
