package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// exampleSchema is the schema that the examples of queries use.
var exampleSchema = compile.Source{Name: "schema.pg", Text: check.ExampleSchema}

// generationSchema is the schema for the examples of the G codes.
const generationSchema = "node Person { slug: String @key  first_name: String  firstName: String?  age: I32?  @range(age, 0..150) }\n"

// longNested is nested deeper than a configuration file may be.
var longNested = "graphs: " + strings.Repeat("[", strictyaml.MaxDepth+1) + "\n"

// moreExamples are the examples that need several files, or a file that is not a source. The file
// to read comes first.
var moreExamples = map[diag.Code]string{
	model.FileCollides: "-- a-b.gq --\nquery one($slug: String) { match { $p: Person { slug: $slug } } return { $p.slug } }\n" +
		"-- a_b.gq --\nquery two($slug: String) { match { $p: Person { slug: $slug } } return { $p.slug } }\n",
	model.NoSuchQuery: "-- a.gq --\nquery one($slug: String) { match { $p: Person { slug: $slug } } return { $p.slug } }\n" +
		"-- selected --\ntwo: a.gq\n",
	model.PackageCollides: "-- cluster.yaml --\nversion: 1\nstorage: ./data\ngraphs:\n  a-b: { schema: schema.pg, queries: queries/ }\n  ab: { schema: schema.pg, queries: queries/ }\n",

	strictyaml.Syntax:      "version: 1\nstorage: ./data\ngraphs: &all {}\n",
	strictyaml.UnknownKey:  "version: 1\nstorage: ./data\ngraphs:\n  people:\n    shema: schema.pg\n    queries: queries/\n",
	strictyaml.WrongType:   "version: 1\nstorage: 3\ngraphs:\n  people: { schema: schema.pg, queries: queries/ }\n",
	strictyaml.Missing:     "version: 1\ngraphs:\n  people: { schema: schema.pg, queries: queries/ }\n",
	strictyaml.Duplicate:   "version: 1\nstorage: ./data\nstorage: ./other\ngraphs:\n  people: { schema: schema.pg, queries: queries/ }\n",
	strictyaml.UnknownName: "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg, queries: queries/ }\npolicies:\n  base: { file: policy.yaml, applies_to: [poeple] }\n",
	strictyaml.BadValue:    "version: 2\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg, queries: queries/ }\n",
	strictyaml.MissingFile: "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: scheme.pg, queries: queries/ }\n",
	strictyaml.ClearSecret: "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg, queries: queries/ }\nproviders:\n  embedding:\n    mine: { kind: gemini, base_url: \"https://example.org\", model: m, api_key: hunter2 }\n",
	strictyaml.Unsupported: "version: 1\nstorage: { url: 'azblob://bucket/data', cache: ./cache }\ngraphs:\n  people: { schema: schema.pg, queries: queries/ }\n",
	strictyaml.Contradicts: "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg, queries: queries/ }\npolicies:\n  one: { file: policy.yaml, applies_to: [people] }\n  two: { file: policy.yaml, applies_to: [people] }\n",
	strictyaml.Accepted:    "version: 1\nstorage: ./data\nstate: {}\ngraphs:\n  people: { schema: schema.pg, queries: queries/ }\n",
	strictyaml.TooLarge:    longNested,
}

// configTitles are the titles of the diagnostic codes that begin with C.
var configTitles = map[diag.Code]string{
	strictyaml.Syntax: "bad YAML", strictyaml.UnknownKey: "unknown key", strictyaml.WrongType: "value of the wrong type",
	strictyaml.Missing: "missing key or value", strictyaml.Duplicate: "duplicate", strictyaml.UnknownName: "unknown name",
	strictyaml.BadValue: "bad value", strictyaml.MissingFile: "missing file", strictyaml.ClearSecret: "secret in plain text",
	strictyaml.Unsupported: "unsupported setting", strictyaml.Contradicts: "contradiction", strictyaml.Accepted: "setting without effect",
	strictyaml.TooLarge: "file too large", strictyaml.Undetermined: "unreadable file",
}

// The example of a diagnostic code that begins with C is a cluster.yaml in a folder; clusterFiles
// are the other files of that folder.
var clusterFiles = map[string]string{"schema.pg": goodPeople, "queries/people.gq": "", "policy.yaml": "version: 1\n"}

// goodPeople is a schema without errors.
const goodPeople = "node Person { slug: String @key }\n"

// entries returns the documentation of every code.
func entries() []diag.Entry {
	all := slices.Concat(syntax.Codes, resolve.Codes, check.Codes)
	for _, r := range lint.Rules {
		all = append(all, r.Entry)
	}
	for _, c := range model.Codes {
		all = append(all, diag.Entry{Code: c.Code, Title: c.Title, Explanation: c.Doc, Example: c.Example})
	}
	for _, c := range strictyaml.Codes() {
		all = append(all, diag.Entry{Code: c.Code, Title: configTitles[c.Code], Explanation: upperFirst(c.Purpose) + "."})
	}
	for i := range all {
		if text, ok := moreExamples[all[i].Code]; ok {
			all[i].Example = text
		}
	}
	return all
}

