package simulation

import (
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/sharedlog"
)

// Result reports the events of one run, and whether the run broke a promise.
type Result struct {
	Seed      uint64        // determines the run
	Violation string        // the promise that was broken, "" for none
	Covered   map[Event]int // how often each event happened
}

// Counts reports whether the run counts as a schedule, that is, whether a server took over while a
// log object of another server was in flight.
func (r Result) Counts() bool { return r.Covered[TakeoverInFlight] > 0 }

// Run carries out the run that a seed determines. First the servers and clients work while the
// network and the machines have faults. Then the faults stop. From then on the servers must answer
// again, and at the end a client reads every list at every server. If `trace` is not nil, Run
// writes a line to it for each request to the storage and each answer to a client.
func Run(seed uint64, faults sharedlog.Faults, trace io.Writer) Result {
	rng := rand.New(rand.NewPCG(seed, 0))
	w := &world{
		faults: faults, trace: trace, rng: rng, trouble: draw(rng),
		created: map[string]bool{}, covered: map[Event]int{}, pins: map[string]pin{}, condemned: map[uint64]condemnedAt{},
	}
	for i := range servers {
		s := &server{
			w: w, name: fmt.Sprintf("s%d", i),
			rate: 0.5 + 1.5*rng.Float64(), offset: w.between(-time.Hour, time.Hour),
		}
		w.machines = append(w.machines, s)
		s.start()
	}
	for range clients {
		c := &client{w: w, left: 20 + rng.IntN(60), lengths: map[string]int{}}
		w.clients = append(w.clients, c)
		w.after(w.between(0, 500*time.Millisecond), c.begin)
	}
	violated := func() bool { return w.violation != "" }
	w.runUntil(troubled, violated)

	w.trouble = trouble{checkpoint: w.trouble.checkpoint, collect: w.trouble.collect, restore: w.trouble.restore, reload: w.trouble.reload, retention: w.trouble.retention}
	for _, c := range w.clients {
		c.left = 0
	}
	end := w.now + settled
	allDone := func() bool {
		for _, c := range w.clients {
			if !c.done {
				return violated()
			}
		}
		return true
	}
	w.runUntil(end, allDone)
	if allDone() && !violated() {
		w.clients[0].readAll()
		w.runUntil(end, allDone)
	}
	if !allDone() {
		w.violate("the clients got no answers %v after the last fault", settled)
	}
	for _, s := range w.machines {
		if s.process != nil {
			s.process.kill()
		}
	}
	if !violated() {
		w.violation = w.history.check()
	}
	return Result{Seed: seed, Violation: w.violation, Covered: w.covered}
}
