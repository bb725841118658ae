package catalog_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

func build(t *testing.T, text string) *catalog.Schema {
	t.Helper()
	tree, faults := syntax.ParseSchema("x.pg", text)
	if faults != nil {
		t.Fatal(faults)
	}
	s, faults := resolve.Schema(tree)
	if faults != nil {
		t.Fatal(faults)
	}
	return s
}

func graphText(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../testdata/graph.pg")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDecode checks that a decoded schema equals the encoded one. The golden files hold the versions
// of the encoding. Stores contain these versions too, so a change of the encoding needs a new
// version.
func TestDecode(t *testing.T) {
	text := graphText(t)
	first, _, found := strings.Cut(text, "\n// Edges with an interface at an end")
	if !found {
		t.Fatal("graph.pg does not say where version 2 begins")
	}
	second, _, found := strings.Cut(text, "\n// Keys whose members")
	if !found {
		t.Fatal("graph.pg does not say where version 3 begins")
	}
	t.Run("version 1", func(t *testing.T) { checkDecode(t, first, "testdata/version1.json") })
	t.Run("version 2", func(t *testing.T) { checkDecode(t, second, "testdata/version2.json") })
	t.Run("version 3", func(t *testing.T) { checkDecode(t, text, "testdata/version3.json") })
	filled := `node Filled { a: I64 @default(-7) b: String? @default("x\"y") c: Date @default(date("2026-01-02")) d: [F32] @default([0.1, 2]) e: Bool @default(false) f: enum(p, q) @default("q") g: [String] @default([]) }`
	t.Run("version 4", func(t *testing.T) { checkDecode(t, text+"\n"+filled, "testdata/version4.json") })
}

// TestBackfillPlan checks that a schema keeps the plan of @backfill, and that its digest does not depend on it.
func TestBackfillPlan(t *testing.T) {
	s := build(t, `node A { k: String @key p: String @backfill("k + \"!\"") }  edge E: A -> A { q: I32? @backfill("1 + 1") }`)
	digest := catalog.Digest(s)
	got, err := catalog.Decode(catalog.Encode(s))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*catalog.Backfill{got.Node("A").Property("p").Backfill, got.Edge("E").Property("q").Backfill} {
		if len(b.Plan) == 0 {
			t.Errorf("%s has no plan", b.Text)
		}
		b.Plan = nil
	}
	if again := catalog.Digest(got); again != digest {
		t.Errorf("the digest is %s without the plans, and was %s", again, digest)
	}
}

// TestZeroDefault checks that a default keeps the sign of a zero in the encoding and in the text, and that the sign is
// part of the schema's digest.
func TestZeroDefault(t *testing.T) {
	digests := map[string]bool{}
	for _, zero := range []string{"-0.0", "0"} {
		s := build(t, `node A { p: F64 @default(`+zero+`) q: [F32] @default([`+zero+`, 1]) }`)
		got, err := catalog.Decode(catalog.Encode(s))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"p", "q"} {
			was, is := s.Node("A").Property(name).Default, got.Node("A").Property(name).Default
			if !value.Equal(was.Value, is.Value) || !strings.Contains(was.String(), zero) {
				t.Errorf("%s of %s: decoded %s, written %s", name, zero, is, was)
			}
		}
		digests[catalog.Digest(s)] = true
	}
	if len(digests) != 2 {
		t.Error("the digest does not depend on the sign of a zero")
	}
}

// checkDecode checks the encoding of a schema against a golden file, and decodes it.
func checkDecode(t *testing.T, text, file string) {
	s := build(t, text)
	enc := catalog.Encode(s)
	golden.Check(t, file, append(enc, '\n'))
	got, err := catalog.Decode(enc)
	if err != nil {
		t.Fatal(err)
	}
	opts := []cmp.Option{
		cmp.Comparer(value.Equal),
		cmpopts.IgnoreUnexported(catalog.Schema{}, catalog.Interface{}, catalog.Node{}, catalog.Edge{}),
	}
	if diff := cmp.Diff(s, got, opts...); diff != "" {
		t.Errorf("-built +decoded:\n%s", diff)
	}
	if got.Node("Person").Property("email") == nil || got.Edge("WORKSAT").Property("title") == nil {
		t.Error("the names are not indexed")
	}
	if string(catalog.Encode(got)) != string(enc) {
		t.Error("encoding the decoded schema gives other bytes")
	}
}

