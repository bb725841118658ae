package simulation

import (
	"container/heap"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// Event describes one kind of event. A run covers an event if the event happens in it.
type Event string

// The events of a run.
const (
	TakeoverInFlight  Event = "takeover while another server's log object was in flight"
	Takeover          Event = "takeover"
	VoidTakeover      Event = "void takeover, noticed by the second look"
	RaceLost          Event = "writer that lost its number to another server"
	Behind            Event = "reader that had to open the log again"
	RequestLost       Event = "request lost"
	ReplyLost         Event = "reply lost after success"
	LateRequest       Event = "request carried out after its sender gave up"
	Repeated          Event = "request carried out twice"
	Busy              Event = "storage busy"
	Stall             Event = "server stalled longer than a lease"
	PowerCut          Event = "power cut"
	ClockJump         Event = "clock jump"
	Lag               Event = "reader that lagged while another server hesitated to take over"
	Announced         Event = "checkpoint announced"
	AnnouncedLater    Event = "checkpoint announced after later records"
	Reloaded          Event = "reader that decided to load a checkpoint at its announcement"
	NewLayout         Event = "layout changed"
	Collected         Event = "object collected"
	SegmentCollected  Event = "condemned segment collected"
	SegmentPinned     Event = "condemned segment kept because a server needed it"
	SegmentGone       Event = "reader that needed a collected segment"
	OrphanFound       Event = "orphan found"
	CreatedAgain      Event = "log object created again after its collection"
	RollUpStored      Event = "roll-up stored"
	RollUpRead        Event = "roll-up read"
	OutcomeUnknown    Event = "client call with an unknown outcome"
	WriteAcknowledged Event = "write acknowledged"
	LatestRead        Event = "latest read"
	AtLeastRead       Event = "AtLeast read"
)

// Events lists all events, in the order in which a report prints them.
var Events = []Event{
	TakeoverInFlight, Takeover, VoidTakeover, RaceLost, Behind, RequestLost, ReplyLost, LateRequest, Repeated, Busy, Stall, PowerCut,
	ClockJump, Lag, Announced, AnnouncedLater, Reloaded, NewLayout, Collected, SegmentCollected, SegmentPinned, SegmentGone, OrphanFound, CreatedAgain, RollUpStored, RollUpRead, OutcomeUnknown, WriteAcknowledged, LatestRead, AtLeastRead,
}

// The durations of a run, in virtual time.
const (
	servers       = 3                      // number of servers
	clients       = 4                      // number of clients
	lease         = 500 * time.Millisecond // how long a lease lasts after a heartbeat
	heartbeat     = 150 * time.Millisecond // from one heartbeat to the next
	timeout       = 300 * time.Millisecond // of one request to the storage
	patience      = time.Second            // of one call to package sharedlog
	troubled      = 10 * time.Second       // the part of a run with faults
	settled       = 60 * time.Second       // the most that a run takes afterwards
	rollUp        = 3                      // log objects in a roll-up, at least
	clientTimeout = 2 * time.Second        // of one attempt of a client
)

// world is the state of one run.
type world struct {
	faults  sharedlog.Faults // steps of the protocol to leave out
	trace   io.Writer        // nil for none
	rng     *rand.Rand       // makes all random decisions
	trouble trouble          // the probabilities of the faults
	now     time.Duration    // virtual time since the start of the run
	events  queue            // the events that are still to happen
	drawn   uint64           // number of events scheduled so far; orders events at the same time

	storage   object.Memory          // the objects that all servers share
	created   map[string]bool        // names of log objects that ever existed
	stored    uint64                 // number of signs and announcements that were stored
	pins      map[string]pin         // by name of the sign's object
	condemned map[uint64]condemnedAt // by number of the segment
	machines  []*server              // the servers
	clients   []*client              // send operations to the servers
	// Before the time `lagging`, readers do not read on, and the writer puts a checkpoint into force just once:
	// as soon as its log contains records after `hesitated`. So readers often lag at the last log object that a
	// checkpoint covers. A candidate can create this log object again.
	lagging   time.Duration
	hesitated uint64 // LSN of the last record that the candidate knows who hesitates

	history   history       // the operations and their answers
	covered   map[Event]int // how often each event happened
	violation string        // the first broken promise; the check of the history comes last
}

// trouble has the probabilities of the faults of one run. They differ from run to run, so that some
// runs have many faults of one kind.
type trouble struct {
	loseRequest, loseReply, busy, slow, again float64 // per request
	slowLog                                   float64 // per creation of a group or an announcement
	stall, powerCut                           float64 // per request
	clockJump, ambition                       float64 // per round of a server
	hesitate                                  float64 // per takeover: a stall just before it
	lag                                       float64 // per hesitation: the other readers lag too; see lagging of world
	hush                                      float64 // per sign: it does not state what the server needs
	checkpoint, rewrite, collect, restore     float64 // per round of the writer or of a server
	reload                                    float64 // per announcement of a checkpoint that a reader applies

	// retention is that of sharedlog.Options. The clocks of the servers differ by up to two hours. So
	// with a positive retention, some servers collect at once and others never.
	retention time.Duration
}

// draw draws the probabilities of a run.
func draw(rng *rand.Rand) trouble {
	p := func(most float64) float64 {
		if rng.IntN(4) == 0 {
			return 0
		}
		return rng.Float64() * most
	}
	return trouble{
		loseRequest: p(0.1), loseReply: p(0.2), busy: p(0.1), slow: p(0.1), slowLog: 0.1 + p(0.7), again: p(0.1),
		stall: p(0.02), powerCut: p(0.005), clockJump: p(0.02), ambition: p(0.3), hesitate: p(0.3), lag: p(1), hush: []float64{0, 0, 0.3, 1}[rng.IntN(4)],
		checkpoint: p(0.6), rewrite: p(0.2), collect: p(0.5), restore: p(0.3), reload: p(1),
		retention: []time.Duration{-1, -1, 200 * time.Millisecond, 400 * time.Millisecond}[rng.IntN(4)],
	}
}

// queue holds the events that are still to happen; the earliest comes first.
type queue []event

// event is an action that is scheduled for a point in time.
type event struct {
	at    time.Duration // virtual time
	drawn uint64        // number of the event, in the order of scheduling
	do    func()        // carries out the event
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].drawn < q[j].drawn
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// after schedules the call of `do` after the duration d.
func (w *world) after(d time.Duration, do func()) {
	w.drawn++
	heap.Push(&w.events, event{at: w.now + max(d, 0), drawn: w.drawn, do: do})
}

// runUntil lets events happen up to a time, or until `done` returns true.
func (w *world) runUntil(end time.Duration, done func() bool) {
	for len(w.events) > 0 && w.events[0].at <= end && !done() {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
	}
}

// chance decides at random whether an event of probability p happens.
func (w *world) chance(p float64) bool { return p > 0 && w.rng.Float64() < p }

// between draws a duration from `least` to `most`, without `most`.
func (w *world) between(least, most time.Duration) time.Duration {
	return least + time.Duration(w.rng.Int64N(int64(most-least)))
}

// cover counts an event.
func (w *world) cover(e Event) { w.covered[e]++ }

// tracef writes a line about what happens, if the run is traced.
func (w *world) tracef(format string, args ...any) {
	if w.trace != nil {
		fmt.Fprintf(w.trace, "%v %s\n", w.now, fmt.Sprintf(format, args...))
	}
}

// violate notes a broken promise.
func (w *world) violate(format string, args ...any) {
	if w.violation == "" {
		w.violation = fmt.Sprintf("at %v: ", w.now) + fmt.Sprintf(format, args...)
	}
}

// process is a coroutine that runs a server from one start to the next power cut. It runs only
// while the world waits for it.
type process struct {
	w       *world
	server  *server                 // the server that the process runs
	resume  func() (struct{}, bool) // runs the process until its next wait
	stop    func()                  // ends the process
	yield   func(struct{}) bool     // returns control to the world
	dead    bool                    // the process has been ended
	turn    uint64                  // number of the current wait
	stalled time.Duration           // the time before which the process does not run
}

// spawn starts a process.
func (w *world) spawn(s *server, run func(p *process)) *process {
	p := &process{w: w, server: s}
	p.resume, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		run(p)
	})
	w.after(0, func() { p.wake(0) })
	return p
}

// wake lets the process run until its next wait, if its current wait has the number `turn`. If the
// process is stalled, wake calls itself again when the stall ends.
func (p *process) wake(turn uint64) {
	if p.dead || p.turn != turn {
		return
	}
	if p.stalled > p.w.now {
		p.w.after(p.stalled-p.w.now, func() { p.wake(turn) })
		return
	}
	p.turn++
	p.resume()
}

// wait gives control to the world until wake is called for this wait. It returns false if the power
// was cut.
func (p *process) wait() bool {
	if p.dead {
		return false
	}
	if !p.yield(struct{}{}) {
		p.dead = true
	}
	return !p.dead
}

// pause lets the process sleep.
func (p *process) pause(d time.Duration) {
	turn := p.turn
	p.w.after(d, func() { p.wake(turn) })
	p.wait()
}

// kill ends the process. Only the world may call it.
func (p *process) kill() {
	p.dead = true
	p.stop()
}
