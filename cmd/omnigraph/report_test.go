package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/diag"
)

// FuzzReport holds that the answer of a server, whatever it is, prints in every format
// or is an error, and that a table moves no cursor.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"columns":["a","b"],"rows":[{"a":1,"b":"x\ty\u001b[1m"},{"a":null,"b":[1,{"c":2}]}],"graph_commit_id":"X"}`))
	f.Add([]byte(`{"columns":["a"],"rows":[1,null,{}]}`))
	f.Add([]byte(`{"affected_nodes":1}`))
	f.Add([]byte(`{"columns":["a\nb","a\nb"],"rows":[{"a\nb":"\ufffd\u202e"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		rows, change, err := readEither(raw)
		if err != nil {
			return
		}
		var r *report
		if rows != nil {
			r = rows.report()
		} else {
			r = change.report()
		}
		for _, format := range formats {
			var b bytes.Buffer
			if r.write(&b, format) != nil {
				continue
			}
			switch format {
			case "table":
				if i := strings.IndexFunc(b.String(), func(c rune) bool { return c != '\n' && unprintable(c) }); i >= 0 {
					t.Errorf("a table with %q", b.String()[i:])
				}
			case "json", "ndjson":
				for l := range strings.Lines(b.String()) {
					if !json.Valid([]byte(l)) {
						t.Errorf("%s: no JSON: %q", format, l)
					}
				}
			case "csv":
				if _, err := csv.NewReader(&b).ReadAll(); err != nil && len(r.columns) > 0 {
					t.Errorf("csv: %v", err)
				}
			}
		}
	})
}

// FuzzTokenIn holds that no report of a faulty configuration shows a token.
func FuzzTokenIn(f *testing.F) {
	const secret = "s3cr3t-t0ken"
	f.Add("servers: { \"http://h\": { token: ", " } }")
	f.Add("servers:\n  http://h/:\n    token: [", "]\n")
	f.Add("token: ", "")
	f.Add("servers: { http://h: { tokn: ", " } }")
	f.Fuzz(func(t *testing.T, before, after string) {
		text := before + secret + after
		token, err := tokenIn("config.yaml", []byte(text), "http://h")
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
		if got, err := tokenIn("config.yaml", []byte(text), server); got != want || err != nil {
			t.Errorf("%s: %q %v, want %q", server, got, err, want)
		}
	}
	for text, want := range map[string]diag.Span{
		"servers: { h: { tokn: x } }": {File: "config.yaml", Start: diag.Pos{Line: 1}},
		"servers: [x]":                {File: "config.yaml", Start: diag.Pos{Line: 1}},
		"\nserver: {}":                {File: "config.yaml", Start: diag.Pos{Line: 2}},
	} {
		_, err := tokenIn("config.yaml", []byte(text), "h")
		found, ok := err.(diag.List)
		if !ok || found[0].Span.File != want.File || found[0].Span.Start.Line != want.Start.Line {
			t.Errorf("%q: %v", text, err)
		}
	}
}
