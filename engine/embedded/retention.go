package embedded

import (
	"slices"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

const (
	// maxReplay is the maximum number of records that are replayed to restore a commit from an
	// earlier state.
	maxReplay = 2048
	// A line gets a new anchor when anchorRecords records, or anchorBytes bytes of operations,
	// follow its last anchor. anchorRecords is well below maxReplay, and replaying up to either
	// bound takes some tens of milliseconds. Until an anchor is stored, it keeps in memory the old
	// version of each page that its line has changed since: about a megabyte for a thousand changes
	// far apart.
	anchorRecords = 1024
	anchorBytes   = 4 << 20 // in bytes
)

// notKept is the field What of a *engine.NotFound for a commit that is known, but has a state that
// was removed.
const notKept = "state of commit"

// retention owns the data that a graph keeps about the commits before its heads: complete states
// (anchors) and the records between them. A state is restored from the nearest anchor at or before
// its commit, in the line of first parents, and from the records after that anchor; see restorer. A
// commit with entity numbers in its record is always an anchor, because a rewrite changes the
// numbers. All other records identify entities by id.
//
// Only a checkpoint removes records or anchors. It does so with restorer.reading locked for
// writing.
type retention struct {
	history *ancestry.History // the commits of all branches
	files   *segmentFiles     // stores and removes segments

	mu       sync.Mutex
	archive  []logrecord.ArchiveSegment // segments with the records of old commits, oldest first
	archived int                        // the records of commits below this number are in the archive
	fresh    []logrecord.Archived       // the records of the commits from number `archived` on
	anchors  map[string]*anchor         // by commit id
	removed  bool                       // whether a branch was deleted since the last checkpoint
	// stale reports a stale manifest: after a crash, the manifest in force may lack some records or
	// anchors. Recovery could then not restore a state that a log record needs.
	stale bool
}

// anchor is a complete state of the past, which is not restored from another state. Its fields
// are guarded by retention.mu once it is in retention.anchors.
type anchor struct {
	version.Anchor                   // Name is empty until the anchor is stored
	snap           *version.Snapshot // nil when the state has to be read
	lsn            uint64            // LSN of the commit's record
	branch         *branch           // branch of the commit
}

// lineage holds the data that retention keeps about a branch. Guarded by retention.mu.
type lineage struct {
	run     run       // commits since the last anchor
	anchors []*anchor // anchors of the branch's commits; some may not be stored yet
}

// run counts the commits of a line after its last anchor: their records and their bytes of
// operations.
type run struct {
	records int // number of records
	bytes   int // total size of their operations
}

// note archives the record of a commit that has its place in the log, and makes the commit an
// anchor if needed. REQUIRES: branches.mu is locked, and the commit is the last of the history.
func (r *retention) note(b *branch, c *commit, kind uint8, rest []byte, size int) {
	a := logrecord.Archive(kind, rest)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fresh = append(r.fresh, a)
	b.line.run.records++
	b.line.run.bytes += size
	if a.Kind == 0 || b.line.run.records >= anchorRecords || b.line.run.bytes >= anchorBytes {
		r.anchorLocked(b, c)
	}
}

// anchorLocked makes the state of a commit an anchor. REQUIRES: r.mu is locked.
func (r *retention) anchorLocked(b *branch, c *commit) {
	id := c.snap.Commit.ID
	a := &anchor{Anchor: version.Anchor{Commit: id}, snap: c.snap, lsn: c.lsn, branch: b}
	r.anchors[id] = a
	b.line.anchors = append(b.line.anchors, a)
	b.line.run = run{}
}

// begin makes the first commit of a new graph an anchor.
func (r *retention) begin(b *branch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.archived = 1
	r.anchorLocked(b, b.tip)
}

// recover restores the archive and the anchors of a manifest. The argument `branches` lists the
// branches of the manifest. A state of the manifest that cannot be restored from an earlier anchor
// becomes an anchor itself. REQUIRES: the commits of the manifest are in the history.
func (r *retention) recover(m *version.Manifest, branches []*branch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.archive, r.archived = m.Archive, r.history.Len()
	for _, a := range m.Anchors {
		r.anchors[a.Commit] = &anchor{Anchor: a}
	}
	runs := map[string]run{} // by commit id; branches that begin at one commit share a tip
	for _, b := range branches {
		id := b.tip.snap.Commit.ID
		since, known := runs[id]
		if !known {
			var ok bool
			if since, ok = r.runToLocked(id); !ok {
				r.anchorLocked(b, b.tip)
				since = run{}
			}
			runs[id] = since
		}
		b.line.run = since
	}
}

// runToLocked counts the records between a commit and the last anchor in its line. ok is false if
// it finds no anchor within maxReplay records, or if a record is missing. REQUIRES: r.mu is
// locked.
func (r *retention) runToLocked(id string) (since run, ok bool) {
	r.history.LineNumbers(id, func(n int) bool {
		if r.anchors[r.history.ID(n)] != nil {
			ok = true
			return false
		}
		if n < r.archived {
			if _, _, there := logrecord.FindArchive(r.archive, n); !there {
				return false
			}
		}
		since.records++
		return since.records < maxReplay
	})
	return since, ok
}

// runOf returns the counts since the last anchor before the beginning of a branch. If parent is not
// nil, the branch begins at the tip of this parent. runOf returns a *engine.NotFound if it is
// impossible to restore the state at which the branch begins.
func (r *retention) runOf(parent *branch, origin *version.Snapshot) (run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if parent != nil {
		return parent.line.run, nil
	}
	since, ok := r.runToLocked(origin.Commit.ID)
	if !ok {
		return run{}, &engine.NotFound{What: notKept, Name: origin.Commit.ID, Reclaimed: true}
	}
	return since, nil
}

// readable returns a *engine.NotFound unless the state of each commit can be restored.
func (r *retention) readable(commits []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range commits {
		if _, ok := r.runToLocked(id); !ok {
			return &engine.NotFound{What: notKept, Name: id, Reclaimed: true}
		}
	}
	return nil
}

// archiveComplete reports whether the archive has the records of all archived commits but the
// first, which has no record.
func (r *retention) archiveComplete() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := 1
	for _, a := range r.archive {
		for _, run := range a.Runs {
			if run.First != next {
				return false
			}
			next += run.N
		}
	}
	return next == r.archived
}

