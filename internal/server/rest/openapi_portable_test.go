package rest

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPortable checks the schemas of single values in the document of a graph.
func TestPortable(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"number"}`:                                               `{"type":"number","format":"double"}`,
		`{"type":["number","null"]}`:                                      `{"type":["number","null"],"format":"double"}`,
		`{"type":"array","items":{"type":"number"}}`:                      `{"type":"array","items":{"type":"number","format":"double"}}`,
		`{"type":["number","string","null"]}`:                             `{"anyOf":[{"$ref":"#/components/schemas/FloatValue"},{"type":"null"}]}`,
		`{"type":"integer","minimum":0}`:                                  `{"type":"integer","minimum":0,"format":"int64"}`,
		`{"type":"integer","format":"int32"}`:                             `{"type":"integer","format":"int32"}`,
		`{"type":["integer","string"]}`:                                   `{"type":"string","pattern":"^-?[0-9]+$"}`,
		`{"type":["string","null"],"enum":["red",null]}`:                  `{"anyOf":[{"type":"string","enum":["red"]},{"type":"null"}]}`,
		`{"type":["object","null"],"properties":{"n":{"type":"string"}}}`: `{"anyOf":[{"$ref":"#/components/schemas/FindRecord"},{"type":"null"}]}`,
	} {
		d := &document{schemas: newSchemas()}
		got, err := d.portable(json.RawMessage(schema), "Find")
		if err != nil || string(got) != want {
			t.Errorf("%s becomes %s, %v; want %s", schema, got, err, want)
		}
	}
	if b, err := json.Marshal(floatSchema); err != nil || !strings.Contains(string(b), `{"type":"number","format":"double"}`) {
		t.Errorf("the schema of a float in an answer is %s, %v; without a format some generators read 32 bits", b, err)
	}
}
