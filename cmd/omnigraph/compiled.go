package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/server/cluster"
	"github.com/omnigraph-go/omnigraph/server/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// clusterFile names the graphs of a folder.
const clusterFile = "cluster.yaml"

// compiled makes the stored queries of a graph of cluster.yaml from its sources: the
// catalog that a server has which is built from them. This command is one binary for all
// modules, and has only the queries of its own compiled in. Faults of a source are a
// diag.List.
func compiled(cfg *cluster.Config, g *cluster.Graph) (*tool.Catalog, error) {
	dir := filepath.Dir(cfg.File)
	schema, source, err := schemaOf(g)
	if err != nil {
		return nil, err
	}
	in := model.Input{Graph: g.ID, Schema: schema, File: named(dir, source.Name)}
	if in.Strict, err = strict(dir); err != nil {
		return nil, err
	}
	// Sources are called by their paths while they may have faults, for these to be shown,
	// and then as gq generate calls them.
	names := map[string]string{}
	var sources []gq.Source
	for _, file := range g.QueryFiles {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		sources = append(sources, gq.Source{Name: file, Text: string(text)})
		in.Sources = append(in.Sources, gq.Source{Name: named(dir, file), Text: string(text)})
		names[file] = named(dir, file)
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

// digestOf identifies the schema of a graph of cluster.yaml; it is empty when the schema
// has faults.
func digestOf(g *cluster.Graph) string {
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

// named is how gq generate calls a file.
func named(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}

// strict reads from the gq.yaml beside cluster.yaml, if there is one, whether the schemas
// of arguments require every key. What else is in the file, and whether it is right, is
// the business of gq.
func strict(dir string) (bool, error) {
	path := filepath.Join(dir, "gq.yaml")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r := strictyaml.Read(path, text)
	if root := r.Root(); root != nil {
		if f, ok := root.Fields("gq.yaml", "strict", "lint"); ok {
			set, _ := f["strict"].Bool("strict")
			return set, r.Faults().Err()
		}
	}
	return false, r.Faults().Err()
}

// newCompiled returns a query as the tool that a generated package would hold.
func newCompiled(q *model.Query) *tool.Compiled {
	c := &tool.Compiled{
		Tool: tool.Descriptor{
			Name: q.Tool.Name, Title: q.Tool.Title, Description: q.Tool.Description,
			InputSchema: q.Tool.InputSchema, OutputSchema: q.Tool.OutputSchema,
			ReadOnly: q.Tool.ReadOnly, Destructive: q.Tool.Destructive, Idempotent: q.Tool.Idempotent,
		},
		Query: tool.QueryInfo{
			Name: q.Name, Exposed: q.Exposed, Description: q.Description, Instruction: q.Instruction, Mutation: q.Mutation(), File: q.File,
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
