package replica

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// TestSlowStorage lets the creation of a log object hang. The writer must accept writes at first, and refuse them
// after half a lease, without a wait. When the storage answers, the accepted writes must be made and no other.
func TestSlowStorage(t *testing.T) {
	b, add := people(t)
	const long = 6 * time.Second
	gate := &logGate{Bucket: b, opened: make(chan struct{})}
	s := serveFor(t, gate, "one", long, 0)
	if err := insert(s, add, "before"); err != nil {
		t.Fatal(err)
	}
	gate.shut.Store(true)
	accepted := make(chan error, 4)
	began := clock.Now()
	for i := range cap(accepted) {
		go func() { accepted <- insert(s, add, fmt.Sprint("accepted ", i)) }()
	}
	eventually(t, "at a log object", func() bool { return gate.held.Load() > 0 })
	eventually(t, "slow for too long", func() bool { return s.admit() != nil })
	if waited := clock.Since(began); waited < long/2 {
		t.Errorf("the writer refuses writes after %v, with a lease of %v", waited, long)
	}
	asked := clock.Now()
	var slow *engine.Unavailable
	var unknown *engine.Indeterminate
	if err := insert(s, add, "refused"); !errors.As(err, &slow) || slow.RetryAfter < retryAfter || errors.As(err, &unknown) {
		t.Errorf("a write while the storage is slow: %v", err)
	}
	if took := clock.Since(asked); took > long/4 {
		t.Errorf("the refusal took %v", took)
	}
	if _, err := s.Snapshot(t.Context(), engine.Target{}); err != nil {
		t.Errorf("a read while the storage is slow: %v", err)
	}
	gate.shut.Store(false)
	close(gate.opened)
	for range cap(accepted) {
		if err := <-accepted; err != nil {
			t.Errorf("a write that was accepted: %v", err)
		}
	}
	if err := insert(s, add, "after"); err != nil {
		t.Errorf("a write after that: %v", err)
	}
	if n := s.count(t); n != int64(cap(accepted))+2 {
		t.Errorf("%d persons, want %d", n, cap(accepted)+2)
	}
}

// answers is a Bucket whose Create takes a second and returns one error after the other.
type answers struct {
	object.Memory
	errs []error
}

func (a *answers) Create(context.Context, string, []byte) error {
	time.Sleep(time.Second)
	err := a.errs[0]
	a.errs = a.errs[1:]
	return err
}

// TestLogTimer checks the time that a logTimer measures after attempts with several outcomes.
func TestLogTimer(t *testing.T) {
	for name, tt := range map[string]struct {
		object string
		errs   []error
		pause  time.Duration // after the last attempt
		want   time.Duration
	}{
		"no attempt":             {"g/log/1", nil, 0, 0},
		"stored":                 {"g/log/1", []error{nil}, 0, 0},
		"stored by another":      {"g/log/1", []error{object.ErrExists}, 0, 0},
		"the storage is busy":    {"g/log/1", []error{object.ErrBusy}, 0, time.Second},
		"two attempts":           {"g/log/1", []error{object.ErrBusy, object.ErrUnknown}, time.Second, 3 * time.Second},
		"stored after that":      {"g/log/1", []error{object.ErrBusy, nil}, 0, 0},
		"given up":               {"g/log/1", []error{object.ErrBusy}, attemptPause + 1, 0},
		"cancelled":              {"g/log/1", []error{context.Canceled}, 0, 0},
		"another kind of object": {"g/checkpoint/1", []error{object.ErrBusy}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &logTimer{Bucket: &answers{errs: tt.errs}, prefix: "g/log/"}
				for range tt.errs {
					_ = l.Create(t.Context(), tt.object, nil)
				}
				time.Sleep(tt.pause)
				if got := l.waiting(); got != tt.want {
					t.Errorf("measured %v, want %v", got, tt.want)
				}
			})
		})
	}
}
