package arguments

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func TestValue(t *testing.T) {
	str, enum := value.Of(value.String), value.Type{Kind: value.String, Enum: []string{"open", "closed"}}
	records := value.Type{List: true, Fields: []value.Field{{Name: "org", Type: value.Of(value.String)}, {Name: "year", Type: value.Of(value.I32).Optional()}}}
	node := plan.NodeType([]string{"Person", "Team"})
	vec := value.Type{Kind: value.Vector, Dim: 2}
	list := func(k value.Kind) value.Type { return value.Type{Kind: k, List: true} }
	tests := []struct {
		typ  value.Type
		json string
		want any // a value.Value, or the text of the fault
	}{
		{str, `"a"`, value.OfString("a")},
		{str, `"\u00e9"`, value.OfString("é")},
		{str, `""`, value.OfString("")},
		{str, `42`, `p: found the number 42, expected a string; write it in quotes`},
		{str, `true`, `p: found true, expected a string`},
		{str, `null`, `p: missing, expected a string`},
		{str.Optional(), `null`, value.Null},
		{enum, `"open"`, value.OfString("open")},
		{enum, `"Open"`, `p: found the string "Open", expected one of open, closed; did you mean open?`},
		{enum, `"xyz"`, `p: found the string "xyz", expected one of open, closed`},
		{value.Of(value.Bool), `true`, value.OfBool(true)},
		{value.Of(value.Bool), `"false"`, value.OfBool(false)},
		{value.Of(value.Bool), `"yes"`, `p: found the string "yes", expected true or false`},
		{value.Of(value.Bool), `1`, `p: found the number 1, expected true or false`},
		{value.Of(value.I32), `42`, value.OfI32(42)},
		{value.Of(value.I32), `"42"`, value.OfI32(42)},
		{value.Of(value.I32), `3.0`, value.OfI32(3)},
		{value.Of(value.I32), `3e2`, value.OfI32(300)},
		{value.Of(value.I32), `"3.50e1"`, value.OfI32(35)},
		{value.Of(value.I32), `-0.0`, value.OfI32(0)},
		{value.Of(value.I32), `0e99999999999`, value.OfI32(0)},
		{value.Of(value.I32), `-2147483648`, value.OfI32(math.MinInt32)},
		{value.Of(value.I32), `2147483648`, `p: found the number 2147483648, expected an integer from -2147483648 to 2147483647`},
		{value.Of(value.I32), `1e99999999999`, `p: found the number 1e99999999999, expected an integer from -2147483648 to 2147483647`},
		{value.Of(value.I32), `1e-99999999999`, `p: found the number 1e-99999999999, expected an integer from -2147483648 to 2147483647`},
		{value.Of(value.I32), `3.5`, `p: found the number 3.5, expected an integer from -2147483648 to 2147483647`},
		{value.Of(value.I32), `" 42"`, `p: found the string " 42", expected an integer from -2147483648 to 2147483647`},
		{value.Of(value.I32), `"0x10"`, `p: found the string "0x10", expected an integer from -2147483648 to 2147483647`},
		{value.Of(value.I32), `[1]`, `p: found an array, expected an integer from -2147483648 to 2147483647`},
		{value.Of(value.I64), `"9223372036854775807"`, value.OfI64(math.MaxInt64)},
		{value.Of(value.I64), `9223372036854775807`, value.OfI64(math.MaxInt64)},
		{value.Of(value.I64), `-9223372036854775808`, value.OfI64(math.MinInt64)},
		{value.Of(value.I64), `9223372036854775808`, `p: found the number 9223372036854775808, expected an integer from -9223372036854775808 to 9223372036854775807`},
		{value.Of(value.U32), `-1`, `p: found the number -1, expected an integer from 0 to 4294967295`},
		{value.Of(value.U64), `18446744073709551615`, value.OfU64(math.MaxUint64)},
		{value.Of(value.U64), `"18446744073709551616"`, `p: found the string "18446744073709551616", expected an integer from 0 to 18446744073709551615`},
		{value.Of(value.F64), `1.5`, value.OfF64(1.5)},
		{value.Of(value.F64), `"1e3"`, value.OfF64(1000)},
		{value.Of(value.F64), `1e400`, `p: found the number 1e400, expected a number within the range of 64-bit floats`},
		{value.Of(value.F64), `"NaN"`, `p: found the string "NaN", expected a number within the range of 64-bit floats`},
		{value.Of(value.F32), `0.1`, value.OfF32(0.1)},
		{value.Of(value.F32), `1e39`, `p: found the number 1e39, expected a number within the range of 32-bit floats`},
		{value.Of(value.Date), `"1970-01-02"`, value.OfDate(1)},
		{value.Of(value.Date), `"2024-02-30"`, `p: found the string "2024-02-30", expected a date as YYYY-MM-DD`},
		{value.Of(value.Date), `1`, `p: found the number 1, expected a date as YYYY-MM-DD`},
		{value.Of(value.DateTime), `"1970-01-01T01:00:00.001+01:00"`, value.OfDateTime(1000)},
		{value.Of(value.DateTime), `"1970-01-01t01:00:00.0010z"`, value.OfDateTime(3600001_000)},
		{value.Of(value.DateTime), `"1970-01-01T00:00:00.000400Z"`, value.OfDateTime(400)},
		{value.Of(value.DateTime), `"1970-01-01T00:00:00.0000004Z"`, `p: found the string "1970-01-01T00:00:00.0000004Z"; a DateTime keeps microseconds; round the instant to at most six digits after the second`},
		{value.Of(value.DateTime), `"1970-01-01T00:00:00,5Z"`, `p: found the string "1970-01-01T00:00:00,5Z", expected an instant as RFC 3339, such as 2024-05-01T12:30:00Z`},
		{list(value.DateTime), `["1970-01-01T00:00:00.0000000001Z"]`, `p[0]: found the string "1970-01-01T00:00:00.0000000001Z"; a DateTime keeps microseconds; round the instant to at most six digits after the second`},
		{value.Of(value.DateTime), `"1970-01-01"`, `p: found the string "1970-01-01", expected an instant as RFC 3339, such as 2024-05-01T12:30:00Z`},
		{value.Of(value.Blob), `"AQI="`, value.OfBlob([]byte{1, 2})},
		{value.Of(value.Blob), `"base64:AQI="`, value.OfBlob([]byte{1, 2})},
		{value.Of(value.Blob), `"AQI"`, `p: found the string "AQI", expected bytes as base64 with padding`},
		{vec, `[1, "2.5"]`, value.OfVector([]float32{1, 2.5})},
		{vec, `[1]`, `p: found 1 numbers, expected an array of 2 numbers`},
		{vec, `[1, null]`, `p[1]: found null, expected a number within the range of 32-bit floats`},
		{vec, `"1,2"`, `p: found the string "1,2", expected an array of 2 numbers`},
		{list(value.I32), `[]`, value.OfList(value.I32, []value.Value{})},
		{list(value.I32), `[1,"2"]`, value.OfList(value.I32, []value.Value{value.OfI32(1), value.OfI32(2)})},
		{list(value.String), `["a",null]`, `p[1]: found null, expected a string`},
		{node, `{"id":"ann","type":"Person"}`, plan.OfNode("Person", "ann")},
		{node, `null`, `p: missing, expected an object such as { type: enum(Person, Team), id: String }`},
		{node.Optional(), `null`, value.Null},
		{node, `"ann"`, `p: found the string "ann", expected an object such as { type: enum(Person, Team), id: String }`},
		{node, `[{"id":"ann","type":"Person"}]`, `p: found an array, expected an object such as { type: enum(Person, Team), id: String }`},
		{node, `{"id":"ann"}`, `p.type: missing, expected one of Person, Team`},
		{node, `{"id":null,"type":"Team"}`, `p.id: missing, expected a string`},
		{node, `{"id":"ann","type":"Taem"}`, `p.type: found the string "Taem", expected one of Person, Team; did you mean Team?`},
		{node, `{"id":1,"type":"Team"}`, `p.id: found the number 1, expected a string; write it in quotes`},
		{node, `{"id":"ann","typ":"Team"}`, `p.typ: there is no such field; did you mean type?`},
		{records, `[]`, value.OfRecords(nil)},
		{records, `[{"year":2020,"org":"a"},{"org":"b","year":null}]`, value.OfRecords([][]value.Value{{value.OfString("a"), value.OfI32(2020)}, {value.OfString("b"), value.Null}})},
		{records, `[{"year":2020}]`, `p[0].org: missing, expected a string`},
		{records, `[{"org":"a"},{"org":null}]`, `p[1].org: missing, expected a string`},
		{records, `[{"org":"a","year":"x"}]`, `p[0].year: found the string "x", expected an integer from -2147483648 to 2147483647`},
		{records, `[{"org":"a","yeer":1}]`, `p[0].yeer: there is no such field; did you mean year?`},
		{records, `[3]`, `p[0]: found the number 3, expected an object such as { org: String, year: I32? }`},
		{records, `"[{\"org\":\"a\",\"year\":1}]"`, value.OfRecords([][]value.Value{{value.OfString("a"), value.OfI32(1)}})},
		{records, `["{\"org\":\"a\",\"year\":1}"]`, value.OfRecords([][]value.Value{{value.OfString("a"), value.OfI32(1)}})},
		{records, `"[{\"org\":1}]"`, `p[0].org: found the number 1, expected a string; write it in quotes`},
		{node, `"{\"id\":\"ann\",\"type\":\"Person\"}"`, plan.OfNode("Person", "ann")},
		{vec, `"[1, \"2.5\"]"`, value.OfVector([]float32{1, 2.5})},
		{list(value.String), `" [\"a\"]"`, value.OfList(value.String, []value.Value{value.OfString("a")})},
		{list(value.String), `"[a]"`, `p: found the string "[a]", expected an array, each element a string`},
		{str, `"[\"a\"]"`, value.OfString("[\"a\"]")},
		{records, `{"org":"a"}`, `p: found an object, expected an array, each element an object such as { org: String, year: I32? }`},
		{list(value.String), `"a"`, `p: found the string "a", expected an array, each element a string`},
	}
	for _, tt := range tests {
		o := Params(json.RawMessage(`{"p":` + tt.json + `}`))
		got := o.Value("p", tt.typ)
		err := o.Done()
		switch want := tt.want.(type) {
		case value.Value:
			if err != nil || !value.Equal(got, want) {
				t.Errorf("%s of %s: got %+v, %v, want %+v", tt.typ, tt.json, got, err, want)
			}
		case string:
			if err == nil || err.Error() != want {
				t.Errorf("%s of %s: got fault %v, want %s", tt.typ, tt.json, err, want)
			}
		}
	}
}

