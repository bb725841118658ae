package arguments

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// fault describes an error in one JSON value.
type fault struct {
	at     string // the position inside the value, such as [3]
	detail string // what is wrong
	help   string // how to correct the value; may be empty
}

// convert reads `raw`, which must not be the JSON null, as a value of type t.
func convert(raw jsontext.Value, t value.Type) (value.Value, *fault) {
	switch {
	case t.Fields != nil && !t.List:
		r, f := record(raw, t)
		if f != nil {
			return value.Null, f
		}
		return value.OfRecord(r), nil
	case t.Fields != nil:
		var records [][]value.Value
		_, f := array(raw, t, func(e jsontext.Value) (value.Value, *fault) {
			r, f := record(e, t)
			records = append(records, r)
			return value.Null, f
		})
		if f != nil {
			return value.Null, f
		}
		return value.OfRecords(records), nil
	case t.List:
		elems, f := array(raw, t, func(e jsontext.Value) (value.Value, *fault) { return scalar(e, t.Elem()) })
		if f != nil {
			return value.Null, f
		}
		return value.OfList(t.Kind, elems), nil
	case t.Kind == value.Vector:
		vec := make([]float32, 0, t.Dim)
		_, f := array(raw, t, func(e jsontext.Value) (value.Value, *fault) {
			v, f := scalar(e, value.Of(value.F32))
			if f == nil {
				vec = append(vec, float32(v.Float()))
			}
			return v, f
		})
		if f == nil && len(vec) != t.Dim {
			f = &fault{detail: fmt.Sprintf("found %d numbers, expected %s", len(vec), expectedValue(t))}
		}
		if f != nil {
			return value.Null, f
		}
		return value.OfVector(vec), nil
	}
	return scalar(raw, t)
}

// array reads a JSON array. It calls `elem` to read each element.
func array(raw jsontext.Value, t value.Type, elem func(jsontext.Value) (value.Value, *fault)) ([]value.Value, *fault) {
	if text := heldArray(raw); text != nil {
		raw = text
	}
	if raw.Kind() != '[' {
		return nil, &fault{detail: "found " + describe(raw) + ", expected " + expectedValue(t)}
	}
	d := jsontext.NewDecoder(strings.NewReader(string(raw)))
	if _, err := d.ReadToken(); err != nil {
		return nil, &fault{detail: err.Error()}
	}
	elems := []value.Value{}
	for d.PeekKind() != ']' {
		e, err := d.ReadValue()
		if err != nil {
			return nil, &fault{detail: err.Error()}
		}
		v, f := elem(e)
		if f != nil {
			f.at = "[" + strconv.Itoa(len(elems)) + "]" + f.at
			return nil, f
		}
		elems = append(elems, v)
	}
	return elems, nil
}

// record reads a JSON object as the values of the fields of t. An absent member is null.
func record(raw jsontext.Value, t value.Type) ([]value.Value, *fault) {
	raw = jsontext.Value(unwrap(json.RawMessage(raw)))
	if raw.Kind() != '{' {
		return nil, &fault{detail: "found " + describe(raw) + ", expected " + expectedValue(t.Elem())}
	}
	d := jsontext.NewDecoder(strings.NewReader(string(raw)))
	if _, err := d.ReadToken(); err != nil {
		return nil, &fault{detail: err.Error()}
	}
	out := make([]value.Value, len(t.Fields))
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, &fault{detail: err.Error()}
		}
		member := name.String()
		v, err := d.ReadValue()
		if err != nil {
			return nil, &fault{detail: err.Error()}
		}
		i := slices.IndexFunc(t.Fields, func(f value.Field) bool { return f.Name == member })
		if i < 0 {
			names := make([]string, len(t.Fields))
			for j, f := range t.Fields {
				names[j] = f.Name
			}
			return nil, &fault{at: "." + member, detail: "there is no such field", help: diag.DidYouMean(member, names)}
		}
		if v.Kind() == 'n' {
			continue
		}
		var f *fault
		if out[i], f = scalar(v, t.Fields[i].Type); f != nil {
			f.at = "." + member + f.at
			return nil, f
		}
	}
	for i, f := range t.Fields {
		if out[i].IsNull() && !f.Type.Nullable {
			return nil, &fault{at: "." + f.Name, detail: "missing, expected " + expectedValue(f.Type)}
		}
	}
	return out, nil
}

