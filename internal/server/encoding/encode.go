package encoding

import (
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// maxSafeInteger is the largest n for which n and n+1 are different float64 values: 2^53 −
// 1.
const maxSafeInteger = 1<<53 - 1

// columnKey holds the text before a column's value: the column's name as a JSON string, and a
// colon. If the values of the column are records, `fields` holds the keys of the records' fields.
type columnKey struct {
	text   []byte // such as "name":
	fields []columnKey
}

// columnKeys returns the key of each column.
func columnKeys(cols []plan.Column) []columnKey {
	keys, size := make([]columnKey, len(cols)), 0
	for _, c := range cols {
		size += len(c.Name) + len(`"":`)
	}
	text := make([]byte, 0, size) // of all keys
	for i, c := range cols {
		start := len(text)
		text = append(appendString(text, c.Name), ':')
		keys[i] = columnKey{text[start:len(text):len(text)], fieldKeys(c.Fields)}
	}
	return keys
}

// fieldKeys returns the key of each field of the records in a column.
func fieldKeys(fields []plan.Field) []columnKey {
	var keys []columnKey
	for _, f := range fields {
		keys = append(keys, columnKey{keyText(f.Name), fieldKeys(f.Fields)})
	}
	return keys
}

// keyText returns the name of a column as a JSON key with its colon.
func keyText(name string) []byte { return append(appendString(nil, name), ':') }

// row writes row i of a result in the form that the options select. For an array, the keys of the columns have no text.
func (e *Writer) row(keys []columnKey, cols []engine.Column, i int) {
	start := len(e.buf)
	e.object(keys, cols, i)
	if e.enc.Arrays {
		e.buf[start], e.buf[len(e.buf)-1] = '[', ']'
	}
}

// object writes row i as an object.
func (e *Writer) object(keys []columnKey, cols []engine.Column, i int) {
	e.buf = append(e.buf, '{')
	for j := range cols {
		if j > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = append(e.buf, keys[j].text...)
		c := &cols[j]
		switch {
		case c.IsNull(i):
			e.buf = append(e.buf, "null"...)
		case c.Offsets != nil:
			e.objects(keys[j].fields, c, i)
		case c.Fields != nil:
			e.object(keys[j].fields, c.Fields, i)
		default:
			e.cell(c, i)
		}
	}
	e.buf = append(e.buf, '}')
}

// objects writes the list of records in row i of a column as a JSON array.
func (e *Writer) objects(keys []columnKey, c *engine.Column, i int) {
	e.buf = append(e.buf, '[')
	for k := c.Offsets[i]; k < c.Offsets[i+1]; k++ {
		if k > c.Offsets[i] {
			e.buf = append(e.buf, ',')
		}
		e.object(keys, c.Fields, int(k))
	}
	e.buf = append(e.buf, ']')
}

// cell writes row i of a column that has no Fields. The cell must not be null.
func (e *Writer) cell(c *engine.Column, i int) {
	if c.Type.List {
		e.buf = append(e.buf, '[')
		for j, v := range c.Lists[i].Elems() {
			if j > 0 {
				e.buf = append(e.buf, ',')
			}
			e.scalar(v)
		}
		e.buf = append(e.buf, ']')
		return
	}
	switch k := c.Type.Kind; k.Storage() {
	case value.InBits:
		e.buf = strconv.AppendBool(e.buf, c.Ints[i] != 0)
	case value.InInt32, value.InUint32, value.InInt64:
		e.integer(k, c.Ints[i])
	case value.InUint64:
		e.uint64(uint64(c.Ints[i]))
	case value.InFloat32:
		e.float(c.Floats[i], 32)
	case value.InFloat64:
		e.float(c.Floats[i], 64)
	case value.InText:
		e.buf = appendString(e.buf, c.Strings[i])
	case value.InBytes:
		e.bytes(value.OfRaw(k, c.Strings[i]))
	case value.InVector:
		e.buf = append(e.buf, '[')
		for j, f := range c.Vectors[i] {
			if j > 0 {
				e.buf = append(e.buf, ',')
			}
			e.float(float64(f), 32)
		}
		e.buf = append(e.buf, ']')
	default:
		panic("encoding: column of type " + c.Type.String())
	}
}

// scalar writes an element of a list.
func (e *Writer) scalar(v value.Value) {
	switch k := v.Kind(); k.Storage() {
	case value.InNone:
		e.buf = append(e.buf, "null"...)
	case value.InBits:
		e.buf = strconv.AppendBool(e.buf, v.Bool())
	case value.InInt32, value.InUint32, value.InInt64:
		e.integer(k, v.Int())
	case value.InUint64:
		e.uint64(v.Uint())
	case value.InFloat32:
		e.float(v.Float(), 32)
	case value.InFloat64:
		e.float(v.Float(), 64)
	case value.InText:
		e.buf = appendString(e.buf, v.Str())
	case value.InBytes:
		e.bytes(v)
	default:
		panic("encoding: list of " + v.Type().String())
	}
}

// integer writes a value of a kind that is stored as a signed integer of at most 64 bits.
func (e *Writer) integer(k value.Kind, n int64) {
	switch k.JSON() {
	case value.JSONNum:
		e.buf = strconv.AppendInt(e.buf, n, 10)
	case value.JSONWide:
		e.int64(n)
	default:
		e.buf = append(k.AppendText(append(e.buf, '"'), n), '"')
	}
}

// int64 writes an integer, as a string if the options demand it.
func (e *Writer) int64(n int64) {
	if e.enc.StringIntegers || e.enc.SafeIntegers && (n > maxSafeInteger || n < -maxSafeInteger) {
		e.buf = append(strconv.AppendInt(append(e.buf, '"'), n, 10), '"')
		return
	}
	e.buf = strconv.AppendInt(e.buf, n, 10)
}

// uint64 writes an integer, as a string if the options demand it.
func (e *Writer) uint64(n uint64) {
	if e.enc.StringIntegers || e.enc.SafeIntegers && n > maxSafeInteger {
		e.buf = append(strconv.AppendUint(append(e.buf, '"'), n, 10), '"')
		return
	}
	e.buf = strconv.AppendUint(e.buf, n, 10)
}

// float writes a number, or a string for a value that JSON cannot express as a number.
func (e *Writer) float(f float64, bits int) {
	switch {
	case math.IsNaN(f):
		e.buf = append(e.buf, `"NaN"`...)
	case math.IsInf(f, 1):
		e.buf = append(e.buf, `"Infinity"`...)
	case math.IsInf(f, -1):
		e.buf = append(e.buf, `"-Infinity"`...)
	default:
		e.buf = value.AppendFloat(e.buf, f, bits)
	}
}

// bytes writes a value that is stored as bytes: the base64 of a Blob, the text of a Decimal.
func (e *Writer) bytes(v value.Value) { e.buf = append(value.AppendText(append(e.buf, '"'), v), '"') }

// appendString appends s as a JSON string. Invalid UTF-8, which the engine does not store,
// would become the replacement character.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
