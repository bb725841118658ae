package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/omnigraph-go/omnigraph/internal/jsonschema"
)

// The text that precedes the parts of a schema that differ between queries.
const (
	beforeParams = `"params":`        // in an input schema
	beforeRow    = `"rows":{"items":` // in the output schema of a read
)

// newFrames extracts the frames from the schemas of minimal queries: without columns, and with no
// parameter or one required parameter.
func newFrames(strict bool) Frames {
	var f Frames
	tail := func(params reflect.Type, mutation bool) (tail string) {
		f.InputHead, _, tail = cut(inputSchema(params, mutation, strict), beforeParams)
		return tail
	}
	none, one := reflect.TypeFor[struct{}](), reflect.TypeFor[struct{ A string }]()
	f.ReadTail, f.ReadTailOptional = tail(one, false), tail(none, false)
	f.WriteTail, f.WriteTailOptional = tail(one, true), tail(none, true)
	f.RowsHead, _, f.RowsTail = cut(jsonschema.ReadOutput(none), beforeRow)
	f.Change = string(mutationOutput())
	return f
}

// cut splits a schema into the text up to and including the first marker, the JSON value that
// follows the marker, and the rest.
func cut(schema []byte, marker string) (head, body, tail string) {
	start := bytes.Index(schema, []byte(marker)) + len(marker)
	dec := json.NewDecoder(bytes.NewReader(schema[start:]))
	var v json.RawMessage
	if err := dec.Decode(&v); err != nil {
		panic(fmt.Sprintf("codegen: no JSON value follows %s in %s: %v", marker, schema, err))
	}
	end := start + int(dec.InputOffset())
	return string(schema[:start]), string(schema[start:end]), string(schema[end:])
}

// cut sets the parts of a query's schemas that the frames do not contain.
func (f *Frames) cut(q *Query) {
	t := &q.Tool
	required, optional := f.ReadTail, f.ReadTailOptional
	if q.Mutation() {
		required, optional = f.WriteTail, f.WriteTailOptional
	}
	head, params, tail := cut(t.InputSchema, beforeParams)
	t.ParamsSchema, t.ParamsOptional = params, tail != required
	if head != f.InputHead || tail != required && tail != optional {
		panic(fmt.Sprintf("codegen: the input schema of %s does not have the shared parts: %s", q.Name, t.InputSchema))
	}
	if q.Mutation() {
		return
	}
	head, t.RowSchema, tail = cut(t.OutputSchema, beforeRow)
	if head != f.RowsHead || tail != f.RowsTail {
		panic(fmt.Sprintf("codegen: the output schema of %s lacks the parts that all output schemas have in common: %s", q.Name, t.OutputSchema))
	}
}
