package servedgraph

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// limitedContext is a context with a deadline, like that of context.WithDeadlineCause. It makes the timer, and
// becomes a child of its parent, when Done is called for the first time: few calls are so long that they wait
// for Done. Before that, Err compares the deadline with the clock.
type limitedContext struct {
	context.Context // the parent

	deadline time.Time // the earlier one of the call and of the parent
	cause    error     // of the deadline

	ended atomic.Bool                  // cancel was called
	mu    sync.Mutex                   // held while the context with the timer is made or canceled
	timed atomic.Pointer[timedContext] // nil until the timer is needed
}

// timedContext is a context with a timer.
type timedContext struct {
	context.Context
	cancel context.CancelFunc
}

// limited returns a context that ends after the time d, with the given cause. The caller must call its method cancel.
func limited(parent context.Context, d time.Duration, cause error) *limitedContext {
	c := &limitedContext{Context: parent, deadline: time.Now().Add(d), cause: cause}
	if earlier, ok := parent.Deadline(); ok && earlier.Before(c.deadline) {
		c.deadline, c.cause = earlier, nil
	}
	return c
}

// cancel ends the context.
func (c *limitedContext) cancel() {
	c.ended.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.timed.Load(); t != nil {
		t.cancel()
	}
}

// withTimer returns the context with a timer, and makes it if there is none.
func (c *limitedContext) withTimer() *timedContext {
	if t := c.timed.Load(); t != nil {
		return t
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.timed.Load(); t != nil {
		return t
	}
	t := &timedContext{}
	t.Context, t.cancel = context.WithDeadlineCause(c.Context, c.deadline, c.cause)
	if c.ended.Load() {
		t.cancel()
	}
	c.timed.Store(t)
	return t
}

// Deadline implements [context.Context].
func (c *limitedContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Done implements [context.Context].
func (c *limitedContext) Done() <-chan struct{} { return c.withTimer().Done() }

// Err implements [context.Context].
func (c *limitedContext) Err() error {
	if t := c.timed.Load(); t != nil {
		return t.Err()
	}
	if c.ended.Load() || c.Context.Err() != nil || time.Until(c.deadline) <= 0 {
		return c.withTimer().Err() // which also has the cause
	}
	return nil
}

// Value implements [context.Context]. Package context finds the cause of the end with it.
func (c *limitedContext) Value(key any) any {
	if t := c.timed.Load(); t != nil {
		return t.Value(key)
	}
	return c.Context.Value(key)
}
