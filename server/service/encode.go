package service

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Limits bound the size of results for models, and the duration of calls.
type Limits struct {
	MaxRows  int  // default 5,000
	MaxBytes int  // of a result's JSON up to its last row; default 1 MiB
	Refuse   bool // fail with an *Oversize instead of truncating

	// AnswerBytes is the maximum size of an answer whose memory is counted; see
	// [Config.Memory]. The default is 1 GiB.
	AnswerBytes int64

	// Timeout is the maximum duration of a call; the default is 30 seconds. It does not
	// apply to a load, which may take as long as the client needs to send it.
	Timeout time.Duration
}

func (l Limits) withDefaults() Limits {
	if l.MaxRows == 0 {
		l.MaxRows = 5000
	}
	if l.MaxBytes == 0 {
		l.MaxBytes = 1 << 20
	}
	if l.AnswerBytes == 0 {
		l.AnswerBytes = 1 << 30
	}
	if l.Timeout == 0 {
		l.Timeout = 30 * time.Second
	}
	return l
}

// Encoding configures how an answer is written.
type Encoding struct {
	// SafeIntegers writes 64-bit integers beyond ±(2^53−1) as decimal strings, because
	// readers that store numbers as float64 would round them.
	SafeIntegers bool

	MaxRows  int // zero for no limit
	MaxBytes int // zero for no limit
	Refuse   bool

	NoCommit bool // omit from the answer the commit that was read

	// Parts allows a long answer to consist of several parts; see [Answer]. It has no
	// effect if MaxBytes is set.
	Parts bool
}

// ForModel returns the encoding for answers to models: safe integers, and the limits of the
// graph.
func (g *Graph) ForModel() Encoding {
	return Encoding{SafeIntegers: true, MaxRows: g.limits.MaxRows, MaxBytes: g.limits.MaxBytes, Refuse: g.limits.Refuse}
}

// JSON is like json.Marshal but does not escape <, > and &. Models read the text unparsed,
// and these characters are frequent in schemas and queries.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// maxSafeInteger is the largest n for which n and n+1 are different float64 values: 2^53 −
// 1.
const maxSafeInteger = 1<<53 - 1

// encoder writes answers as JSON directly from columns.
type encoder struct {
	enc       Encoding
	buf       []byte
	rows      int  // written so far, in all results
	read      bool // a read was answered
	truncated bool

	parts // the finished parts that precede buf
}

type mark struct {
	bytes, rows int
	truncated   bool
}

// mark returns the position at which a call begins. No part has been finished at that
// point.
func (e *encoder) mark() mark { return mark{len(e.buf), e.rows, e.truncated} }

func (e *encoder) reset(m mark) {
	e.drop()
	e.buf, e.rows, e.truncated = e.buf[:m.bytes], m.rows, m.truncated
}

// value writes v in the form of [JSON].
func (e *encoder) value(v any) error {
	b, err := JSON(v)
	e.buf = append(e.buf, b...)
	return err
}

// answer writes the value of an outcome. If the value is too large, answer cuts it if it
// can, and otherwise returns an *Oversize. The answer of a completed write has no size
// limit, because an error would say that the write failed.
func (e *encoder) answer(out *tool.Outcome) error {
	b, err := JSON(out.Value)
	if err != nil {
		return err
	}
	most := e.enc.MaxBytes
	if e.enc.Parts && e.memory != nil {
		most = int(e.most)
	}
	room := most - len(e.buf)
	if c, ok := out.Value.(tool.Cutter); ok && most > 0 && len(b) > room {
		c.Cut(room)
		if b, err = JSON(out.Value); err != nil {
			return err
		}
	}
	if most > 0 && len(b) > room && out.Wrote == nil {
		return &Oversize{Bytes: int64(len(e.buf) + len(b)), MaxBytes: most, Less: cmp.Or(out.Less, "ask for less")}
	}
	e.buf = append(e.buf, b...)
	return nil
}

// columnKey is the text before a column's value: its name as a JSON string and a colon.
// fields are the keys of the fields of a whole node.
type columnKey struct {
	text   string
	fields []columnKey
}

func columnKeys(cols []plan.Column) []columnKey {
	keys := make([]columnKey, len(cols))
	for i, c := range cols {
		keys[i].text = keyText(c.Name)
		for _, f := range c.Fields {
			keys[i].fields = append(keys[i].fields, columnKey{text: keyText(f.Name)})
		}
	}
	return keys
}

func keyText(name string) string { return string(append(appendString(nil, name), ':')) }

// object writes row i as an object.
func (e *encoder) object(keys []columnKey, cols []engine.Column, i int) {
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
		case c.Fields != nil:
			e.object(keys[j].fields, c.Fields, i)
		default:
			e.cell(c, i)
		}
	}
	e.buf = append(e.buf, '}')
}

// cell writes row i of a column that has no Fields. The cell must not be null.
func (e *encoder) cell(c *engine.Column, i int) {
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
		e.blob(c.Strings[i])
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
		panic("service: column of type " + c.Type.String())
	}
}

// scalar writes an element of a list.
func (e *encoder) scalar(v value.Value) {
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
		e.blob(string(v.Bytes()))
	default:
		panic("service: list of " + v.Type().String())
	}
}

// integer writes a value of a kind that is stored as an integer of at most 64 bits with a sign.
func (e *encoder) integer(k value.Kind, n int64) {
	switch k.JSON() {
	case value.JSONNum:
		e.buf = strconv.AppendInt(e.buf, n, 10)
	case value.JSONWide:
		e.int64(n)
	default:
		e.buf = append(k.AppendText(append(e.buf, '"'), n), '"')
	}
}

func (e *encoder) int64(n int64) {
	if e.enc.SafeIntegers && (n > maxSafeInteger || n < -maxSafeInteger) {
		e.buf = append(strconv.AppendInt(append(e.buf, '"'), n, 10), '"')
		return
	}
	e.buf = strconv.AppendInt(e.buf, n, 10)
}

func (e *encoder) uint64(n uint64) {
	if e.enc.SafeIntegers && n > maxSafeInteger {
		e.buf = append(strconv.AppendUint(append(e.buf, '"'), n, 10), '"')
		return
	}
	e.buf = strconv.AppendUint(e.buf, n, 10)
}

// float writes a number, or a string for a value that JSON cannot express as a number.
func (e *encoder) float(f float64, bits int) {
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

func (e *encoder) blob(b string) {
	e.buf = append(base64.StdEncoding.AppendEncode(append(e.buf, '"'), []byte(b)), '"')
}

// appendString appends s as a JSON string. Invalid UTF-8, which the engine does not store,
// would become the replacement character.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
