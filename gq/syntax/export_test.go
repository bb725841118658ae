package syntax

import (
	"sync/atomic"

	"github.com/alecthomas/participle/v2"

	"github.com/omnigraph-go/omnigraph/gq/diag"
)

// counter counts the lines of the grammar library's trace. The library writes one line for each
// visit of a grammar node.
type counter struct{ lines atomic.Int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.lines.Add(1)
	return len(b), nil
}

// steps returns the number of steps that a parse takes: the steps of the scanner and the parser,
// and the visits of grammar nodes.
func steps(parse func() *parser) (int, diag.List) {
	c := &counter{}
	oldTrace, oldNested := trace, nested
	trace = []participle.ParseOption{participle.Trace(c)}
	nested = append(nested[:len(nested):len(nested)], participle.Trace(c))
	defer func() { trace, nested = oldTrace, oldNested }()
	p := parse()
	return p.steps + int(c.lines.Load()), p.result()
}
