package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// FuzzReport checks that every answer of a server either prints in every format or is an error, and
// that no table moves the cursor of a terminal.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"columns":["a","b"],"rows":[{"a":1,"b":"x\ty\u001b[1m"},{"a":null,"b":[1,{"c":2}]}],"graph_commit_id":"X"}`))
	f.Add([]byte(`{"columns":["a"],"rows":[1,null,{}]}`))
	f.Add([]byte(`{"affected_nodes":1}`))
	f.Add([]byte(`{"columns":["a\nb","a\nb"],"rows":[{"a\nb":"\ufffd\u202e"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var a client.InvokeAnswer
		if json.Unmarshal(raw, &a) != nil {
			return
		}
		r := invokeReport(&a)
		for _, format := range formats {
			var b bytes.Buffer
			if r.write(&b, format) != nil {
				continue
			}
			switch format {
			case "table":
				if i := strings.IndexFunc(b.String(), func(c rune) bool { return c != '\n' && terminal.Unprintable(c) }); i >= 0 {
					t.Errorf("a table with %q", b.String()[i:])
				}
			case "json", "ndjson":
				for l := range strings.Lines(b.String()) {
					if !json.Valid([]byte(l)) {
						t.Errorf("%s: no JSON: %q", format, l)
					}
				}
			case "csv":
				if i := strings.IndexFunc(b.String(), func(c rune) bool { return unicode.IsControl(c) && !strings.ContainsRune("\t\r\n", c) }); i >= 0 {
					t.Errorf("a csv with %q", b.String()[i:])
				}
				if _, err := csv.NewReader(&b).ReadAll(); err != nil && len(r.columns) > 0 {
					t.Errorf("csv: %v", err)
				}
			}
		}
	})
}

// TestCSV checks that CSV output has no control characters that affect a terminal, and that all
// other text is read back unchanged.
func TestCSV(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain", "plain"},
		{"two\nlines", "\"two\nlines\""},
		{"two\r\nlines", "\"two\r\nlines\""},
		{"a\tb", "a\tb"},
		{`say "hi", ada`, `"say ""hi"", ada"`},
		{"\x1b[2J\x07", `\u001b[2J\u0007`},
		{"over\rwritten", `over\u000dwritten`},
		{"nul\x00del\x7f", `nul\u0000del\u007f`},
		{"c1 \u009b31m", `c1 \u009b31m`},
		{"für 日本 👩\u200d🔬", "für 日本 👩\u200d🔬"},
		{"=1+1", "'=1+1"},
		{"+1", "'+1"},
		{"-5", "'-5"}, // a text; numbers are below
		{"@SUM(A1)", "'@SUM(A1)"},
		{"\t=1+1", "'\t=1+1"},
		{"\r\n=1", "\"'\r\n=1\""},
		{"\n=1", "\"'\n=1\""},
		{"=HYPERLINK(\"http://x\",\"y\")", `"'=HYPERLINK(""http://x"",""y"")"`},
		{"a=1", "a=1"},
		{"-Infinity", "-Infinity"},
	} {
		row := map[string]any{"a\x1b": tt.in, "b": []string{tt.in}}
		r := &report{columns: columns("a\x1b", "b"), rows: []any{row}}
		var b bytes.Buffer
		if err := r.write(&b, "csv"); err != nil {
			t.Fatal(err)
		}
		if want := `a\u001b,b` + "\n" + tt.want + ","; !strings.HasPrefix(b.String(), want) {
			t.Errorf("%q: %q, want %q", tt.in, b.String(), want)
		}
		if i := strings.IndexFunc(b.String(), func(c rune) bool { return unicode.IsControl(c) && !strings.ContainsRune("\t\r\n", c) }); i >= 0 {
			t.Errorf("%q: a csv with %q", tt.in, b.String()[i:])
		}
		records, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(records) != 2 || len(records[1]) != 2 {
			t.Fatalf("%q: %q %v", tt.in, records, err)
		}
		var list []string
		if err := json.Unmarshal([]byte(records[1][1]), &list); err != nil || len(list) != 1 || list[0] != tt.in {
			t.Errorf("%q: the JSON of a list is %q, %v", tt.in, records[1][1], err)
		}
	}
}

// TestCSVNumbers checks that numbers stay numbers, and that the name of a column is guarded as a text.
func TestCSVNumbers(t *testing.T) {
	r := &report{columns: columns("=a", "b", "c", "d", "e"), rows: []any{json.RawMessage(`{"=a":-5,"b":-1.5e-7,"c":null,"d":[-1,"=x"],"e":{"=k":"=v"}}`)}}
	var b bytes.Buffer
	if err := r.write(&b, "csv"); err != nil {
		t.Fatal(err)
	}
	if want := "'=a,b,c,d,e\n-5,-1.5e-7,,\"[-1,\"\"=x\"\"]\",\"{\"\"=k\"\":\"\"=v\"\"}\"\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// FuzzTokenIn checks that no report about a faulty configuration shows a token.
func FuzzTokenIn(f *testing.F) {
	const secret = "s3cr3t-t0ken"
	f.Add("servers: { \"http://h\": { token: ", " } }")
	f.Add("servers:\n  http://h/:\n    token: [", "]\n")
	f.Add("token: ", "")
	f.Add("servers: { http://h: { tokn: ", " } }")
	f.Fuzz(func(t *testing.T, before, after string) {
		text := before + secret + after
		token, err := tokenIn(t, []byte(text), "http://h")
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%q is told: %v", text, err)
		}
		if err != nil && token != "" {
			t.Errorf("a token %q beside %v", token, err)
		}
	})
}

func TestTokenIn(t *testing.T) {
	const text = "servers:\n  http://h: { token: a }\n  https://i/: { token: b }\n"
	for server, want := range map[string]string{"http://h": "a", "http://h/": "a", "https://i": "b", "http://i": ""} {
		if got, err := tokenIn(t, []byte(text), server); got != want || err != nil {
			t.Errorf("%s: %q %v, want %q", server, got, err, want)
		}
	}
	for text, want := range map[string]diag.Span{
		"servers: { h: { tokn: x } }": {File: "config.yaml", Start: diag.Pos{Line: 1}},
		"servers: [x]":                {File: "config.yaml", Start: diag.Pos{Line: 1}},
		"\nserver: {}":                {File: "config.yaml", Start: diag.Pos{Line: 2}},
	} {
		_, err := tokenIn(t, []byte(text), "h")
		found, ok := err.(diag.List)
		if !ok || found[0].Span.File != want.File || found[0].Span.Start.Line != want.Start.Line {
			t.Errorf("%q: %v", text, err)
		}
	}
}
