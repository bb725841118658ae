package check

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// literalValue returns the value of a literal without regard to its context. An integer is an I64,
// or a U64 if it is too large for an I64. A decimal is an F64. The elements of a list are of one
// kind, which is F64 if integers and decimals are mixed.
func literalValue(l *syntax.Literal) (value.Value, error) {
	switch l.Kind {
	case syntax.StringLiteral:
		return value.OfString(l.Text), nil
	case syntax.BoolLiteral:
		return value.OfBool(l.Text == "true"), nil
	case syntax.TextLiteral:
		return l.Of.Parse(l.Text)
	case syntax.IntLiteral:
		if n, err := strconv.ParseInt(l.Text, 10, 64); err == nil {
			return value.OfI64(n), nil
		}
		if n, err := strconv.ParseUint(l.Text, 10, 64); err == nil {
			return value.OfU64(n), nil
		}
		return value.Null, fmt.Errorf("%s is outside the range of every integer type", l.Text)
	case syntax.FloatLiteral:
		f, err := strconv.ParseFloat(l.Text, 64)
		if err != nil {
			return value.Null, fmt.Errorf("%s is outside the range of F64", l.Text)
		}
		return value.OfF64(f), nil
	case syntax.ListLiteral:
		return listValue(l)
	}
	panic("check: literal has an unknown kind")
}

// listValue returns the value of a list literal. All elements must have the same kind.
func listValue(l *syntax.Literal) (value.Value, error) {
	elems := make([]value.Value, len(l.Elems))
	kind := value.Invalid
	for i, e := range l.Elems {
		v, err := literalValue(e)
		if err != nil {
			return value.Null, err
		}
		if v.IsList() {
			return value.Null, errors.New("a list in a list")
		}
		elems[i] = v
		switch {
		case kind == value.Invalid || kind == v.Kind():
			kind = v.Kind()
		case kind.IsNumeric() && v.Kind().IsNumeric():
			kind = value.F64
		default:
			return value.Null, fmt.Errorf("a list of %s and %s", kind, v.Kind())
		}
	}
	if kind == value.Invalid {
		kind = value.String
	}
	for i, e := range elems {
		if e.Kind() != kind {
			v, err := convert(l.Elems[i], value.Of(kind))
			if err != nil {
				return value.Null, err
			}
			elems[i] = v
		}
	}
	return value.OfList(kind, elems), nil
}

// errFraction reports a decimal where only an integer is allowed.
var errFraction = errors.New("a decimal")

// convert returns a literal as a value of type t. It never converts a String to a date.
func convert(l *syntax.Literal, t value.Type) (value.Value, error) {
	switch {
	case t.Kind == value.Vector:
		return convertVector(l, t)
	case t.List != (l.Kind == syntax.ListLiteral):
		return value.Null, mismatch(l, t)
	case t.List:
		elems := make([]value.Value, len(l.Elems))
		for i, e := range l.Elems {
			v, err := convert(e, t.Elem())
			if err != nil {
				return value.Null, err
			}
			elems[i] = v
		}
		return value.OfList(t.Kind, elems), nil
	}
	number := l.Kind == syntax.IntLiteral || l.Kind == syntax.FloatLiteral
	switch {
	case t.Kind == value.Decimal && number:
		return value.ParseDecimal(l.Text, t)
	case t.Kind.IsInteger() && l.Kind == syntax.IntLiteral:
		if v, ok := value.ParseNumber(l.Text, t.Kind); ok {
			return v, nil
		}
		return value.Null, fmt.Errorf("%s is outside the range of %s", l.Text, t.Kind)
	case t.Kind.IsInteger() && l.Kind == syntax.FloatLiteral:
		return value.Null, errFraction
	case t.Kind.IsFloat() && number:
		if v, ok := value.ParseNumber(l.Text, t.Kind); ok {
			return v, nil
		}
		return value.Null, fmt.Errorf("%s is outside the range of %s", l.Text, t.Kind)
	}
	if kindOf(l) != t.Kind {
		return value.Null, mismatch(l, t)
	}
	return literalValue(l)
}

// kindOf returns the kind of a literal that is not a number or a list, or else Invalid.
func kindOf(l *syntax.Literal) value.Kind {
	switch l.Kind {
	case syntax.StringLiteral:
		return value.String
	case syntax.BoolLiteral:
		return value.Bool
	case syntax.TextLiteral:
		return l.Of
	case syntax.IntLiteral, syntax.FloatLiteral, syntax.ListLiteral:
	}
	return value.Invalid
}

