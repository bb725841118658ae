package rest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/client"
)

type inner struct {
	N int `json:"n"`
}

type embedded struct {
	Base string `json:"base"`
}

type sample struct {
	embedded
	Text    string          `json:"text" jsonschema_description:"A text."`
	Maybe   *string         `json:"maybe"`
	Left    *string         `json:"left,omitempty" jsonschema:"enum=a,enum=b"`
	Wide    int64           `json:"wide"`
	MaybeN  *int64          `json:"maybe_n"`
	Small   int32           `json:"small,omitempty"`
	Inner   inner           `json:"inner"`
	MaybeIn *inner          `json:"maybe_in"`
	Inners  []inner         `json:"inners"`
	Open    map[string]any  `json:"open,omitempty"`
	Any     json.RawMessage `json:"any"`
	Rows    []map[string]any
	At      time.Time   `json:"at"`
	Code    client.Code `json:"code"`
	Hidden  string      `json:"-"`
	//lint:ignore U1000 TestSchemas wants that an unexported field is left out
	internal string
}

func TestSchemas(t *testing.T) {
	for _, tt := range []struct {
		side side
		want string
	}{
		{incoming, `{"type":"object","additionalProperties":false,
			"required":["base","text","wide","inner","inners","any","Rows","at","code"],
			"properties":{
				"base":{"type":"string"},
				"text":{"type":"string","description":"A text."},
				"maybe":{"type":["string","null"]},
				"left":{"anyOf":[{"type":"string","enum":["a","b"]},{"type":"null"}]},
				"wide":{"type":"integer","format":"int64"},
				"maybe_n":{"type":["integer","null"],"format":"int64"},
				"small":{"type":["integer","null"],"format":"int32"},
				"inner":{"$ref":"#/components/schemas/Inner"},
				"maybe_in":{"anyOf":[{"$ref":"#/components/schemas/Inner"},{"type":"null"}]},
				"inners":{"type":"array","items":{"$ref":"#/components/schemas/Inner"}},
				"open":{"type":["object","null"]},
				"any":{"description":"Any JSON value."},
				"Rows":{"type":"array","items":{"type":"object"}},
				"at":{"type":"string","format":"date-time"},
				"code":{"type":"string","enum":["unauthorized","forbidden","bad_request","not_found","method_not_allowed","conflict","too_many_requests","internal"]}}}`},
		{outgoing, `{"type":"object","additionalProperties":false,
			"required":["base","text","maybe","wide","maybe_n","inner","maybe_in","inners","any","Rows","at","code"],
			"properties":{
				"base":{"type":"string"},
				"text":{"type":"string","description":"A text."},
				"maybe":{"type":["string","null"]},
				"left":{"type":"string","enum":["a","b"]},
				"wide":{"type":"integer","format":"int64"},
				"maybe_n":{"type":["integer","null"],"format":"int64"},
				"small":{"type":"integer","format":"int32"},
				"inner":{"$ref":"#/components/schemas/Inner"},
				"maybe_in":{"anyOf":[{"$ref":"#/components/schemas/Inner"},{"type":"null"}]},
				"inners":{"type":"array","items":{"$ref":"#/components/schemas/Inner"}},
				"open":{"type":"object"},
				"any":{"description":"Any JSON value."},
				"Rows":{"type":"array","items":{"type":"object"}},
				"at":{"type":"string","format":"date-time"},
				"code":{"type":"string","enum":["unauthorized","forbidden","bad_request","not_found","method_not_allowed","conflict","too_many_requests","internal"]}}}`},
	} {
		s := newSchemas()
		if ref := s.of(&sample{}, tt.side)["$ref"]; ref != "#/components/schemas/Sample" {
			t.Errorf("the reference is %v", ref)
		}
		b, err := json.Marshal(s.made["Sample"])
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("side %d (-want +got):\n%s", tt.side, diff)
		}
		if s.made["Inner"] == nil {
			t.Error("the struct inside has no component")
		}
	}
}

// TestSchemaOfBothSides checks that two schemas cannot have the same name.
func TestSchemaOfBothSides(t *testing.T) {
	s := newSchemas()
	s.of(inner{}, incoming)
	defer func() {
		if recover() == nil {
			t.Error("a body became an answer")
		}
	}()
	s.of(inner{}, outgoing)
}
