package simulation

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// server is one of the three servers. It survives power cuts; its processes do not.
type server struct {
	w        *world
	name     string     // such as s0
	process  *process   // the running one, nil while the power is off
	inbox    []*attempt // calls from clients that no process has taken
	taken    []*attempt // calls that a process took from the inbox and has not answered
	sendsLog bool       // a request to create a group or an announcement is in flight

	rate   float64       // seconds of the server's clock per second of the world
	offset time.Duration // of the server's clock
}

// start starts a process of the server.
func (s *server) start() { s.process = s.w.spawn(s, s.run) }

// cutPower ends a process, if it is still the running one, and starts another one later.
func (s *server) cutPower(p *process) {
	if s.process != p {
		return
	}
	s.w.cover(PowerCut)
	s.process = nil
	s.sendsLog = false
	p.kill()
	for _, a := range append(s.inbox, s.taken...) {
		a.reply(outcomeUnknown, nil)
	}
	s.inbox, s.taken = nil, nil
	s.w.after(s.w.between(10*time.Millisecond, 2*time.Second), s.start)
}

// now returns the time of the server's clock.
func (s *server) now() time.Time {
	return time.UnixMilli(1_000_000_000_000).Add(time.Duration(float64(s.w.now)*s.rate) + s.offset)
}

// Read implements io.Reader: the random numbers of the server are those of the world.
func (s *server) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(s.w.rng.Uint32())
	}
	return len(b), nil
}

// session is the work of a process from one opening of the log to the next.
type session struct {
	p       *process
	s       *server
	m       *machine
	options sharedlog.Options
	f       *sharedlog.Follower
	writer  *sharedlog.Writer // nil for a reader
	leases  *sharedlog.Leases // observes the other servers
	storing
}

// storing is what a writer knows about the segments that it stores.
type storing struct {
	made       uint64                // number of segments that it has made
	checkpoint *sharedlog.Checkpoint // not announced yet; nil if none
	uploaded   bool                  // that checkpoint is stored
	captured   uint64                // LSN of the last record in it
	inForce    uint64                // LSN of the last record in the last checkpoint that it has put into force
	segment    uint64                // the segment of that checkpoint
	content    []byte                // of that segment
	complete   bool                  // it has put a checkpoint into force
	orphans    []uint64              // segments to condemn with the next checkpoint
}

// run is the main function of a process.
func (s *server) run(p *process) {
	leases := sharedlog.NewLeases(connection{p}, "", lease, s.now)
	var m *machine                // the state of the current session
	beats := uint64(s.w.now) << 8 // so that the heartbeats differ from those before the power cut
	nextBeat := time.Duration(0)
	beat := func() {
		if s.w.now >= nextBeat {
			beats++
			nextBeat = s.w.now + heartbeat
			sign := binary.LittleEndian.AppendUint64(nil, beats)
			if s.w.chance(s.w.trouble.hush) {
				sign = binary.LittleEndian.AppendUint64(sign, 0)
			} else {
				sign = binary.LittleEndian.AppendUint64(sign, m.covered)
			}
			_ = leases.Renew(background, s.name, sign) // a sign is only a hint
		}
	}
	var x *session
	reload := func() bool {
		if x == nil || x.writer != nil || !s.w.chance(s.w.trouble.reload) {
			return false
		}
		s.w.cover(Reloaded)
		return true
	}
	for !p.dead {
		m, x = &machine{bucket: connection{p}}, nil
		options := sharedlog.Options{
			Bucket: connection{p}, Prefix: "", State: m,
			Node: s.name, Incarnation: fmt.Sprint(s.w.now), Address: s.name,
			Reload: reload, Patience: patience, Recheck: lease, RollUp: rollUp, Retention: s.w.trouble.retention, Now: s.now, Random: s, Faults: s.w.faults,
			Sleep: func(_ context.Context, d time.Duration) { p.pause(d) },
		}
		f, err := sharedlog.Open(background, options)
		if err != nil {
			s.failed(p, err)
			p.pause(s.w.between(5*time.Millisecond, 50*time.Millisecond))
			continue
		}
		x = &session{p: p, s: s, m: m, options: options, f: f, leases: leases}
		for err = nil; err == nil && !p.dead; {
			beat()
			err = x.round()
		}
		s.failed(p, err)
		x.refuse()
	}
}

// failed counts the reason why a process has to open the log again. It reports corruption and
// unexpected errors as broken promises.
func (s *server) failed(p *process, err error) {
	s.w.tracef("%s: opens the log again: %v", s.name, err)
	var corrupt *sharedlog.CorruptError
	switch {
	case p.dead || err == nil:
	case errors.As(err, &corrupt):
		s.w.violate("%s: %v", s.name, err)
	case errors.Is(err, sharedlog.ErrBehind):
		s.w.cover(Behind)
	case errors.Is(err, sharedlog.ErrLost):
		s.w.cover(RaceLost)
	case errors.Is(err, sharedlog.ErrUnavailable), errors.Is(err, sharedlog.ErrIndeterminate):
	default:
		s.w.violate("%s: %v", s.name, err)
	}
}

// round does some of each kind of work. After an error the log has to be opened again.
func (x *session) round() error {
	w, t := x.s.w, x.s.w.trouble
	if w.chance(t.clockJump) {
		w.cover(ClockJump)
		x.s.offset += w.between(-4*lease, 4*lease)
	}
	if err := x.follow(); err != nil {
		return err
	}
	if err := x.answer(); err != nil {
		return err
	}
	if x.writer != nil {
		if err := x.maintain(); err != nil {
			return err
		}
	}
	if w.chance(t.collect) {
		if err := x.collect(); err != nil {
			return err
		}
	}
	if w.chance(t.restore) {
		if err := x.restore(); err != nil {
			return err
		}
	}
	x.p.pause(w.between(time.Millisecond, 25*time.Millisecond))
	return nil
}

