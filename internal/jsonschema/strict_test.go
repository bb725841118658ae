package jsonschema_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema/schematest"
)

func TestStrict(t *testing.T) {
	loose := jsonschema.Input(reflect.TypeFor[everything]())
	s := jsonschema.Strict(loose)
	if err := schematest.CheckStrict(s); err != nil {
		t.Error(err)
	}
	if schematest.CheckInput(s) == nil {
		t.Error("the strict schema satisfies the input profile too")
	}
	if schematest.CheckStrict(loose) == nil {
		t.Error("the schema of the input profile satisfies the strict profile too")
	}
	if d := duplicateKey(s); d != "" {
		t.Errorf("the member %q occurs twice", d)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, s, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	golden.Check(t, "testdata/strict.json", b.Bytes())
	empty := jsonschema.Strict(jsonschema.Input(reflect.TypeFor[struct{}]()))
	if err := schematest.CheckStrict(empty); err != nil {
		t.Errorf("%v in %s", err, empty)
	}
}

func TestCheckStrictFinds(t *testing.T) {
	ok := `{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]}},"required":["a"],"additionalProperties":false}`
	if err := schematest.CheckStrict(json.RawMessage(ok)); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ from, to, want string }{
		{`"required":["a"]`, `"required":[]`, "does not require a"},
		{`,null]}`, `]}`, "only one of its type and its enum"},
		{`["string","null"]`, `"string"`, "only one of its type and its enum"},
		{`["string","null"]`, `["string","integer"]`, "one type and null"},
		{`["string","null"]`, `["null","null"]`, "schema#/a"},
		{`{"type":["string","null"],"enum":["x",null]}`, `{"type":"null"}`, "may be null"},
		{`{"type":["string","null"],"enum":["x",null]}`, `{"type":["object","null"]}`, "without properties"},
		{`{"type":"object"`, `{"$ref":"x","type":"object"`, "$ref"},
	}
	for _, tt := range tests {
		bad := strings.Replace(ok, tt.from, tt.to, 1)
		if err := schematest.CheckStrict(json.RawMessage(bad)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: found %v, expected a fault with %q", bad, err, tt.want)
		}
	}
}
