package audittrail

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// The defaults of the settings.
const (
	DefaultKeep  = 90 * 24 * time.Hour
	DefaultQuota = 1 << 30 // bytes
)

// Options configures a Trail.
type Options struct {
	Server  string           // the name of the server; its chain has this name too, or one made from it if the chain is in use
	Version string           // of the server
	Keep    time.Duration    // how long records are kept at least, unless the quota needs their room
	Quota   int64            // bytes of the chain of this server
	Refuse  bool             // when the quota is used up, refuse calls instead of removing the oldest records
	Now     func() time.Time // nil means clock.Now
	Log     *slog.Logger

	// Exclusive says that a lock keeps all other servers from the chains of this one. Otherwise leases do, and the chain of a server that was
	// killed is free after a minute.
	Exclusive bool

	peer bool // the trail only removes old records from the chain of a server that is gone

	// Head is called with the number and the hash of the last stored record, at most once a minute and at the end. Whoever keeps them
	// elsewhere can prove that nobody made the chain anew. It may be nil.
	Head func(number uint64, hash Hash)
}

const (
	// flushTime is how long a record waits for others. Its part is durable within a second, if the storage takes less than three quarters of that.
	flushTime = 250 * time.Millisecond

	flushBytes   = 1 << 20  // records of this size do not wait
	maxPending   = 16 << 20 // bytes of records that may wait for the storage; further ones are lost
	maxValues    = 4 << 20  // bytes of arguments of which a record has the values
	maxRecord    = 8 << 20  // bytes of a record; what waits fits into one part with it, which has maxBlock
	mergeParts   = 512      // this number of .log parts is merged
	mergeBytes   = 8 << 20  // so are parts with this number of bytes in all
	settledBytes = 1 << 20  // a .seg of this size is not merged again
	tidyTime     = time.Hour
	headTime     = time.Minute
	smallHeader  = 192 // bytes that are enough for a part before its only block, which has no keys
)

// Trail writes the chain of one server. Its methods are safe for concurrent use.
type Trail struct {
	*Store
	o Options

	mu      sync.Mutex
	pending []byte            // records that no part has yet, each with its length; guarded by mu
	number  uint64            // of the last record; guarded by mu
	micros  int64             // its time; guarded by mu
	numbers map[string]uint64 // of the actors; guarded by mu
	actors  uint64            // the highest of these numbers; guarded by mu
	named   bool              // numbers has an actor that the stored table lacks; guarded by mu
	refused uint64            // calls that were refused since the last record; guarded by mu
	lost    uint64            // records lost since the last record; guarded by mu
	full    bool              // the quota is used up, and calls are refused; guarded by mu
	closed  bool              // guarded by mu
	leaving bool              // the trail has no chain, because another writer took it; guarded by mu
	stats   Stats             // guarded by mu
	scratch []byte            // guarded by mu

	wake, urgent chan struct{} // a record waits; many wait
	stop         context.CancelFunc
	done         chan struct{} // closed when the goroutine has ended

	// The rest is guarded by writing.
	writing semaphore
	chain   string // the chain that this trail writes
	lease   lease  // with which it holds the chain
	epoch   uint64 // of the lease
	spare   []byte // memory for pending
	stuck   []byte // a part that could not be stored yet, and its name
	stuckAs partName
	due     map[uint64]string // the table of actors that must be stored before that part; nil if it is stored
	stored  uint64            // number of the last record that was given to a part
	durable uint64            // number of the last record in the storage
	head    Hash              // of that record
	parts   []partName
	toldOf  uint64    // the record of which it was called
	told    time.Time // when the options' Head was called
	tidied  time.Time
	failing bool // the last attempt to store failed
}

// Stats are figures about a trail.
type Stats struct {
	Records uint64 // records of calls since the start
	Lost    uint64 // records that were lost, or removed before their time, since the start
	Bytes   int64  // size of the chain
}

