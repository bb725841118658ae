// Package stored compiles the stored queries of a graph in cluster.yaml from their sources.
package stored

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gqconfig"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Compile compiles the stored queries of a graph in cluster.yaml from their sources. The result
// equals the catalog of a server that is built from the same sources. The omnigraph command serves
// the graphs of every module but has only the queries of its own module compiled in, so it needs
// the sources of all others. The error is a diag.List if a source has faults.
func Compile(cfg *cluster.Config, g *cluster.Graph) (*tool.Catalog, error) {
	dir := filepath.Dir(cfg.File)
	schema, source, err := schemaOf(g)
	if err != nil {
		return nil, err
	}
	in := model.Input{Graph: g.ID, Schema: schema, Source: source}
	if in.Strict, err = strict(dir); err != nil {
		return nil, err
	}
	// While the sources may have faults, use their paths as their names, so that the faults can be
	// shown. After that, use the names that gq generate uses.
	names := map[string]string{}
	var sources []gq.Source
	for _, file := range g.QueryFiles {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		sources = append(sources, gq.Source{Name: file, Text: string(text)})
		in.Sources = append(in.Sources, gq.Source{Name: generatedName(dir, file), Text: string(text)})
		names[file] = generatedName(dir, file)
	}
	queries, faults := gq.CompileQueries(schema, sources...)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	for _, q := range queries {
		if file, ok := g.Selected[q.Plan.Name]; g.Selected == nil || ok && file == q.File {
			q.File = names[q.File]
			in.Queries = append(in.Queries, q)
		}
	}
	pkg, faults := model.Build(in)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	c := &tool.Catalog{Graph: g.ID, SchemaDigest: pkg.SchemaDigest, SourceDigest: pkg.SourceDigest}
	for _, q := range pkg.Queries() {
		c.Queries = append(c.Queries, newCompiled(q))
	}
	return c, nil
}

// PackageFaults returns the reasons why gq generate refuses graphs of cluster.yaml, although their
// sources compile.
func PackageFaults(cfg *cluster.Config) (diag.List, error) {
	var names []string
	for _, g := range cfg.Graphs {
		names = append(names, g.ID)
	}
	found := model.OnePackage(names, func(graph string) diag.Span { return cfg.Graph(graph).At })
	for _, g := range cfg.Graphs {
		in := model.Input{Graph: g.ID, Selected: g.Selected, SelectedAt: g.SelectedAt}
		for i, file := range append([]string{g.Schema}, g.QueryFiles...) {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if src := (gq.Source{Name: file, Text: string(text)}); i == 0 {
				in.Source = src
			} else {
				in.Sources = append(in.Sources, src)
			}
		}
		_, _, faults := model.Compile(in)
		if faults.HasErrors() {
			found = append(found, faults...)
		}
	}
	return found, nil
}

// Digest returns the digest of the schema of a graph of cluster.yaml, or "" if the schema has
// faults.
func Digest(g *cluster.Graph) string {
	schema, _, err := schemaOf(g)
	if err != nil {
		return ""
	}
	return catalog.Digest(schema)
}

// schemaOf compiles the schema of a graph of cluster.yaml.
func schemaOf(g *cluster.Graph) (*catalog.Schema, gq.Source, error) {
	text, err := os.ReadFile(g.Schema)
	if err != nil {
		return nil, gq.Source{}, err
	}
	source := gq.Source{Name: g.Schema, Text: string(text)}
	schema, faults := gq.CompileSchema(source)
	return schema, source, faults.Err()
}

// generatedName returns the name that gq generate gives a file.
func generatedName(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}

// strict reads from the gq.yaml in the folder of cluster.yaml, if there is one, whether the schemas
// of arguments require every key. It ignores the rest of the file and its faults, which gq checks.
func strict(dir string) (bool, error) {
	path := filepath.Join(dir, gqconfig.File)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	set, faults := gqconfig.Strict(path, text)
	return set, faults.Err()
}

// newCompiled returns a query in the form of a tool in a generated package.
func newCompiled(q *model.Query) *tool.Compiled {
	c := &tool.Compiled{
		Tool: tool.Descriptor{
			Name: q.Tool.Name, Title: q.Tool.Title, Description: q.Tool.Description,
			InputSchema: q.Tool.InputSchema, OutputSchema: q.Tool.OutputSchema,
			ReadOnly: q.Tool.ReadOnly, Destructive: q.Tool.Destructive, Idempotent: q.Tool.Idempotent,
		},
		Query: tool.QueryInfo{
			Name: q.Name, Exposed: q.Exposed, Description: q.Description, Instruction: q.Instruction, Questions: q.Questions, MustBeEmpty: q.MustBeEmpty, Mutation: q.Mutation(), File: q.File,
		},
		Encoded: plan.Encode(q.Plan),
	}
	for _, p := range q.Params {
		c.Query.ParamDocs = append(c.Query.ParamDocs, p.Doc)
		var values []string
		if p.Enum != nil {
			values = p.Enum.Names()
		}
		c.Enums = append(c.Enums, values)
	}
	return c
}
