package version

import (
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/omnigraph-go/omnigraph/engine/embedded/format"
)

// The block "records" of a segment of the archive keeps what the log had of commits:
//
//	format    1 byte
//	runs      uvarint count; of each the number of its first commit in the history, and
//	          how many they are (uvarints)
//	records   of each commit of the runs: the kind (1 byte) and the payload behind the
//	          header (text: uvarint length, bytes)
//
// Of a commit that is replayed from no other state the kind is 0 and the payload empty.

// Archived is what the log had of a commit, beside its header. Its operations apply to
// any state of its first parent, however that one's entities are numbered.
type Archived struct {
	Kind uint8 // KindRows, KindSpilled, or 0 of a commit whose own state is kept
	Rest []byte
}

// Archive returns what is kept of a record: operations, wherever they lie. The numbers
// that other kinds hold are those of a state that may be laid out anew, so that their
// commits are kept as states.
func Archive(kind uint8, rest []byte) Archived {
	if kind != KindRows && kind != KindSpilled {
		return Archived{}
	}
	return Archived{kind, rest}
}

// Segment returns the segment that the record names; ok is false for none. The error is
// a *engine.Corrupt.
func (a Archived) Segment() (name string, ok bool, err error) {
	if a.Kind != KindSpilled {
		return "", false, nil
	}
	name, err = ReadSpilled(a.Rest)
	return name, err == nil, err
}

// Run is a run of commits by their numbers in the history.
type Run struct{ First, N int }

// ArchiveSegment is a segment of the archive, as a manifest names it. Its runs ascend,
// and lie behind those of the segment before.
type ArchiveSegment struct {
	Name  string
	Bytes int // of the block
	Runs  []Run
	Refs  []string // segments that its records name
}

// Find returns the place of a commit among the archive's records.
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

// Len returns the number of its records.
func (a *ArchiveSegment) Len() int {
	n := 0
	for _, r := range a.Runs {
		n += r.N
	}
	return n
}

// FindArchive returns the one of the segments that has a commit.
func FindArchive(segments []ArchiveSegment, n int) (s *ArchiveSegment, at int, ok bool) {
	i := sort.Search(len(segments), func(i int) bool { return segments[i].Runs[0].First > n }) - 1
	if i < 0 {
		return nil, 0, false
	}
	at, ok = segments[i].Find(n)
	return &segments[i], at, ok
}

// AppendArchive appends the block of a segment of the archive.
func AppendArchive(dst []byte, runs []Run, records []Archived) []byte {
	dst = append(dst, format.Current)
	dst = appendRuns(dst, runs)
	for _, a := range records {
		dst = append(dst, a.Kind)
		dst = appendText(dst, string(a.Rest))
	}
	return dst
}

// ReadArchive reads the records of a segment of the archive, which alias the block. The
// error is a *engine.Corrupt.
func ReadArchive(b []byte) (runs []Run, records []Archived, err error) {
	r := &reader{b: b}
	r.formatOf(format.Archive)
	runs = r.runs()
	for _, run := range runs {
		for range run.N {
			if r.err != nil {
				return nil, nil, r.err
			}
			a := Archived{Kind: r.byte()}
			a.Rest = r.bytes(r.count())
			records = append(records, a)
		}
	}
	if r.err == nil && len(r.b) > 0 {
		r.fail("bytes behind the records")
	}
	return runs, records, r.err
}

func appendRuns(dst []byte, runs []Run) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(runs)))
	for _, r := range runs {
		dst = binary.AppendUvarint(dst, uint64(r.First))
		dst = binary.AppendUvarint(dst, uint64(r.N))
	}
	return dst
}

// runs reads runs that ascend, none empty.
func (r *reader) runs() (runs []Run) {
	end := 0
	for range r.count() {
		run := Run{int(r.ordinal()), int(r.ordinal())}
		if r.err == nil && (run.First < end || run.N == 0) {
			r.fail(fmt.Sprintf("a run of %d commits from %d on, behind %d", run.N, run.First, end))
		}
		if r.err != nil {
			return nil
		}
		end = run.First + run.N
		runs = append(runs, run)
	}
	return runs
}

// Runs returns the runs of numbers that ascend.
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
