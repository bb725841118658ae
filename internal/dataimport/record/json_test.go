package record

import (
	"io"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	columns := []string{"a", "b.c", "tags", "tags.1"}
	tests := []struct{ name, text, records, want string }{
		{"lines", "{\"a\":1}\n\n{\"a\":\"x\\u00e9\",\"b\":{\"c\":true}}\n", "", "1/1 a=1 b.c=null tags=null tags.1=null\n3/2 a=\"xé\" b.c=true tags=null tags.1=null\n"},
		{"array", "[\n {\"a\":1.50},\n {\"tags\":[\"x\",{\"y\":2}]}\n]", "", "2/1 a=1.50 b.c=null tags=null tags.1=null\n3/2 a=null b.c=null tags=[\"x\",{\"y\":2}] tags.1={\"y\":2}\n"},
		{"path", "{\"meta\":{\"n\":1},\"data\":{\"items\":[\n{\"a\":1},{\"a\":2}],\"more\":[]},\"z\":0}\n{\"data\":{\"items\":{\"a\":3}}}\n{\"data\":1}", "data.items",
			"2/1 a=1 b.c=null tags=null tags.1=null\n2/2 a=2 b.c=null tags=null tags.1=null\n3/3 a=3 b.c=null tags=null tags.1=null\n"},
		{"a point in a name", `{"b.c":5}`, "", "1/1 a=null b.c=5 tags=null tags.1=null\n"},
		{"empty", "", "", ""},
		{"empty array", "[]", "", ""},
		{"no object", "1", "", "f.json, line 1, value \"1\": the record is not an object; write the path to the records as records: under read in the map\n"},
		{"cut", "[{\"a\":1},\n{\"a\":", "", "1/1 a=1 b.c=null tags=null tags.1=null\nf.json, line 2: not JSON: unexpected EOF\n"},
		{"no JSON", "{\"a\":1}\n{'a':2}\n", "", "1/1 a=1 b.c=null tags=null tags.1=null\nf.json, line 2: not JSON: invalid character '\\'' at start of string (expecting '\"')\n"},
		{"twice a name", "{\"a\":1,\"a\":2}", "", "f.json, line 1: not JSON: duplicate object member name\n"},
		{"byte order mark", "\xef\xbb\xbf{\"a\":1}", "", "1/1 a=1 b.c=null tags=null tags.1=null\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := dump(file(t, "f.json", []byte(tt.text)), Options{Records: tt.records}, columns...); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestUnknownFormat(t *testing.T) {
	if got := dump(file(t, "f.xyz", nil), Options{}); !strings.Contains(got, "f.xyz: the name does not say the format; write format: under read in the map, one of csv") {
		t.Error(got)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `[{"a":[1,{"b":2}]},{}]`, `{"r":{"s":[{"a":1}],"t":2}}`, "{\"a\":1}\n{\"b\":", `{"r":{"s":1}} {"r":3}`} {
		f.Add([]byte(s), "")
		f.Add([]byte(s), "r.s")
	}
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		r, err := openText("f.json", JSON, text, Options{Records: path})
		if err != nil {
			return
		}
		defer r.Close()
		r.Select([]string{"a", "a.b", "a.0", "a.b"})
		lines := int64(strings.Count(string(text), "\n")) + 1
		row, line := int64(0), int64(1)
		for {
			rec, err := r.Next()
			if err == io.EOF || err != nil && err.(*Fault).Final {
				return
			}
			row++
			if err != nil {
				continue
			}
			if rec.Row != row || rec.Line < line || rec.Line > lines {
				t.Fatalf("record %d is at line %d, after line %d of %d", rec.Row, rec.Line, line, lines)
			}
			line = rec.Line
		}
	})
}
