package audittrail

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// tidy merges small parts, and removes records that are too old or have no room. REQUIRES: t.writing.
func (t *Trail) tidy(ctx context.Context) error {
	if err := t.merge(ctx); err != nil {
		return err
	}
	now := t.o.Now()
	if bytes := t.Stats().Bytes; now.Sub(t.tidied) >= tidyTime || bytes > t.o.Quota {
		t.tidied = now
		if err := t.expire(ctx, now); err != nil {
			return err
		}
		return t.room(ctx)
	}
	return nil
}

// loose reports whether a part may be merged with those after it.
func (p *partName) loose() bool { return !p.damaged && (!p.merged || p.size < settledBytes) }

// merge merges the last parts if they are small, and many or large enough together.
func (t *Trail) merge(ctx context.Context) error {
	from, logs, bytes := len(t.parts), 0, int64(0)
	for from > 0 && t.parts[from-1].loose() && bytes < 2*mergeBytes && (from == len(t.parts) || t.parts[from-1].last+1 == t.parts[from].first) {
		from--
		if p := t.parts[from]; !p.merged {
			logs, bytes = logs+1, bytes+p.size
		}
	}
	if logs < mergeParts && bytes < mergeBytes {
		return nil
	}
	old := t.parts[from:]
	runs := make([][]byte, 0, len(old))
	var before, head Hash
	for i, p := range old {
		name := t.object(t.chain, p)
		data, err := t.bucket.Read(ctx, name, 0, object.Whole)
		switch {
		case errors.Is(err, object.ErrNotFound):
			t.parts = slices.Delete(t.parts, from+i, from+i+1)
			t.o.Log.Error("a part of the audit trail is gone", "part", name)
			t.measure()
			return nil // the next attempt merges the parts after it
		case err != nil:
			return err
		}
		h, f, err := framesOf(data)
		if err != nil {
			t.parts[from+i].damaged = true
			t.o.Log.Error("a part of the audit trail is damaged; it is left as it is", "part", name, "error", err)
			return nil
		}
		if i == 0 {
			before = h.before
		}
		runs, head = append(runs, f), h.head
	}
	last := old[len(old)-1]
	merged := partName{first: old[0].first, last: last.last, time: last.time, merged: true}
	data, err := encodePart(merged.first, before, head, true, runs...)
	if err != nil {
		return err
	}
	merged.size = int64(len(data))
	if err := t.create(ctx, merged, data); err != nil {
		return err
	}
	old = slices.Clone(old)
	t.parts = append(t.parts[:from], merged)
	for _, p := range old {
		t.setStray(t.object(t.chain, p), false)
		_ = t.bucket.Delete(ctx, t.object(t.chain, p)) // readers pass over it, and the next start removes it
	}
	t.measure()
	return nil
}

// expire removes the parts whose records are too old, apart from the last one, which continues the chain. Servers that are gone cannot
// do that themselves, so this one takes their chains for a moment.
func (t *Trail) expire(ctx context.Context, now time.Time) error {
	oldest := now.Add(-t.o.Keep).UnixMicro()
	n := 0
	for n < len(t.parts)-1 && t.parts[n].time < oldest {
		n++
	}
	if n > 0 {
		if err := t.remove(ctx, n, "they were older than audit.keep"); err != nil {
			return err
		}
	}
	if t.o.peer {
		return nil
	}
	chains, err := t.list(ctx, "")
	if err != nil {
		return err
	}
	for _, c := range chains {
		if c.server == t.chain || len(c.parts) == 0 || c.parts[0].time >= oldest {
			continue
		}
		o := t.o
		o.Server, o.peer, o.Exclusive, o.Refuse, o.Quota, o.Head = c.server, true, false, false, math.MaxInt64, nil
		switch peer, err := Open(ctx, t.Store, o); {
		case err == nil:
			if err := peer.Close(ctx); err != nil {
				return err
			}
		case !errors.Is(err, errHeld) && !isDamage(err):
			return err
		}
	}
	return nil
}

// room removes the oldest parts if the chain has more bytes than its quota, or makes the server refuse calls.
func (t *Trail) room(ctx context.Context) error {
	over, n := t.Stats().Bytes-t.o.Quota, 0
	if t.o.Refuse {
		t.mu.Lock()
		defer t.mu.Unlock()
		if full := over > 0; full != t.full {
			t.full = full
			t.o.Log.Warn("the quota of the audit trail: calls are refused while it is used up", "used_up", full)
		}
		return nil
	}
	lost := uint64(0)
	for ; over > 0 && n < len(t.parts)-1; n++ {
		over -= t.parts[n].size
		lost += t.parts[n].last - t.parts[n].first + 1
	}
	if n == 0 {
		return nil
	}
	t.mu.Lock()
	t.stats.Lost += lost
	t.mu.Unlock()
	return t.remove(ctx, n, "audit.quota had no room for them")
}

// remove records that the first n parts are removed, and then removes them.
func (t *Trail) remove(ctx context.Context, n int, reason string) error {
	parts := slices.Clone(t.parts[:n])
	t.mu.Lock()
	t.noteLocked(Removed, &Note{Server: t.chain, Last: parts[n-1].last, Reason: reason})
	t.mu.Unlock()
	if err := t.flush(ctx); err != nil {
		return err
	}
	for _, p := range parts {
		if err := t.bucket.Delete(ctx, t.object(t.chain, p)); err != nil {
			return err
		}
		t.parts = t.parts[1:]
	}
	t.measure()
	return nil
}
