package exec

import (
	"context"
	"runtime"
)

// meter counts the steps of binding or explaining a plan on one goroutine. It ends the
// work by a panic, because the phases recurse: the function that makes the meter defers
// [catchEnd], which turns the panic into the context's error.
type meter struct {
	ctx  context.Context
	left int // steps until the meter looks at ctx
}

// stepsPerLook is how many steps lie between two looks at the context. A step takes less
// than 10 µs.
const stepsPerLook = 256

// step counts n steps, and now and then lets other goroutines run.
func (m *meter) step(n int) {
	if m.left -= n; m.left > 0 {
		return
	}
	m.left = stepsPerLook
	if err := m.ctx.Err(); err != nil {
		panic(ended{err})
	}
	// The scheduler would let a short call wait for 10 ms behind this one.
	runtime.Gosched()
}

// ended carries an error from a meter to catchEnd.
type ended struct{ err error }

// catchEnd stores the error with which a meter ended the work. It must be deferred itself.
func catchEnd(err *error) {
	switch p := recover().(type) {
	case nil:
	case ended:
		*err = p.err
	default:
		panic(p)
	}
}
