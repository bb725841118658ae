//lint:file-ignore SA1019 indexers write the deprecated fields, so the reader takes them

package scip_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bindings "github.com/scip-code/scip/bindings/go/scip"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
	"github.com/omnigraph-go/omnigraph/internal/source/scip"
)

// readFile reads an index in testdata.
func readFile(t *testing.T, name string, opts scip.Options) *codegraph.Graph {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	g, err := read(t.Context(), name, content, opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func read(ctx context.Context, name string, content []byte, opts scip.Options) (*codegraph.Graph, error) {
	return scip.Read(ctx, name, bytes.NewReader(content), int64(len(content)), opts)
}

func ndjson(t *testing.T, g *codegraph.Graph) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := g.WriteNDJSON(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestReadGolden reads the indexes of testdata/shop-ts and testdata/shop-py that scip-typescript and
// scip-python wrote. make test-scip compares the indexes with those that the indexers write.
func TestReadGolden(t *testing.T) {
	for _, name := range []string{"shop-ts", "shop-py"} {
		t.Run(name, func(t *testing.T) {
			opts := scip.Options{Commit: "0123abcd", Prefix: name, Lines: func(path string) (int, bool) {
				text, err := os.ReadFile(filepath.Join("testdata", name, filepath.FromSlash(path)))
				return bytes.Count(text, []byte{'\n'}), err == nil
			}}
			first := ndjson(t, readFile(t, name+".scip", opts))
			if second := ndjson(t, readFile(t, name+".scip", opts)); !bytes.Equal(first, second) {
				t.Error("reading the same index twice gives different graphs")
			}
			golden.Check(t, "testdata/"+name+".ndjson", first)
		})
	}
}

// encode writes an index with the given documents.
func encode(t testing.TB, documents ...*bindings.Document) []byte {
	t.Helper()
	content, err := proto.Marshal(&bindings.Index{
		Metadata:  &bindings.Metadata{ToolInfo: &bindings.ToolInfo{Name: "tool", Version: "1"}, ProjectRoot: "file:///home/shop"},
		Documents: documents,
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

const prefix = "tool npm shop 1.0 "

// define returns the definition of a symbol at the start of a line, whose body ends with another line.
func define(symbol string, line, end int32) *bindings.Occurrence {
	o := refer(symbol, line, 0)
	o.SymbolRoles = int32(bindings.SymbolRole_Definition)
	if end > 0 {
		o.EnclosingRange = []int32{line, 0, end, 100}
	}
	return o
}

// refer returns a reference to a symbol.
func refer(symbol string, line, character int32) *bindings.Occurrence {
	return &bindings.Occurrence{Symbol: prefix + symbol, Range: []int32{line, character, character + 3}}
}

func document(path string, occurrences ...*bindings.Occurrence) *bindings.Document {
	return &bindings.Document{RelativePath: path, Occurrences: occurrences}
}

// edges returns counted links without the module's name.
func edges(list []codegraph.Counted) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s>%s %d", strings.TrimPrefix(c.From, "shop/"), strings.TrimPrefix(c.To, "shop/"), c.Count))
	}
	return strings.Join(out, ", ")
}

func TestReferences(t *testing.T) {
	typed := define("a/outer().", 0, 0)
	typed.Range = nil
	typed.TypedRange = bindings.Range{End: bindings.Position{Character: 3}}.AsTypedRange()
	typed.TypedEnclosingRange = bindings.Range{End: bindings.Position{Line: 9}}.AsTypedEnclosingRange()
	imported := refer("a/f().", 2, 0)
	imported.SymbolRoles = int32(bindings.SymbolRole_Import)
	forward := define("a/f().", 3, 4)
	forward.SymbolRoles = int32(bindings.SymbolRole_ForwardDefinition)

	f, g := define("a/f().", 20, 0), define("a/T#", 30, 0)
	for _, tt := range []struct {
		name          string
		occurrences   []*bindings.Occurrence
		calls, refers string
		notCovered    string
	}{
		{"innermost", []*bindings.Occurrence{f, define("a/outer().", 0, 9), define("a/outer().inner().", 2, 4), refer("a/f().", 3, 0), refer("a/f().", 5, 0), refer("a/f().", 1, 0)},
			"a.outer>a.f 2, a.outer.inner>a.f 1", "", "what 1 of 3 functions and methods call"},
		{"any order", []*bindings.Occurrence{refer("a/f().", 5, 0), refer("a/f().", 3, 0), define("a/outer().inner().", 2, 4), define("a/outer().", 0, 9), f},
			"a.outer>a.f 1, a.outer.inner>a.f 1", "", "what 1 of 3"},
		{"overlapping", []*bindings.Occurrence{f, define("a/x().", 0, 5), define("a/y().", 3, 8), refer("a/f().", 1, 0), refer("a/f().", 4, 0), refer("a/f().", 7, 0)},
			"a.x>a.f 1, a.y>a.f 2", "", "what 1 of 3"},
		{"typed ranges", []*bindings.Occurrence{f, typed, refer("a/f().", 8, 0), refer("a/f().", 9, 0)},
			"a.outer>a.f 1", "", "1 references to functions that are in no declaration"},
		{"types and constants", []*bindings.Occurrence{f, g, define("a/K.", 31, 0), define("a/C#", 0, 9), define("a/C#m().", 2, 4), refer("a/T#", 3, 0), refer("a/K.", 3, 5), refer("a/T#", 8, 0), refer("a/C#", 3, 9)},
			"", "a.C>a.T 1, a.C.m>a.C 1, a.C.m>a.K 1, a.C.m>a.T 1", "2 references to types, among which"},
		{"recursion", []*bindings.Occurrence{define("a/x().", 0, 5), refer("a/x().", 1, 0)}, "a.x>a.x 1", "", ""},
		{"no ranges", []*bindings.Occurrence{f, define("a/x().", 0, 0), refer("a/f().", 1, 0)}, "", "", "what functions call: tool 1 does not write where any of the 2 functions and methods ends"},
		{"imports and forward declarations", []*bindings.Occurrence{f, define("a/x().", 0, 9), imported, forward}, "", "", ""},
		{"other code", []*bindings.Occurrence{define("a/x().", 0, 9), {Symbol: "tool npm other 2 b/f().", Range: []int32{1, 0, 3}}, {Symbol: "tool npm other 2 b/T#", Range: []int32{1, 0, 3}}},
			"", "", "1 references to functions that the index does not declare"},
		{"a name that is not valid", []*bindings.Occurrence{define("a/x().", 0, 9), {Symbol: "tool npm shop 1.0 `a", Range: []int32{1, 0, 3}, SymbolRoles: 1}},
			"", "", `1 occurrences of symbols whose name is not valid: x.scip: document "a.ts", at byte 83: "tool npm shop 1.0 `},
		{"no module", []*bindings.Occurrence{{Symbol: "cxx . . $ ns/f().", Range: []int32{1, 0, 3}, SymbolRoles: 1, EnclosingRange: []int32{1, 0, 9, 0}}, {Symbol: "cxx . . $ ns/f().", Range: []int32{2, 0, 3}}},
			"ns.f>ns.f 1", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(t.Context(), "x.scip", encode(t, document("a.ts", tt.occurrences...)), scip.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if calls := edges(got.Calls); calls != tt.calls {
				t.Errorf("calls: found %q, want %q", calls, tt.calls)
			}
			if refers := edges(got.Refers); refers != tt.refers {
				t.Errorf("references: found %q, want %q", refers, tt.refers)
			}
			gaps := strings.Join(got.Modules[len(got.Modules)-1].NotCovered, "\n")
			if !strings.Contains(gaps, tt.notCovered) {
				t.Errorf("found %q, want %q in it", gaps, tt.notCovered)
			}
		})
	}
}

// TestSeveralDocuments reads references from one document to another, and a file in two parts.
func TestSeveralDocuments(t *testing.T) {
	part := document("b.ts", define("b/x().", 0, 9), refer("a/f().", 1, 0))
	part.Text = "one\ntwo\nthree"
	g, err := read(t.Context(), "x.scip", encode(t, part, document("a.ts", define("a/f().", 3, 5)), document("b.ts", define("b/y().", 10, 19), refer("a/f().", 11, 0))), scip.Options{Prefix: "web"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := edges(g.Calls), "b.x>a.f 1, b.y>a.f 1"; got != want {
		t.Errorf("calls: found %q, want %q", got, want)
	}
	if want := []codegraph.Link{{From: "shop/b", To: "shop/a"}}; !slices.Equal(g.Imports, want) {
		t.Errorf("imports: found %v, want %v", g.Imports, want)
	}
	if want := []codegraph.File{{Path: "web/a.ts", Lines: 6}, {Path: "web/b.ts", Lines: 20}}; !slices.Equal(g.Files, want) {
		t.Errorf("files: found %v, want %v", g.Files, want)
	}
}

// TestOutside reads an index with documents that are not below the root of the project, which is /home/shop.
func TestOutside(t *testing.T) {
	inside := []*bindings.Document{document("a.ts", define("a/x().", 0, 9), refer("c/f().", 1, 0)), document("./b/../b.ts", define("b/y().", 0, 9)), document("/home/shop/sub/c.ts", define("sub/z().", 0, 9))}
	for _, name := range []string{"../../.cache/go-build/ab/abcd-d", "..", "a/../../b.ts", "/etc/passwd", "/home/shopping/x.ts", `..\x.ts`, "C:/x.ts", `C:\x.ts`, "."} {
		documents := append([]*bindings.Document{document(name, define("c/f().", 0, 9))}, inside...)
		g, err := read(t.Context(), "x.scip", encode(t, documents...), scip.Options{Lines: func(path string) (int, bool) {
			if !filepath.IsLocal(path) {
				t.Errorf("the lines of %s are counted", path)
			}
			return 0, false
		}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want := []codegraph.File{{Path: "a.ts", Lines: 10}, {Path: "b.ts", Lines: 10}, {Path: "sub/c.ts", Lines: 10}}; !slices.Equal(g.Files, want) {
			t.Errorf("%s: found the files %v, want %v", name, g.Files, want)
		}
		if len(g.Symbols) != 3 {
			t.Errorf("%s: found the symbols %v", name, g.Symbols)
		}
		gaps := strings.Join(g.Modules[0].NotCovered, "\n")
		for _, want := range []string{fmt.Sprintf("1 documents outside of the project's root, such as %q", name), "1 references to functions that the index does not declare"} {
			if !strings.Contains(gaps, want) {
				t.Errorf("%s: found %q, want %q in it", name, gaps, want)
			}
		}
	}
}

// TestGoNames reads names as scip-go writes them. The paths are those that package gocode gives.
func TestGoNames(t *testing.T) {
	const main, std = "scip-go gomod example.com/x . ", "scip-go gomod github.com/golang/go/src go1.26 "
	o := func(symbol string, line int32, defines bool) *bindings.Occurrence {
		out := &bindings.Occurrence{Symbol: symbol, Range: []int32{line, 0, 3}}
		if defines {
			out.SymbolRoles, out.EnclosingRange = int32(bindings.SymbolRole_Definition), []int32{line, 0, line + 1, 0}
		}
		return out
	}
	g, err := read(t.Context(), "x.scip", encode(t,
		document("a.go", o(main+"`example.com/x`/", 0, true), o(main+"`example.com/x`/Foo().", 1, true), o(main+"`example.com/x`/T#", 3, true), o(main+"`example.com/x`/T#M().", 5, true), o(main+"`example.com/x/sub`/Foo().", 5, false)),
		document("sub/a.go", o(main+"`example.com/x/sub`/Foo().", 1, true), o(std+"`net/http`/Get().", 1, false), o(std+"fmt/Println().", 1, false)),
		document("a_test.go", o(main+"`example.com/x_test`/TestFoo().", 1, true)),
	), scip.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var symbols, packages, modules []string
	for _, s := range g.Symbols {
		symbols = append(symbols, s.Path)
	}
	for _, p := range g.Packages {
		packages = append(packages, p.Path+"="+p.Name)
	}
	for _, m := range g.Modules {
		modules = append(modules, m.Path+"@"+m.Version)
	}
	for _, tt := range []struct{ got, want string }{
		{strings.Join(symbols, " "), "example.com/x.Foo example.com/x.T example.com/x.T.M example.com/x/sub.Foo example.com/x_test.TestFoo"},
		{strings.Join(packages, " "), "example.com/x=x example.com/x/sub=sub example.com/x_test=x_test fmt=fmt net/http=http"},
		{strings.Join(modules, " "), "example.com/x@ github.com/golang/go/src@go1.26"},
		{edges(g.Calls), "example.com/x.T.M>example.com/x/sub.Foo 1"},
	} {
		if tt.got != tt.want {
			t.Errorf("found %s, want %s", tt.got, tt.want)
		}
	}
}

// TestSharedPaths reads symbols whose paths in the graph would be equal.
func TestSharedPaths(t *testing.T) {
	occurrences := []*bindings.Occurrence{define("a/X.", 1, 0), define("a/X().", 2, 0), define("a/X#", 3, 0), define("`a.X`/y().", 4, 0), define("a/X#y().", 5, 0), define("a/X().y().", 6, 0)}
	var first string
	for range 2 {
		g, err := read(t.Context(), "x.scip", encode(t, document("a.ts", occurrences...)), scip.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, s := range g.Symbols {
			paths = append(paths, fmt.Sprintf("%s:%d", s.Path, s.Line))
		}
		got := strings.Join(paths, " ")
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("found %s, want %s: the paths depend on the order of the symbols", got, first)
		}
		slices.Reverse(occurrences)
	}
	if want := "shop/a.X:4 shop/a.X(func):3 shop/a.X(var):2 shop/a.X.y:5 shop/a.X.y(func):7 shop/a.X.y(method):6"; first != want {
		t.Errorf("found %s, want %s", first, want)
	}
}

// TestSymbols reads what indexes of several languages say about symbols.
func TestSymbols(t *testing.T) {
	for _, tt := range []struct {
		language string
		info     *bindings.SymbolInformation
		want     string // empty if the graph has no such symbol
	}{
		{"TypeScript", &bindings.SymbolInformation{Symbol: "ts npm shop 1 src/`a.ts`/I#", Documentation: []string{"```ts\ninterface I<T>\n```", "Doc.", "More."}},
			`shop/src/a.ts.I I interface true "interface I<T>" "Doc.\n\nMore."`},
		{"TypeScript", &bindings.SymbolInformation{Symbol: "ts npm shop 1 src/`a.ts`/C#go.", Documentation: []string{"```ts\n(property) go: <T>(x: T) => void\n```"}},
			`shop/src/a.ts.C.go go method true "(property) go: <T>(x: T) => void" ""`},
		{"TypeScript", &bindings.SymbolInformation{Symbol: "ts npm shop 1 src/`a.ts`/C#size.", Documentation: []string{"```ts\n(property) size: number\n```"}}, ""},
		{"TypeScript", &bindings.SymbolInformation{Symbol: "ts npm shop 1 src/`a.ts`/f().(x)"}, ""},
		{"TypeScript", &bindings.SymbolInformation{Symbol: "ts npm shop 1 src/`a.ts`/C#[T]"}, ""},
		{"Java", &bindings.SymbolInformation{Symbol: "semanticdb maven com.example/shop 2 com/example/Shop#find(+1).", Kind: bindings.SymbolInformation_Method, SignatureDocumentation: &bindings.Signature{Text: "private static int find(String name)"}, Documentation: []string{"Finds."}},
			`com.example/shop/com/example.Shop.find(+1) find method false "private static int find(String name)" "Finds."`},
		{"Java", &bindings.SymbolInformation{Symbol: "semanticdb maven com.example/shop 2 com/example/Shop#size.", Kind: bindings.SymbolInformation_Field}, ""},
		{"Java", &bindings.SymbolInformation{Symbol: "semanticdb maven com.example/shop 2 com/example/Color#RED.", Kind: bindings.SymbolInformation_EnumMember},
			`com.example/shop/com/example.Color.RED RED const true "" ""`},
		{"Rust", &bindings.SymbolInformation{Symbol: "rust-analyzer cargo shop 0.1 stock/impl#[Shelf][Finder]find().", Kind: bindings.SymbolInformation_Method, SignatureDocumentation: &bindings.Signature{Text: "fn find(&self)"}},
			`shop/stock.impl[Shelf][Finder].find find method false "fn find(&self)" ""`},
		{"Rust", &bindings.SymbolInformation{Symbol: "rust-analyzer cargo shop 0.1 stock/Finder#", Kind: bindings.SymbolInformation_Trait, SignatureDocumentation: &bindings.Signature{Text: "pub(crate) trait Finder"}},
			`shop/stock.Finder Finder interface true "pub(crate) trait Finder" ""`},
		{"Rust", &bindings.SymbolInformation{Symbol: "rust-analyzer cargo shop 0.1 macros/log!", Kind: bindings.SymbolInformation_Macro}, `shop/macros.log log func true "" ""`},
		{"CPP", &bindings.SymbolInformation{Symbol: "cxx . . $ ns/find(49f6e7a06ebc5aa8).", Kind: bindings.SymbolInformation_Function}, `home/ns.find(49f6e7a06ebc5aa8) find func true "" ""`},
		{"Ruby", &bindings.SymbolInformation{Symbol: "scip-ruby gem shop 1 Shop#find()."}, `shop.Shop.find find method true "" ""`},
		{"Python", &bindings.SymbolInformation{Symbol: "scip-python python shop 1 `shop.stock`/_Hidden#find().", Documentation: []string{"```python\ndef find(self) -> int:\n```"}},
			`shop.stock._Hidden.find find method false "def find(self) -> int:" ""`},
		{"Python", &bindings.SymbolInformation{Symbol: "scip-python python shop 1 `shops`/f()."}, `shop/shops.f f func true "" ""`},
	} {
		d := &bindings.Document{RelativePath: "a", Language: tt.language, Symbols: []*bindings.SymbolInformation{tt.info}, Occurrences: []*bindings.Occurrence{{Symbol: tt.info.Symbol, Range: []int32{1, 2, 3}, SymbolRoles: 1}}}
		content, err := proto.Marshal(&bindings.Index{Metadata: &bindings.Metadata{ProjectRoot: "file:///home"}, Documents: []*bindings.Document{d}})
		if err != nil {
			t.Fatal(err)
		}
		g, err := read(t.Context(), "x.scip", content, scip.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, s := range g.Symbols {
			got += fmt.Sprintf("%s %s %s %v %q %q", s.Path, s.Name, s.Kind, s.Exported, s.Signature, s.Doc)
		}
		if got != tt.want {
			t.Errorf("%s: found %s, want %s", tt.info.Symbol, got, tt.want)
		}
	}
}

// TestOptions sets the module, and reads implementations and packages.
func TestOptions(t *testing.T) {
	d := document("a.ts", define("a/I#", 0, 9), define("a/C#", 10, 19), define("a/", 0, 0))
	d.Symbols = []*bindings.SymbolInformation{
		{Symbol: prefix + "a/C#", Relationships: []*bindings.Relationship{
			{Symbol: prefix + "a/I#", IsImplementation: true}, {Symbol: prefix + "a/C#", IsImplementation: true},
			{Symbol: "tool npm other 2 b/J#", IsImplementation: true}, {Symbol: prefix + "a/I#", IsTypeDefinition: true},
		}},
		{Symbol: prefix + "a/", Documentation: []string{"```ts\nmodule \"a\"\n```", "About a."}},
	}
	d.Occurrences = append(d.Occurrences, &bindings.Occurrence{Symbol: "cxx . . $ f().", Range: []int32{20, 0, 3}, SymbolRoles: 1})
	g, err := read(t.Context(), "x.scip", encode(t, d), scip.Options{Module: "mine", Commit: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []codegraph.Link{{From: "shop/a.C", To: "shop/a.I"}}; !slices.Equal(g.Satisfies, want) {
		t.Errorf("found %v, want %v", g.Satisfies, want)
	}
	if len(g.Packages) != 2 || g.Packages[1].Path != "shop/a" || g.Packages[1].Doc != "About a." || g.Packages[0].Path != "mine" {
		t.Errorf("packages: %+v", g.Packages)
	}
	for _, m := range g.Modules {
		if !m.Main || m.Commit != "abc" || m.Modified != nil || m.Indexer != "tool 1" {
			t.Errorf("module %+v", m)
		}
		if gaps := strings.Join(m.NotCovered, "\n"); !strings.Contains(gaps, "1 supertypes") || strings.Contains(gaps, "commit") {
			t.Errorf("not covered: %s", gaps)
		}
	}
}

// TestFaults reads files that are not valid. Each error names the file, the byte and, if there is one, the
// document.
func TestFaults(t *testing.T) {
	good := encode(t, document("src/a.ts", define("a/f().", 1, 2)))
	field := func(number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	metadata := field(1, nil)
	with := func(d *bindings.Document) []byte { return encode(t, d) }
	path := field(1, []byte("a.ts"))
	backwards := refer("a/f().", 5, 0)
	backwards.Range = []int32{5, 9, 3}
	open := define("a/f().", 5, 9)
	open.EnclosingRange = []int32{9, 0, 1, 0}
	for _, tt := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"empty", nil, "x.scip: the index has no metadata"},
		{"text", []byte("package main\n"), "x.scip: at byte 2: field 12 has wire type 3"},
		{"JSON", []byte(`{"metadata": {}}`), "x.scip: at byte 0: field 15 has wire type 3"},
		{"no documents", metadata, "x.scip: the index has no documents below the root"},
		{"cut", good[:len(good)-3], "bytes, but the file has only"},
		{"cut in a length", append(slices.Clone(metadata), 0x12, 0xff), "x.scip: at byte 2: the file ends in a field"},
		{"no number", []byte{0x02, 0x00}, "x.scip: at byte 0: this is no field of a SCIP index"},
		{"a document that is a number", append(slices.Clone(metadata), 0x10, 0x01), "x.scip: at byte 2: field 2 has wire type 0"},
		{"metadata", field(1, []byte{0xff}), "x.scip: at byte 2: the metadata cannot be read"},
		{"document before metadata", append(field(2, path), metadata...), `x.scip: document "a.ts", at byte 2: the document comes before the metadata`},
		{"part of a document", append(slices.Clone(metadata), field(2, append(slices.Clone(path), 0x12, 0x20))...), `x.scip: document "a.ts", at byte 10: field 2 of the document is not complete`},
		{"occurrence", append(slices.Clone(metadata), field(2, append(slices.Clone(path), field(2, []byte{0xff})...))...), `x.scip: document "a.ts", at byte 12: an occurrence cannot be read`},
		{"symbol", append(slices.Clone(metadata), field(2, append(slices.Clone(path), field(3, []byte{0xff})...))...), `x.scip: document "a.ts", at byte 12: the information about a symbol cannot be read`},
		{"no path", with(document("")), `document "", at byte `},
		{"no document below the root", with(document("/etc/passwd")), "the index has no documents below the root of the project"},
		{"no path", with(document("")), "the document has no path"},
		{"path that is not UTF-8", append(slices.Clone(metadata), field(2, field(1, []byte{0xff}))...), "must be UTF-8"},
		{"no range", with(document("a.ts", &bindings.Occurrence{Symbol: prefix + "a/f().", Range: []int32{1}})), `document "a.ts", at byte `},
		{"range that ends before it starts", with(document("a.ts", backwards)), "the range of an occurrence of \"tool npm shop 1.0 a/f().\" is not valid"},
		{"enclosing range", with(document("a.ts", open)), "the enclosing range of an occurrence"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read(t.Context(), "x.scip", tt.content, scip.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("found %v, want %q in it", err, tt.want)
			}
		})
	}
}

// zeros is a file of zeros after a head.
type zeros struct{ head []byte }

func (z zeros) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(z.head)) {
		copy(p, z.head[off:])
	}
	return len(p), nil
}

var _ io.ReaderAt = zeros{}

// TestLargeDocument reads a file whose document is larger than the reader accepts.
func TestLargeDocument(t *testing.T) {
	head := protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.BytesType), 1<<40)
	_, err := scip.Read(t.Context(), "x.scip", zeros{head}, 1<<41, scip.Options{})
	if err == nil || !strings.Contains(err.Error(), "x.scip: at byte 0: field 2 has 1099511627776 bytes, and a document may have 268435456 at most") {
		t.Errorf("found %v", err)
	}
}

// TestUnknownFields skips fields of later versions of the format.
func TestUnknownFields(t *testing.T) {
	content := encode(t, document("a.ts", define("a/f().", 1, 2)))
	content = protowire.AppendBytes(protowire.AppendTag(content, 3, protowire.BytesType), []byte{0xff, 0xff})
	content = protowire.AppendVarint(protowire.AppendTag(content, 99, protowire.VarintType), 1<<40)
	content = protowire.AppendFixed32(protowire.AppendTag(content, 100, protowire.Fixed32Type), 7)
	content = protowire.AppendFixed64(protowire.AppendTag(content, 101, protowire.Fixed64Type), 7)
	g, err := read(t.Context(), "x.scip", content, scip.Options{})
	if err != nil || len(g.Symbols) != 1 {
		t.Errorf("found %v, %v", g, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(ctx, "x.scip", encode(t, document("a.ts")), scip.Options{}); err != context.Canceled {
		t.Errorf("found %v", err)
	}
}

// FuzzRead reads any bytes as an index. What it reads without an error must be a graph without dangling
// edges or double keys.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"shop-ts", "shop-py"} {
		content, err := os.ReadFile("testdata/" + name + ".scip")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add(encode(f, document("a.ts", define("a/X.", 1, 0), define("a/X().", 2, 9), define("a/X#", 3, 0), refer("a/X#", 3, 5))))
	f.Fuzz(func(t *testing.T, content []byte) {
		g, err := read(t.Context(), "x.scip", content, scip.Options{})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.scip: ") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		checkGraph(t, g)
	})
}

// checkGraph fails the test if a load would refuse the graph.
func checkGraph(t *testing.T, g *codegraph.Graph) {
	modules, packages, files, symbols := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	add := func(keys map[string]bool, key string) {
		if keys[key] || key == "" {
			t.Errorf("the key %q is empty or occurs twice", key)
		}
		keys[key] = true
	}
	for _, m := range g.Modules {
		add(modules, m.Path)
	}
	for _, p := range g.Packages {
		add(packages, p.Path)
	}
	for _, file := range g.Files {
		add(files, file.Path)
	}
	for _, s := range g.Symbols {
		add(symbols, s.Path)
	}
	check := func(what string, from, to map[string]bool, links ...codegraph.Link) {
		for i, l := range links {
			if !from[l.From] || !to[l.To] || i > 0 && links[i-1] == l {
				t.Errorf("%s: %v joins nodes that do not exist, or occurs twice", what, l)
			}
		}
	}
	counted := func(list []codegraph.Counted) (links []codegraph.Link) {
		for _, c := range list {
			links = append(links, c.Link)
		}
		return links
	}
	for _, r := range g.Requires {
		check("requires", modules, modules, r.Link)
	}
	check("provides", modules, packages, g.Provides...)
	check("imports", packages, packages, g.Imports...)
	check("declares", files, symbols, g.Declares...)
	check("holds", packages, symbols, g.Holds...)
	check("calls", symbols, symbols, counted(g.Calls)...)
	check("refers", symbols, symbols, counted(g.Refers)...)
	check("satisfies", symbols, symbols, g.Satisfies...)
}
