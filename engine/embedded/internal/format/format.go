// Package format numbers the byte layouts of a graph on disk: one number for all of its
// files and records.
//
// A new scalar kind needs no new number. The number of its value.Kind is new, and the layout of its
// values is that of its storage, so an older reader misreads nothing: it refuses the schema, which
// names the kind, before it reads a value. A new value.Storage is a new layout and needs a number.
//
// Every file and record carries the number that was current when it was written. A reader accepts
// every number from 1 to [Current]. Up to number 3, each [Kind] had its own numbering, so the same
// number in a log file and in a manifest may stand for different versions.
package format

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Current is the number that is written.
const Current = 10

// Version is one row of the table of format numbers.
type Version struct {
	Number int    // the format number
	Added  string // what the format number added to the store
}

// Versions lists what each number added, in order. The layouts themselves are drawn at
// the types that write them; package store draws those of the files.
var Versions = []Version{
	{1, "a log, segments of rows, and a manifest with one branch"},
	{2, "branches, the history of commits and idempotency keys; compressed blocks in segments"},
	{3, "stored indexes, schema changes, and stored states of old commits"},
	{4, "one format number for every kind of file; a file END that names the last record after a clean close; files that hold the rows of several segments; no common ancestors of branches in the manifest, because the history gives them"},
	{5, "text indexes that are read in place; stored sorted indexes; blocks that are compressed in chunks of 64 KiB, so that a use decompresses only what it reads"},
	{6, "indexes of ids, of unique values and of edges, and sorted indexes, in several levels, so that a checkpoint writes only the new entries"},
	{7, "proposals, in records of their own, in the records of merges, and in the manifest"},
	{8, "drafts, in records of their own and in the manifest"},
	{9, "ids of the events of proposals, and in the manifest the last event that a cleanup removed"},
	{10, "text indexes with the number of their analyzer, and with the words as written, for fuzzy matches"},
}

// Kind is a kind of file, record or block that carries a format number.
type Kind struct {
	Name string // name in messages
	Own  uint32 // the last number that the kind had of its own
}

// The kinds. A new kind has Own 0.
var (
	Log         = Kind{"log file", 1}         // a file of the write-ahead log
	SegmentFile = Kind{"segment", 2}          // a segment file of package store
	StoreRoot   = Kind{"manifest", 1}         // the file header of a manifest
	End         = Kind{"END", 0}              // names the last record after a clean close
	Manifest    = Kind{"manifest payload", 3} // the content of a manifest; see package version
	Record      = Kind{"commit record", 3}    // a record with the changes of a commit
	Branching   = Kind{"branch record", 1}    // a record that creates or deletes a branch
	Proposal    = Kind{"proposal", 0}         // a version of a proposal; see package version
	Draft       = Kind{"draft", 0}            // a version of a draft; see package version
	Change      = Kind{"schema change", 1}    // a record that changes the schema
	History     = Kind{"history", 1}          // a block of the commits of the history
	Archive     = Kind{"archive", 1}          // a block of the records of old commits
	State       = Kind{"stored state", 1}     // a stored state of an old commit
	Rows        = Kind{"rows", 1}             // a segment of rows
	Index       = Kind{"index", 1}            // stored bases of id, unique and edge indexes
	Text        = Kind{"text index", 1}       // a stored text index
	Sorted      = Kind{"sorted index", 0}     // a stored sorted index
	Vectors     = Kind{"index of vectors", 0} // a stored approximate vector index
)

// Check returns an error unless n is a number that the kind was ever written with: a *engine.NewerFormat for a number
// above Current, and otherwise a *engine.Corrupt. The parameter `object` is the name of the file or the record, and
// `place`, which may be empty, says where in the object the number is.
func (k Kind) Check(object, place string, n uint32) error {
	switch {
	case n > Current:
		return &engine.NewerFormat{Object: object, Kind: k.Name, Format: n, Newest: Current}
	case n == 0, n > k.Own && n <= 3:
		if place != "" {
			place += ": "
		}
		return &engine.Corrupt{Object: object, Detail: fmt.Sprintf("%sno %s has format %d", place, k.Name, n)}
	}
	return nil
}