func TestObjectFaults(t *testing.T) {
	tests := []struct{ name, json, want string }{
		{"empty", ``, "name: missing, expected a string"},
		{"null", ` null `, "name: missing, expected a string"},
		{"fine", `{"name":"a"}`, ""},
		{"misspelt", `{"nmae":"a"}`, "nmae: unknown parameter; did you mean name?\nname: missing, expected a string"},
		{"unknown", `{"name":"a","zzz":1}`, "zzz: unknown parameter; known are depth, name"},
		{"all at once", `{"depth":"x"}`, "name: missing, expected a string\ndepth: found the string \"x\", expected an integer from -2147483648 to 2147483647"},
		{"not an object", `[1]`, "found an array, expected a JSON object"},
		{"as text", `"{\"name\":\"a\",\"depth\":\"3\"}"`, ""},
		{"as text with a mark", "\" \ufeff {\\\"name\\\":\\\"a\\\"} \"", ""},
		{"a mark", "\ufeff{\"name\":\"a\"}", ""},
		{"empty, as text", `"{}"`, "name: missing, expected a string"},
		{"empty text", `""`, "name: missing, expected a string"},
		{"empty array", `[ ]`, "name: missing, expected a string"},
		{"a string", `"abc"`, `found the string "abc", expected a JSON object`},
		{"an array as text", `"[1]"`, `found the string "[1]", expected a JSON object`},
		{"text in text", `"\"{}\""`, `found the string "\"{}\"", expected a JSON object`},
		{"broken text", `"{\"name\":"`, "the text is not valid JSON: unexpected EOF"},
		{"options that say nothing", `{"name":"a","branch":"","dry_run":false,"params":{},"snapshot":null}`, "branch: unknown parameter; known are depth, name\ndry_run: unknown parameter; known are depth, name\nparams: unknown parameter; known are depth, name\nsnapshot: unknown parameter; known are depth, name"},
		{"twice", `{"name":"a","name":"b"}`, "the member /name occurs twice"},
		{"twice inside", `{"name":{"x":1,"x":2}}`, "the member /name/x occurs twice"},
		{"trailing", `{"name":"a"} {}`, "there is text after the JSON object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Params(json.RawMessage(tt.json))
			o.String("name")
			o.OptI32("depth")
			err := o.Done()
			got := ""
			if err != nil {
				got = err.Error()
				var a *tool.ArgumentError
				if !errors.As(err, &a) {
					t.Errorf("error is a %T", err)
				}
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	for _, bad := range []string{`{`, `{"a"}`, `{"name":"\xff"}`, "{\"name\":\"\xff\"}", `{"name":1,}`, `x`} {
		o := Params(json.RawMessage(bad))
		o.String("name")
		if err := o.Done(); err == nil {
			t.Errorf("%q: no fault", bad)
		} else if a := err.(*tool.ArgumentError); a.Path != "" || len(a.Also) > 0 {
			t.Errorf("%q: got %v, want one fault of the whole", bad, err)
		}
	}
}

// TestNothingSaid checks that members which say nothing are ignored where they do not apply, and only there.
func TestNothingSaid(t *testing.T) {
	tests := []struct {
		json string
		read func(*Object) error
		want string
	}{
		{`{"state":"","branch":"","dry_run":false,"params":{},"confirm":null}`, func(o *Object) error { o.OptEnum("state", "open"); return o.Done() }, ""},
		{`{"state":"x"}`, func(o *Object) error { o.OptEnum("state", "open"); return o.Done() }, `state: found the string "x", expected one of open`},
		{`{"branch":"a","dry_run":true}`, (*Object).Done, "branch: unknown member; none is taken\ndry_run: unknown member; none is taken"},
		{`{"other":""}`, (*Object).Done, "other: unknown member; none is taken"},
		{`{"a":false,"b":"","c":[],"d":{ },"e":null}`, refuse("a", "b", "c", "d", "e"), ""},
		{`{"a":true,"b":" ","c":[0],"d":{"x":1},"e":0}`, refuse("a", "b", "c", "d", "e"), "a: no\nb: no\nc: no\nd: no\ne: no"},
	}
	for _, tt := range tests {
		got := ""
		if err := tt.read(Members(json.RawMessage(tt.json))); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.json, got, tt.want)
		}
	}
	for text, want := range map[string]string{
		``: "", `{}`: "", `""`: "", `"{}"`: "", `{"random_string":"dummy"}`: "", `"{\"random_string\":\"dummy\"}"`: "", `{"branch":""}`: "",
		`{"branch":"work"}`: "branch: unknown member; none is taken", `[1]`: "found an array, expected a JSON object",
	} {
		got := ""
		if err := NoMembers(json.RawMessage(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("a tool without arguments, %s: got %q, want %q", text, got, want)
		}
	}
}

// refuse returns a function that refuses the named members.
func refuse(names ...string) func(*Object) error {
	return func(o *Object) error {
		for _, name := range names {
			o.Refuse(name, "no", "")
		}
		return o.Done()
	}
}

// TestItems reads an array in each of its forms.
func TestItems(t *testing.T) {
	for text, want := range map[string]int{`{"a":[1,2]}`: 2, `{"a":"[1,2,3]"}`: 3, `{"a":[]}`: 0, `{}`: 0, `{"a":"x"}`: -1, `{"a":{}}`: -1, `{"a":"[1"}`: -1} {
		got := -1
		if items, ok := Members(json.RawMessage(text)).Items("a"); ok {
			got = len(items)
		}
		if got != want {
			t.Errorf("%s: %d elements, want %d", text, got, want)
		}
	}
}

func TestGetters(t *testing.T) {
	o := Params(json.RawMessage(`{"s":"x","e":"b","o":"y","f":"c","b":true,"i":-1,"t":"1970-01-01T00:00:00.002001Z","l":["p","q"]}`))
	type all struct {
		S, E string
		O, F *string
		B    *bool
		I    *int32
		T    *time.Time
		L    []string
	}
	get := func(o *Object) all {
		return all{o.String("s"), o.Enum("e", "a", "b"), o.OptString("o"), o.OptEnum("f", "c"), o.OptBool("b"), o.OptI32("i"), o.OptTime("t"), o.OptStrings("l")}
	}
	want := all{"x", "b", ptr("y"), ptr("c"), ptr(true), ptr(int32(-1)), ptr(time.UnixMicro(2001).UTC()), []string{"p", "q"}}
	if diff := cmp.Diff(want, get(o)); diff != "" {
		t.Errorf("present (-want +got):\n%s", diff)
	}
	if err := o.Done(); err != nil {
		t.Error(err)
	}
	o = Params(json.RawMessage(`{"s":"","e":"a","o":null,"b":null}`))
	if diff := cmp.Diff(all{E: "a"}, get(o)); diff != "" {
		t.Errorf("absent (-want +got):\n%s", diff)
	}
	if err := o.Done(); err != nil {
		t.Error(err)
	}
}

func ptr[T any](v T) *T { return &v }

func TestDecodeArgs(t *testing.T) {
	params := []plan.Param{{Name: "a", Type: value.Of(value.I64)}, {Name: "b", Type: value.Of(value.String).Optional()}}
	args, err := Decode(json.RawMessage(`{"a":"5"}`), params)
	if err != nil || len(args) != 2 || !value.Equal(args[0], value.OfI64(5)) || !args[1].IsNull() {
		t.Errorf("got %v, %v", args, err)
	}
	if _, err := Decode(json.RawMessage(`{"a":1,"c":1}`), params); err == nil {
		t.Error("unknown parameter passed")
	}
}

// TestDecodeAnnotated decodes parameters with defaults, bounds and patterns.
func TestDecodeAnnotated(t *testing.T) {
	one, most := value.OfI32(1), value.OfI32(100)
	pattern, err := value.NewPattern("^[a-z]+$")
	if err != nil {
		t.Fatal(err)
	}
	params := []plan.Param{
		{Name: "n", Type: value.Of(value.I32), Bounds: value.Bounds{Min: &one, Max: &most}, Default: value.OfI32(20)},
		{Name: "s", Type: value.Type{Kind: value.String, List: true, Nullable: true}, Pattern: pattern},
	}
	for _, tt := range []struct {
		json string
		n    int32
		want string // the error, or ""
	}{
		{`{}`, 20, ""},
		{`{"n":null}`, 20, ""},
		{`{"n":"100","s":["a"]}`, 100, ""},
		{`{"n":101}`, 0, "n: found 101, expected at most 100"},
		{`{"n":0,"s":["a","B","C"]}`, 0, "n: found 0, expected at least 1\ns[1]: found \"B\", expected a text that matches ^[a-z]+$"},
	} {
		args, err := Decode(json.RawMessage(tt.json), params)
		switch {
		case tt.want != "":
			if err == nil || err.Error() != tt.want {
				t.Errorf("%s: found %v, expected %s", tt.json, err, tt.want)
			}
		case err != nil || args[0].Int() != int64(tt.n):
			t.Errorf("%s: found %v, %v, expected %d", tt.json, args, err, tt.n)
		}
	}
}

func FuzzParams(f *testing.F) {
	f.Add([]byte(`{"s":"x","i":3e2,"l":[1,"2"],"v":[0.5,1]}`))
	f.Add([]byte(`{"s":null,"i":"-0.0","t":"2024-05-01T12:30:00Z","x":"base64:AQ=="}`))
	f.Add([]byte(`{"i":1e999999999999999999}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		o := Params(b)
		o.OptString("s")
		o.OptI32("i")
		o.OptTime("t")
		o.Value("l", value.Type{Kind: value.I64, List: true})
		v := o.Value("v", value.Type{Kind: value.Vector, Dim: 2, Nullable: true})
		o.Value("x", value.Of(value.Blob).Optional())
		o.Value("f", value.Of(value.F32).Optional())
		err := o.Done()
		if err != nil && err.Error() == "" {
			t.Error("a fault without a text")
		}
		if err == nil && (!json.Valid(b) && len(b) > 0) {
			t.Errorf("%q passed", b)
		}
		if !v.IsNull() && len(v.Vector()) != 2 {
			t.Errorf("a vector of %d components", len(v.Vector()))
		}
	})
}

func FuzzWhole(f *testing.F) {
	for _, s := range []string{"0", "-0.0", "12.50e1", "1e-3", "100e-2", "9223372036854775808"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := integer(s, value.I64)
		if !ok {
			return
		}
		// A float64 is exact below 2^53, so it can check the result.
		var want float64
		if err := json.Unmarshal([]byte(s), &want); err != nil {
			t.Fatalf("%q read as %d is no number", s, v.Int())
		}
		if math.Abs(want) < 1<<53 && float64(v.Int()) != want {
			t.Errorf("%q read as %d", s, v.Int())
		}
	})
}

// TestFaultsAreBounded checks that the size of an error does not grow with the arguments.
func TestFaultsAreBounded(t *testing.T) {
	var many strings.Builder
	many.WriteString(`{"` + strings.Repeat("é", 1000) + `":1`)
	for i := range 1000 {
		fmt.Fprintf(&many, `,"m%d":1`, i)
	}
	many.WriteString("}")
	o := Members(json.RawMessage(many.String()))
	for i := range 100 {
		o.String(fmt.Sprintf("wanted%d", i))
	}
	err := o.Done()
	var a *tool.ArgumentError
	if !errors.As(err, &a) || len(a.Also) != 20 || len(err.Error()) > 50_000 {
		t.Fatalf("%d bytes: %.2000v", len(err.Error()), err)
	}
	if last := a.Also[19].Detail; last != "1081 more faults are not listed" {
		t.Errorf("got %s", last)
	}
	if a.Path != strings.Repeat("é", 30)+"…" {
		t.Errorf("path %s", a.Path)
	}
}
