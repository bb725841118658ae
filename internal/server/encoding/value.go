package encoding

import (
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ValueJSON returns a value as JSON, in the same form as in the rows of an answer.
func ValueJSON(v value.Value, enc Options) json.RawMessage {
	e := &Writer{enc: enc}
	e.any(v)
	return e.buf
}

// any writes a value of any type.
func (e *Writer) any(v value.Value) {
	switch {
	case v.IsList():
		e.buf = append(e.buf, '[')
		for i, elem := range v.Elems() {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			e.scalar(elem)
		}
		e.buf = append(e.buf, ']')
	case v.Kind() == value.Vector:
		e.buf = append(e.buf, '[')
		for i, f := range v.Vector() {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			e.float(float64(f), 32)
		}
		e.buf = append(e.buf, ']')
	default:
		e.scalar(v)
	}
}
