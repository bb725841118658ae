package simulation

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// maintain makes and announces checkpoints, and looks for orphans. Groups may be stored between a
// checkpoint and its announcement, unless the layout changes.
func (x *session) maintain() error {
	w, t := x.s.w, x.s.w.trouble
	if w.lagging > w.now {
		t.rewrite, t.checkpoint = 0, 0
		if x.m.lsn > w.hesitated && x.inForce <= w.hesitated {
			t.checkpoint = 1
		}
	}
	var err error
	switch {
	case w.chance(t.rewrite):
		x.checkpoint = nil
		x.newSegment(x.m.rewritten(w.rng))
		if err = x.uploadSegment(); err == nil {
			err = x.writer.Rewrite(background, x.state(), x.condemned())
		}
		if err == nil { // the Follower has loaded the new segment
			x.announced(x.segment, x.content)
			w.cover(NewLayout)
		}
	case x.checkpoint == nil && w.chance(t.checkpoint):
		x.newSegment(x.m.encode())
		x.uploaded, x.captured = false, x.m.lsn
		x.checkpoint, err = x.writer.Capture()
	case x.checkpoint != nil && !x.uploaded && w.chance(t.checkpoint):
		if err = x.uploadSegment(); err == nil {
			err = x.checkpoint.Store(background, x.state())
		}
		x.uploaded = err == nil
		if err != nil {
			x.checkpoint = nil
		}
	case x.checkpoint != nil && x.uploaded && w.chance(t.checkpoint):
		if err = x.writer.Announce(background, x.checkpoint, x.condemned()); err == nil {
			x.announced(x.segment, x.content)
			x.inForce = x.captured
			w.cover(Announced)
			if x.m.lsn > x.captured {
				w.cover(AnnouncedLater)
			}
		}
		x.checkpoint = nil
	case x.complete && len(x.orphans) == 0 && w.chance(t.checkpoint):
		err = x.findOrphans()
	}
	if errors.Is(err, sharedlog.ErrUnavailable) {
		return nil // nothing was written; the writer can continue
	}
	return err
}

// newSegment gives the content of a segment a number. uploadSegment stores the segment.
func (x *session) newSegment(content []byte) {
	x.made++
	x.segment, x.content = x.writer.Epoch()*sharedlog.SegmentsPerEpoch+x.made, content
}

// uploadSegment stores the last segment.
func (x *session) uploadSegment() error {
	return x.options.Repeat(background, func() error {
		return x.options.Bucket.Upload(background, sharedlog.SegmentName(x.segment), bytes.NewReader(x.content), int64(len(x.content)))
	})
}

// state returns the state of a checkpoint that needs the last segment.
func (x *session) state() []byte { return fmt.Append(nil, x.segment) }

// condemned returns the segments that the graph does not need once the next checkpoint is in force.
func (x *session) condemned() []uint64 {
	condemned := x.orphans
	if x.m.segment != 0 && x.m.segment != x.segment {
		condemned = append(condemned, x.m.segment)
	}
	return condemned
}

// announced notes that a checkpoint is in force.
func (x *session) announced(segment uint64, content []byte) {
	x.m.segment, x.m.content, x.m.covered = segment, content, x.writer.Covered()
	x.complete, x.orphans = true, nil
}

// findOrphans looks for the segments of earlier writers that no checkpoint needs.
func (x *session) findOrphans() error {
	stored, err := x.options.Segments(background)
	if err != nil {
		return err
	}
	x.orphans = x.writer.Orphans(stored, func(number uint64) bool { return number == x.m.segment })
	x.s.w.covered[OrphanFound] += len(x.orphans)
	return nil
}

// restore reads the segment of the session's checkpoint again, as a read of an old commit does.
func (x *session) restore() error {
	if x.m.segment == 0 {
		return nil
	}
	content, err := x.options.Bucket.Read(background, sharedlog.SegmentName(x.m.segment), 0, object.Whole)
	switch {
	case errors.Is(err, object.ErrNotFound):
		x.s.w.cover(SegmentGone)
		return fmt.Errorf("%w: segment %d was collected", sharedlog.ErrUnavailable, x.m.segment)
	case err == nil && !bytes.Equal(content, x.m.content):
		x.s.w.violate("%s: segment %d has another content than before", x.s.name, x.m.segment)
	}
	return nil // without an answer, the read would fail, and the session could go on
}

// needed asks all servers for the oldest checkpoint that one of them needs.
func (x *session) needed(context.Context) (oldest uint64, err error) {
	for _, s := range x.s.w.machines {
		sign, err := x.options.Bucket.Read(background, "node/"+s.name, 0, object.Whole)
		switch {
		case errors.Is(err, object.ErrNotFound):
			continue
		case err != nil:
			return 0, fmt.Errorf("%w: %w", sharedlog.ErrUnavailable, err)
		}
		if covered := pinOf(sign); covered != 0 && (oldest == 0 || covered < oldest) {
			oldest = covered
		}
	}
	return oldest, nil
}

// pinOf returns what a sign of a server contains after its number: the last log object that the
// server's checkpoint covers.
func pinOf(sign []byte) uint64 { return binary.LittleEndian.Uint64(sign[8:]) }

// pin is the need that a server has announced in its sign.
type pin struct {
	covered uint64 // the last log object that the server's checkpoint covers; 0 for none
	since   uint64 // number of the event from which on the sign has protected this checkpoint
}

// condemnedAt says when a segment was first condemned.
type condemnedAt struct {
	event   uint64 // number of the event
	covered uint64 // the last log object that the announced checkpoint covers
}

// signed notes a sign that the storage now has.
func (w *world) signed(name string, sign []byte) {
	w.stored++
	p := pin{covered: pinOf(sign), since: w.stored}
	if old := w.pins[name]; old.covered != 0 && p.covered >= old.covered {
		p.since = old.since
	}
	w.pins[name] = p
}

// announcedIn notes what an announcement that the storage now has condemns.
func (w *world) announcedIn(body []byte) {
	w.stored++
	var a struct {
		Condemned []struct {
			Covered  uint64
			Segments [][2]uint64 // the first number, and how many follow each other
		}
	}
	if err := json.Unmarshal(body, &a); err != nil {
		w.violate("an announcement cannot be read: %v", err)
	}
	for _, c := range a.Condemned {
		for _, s := range c.Segments {
			for n := range s[1] {
				if _, known := w.condemned[s[0]+n]; !known {
					w.condemned[s[0]+n] = condemnedAt{w.stored, c.Covered}
				}
			}
		}
	}
}

// checkDeleted notes a broken promise if a server announced its need of a segment before the segment
// was condemned, and needs it still.
func (w *world) checkDeleted(number uint64) {
	c, ok := w.condemned[number]
	if !ok {
		w.violate("segment %d was deleted, but no announcement condemned it", number)
		return
	}
	for _, s := range w.machines {
		if p := w.pins["node/"+s.name]; p.covered != 0 && p.covered < c.covered && p.since < c.event {
			w.violate("segment %d was deleted, but %s needs it", number, s.name)
		}
	}
}
