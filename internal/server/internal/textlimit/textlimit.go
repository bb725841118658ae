// Package textlimit bounds the memory and the processors for work on large texts of callers. The
// work is compiling, decoding and encoding.
package textlimit

import (
	"context"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/processors"
)

// Limits on GQ and schema texts that a caller sends. They are the same for all transports.
const (
	// Max is the maximum total size in bytes of the texts of one call.
	Max = 1 << 20

	// textMemory is the maximum number of bytes of memory per byte of text that compiling,
	// checking, linting and rendering take. Only the first textCounted bytes of a text
	// count, because a longer text has no more tokens. The first textUnreserved bytes of
	// memory are not reserved, because most texts need no more and then do not touch the
	// shared budget.
	textMemory     = 320
	textCounted    = 512 << 10 // bytes of text
	textUnreserved = 1 << 20   // bytes of memory

	// maxSlotHold is the maximum time that a call keeps its compile slot after its text is
	// compiled. It covers planning, and a short run or a large answer. A long run must not
	// keep others from compiling.
	maxSlotHold = 5 * time.Second

	// smallText is a size in bytes. Texts up to this size are compiled without a slot.
	smallText = 16 << 10
)

// Memory is a memory budget that compilations share with other users. Implementations must be
// safe for concurrent use.
type Memory interface {
	// Take takes the given bytes from the budget and reports whether they were free.
	Take(bytes int64) bool
	Give(bytes int64)
	Limit() int64 // in bytes
}

// Limiter limits the compilation of texts that callers send. Several graphs can share one. It
// bounds the memory. It also bounds the number of large texts that compile at the same time, so
// that one processor stays free for other calls. It is safe for concurrent use.
type Limiter struct {
	memory  Memory // nil for no limit
	perCall int64  // limit on memory in bytes; 0 for none
	slots   slots  // for the texts that compile at the same time
}

// New returns limits that take memory from the given budget. One call may take at most `perCall`
// bytes. If `perCall` is 0, a call has no limit of its own.
func New(memory Memory, perCall int64) *Limiter {
	return &Limiter{memory: memory, perCall: perCall, slots: slots{free: max(1, processors.Count()-1)}}
}

// Check returns an *engine.TooLarge if the texts of an argument have more bytes than a
// call may send.
func Check(argument string, bytes int) error {
	if bytes <= Max {
		return nil
	}
	return &engine.TooLarge{Resource: "bytes of " + argument, Limit: Max, Actual: int64(bytes)}
}

// Use is the memory and the compile slot that one call holds.
type Use struct {
	*Limiter
	caller   string // key of the caller; see For
	taken    int64  // bytes of memory
	freeSlot func() // frees the slot; nil if the call holds none
}

// For returns an empty use for one call. The key identifies the caller: calls with the same key
// wait in one queue.
func (t *Limiter) For(caller string) *Use { return &Use{Limiter: t, caller: caller} }

// Admit waits for a compile slot and reserves memory for a text. The caller must call `done` after
// compiling. The call keeps the memory until Release. It keeps the slot until Release too, but at
// most maxSlotHold longer than the compilation.
func (u *Use) Admit(ctx context.Context, argument, text string) (done func(), err error) {
	if err := Check(argument, len(text)); err != nil {
		return nil, err
	}
	if u.freeSlot != nil {
		u.freeSlot() // free the slot of an earlier text of the call
	}
	release, err := u.Turn(ctx, len(text))
	if err != nil {
		return nil, err
	}
	u.freeSlot = release
	if err := u.take(argument, int64(min(len(text), textCounted))*textMemory-textUnreserved); err != nil {
		release()
		return nil, err
	}
	if len(text) <= smallText {
		return release, nil
	}
	return func() { time.AfterFunc(maxSlotHold, release) }, nil
}

// NeedsSlot reports whether work on the given number of bytes needs a slot.
func NeedsSlot(bytes int) bool { return bytes > smallText }

// Turn waits for a slot for work on the given number of bytes. The caller must call `done` after
// the work.
func (u *Use) Turn(ctx context.Context, bytes int) (done func(), err error) {
	if !NeedsSlot(bytes) {
		return func() {}, nil
	}
	if err := u.slots.wait(ctx, u.caller); err != nil {
		return nil, err
	}
	return sync.OnceFunc(u.slots.release), nil
}

// take reserves memory. The error is an *engine.TooLarge, or an *engine.Busy if other calls
// have the memory.
func (u *Use) take(argument string, bytes int64) error {
	if bytes <= 0 || u.memory == nil {
		return nil
	}
	limit := u.memory.Limit()
	if u.perCall > 0 {
		limit = min(limit, u.perCall)
	}
	if u.taken+bytes > limit {
		return &engine.TooLarge{Resource: "bytes of memory to compile the argument " + argument, Limit: limit, Actual: u.taken + bytes}
	}
	if !u.memory.Take(bytes) {
		return &engine.Busy{Resource: "bytes of memory for texts and queries at once", Limit: u.memory.Limit()}
	}
	u.taken += bytes
	return nil
}

// Release frees the slot and the memory.
func (u *Use) Release() {
	if u.freeSlot != nil {
		u.freeSlot()
	}
	if u.taken > 0 {
		u.memory.Give(u.taken)
		u.taken = 0
	}
}
