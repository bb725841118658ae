package reconcile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/codegen/breaking"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gqconfig"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Stored are the stored queries of a graph in a revision, compiled and as texts.
type Stored struct {
	// Contract is what gq generate writes to catalog.json: the tools, with the encoded plans. Package contract
	// has the number of its form, and package plan that of the encoding.
	Contract json.RawMessage `json:"contract"`

	// The rest is what Contract was made from, for a program that cannot decode it.
	Files    []QueryFile       `json:"files"`
	Selected map[string]string `json:"selected,omitempty"` // see cluster.Graph, with the names of Files
	Strict   bool              `json:"strict,omitempty"`   // from gq.yaml

	Proposals map[string]string `json:"proposals,omitempty"` // of proposed queries, the id of the proposal by the name of the query
}

// QueryFile is a .gq file.
type QueryFile struct {
	Name string `json:"file"` // path in the folder of cluster.yaml, with slashes
	Text string `json:"text"`
}

// stored makes the tools of a graph's queries, which compiled. It finds the faults that gq generate finds
// then, such as two tools with one name. It returns nil for a graph without stored queries.
func stored(c *cluster.Graph, dir string, schema *catalog.Schema, source compile.Source, texts []compile.Source, queries []*compile.Query) (*Stored, diag.List, error) {
	strict, found, err := strict(dir)
	if err != nil || found.HasErrors() {
		return nil, found, err
	}
	s := &Stored{Strict: strict}
	paths := map[string]string{}
	for _, text := range texts {
		f := QueryFile{nameIn(dir, text.Name), text.Text}
		s.Files, paths[f.Name] = append(s.Files, f), text.Name
	}
	s.Selected = selected(c, dir)
	for _, q := range queries {
		q.File = nameIn(dir, q.File)
	}
	more, err := s.build(model.Input{Graph: c.ID, Schema: schema, Source: source, Queries: queries})
	for i, d := range more {
		if path, ok := paths[d.Span.File]; ok {
			more[i].Span.File = path
		}
	}
	if len(queries) == 0 {
		s = nil
	}
	return s, append(found, more...), err
}

// build sets the contract. It completes the input, which has the compiled queries.
func (s *Stored) build(in model.Input) (diag.List, error) {
	in.Strict = s.Strict
	for _, f := range s.Files {
		in.Sources = append(in.Sources, compile.Source{Name: f.Name, Text: f.Text})
	}
	pkg, found := model.Build(in)
	if pkg == nil {
		return found, nil
	}
	text, err := pkg.ContractText()
	if err != nil {
		return found, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return found, err
	}
	s.Contract = compact.Bytes()
	return found, nil
}

// Catalog returns the stored queries of a graph of a revision as tools, or nil if it has none. It decodes what
// the apply compiled, and parses nothing. If another version applied the revision, and this one cannot decode
// its plans, Catalog compiles the texts with the claims; outdated then says why. The error says that the texts have faults.
func (g *Graph) Catalog(claims plan.Claims) (c *tool.Catalog, outdated, err error) {
	return g.catalog(g.Stored, claims)
}

// ProposedCatalog is like [Graph.Catalog] for the proposed queries.
func (g *Graph) ProposedCatalog(claims plan.Claims) (c *tool.Catalog, outdated, err error) {
	return g.catalog(g.Proposed, claims)
}

// catalog does the work of Catalog.
func (g *Graph) catalog(s *Stored, claims plan.Claims) (c *tool.Catalog, outdated, err error) {
	if s == nil {
		return nil, nil, nil
	}
	c, outdated = tool.DecodeCatalog(s.Contract)
	if outdated == nil {
		return c, nil, nil
	}
	// The other version may have lacked a built-in tool. The server leaves out a query with its name.
	in := model.Input{Graph: g.ID, Source: compile.Source{Name: RevisionFile, Text: g.Source}, ReservedTools: true}
	var found diag.List
	if in.Schema, found = compile.StoredSchema(in.Source); found.HasErrors() {
		return nil, outdated, found
	}
	var texts []compile.Source
	for _, f := range s.Files {
		texts = append(texts, compile.Source{Name: f.Name, Text: f.Text})
	}
	if in.Queries, found = (compile.Options{Claims: claims}).CompileQueries(in.Schema, texts...); found.HasErrors() {
		return nil, outdated, found
	}
	in.Queries = slices.DeleteFunc(in.Queries, func(q *compile.Query) bool {
		return s.Selected != nil && s.Selected[q.Plan.Name] != q.File
	})
	again := &Stored{Files: s.Files, Strict: s.Strict}
	if found, err = again.build(in); err != nil || found.HasErrors() {
		return nil, outdated, errors.Join(err, found.Err())
	}
	c, err = tool.DecodeCatalog(again.Contract)
	return c, outdated, err
}

// selected returns cluster.Graph.Selected with the names of QueryFile.
func selected(c *cluster.Graph, dir string) map[string]string {
	if c.Selected == nil {
		return nil
	}
	names := map[string]string{}
	for name, file := range c.Selected {
		names[name] = nameIn(dir, file)
	}
	return names
}