// convertVector converts a list literal to a vector.
func convertVector(l *syntax.Literal, t value.Type) (value.Value, error) {
	if l.Kind != syntax.ListLiteral {
		return value.Null, mismatch(l, t)
	}
	if len(l.Elems) != t.Dim {
		return value.Null, fmt.Errorf("%d components, want %d", len(l.Elems), t.Dim)
	}
	vec := make([]float32, len(l.Elems))
	for i, e := range l.Elems {
		v, err := convert(e, value.Of(value.F32))
		if err != nil {
			return value.Null, err
		}
		vec[i] = float32(v.Float())
	}
	return value.OfVector(vec), nil
}

// mismatchError reports that the type of a literal is not the type that the context of the literal
// requires.
type mismatchError struct {
	lit  *syntax.Literal // the literal that was found
	want value.Type      // the type that the context requires
}

// mismatch returns the error for a literal of the wrong type.
func mismatch(l *syntax.Literal, want value.Type) error { return &mismatchError{l, want} }

func (e *mismatchError) Error() string {
	return "found " + describe(e.lit) + ", want " + withoutNull(e.want)
}

// describe returns the kind of a literal in words, with an article, such as "an integer".
func describe(l *syntax.Literal) string {
	switch l.Kind {
	case syntax.IntLiteral:
		return "an integer"
	case syntax.FloatLiteral:
		return "a decimal"
	case syntax.ListLiteral:
		return "a list"
	case syntax.StringLiteral, syntax.BoolLiteral, syntax.TextLiteral:
	}
	return "a " + kindOf(l).String()
}

// withoutNull returns the name of the type without its question mark.
func withoutNull(t value.Type) string { return t.Required().String() }

// literalHelp returns advice on how to write the value that the author probably meant, or "".
func literalHelp(l *syntax.Literal, t value.Type) string {
	switch {
	case l.Kind == syntax.StringLiteral && t.Kind.IsKind() && t.Kind.Literal() != "" && !t.List:
		return "write " + t.Kind.Literal() + "(" + t.Kind.Example() + ")"
	case l.Kind == syntax.StringLiteral && (t.Kind.IsNumeric() || t.Kind == value.Decimal):
		return "remove the quotes"
	case (l.Kind == syntax.IntLiteral || l.Kind == syntax.FloatLiteral) && t.Kind == value.String:
		return "put the value in quotes"
	case t.List && l.Kind != syntax.ListLiteral:
		return "put the value in brackets"
	}
	return ""
}

// assignable converts a literal to the type of the property prop. It also checks the values of
// an enum.
func (c *checker) assignable(l *syntax.Literal, t value.Type, prop string, code diag.Code) (value.Value, bool) {
	c.step(1 + len(l.Elems))
	v, err := convert(l, t)
	var mm *mismatchError
	switch {
	case err == errFraction:
		c.fault(code, l.Span(), "remove the fraction", "the value of %s is a decimal, want %s", prop, withoutNull(t))
		return v, false
	case errors.As(err, &mm):
		c.fault(code, l.Span(), literalHelp(l, t), "found %s as the value of %s, want %s", describe(mm.lit), prop, withoutNull(t))
		return v, false
	case err != nil:
		c.fault(code, l.Span(), "", "bad value for %s: %v", prop, err)
		return v, false
	}
	if t.Enum != nil && !t.List && !slices.Contains(t.Enum, v.Str()) {
		help := diag.DidYouMean(v.Str(), t.Enum)
		if help == "" {
			help = "write one of the values of the enum"
		}
		c.fault(code, l.Span(), help, "%s has type %s, which does not include %q", prop, withoutNull(t), v.Str())
		return v, false
	}
	return v, true
}

// fits reports whether a value of the type `from` can be assigned to a property of the type `to`.
func fits(from, to value.Type) bool {
	switch {
	case from.List != to.List:
		return false
	case from.Kind == value.Decimal && to.Kind == value.Decimal: // a write checks the precision
		return from.Scale() == to.Scale()
	case from.Dim != to.Dim:
		return false
	}
	return from.Kind == to.Kind || from.Kind.IsNumeric() && to.Kind.IsNumeric()
}

// decimalHelp returns advice for a Decimal beside a number of another type, or "". A Decimal is compared with a Decimal of
// the same scale alone, because a float that looks equal often is not.
func decimalHelp(l, r value.Type) string {
	switch {
	case l.Kind == value.Decimal && r.Kind == value.Decimal && l.Scale() != r.Scale():
		return "give both the same number of digits after the point"
	case l.Kind == value.Decimal && r.Kind.IsNumeric():
		return "give the other side the type " + l.Elem().String() + ", or write a number, or compare float(…) of the Decimal"
	case r.Kind == value.Decimal && l.Kind.IsNumeric():
		return decimalHelp(r, l)
	}
	return ""
}
