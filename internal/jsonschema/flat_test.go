package jsonschema

import (
	"encoding/json"
	"testing"
)

// TestFlat moves parameters to the top, in both profiles and without parameters.
func TestFlat(t *testing.T) {
	params := `{"properties":{"n":{"type":"string"}},"additionalProperties":false,"type":"object","required":["n"]}`
	for _, tt := range []struct{ schema, want string }{
		{`{"properties":{"params":` + params + `,"branch":{"type":"string"}},"additionalProperties":false,"type":"object","required":["params"]}`,
			`{"properties":{"n":{"type":"string"},"_":{"properties":{"branch":{"type":"string"}},"additionalProperties":false,"type":"object","required":[]}},"additionalProperties":false,"type":"object","required":["n"]}`},
		{`{"properties":{"params":` + params + `,"branch":{"type":["string","null"]}},"additionalProperties":false,"type":"object","required":["params","branch"]}`,
			`{"properties":{"n":{"type":"string"},"_":{"properties":{"branch":{"type":["string","null"]}},"additionalProperties":false,"type":"object","required":["branch"]}},"additionalProperties":false,"type":"object","required":["n","_"]}`},
		{`{"properties":{"branch":{"type":"string"}},"additionalProperties":false,"type":"object","required":[]}`,
			`{"properties":{"_":{"properties":{"branch":{"type":"string"}},"additionalProperties":false,"type":"object","required":[]}},"additionalProperties":false,"type":"object","required":[]}`},
		{`{"properties":{"params":{"properties":{"message":{"type":"string"}}},"branch":{"type":"string"}}}`, `{"properties":{"params":{"properties":{"message":{"type":"string"}}},"branch":{"type":"string"}}}`},
	} {
		if got := string(Flat(json.RawMessage(tt.schema), "_", []string{"branch", "message"})); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.schema, got, tt.want)
		}
	}
}

// TestArrayRows makes rows arrays, and adds the names of the columns to the answer of a mutation.
func TestArrayRows(t *testing.T) {
	row := `{"properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}},"additionalProperties":false,"type":"object","required":["a","b"]}`
	array := `{"type":"array","prefixItems":[{"type":"string"},{"type":["integer","null"]}],"minItems":2,"maxItems":2}`
	for _, tt := range []struct{ schema, want string }{
		{`{"properties":{"columns":{"type":"array"},"rows":{"items":` + row + `,"type":"array"}}}`, `{"properties":{"columns":{"type":"array"},"rows":{"items":` + array + `,"type":"array"}}}`},
		{`{"properties":{"rows":{"items":` + row + `,"type":"array"}}}`, `{"properties":{"columns":{"items":{"type":"string"},"type":"array"},"rows":{"items":` + array + `,"type":"array"}}}`},
		{`{"properties":{"columns":{},"rows":{"items":{"additionalProperties":true,"type":"object"}}}}`, `{"properties":{"columns":{},"rows":{"items":{"type":"array"}}}}`},
		{`{"properties":{"n":{"type":"integer"}}}`, `{"properties":{"n":{"type":"integer"}}}`},
	} {
		if got := string(ArrayRows(json.RawMessage(tt.schema))); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.schema, got, tt.want)
		}
	}
}