// collect deletes what may be deleted. Every server may do it.
func (x *session) collect() error {
	c := x.f.Garbage()
	if c == nil {
		return nil
	}
	n, err := c.Delete(background, x.needed)
	x.f.Finish(c)
	x.s.w.covered[SegmentCollected] += n.Segments
	x.s.w.covered[SegmentPinned] += n.Pinned
	return err
}

// follow reads the log as a reader, and takes over when the writer's lease has expired.
func (x *session) follow() error {
	if x.writer != nil {
		return nil
	}
	w := x.s.w
	for more := true; more; {
		var err error
		if more, err = x.f.Next(background); err != nil {
			return err
		}
	}
	if w.lagging > w.now {
		w.cover(Lag)
		x.p.pause(w.lagging - w.now)
		return nil
	}
	if !w.chance(w.trouble.ambition) { // leases only decide who tries, so it is safe to try at any time
		last, err := x.f.Takeover(background)
		// Takeover objects are deleted only if the run has the fault CollectTakeovers. The check of
		// the history has to find that fault, so go on here.
		if err != nil && !errors.Is(err, object.ErrNotFound) {
			return err
		}
		if last.Node != "" && last.Node != x.s.name {
			if expired, err := x.leases.Expired(background, last.Node); err != nil || !expired {
				return nil // the lease is only a hint: without an answer the server does not try
			}
		}
	}
	if err := x.f.CatchUp(background); err != nil {
		return err
	}
	if w.chance(w.trouble.hesitate) {
		w.cover(Stall)
		pause := w.between(lease, 8*lease)
		if w.chance(w.trouble.lag) {
			w.lagging, w.hesitated = w.now+pause+w.between(0, lease), x.m.lsn
		}
		x.p.pause(pause)
	}
	writer, err := x.f.TakeOver(background)
	switch {
	case errors.Is(err, sharedlog.ErrLost):
		return nil // follow the new writer
	case errors.Is(err, sharedlog.ErrBehind):
		w.cover(VoidTakeover)
	}
	x.writer = writer
	return err
}

// answer answers the calls in the inbox.
func (x *session) answer() error {
	x.s.taken, x.s.inbox = append(x.s.taken, x.s.inbox...), nil
	var reads, writes []*attempt
	for _, a := range x.s.taken {
		if a.op.kind == write {
			writes = append(writes, a)
		} else {
			reads = append(reads, a)
		}
	}
	if x.writer == nil {
		for _, a := range writes {
			x.reply(a, outcomeUnavailable, nil)
		}
	} else if err := x.write(writes); err != nil {
		return err
	}
	return x.read(reads)
}

// write checks the preconditions of calls against the state, stores the calls that pass as one
// group, and answers all calls.
func (x *session) write(calls []*attempt) error {
	if len(calls) == 0 {
		return nil
	}
	staged := x.m.staged()
	outcomes := make([]outcome, len(calls))
	var records [][]byte
	for i, a := range calls {
		switch op := a.op; {
		case staged.has(op.token):
			outcomes[i] = outcomeOK // an earlier attempt of the same call has appended the token
		case op.expect >= 0 && len(staged.list(op.key)) != op.expect:
			outcomes[i] = outcomeFailed
		default:
			record := staged.record(op.key, op.token, x.s.w.rng.IntN(2) == 0)
			if err := staged.Apply(sharedlog.Record{LSN: staged.lsn + 1, Time: staged.time, Data: record}); err != nil {
				return err
			}
			records = append(records, record)
		}
	}
	var err error
	if len(records) > 0 {
		err = x.writer.Append(background, records)
	} else {
		err = x.writer.CatchUp(background) // a failed precondition is a statement about the latest state
	}
	for i, a := range calls {
		switch {
		case err == nil:
			x.reply(a, outcomes[i], nil)
		case errors.Is(err, sharedlog.ErrIndeterminate) && len(records) > 0:
			x.reply(a, outcomeUnknown, nil)
		default:
			x.reply(a, outcomeUnavailable, nil)
		}
	}
	if errors.Is(err, sharedlog.ErrUnavailable) {
		return nil // nothing was written; the writer can continue
	}
	if r := x.writer.RollUp(); err == nil && r != nil {
		_ = r.Store(background) // a roll-up only saves requests
	}
	return err
}

// read answers reads.
func (x *session) read(calls []*attempt) error {
	for _, a := range calls {
		op := a.op
		if op.kind == latest || op.kind == atLeast && !x.m.has(op.token) {
			var err error
			if x.writer != nil {
				err = x.writer.CatchUp(background)
			} else {
				err = x.f.CatchUp(background)
			}
			if err != nil {
				return err
			}
		}
		if op.kind == atLeast && !x.m.has(op.token) {
			x.reply(a, outcomeFailed, nil)
			continue
		}
		x.reply(a, outcomeOK, x.m.list(op.key))
	}
	return nil
}

// reply answers a call, unless the power is off.
func (x *session) reply(a *attempt, o outcome, list []int) {
	if x.p.dead {
		return
	}
	x.s.taken = slices.DeleteFunc(x.s.taken, func(other *attempt) bool { return other == a })
	x.s.w.tracef("%s: answers %+v with outcome %d, list %v", x.s.name, a.op, o, list)
	a.reply(o, list)
}

// refuse answers the remaining calls with outcomeUnavailable: nothing was written for them.
func (x *session) refuse() {
	for len(x.s.taken) > 0 && !x.p.dead {
		x.reply(x.s.taken[0], outcomeUnavailable, nil)
	}
}
