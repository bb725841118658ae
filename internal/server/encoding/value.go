package encoding

import (
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ValuesIn returns the options for values in the answer to a call.
func ValuesIn(env *tool.Env) Options {
	return Options{SafeIntegers: env.SafeIntegers, StringIntegers: env.StringIntegers}
}

// ValueJSON returns a value as JSON, in the same form as in the rows of an answer.
func ValueJSON(v value.Value, enc Options) json.RawMessage {
	e := &Writer{enc: enc}
	e.any(v)
	return e.buf
}

// ChangedJSON returns a value of an [engine.PropertyChange] or an [engine.Resolution] as JSON. It is like
// [ValueJSON], but the end of an edge at an interface is an object with the node's type and id.
func ChangedJSON(entity, property string, v value.Value, enc Options) json.RawMessage {
	if !isEnd(entity, property) || !v.IsList() {
		return ValueJSON(v, enc)
	}
	e := &Writer{enc: enc}
	typ, id := plan.NodeOf(v)
	e.buf = append(e.buf, `{"type":`...)
	e.buf = append(appendString(e.buf, typ), `,"id":`...)
	e.buf = append(appendString(e.buf, id), '}')
	return e.buf
}

// isEnd reports whether a changed property is an end of an edge. No property of an edge type has the name
// of an end.
func isEnd(entity, property string) bool {
	return entity == plan.Edge.String() && (property == "from" || property == "to")
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
