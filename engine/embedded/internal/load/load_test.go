package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

func testSchema(t testing.TB) *schema.Schema {
	t.Helper()
	prop := func(name string, typ value.Type) *catalog.Property { return &catalog.Property{Name: name, Type: typ} }
	opt := func(k value.Kind) value.Type { return value.Of(k).Optional() }
	c := &catalog.Schema{
		Nodes: []*catalog.Node{
			{Name: "P", Key: []string{"k"}, Properties: []*catalog.Property{prop("k", value.Of(value.String)), prop("n", opt(value.I32)), prop("big", opt(value.I64)),
				prop("u", opt(value.U64)), prop("f", opt(value.F32)), prop("b", opt(value.Bool)), prop("d", opt(value.Date)), prop("t", opt(value.DateTime)),
				prop("blob", opt(value.Blob)), prop("v", value.Type{Kind: value.Vector, Dim: 2, Nullable: true}), prop("l", value.Type{Kind: value.I32, List: true, Nullable: true}),
				prop("s", value.Type{Kind: value.String, List: true, Nullable: true}), prop("e", value.Type{Kind: value.String, Nullable: true, Enum: []string{"x", "y"}})}},
			{Name: "Day", Key: []string{"d"}, Properties: []*catalog.Property{prop("d", value.Of(value.Date))}},
			{Name: "Two", Key: []string{"a", "t"}, Properties: []*catalog.Property{prop("t", value.Of(value.DateTime)), prop("a", value.Of(value.I32))}},
			{Name: "Free", Properties: []*catalog.Property{prop("x", opt(value.String))}},
		},
		Edges: []*catalog.Edge{{Name: "Likes", From: "P", To: "P", Properties: []*catalog.Property{prop("w", opt(value.F64))}}},
	}
	c.Index()
	s, err := schema.New("", "", c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parse(t testing.TB, text string) (*Input, error) {
	return Parse(context.Background(), strings.NewReader(text), testSchema(t), Options{IDs: numbered, Mode: engine.Append})
}

// numbered returns a function that makes the ids new000001, new000002 and so on.
func numbered(int) func([]byte) []byte {
	n := 0
	return func(dst []byte) []byte { n++; return fmt.Appendf(dst, "new%06d", n) }
}

func TestValues(t *testing.T) {
	for _, c := range []struct{ field, json, want string }{
		{"n", "-5", "-5"}, {"n", "null", "null"}, {"big", `"-9223372036854775808"`, "-9223372036854775808"}, {"big", "12", "12"},
		{"u", `"18446744073709551615"`, "18446744073709551615"}, {"f", "0.5", "0.5"}, {"f", "1", "1"}, {"f", "1e2", "100"}, {"b", "true", "true"},
		{"d", `"2024-05-01"`, "2024-05-01"}, {"d", "-1", "1969-12-31"}, {"t", `"2024-05-01T12:00:00+02:00"`, "2024-05-01T10:00:00.000Z"}, {"t", "1", "1970-01-01T00:00:00.001Z"},
		{"blob", `"AP8="`, "AP8="}, {"blob", `"base64:AP8="`, "AP8="}, {"l", "[1,-2]", "[1 -2]"}, {"l", " [ ] ", "[]"}, {"s", `["a,]\"","é"]`, `[a,]" é]`}, {"e", `"y"`, "y"},
		{"v", "[1,2.5]", "[1 2.5]"},
	} {
		in, err := parse(t, `{"type":"P","data":{"k":"a","`+c.field+`":`+c.json+`}}`)
		if err != nil {
			t.Errorf("%s: %s: %v", c.field, c.json, err)
			continue
		}
		r := in.Nodes[0]
		p, _ := r.Type.Prop(c.field)
		if got := show(r.batches[0].props[p].Value(0)); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.field, c.json, got, c.want)
		}
	}
}

