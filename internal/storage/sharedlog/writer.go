package sharedlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Writer is the server that writes the log of a graph, until another server takes over. One goroutine
// at a time may use it and its Follower.
type Writer struct {
	f       *Follower
	epoch   uint64 // began with the takeover of this Writer
	layouts uint64 // number of layouts that this Writer has made
	ended   bool   // the Writer can write no more
}

// maxLayouts is the number of layouts that one epoch can make.
const maxLayouts = 1 << 40

// TakeOver makes this server the writer. It creates a takeover object with the next epoch at the
// next number of the log. Call it after CatchUp, and judge preconditions only after TakeOver has
// returned a Writer. The error matches ErrLost if another server created an object of that number
// first: in this case follow the log and try again. After any other error, open the log again. If the
// error matches ErrIndeterminate, the takeover object may be stored.
func (f *Follower) TakeOver(ctx context.Context) (*Writer, error) {
	body, err := json.Marshal(takeoverBody{Node: f.Node, Incarnation: f.Incarnation, Address: f.Address})
	if err != nil {
		return nil, err
	}
	e, err := f.newEntry(takeover, max(f.at.epoch+1, f.LeastEpoch))
	if err != nil {
		return nil, err
	}
	e.body = body
	found, err := f.create(ctx, e)
	if err != nil {
		return nil, err
	}
	if found != e {
		return nil, ErrLost
	}
	if !f.Faults.SkipSecondLook {
		switch _, covered, err := f.newestCheckpoint(context.WithoutCancel(ctx)); {
		case errors.Is(err, ErrUnavailable):
			// Not ErrUnavailable, which says that nothing was written.
			return nil, fmt.Errorf("%w: the takeover is stored, but it may be void: %v", ErrIndeterminate, err)
		case err != nil:
			return nil, err
		case covered >= e.number:
			return nil, ErrBehind // the number was free because its object had been collected
		}
	}
	if err := f.apply(ctx, e); err != nil {
		return nil, err
	}
	return &Writer{f: f, epoch: e.epoch}, nil
}

// Covered returns the number of the last log object that the checkpoint in force covers; 0 if there
// is none.
func (w *Writer) Covered() uint64 {
	if w.f.inForce == nil {
		return 0
	}
	return w.f.inForce.covered()
}

// Garbage returns what may be deleted now; see [Follower.Garbage].
func (w *Writer) Garbage() *Garbage { return w.f.Garbage() }

// Finish notes which of the garbage is deleted; see [Follower.Finish].
func (w *Writer) Finish(c *Garbage) { w.f.Finish(c) }

// Current returns the time at which this server sent its last request that showed that it was the
// writer; see [Writer.CatchUp].
func (w *Writer) Current() time.Time { return w.f.Current() }

// Confirmed returns the latest time for which this server knows that it has read the whole log; see
// [Follower.Confirmed].
func (w *Writer) Confirmed() time.Time { return w.f.Confirmed() }

// Epoch returns the epoch of the Writer, which began with its takeover.
func (w *Writer) Epoch() uint64 { return w.epoch }

// Append stores records as one group and applies them to the State. It returns nil when they are
// durable. The error matches ErrLost, ErrIndeterminate or ErrUnavailable. The Writer remains usable
// after ErrUnavailable; after the other two it has ended. Records that do not fit into one log
// object are refused with an error of no such kind, and the Writer remains usable.
func (w *Writer) Append(ctx context.Context, records [][]byte) error {
	size := 0
	for _, r := range records {
		size += bytesOf(r)
	}
	if size > maxGroup {
		return fmt.Errorf("a group of %d bytes is too large; a log object stores at most %d, so use several groups", size, maxGroup)
	}
	e, err := w.newEntry(group)
	if err != nil {
		return err
	}
	e.records = records
	return w.write(ctx, e)
}

// CatchUp makes sure that this server was still the writer when CatchUp was called. A read of the
// State afterwards is linearizable. The error matches ErrLost if another server has taken over.
func (w *Writer) CatchUp(ctx context.Context) error {
	if err := w.Check(); err != nil {
		return err
	}
	err := w.f.CatchUp(ctx)
	w.ended = err != nil && !errors.Is(err, ErrUnavailable)
	if lost := w.Check(); lost != nil && err == nil {
		return lost
	}
	return err
}

// Check returns ErrLost if this server knows that the Writer has ended. It sends no request. It also
// compares the epochs, because CatchUp may have applied another server's takeover and failed
// afterwards.
func (w *Writer) Check() error {
	if w.ended || w.f.at.epoch != w.epoch {
		return ErrLost
	}
	return nil
}