// SameFiles reports whether the .gq files of a graph of cluster.yaml, and the queries that it selects from them, are those of
// the revision.
func (s *Stored) SameFiles(cfg *cluster.Config, c *cluster.Graph) (bool, error) {
	dir := filepath.Dir(cfg.File)
	var files []QueryFile
	for _, path := range c.QueryFiles {
		text, err := os.ReadFile(path)
		if err != nil {
			return false, err
		}
		files = append(files, QueryFile{nameIn(dir, path), string(text)})
	}
	return slices.Equal(files, s.Files) && maps.Equal(selected(c, dir), s.Selected), nil
}

// CompileQueries compiles the stored queries of a graph in cluster.yaml from their sources. The result equals
// the catalog of a server that is built from the same sources. The error is a diag.List if a source has faults.
func CompileQueries(cfg *cluster.Config, c *cluster.Graph) (*tool.Catalog, error) {
	g, found, err := compileGraph(cfg, c)
	if err := errors.Join(err, found.Err()); err != nil {
		return nil, err
	}
	if g.Stored == nil {
		return &tool.Catalog{Graph: c.ID, SchemaDigest: g.Digest}, nil
	}
	return tool.DecodeCatalog(g.Stored.Contract)
}

// SchemaDigest returns the digest of the schema of a graph of cluster.yaml, or "" if the schema has faults.
func SchemaDigest(c *cluster.Graph) string {
	text, err := os.ReadFile(c.Schema)
	if err != nil {
		return ""
	}
	schema, faults := compile.Schema(compile.Source{Name: c.Schema, Text: string(text)})
	if faults.HasErrors() {
		return ""
	}
	return catalog.Digest(schema)
}

// nameIn returns the name that gq generate gives a file: its path in the folder of cluster.yaml.
func nameIn(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}

// strict reads from the gq.yaml in the folder of cluster.yaml, if there is one, whether the schemas
// of arguments require every key. It ignores the rest of the file and its faults, which gq checks.
func strict(dir string) (bool, diag.List, error) {
	path := filepath.Join(dir, gqconfig.File)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, err
	}
	set, faults := gqconfig.Strict(path, text)
	return set, faults, nil
}

// QueryChange is the difference of one stored query between the recorded revision and the sources.
type QueryChange struct {
	Name   string // of the query
	Change string // added, changed or removed
}

// String returns the change in the form of a step.
func (c QueryChange) String() string {
	return map[string]string{"added": "+ ", "changed": "~ ", "removed": "- "}[c.Change] + c.Name
}

// queryChanges returns the differences between two sets of stored queries, sorted by name. Each may be nil.
func queryChanges(old, wanted *Stored) []QueryChange {
	was, is := old.entries(), wanted.entries()
	var changes []QueryChange
	for name, entry := range is {
		switch before, ok := was[name]; {
		case !ok:
			changes = append(changes, QueryChange{name, "added"})
		case !bytes.Equal(before, entry):
			changes = append(changes, QueryChange{name, "changed"})
		}
	}
	for name := range was {
		if is[name] == nil {
			changes = append(changes, QueryChange{name, "removed"})
		}
	}
	slices.SortFunc(changes, func(a, b QueryChange) int { return strings.Compare(a.Name, b.Name) })
	return changes
}

// breakingChanges returns the changes from the stored queries of a recorded graph, which may be nil, to those of its files that break
// callers. A proposed query that the files have by now counts as a recorded one. It returns none if another version of the program
// recorded the queries in a form that it cannot read.
func breakingChanges(before *Graph, src *Source) ([]breaking.Change, error) {
	if before == nil {
		return nil, nil
	}
	was, err := before.Stored.contract()
	proposed, err2 := before.Proposed.contract()
	if err != nil || err2 != nil {
		return nil, nil
	}
	for _, q := range proposed.Queries {
		if slices.Contains(src.Queries, q.Name) {
			was.Queries = append(was.Queries, q)
		}
	}
	is, err := src.Stored.contract()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(breaking.Compare(was, is), func(c breaking.Change) bool { return !c.Breaking }), nil
}

// entries returns the queries of the contract by name. It returns none for a contract in another form.
func (s *Stored) entries() map[string]json.RawMessage {
	if s == nil {
		return nil
	}
	var c struct {
		Queries []json.RawMessage `json:"queries"`
	}
	if json.Unmarshal(s.Contract, &c) != nil {
		return nil
	}
	entries := map[string]json.RawMessage{}
	for _, q := range c.Queries {
		var named struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(q, &named) == nil {
			entries[named.Name] = q
		}
	}
	return entries
}

// digest returns the digest of all fields. s may be nil.
func (s *Stored) digest() string {
	if s == nil {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("reconcile: encode stored queries: %v", err)) // the contract was valid JSON
	}
	return digest(text)
}
