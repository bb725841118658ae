package codegen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/codegen/internal/golang"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// corpusDir is the folder where the package generated from the corpus is committed and tested.
const corpusDir = "../generated/internal/corpus"

func corpus(t *testing.T) codegen.Graph {
	t.Helper()
	source := func(name string) gq.Source {
		b, err := os.ReadFile(filepath.FromSlash("testdata/corpus/" + name))
		if err != nil {
			t.Fatal(err)
		}
		return gq.Source{Name: "codegen/testdata/corpus/" + name, Text: string(b)}
	}
	return codegen.Graph{
		Name: "corpus", Schema: source("schema.pg"), Queries: []gq.Source{source("reads.gq"), source("writes.gq"), source("expressions.gq"), source("optional.gq"), source("columns.gq"), source("having.gq"), source("walks.gq"), source("interfaces.gq"), source("mutations.gq"), source("subqueries.gq"), source("ends.gq"), source("callers.gq")},
	}
}

func generate(t *testing.T, g codegen.Graph) codegen.Files {
	t.Helper()
	return output(t, g).Package
}

func output(t *testing.T, g codegen.Graph) *codegen.Output {
	t.Helper()
	out, diags, err := codegen.Generate(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCorpus(t *testing.T) {
	out := output(t, corpus(t))
	golden.Check(t, "testdata/corpus/tools.md", out.Reference)
	files := out.Package
	for _, name := range files.Names() {
		golden.Check(t, filepath.Join(corpusDir, name), files[name])
	}
	stale, err := files.Stale(corpusDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(stale) > 0 {
		t.Errorf("stale in %s: %s", corpusDir, strings.Join(stale, ", "))
	}
}

// TestLanguages prints the modules of the corpus, and those of names and texts that mean something in the languages. make
// test-packed compiles them.
func TestLanguages(t *testing.T) {
	text := func(name string) gq.Source {
		b, err := os.ReadFile("testdata/languages/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return gq.Source{Name: name, Text: string(b)}
	}
	for _, g := range []codegen.Graph{corpus(t), {Name: "names", Schema: text("schema.pg"), Queries: []gq.Source{text("names.gq")}}} {
		g.Languages = []codegen.Language{codegen.TypeScript, codegen.Python}
		files := generate(t, g)
		delete(files, codegen.ContractFile)
		if names := files.Names(); !slices.Equal(names, []string{g.Name + ".py", g.Name + ".ts"}) {
			t.Errorf("graph %s has the files %s", g.Name, names)
		}
		for name, text := range files {
			golden.Check(t, "testdata/languages/"+name, text)
		}
	}
}

// TestCorpusIsWhole checks that the corpus has every type of parameter and column, nullable and
// not, and every kind of clause and statement, so that no generated form is untested.
func TestCorpusIsWhole(t *testing.T) {
	out := output(t, corpus(t))
	var c codegen.Contract
	if err := json.Unmarshal(out.Package[codegen.ContractFile], &c); err != nil {
		t.Fatal(err)
	}
	params, columns := map[string]bool{}, map[string]bool{}
	note := func(to map[string]bool, typ string) {
		if strings.HasPrefix(typ, "enum(") {
			typ = "enum" + typ[strings.LastIndexByte(typ, ')')+1:]
		}
		to[typ] = true
	}
	for _, q := range c.Queries {
		for _, p := range q.Params {
			if p.Optional {
				p.Type += "?"
			}
			note(params, p.Type)
		}
		for _, col := range q.Columns {
			note(columns, col.Type)
			if col.Node != "" {
				columns["node"] = true
			}
		}
	}
	kinds := []string{"enum", "Vector(3)"}
	for _, k := range []string{"String", "Bool", "I32", "I64", "U32", "U64", "F32", "F64", "Date", "DateTime"} {
		kinds = append(kinds, k, "["+k+"]")
	}
	for _, k := range kinds {
		for _, typ := range []string{k, k + "?"} {
			if !params[typ] {
				t.Errorf("the corpus has no parameter of type %s", typ)
			}
			if !columns[typ] {
				t.Errorf("the corpus has no column of type %s", typ)
			}
		}
	}
	if !params["Blob"] || !params["Blob?"] || !columns["node"] {
		t.Error("the corpus has no parameter of type Blob, none of Blob?, or no whole node")
	}
	schema, diags := gq.CompileSchema(corpus(t).Schema)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	queries, diags := gq.CompileQueries(schema, corpus(t).Queries...)
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, q := range queries {
		parts(reflect.ValueOf(q.Plan), found)
	}
	for _, want := range []string{
		"Bind", "Traverse", "Traverse.EdgeVar=1", "Traverse.Undirected=true", "Filter", "Not", "Compare", "TextMatch",
		"Lit", "ParamRef", "Prop", "ID", "Endpoint", "Whole", "Now", "Agg", "Matched", "BM25", "Nearest", "RRF",
		"Agg.Func=count", "Agg.Func=sum", "Agg.Func=avg", "Agg.Func=min", "Agg.Func=max",
		"Insert.Entity=node", "Insert.Entity=edge", "Update", "Delete.Entity=node", "Delete.Entity=edge",
	} {
		if !found[want] {
			t.Errorf("the corpus makes no %s", want)
		}
	}
}

// parts adds the names of the struct types in v, and the name of each of their fields with its
// value.
func parts(v reflect.Value, found map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			parts(v.Elem(), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			parts(v.Index(i), found)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[value.Value]() || v.Type() == reflect.TypeFor[value.Pattern]() {
			return
		}
		found[v.Type().Name()] = true
		for f, field := range v.Fields() {
			if k := field.Kind(); k <= reflect.Float64 {
				found[v.Type().Name()+"."+f.Name+"="+fmt.Sprint(field.Interface())] = true
			}
			parts(field, found)
		}
	}
}

func TestGenerateTwice(t *testing.T) {
	first, second := generate(t, corpus(t)), generate(t, corpus(t))
	if !maps.EqualFunc(first, second, bytes.Equal) {
		t.Error("the same sources were generated into different files")
	}
}

// TestEditTouchesItsOwn moves a query down by a few lines and changes another query. The
// declarations of all other queries must stay the same.
func TestEditTouchesItsOwn(t *testing.T) {
	before := corpus(t)
	after := corpus(t)
	after.Queries[0].Text = "// A remark.\n\n" + strings.Replace(after.Queries[0].Text, "query walk($slug: String)", "query walk($who: String)", 1)
	after.Queries[0].Text = strings.Replace(after.Queries[0].Text, "slug: $slug }", "slug: $who }", 1)
	a, b := generate(t, before), generate(t, after)
	if !bytes.Equal(a["writes_gq.go"], b["writes_gq.go"]) || !bytes.Equal(a["types.go"], b["types.go"]) {
		t.Error("an edit of reads.gq changed the declarations of other files")
	}
	changed := 0
	was, is := declarations(a["reads_gq.go"]), declarations(b["reads_gq.go"])
	if !slices.Equal(slices.Sorted(maps.Keys(was)), slices.Sorted(maps.Keys(is))) {
		t.Fatal("the edit changed which names are declared")
	}
	for name, text := range was {
		if is[name] != text {
			changed++
			if !strings.Contains(strings.ToLower(name), "walk") {
				t.Errorf("an edit of the query walk changed %s", name)
			}
		}
	}
	if changed == 0 {
		t.Error("the edit changed nothing")
	}
}

// TestEveryEditTouchesItsOwn adds a parameter to each query in turn, without moving it, and
// compares all declarations of the package and all queries of the contract. Only the declarations and the
// entry of that query may change.
func TestEveryEditTouchesItsOwn(t *testing.T) {
	before := output(t, corpus(t))
	was := map[string]string{}
	for name, src := range before.Package {
		if name != codegen.ContractFile {
			maps.Copy(was, declarations(src))
		}
	}
	if len(was) < 2*len(before.Lines) {
		t.Fatalf("found %d declarations of %d queries, which are too few", len(was), len(before.Lines))
	}
	entries := func(files codegen.Files) map[string]string {
		var c struct{ Queries []json.RawMessage }
		if err := json.Unmarshal(files[codegen.ContractFile], &c); err != nil {
			t.Fatal(err)
		}
		byName := map[string]string{}
		for _, text := range c.Queries {
			var q codegen.ContractQuery
			if err := json.Unmarshal(text, &q); err != nil {
				t.Fatal(err)
			}
			byName[q.Name] = string(text)
		}
		return byName
	}
	had := entries(before.Package)
	for query := range before.Lines {
		g := corpus(t)
		for i := range g.Queries {
			g.Queries[i].Text = strings.NewReplacer("query "+query+"()", "\nquery "+query+"($more: I32?)", "query "+query+"(", "\nquery "+query+"($more: I32?, ").Replace(g.Queries[i].Text)
		}
		is := map[string]string{}
		after := generate(t, g)
		for name, text := range entries(after) {
			if (text != had[name]) != (name == query) {
				t.Errorf("the edit of %s left its entry in the contract, or changed that of %s", query, name)
			}
		}
		for name, src := range after {
			if name != codegen.ContractFile {
				maps.Copy(is, declarations(src))
			}
		}
		if len(is) != len(was) {
			t.Errorf("the edit of %s changed which names are declared", query)
		}
		stem, changed := strings.ToLower(model.GoName(query)), 0
		for name, text := range was {
			if is[name] == text {
				continue
			}
			changed++
			if !strings.Contains(strings.ToLower(name), stem) {
				t.Errorf("the edit of %s changed %s", query, name)
			}
		}
		if changed == 0 {
			t.Errorf("the edit of %s changed no declaration", query)
		}
	}
}

// declarations returns the top-level declarations of a Go file by name, each with its comments.
func declarations(src []byte) map[string]string {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	decls := map[string]string{}
	last := fset.Position(f.Name.End()).Offset
	for _, d := range f.Decls {
		end := fset.Position(d.End()).Offset
		text := string(src[last:end])
		last = end
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				typ := d.Recv.List[0].Type
				if p, ok := typ.(*ast.StarExpr); ok {
					typ = p.X
				}
				name = typ.(*ast.Ident).Name + "." + name
			}
			decls[name] = text
		case *ast.GenDecl:
			switch s := d.Specs[0].(type) {
			case *ast.TypeSpec:
				decls[s.Name.Name] = text
			case *ast.ValueSpec:
				decls[s.Names[0].Name] = text
			}
		}
	}
	return decls
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "generated", "corpus")
	files := generate(t, corpus(t))
	changed, err := files.Write(dir, codegen.Delete)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(changed, files.Names()) {
		t.Errorf("wrote %v, expected %v", changed, files.Names())
	}
	if changed, err = files.Write(dir, codegen.Delete); err != nil || len(changed) != 0 {
		t.Errorf("writing again changed %v, %v", changed, err)
	}
	mine, theirs := filepath.Join(dir, "gone_gq.go"), filepath.Join(dir, "extra.go")
	os.WriteFile(mine, []byte(golang.Header+"\n\npackage corpus\n"), 0o644)
	os.WriteFile(theirs, []byte("package corpus\n"), 0o644)
	os.WriteFile(filepath.Join(dir, "types.go"), []byte("x"), 0o644)
	if changed, err = files.Write(dir, codegen.Delete); err != nil || !slices.Equal(changed, []string{"gone_gq.go", "types.go"}) {
		t.Errorf("found %v, %v changed, expected gone_gq.go and types.go", changed, err)
	}
	if _, err := os.Stat(mine); err == nil {
		t.Error("the generated file of a removed query still exists")
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Error("a file that was not generated was removed")
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != len(files)+1 {
		t.Errorf("found %d files, expected %d: something was left behind", len(entries), len(files)+1)
	}
}

// TestWriteEmpties checks that [codegen.Empty] leaves a file that go generate can open and that no
// build includes, and that the next Write deletes it.
func TestWriteEmpties(t *testing.T) {
	dir := t.TempDir()
	files := codegen.Files{"catalog.go": []byte(golang.Header + "\n\npackage corpus\n")}
	gone := filepath.Join(dir, "gone_gq.go")
	os.WriteFile(gone, []byte(golang.Header+"\n\npackage corpus\n\nvar x int = \"fault\"\n"), 0o644)
	changed, err := files.Write(dir, codegen.Empty)
	if err != nil || !slices.Equal(changed, []string{"catalog.go", "gone_gq.go"}) {
		t.Fatalf("changed %v, %v", changed, err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), gone, nil, parser.ParseComments)
	if err != nil || f.Name.Name != "corpus" || len(f.Decls) != 0 {
		t.Fatalf("the emptied file does not parse, or it is not empty: %v", err)
	}
	if ok, err := build.Default.MatchFile(dir, "gone_gq.go"); err != nil || ok {
		t.Errorf("a build includes the emptied file: %v, %v", ok, err)
	}
	if stale, err := files.Stale(dir); err != nil || len(stale) != 0 {
		t.Errorf("stale: %v, %v", stale, err)
	}
	if changed, err := files.Write(dir, codegen.Empty); err != nil || !slices.Equal(changed, []string{"gone_gq.go"}) {
		t.Errorf("the second Write changed %v, %v", changed, err)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the emptied file still exists")
	}
}

func TestSelected(t *testing.T) {
	g := corpus(t)
	g.Selected = map[string]string{"groups": g.Queries[0].Name}
	files := generate(t, g)
	if _, ok := files["writes_gq.go"]; ok || bytes.Contains(files["reads_gq.go"], []byte("walk")) {
		t.Error("queries were generated that were not selected")
	}
	g.Selected["grups"] = g.Queries[0].Name
	if _, diags, err := codegen.Generate(g); err != nil || len(diags) != 1 || diags[0].Code != "G8" {
		t.Errorf("found %v, %v, expected one G8", diags, err)
	}
}
