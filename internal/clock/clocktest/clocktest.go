// Package clocktest provides clocks for tests. The time that they show does not depend on the date
// of the run.
package clocktest

import (
	"sync"
	"time"
)

// Start is the default start time of a clock in tests.
var Start = time.Date(2026, time.March, 1, 9, 30, 0, 0, time.UTC)

// Clock is a clock whose time changes only when a test moves it. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

// New returns a clock that shows the given time.
func New(at time.Time) *Clock { return &Clock{now: at} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Pass moves the clock by d, which may be negative.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Running returns a clock that starts at the given time and then runs at the speed of the system's
// clock.
func Running(at time.Time) func() time.Time {
	begin := time.Now()
	return func() time.Time { return at.Add(time.Since(begin)) }
}
