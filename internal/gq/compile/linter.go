package compile

import (
	"maps"
	"sync"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// Linter lints a catalog again and again, for an editor. It keeps the compiled sources, so that each
// call compiles only the sources that changed. The zero value is ready to use. A Linter is safe for
// concurrent use.
type Linter struct {
	mu     sync.Mutex              // guards the fields below
	schema *compiledSchema         // the schema of the last call
	files  map[string]*compiledSet // by the name of the source
}

// Linted is the result of linting a catalog.
type Linted struct {
	Report  *lint.Report    // equal to the result of Lint
	Schema  *catalog.Schema // nil if the schema has errors
	Queries []*Query        // the queries without errors, in source order; nil if the schema has errors
}

// compiledSchema is a compiled schema. It does not change.
type compiledSchema struct {
	src    Source          // the text that was compiled
	claims plan.Claims     // the claims that queries may use
	tree   *syntax.Schema  // the parsed text
	schema *catalog.Schema // complete only if faults has no errors
	faults diag.List       // sorted
}

// compiledSet holds the compiled queries of one source. It does not change.
type compiledSet struct {
	text    string          // the text that was compiled
	schema  *compiledSchema // the schema that the queries were checked against
	tree    *syntax.File    // the parsed text
	queries []*Query        // by index in tree.Queries; nil for a query with errors
	faults  diag.List       // sorted
}

// Lint compiles the sources that changed since the last call, and applies the lint rules to all
// sources.
func (l *Linter) Lint(c Catalog) *Linted {
	s := l.compileSchema(c.Schema, c.Claims)
	if s.faults.HasErrors() {
		r := &lint.Report{List: s.faults, Edits: map[int][]diag.Edit{}}
		for i, d := range s.faults {
			if edit, ok := resolve.OwnName(d); ok {
				r.Edits[i] = []diag.Edit{edit}
			}
		}
		return &Linted{Report: r}
	}
	in := lint.Input{Schema: s.schema, SchemaTree: s.tree, Whole: c.Whole, NoProvider: c.NoProvider, Config: c.Config}
	out := &Linted{Schema: s.schema}
	faults := s.faults[:len(s.faults):len(s.faults)]
	var stored []*Query
	for _, src := range c.Queries {
		set := l.compileSet(s, src)
		in.Files = append(in.Files, set.tree)
		for i, q := range set.queries {
			if q == nil {
				continue
			}
			rules := lintQuery(set.tree.Queries[i], q)
			if rules.Stored = c.Selected == nil || c.Selected[q.Plan.Name] == src.Name; rules.Stored {
				stored = append(stored, q)
			}
			in.Queries = append(in.Queries, rules)
			out.Queries = append(out.Queries, q)
		}
		faults = append(faults, set.faults...)
	}
	if c.Whole {
		l.forget(c.Queries)
	}
	in.Faults = append(faults, duplicates(in.Files, c.Whole)...)
	if c.Build != nil && !in.Faults.HasErrors() && !crossFile(in.Files) {
		in.ToolList, faults = c.Build(s.schema, stored)
		in.Faults = append(in.Faults, faults...)
	}
	out.Report = lint.Run(in)
	return out
}

// compileSchema compiles the schema. If its text and the claims are the same as in the last call, compileSchema
// returns the result of that call.
func (l *Linter) compileSchema(src Source, claims plan.Claims) *compiledSchema {
	l.mu.Lock()
	s := l.schema
	l.mu.Unlock()
	if s != nil && s.src == src && maps.EqualFunc(s.claims, claims, value.Type.Equal) {
		return s
	}
	tree, faults := syntax.ParseSchema(src.Name, src.Text)
	schema, more := resolve.Schema(tree)
	faults = append(faults, more...)
	faults.Sort()
	s = &compiledSchema{src: src, claims: claims, tree: tree, schema: schema, faults: faults.Cut(diag.Most)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.schema = s
	return s
}

// compileSet compiles the queries of a source. If neither the source nor the schema changed since
// an earlier call, it returns the result of that call.
func (l *Linter) compileSet(s *compiledSchema, src Source) *compiledSet {
	l.mu.Lock()
	set := l.files[src.Name]
	l.mu.Unlock()
	if set != nil && set.text == src.Text && set.schema == s {
		return set
	}
	tree, list := syntax.ParseQueries(src.Name, src.Text)
	set = &compiledSet{text: src.Text, schema: s, tree: tree}
	for _, checked := range (Options{Claims: s.claims}).checkEach(nil, s.schema, src, tree.Queries) {
		list = append(list, checked.faults...)
		set.queries = append(set.queries, checked.query)
	}
	list.Sort()
	set.faults = list.Cut(diag.Most)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files = map[string]*compiledSet{}
	}
	l.files[src.Name] = set
	return set
}

// forget drops the compiled sources that are not in the list of all sources of a catalog.
func (l *Linter) forget(listed []Source) {
	names := make(map[string]bool, len(listed))
	for _, src := range listed {
		names[src.Name] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.files {
		if !names[name] {
			delete(l.files, name)
		}
	}
}
