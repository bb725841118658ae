// Package place says where a reader stands in the rows of a read. It holds no key and no
// cipher: package page makes tokens of places.
package place

import "time"

// Place is where a reader stands in the rows of a read, and what must stay the same so
// that the next page continues those rows.
type Place struct {
	Graph  string // the graph's id
	Actor  string // the id of the actor that read the rows before
	Branch string // that was asked for; empty when Snapshot is set
	// Snapshot says that the reader asked for the commit, not for a branch.
	Snapshot bool
	Commit   string    // that the rows are of
	Now      time.Time // of now() in the read, in microseconds
	Plan     Digest
	Args     Digest
	Row      int64 // rows before the place
}

// Invalid says that a token cannot be opened.
type Invalid struct{ Reason string }

func (e *Invalid) Error() string { return "the page token " + e.Reason }
