package sharedlog

import (
	"context"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/object"
)

// Collect deletes objects that no reader needs, and returns how many it deleted:
//
//   - the log objects that the checkpoint in force covers, except takeover objects, and all older
//     checkpoints: the announcement of the checkpoint condemned them;
//   - newer checkpoints that a writer of an earlier epoch stored and did not announce.
//
// It deletes nothing until this Follower has known the checkpoint in force for the duration
// `retention`. Every server may call it at any time, even if its Follower lags behind the log: a
// condemned object stays condemned.
func (f *Follower) Collect(ctx context.Context, retention time.Duration) (deleted int, err error) {
	if f.inForce == nil || f.Now().Sub(f.inForceSince) < retention {
		return 0, nil
	}
	covered := f.inForce.covered()
	n, err := f.collect(ctx, logPrefix, func(name string) (collected, more bool, err error) {
		number, err := logNumber(name)
		if err != nil || number > covered {
			return false, false, err
		}
		return !f.at.tookOverAt(number) || f.Faults.CollectTakeovers, true, nil
	})
	if err != nil {
		return n, err
	}
	m, err := f.collect(ctx, checkpointPrefix, func(name string) (collected, more bool, err error) {
		last, epoch, err := parseCheckpointName(name)
		return name != f.inForce.name && (last < covered || epoch < f.at.epoch), true, err
	})
	return n + m, err
}

// collect calls `choose` for the names below a prefix, in order. It deletes each object for which
// choose returns `collected`, and ends when choose returns false for `more`.
func (f *Follower) collect(ctx context.Context, prefix string, choose func(name string) (collected, more bool, err error)) (deleted int, err error) {
	for after := ""; ; {
		names, err := f.list(ctx, prefix, after, object.MaxList)
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
			if err := f.delete(ctx, name); err != nil {
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
