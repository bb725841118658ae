package sharedlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// maxOpens limits how often one Open starts again because log objects were collected meanwhile.
const maxOpens = 100

// Follower reads the log of a graph and applies it to a State. One goroutine at a time may use it.
type Follower struct {
	storage
	at position

	inForce    *Checkpoint    // the checkpoint of the last announcement that the Follower has applied; nil if none
	condemned  []condemnation // as that announcement lists them, the oldest first
	loaded     string         // name of the last checkpoint that the State loaded; "" if none
	superseded time.Time      // when the Follower applied the first announcement of another checkpoint after that; zero if none
	confirmed  time.Time      // the log had no object after the Follower's position at this time
	current    time.Time      // when the last request was sent that found no object after the position
	writer     Takeover       // the takeover of the present writer, if the method Takeover has read it

	passed  window    // the log objects before the position that no roll-up of this server contains
	streak  int       // number of log objects read one by one since the end of the log; below 0 after a list of the roll-ups
	rollUps []string  // names of the listed roll-ups that have not been used, in order
	listed  time.Time // when the roll-ups were listed
	ahead   []*entry  // log objects from a roll-up, of consecutive numbers; none is before the position

	// unannounced is the newest checkpoint that Open found, if no log object announces it. Its list
	// of takeovers shows which takeover objects, up to the last log object that it covers, are not
	// void.
	unannounced *Checkpoint

	// opening is the checkpoint from which Open started. It is nil once the Follower has read the
	// announcement of that checkpoint.
	opening *Checkpoint
}

// errNotInForce makes Open try an older checkpoint, because the one from which it reads the log is
// not in force.
var errNotInForce = errors.New("the checkpoint is not in force")