// Open continues the chain of a server, or begins it. If the server did not end in order, a record says so. Unless o.Refuse is set, a
// storage that fails does not stop the server: the trail tries again, and counts the records that it loses. A Trail needs a Close.
func Open(ctx context.Context, store *Store, o Options) (*Trail, error) {
	if o.Now == nil {
		o.Now = clock.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &Trail{
		Store: store, o: o, numbers: map[string]uint64{}, writing: make(semaphore, 1),
		wake: make(chan struct{}, 1), urgent: make(chan struct{}, 1), done: make(chan struct{}),
	}
	err := t.writing.lock(ctx)
	if err == nil {
		err = t.begin(ctx)
		t.writing.unlock()
	}
	if err == nil {
		err = t.Flush(ctx)
	}
	switch {
	case err == nil:
	case o.Refuse || ctx.Err() != nil:
		return nil, err
	case t.number == 0: // it has no chain yet
		t.leaving = true
		fallthrough
	default:
		t.failing = true
		t.o.Log.Error("the audit trail cannot be stored; the server tries again, and counts the records that it loses", "error", err)
		signal(t.wake)
	}
	run, stop := context.WithCancel(context.Background())
	t.stop = stop
	go t.run(run)
	return t, nil
}

// semaphore is a lock for which one can wait until a context ends.
type semaphore chan struct{}

// lock takes the semaphore. The error is that of ctx.
func (s semaphore) lock(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// unlock frees the semaphore.
func (s semaphore) unlock() { <-s }

// restore takes over the stored chain: it sets the numbers, actors, head and parts of the trail from it, and deletes the parts that
// another one contains. It returns the last record, or nil if there is none. REQUIRES: t.writing.
func (t *Trail) restore(ctx context.Context) (last *Record, err error) {
	chains, err := t.chains(ctx, t.chain)
	if err != nil || len(chains) == 0 {
		return nil, err
	}
	c := chains[0]
	if err := t.readNames(ctx, c); err != nil {
		return nil, err
	}
	if len(c.parts) > 0 {
		p := c.parts[len(c.parts)-1]
		h, err := t.header(ctx, c.server, p)
		if err != nil {
			return nil, err
		}
		if last, err = t.lastOf(ctx, c, p, h); err != nil {
			return nil, err
		}
		t.stored, t.durable, t.head = p.last, p.last, h.head
		t.mu.Lock()
		t.number, t.micros = p.last, p.time
		t.actors = p.last // the table may have lost names, whose numbers stand in records; none is larger than that of its record
		t.mu.Unlock()
	}
	t.mu.Lock()
	for number, name := range c.names {
		t.numbers[name] = number
		t.actors = max(t.actors, number)
	}
	t.mu.Unlock()
	if err := t.removeCovered(ctx, c); err != nil {
		return nil, err
	}
	t.parts = c.parts
	t.measure()
	return last, nil
}

// removeCovered deletes the parts of a chain that another one contains, except strays, which may differ from it.
func (t *Trail) removeCovered(ctx context.Context, c *chain) error {
	strays, err := t.strays(ctx, c)
	if err != nil {
		return err
	}
	for _, p := range c.covered {
		if !slices.Contains(strays, p.partName) {
			_ = t.bucket.Delete(ctx, t.object(c.server, p.partName)) // it takes room, and nothing else
		}
	}
	return nil
}

// lastOf reads the last record of a part.
func (t *Trail) lastOf(ctx context.Context, c *chain, p partName, h *header) (*Record, error) {
	fault := func(err error) error {
		return damage{fmt.Errorf("the part %s of the audit trail: %w", t.object(c.server, p), err)}
	}
	if len(h.blocks) == 0 {
		return nil, fault(errHeader)
	}
	frames, err := t.frames(ctx, c.server, p, h, len(h.blocks)-1)
	if err != nil {
		return nil, err
	}
	records, err := c.records(frames)
	if err != nil {
		return nil, fault(err)
	}
	if n := len(records); n == 0 || records[n-1].Number != p.last {
		return nil, fault(fmt.Errorf("it does not end with the record %d", p.last))
	}
	return records[len(records)-1], nil
}

// measure counts the bytes of the parts.
func (t *Trail) measure() {
	bytes := int64(0)
	for _, p := range t.parts {
		bytes += p.size
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Bytes = bytes
}

// Add records a call. It never waits for the storage.
func (t *Trail) Add(c *Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.leaving || len(t.pending) > maxPending {
		t.loseLocked()
		return
	}
	values := c.Values
	if len(values) > maxValues {
		values = nil // the digest stays
	}
	if recordBytes(c)+len(values) > maxRecord {
		t.loseLocked()
		return
	}
	t.noteLostLocked()
	actor := uint64(0)
	if c.Actor != "" {
		if actor = t.numbers[c.Actor]; actor == 0 {
			t.actors++
			actor = t.actors
			t.numbers[c.Actor], t.named = actor, true
		}
	}
	t.stats.Records++
	t.number++
	t.micros = max(t.micros, c.Time.UnixMicro()) // the order of a chain is that of its times
	t.scratch = appendCall(t.scratch[:0], t.number, t.micros, actor, c, values)
	t.addLocked()
}

// loseLocked counts a record that is lost.
func (t *Trail) loseLocked() {
	t.lost++
	t.stats.Lost++
}

// Refused counts a call that was refused because [Trail.Full] is true. One record says how many there were, when there is room for it.
func (t *Trail) Refused() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused++
}

// noteLostLocked adds a record about lost records and one about refused calls, if there are any.
func (t *Trail) noteLostLocked() {
	if t.refused > 0 {
		n := &Note{Since: time.UnixMicro(t.micros), Lost: t.refused, Reason: "the quota was used up, and the server refused the calls"}
		t.refused = 0
		t.noteLocked(Gap, n)
	}
	if t.lost > 0 {
		n := &Note{Since: time.UnixMicro(t.micros), Lost: t.lost, Reason: "the storage did not take the records in time"}
		t.lost = 0
		t.noteLocked(Gap, n)
	}
}

// noteLocked adds a record that is not about a call.
func (t *Trail) noteLocked(k Kind, n *Note) {
	t.number++
	t.micros = max(t.micros, t.o.Now().UnixMicro())
	t.scratch = appendNote(t.scratch[:0], t.number, t.micros, k, n)
	t.addLocked()
}

// addLocked adds the record in scratch to those that wait.
func (t *Trail) addLocked() {
	first, few := len(t.pending) == 0, len(t.pending) < flushBytes
	t.pending = appendText(t.pending, t.scratch)
	if first {
		signal(t.wake)
	}
	if few && len(t.pending) >= flushBytes {
		signal(t.urgent)
	}
	if cap(t.scratch) > flushBytes {
		t.scratch = nil
	}
}

// signal wakes whoever receives from c.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Full reports whether calls must be refused, because their records have no room.
func (t *Trail) Full() bool {
	if !t.o.Refuse {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.full || len(t.pending) > maxPending
}

// Stats returns figures about the trail.
func (t *Trail) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stats
}

// run stores the records until ctx ends.
func (t *Trail) run(ctx context.Context) {
	defer close(t.done)
	tidy, renew := time.NewTicker(tidyTime), time.NewTicker(leaseTime/4)
	defer tidy.Stop()
	defer renew.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tidy.C:
		case <-renew.C:
			if t.writing.lock(ctx) == nil {
				t.beat(ctx)
				t.writing.unlock()
			}
			continue
		case <-t.wake:
			select {
			case <-time.After(flushTime):
			case <-t.urgent:
			case <-ctx.Done():
				return
			}
		}
		err := t.Flush(ctx)
		t.mu.Lock()
		if err != nil && ctx.Err() == nil {
			signal(t.wake) // try again
		}
		t.mu.Unlock()
	}
}

