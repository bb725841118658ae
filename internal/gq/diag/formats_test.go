package diag_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

const sample = "query q() {\n\tmatch { $p: Persn }\n  \"日本語\" x \"two\nlines\" %:,\n}"

// sampleList returns diagnostics of every severity, with a help line, a span over two lines, an
// empty span, a file name that needs escaping, and an edit.
func sampleList() (diag.List, []diag.Entry, map[int][]diag.Edit) {
	end := diag.Pos{Offset: len(sample), Line: 5, Column: 2}
	odd := at(sample, "x")
	odd.File = "a folder/50%,ü:.gq"
	list := diag.List{
		{Code: "T1", Span: at(sample, "Persn"), Message: "unknown node type Persn", Help: "did you mean Person?"},
		{Code: "L1", Severity: diag.Warning, Span: odd, Message: "100% of it:\r\nsee below, <all> & more"},
		{Code: "L2", Severity: diag.Note, Span: at(sample, "\"two\nlines\""), Message: "over two lines", Help: "write one"},
		{Code: "L1", Severity: diag.Warning, Span: diag.Span{File: "a.gq", Start: end, End: end}, Message: "at the end"},
	}
	entries := []diag.Entry{
		{Code: "L1", Title: "first", Explanation: "The first."}, {Code: "L9", Title: "absent", Explanation: "Not there."},
		{Code: "T1", Title: "unknown", Explanation: "Unknown."},
	}
	return list, entries, map[int][]diag.Edit{2: {{Span: list[2].Span, Text: "\"one\""}}}
}

func TestSARIF(t *testing.T) {
	list, entries, edits := sampleList()
	var b bytes.Buffer
	if err := diag.RenderSARIF(&b, "gq", list, entries, edits); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/sample.sarif", b.Bytes())
	validSARIF(t, b.Bytes())
	b.Reset()
	if err := diag.RenderSARIF(&b, "gq", nil, entries, nil); err != nil {
		t.Fatal(err)
	}
	validSARIF(t, b.Bytes())
}

// validSARIF validates a log against the schema of the format.
func validSARIF(t *testing.T, log []byte) {
	t.Helper()
	text, err := os.ReadFile("testdata/sarif-2.1.0-subset.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var instance any
	if err := json.Unmarshal(log, &instance); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(instance); err != nil {
		t.Error(err)
	}
	if err := resolved.Validate(map[string]any{"version": "2.1.0", "runs": []any{map[string]any{}}}); err == nil {
		t.Error("the schema accepts a run without a tool, so it checks nothing")
	}
}

func TestGitHub(t *testing.T) {
	list, _, _ := sampleList()
	var b bytes.Buffer
	if err := diag.RenderGitHub(&b, list); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/sample.github", b.Bytes())
}

func TestReport(t *testing.T) {
	list, _, edits := sampleList()
	r := diag.NewReport(list, edits)
	if r.Errors != 1 || r.Warnings != 2 || r.Notes != 1 {
		t.Errorf("counted %d, %d, %d", r.Errors, r.Warnings, r.Notes)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/sample.json", append(text, '\n'))
	if text, err := json.Marshal(diag.NewReport(nil, nil)); err != nil || !strings.Contains(string(text), `"diagnostics":[]`) {
		t.Errorf("an empty report is %s (%v)", text, err)
	}
}

func TestApply(t *testing.T) {
	span := func(from, to int) diag.Span {
		return diag.Span{File: "a", Start: diag.Pos{Offset: from}, End: diag.Pos{Offset: to}}
	}
	tests := []struct {
		name, want string
		skipped    int
		edits      []diag.Edit
	}{
		{"none", "abcdef", 0, nil},
		{"insert", "abXcdef", 0, []diag.Edit{{span(2, 2), "X"}}},
		{"out of order", "XbcY", 0, []diag.Edit{{span(3, 6), "Y"}, {span(0, 1), "X"}}},
		{"overlapping", "Xdef", 1, []diag.Edit{{span(0, 3), "X"}, {span(2, 4), "Y"}}},
		{"touching", "XY", 0, []diag.Edit{{span(3, 6), "Y"}, {span(0, 3), "X"}}},
		{"past the end", "abcdef", 1, []diag.Edit{{span(4, 9), "X"}}},
		{"reversed", "abcdef", 1, []diag.Edit{{span(4, 2), "X"}}},
		{"of another file", "abcdef", 0, []diag.Edit{{diag.Span{File: "b", End: diag.Pos{Offset: 3}}, "X"}}},
	}
	for _, test := range tests {
		if got, skipped := diag.Apply("a", "abcdef", test.edits); got != test.want || skipped != test.skipped {
			t.Errorf("%s: got %q, %d skipped; want %q, %d", test.name, got, skipped, test.want, test.skipped)
		}
	}
}
