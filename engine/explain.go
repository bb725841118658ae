package engine

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Explanation is how an engine runs a query. Names of operators and the wording of
// their details are the engine's own and may differ from one version to the next.
type Explanation struct {
	Commit   string      `json:"commit"` // that the estimates, or the rows, are of
	Analyzed bool        `json:"analyzed"`
	Plan     []*Operator `json:"plan"` // one of a read, one a statement of a mutation
}

// Operator is a step of a plan. It takes the rows of its children and yields its own.
type Operator struct {
	Name string `json:"name"`
	// Detail is what it touches, in the graph's own names: type, index, direction,
	// condition.
	Detail string `json:"detail,omitempty"`
	// Estimate is how many rows the engine expects it to yield.
	Estimate float64 `json:"estimate"`
	// Rows is how many it yielded; nil unless analyzed.
	Rows *int64 `json:"rows,omitempty"`
	// Time is what it took in nanoseconds, its children left out; 0 unless analyzed.
	Time     time.Duration `json:"time_ns,omitempty"`
	Children []*Operator   `json:"children,omitempty"`
}

// String renders the plan as an indented tree, an operator a line: the root, which
// yields the result, first.
func (e *Explanation) String() string {
	var b strings.Builder
	for _, o := range e.Plan {
		o.write(&b, 0)
	}
	return b.String()
}

func (o *Operator) write(b *strings.Builder, depth int) {
	b.WriteString(strings.Repeat("  ", depth))
	b.WriteString(o.Name)
	if o.Detail != "" {
		b.WriteString(" " + o.Detail)
	}
	fmt.Fprintf(b, " (estimate %s", strconv.FormatFloat(roughly(o.Estimate), 'f', -1, 64))
	if o.Rows != nil {
		fmt.Fprintf(b, ", rows %d, time %v", *o.Rows, o.Time)
	}
	b.WriteString(")\n")
	for _, c := range o.Children {
		c.write(b, depth+1)
	}
}

// roughly leaves an estimate no more digits than it deserves.
func roughly(x float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 2, 64), 64)
	if err != nil {
		return x
	}
	return r
}
