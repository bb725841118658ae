package jsonschema

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzUnescapeHTML(f *testing.F) {
	for _, s := range []string{"a < b > c & d", `\u003c`, `\\u003c`, `\`, "\u2028", `"`, "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		escaped, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		if err := json.Unmarshal(escaped, &want); err != nil {
			t.Fatal(err)
		}
		out := unescapeHTML(escaped)
		if err := json.Unmarshal(out, &got); err != nil || got != want {
			t.Errorf("%s was unescaped to %s: %v", escaped, out, err)
		}
		for _, c := range []string{`<`, `>`, `&`} {
			if bytes.Count(out, []byte(c)) != bytes.Count([]byte(want), []byte(c)) {
				t.Errorf("%s still has an escape: %s", escaped, out)
			}
		}
	})
}
