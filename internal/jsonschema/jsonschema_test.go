package jsonschema_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema/schematest"
)

type inner struct {
	ID   string   `json:"id"`
	Rate *float64 `json:"rate"`
}

type Embedded struct {
	Page *int `json:"page,omitempty"`
}

type everything struct {
	Embedded
	Text      string              `json:"text" jsonschema_description:"A -> B, \"quoted\" & <b>."`
	OptText   *string             `json:"opt_text"`
	Kind      *string             `json:"kind" jsonschema:"enum=a,enum=b-c"`
	Code      string              `json:"code" jsonschema:"pattern=^[a-z]{1\\,3}$"`
	Flag      bool                `json:"flag"`
	Small     int32               `json:"small" jsonschema:"minimum=-3,maximum=200"`
	Count     uint32              `json:"count"`
	Big       jsonschema.BigInt   `json:"big"`
	OptBig    *jsonschema.BigInt  `json:"opt_big"`
	Wide      jsonschema.BigUint  `json:"wide"`
	Float     float32             `json:"float"`
	Double    *float64            `json:"double"`
	Day       value.DateValue     `json:"day"`
	Instant   value.DateTimeValue `json:"instant"`
	Bytes     value.BlobValue     `json:"bytes"`
	Vec       [3]float32          `json:"vec"`
	OptVec    *[3]float32         `json:"opt_vec"`
	Tags      []string            `json:"tags"`
	OptTags   []string            `json:"opt_tags" jsonschema:"nullable"`
	Bigs      []jsonschema.BigInt `json:"bigs"`
	Doubles   []float64           `json:"doubles"`
	Inner     inner               `json:"inner"`
	Inners    []inner             `json:"inners"`
	Open      map[string]any      `json:"open"`
	Left      string              `json:"left,omitempty"`
	Empty     struct{}            `json:"empty"`
	Invisible string              `json:"-"`
	Page2     *int32              `json:"page2" jsonschema:"minimum=1,maximum=100" jsonschema_default:"20" jsonschema_examples:"[10,50]" jsonschema_description:"How many."`
	Codes     []string            `json:"codes,omitempty" jsonschema_default:"[\"a=b\",\"<c>\"]" jsonschema_examples:"[\"x,y\"]" jsonschema_items_pattern:"^[a-z=,]+$"`
	Ranged    []int32             `json:"ranged" jsonschema:"minimum=1,maximum=5"`
	Place     *[3]float32         `json:"place,omitempty" jsonschema_default:"[1,0,0.5]" jsonschema_examples:"[[0,0,1]]"`
}

type result struct {
	everything
	Any  any             `json:"any"`
	Raw  json.RawMessage `json:"raw"`
	Rows []any           `json:"rows"`
}

func TestSchemas(t *testing.T) {
	tests := []struct {
		name   string
		schema json.RawMessage
		check  func(json.RawMessage) error
	}{
		{"input", jsonschema.Input(reflect.TypeFor[everything]()), schematest.CheckInput},
		{"output", jsonschema.Output(reflect.TypeFor[*result]()), schematest.CheckOutput},
		{"read-input", jsonschema.ReadInput(reflect.TypeFor[inner]()), schematest.CheckInput},
		{"read-output", jsonschema.ReadOutput(reflect.TypeFor[inner]()), schematest.CheckOutput},
		{"mutation-input", jsonschema.MutationInput(reflect.TypeFor[struct{}]()), schematest.CheckInput},
		{"mutation-output", jsonschema.MutationOutput(), schematest.CheckOutput},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.check(tt.schema); err != nil {
				t.Error(err)
			}
			if d := duplicateKey(tt.schema); d != "" {
				t.Errorf("the member %q occurs twice", d)
			}
			var b bytes.Buffer
			if err := json.Indent(&b, tt.schema, "", "  "); err != nil {
				t.Fatal(err)
			}
			b.WriteByte('\n')
			golden.Check(t, "testdata/"+tt.name+".json", b.Bytes())
		})
	}
}