// Flush stores the records that wait, merges small parts and removes old ones.
func (t *Trail) Flush(ctx context.Context) error { return t.attempt(ctx, t.tidy) }

// Settle stores the records that wait.
func (t *Trail) Settle(ctx context.Context) error {
	return t.attempt(ctx, func(context.Context) error { return nil })
}

// attempt stores the records that wait, and then calls f.
func (t *Trail) attempt(ctx context.Context, f func(context.Context) error) error {
	if err := t.writing.lock(ctx); err != nil {
		return err
	}
	defer t.writing.unlock()
	t.mu.Lock()
	leaving := t.leaving
	t.mu.Unlock()
	err := errHeld
	if !leaving {
		err = t.flush(ctx)
	}
	if errors.Is(err, errHeld) {
		if err = t.leave(ctx); err == nil {
			err = t.flush(ctx)
		}
	}
	if err == nil {
		err = f(ctx)
	}
	if failing := err != nil; failing != t.failing && ctx.Err() == nil {
		if t.failing = failing; failing {
			t.o.Log.Error("the records of the audit trail could not be stored; the server tries again, and counts the records that it loses", "error", err)
		} else {
			t.o.Log.Info("the audit trail is stored again")
		}
	}
	return err
}

// flush stores the records that wait as one part. REQUIRES: t.writing.
func (t *Trail) flush(ctx context.Context) error {
	if err := t.renew(ctx); err != nil {
		return err
	}
	if t.stuck != nil {
		if err := t.store(ctx); err != nil {
			return err
		}
	}
	t.mu.Lock()
	pending, last, micros, named := t.pending, t.number, t.micros, t.named
	t.pending, t.spare, t.named = t.spare[:0], nil, false
	var actors map[uint64]string
	if named {
		actors = make(map[uint64]string, len(t.numbers))
		for name, number := range t.numbers {
			actors[number] = name
		}
	}
	t.mu.Unlock()
	if len(pending) == 0 {
		t.spare = pending
		return nil
	}
	first, before := t.stored+1, t.head
	part := make([]byte, smallHeader, smallHeader+len(pending)+int(last-first+1)*linkSize)
	h := header{first: first, before: before, count: last - first + 1}
	var b block
	for d := (reader{b: pending}); len(d.b) > 0; {
		record := d.bytes()
		if b.last = timeOf(record); len(part) == smallHeader {
			b.first = b.last
		}
		part = appendFrame(part, record, &t.head)
	}
	b.size = len(part) - smallHeader
	b.raw, h.head = b.size, t.head
	h.blocks = []block{b}
	text := h.append(nil)
	part = part[smallHeader-len(text):]
	copy(part, text)
	t.stuck, t.stuckAs = part, partName{first: first, last: last, time: micros, size: int64(len(part))}
	t.stored = last
	if cap(pending) <= 2*flushBytes {
		t.spare = pending[:0]
	}
	if named {
		t.due = actors
	}
	return t.store(ctx)
}

