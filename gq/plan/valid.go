package plan

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Valid says that a read runs as on a graph that has only the entities that are valid then. An edge whose end is not valid is not
// there, and an entity whose type has no [catalog.Validity] is always valid. The expressions are of the type Date or DateTime, and each is a Lit, a
// ParamRef or a Now; a Date stands for its first instant in UTC.
type Valid struct {
	From Expr // the instant, or the start of a period
	To   Expr // the end of the period, exclusive, so that all entities count that are valid at some time in it; nil for an instant
}

// Interval returns the first and the last microsecond since 1970 for which one of the entities that count is valid. The arguments are those
// of a call, with defaults. The error says that the period does not begin before its end.
func (v *Valid) Interval(args []value.Value, now value.Value) (first, last int64, err error) {
	at := func(e Expr) int64 {
		if lit, ok := e.(Lit); ok {
			return Instant(lit.Value)
		}
		if ref, ok := e.(ParamRef); ok {
			return Instant(args[ref.Index])
		}
		return Instant(now)
	}
	first = at(v.From)
	if v.To == nil {
		return first, first, nil
	}
	if last = at(v.To) - 1; last < first {
		return 0, 0, fmt.Errorf("the period of `valid during` ends at or before its start; give an end after the start")
	}
	return first, last, nil
}

// UsesNow reports whether an expression is now(). The receiver may be nil.
func (v *Valid) UsesNow() bool {
	if v == nil {
		return false
	}
	_, from := v.From.(Now)
	_, to := v.To.(Now)
	return from || to
}

// Instant returns a DateTime, or the first instant of a Date in UTC, in microseconds since 1970.
func Instant(v value.Value) int64 {
	if v.Kind() == value.Date {
		return v.Int() * 86400e6
	}
	return v.Int()
}