// scalar reads one JSON value as a scalar. It also accepts a number or a Bool written as a
// string.
func scalar(raw jsontext.Value, t value.Type) (value.Value, *fault) {
	kind := raw.Kind()
	var text string // the text of raw if it is a string or a number
	switch kind {
	case '"':
		b, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return value.Null, &fault{detail: err.Error()}
		}
		text = string(b)
	case '0':
		text = string(raw)
	}
	miss := func(help string) (value.Value, *fault) {
		return value.Null, &fault{detail: "found " + describe(raw) + ", expected " + expectedValue(t), help: help}
	}
	switch k := t.Kind; {
	case k == value.Decimal:
		if kind != '"' {
			return miss("")
		}
		v, err := value.ParseDecimal(text, t)
		if err != nil {
			return miss(err.Error())
		}
		return v, nil
	case k.Storage() == value.InText:
		switch {
		case kind == '0':
			return miss("write it in quotes")
		case kind != '"':
			return miss("")
		case t.Enum != nil:
			return enum(text, t, miss)
		}
		return value.OfString(text), nil
	case k.Storage() == value.InBits:
		switch {
		case kind == 't' || text == "true" && kind == '"':
			return value.OfBool(true), nil
		case kind == 'f' || text == "false" && kind == '"':
			return value.OfBool(false), nil
		}
		return miss("")
	case k.IsInteger():
		if v, ok := integer(text, t.Kind); ok {
			return v, nil
		}
		return miss("")
	case k.IsFloat():
		if v, ok := float(text, t.Kind); ok {
			return v, nil
		}
		return miss("")
	case k.HasText():
		if kind != '"' {
			return miss("")
		}
		v, err := k.Parse(text)
		switch {
		case errors.Is(err, value.ErrTooFine):
			return value.Null, &fault{detail: "found " + describe(raw), help: value.ErrTooFine.Error()}
		case err != nil:
			return miss("")
		}
		return v, nil
	case k.Storage() == value.InBytes:
		b, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(text, "base64:"))
		if err == nil && kind == '"' {
			return value.OfBlob(b), nil
		}
		return miss("")
	}
	panic("tool: parameter of type " + t.String())
}

// enum checks that the text is one of the values that the type allows.
func enum(text string, t value.Type, miss func(string) (value.Value, *fault)) (value.Value, *fault) {
	for _, e := range t.Enum {
		if e == text {
			return value.OfString(text), nil
		}
	}
	return miss(diag.DidYouMean(text, t.Enum))
}

// integer reads an integer in any JSON notation: 300, 300.0 and 3e2 are equal.
func integer(text string, k value.Kind) (value.Value, bool) {
	neg, digits, ok := splitInteger(text)
	if !ok {
		return value.Null, false
	}
	if neg {
		digits = "-" + digits
	}
	return value.ParseNumber(digits, k)
}

// maxDigits is the number of digits of the longest 64-bit integer.
const maxDigits = 20

// splitInteger splits a JSON number into sign and digits if its value is an integer. It does not
// compute powers, because the exponent may be huge.
func splitInteger(text string) (neg bool, digits string, ok bool) {
	if !isNumber(text) {
		return false, "", false
	}
	if text[0] == '-' {
		neg, text = true, text[1:]
	}
	exp := 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		n, err := strconv.Atoi(text[i+1:])
		text = text[:i]
		if err != nil || n > 1<<20 || n < -1<<20 {
			n = math.MaxInt32 // the exponent is too large, unless all digits are zeros
		}
		exp = n
	}
	intPart, frac, _ := strings.Cut(text, ".")
	digits = intPart + frac
	point := len(intPart) + exp
	trimmed := strings.TrimLeft(digits, "0")
	point -= len(digits) - len(trimmed)
	digits = strings.TrimRight(trimmed, "0")
	switch {
	case digits == "":
		return false, "0", true
	case len(digits) > point || point > maxDigits:
		return false, "", false
	}
	return neg, digits + strings.Repeat("0", point-len(digits)), true
}

// float reads a JSON number as a value of kind k, and reports whether it fits.
func float(text string, k value.Kind) (value.Value, bool) {
	if !isNumber(text) {
		return value.Null, false
	}
	return value.ParseNumber(text, k)
}

// isNumber reports whether text is a JSON number.
func isNumber(text string) bool {
	v := jsontext.Value(text)
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') &&
		text[len(text)-1] >= '0' && v.Kind() == '0' && v.IsValid()
}

// expectedValue describes the JSON values that type t accepts.
func expectedValue(t value.Type) string {
	if t.List {
		return "an array, each element " + expectedValue(t.Elem())
	}
	switch {
	case t.Fields != nil:
		return "an object such as " + t.String()
	case t.Enum != nil:
		return "one of " + strings.Join(t.Enum, ", ")
	case t.Kind == value.Vector:
		return fmt.Sprintf("an array of %d numbers", t.Dim)
	}
	return t.Kind.Wanted()
}

// maxQuoted is the maximum number of bytes of an argument that a message quotes.
const maxQuoted = 60

// describe describes a JSON value for a message.
func describe(raw jsontext.Value) string {
	switch raw.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return string(raw)
	case '"':
		b, _ := jsontext.AppendUnquote(nil, raw)
		if len(b) > maxQuoted {
			return "the string " + strconv.Quote(strings.ToValidUTF8(string(b[:maxQuoted]), "")+"…")
		}
		return "the string " + strconv.Quote(string(b))
	case '0':
		if len(raw) > maxQuoted {
			return "the number " + string(raw[:maxQuoted]) + "…"
		}
		return "the number " + string(raw)
	case '[':
		return "an array"
	case '{':
		return "an object"
	}
	return "no JSON value"
}
