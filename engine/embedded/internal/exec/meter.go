package exec

import (
	"context"
	"runtime"
)

// meter counts the steps of binding or explaining a plan on one goroutine. It ends the work
// with a panic, because the phases recurse. The function that creates the meter must defer
// [catchEnd], which turns the panic into the context's error.
type meter struct {
	ctx  context.Context // checked from time to time
	left int             // steps until the meter checks ctx
}

// newMeter returns a meter that checks a context.
func newMeter(ctx context.Context) *meter { return &meter{ctx: ctx} }

// stepsPerLook is the number of steps between two checks of the context. A step takes less
// than 10 µs.
const stepsPerLook = 256

// step counts n steps. From time to time it checks the context and lets other goroutines
// run.
func (m *meter) step(n int) {
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

// meterStop carries an error from a meter to catchEnd.
type meterStop struct{ err error }

// catchEnd stores the error with which a meter ended the work. It must be called directly
// by defer.
func catchEnd(err *error) {
	switch p := recover().(type) {
	case nil:
	case meterStop:
		*err = p.err
	default:
		panic(p)
	}
}
