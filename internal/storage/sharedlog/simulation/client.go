package simulation

import (
	"math"
	"time"
)

// opKind is what a client asks for.
type opKind uint8

// The kinds of operations.
const (
	write   opKind = iota // append a token to a list, maybe only if the list has an expected length
	latest                // read a list; linearizable
	atLeast               // read a list in a state that contains an acknowledged token; the state may be old
	stale                 // read a list; it may be old
)

// outcome is how a server answers.
type outcome uint8

// The outcomes.
const (
	outcomeOK          outcome = iota // the server has carried out the call
	outcomeFailed                     // the precondition does not hold; or no list contains the token
	outcomeUnavailable                // the server has not carried out the call and will not
	outcomeUnknown                    // the server may have carried out the call, or may still do so
)

// op is one operation of a client. All its attempts use the same token.
type op struct {
	kind   opKind        // what the client wants
	key    string        // the list to read or write
	token  int           // appended by a write, or wanted by atLeast
	expect int           // length that a write expects, -1 for none
	called time.Duration // when the client began the operation
}

// attempt is one call of an operation at one server.
type attempt struct {
	op       op
	client   *client // receives the answer
	answered bool    // reply was called
}

// reply sends the answer to the client. Only the first answer counts.
func (a *attempt) reply(o outcome, list []int) {
	if a.answered {
		return
	}
	a.answered = true
	w := a.client.w
	w.after(w.between(time.Millisecond, 10*time.Millisecond), func() { a.client.answer(a.op, o, list) })
}

// client carries out one operation after the other.
type client struct {
	w         *world
	left      int         // number of operations to begin
	done      bool        // the client has finished all operations
	attempts  int         // of the current operation
	uncertain bool        // an attempt of the current operation has an unknown outcome
	final     []finalRead // the reads at the end of the run, from the current one on

	lengths map[string]int // last known length of each list
	acked   []op           // acknowledged writes
}

// finalRead is a read at the end of a run.
type finalRead struct {
	server int    // index of the server in world.machines
	key    string // the list to read
}

// forever is the end time, in the history, of operations with an unknown outcome.
const forever = time.Duration(math.MaxInt64)

// begin begins the next operation.
func (c *client) begin() {
	w := c.w
	if c.left == 0 {
		c.done = true
		return
	}
	c.left--
	key := keys[w.rng.IntN(len(keys))]
	o := op{kind: write, key: key, expect: -1, called: w.now}
	switch n := w.rng.IntN(20); {
	case n < 11:
		if w.rng.IntN(2) == 0 {
			o.expect = c.lengths[key]
		}
		w.history.tokens++
		o.token = w.history.tokens
	case n < 15:
		o.kind = latest
	case n < 18 && len(c.acked) > 0:
		known := c.acked[w.rng.IntN(len(c.acked))]
		o.kind, o.key, o.token = atLeast, known.key, known.token
	default:
		o.kind = stale
	}
	c.attempts, c.uncertain = 0, false
	c.send(o, w.rng.IntN(servers))
}

// send sends an attempt to a server.
func (c *client) send(o op, to int) {
	w := c.w
	c.attempts++
	a := &attempt{op: o, client: c}
	w.after(w.between(time.Millisecond, 10*time.Millisecond), func() {
		if s := w.machines[to]; s.process == nil {
			a.reply(outcomeUnavailable, nil)
		} else {
			s.inbox = append(s.inbox, a)
		}
	})
	w.after(clientTimeout, func() { a.reply(outcomeUnknown, nil) })
}

// answer handles the answer to an attempt.
func (c *client) answer(o op, result outcome, list []int) {
	w := c.w
	switch result {
	case outcomeOK, outcomeFailed:
		c.finish(o, result, list)
	case outcomeUnavailable, outcomeUnknown:
		c.uncertain = c.uncertain || result == outcomeUnknown
		if settling := w.now >= troubled; !settling && (c.attempts >= 30 || result == outcomeUnknown && w.rng.IntN(3) == 0) {
			c.giveUp(o)
			return
		}
		to := w.rng.IntN(servers)
		if len(c.final) > 0 {
			to = c.final[0].server
		}
		w.after(w.between(10*time.Millisecond, 100*time.Millisecond), func() { c.send(o, to) })
	}
}

// finish records an answered operation and begins the next one.
func (c *client) finish(o op, result outcome, list []int) {
	w := c.w
	w.history.add(o, result, list, w.now)
	switch {
	case o.kind == write && result == outcomeOK:
		w.cover(WriteAcknowledged)
		c.acked = append(c.acked, o)
	case o.kind == latest:
		w.cover(LatestRead)
		c.lengths[o.key] = len(list)
	case o.kind == atLeast:
		w.cover(AtLeastRead)
	}
	if len(c.final) > 0 {
		c.readNext()
		return
	}
	w.after(w.between(time.Millisecond, 50*time.Millisecond), c.begin)
}

// giveUp ends an operation that got no answer. If servers refused all attempts of a write, the
// write is certainly not stored, so the history leaves it out.
func (c *client) giveUp(o op) {
	if c.uncertain && o.kind == write {
		c.w.cover(OutcomeUnknown)
		c.w.history.add(o, outcomeUnknown, nil, forever)
	}
	c.w.after(c.w.between(time.Millisecond, 50*time.Millisecond), c.begin)
}

// readAll makes the client read every list at every server.
func (c *client) readAll() {
	c.done = false
	c.final = []finalRead{{}} // readNext drops this first element
	for s := range servers {
		for _, key := range keys {
			c.final = append(c.final, finalRead{server: s, key: key})
		}
	}
	c.readNext()
}

// readNext begins the next final read.
func (c *client) readNext() {
	c.final = c.final[1:]
	if len(c.final) == 0 {
		c.done = true
		return
	}
	c.attempts, c.uncertain = 0, false
	c.send(op{kind: latest, key: c.final[0].key, expect: -1, called: c.w.now}, c.final[0].server)
}