// TestFineInstants loads instants that a DateTime cannot keep, as properties and within ids.
func TestFineInstants(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"P","data":{"k":"a","t":"2024-01-01T00:00:00.0000004Z"}}`:                                    "a DateTime keeps microseconds; round the instant to at most six digits after the second",
		`{"type":"P","data":{"k":"a","t":"2024-01-01t00:00:00.0000009000z"}}`:                                 "a DateTime keeps microseconds",
		`{"type":"P","data":{"k":"a","t":"2024-01-01T00:00:00,5Z"}}`:                                          "write it as RFC 3339",
		`{"type":"P","data":{"k":"a","t":1704067200000.5}}`:                                                   "whole milliseconds",
		`{"type":"Two","data":{"a":7,"t":"2024-01-01T00:00:00.0000004Z"}}`:                                    "a DateTime keeps microseconds",
		`{"type":"Two","data":{"a":7,"t":0,"id":"[\"7\",\"1970-01-01T00:00:00.0004Z\"]"}}`:                    "id",
		`{"type":"P","data":{"k":"a","t":"2024-01-01T00:00:00.000000000000000000000000000000000000000001Z"}}`: "a DateTime keeps microseconds",
	} {
		in, err := parse(t, line)
		for i := 0; err == nil && i < len(in.Nodes); i++ {
			if in.Nodes[i] != nil {
				err = in.Nodes[i].makeIDs()
			}
		}
		if err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want an error with %q", line, err, want)
		}
	}
	if _, err := parse(t, `{"type":"P","data":{"k":"a","t":"2024-01-01t00:00:00.1230000z"}}`); err != nil {
		t.Error(err)
	}
}

func show(v value.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.IsList():
		var out []string
		for _, e := range v.Elems() {
			out = append(out, value.Text(e))
		}
		return "[" + strings.Join(out, " ") + "]"
	case v.Kind() == value.Vector:
		return fmt.Sprint(v.Vector())
	}
	return value.Text(v)
}

func TestIDs(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"type":"P","data":{"k":"a","id":"a"}}`, "a"},
		{`{"type":"Day","data":{"d":0}}`, "1970-01-01"},
		{`{"type":"Day","data":{"d":"1970-01-02","id":1}}`, "1970-01-02"},
		{`{"type":"Day","data":{"d":1,"id":"1970-01-02"}}`, "1970-01-02"},
		{`{"type":"Day","data":{"d":1,"id":"1"}}`, "1970-01-02"},
		{`{"type":"Two","data":{"a":7,"t":0}}`, `["7","1970-01-01T00:00:00.000Z"]`},
		{`{"type":"Two","data":{"a":7,"t":0,"id":"[\"7\",\"1970-01-01T00:00:00Z\"]"}}`, `["7","1970-01-01T00:00:00.000Z"]`},
		{`{"type":"Two","data":{"a":7,"t":0,"id":["7",0]}}`, `["7","1970-01-01T00:00:00.000Z"]`},
		{`{"data":{"x":"é\n"},"type":"Free"}`, "new000001"},
		{`{"type":"Free","data":{"id":"mine"}}`, "mine"},
		{`{"type":"Free"}`, "new000001"},
	} {
		in, err := parse(t, c.line)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		for _, r := range in.Nodes {
			if r == nil {
				continue
			}
			if err := r.makeIDs(); err != nil {
				t.Fatal(err)
			}
			if rd := (reader{Rows: r}); rd.id(0) != c.want {
				t.Errorf("%s has the id %q, want %q", c.line, rd.id(0), c.want)
			}
		}
	}
}

