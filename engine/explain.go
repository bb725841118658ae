package engine

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Explanation describes how an engine runs a query. The engine chooses the names of operators and
// the wording of their details, and may change both between versions.
type Explanation struct {
	Commit   string      `json:"commit"`   // the estimates and row counts are for this commit
	Analyzed bool        `json:"analyzed"` // the query was run to measure the operators
	Plan     []*Operator `json:"plan"`     // one operator for a read; one per statement for a mutation
}

// Operator is a step of a plan. It consumes the rows of its children and yields its own.
type Operator struct {
	Name string `json:"name"` // kind of step, chosen by the engine
	// Detail lists the types, index, direction and condition that the operator uses, with the
	// graph's own names.
	Detail string `json:"detail,omitempty"`
	// Estimate is the number of rows that the engine expects the operator to yield.
	Estimate float64 `json:"estimate"`
	// Rows is the number of rows that the operator yielded; nil unless analyzed.
	Rows *int64 `json:"rows,omitempty"`
	// Time is the time in nanoseconds that the operator took, without its children; 0 unless
	// analyzed.
	Time     time.Duration `json:"time_ns,omitempty"`
	Children []*Operator   `json:"children,omitempty"` // the steps that yield its input
}

// String renders the plan as an indented tree, one operator per line. The root, which yields the
// result, comes first.
func (e *Explanation) String() string {
	var b strings.Builder
	for _, o := range e.Plan {
		o.write(&b, 0)
	}
	return b.String()
}

// write writes the operator and its children as indented lines.
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

// roughly rounds an estimate to two significant digits; more would suggest false precision.
func roughly(x float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 2, 64), 64)
	if err != nil {
		return x
	}
	return r
}
