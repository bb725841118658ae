package ir

import (
	"context"
	"runtime"
)

// Meter counts the steps of binding or explaining a plan on one goroutine. It ends the work
// with a panic, because the phases recurse. The function that creates the meter must defer
// [CatchEnd], which turns the panic into the context's error.
type Meter struct {
	ctx  context.Context // checked from time to time
	left int             // steps until the meter checks ctx
}

// NewMeter returns a meter that checks a context.
func NewMeter(ctx context.Context) *Meter { return &Meter{ctx: ctx} }

// stepsPerLook is the number of steps between two checks of the context. A step takes less
// than 10 µs.
const stepsPerLook = 256

// Step counts n steps. From time to time it checks the context and lets other goroutines
// run.
func (m *Meter) Step(n int) {
	if m.left -= n; m.left > 0 {
		return
	}
	m.left = stepsPerLook
	if err := m.ctx.Err(); err != nil {
		panic(meterStop{err})
	}
	// Without this call, the scheduler might let a short request wait 10 ms for this one.
	runtime.Gosched()
}

// meterStop carries an error from a meter to CatchEnd.
type meterStop struct{ err error }

// CatchEnd stores the error with which a meter ended the work. It must be called directly
// by defer.
func CatchEnd(err *error) {
	switch p := recover().(type) {
	case nil:
	case meterStop:
		*err = p.err
	default:
		panic(p)
	}
}
