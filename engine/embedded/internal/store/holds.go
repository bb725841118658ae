package store

import (
	"runtime"
	"sync"
)

// Hold stands for the use of a checkpoint's segments. As long as something refers to it, Needs of
// [Shared] counts the checkpoint.
type Hold struct{ of *held }

// held is a checkpoint whose state is in use. The mutex of its holds guards it.
type held struct {
	holds   *holds
	covered uint64 // the last log object that the checkpoint covers
}

// holds are the checkpoints whose states are in use. It does not refer to a Hold or a Shared, so that
// these can become unreachable.
type holds struct {
	mu     sync.Mutex
	all    map[*held]bool // the checkpoints in use
	latest *held          // of the last checkpoint that was loaded; nil if none
}

func newHolds() *holds { return &holds{all: map[*held]bool{}} }

// add returns a new Hold of a checkpoint that covers the log objects up to `covered`.
func (s *holds) add(covered uint64) *Hold {
	of := &held{s, covered}
	s.mu.Lock()
	s.all[of] = true
	s.latest = of
	s.mu.Unlock()
	h := &Hold{of}
	runtime.AddCleanup(h, (*held).end, of)
	return h
}

// end ends the use of a checkpoint.
func (h *held) end() {
	h.holds.mu.Lock()
	defer h.holds.mu.Unlock()
	delete(h.holds.all, h)
}

// advance notes that a checkpoint of this server is in force. The state that was loaded last needs no
// older checkpoint any more.
func (s *holds) advance(covered uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latest != nil {
		s.latest.covered = covered
	}
}

// Needs returns the number of the last log object that is covered by the oldest checkpoint in use, or
// 0 if no checkpoint is in use. A server announces it, so that other servers do not delete the
// segments that the checkpoint needs.
func (s *Shared) Needs() (covered uint64) {
	s.holds.mu.Lock()
	defer s.holds.mu.Unlock()
	for h := range s.holds.all {
		if covered == 0 || h.covered < covered {
			covered = h.covered
		}
	}
	return covered
}
