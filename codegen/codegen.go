// Package codegen turns the schema and the stored queries of a graph into a Go package, modules of TypeScript and Python,
// and a language-neutral contract of its tools.
package codegen

import (
	"errors"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/codegen/internal/docs"
	"github.com/omnigraph-go/omnigraph/codegen/internal/golang"
	"github.com/omnigraph-go/omnigraph/codegen/internal/python"
	"github.com/omnigraph-go/omnigraph/codegen/internal/typescript"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

// Graph is the input of [Generate]. The names of sources are relative to the module and use
// slashes, because they appear in the output.
type Graph struct {
	Name    string      // name of the graph
	Schema  gq.Source   // the .pg source
	Queries []gq.Source // in the order of the catalog

	// Selected, if not nil, maps the names of the stored queries to their files. Other queries in
	// the sources are checked but not generated.
	Selected map[string]string

	// SelectedAt maps the names of Selected to their places in cluster.yaml.
	SelectedAt map[string]gq.Span

	// Claims are the claims of callers that the queries may use, as actor().NAME.
	Claims plan.Claims

	// Strict makes every key of the arguments required, for clients that do not support optional
	// keys. A key that would be optional may then be null. Decoding is the same in both cases.
	Strict bool

	// Languages are the languages of the typed part of the graph; nil means Go alone.
	Languages []Language

	// NoProvider is true if cluster.yaml names no embedding provider for the graph. The diagnostics
	// then contain a warning for each query that needs one.
	NoProvider bool
}

// Language is a programming language in which [Generate] writes the typed part of a graph.
type Language string

// The languages.
const (
	Go         Language = "go"     // a package, with the graph's part of a server
	TypeScript Language = "ts"     // a module for the package @omnigraph/client
	Python     Language = "python" // a module for the package omnigraph
)

// Languages lists all languages.
var Languages = []Language{Go, TypeScript, Python}

// Output is the result of [Generate].
type Output struct {
	Package   Files           // the files of the languages, and the contract
	Reference []byte          // the Markdown page of the tools
	Schema    *catalog.Schema // the compiled schema

	// Lines maps query names to line numbers in their files. It is separate from the generated
	// files, which must not change when a query moves.
	Lines map[string]int
}

// Files maps base names to the contents of generated files.
type Files map[string][]byte

// ReferenceDir is the folder of the page of the tools, relative to the module.
const ReferenceDir = "docs/reference/tools"

// Generate compiles the sources and returns the generated files. If the sources have faults, the
// diagnostics list all of them and there is no output. An error is a fault of the generator.
func Generate(g Graph) (*Output, gq.Faults, error) {
	pkg, schema, diags := model.Compile(model.Input{
		Graph: g.Name, Source: g.Schema, Sources: g.Queries, Selected: g.Selected, SelectedAt: g.SelectedAt, Claims: g.Claims, Strict: g.Strict, NoProvider: g.NoProvider,
	})
	if diags.HasErrors() {
		return nil, diags, nil
	}
	files := Files{}
	var promise, reference []byte
	var goErr, err error
	var work sync.WaitGroup // safe to run concurrently: each goroutine only reads the model
	if g.Languages == nil || slices.Contains(g.Languages, Go) {
		work.Go(func() { files, goErr = golang.Files(pkg) })
	}
	work.Go(func() { reference = docs.Tools(pkg, schema, "../../..") })
	work.Go(func() { promise, err = pkg.ContractText() })
	work.Wait()
	if err := errors.Join(goErr, err); err != nil {
		return nil, diags, err
	}
	files[ContractFile] = promise
	if slices.Contains(g.Languages, TypeScript) {
		files[pkg.GoName+".ts"] = typescript.Module(pkg)
	}
	if slices.Contains(g.Languages, Python) {
		files[pkg.GoName+".py"] = python.Module(pkg)
	}
	lines := map[string]int{}
	for _, q := range pkg.Queries() {
		lines[q.Name] = q.Line
	}
	return &Output{Package: files, Reference: reference, Schema: schema, Lines: lines}, diags, nil
}