// Capture begins a checkpoint of the State, which contains all records so far. Store the checkpoint,
// and then put it into force with Announce. Records may be appended in between, also during Store.
func (w *Writer) Capture() (*Checkpoint, error) { return w.capture(w.f.at.layout) }

// Rewrite stores a checkpoint in which the rows have a new layout, and puts it into force, as Announce
// does. The Follower then loads the State from that checkpoint. The errors are those of Append.
func (w *Writer) Rewrite(ctx context.Context, state []byte, condemned []uint64) error {
	if w.layouts++; w.layouts >= maxLayouts {
		return fmt.Errorf("the writer has made %d layouts, the most of one epoch; take over again", w.layouts)
	}
	// The epoch is part of the number, so that two writers never give one number to two layouts.
	c, err := w.capture(w.epoch*maxLayouts + w.layouts)
	if err != nil {
		return err
	}
	if err := c.Store(ctx, state); err != nil {
		return err
	}
	return w.Announce(ctx, c, condemned)
}

// capture begins a checkpoint whose rows have the given layout.
func (w *Writer) capture(layout uint64) (*Checkpoint, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	random, err := w.f.random(8)
	if err != nil {
		return nil, err
	}
	c := &Checkpoint{storage: w.f.storage, at: w.f.at}
	c.at.takeovers = slices.Clone(w.f.at.takeovers)
	c.at.layout = layout
	c.name = checkpointName(c.covered(), w.epoch, [8]byte(random))
	return c, nil
}

// Announce puts a checkpoint into force, and so condemns the log objects and checkpoints before it. It
// also condemns the given segments: the graph needs them neither in the state of the checkpoint nor
// for a record that the checkpoint does not cover. The errors are those of Append.
func (w *Writer) Announce(ctx context.Context, c *Checkpoint, condemned []uint64) error {
	if err := w.Check(); err != nil {
		return err
	}
	switch {
	case c.sum == (sum{}):
		return fmt.Errorf("checkpoint %s is not stored; store it before its announcement", c.name)
	case w.f.inForce != nil && c.covered() <= w.f.inForce.covered():
		return fmt.Errorf("checkpoint %s is not newer than the one in force; make another one", c.name)
	case c.at.layout != w.f.at.layout && c.covered() != w.f.at.next-1:
		return fmt.Errorf("checkpoint %s changes the layout, so no log object may come between it and its announcement; make another one", c.name)
	}
	e, err := w.newEntry(announcement)
	if err != nil {
		return err
	}
	e.body, err = json.Marshal(announcementBody{
		Name: c.name, Sum: c.sum[:], Covered: c.covered(), Layout: c.at.layout, Condemned: w.f.condemn(e.time, c.covered(), condemned),
	})
	if err != nil {
		return err
	}
	return w.write(ctx, e)
}

// newEntry returns a log object of this Writer for the next number.
func (w *Writer) newEntry(k kind) (*entry, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	return w.f.newEntry(k, w.epoch)
}

// newEntry returns a log object for the next number.
func (f *Follower) newEntry(k kind, epoch uint64) (*entry, error) {
	id, err := f.random(len(groupID{}))
	if err != nil {
		return nil, err
	}
	return &entry{
		kind: k, number: f.at.next, epoch: epoch, first: f.at.lsn, previous: f.at.last, layout: f.at.layout,
		time: max(f.Now().UnixMilli(), f.at.time), id: groupID(id),
	}, nil
}

// write creates a log object and applies it.
func (w *Writer) write(ctx context.Context, e *entry) error {
	for {
		if w.f.Faults.RollUpEarly {
			w.f.rollUpEarly(ctx, e)
		}
		found, err := w.f.create(ctx, e)
		if err != nil {
			w.ended = !errors.Is(err, ErrUnavailable)
			return err
		}
		if found == e {
			break
		}
		if found.epoch >= w.epoch && !w.f.Faults.IgnoreEpoch {
			w.ended = true
			return ErrLost
		}
		// A void object of an earlier epoch has used up the number.
		w.f.at.next++
		w.f.note(found)
		e.number = w.f.at.next
	}
	if err := w.f.apply(context.WithoutCancel(ctx), e); err != nil {
		w.ended = true
		return fmt.Errorf("%w: the write is stored, but this server could not apply it: %w", ErrIndeterminate, err)
	}
	return nil
}
