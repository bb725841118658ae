// Package format numbers the byte layouts of a graph on disk: one number for all of its
// files and records.
//
// A new scalar kind needs no new number. The number of its value.Kind is new, and the layout of its
// values is that of its storage, so an older reader misreads nothing: it refuses the schema, which
// names the kind, before it reads a value. A new value.Storage is a new layout and needs a number.
//
// Every file and record carries the number that was current when it was written. A reader accepts
// every number from [First] to [Current].
package format

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
)

const (
	First   = 10 // the oldest number that is read; the numbers below it were never released
	Current = 14 // the number that is written
)

// Version is one row of the table of format numbers.
type Version struct {
	Number int    // the format number
	Added  string // what the format number added to the store
}

// Versions lists what each number added, in order. The layouts themselves are drawn at
// the types that write them; package store draws those of the files.
var Versions = []Version{
	{10, "the first: a log, segments of rows and indexes in levels, text indexes with the number of their analyzer, a manifest, and a file END; branches, history, receipts, schema changes, proposals and drafts"},
	{11, "instants in microseconds: columns mark them with a flag, records write those with parts of a millisecond as a number that format 10 does not use; which sources claim an entity: a column in segments of rows, operations that put entities with it, and operations after the parts of a bulk load, the first of them in segments if they are many; schema changes that cast a property several times, or that changed the default of a property after they added it"},
	{12, "messages of commits, after the receipt in the header of a commit; schema changes that move the ends of edges, and that cast a property by way of a Decimal"},
	{13, "watches: records that make and delete them, and the watches in a manifest"},
	{14, "the origin of rows: two numbers of commits in segments of rows, after the membership in operations that put entities with them, and in the header of a commit its number, its tool, its source, and the proposal that it merges with the approvers"},
}

// Kind is a kind of file, record or block that carries a format number.
type Kind struct {
	Name string // name in messages
}

// The kinds.
var (
	Log         = Kind{"log file"}         // a file of the write-ahead log
	SegmentFile = Kind{"segment"}          // a segment file of package store
	StoreRoot   = Kind{"manifest"}         // the file header of a manifest
	End         = Kind{"END"}              // names the last record after a clean close
	Manifest    = Kind{"manifest payload"} // the content of a manifest; see package version
	Record      = Kind{"commit record"}    // a record with the changes of a commit
	Branching   = Kind{"branch record"}    // a record that creates or deletes a branch
	Proposal    = Kind{"proposal"}         // a version of a proposal; see package version
	Draft       = Kind{"draft"}            // a version of a draft; see package version
	Watch       = Kind{"watch"}            // a watch; see package logrecord
	Change      = Kind{"schema change"}    // a record that changes the schema
	History     = Kind{"history"}          // a block of the commits of the history
	Archive     = Kind{"archive"}          // a block of the records of old commits
	State       = Kind{"stored state"}     // a stored state of an old commit
	Rows        = Kind{"rows"}             // a segment of rows
	Index       = Kind{"index"}            // stored bases of id, unique and edge indexes
	Text        = Kind{"text index"}       // a stored text index
	Sorted      = Kind{"sorted index"}     // a stored sorted index
	Vectors     = Kind{"index of vectors"} // a stored approximate vector index
)

// Check returns an error unless the program reads number n: a *engine.NewerFormat for a number above Current, an
// *engine.OlderFormat for one below First, and a *engine.Corrupt for 0. The parameter `object` is the name of the file
// or the record, and `place`, which may be empty, says where in the object the number is.
func (k Kind) Check(object, place string, n uint32) error {
	switch {
	case n > Current:
		return &engine.NewerFormat{Object: object, Kind: k.Name, Format: n, Newest: Current}
	case n == 0:
		if place != "" {
			place += ": "
		}
		return &engine.Corrupt{Object: object, Detail: fmt.Sprintf("%sno %s has format %d", place, k.Name, n)}
	case n < First:
		return &engine.OlderFormat{Object: object, Kind: k.Name, Format: n, Oldest: First}
	}
	return nil
}
