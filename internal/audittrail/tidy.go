package audittrail

import (
	"context"
	"fmt"
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
func (p *partName) loose() bool { return !p.merged || p.size < settledBytes }

// merge merges the last parts if they are small, and many or large enough together.
func (t *Trail) merge(ctx context.Context) error {
	from, logs, bytes := len(t.parts), 0, int64(0)
	for from > 0 && t.parts[from-1].loose() && bytes < 2*mergeBytes {
		from--
		if p := t.parts[from]; !p.merged {
			logs, bytes = logs+1, bytes+p.size
		}
	}
	if logs < mergeParts && bytes < mergeBytes {
		return nil
	}
	old := t.parts[from:]
	frames := make([]byte, 0, bytes+bytes/4)
	var before, head Hash
	for i, p := range old {
		data, err := t.bucket.Read(ctx, t.object(t.o.Server, p), 0, object.Whole)
		if err != nil {
			return err
		}
		h, f, err := framesOf(data)
		if err != nil {
			return fmt.Errorf("the part %s of the audit trail: %w", t.object(t.o.Server, p), err)
		}
		if i == 0 {
			before = h.before
		}
		frames, head = append(frames, f...), h.head
	}
	last := old[len(old)-1]
	merged := partName{first: old[0].first, last: last.last, time: last.time, merged: true}
	data, err := encodePart(merged.first, before, head, frames, true)
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
		_ = t.bucket.Delete(ctx, t.object(t.o.Server, p)) // readers pass over it, and the next start removes it
	}
	t.measure()
	return nil
}

// expire removes the parts of all chains whose records are too old. Servers that are gone cannot do it themselves.
func (t *Trail) expire(ctx context.Context, now time.Time) error {
	oldest := now.Add(-t.o.Keep).UnixMicro()
	chains, err := t.list(ctx, "")
	if err != nil {
		return err
	}
	for _, c := range chains {
		parts := c.parts
		if c.server == t.o.Server {
			parts = t.parts
		}
		n := 0
		for n < len(parts) && parts[n].time < oldest {
			n++
		}
		if c.server == t.o.Server {
			n = min(n, len(parts)-1) // the last part continues the chain
		}
		if n > 0 {
			if err := t.remove(ctx, c.server, parts[:n], "they were older than audit.keep"); err != nil {
				return err
			}
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
	return t.remove(ctx, t.o.Server, t.parts[:n], "audit.quota had no room for them")
}

// remove records that the first parts of a chain are removed, and then removes them.
func (t *Trail) remove(ctx context.Context, server string, parts []partName, reason string) error {
	parts = slices.Clone(parts)
	t.mu.Lock()
	t.noteLocked(Removed, &Note{Server: server, Last: parts[len(parts)-1].last, Reason: reason})
	t.mu.Unlock()
	if err := t.flush(ctx); err != nil {
		return err
	}
	for _, p := range parts {
		if err := t.bucket.Delete(ctx, t.object(server, p)); err != nil {
			return err
		}
		if server == t.o.Server {
			t.parts = t.parts[1:]
		}
	}
	t.measure()
	return nil
}
