package load

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// value converts a JSON value to a type. Texts are valid as long as the line.
func (p *parser) value(raw jsontext.Value, t value.Type) (value.Value, error) {
	if raw.Kind() == 'n' {
		return value.Null, nil
	}
	switch {
	case t.List:
		var elems []value.Value
		err := p.elements(raw, t, func(e jsontext.Value) error {
			if e.Kind() == 'n' {
				return errors.New("a list cannot hold null")
			}
			v, err := p.value(e, t.Elem())
			elems = append(elems, v)
			return err
		})
		return value.OfList(t.Kind, elems), err
	case t.Kind == value.Vector:
		vec := make([]float32, 0, t.Dim)
		err := p.elements(raw, t, func(e jsontext.Value) error {
			v, err := scalar(e, "", value.Of(value.F32))
			if err == nil {
				vec = append(vec, float32(v.Float()))
			}
			return err
		})
		return value.OfVector(vec), err
	}
	var text string
	if raw.Kind() == '"' {
		text = p.unquote(raw)
	}
	return scalar(raw, text, t)
}

// elements calls f with each element of a JSON array. The error says which element is bad.
func (p *parser) elements(raw jsontext.Value, t value.Type, f func(jsontext.Value) error) error {
	if raw.Kind() != '[' {
		return wrongValue(raw, t.String())
	}
	// The tokenizer has accepted the array, so it can be split at the commas of its
	// outermost level.
	depth, start, n := 0, 1, 0
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}' || c == ',':
			if c != ',' {
				depth--
			}
			if c == ',' && depth == 1 || depth == 0 {
				e := jsontext.Value(strings.TrimSpace(string(raw[start:i])))
				start = i + 1
				if depth == 0 && n == 0 && len(e) == 0 {
					return nil
				}
				if err := f(e); err != nil {
					return fmt.Errorf("element %d: %w", n, err)
				}
				n++
			}
		}
	}
	return nil
}

// scalar converts a scalar that is not null. text is the content of a JSON string.
func scalar(raw jsontext.Value, text string, t value.Type) (value.Value, error) {
	k := t.Kind
	quoted := raw.Kind() == '"'
	number := raw.Kind() == '0'
	digits := unsafe.String(unsafe.SliceData(raw), len(raw))
	switch s := k.Storage(); {
	case k == value.Decimal && quoted:
		return value.ParseDecimal(text, t)
	case k == value.Decimal:
		return value.Null, wrongValue(raw, k.Wanted())
	case s == value.InText && quoted:
		return value.OfString(text), nil
	case s == value.InBytes && quoted:
		b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "base64:"))
		if err != nil {
			return value.Null, errors.New("the text is not base64 with padding")
		}
		return value.OfBlob(b), nil
	case s == value.InBits && (raw.Kind() == 't' || raw.Kind() == 'f'):
		return value.OfBool(raw.Kind() == 't'), nil
	case k.IsInteger() && number:
		return integer(digits, k)
	case k.IsInteger() && quoted && k.JSON() == value.JSONWide:
		return integer(text, k)
	case k.IsFloat() && number:
		return float(digits, k)
	case k.HasText() && quoted:
		return k.Parse(text)
	case k.HasText() && number && k.Integer() != "":
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return value.Null, wrongValue(raw, k.Integer())
		}
		return k.OfInteger(n)
	}
	return value.Null, wrongValue(raw, k.String())
}

// keyMember converts the text of a key member, in any spelling.
func keyMember(text []byte, t value.Type) (value.Value, error) {
	s := string(text)
	switch k := t.Kind; {
	case k == value.Decimal:
		return value.ParseDecimal(s, t)
	case k.Storage() == value.InText:
		return value.OfString(s), nil
	case k.Storage() == value.InBits:
		if s != "true" && s != "false" {
			return value.Null, errors.New("no Bool")
		}
		return value.OfBool(s == "true"), nil
	case k.IsInteger():
		return integer(s, k)
	case k.IsFloat():
		return float(s, k)
	case k.HasText():
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && k.Integer() != "" {
			return k.OfInteger(n)
		}
		return k.Parse(s)
	}
	return value.Null, errors.New("the type of the property cannot be a key")
}

// integer parses an integer of kind k.
func integer(s string, k value.Kind) (value.Value, error) {
	outside := func(err error) error {
		if err == nil || errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%s is out of range of %s", strings.Clone(s), k)
		}
		return fmt.Errorf("found %q, expected an integer of type %s", strings.Clone(s), k)
	}
	v, ok := value.ParseNumber(s, k)
	if ok {
		return v, nil
	}
	unsigned := k.Storage() == value.InUint32 || k.Storage() == value.InUint64
	if unsigned && strings.HasPrefix(s, "-") {
		return value.Null, fmt.Errorf("%s is out of range of %s", strings.Clone(s), k)
	}
	_, err := strconv.ParseInt(s, 10, 64)
	return value.Null, outside(err)
}

// float parses a float of kind k.
func float(s string, k value.Kind) (value.Value, error) {
	size := 64
	if k == value.F32 {
		size = 32
	}
	f, err := strconv.ParseFloat(s, size)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return value.Null, fmt.Errorf("%s is out of range of %s", strings.Clone(s), k)
	}
	if k == value.F32 {
		return value.OfF32(float32(f)), nil
	}
	return value.OfF64(f), nil
}

// wrongValue returns the error for a value that is not of the expected kind.
func wrongValue(raw []byte, what string) error {
	return fmt.Errorf("found %s, expected %s", clip(raw), what)
}