func TestBadLines(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{`, `line 2: byte 2: unexpected EOF`},
		{`[]`, `line 2: the line is not a JSON object`},
		{`{"type":"P","data":{"k":"a"}} {}`, `line 2: the line has more than one JSON value; write one value per line`},
		{`{"data":{}}`, `line 2: the line has neither type nor edge; name the node type or the edge type`},
		{`{"type":"Q"}`, `line 2, type: the schema has no node type "Q"`},
		{`{"type":"Fere"}`, `line 2, type: the schema has no node type "Fere"; did you mean Free?`},
		{`{"edge":"Liks"}`, `line 2, edge: the schema has no edge type "Liks"; did you mean Likes?`},
		{`{"type":5}`, `line 2, type: found 5, expected a string`},
		{`{"type":"Free","edge":"Likes"}`, `line 2, edge: the line has both type and edge; give type for a node, or edge for an edge`},
		{`{"type":"Free","from":"a"}`, `line 2: a node has no endpoints; write edge instead of type if Free is an edge`},
		{`{"edge":"Likes","to":"a"}`, `line 2, from: the source is missing; give the id of the source node`},
		{`{"type":"Free","more":[1]}`, `line 2, more: the member is unknown; a line can have type or edge, and from, to, data and sources`},
		{`{"type":"Free","data":[]}`, `line 2, data: data is not a JSON object`},
		{`{"type":"Free","data":{"y":1}}`, `line 2, data.y: node Free has no such property; its properties are x`},
		{`{"type":"Free","data":{"id":""}}`, `line 2, data.id: the id is empty; give one, or leave it out`},
		{`{"type":"Free","data":{"id":7}}`, `line 2, data.id: found 7, expected a string`},
		{`{"type":"P","data":{"k":"a","id":"b"}}`, `line 2, data.id: found "b", but the key determines the id "a"`},
		{`{"type":"P"}`, `line 2, data.k: node P, property k: the value is missing; give one of type String (required)`},
		{`{"type":"P","data":{"k":"a","n":1.5}}`, `line 2, data.n: found "1.5", expected an integer of type I32`},
		{`{"type":"P","data":{"k":"a","n":"1"}}`, `line 2, data.n: found "1", expected I32`},
		{`{"type":"P","data":{"k":"a","n":2147483648}}`, `line 2, data.n: 2147483648 is out of range of I32`},
		{`{"type":"P","data":{"k":"a","u":-1}}`, `line 2, data.u: -1 is out of range of U64`},
		{`{"type":"P","data":{"k":"a","f":1e39}}`, `line 2, data.f: 1e39 is out of range of F32`},
		{`{"type":"P","data":{"k":"a","d":"2024-13-01"}}`, `line 2, data.d: "2024-13-01" is not a date; write it as YYYY-MM-DD`},
		{`{"type":"P","data":{"k":"a","blob":"?"}}`, `line 2, data.blob: the text is not base64 with padding`},
		{`{"type":"P","data":{"k":"a","l":[1,null]}}`, `line 2, data.l: element 1: a list cannot hold null`},
		{`{"type":"P","data":{"k":"a","v":[1]}}`, `line 2, data.v: node P, property v: found a vector of length 1, expected 2 (type)`},
		{`{"type":"P","data":{"k":"a","e":"z"}}`, `line 2, data.e: node P, property e: found "z", expected one of x, y (enum)`},
		{"{\"type\":\"P\",\"data\":{\"k\":\"\xff\"}}", `line 2, data.k: byte 26: invalid UTF-8`},
	} {
		_, err := parse(t, "\n"+c.line+"\n")
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.line, err, c.want)
		}
	}
	_, err := parse(t, `{"type":"Free","data":{"x":"a","x":"b"}}`)
	var bad *engine.LoadErrors
	if !errors.As(err, &bad) || bad.Lines[0].Line != 1 {
		t.Errorf("a member twice: %v", err)
	}
	_, err = parse(t, strings.Repeat("{\n", 150))
	if !errors.As(err, &bad) || len(bad.Lines) != 100 || !bad.More {
		t.Errorf("150 bad lines: %d are reported, more %t", len(bad.Lines), bad.More)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"type":"P","data":{"k":"a","l":[1,2],"s":["x"],"v":[1,2],"id":"a"}}` + "\n" + `{"edge":"likes","from":"a","to":"a"}`)
	f.Add(`{"data":{"a":7,"t":0,"id":["7",0]},"type":"Two"}`)
	f.Fuzz(func(t *testing.T, text string) {
		in, err := parse(t, text)
		if err != nil {
			if !errors.As(err, new(*engine.LoadErrors)) {
				t.Fatalf("%v is not a *engine.LoadErrors", err)
			}
			return
		}
		s := testSchema(t)
		for _, inline := range []int{0, 1 << 30} {
			in, err := Parse(context.Background(), strings.NewReader(text), s, Options{IDs: numbered, Mode: engine.Append})
			if err != nil {
				t.Fatal(err)
			}
			tx := version.Begin(version.NewSnapshot(s, engine.Commit{}))
			if _, err := Apply(context.Background(), tx, in, inline, nil); err != nil && !errors.As(err, new(*engine.LoadErrors)) {
				t.Fatalf("%v is not a *engine.LoadErrors", err)
			}
		}
		_ = in
	})
}

// TestClip cuts JSON in the middle of a letter. No part of the letter may remain.
func TestClip(t *testing.T) {
	raw := `"` + strings.Repeat("a", 38) + `äb"`
	if got, want := clip([]byte(raw)), raw[:39]+"…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestByteOrderMark reads a file of a Windows program, whose first line has a mark. A mark in another line is a fault.
func TestByteOrderMark(t *testing.T) {
	const line = `{"type":"P","data":{"k":"a"}}` + "\n"
	if in, err := parse(t, "\ufeff"+line); err != nil || len(in.Nodes) == 0 || in.Nodes[0] == nil {
		t.Errorf("a mark before the first line: %v", err)
	}
	if _, err := parse(t, line+"\ufeff"+line); err == nil {
		t.Error("a mark before the second line is accepted")
	}
}
