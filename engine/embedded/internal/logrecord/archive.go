package logrecord

import (
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
)

// The block "records" of an archive segment keeps the log records of commits:
//
//	format    1 byte
//	runs      uvarint count; for each run: the number of its first commit in the history,
//	          and the number of commits (uvarints)
//	records   for each commit of the runs: the kind (1 byte) and the payload after the
//	          header (text: uvarint length, bytes)
//
// If the state after a commit is stored itself, the commit is not replayed: its kind is 0 and its
// payload is empty.

// Archived is the log record of a commit without its header. Its operations can be applied
// to any state of the commit's first parent, because they do not depend on entity ordinals.
type Archived struct {
	Kind uint8  // KindRows, KindSpilled, or 0 for a commit with a state that is stored itself
	Rest []byte // the record after its header
}

// Archive returns the part of a log record that the archive keeps: a record of operations,
// inline or spilled to a segment. Records of other kinds hold entity ordinals, which are
// valid only until a rewrite of the state renumbers them. For those Archive returns an
// empty Archived, and the commit is kept as a state instead.
func Archive(kind uint8, rest []byte) Archived {
	if kind != KindRows && kind != KindSpilled {
		return Archived{}
	}
	return Archived{kind, rest}
}

// Segment returns the segment that holds the record's operations. ok is false if the record
// names none. The error is a *engine.Corrupt.
func (a Archived) Segment() (name string, ok bool, err error) {
	if a.Kind != KindSpilled {
		return "", false, nil
	}
	name, err = ReadSpilled(a.Rest)
	return name, err == nil, err
}

// Run is a run of N commits with consecutive numbers in the history, from First on.
type Run struct{ First, N int }

// ArchiveSegment describes an archive segment, as a manifest lists it. Its runs ascend, and
// come after the runs of the previous segment.
type ArchiveSegment struct {
	Name  string   // name of the segment
	Bytes int      // size of the block "records"
	Runs  []Run    // the commits with a record in the segment
	Refs  []string // segments that the records name
}

// Find returns the index of commit n among the segment's records.
func (a *ArchiveSegment) Find(n int) (at int, ok bool) {
	for _, r := range a.Runs {
		if n < r.First {
			break
		}
		if n < r.First+r.N {
			return at + n - r.First, true
		}
		at += r.N
	}
	return 0, false
}

// Len returns the number of records in the segment.
func (a *ArchiveSegment) Len() int {
	n := 0
	for _, r := range a.Runs {
		n += r.N
	}
	return n
}

// FindArchive returns the segment that holds commit n, and the record's index in it.
func FindArchive(segments []ArchiveSegment, n int) (s *ArchiveSegment, at int, ok bool) {
	i := sort.Search(len(segments), func(i int) bool { return segments[i].Runs[0].First > n }) - 1
	if i < 0 {
		return nil, 0, false
	}
	at, ok = segments[i].Find(n)
	return &segments[i], at, ok
}

// AppendArchive appends the block "records" of an archive segment.
func AppendArchive(dst []byte, runs []Run, records []Archived) []byte {
	dst = append(dst, format.Current)
	dst = AppendRuns(dst, runs)
	for _, a := range records {
		dst = append(dst, a.Kind)
		dst = codec.AppendText(dst, string(a.Rest))
	}
	return dst
}

// ReadArchive reads the block that AppendArchive wrote. The records alias b. The error is a
// *engine.Corrupt.
func ReadArchive(b []byte) (runs []Run, records []Archived, err error) {
	r := &codec.Reader{Rest: b}
	r.Format(format.Archive)
	runs = ReadRuns(r)
	for _, run := range runs {
		for range run.N {
			if r.Err != nil {
				return nil, nil, r.Err
			}
			a := Archived{Kind: r.Byte()}
			a.Rest = r.Bytes(r.Count())
			records = append(records, a)
		}
	}
	if r.Err == nil && len(r.Rest) > 0 {
		r.Fail("there are bytes after the last record")
	}
	return runs, records, r.Err
}

// AppendRuns appends the encoding of runs to dst.
func AppendRuns(dst []byte, runs []Run) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(runs)))
	for _, r := range runs {
		dst = binary.AppendUvarint(dst, uint64(r.First))
		dst = binary.AppendUvarint(dst, uint64(r.N))
	}
	return dst
}

// ReadRuns reads a list of runs, and fails unless the runs ascend and none is empty.
func ReadRuns(r *codec.Reader) (runs []Run) {
	end := 0
	for range r.Count() {
		run := Run{int(r.Ordinal()), int(r.Ordinal())}
		if r.Err == nil && (run.First < end || run.N == 0) {
			r.Fail(fmt.Sprintf("found a run of %d commits that starts at %d, but a run must have a commit and start at %d or later", run.N, run.First, end))
		}
		if r.Err != nil {
			return nil
		}
		end = run.First + run.N
		runs = append(runs, run)
	}
	return runs
}

// Runs groups ascending commit numbers into runs.
func Runs(numbers []int) (runs []Run) {
	for _, n := range numbers {
		if k := len(runs) - 1; k >= 0 && runs[k].First+runs[k].N == n {
			runs[k].N++
			continue
		}
		runs = append(runs, Run{n, 1})
	}
	return runs
}