// example is the example of a code, ready to run.
type example struct {
	code  diag.Code         // the code of a diagnostic
	lang  string            // language of the fenced block in Markdown
	files []compile.Source  // the input of the example
	texts map[string]string // texts of the files, by file name
}

// newExample returns the example of a code with its files.
func newExample(e diag.Entry) *example {
	ex := &example{code: e.Code, lang: "gq", texts: map[string]string{}}
	switch archive := txtar.Parse([]byte(e.Example)); {
	case len(archive.Files) > 0:
		ex.lang = "text"
		for _, f := range archive.Files {
			ex.files = append(ex.files, compile.Source{Name: f.Name, Text: string(f.Data)})
		}
	case e.Code[0] == 'C':
		ex.lang = "yaml"
		ex.files = []compile.Source{{Name: clusterFile, Text: e.Example}}
	case e.Code[0] == 'S':
		ex.lang = "pg"
		ex.files = []compile.Source{{Name: exampleSchema.Name, Text: e.Example}}
	default:
		ex.files = []compile.Source{{Name: "example.gq", Text: e.Example}}
	}
	for _, f := range ex.files {
		ex.texts[f.Name] = f.Text
	}
	return ex
}

// run returns the diagnostics of the example. An idle directive, or a secret in an unsupported
// setting, cannot be shown without diagnostics of other codes. So for lint.IdleDirective and the C
// codes, run drops the diagnostics of other codes. Every other example must report only its own
// code.
func (ex *example) run() (diag.List, error) {
	list, err := ex.all()
	if ex.code[0] == 'C' || ex.code == lint.IdleDirective {
		return slices.DeleteFunc(list, func(d diag.Diagnostic) bool { return d.Code != ex.code }), err
	}
	for _, d := range list {
		if d.Code != ex.code {
			return nil, errors.New("the example reports " + diag.List{d}.Error())
		}
	}
	return list, err
}

// all returns the diagnostics of the example, including those with other codes.
func (ex *example) all() (diag.List, error) {
	switch {
	case ex.code[0] == 'S':
		_, list := compile.Schema(ex.files[0])
		return list, nil
	case ex.code[0] == 'L':
		return ex.lint(), nil
	case ex.code == model.PackageCollides:
		return ex.cluster()
	case ex.code[0] == 'G':
		return ex.generate()
	case ex.code[0] == 'C':
		return ex.cluster()
	}
	s, faults := compile.Schema(exampleSchema)
	if faults.HasErrors() {
		return nil, faults
	}
	_, list := compile.Options{}.CompileQueries(s, ex.files...)
	return list, nil
}

// lint runs the linter with only the rule of the example.
func (ex *example) lint() diag.List {
	c := compile.Catalog{Schema: exampleSchema, Whole: true, Config: lint.Only(ex.code)}
	if ex.code == lint.IdleDirective {
		c.Config.Levels = nil // the rule that the directive names must be enabled
	}
	if ex.code == lint.NoProvider {
		c.NoProvider = "people"
	}
	if ex.code == lint.OverBudget {
		c.Config.TokenBudget = 100
	}
	for _, f := range ex.files {
		if f.Name == exampleSchema.Name {
			c.Schema = f
		} else {
			c.Queries = append(c.Queries, f)
		}
	}
	c.Build = func(s *catalog.Schema, queries []*compile.Query) (*lint.ToolList, diag.List) {
		_, sizes, faults := toolSizes(model.Input{Graph: "graph", Schema: s, Source: c.Schema, Sources: c.Queries, Queries: queries}, 0, false)
		return sizes, faults
	}
	return compile.Lint(c).List
}

// generate generates a package from the example, and returns the diagnostics.
func (ex *example) generate() (diag.List, error) {
	g := codegen.Graph{Name: "people", Schema: compile.Source{Name: exampleSchema.Name, Text: generationSchema}}
	for _, f := range ex.files {
		if f.Name != "selected" {
			g.Queries = append(g.Queries, f)
			continue
		}
		g.Selected = map[string]string{}
		for line := range strings.Lines(f.Text) {
			name, file, _ := strings.Cut(strings.TrimSpace(line), ": ")
			g.Selected[name] = file
		}
	}
	_, list, err := codegen.Generate(g)
	return list, err
}

// cluster reads the example in a temporary folder.
func (ex *example) cluster() (list diag.List, err error) {
	dir, err := os.MkdirTemp("", "gq-docs-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	files := map[string]string{clusterFile: ex.files[0].Text}
	for name, text := range clusterFiles {
		files[name] = text
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	cfg, err := cluster.Read(filepath.Join(dir, clusterFile))
	if err == nil {
		list = append(cfg.Notes, onePackage(cfg, clusterFile)...)
	} else if !errors.As(err, &list) {
		return nil, err
	}
	for i := range list {
		list[i].Span.File = clusterFile
	}
	return list, nil
}
