package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/contract"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema"
)

// The text that precedes the parts of a schema that differ between queries.
const (
	beforeParams = `"params":`        // in an input schema
	beforeRow    = `"rows":{"items":` // in the output schema of a query with columns
)

// newFrames makes the frames from the schemas of minimal queries: without columns, and with one required
// parameter.
func newFrames(strict bool) contract.Frames {
	none, one := reflect.TypeFor[struct{}](), reflect.TypeFor[struct{ A string }]()
	return contract.Frames{
		ReadInput:      emptied(inputSchema(one, false, strict), beforeParams),
		ReadOutput:     emptied(jsonschema.ReadOutput(none), beforeRow),
		WriteInput:     emptied(inputSchema(one, true, strict), beforeParams),
		WriteOutput:    mutationOutput(),
		WriteRowOutput: emptied(jsonschema.MutationRowOutput(none), beforeRow),
	}
}

// emptied returns a schema with {} in place of the JSON value that follows the first marker.
func emptied(schema []byte, marker string) json.RawMessage {
	start := bytes.Index(schema, []byte(marker)) + len(marker)
	dec := json.NewDecoder(bytes.NewReader(schema[start:]))
	var v json.RawMessage
	if err := dec.Decode(&v); err != nil {
		panic(fmt.Sprintf("codegen: no JSON value follows %s in %s: %v", marker, schema, err))
	}
	return slices.Concat(schema[:start], []byte("{}"), schema[start+int(dec.InputOffset()):])
}
