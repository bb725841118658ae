package syntax

import (
	"context"
	"sync/atomic"

	"github.com/alecthomas/participle/v2"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// lines counts the lines of the grammar library's trace. The library writes one line for each
// visit of a grammar node.
type lines struct{ atomic.Int64 }

func (c *lines) Write(b []byte) (int, error) {
	c.Add(1)
	return len(b), nil
}

// looks is a context that counts how often a meter checks it.
type looks struct {
	context.Context
	n int
}

func (c *looks) Err() error {
	c.n++
	return nil
}

// interval is the number of steps between two checks of a context by a meter.
const interval = 256

// steps returns the number of steps that a parse takes. It adds the steps on the meter, rounded
// down to a multiple of interval, and the visits of grammar nodes.
func steps(parse func(*work.Meter) diag.List) (int, diag.List) {
	visits := &lines{}
	oldTrace, oldPart := trace, partOptions
	trace = []participle.ParseOption{participle.Trace(visits)}
	partOptions = append(partOptions[:len(partOptions):len(partOptions)], participle.Trace(visits))
	defer func() { trace, partOptions = oldTrace, oldPart }()
	ctx := &looks{Context: context.Background()}
	faults := parse(work.New(ctx, work.Limits{}))
	return interval*ctx.n + int(visits.Load()), faults
}