// Open reads the newest checkpoint in force and all log objects after it into the State of the
// options. The error matches ErrUnavailable or is a *CorruptError.
func Open(ctx context.Context, o Options) (*Follower, error) {
	o = o.withDefaults()
	for range maxOpens {
		f, err := open(ctx, o)
		if !errors.Is(err, ErrBehind) {
			return f, err
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	return nil, fmt.Errorf("%w: log objects were collected faster than this server could read them", ErrUnavailable)
}

// open tries the checkpoints from the newest to the oldest, and finally the start of the log.
func open(ctx context.Context, o Options) (*Follower, error) {
	var newest *Checkpoint
	for tried := ""; ; {
		f := &Follower{storage: storage{o}, at: start(), unannounced: newest}
		names, err := f.list(ctx, checkpointPrefix, tried, 1)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			o.State.Reset()
			_, err := f.readToEnd(ctx)
			f.unannounced = nil
			return f, err
		}
		c, err := f.readCheckpoint(ctx, names[0])
		if err != nil {
			return nil, err
		}
		f.opening = c
		if err := f.load(c); err != nil {
			return nil, err
		}
		atEnd, err := f.readToEnd(ctx)
		switch {
		case errors.Is(err, errNotInForce) || atEnd && f.opening != nil:
			tried = c.name
			if newest == nil {
				newest = c
			}
		case err != nil:
			return nil, err
		default:
			f.unannounced = nil // a later one makes this server open the log again
			return f, nil
		}
	}
}

// Next reads the next log object and applies it. It returns false at the end of the log. It
// confirms the end by a list of checkpoints that may be up to Options.Recheck old, so the result
// may be out of date. The error matches ErrBehind or ErrUnavailable, or is a *CorruptError.
func (f *Follower) Next(ctx context.Context) (bool, error) { return f.step(ctx, false) }

// CatchUp applies all log objects that existed when it was called. A read of the State afterwards is
// linearizable.
func (f *Follower) CatchUp(ctx context.Context) error {
	_, err := f.readToEnd(ctx)
	return err
}

// Epoch returns the epoch of the last takeover that the Follower has applied.
func (f *Follower) Epoch() uint64 { return f.at.epoch }

// LoadedInForce reports whether the State has loaded the checkpoint in force, if there is one.
// Otherwise the State may consist of data that only earlier checkpoints need, and that the
// announcement of the checkpoint in force has condemned.
func (f *Follower) LoadedInForce() bool { return f.inForce == nil || f.inForce.name == f.loaded }

// Superseded returns the time at which the Follower learned that the checkpoint that the State has
// loaded is no longer in force, or the zero time if it is in force. The retention of segments that
// only that checkpoint needs began at about this time.
func (f *Follower) Superseded() time.Time {
	if f.LoadedInForce() {
		return time.Time{}
	}
	return f.superseded
}

// NextLSN returns the LSN that the next record will have.
func (f *Follower) NextLSN() uint64 { return f.at.lsn }

// Confirmed returns the latest time for which the Follower knows that it has read the whole log:
// the State contains all records that were stored before that time.
func (f *Follower) Confirmed() time.Time { return f.confirmed }

// Current returns the time at which the Follower sent its last request that found the end of the
// log. The end may be confirmed by a list of checkpoints that was up to Options.Recheck old.
func (f *Follower) Current() time.Time { return f.current }

// Takeover describes the last takeover of a log, and so its writer.
type Takeover struct {
	Epoch uint64 // of the writer; 0 if no server has taken over yet

	// Node, Incarnation and Address are those of the writer's Options.
	Node, Incarnation, Address string
}

// Takeover returns the takeover that the Follower applied last. It reads the takeover object,
// unless it has read that object before.
func (f *Follower) Takeover(ctx context.Context) (Takeover, error) {
	if len(f.at.takeovers) == 0 || f.writer.Epoch == f.at.epoch {
		return f.writer, nil
	}
	number := f.at.takeovers[len(f.at.takeovers)-1]
	e, err := f.readEntry(ctx, number)
	if err != nil {
		return Takeover{}, err
	}
	var body takeoverBody
	if err := json.Unmarshal(e.body, &body); err != nil {
		return Takeover{}, &CorruptError{Name: logName(number), Fault: "its takeover cannot be read: " + err.Error()}
	}
	f.writer = Takeover{Epoch: f.at.epoch, Node: body.Node, Incarnation: body.Incarnation, Address: body.Address}
	return f.writer, nil
}

// readToEnd applies log objects until the end of the log, and makes sure that it is the end.
func (f *Follower) readToEnd(ctx context.Context) (bool, error) {
	for {
		if more, err := f.step(ctx, true); err != nil || !more {
			return err == nil, err
		}
	}
}

// step reads and applies one log object. It returns false at the end of the log. If `confirm` is
// true, step always lists the checkpoints to make sure that the log ends there.
func (f *Follower) step(ctx context.Context, confirm bool) (bool, error) {
	asked := f.Now() // later records are not in the state, even if an answer takes long
	e, err := f.nextEntry(ctx)
	if errors.Is(err, object.ErrNotFound) {
		if !confirm && f.Now().Sub(f.confirmed) < f.Recheck {
			f.current = asked
			return false, nil
		}
		if f.Faults.TrustMissing {
			f.confirmed, f.current = asked, asked
			return false, nil
		}
		switch _, covered, err := f.newestCheckpoint(ctx); {
		case err != nil:
			return false, err
		case covered >= f.at.next:
			return false, ErrBehind
		}
		f.confirmed, f.current = asked, asked
		return false, nil
	} else if err != nil {
		return false, err
	}
	valid := f.at.continues(e)
	if (!valid || e.kind == takeover) && !f.Faults.SkipReaderLook {
		if err := f.checkCollected(ctx, e, valid); err != nil {
			return false, err
		}
	}
	if !valid {
		f.at.next++
		f.note(e)
		return true, nil
	}
	return true, f.apply(ctx, e)
}

// checkCollected returns ErrBehind if a checkpoint covers a log object that the Follower is about
// to apply as a takeover or to skip as void. The number of that log object may have been free only
// because another object of the same number was collected.
func (f *Follower) checkCollected(ctx context.Context, e *entry, valid bool) error {
	name, covered, err := f.newestCheckpoint(ctx)
	if err != nil || covered < e.number {
		return err
	}
	if u := f.unannounced; u != nil && u.name == name && u.at.tookOverAt(e.number) == valid {
		return nil
	}
	return ErrBehind
}

// apply applies a log object that continues the log.
func (f *Follower) apply(ctx context.Context, e *entry) error {
	switch e.kind {
	case group:
		if e.layout != f.at.layout {
			if f.opening != nil {
				return errNotInForce
			}
			return f.otherLayout(e)
		}
		if err := f.applyRecords(e); err != nil {
			return err
		}
	case takeover:
	case announcement:
		if err := f.applyAnnouncement(ctx, e); err != nil {
			return err
		}
	}
	f.at.advance(e)
	f.note(e)
	return nil
}

// otherLayout returns the error for a group that was written for another layout than that of the rows.
func (f *Follower) otherLayout(e *entry) error {
	return &CorruptError{Name: logName(e.number), Fault: fmt.Sprintf("it was written for layout %d, and the rows have layout %d", e.layout, f.at.layout)}
}

// applyRecords applies the records of a group.
func (f *Follower) applyRecords(e *entry) error {
	for i, data := range e.records {
		if err := f.State.Apply(Record{LSN: e.first + uint64(i), Time: e.time, Data: data}); err != nil {
			return err
		}
	}
	return nil
}

// applyAnnouncement puts a checkpoint into force. If the checkpoint has another layout than the rows,
// the Follower loads it.
func (f *Follower) applyAnnouncement(ctx context.Context, e *entry) error {
	var a announcementBody
	if err := json.Unmarshal(e.body, &a); err != nil {
		return &CorruptError{Name: logName(e.number), Fault: "its announcement cannot be read: " + err.Error()}
	}
	if f.opening != nil {
		if f.opening.name != a.Name {
			return errNotInForce
		}
		f.opening = nil
	}
	c := &Checkpoint{name: a.Name, at: position{next: a.Covered + 1, layout: a.Layout}}
	switch {
	case a.Layout != f.at.layout && f.Faults.GuessLayout:
		f.at.layout = a.Layout
	case a.Layout != f.at.layout, f.loaded != a.Name && f.Reload != nil && f.Reload():
		if err := f.adopt(ctx, e, a); err != nil {
			return err
		}
	}
	f.inForce, f.condemned = c, a.Condemned
	f.noteCovered()
	if len(f.condemned) == 0 { // a version without the collector of segments has written it
		f.condemned = []condemnation{{Begun: e.time, Time: e.time, Covered: a.Covered}}
	}
	if f.superseded.IsZero() && !f.LoadedInForce() {
		f.superseded = f.Now()
	}
	return nil
}

// adopt loads an announced checkpoint, and applies the log objects between the checkpoint and its
// announcement again. So the Follower stays at its place in the log. If the checkpoint changes the
// layout, there are no such log objects.
func (f *Follower) adopt(ctx context.Context, e *entry, a announcementBody) error {
	c, err := f.readCheckpoint(ctx, a.Name)
	if err != nil {
		return err
	}
	fault := &CorruptError{Name: a.Name, Fault: fmt.Sprintf("it is not the checkpoint that log object %d announces", e.number)}
	if !slices.Equal(c.sum[:], a.Sum) || c.at.layout != a.Layout || c.covered() != a.Covered || c.covered() >= e.number ||
		c.at.layout != f.at.layout && c.covered() != e.number-1 {
		return fault
	}
	between, err := f.between(ctx, c.covered()+1, e.number)
	if err != nil {
		return err
	}
	before := f.at
	if err := f.load(c); err != nil {
		return err
	}
	for _, b := range between {
		if !f.at.continues(b) {
			f.at.next++
			continue
		}
		if b.kind == group {
			if b.layout != f.at.layout {
				return f.otherLayout(b)
			}
			if err := f.applyRecords(b); err != nil {
				return err
			}
		}
		f.at.advance(b)
	}
	if f.at.next != before.next || f.at.last != before.last {
		return fault
	}
	return nil
}

// between returns the log objects from number `first` on, up to the one before `end`. The Follower has
// passed all of them. The error matches ErrBehind if a later checkpoint covers one of them.
func (f *Follower) between(ctx context.Context, first, end uint64) (entries []*entry, err error) {
	for number := first; number < end; number++ {
		var e *entry
		if w := &f.passed; number >= w.first && number-w.first < uint64(len(w.objects)) {
			e, err = decodeEntry(number, w.objects[number-w.first])
		} else {
			e, err = f.readEntry(ctx, number)
		}
		switch {
		case errors.Is(err, object.ErrNotFound):
			return nil, fmt.Errorf("%w: log object %d was deleted", ErrBehind, number)
		case err != nil:
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// readCheckpoint reads a checkpoint. If the checkpoint does not exist, the error matches ErrBehind:
// a checkpoint is deleted only after a newer one is in force or after its own writer has ended.
func (f *Follower) readCheckpoint(ctx context.Context, name string) (*Checkpoint, error) {
	data, err := f.read(ctx, name)
	if errors.Is(err, object.ErrNotFound) {
		return nil, fmt.Errorf("%w: checkpoint %s was deleted", ErrBehind, name)
	} else if err != nil {
		return nil, err
	}
	return decodeCheckpoint(name, data)
}

// load replaces the state and the position by those of a checkpoint.
func (f *Follower) load(c *Checkpoint) error {
	if err := f.State.Load(c.state, c.covered()); err != nil {
		return err
	}
	f.loaded, f.superseded = c.name, time.Time{}
	f.at = c.at
	f.at.takeovers = slices.Clone(c.at.takeovers)
	return nil
}
