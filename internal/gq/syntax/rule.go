package syntax

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// BoundsOf converts the two ends of a @range to numbers of a type, or of the type of its elements. An end that the source leaves
// out is nil. `at` is the position of the whole annotation. If an end is faulty, BoundsOf returns a
// diagnostic without a code.
func BoundsOf(lo, hi *Token, at diag.Span, t value.Type) (value.Bounds, *diag.Diagnostic) {
	var b value.Bounds
	if lo == nil && hi == nil {
		return b, &diag.Diagnostic{Span: at, Message: "the range has no minimum and no maximum", Help: "write a minimum, a maximum or both: 0.., ..200 or 0..200"}
	}
	for _, end := range []struct {
		tok *Token
		dst **value.Value
	}{{lo, &b.Min}, {hi, &b.Max}} {
		if end.tok == nil {
			continue
		}
		v, ok := value.ParseNumber(end.tok.Value, t.Kind)
		if t.Kind == value.Decimal {
			var err error
			if v, err = value.ParseDecimal(end.tok.Value, t); err != nil {
				return b, &diag.Diagnostic{Span: SpanOf(*end.tok), Message: err.Error()}
			}
		} else if !ok {
			return b, &diag.Diagnostic{Span: SpanOf(*end.tok), Message: fmt.Sprintf("%s is not a valid %s", end.tok.Value, t.Kind)}
		}
		*end.dst = &v
	}
	if b.Min != nil && b.Max != nil {
		if order, _ := value.Compare(*b.Min, *b.Max); order > 0 {
			return b, &diag.Diagnostic{Span: at, Help: "swap the two values",
				Message: fmt.Sprintf("the minimum %s of the range is above the maximum %s", lo.Value, hi.Value)}
		}
	}
	return b, nil
}

// PatternOf compiles the regular expression of a @check. If the expression is faulty, PatternOf
// returns a diagnostic without a code.
func PatternOf(t Token) (*value.Pattern, *diag.Diagnostic) {
	p, err := value.NewPattern(Text(t))
	if err != nil {
		return nil, &diag.Diagnostic{Span: SpanOf(t), Message: err.Error(), Help: "write the regular expression in RE2 syntax"}
	}
	return p, nil
}