// keptCommit is the data that retention keeps of one commit.
type keptCommit struct {
	anchored bool               // whether the commit has an anchor
	anchor   version.Anchor     // valid if anchored
	snap     *version.Snapshot  // the anchor's state if it is in memory
	record   logrecord.Archived // the record, if number is -1
	number   int                // the commit's number if its record is archived, else -1
}

// find returns the data that retention keeps of a commit.
func (r *retention) find(id string) keptCommit {
	n, _ := r.history.Number(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.anchors[id]; a != nil {
		return keptCommit{anchored: true, anchor: a.Anchor, snap: a.snap}
	}
	if n >= r.archived {
		return keptCommit{record: r.fresh[n-r.archived], number: -1}
	}
	return keptCommit{number: n}
}

// anchored reports whether the graph keeps an anchor, the complete state, of a commit.
func (r *retention) anchored(commit string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.anchors[commit] != nil
}

// stored lists the stored anchors in the order of their commit ids.
func (r *retention) stored() (all []version.Anchor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.anchors {
		if a.Name != "" {
			all = append(all, a.Anchor)
		}
	}
	slices.SortFunc(all, func(a, b version.Anchor) int { return strings.Compare(a.Commit, b.Commit) })
	return all
}

// keeps reports whether a stored anchor is still kept.
func (r *retention) keeps(a *version.Anchor) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.anchors[a.Commit]
	return now != nil && now.Name == a.Name
}

// states lists those states of anchors that are in memory.
func (r *retention) states() (all []*version.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.anchors {
		if a.snap != nil {
			all = append(all, a.snap)
		}
	}
	return all
}

// branchDeleted makes the next checkpoint drop the data that only the deleted branch needs.
func (r *retention) branchDeleted() {
	r.mu.Lock()
	r.removed = true
	r.mu.Unlock()
}

// setStale reports a stale manifest until a checkpoint succeeds.
func (r *retention) setStale() {
	r.mu.Lock()
	r.stale = true
	r.mu.Unlock()
}

// isStale returns the field `stale`.
func (r *retention) isStale() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stale
}