func TestEncodingVersions(t *testing.T) {
	for _, c := range []struct{ pg, want string }{
		{"node A { x: I32 y: I32 @key(x, y) }\nedge E: A -> A", `{"version":1,`},
		{"node A { x: I32 y: I32 @key(y, x) }\nedge E: A -> A", `{"version":3,`},
		{"interface Named { name: String }\nnode A implements Named {}\nedge E: A -> A", `{"version":1,`},
		{"interface Named { name: String }\nnode A implements Named {}\nedge E: A -> Named", `{"version":2,`},
		{"interface Named { name: String }\nnode A implements Named {}\nedge E: Named -> A", `{"version":2,`},
	} {
		s := build(t, c.pg)
		enc := string(catalog.Encode(s))
		if !strings.HasPrefix(enc, c.want) {
			t.Errorf("%s: the encoding begins with %.20s, want %s", c.pg, enc, c.want)
		}
		back, err := catalog.Decode([]byte(enc))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := *back.Edges[0], *s.Edges[0]; got.FromInterface != want.FromInterface || got.ToInterface != want.ToInterface {
			t.Errorf("%s: the ends are %t and %t after decoding", c.pg, got.FromInterface, got.ToInterface)
		}
	}
}

func TestDecodeFaults(t *testing.T) {
	var version *catalog.VersionError
	if _, err := catalog.Decode([]byte(`{"version":6,"schema":{}}`)); !errors.As(err, &version) || version.Version != 6 {
		t.Errorf("version 6: %v", err)
	}
	for _, text := range []string{"", "{", `{"version":1}`, `{"version":1,"schema":[]}`,
		`{"version":1,"schema":{"nodes":[{"name":"A","properties":[],"ranges":[{"property":"x","kind":"I32","min":"y"}]}]}}`,
		`{"version":1,"schema":{"nodes":[{"name":"A","properties":[{"name":"x","type":{"kind":"Int"}}]}]}}`,
		`{"version":1,"schema":{"nodes":[null]}}`,
		`{"version":1,"schema":{"edges":[null]}}`,
		`{"version":1,"schema":{"interfaces":[null]}}`,
		`{"version":1,"schema":{"nodes":[{"name":"A","properties":[null]}]}}`,
		`{"version":1,"schema":{"nodes":[{"name":"A","properties":[],"key":["x"]}]}}`,
		`{"version":3,"schema":{"nodes":[{"name":"A","properties":[{"name":"x","type":{"kind":"I32"}}],"key":["x"],"key_order":["x","x"]}]}}`,
		`{"version":1,"schema":{"nodes":[],"edges":[{"name":"E","from":"A","to":"A"}]}}`,
		`{"version":1,"schema":{"nodes":[{"name":"A","properties":[]},{"name":"A","properties":[]}]}}`,
	} {
		if _, err := catalog.Decode([]byte(text)); err == nil {
			t.Errorf("%q is decoded", text)
		}
	}
}

func TestDigest(t *testing.T) {
	a := build(t, "node A { x: String @key y: I32? @range(y, 0..10) }\nedge E: A -> A")
	same := build(t, "// c\nnode A {\n  x: String @key\n  y: I32? /* d */\n  @range(y, 0..10)\n}\n\nedge E: A->A\n")
	if catalog.Digest(a) != catalog.Digest(same) {
		t.Error("layout changes the digest")
	}
	if n := len(catalog.Digest(a)); n != len("sha256:")+64 {
		t.Errorf("digest of %d bytes", n)
	}
	for _, text := range []string{
		"node A { x: String @key y: I32? @range(y, 0..11) }\nedge E: A -> A",
		"node A { x: String @key y: I64? @range(y, 0..10) }\nedge E: A -> A",
		"node A { x: String y: I32? @range(y, 0..10) }\nedge E: A -> A",
		"node A { x: String @key y: I32? @range(y, 0..10) }\nedge E: A -> A @card(0..1)",
	} {
		if catalog.Digest(a) == catalog.Digest(build(t, text)) {
			t.Errorf("same digest as\n%s", text)
		}
	}
}