// duplicateKey returns a member name that occurs twice in one object of the text, or "".
func duplicateKey(text []byte) string {
	dec := json.NewDecoder(bytes.NewReader(text))
	var walk func() string
	walk = func() string {
		tok, _ := dec.Token()
		switch tok {
		case json.Delim('{'):
			seen := map[string]bool{}
			for dec.More() {
				k, _ := dec.Token()
				if seen[k.(string)] {
					return k.(string)
				}
				seen[k.(string)] = true
				if d := walk(); d != "" {
					return d
				}
			}
			dec.Token()
		case json.Delim('['):
			for dec.More() {
				if d := walk(); d != "" {
					return d
				}
			}
			dec.Token()
		}
		return ""
	}
	return walk()
}

func TestInputPanicsOnWhatItCannotSay(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[string](),
		reflect.TypeFor[struct{ V any }](),
		reflect.TypeFor[struct{ V json.RawMessage }](),
		reflect.TypeFor[struct{ V func() }](),
	} {
		t.Run(typ.String(), func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			jsonschema.Input(typ)
		})
	}
}

func TestOpenObjects(t *testing.T) {
	got := schematest.OpenObjects(jsonschema.Input(reflect.TypeFor[struct {
		Closed struct{}         `json:"closed"`
		Open   map[string]any   `json:"open"`
		List   []map[string]any `json:"list"`
	}]()))
	if want := []string{"/list/items", "/open"}; !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
}

func TestCheckInputFinds(t *testing.T) {
	ok := `{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`
	if err := schematest.CheckInput(json.RawMessage(ok)); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ from, to, want string }{
		{`{"type":"object"`, `{"$schema":"x","type":"object"`, "keyword $schema"},
		{`{"type":"object"`, `{"type":"array"`, "want an object"},
		{`,"required":[]`, ``, "without required"},
		{`"required":[]`, `"required":["b"]`, "not a property"},
		{`,"additionalProperties":false`, ``, "additionalProperties"},
		{`{"type":"string"}`, `{"type":["string","null"]}`, "array of types"},
		{`{"type":"string"}`, `{"oneOf":[]}`, "has no type"},
		{`{"type":"string"}`, `{"type":"string","anyOf":[{"type":"string"}]}`, "keyword anyOf"},
		{`{"type":"string"}`, `{"type":"string","allOf":[]}`, "keyword allOf"},
		{`{"type":"string"}`, `{"type":"string","$ref":"#/$defs/x"}`, "keyword $ref"},
		{`{"type":"object"`, `{"$defs":{},"type":"object"`, "keyword $defs"},
		{`{"type":"string"}`, `{"type":"string","const":"x"}`, "keyword const"},
		{`{"type":"string"}`, `{"type":"integer","exclusiveMinimum":1}`, "keyword exclusiveMinimum"},
		{`{"type":"string"}`, `{"type":"integer","exclusiveMaximum":1}`, "keyword exclusiveMaximum"},
		{`{"type":"string"}`, `{"type":"array","items":{"type":"array"}}`, "schema#/a/items: is an array without items"},
		{`"a"`, `"a23456789012345678901234567890123456789012345678901234567890123456"`, "property key"},
		{`{"type":"string"}`, `{"type":"array"}`, "without items"},
		{`{"type":"string"}`, `{"type":"integer","enum":[1]}`, "in an enum"},
		{`{"type":"string"}`, `{"type":"null"}`, "null"},
		{`{"type":"string"}`, `true`, "not a schema object"},
		{`"a"`, `"a b"`, "property key"},
		{`{"type":"string"}`, `{"type":"object"}`, "without properties"},
	}
	for _, tt := range tests {
		bad := strings.Replace(ok, tt.from, tt.to, 1)
		err := schematest.CheckInput(json.RawMessage(bad))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: found %v, expected a fault with %q", bad, err, tt.want)
		}
	}
}