// store stores the table of actors, if it changed, and then the part that is stuck. REQUIRES: t.writing.
func (t *Trail) store(ctx context.Context) error {
	if t.due != nil {
		data, err := json.Marshal(table{t.due})
		if err == nil {
			err = t.bucket.Put(ctx, t.namesObject(t.chain), data)
		}
		if err != nil {
			return fmt.Errorf("the table of actors of the audit trail: %w", err)
		}
		t.due = nil
	}
	if err := t.create(ctx, t.stuckAs, t.stuck); err != nil {
		return err
	}
	t.parts = append(t.parts, t.stuckAs)
	t.stuck, t.durable = nil, t.stuckAs.last
	t.measure()
	t.tell(false)
	return nil
}

// create makes the object of a part. An earlier call may have made it, although it did not learn that.
func (t *Trail) create(ctx context.Context, p partName, data []byte) error {
	name := t.object(t.chain, p)
	err := t.bucket.Create(ctx, name, data)
	if errors.Is(err, object.ErrExists) {
		var found []byte
		if found, err = t.bucket.Read(ctx, name, 0, object.Whole); err == nil && !bytes.Equal(found, data) {
			err = errHeld
		}
	}
	if err != nil {
		return fmt.Errorf("the part %s of the audit trail: %w", name, err)
	}
	return nil
}

// beat renews the lease, and tells of records that were stored too soon after the last time. REQUIRES: t.writing.
func (t *Trail) beat(ctx context.Context) {
	_ = t.renew(ctx) // the next flush tries again, and says what is wrong
	if t.stuck == nil && t.stored > t.toldOf {
		t.tell(false)
	}
}

// tell calls the options' Head, if it is time or if the trail ends. REQUIRES: t.writing.
func (t *Trail) tell(end bool) {
	if now := t.o.Now(); t.o.Head != nil && (end || now.Sub(t.told) >= headTime) {
		t.told, t.toldOf = now, t.stored
		t.o.Head(t.stored, t.head)
	}
}

// Close records that the server ended in order, and stores all records.
func (t *Trail) Close(ctx context.Context) error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	if !t.leaving {
		t.noteLostLocked()
		t.noteLocked(Stopped, &Note{})
	}
	t.closed = true
	t.mu.Unlock()
	t.stop()
	<-t.done
	err := t.Flush(ctx)
	if late := t.writing.lock(ctx); late != nil {
		return errors.Join(err, late)
	}
	defer t.writing.unlock()
	t.tell(true)
	t.release(ctx)
	return err
}
