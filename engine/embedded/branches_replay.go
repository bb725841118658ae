package embedded

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
)

// replayCommit makes a commit that was read from the log the tip and the head of its branch. The
// argument `rest` is the commit's record after its header. REQUIRES: the caller holds the write
// lock of b.
func (l *branches) replayCommit(b *branch, next *commit, receipt *logrecord.Receipt, kind uint8, rest []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := next.snap.Commit
	l.advanceLocked(b, next)
	l.history.Add(c, next.lsn)
	b.keys.Add(l.history, c, receipt)
	l.retention.note(b, next, kind, rest, len(rest))
	l.lsn, l.last = next.lsn, nil
	b.show(next)
}

// replayCreate makes a branch for a record that was read from the log. It returns a
// *engine.NotFound if it is impossible to restore the state `origin`, at which the branch begins.
func (l *branches) replayCreate(made *logrecord.Branching, origin *version.Snapshot, lsn uint64) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := recoveredBranch(made.Name, origin.Fork(), lsn)
	if b.line.run, err = l.retention.runOf(l.byName[made.From], origin); err != nil {
		return err
	}
	l.addLocked(b)
	l.bases.hold(b, origin)
	l.lsn, l.last = lsn, nil
	return nil
}

// replayDelete removes a branch for a record that was read from the log.
func (l *branches) replayDelete(b *branch, lsn uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removeLocked(b)
	l.retention.branchDeleted()
	l.lsn, l.last = lsn, nil
}
