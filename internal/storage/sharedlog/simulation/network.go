package simulation

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// errPowerCut is the error of all requests of a process that has lost its power.
var errPowerCut = errors.New("the power is off")

// connection is the Bucket of one process. It sends requests over the simulated network.
type connection struct{ p *process }

// send sends a request. The function `execute` carries out the request in the storage. The
// simulation may call it never, once or twice, even after send has returned.
func (c connection) send(call, name string, logObject bool, execute func() error) error {
	p, w, t := c.p, c.p.w, c.p.w.trouble
	if p.dead {
		return errPowerCut
	}
	turn := p.turn
	result := object.ErrUnknown
	deliver := func(err error) {
		if p.turn == turn && !p.dead {
			result = err
			p.wake(turn)
		}
	}
	there, back := w.delay(t.slow), w.delay(t.slow)
	if logObject {
		there = w.delay(t.slowLog)
	}
	arrive := func() {
		if p.turn != turn || p.dead {
			w.cover(LateRequest)
		}
		err := execute()
		w.tracef("storage: %s of %s by %s: %v", call, name, p.server.name, err)
		if w.chance(t.loseReply) {
			w.cover(ReplyLost)
			return
		}
		w.after(back, func() { deliver(err) })
	}
	switch {
	case w.chance(t.loseRequest):
		w.cover(RequestLost)
	case w.chance(t.busy):
		w.cover(Busy)
		w.after(there+back, func() { deliver(object.ErrBusy) })
	default:
		w.after(there, arrive)
		if w.chance(t.again) {
			w.after(there+w.between(0, 3*time.Second), func() {
				w.cover(Repeated)
				err := execute()
				w.tracef("storage: again %s of %s by %s: %v", call, name, p.server.name, err)
			})
		}
	}
	w.after(timeout, func() { deliver(object.ErrUnknown) })
	if w.chance(t.stall) {
		w.cover(Stall)
		p.stalled = w.now + w.between(lease, 8*lease)
	}
	if w.chance(t.powerCut) {
		w.after(w.between(0, there+back+time.Millisecond), func() { p.server.cutPower(p) })
	}
	p.server.sendsLog = logObject
	alive := p.wait()
	p.server.sendsLog = false
	if !alive {
		return errPowerCut
	}
	return result
}

// delay draws how long a message takes. `slow` is the probability that it takes very long.
func (w *world) delay(slow float64) time.Duration {
	if w.chance(slow) {
		return w.between(10*time.Millisecond, 3*time.Second)
	}
	return w.between(time.Millisecond, 10*time.Millisecond)
}

// background is the context of all calls: only a timeout of the simulation ends a request.
var background = context.Background()

// Create implements object.Bucket.
func (c connection) Create(_ context.Context, name string, data []byte) error {
	w, s := c.p.w, c.p.server
	isLog := strings.HasPrefix(name, "log/")
	isTakeover := isLog && data[kindOffset] == kindTakeover
	return c.send("create", name, isLog && !isTakeover, func() error {
		err := w.storage.Create(background, name, data)
		if err != nil || !isLog {
			return err
		}
		if w.created[name] {
			w.cover(CreatedAgain)
		}
		w.created[name] = true
		if data[kindOffset] == kindAnnouncement {
			w.announcedIn(data[bodyOffset : len(data)-sha256.Size])
		}
		if isTakeover {
			w.cover(Takeover)
			for _, other := range w.machines {
				if other != s && other.sendsLog {
					w.cover(TakeoverInFlight)
				}
			}
		}
		return nil
	})
}

// The offsets of the kind and of the body in the bytes of a log object, and two of the kinds; see
// package sharedlog.
const (
	kindOffset       = 12
	bodyOffset       = 112
	kindTakeover     = 2
	kindAnnouncement = 3
)

// Upload implements object.Bucket.
func (c connection) Upload(_ context.Context, name string, r io.Reader, size int64) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return c.send("upload", name, false, func() error {
		if strings.HasPrefix(name, rollUpPrefix) {
			c.p.w.cover(RollUpStored)
		}
		return c.p.w.storage.Upload(background, name, strings.NewReader(string(data)), size)
	})
}

// Read implements object.Bucket.
func (c connection) Read(_ context.Context, name string, offset, length int64) (data []byte, err error) {
	err = c.send("read", name, false, func() error {
		got, err := c.p.w.storage.Read(background, name, offset, length)
		if err == nil {
			data = got
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(name, rollUpPrefix) {
		c.p.w.cover(RollUpRead)
	}
	return data, nil
}

// rollUpPrefix is the prefix of the names of roll-ups; see package sharedlog.
const rollUpPrefix = "rollup/"

// List implements object.Bucket.
func (c connection) List(_ context.Context, prefix, after string, limit int) (entries []object.Entry, err error) {
	err = c.send("list", prefix, false, func() error {
		got, err := c.p.w.storage.List(background, prefix, after, limit)
		if err == nil {
			entries = got
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// Put implements object.Bucket.
func (c connection) Put(_ context.Context, name string, data []byte) error {
	return c.send("put", name, false, func() error {
		c.p.w.signed(name, data)
		return c.p.w.storage.Put(background, name, data)
	})
}

// Delete implements object.Bucket.
func (c connection) Delete(_ context.Context, name string) error {
	return c.send("delete", name, false, func() error {
		c.p.w.cover(Collected)
		if digits, ok := strings.CutPrefix(name, "segment/"); ok {
			if number, err := strconv.ParseUint(digits, 10, 64); err == nil {
				c.p.w.checkDeleted(number)
			}
		}
		return c.p.w.storage.Delete(background, name)
	})
}
