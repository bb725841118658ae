package sharedlog

import (
	"context"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// maxPin is how long after the retention a condemned segment stays because a server needs it.
const maxPin = 24 * time.Hour

// Collected counts the objects that a garbage collection deleted.
type Collected struct {
	LogObjects  int // groups, announcements and void objects, and roll-ups
	Checkpoints int // superseded ones, and ones that were never in force
	Segments    int // condemned ones

	// Pinned is the number of segments that stay because a server needs them.
	Pinned int
}

// Deleted returns how many objects the garbage collection deleted.
func (c Collected) Deleted() int { return c.LogObjects + c.Checkpoints + c.Segments }

// Garbage is what could be deleted at the moment when it was made:
//
//   - the log objects that a checkpoint covers, except takeover objects, roll-ups of such objects, and
//     all older checkpoints, once the checkpoint has been in force for Options.Retention;
//   - the segments that were condemned that long ago, unless a server needs them;
//   - newer checkpoints that a writer of an earlier epoch stored and did not announce.
type Garbage struct {
	storage
	due       []condemnation // those whose retention had passed, the oldest first
	inForce   *Checkpoint    // the checkpoint that was in force
	epoch     uint64         // the epoch of the log
	takeovers []uint64       // the numbers of the takeover objects, in order
}

// Garbage returns what may be deleted now, or nil if there is nothing. Every server may call it
// at any time, even if its Follower lags behind the log, because a condemned object stays
// condemned.
func (f *Follower) Garbage() *Garbage {
	c := &Garbage{storage: f.storage, inForce: f.inForce, epoch: f.at.epoch, takeovers: slices.Clip(f.at.takeovers)}
	for i := range f.condemned {
		if f.due(&f.condemned[i]) {
			c.due = append(c.due, f.condemned[i])
		}
	}
	if !slices.ContainsFunc(c.due, func(c condemnation) bool { return !c.done }) {
		return nil
	}
	return c
}

// Finish notes which of the garbage is deleted, so that it is not deleted again.
func (f *Follower) Finish(c *Garbage) {
	for i := range f.condemned {
		for _, d := range c.due {
			if d.done && d.Time == f.condemned[i].Time && d.Covered == f.condemned[i].Covered {
				f.condemned[i].done = true
			}
		}
	}
}

// Delete deletes the garbage. The Follower may be used at the same time.
//
// `needed` asks the servers for the oldest checkpoint that one of them needs, and returns the last
// log number that this checkpoint covers, or 0 if they need none. Delete calls it after the log has
// condemned the segments. So a server that announced its need before that keeps its segments, for
// at most a day after the retention. If `needed` is nil, no server needs anything.
func (c *Garbage) Delete(ctx context.Context, needed func(context.Context) (uint64, error)) (n Collected, err error) {
	covered := c.due[len(c.due)-1].Covered
	// The checkpoints go before the segments: a server must not find a checkpoint without its segments.
	n.Checkpoints, err = c.each(ctx, checkpointPrefix, func(name string) (collected, more bool, err error) {
		last, epoch, err := parseCheckpointName(name)
		unannounced := last >= c.inForce.covered() && epoch < c.epoch
		return name != c.inForce.name && (last < covered || unannounced), true, err
	})
	if err != nil {
		return n, err
	}
	n.LogObjects, err = c.each(ctx, logPrefix, func(name string) (collected, more bool, err error) {
		number, err := logNumber(name)
		if err != nil || number > covered {
			return false, false, err
		}
		_, isTakeover := slices.BinarySearch(c.takeovers, number)
		return !isTakeover || c.Faults.CollectTakeovers, true, nil
	})
	if err != nil {
		return n, err
	}
	rollUps, err := c.each(ctx, rollUpPrefix, func(name string) (collected, more bool, err error) {
		_, last, err := parseRollUpName(name)
		return last <= covered, last <= covered, err
	})
	n.LogObjects += rollUps
	if err != nil {
		return n, err
	}
	var oldest uint64
	if needed != nil && !c.Faults.IgnorePins && slices.ContainsFunc(c.due, func(d condemnation) bool { return !d.done && len(d.Segments) > 0 }) {
		if oldest, err = needed(ctx); err != nil {
			return n, err
		}
	}
	for i := range c.due {
		d := &c.due[i]
		switch {
		case d.done:
			continue
		case oldest != 0 && oldest < d.Covered && c.Now().Sub(time.UnixMilli(d.Time)) < max(c.Retention, 0)+maxPin:
			for _, s := range d.Segments {
				n.Pinned += int(s[1])
			}
			continue
		}
		err := all(d.Segments, func(number uint64) error {
			err := c.delete(ctx, SegmentName(number))
			if err == nil {
				n.Segments++
			}
			return err
		})
		if err != nil {
			return n, err
		}
		d.done = true
	}
	return n, nil
}

// each calls `choose` for the names below a prefix, in order. It deletes each object for which
// choose returns `collected`, and ends when choose returns false for `more`.
func (c *Garbage) each(ctx context.Context, prefix string, choose func(name string) (collected, more bool, err error)) (deleted int, err error) {
	for after := ""; ; {
		names, err := c.list(ctx, prefix, after, object.MaxList)
		if err != nil {
			return deleted, err
		}
		for _, name := range names {
			collected, more, err := choose(name)
			if err != nil || !more {
				return deleted, err
			}
			if !collected {
				continue
			}
			if err := c.delete(ctx, name); err != nil {
				return deleted, err
			}
			deleted++
		}
		if len(names) < object.MaxList {
			return deleted, nil
		}
		after = names[len(names)-1]
	}
}
