package textlimit

import (
	"context"
	"sync"
)

// slots is a semaphore with a few slots. Waiting calls get a slot in rotation by actor, so
// that an actor with many calls does not hold up the others.
type slots struct {
	mu      sync.Mutex                 // guards the fields below
	free    int                        // number of free slots
	actors  []string                   // actors with waiting calls, the next one first
	waiting map[string][]chan struct{} // by actor: a channel for each waiting call, closed when it gets its slot
}

// wait waits for a slot. If it returns nil, the caller must call `release`. If ctx ends first, wait
// returns the error of ctx.
func (t *slots) wait(ctx context.Context, actor string) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	if t.waiting == nil {
		t.waiting = map[string][]chan struct{}{}
	}
	if len(t.waiting[actor]) == 0 {
		t.actors = append(t.actors, actor)
	}
	turn := make(chan struct{})
	t.waiting[actor] = append(t.waiting[actor], turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.forget(actor, turn) {
		return ctx.Err()
	}
	t.handOver() // the call got a slot at the same time; pass it on
	return ctx.Err()
}

// forget removes a waiting call and reports whether it was still waiting.
// REQUIRES: t.mu is held.
func (t *slots) forget(actor string, turn chan struct{}) bool {
	list := t.waiting[actor]
	for i := range list {
		if list[i] != turn {
			continue
		}
		t.waiting[actor] = append(list[:i:i], list[i+1:]...)
		if len(t.waiting[actor]) == 0 {
			delete(t.waiting, actor)
			for j, a := range t.actors {
				if a == actor {
					t.actors = append(t.actors[:j:j], t.actors[j+1:]...)
					break
				}
			}
		}
		return true
	}
	return false
}

// release frees the slot.
func (t *slots) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handOver()
}

// handOver gives the slot to the next actor, or marks it free.
// REQUIRES: t.mu is held.
func (t *slots) handOver() {
	if len(t.actors) == 0 {
		t.free++
		return
	}
	actor := t.actors[0]
	t.actors = t.actors[1:]
	list := t.waiting[actor]
	close(list[0])
	if len(list) == 1 {
		delete(t.waiting, actor)
		return
	}
	t.waiting[actor] = list[1:]
	t.actors = append(t.actors, actor)
}
