package clocktest

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	c := New(Start)
	if got := c.Now(); !got.Equal(Start) {
		t.Errorf("a new clock is at %v, want %v", got, Start)
	}
	time.Sleep(time.Millisecond)
	c.Pass(time.Hour)
	c.Pass(-time.Minute)
	if got, want := c.Now(), Start.Add(59*time.Minute); !got.Equal(want) {
		t.Errorf("the clock is at %v, want %v", got, want)
	}
}

func TestRunning(t *testing.T) {
	now := Running(Start)
	const wait = 5 * time.Millisecond
	time.Sleep(wait)
	if got := now().Sub(Start); got < wait || got > time.Minute {
		t.Errorf("the clock ran for %v in %v", got, wait)
	}
}