func TestBuild(t *testing.T) {
	s := build(t, graphText(t))
	p := s.Node("Person")
	if diff := cmp.Diff([]string{"Named"}, p.Implements); diff != "" || p.Properties[0].Name != "name" {
		t.Errorf("interfaces: %s first property %s", diff, p.Properties[0].Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, s.Node("Pair").Key); diff != "" {
		t.Errorf("key: %s", diff)
	}
	if e := p.Property("face").Embed; e == nil || e.Source != "bio" || e.Model != "test-3" {
		t.Errorf("embed %+v", e)
	}
	r := p.Ranges[0]
	if !value.Equal(*r.Min, value.OfI32(0)) || !value.Equal(*r.Max, value.OfI32(200)) {
		t.Errorf("range %v %v", *r.Min, *r.Max)
	}
	if e := s.Edge("worksAt"); e == nil || *e.Card != (catalog.Cardinality{Min: 0, Max: 1}) {
		t.Errorf("edge %+v", e)
	}
	if diff := cmp.Diff([][]string{{"name", "born"}}, p.Unique); diff != "" {
		t.Errorf("unique: %s", diff)
	}
	kept := build(t, `node A @x_team("x", since=3) { x: String @x_deprecated(soon) }`).Node("A")
	want := []catalog.Annotation{{Name: "x_team", Args: []string{`"x"`, "since=3"}}}
	if diff := cmp.Diff(want, kept.Annotations); diff != "" {
		t.Errorf("annotations: %s", diff)
	}
	if diff := cmp.Diff([]catalog.Annotation{{Name: "x_deprecated", Args: []string{"soon"}}}, kept.Properties[0].Annotations); diff != "" {
		t.Errorf("annotations: %s", diff)
	}
}

// TestKeyOrder checks that a schema keeps the order of @key, and that the ids follow the order of the names.
func TestKeyOrder(t *testing.T) {
	for _, c := range []struct {
		text       string
		key, order []string
	}{
		{"node A { x: I32 y: I32 @key(x, y) }", []string{"x", "y"}, nil},
		{"node A { y: I32 x: I32 @key(x, y) }", []string{"x", "y"}, nil},
		{"node A { x: I32 y: I32 @key(y, x) }", []string{"x", "y"}, []string{"y", "x"}},
		{"node A { x: I32 @key }", []string{"x"}, nil},
		{"node A { x: I32 }", nil, nil},
	} {
		n := build(t, c.text).Node("A")
		if !slices.Equal(n.Key, c.key) || !slices.Equal(n.KeyOrder, c.order) {
			t.Errorf("%s: key %v in the order %v", c.text, n.Key, n.KeyOrder)
		}
		want := c.order
		if want == nil {
			want = c.key
		}
		if got := n.DeclaredKey(); !slices.Equal(got, want) {
			t.Errorf("%s: declared key %v", c.text, got)
		}
	}
}

// TestInheritedKey checks that a node type can inherit its key from an interface.
func TestInheritedKey(t *testing.T) {
	s := build(t, "interface Keyed { slug: String @key @index }\nnode A implements Keyed { x: I32 }\nnode B implements Keyed { slug: String x: I32 @index @key }")
	if diff := cmp.Diff([]string{"slug"}, s.Node("A").Key); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"x"}, s.Node("B").Key); diff != "" {
		t.Error(diff)
	}
}

func FuzzDecode(f *testing.F) {
	b, err := os.ReadFile("testdata/version1.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"version":1,"schema":{"nodes":[{"name":"A","properties":[{"name":"x","type":{"kind":"F32"}}],"ranges":[{"property":"x","kind":"F32","min":"1"}]}],"edges":[]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := catalog.Decode(b)
		if err != nil {
			return
		}
		again, err := catalog.Decode(catalog.Encode(s))
		if err != nil || catalog.Digest(again) != catalog.Digest(s) {
			t.Errorf("encode the decoded schema: %v", err)
		}
	})
}

// TestRangeOfDecimals encodes and decodes the range of a Decimal, whose ends have digits after the point.
func TestRangeOfDecimals(t *testing.T) {
	s := build(t, "node A { x: Decimal(6, 2) @range(x, -0.5..1000) }")
	again, err := catalog.Decode(catalog.Encode(s))
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Node("A").Ranges[0].Bounds().String(); got != "-0.50..1000.00" {
		t.Errorf("the range is %s", got)
	}
	if catalog.Digest(again) != catalog.Digest(s) {
		t.Error("the digest is another")
	}
}
