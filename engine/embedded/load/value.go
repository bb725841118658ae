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
				return errors.New("a list holds no null")
			}
			v, err := p.value(e, t.Elem())
			elems = append(elems, v)
			return err
		})
		return value.OfList(t.Kind, elems), err
	case t.Kind == value.Vector:
		vec := make([]float32, 0, t.Dim)
		err := p.elements(raw, t, func(e jsontext.Value) error {
			v, err := scalar(e, "", value.F32)
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
	return scalar(raw, text, t.Kind)
}

// elements calls f with each element of a JSON array. The error says which element is bad.
func (p *parser) elements(raw jsontext.Value, t value.Type, f func(jsontext.Value) error) error {
	if raw.Kind() != '[' {
		return wanted(raw, t.String())
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
func scalar(raw jsontext.Value, text string, k value.Kind) (value.Value, error) {
	quoted := raw.Kind() == '"'
	number := raw.Kind() == '0'
	digits := unsafe.String(unsafe.SliceData(raw), len(raw))
	switch k {
	case value.String:
		if quoted {
			return value.OfString(text), nil
		}
	case value.Bool:
		if raw.Kind() == 't' || raw.Kind() == 'f' {
			return value.OfBool(raw.Kind() == 't'), nil
		}
	case value.I32, value.U32:
		if number {
			return integer(digits, k)
		}
	case value.I64, value.U64:
		if quoted {
			digits = text
		}
		if quoted || number {
			return integer(digits, k)
		}
	case value.F32, value.F64:
		if number {
			return float(digits, k)
		}
	case value.Date:
		if quoted {
			d, err := value.ParseDate(text)
			return value.OfDate(d), err
		}
		if number {
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil {
				return value.Null, wanted(raw, "a date, as YYYY-MM-DD or whole days since 1970-01-01")
			}
			d, err := value.DateFromDays(n)
			return value.OfDate(d), err
		}
	case value.DateTime:
		if quoted {
			t, err := value.ParseDateTime(text)
			return value.OfDateTime(t), err
		}
		if number {
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil {
				return value.Null, wanted(raw, "an instant, as RFC 3339 or whole milliseconds since 1970")
			}
			t, err := value.DateTimeFromMillis(n)
			return value.OfDateTime(t), err
		}
	case value.Blob:
		if quoted {
			b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "base64:"))
			if err != nil {
				return value.Null, errors.New("the text is no base64 with padding")
			}
			return value.OfBlob(b), nil
		}
	case value.Vector, value.Invalid:
	}
	return value.Null, wanted(raw, k.String())
}

// keyMember converts the text of a key member, in any spelling.
func keyMember(text []byte, t value.Type) (value.Value, error) {
	s := string(text)
	switch t.Kind {
	case value.String:
		return value.OfString(s), nil
	case value.Bool:
		if s != "true" && s != "false" {
			return value.Null, errors.New("no Bool")
		}
		return value.OfBool(s == "true"), nil
	case value.I32, value.I64, value.U32, value.U64:
		return integer(s, t.Kind)
	case value.F32, value.F64:
		return float(s, t.Kind)
	case value.Date:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			d, err := value.DateFromDays(n)
			return value.OfDate(d), err
		}
		d, err := value.ParseDate(s)
		return value.OfDate(d), err
	case value.DateTime:
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			d, err := value.DateTimeFromMillis(n)
			return value.OfDateTime(d), err
		}
		d, err := value.ParseDateTime(s)
		return value.OfDateTime(d), err
	case value.Blob, value.Vector, value.Invalid:
	}
	return value.Null, errors.New("no key type")
}

func integer(s string, k value.Kind) (value.Value, error) {
	outside := func(err error) error {
		if errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%s is out of range of %s", strings.Clone(s), k)
		}
		return fmt.Errorf("found %q, wanted a whole number of type %s", strings.Clone(s), k)
	}
	size := 64
	if k == value.I32 || k == value.U32 {
		size = 32
	}
	if k == value.U32 || k == value.U64 {
		n, err := strconv.ParseUint(s, 10, size)
		if err != nil && strings.HasPrefix(s, "-") {
			return value.Null, fmt.Errorf("%s is out of range of %s", strings.Clone(s), k)
		}
		if err != nil {
			return value.Null, outside(err)
		}
		if k == value.U32 {
			return value.OfU32(uint32(n)), nil
		}
		return value.OfU64(n), nil
	}
	n, err := strconv.ParseInt(s, 10, size)
	if err != nil {
		return value.Null, outside(err)
	}
	if k == value.I32 {
		return value.OfI32(int32(n)), nil
	}
	return value.OfI64(n), nil
}

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

func wanted(raw []byte, what string) error {
	return fmt.Errorf("found %s, wanted %s", clip(raw), what)
}
