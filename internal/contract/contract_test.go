package contract_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/contract"
)

// people returns a contract with one read. A call may leave out its parameter.
func people() *contract.Contract {
	c := &contract.Contract{
		Format: contract.Format, Graph: "people",
		Frames: contract.Frames{
			ReadInput:      json.RawMessage(`{"properties":{"params":{},"branch":{"type":"string"}},"required":["params"]}`),
			ReadOutput:     json.RawMessage(`{"properties":{"rows":{"items":{},"type":"array"}}}`),
			WriteInput:     json.RawMessage(`{"properties":{"params":{}},"required":["params"]}`),
			WriteOutput:    json.RawMessage(`{}`),
			WriteRowOutput: json.RawMessage(`{"properties":{"rows":{"items":{}}}}`),
		},
		Queries: []contract.Query{{
			Name: "find", Description: "Find <people>.", Instruction: "Use it.", Plan: []byte{6, 0},
			Params:  []contract.Param{{Name: "kind", Type: "String", Optional: true, Schema: json.RawMessage(`{"type":["string","null"],"enum":["a","b",null],"description":"The kind."}`)}},
			Columns: []contract.Column{{Name: "p.name", Type: "String", Schema: json.RawMessage(`{"type":"string"}`)}},
		}},
	}
	c.MakeSchemas()
	return c
}

func TestEncode(t *testing.T) {
	want := people()
	text, err := contract.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`        {"name":"p.name","type":"String","schema":{"type":"string"}}`,
		`      "description": "Find <people>.",`,
		`    "read_output": {"properties":{"rows":{"items":{},"type":"array"}}},`,
		`  "graph": "people",`,
	} {
		if !slices.Contains(strings.Split(string(text), "\n"), line) {
			t.Errorf("found no line %s in\n%s", line, text)
		}
	}
	var got contract.Contract
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("decoded\n%+v\nexpected\n%+v", &got, want)
	}
}

func TestSchemas(t *testing.T) {
	c := people()
	for _, tt := range []struct {
		strict, optional, mutation bool
		input, output              string
	}{
		{false, true, false,
			`{"properties":{"params":{"properties":{"kind":KIND},"additionalProperties":false,"type":"object","required":[]},"branch":{"type":"string"}},"required":[]}`,
			`{"properties":{"rows":{"items":{"properties":{"p.name":{"type":"string"}},"additionalProperties":false,"type":"object","required":["p.name"]},"type":"array"}}}`},
		{true, true, false,
			`{"properties":{"params":{"properties":{"kind":KIND},"additionalProperties":false,"required":["kind"],"type":["object","null"]},"branch":{"type":"string"}},"required":["params"]}`,
			`{"properties":{"rows":{"items":{"properties":{"p.name":{"type":"string"}},"additionalProperties":false,"type":"object","required":["p.name"]},"type":"array"}}}`},
		{false, false, true,
			`{"properties":{"params":{"properties":{"kind":KIND},"additionalProperties":false,"type":"object","required":["kind"]}},"required":["params"]}`,
			`{"properties":{"rows":{"items":{"properties":{"p.name":{"type":"string"}},"additionalProperties":false,"type":"object","required":["p.name"]}}}}`},
	} {
		c.Strict = tt.strict
		q := &c.Queries[0]
		q.Mutation, q.Params[0].Optional = tt.mutation, tt.optional
		c.MakeSchemas()
		if want := strings.Replace(tt.input, "KIND", string(q.Params[0].Schema), 1); string(q.InputSchema) != want {
			t.Errorf("%+v: found the input\n%s\nexpected\n%s", tt, q.InputSchema, want)
		}
		if string(q.OutputSchema) != tt.output {
			t.Errorf("%+v: found the output\n%s\nexpected\n%s", tt, q.OutputSchema, tt.output)
		}
	}
}

func TestParam(t *testing.T) {
	p := &people().Queries[0].Params[0]
	if got := p.Enum(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("found the enum %q", got)
	}
	for _, text := range []string{"The kind.", "Another.", ""} {
		p.SetDescription(text)
		if got := p.Description(); got != text || (p.OwnDescription == nil) != (text == "The kind.") {
			t.Errorf("found the description %q, %v; expected %q", got, p.OwnDescription, text)
		}
	}
}

func TestOtherFormat(t *testing.T) {
	var c contract.Contract
	if err := json.Unmarshal([]byte(`{"queries":[]}`), &c); err == nil || !strings.Contains(err.Error(), "the format is 0, expected 1; generate the file again") {
		t.Errorf("found %v", err)
	}
}
