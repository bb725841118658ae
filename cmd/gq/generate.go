package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// clusterFile is the file that gq reads if no flag names a schema.
const clusterFile = "cluster.yaml"

// generateCommand makes the command gq generate.
func generateCommand() *cobra.Command {
	var g generator
	cmd := &cobra.Command{
		Use:   "generate [--check] [--lang go,ts,python] [--schema FILE --queries DIR|FILE… --graph NAME --out DIR]",
		Short: "Generate the Go package and the contract of each graph",
		Long: `Generate the Go package and the contract of each graph.

Without --schema the command reads cluster.yaml in the current directory or a
parent. It writes the package of each graph to generated/<graph> in the folder of
cluster.yaml, and a page about the tools of the graph to docs/reference/tools. With
"openapi: true" in gq.yaml it also writes the graph's OpenAPI document, openapi.json.

With --lang the command writes the stored queries of each graph in other languages:
ts is a module for the npm package @omnigraph/client, <graph>.ts, and python one for the
package omnigraph, <graph>.py. Without go in the list it writes no Go.

It writes nothing if a source of any graph does not compile.`,
		Example: `  gq generate
  gq generate --check
  gq generate --lang go,ts
  gq generate --schema queries/code/schema.pg --queries queries/code --graph code --out generated/code`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{cmd, fmt.Errorf("unexpected argument %q; the command takes only flags", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			g.stdout, g.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return g.run(cmd)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&g.check, "check", false, "write nothing; fail when a committed file is stale")
	f.StringSliceVar(&g.langs, "lang", nil, "the `LANGUAGES` to generate: go, ts, python (default go)")
	f.StringVar(&g.schema, "schema", "", "the schema `FILE` (.pg)")
	f.StringSliceVar(&g.queries, "queries", nil, "a .gq file or a folder of .gq files at `PATH`")
	f.StringVar(&g.graph, "graph", "", "the `NAME` of the graph")
	f.StringVar(&g.out, "out", "", "write the package to `DIR`")
	return cmd
}

// generator runs gq generate with the values of its flags.
type generator struct {
	check              bool     // write nothing, and report stale files instead
	schema, graph, out string   // the folder for the package
	queries            []string // values of --queries
	langs              []string // values of --lang

	stdout, stderr io.Writer // where run prints the results and the faults
}

// job is one package to generate. Its paths are relative to the current directory.
type job struct {
	graph    string               // the name of the graph
	root     string               // paths in the output are relative to this folder
	cluster  string               // the path of cluster.yaml, or ""
	schema   string               // the path of the schema
	queries  []string             // the paths of the .gq files
	selected map[string]string    // maps query names to files; nil means all queries
	places   map[string]diag.Span // maps each name in `selected` to its position in cluster.yaml
	out      string               // the folder for the package
	docs     string               // the folder of the reference page; "" for none
	claims   plan.Claims          // the claims that queries may use
	strict   bool                 // use the strict profile for the schemas
	openAPI  bool                 // write the OpenAPI document too
	meta     int                  // if at least this many queries are exposed, two tools serve them all
	output   *codegen.Output      // the generated files; nil until they are generated

	languages []codegen.Language // nil for Go

	noProvider bool // cluster.yaml sets no embedding provider for the graph
}

// folders yields the generated files by folder.
func (j *job) folders() iter.Seq2[string, codegen.Files] {
	return func(yield func(string, codegen.Files) bool) {
		if !yield(j.out, j.output.Package) || j.docs == "" {
			return
		}
		yield(j.docs, codegen.Files{j.graph + ".md": j.output.Reference})
	}
}

// run runs gq generate.
func (g *generator) run(cmd *cobra.Command) error {
	languages, err := languages(g.langs)
	if err != nil {
		return &usageError{cmd, err}
	}
	jobs, err := g.jobs(cmd)
	if err != nil {
		return err
	}
	failed := false
	for i := range jobs {
		jobs[i].languages = languages
		ok, err := g.compile(&jobs[i])
		if err != nil {
			return err
		}
		failed = failed || !ok
	}
	if failed {
		return &reportedError{}
	}
	if g.check {
		return g.report(jobs)
	}
	for _, j := range jobs {
		for dir, files := range j.folders() {
			changed, err := files.Write(dir, removal(dir))
			if err != nil {
				return fmt.Errorf("write the generated files of graph %s: %w", j.graph, err)
			}
			for _, name := range changed {
				fmt.Fprintln(g.stdout, userPath(filepath.Join(dir, name)))
			}
		}
	}
	return nil
}

// languages returns the languages with the given names.
func languages(names []string) ([]codegen.Language, error) {
	var all []codegen.Language
	for _, name := range names {
		if !slices.Contains(codegen.Languages, codegen.Language(name)) {
			return nil, fmt.Errorf("--lang has %q; give one or more of go, ts and python", name)
		}
		all = append(all, codegen.Language(name))
	}
	return all, nil
}

// report prints the names of the files that --check found stale.
func (g *generator) report(jobs []job) error {
	stale := false
	for _, j := range jobs {
		for dir, files := range j.folders() {
			names, err := files.Stale(dir)
			if err != nil {
				return err
			}
			for _, name := range names {
				stale = true
				fmt.Fprintf(g.stderr, "%s is stale\n", userPath(filepath.Join(dir, name)))
			}
		}
	}
	if stale {
		fmt.Fprintln(g.stderr, "run gq generate, and commit the files that it writes")
		return &reportedError{}
	}
	return nil
}

// compile fills in the generated files of a job, or reports the faults of its sources.
func (g *generator) compile(j *job) (bool, error) {
	root := moduleRoot(j.schema)
	in, err := j.input(func(path string) string { return sourceName(root, path) })
	if err != nil {
		return false, err
	}
	out, diags, err := codegen.Generate(in)
	if err != nil {
		return false, fmt.Errorf("generate the package of graph %s: %w", j.graph, err)
	}
	j.output = out
	if out != nil && j.openAPI {
		if err := addOpenAPI(out.Package); err != nil {
			return false, fmt.Errorf("graph %s: %w", j.graph, err)
		}
	}
	if len(diags) == 0 {
		return true, nil
	}
	// In the output, the names of files are relative to the root of the module. In diagnostics, and
	// where their messages refer to a place in a file, the names must be paths that the reader can
	// open; see userPath.
	if in, err = j.input(userPath); err != nil {
		return false, err
	}
	if _, diags, err = codegen.Generate(in); err != nil {
		return false, fmt.Errorf("generate the package of graph %s: %w", j.graph, err)
	}
	texts := map[string]string{in.Schema.Name: in.Schema.Text}
	for _, src := range in.Queries {
		texts[src.Name] = src.Text
	}
	if j.cluster != "" {
		text, _ := os.ReadFile(j.cluster) // on error the report only lacks the source lines
		texts[userPath(j.cluster)] = string(text)
	}
	diag.Render(g.stderr, diags, texts, false)
	return !diags.HasErrors(), nil
}

// input reads the sources of a job. The function `name` returns the name of a source, given the
// path of its file.
func (j *job) input(name func(path string) string) (codegen.Graph, error) {
	in := codegen.Graph{Name: j.graph, Claims: j.claims, Strict: j.strict, Languages: j.languages, NoProvider: j.noProvider}
	var err error
	read := func(path string) gq.Source {
		b, readErr := os.ReadFile(path)
		err = errors.Join(err, readErr)
		return gq.Source{Name: name(path), Text: string(b)}
	}
	in.Schema = read(j.schema)
	for _, path := range j.queries {
		in.Queries = append(in.Queries, read(path))
	}
	if j.selected != nil {
		in.Selected, in.SelectedAt = map[string]string{}, j.places
		for query, path := range j.selected {
			in.Selected[query] = name(path)
		}
	}
	return in, err
}

// jobs returns the packages to generate. The flags determine them or, without such flags,
// cluster.yaml.
func (g *generator) jobs(cmd *cobra.Command) ([]job, error) {
	given := 0
	for _, set := range []bool{g.schema != "", g.queries != nil, g.graph != "", g.out != ""} {
		if set {
			given++
		}
	}
	switch given {
	case 0:
		return g.clusterJobs()
	case 4:
	default:
		return nil, &usageError{cmd, errors.New("--schema, --queries, --graph and --out must be given together; give all four, or omit all four to read cluster.yaml")}
	}
	files, err := queryFiles(g.queries)
	if err != nil {
		return nil, err
	}
	cfg, err := readConfig(".", g.stderr)
	return []job{{graph: g.graph, schema: g.schema, queries: files, out: g.out, claims: cfg.Claims, strict: cfg.Strict, openAPI: cfg.OpenAPI}}, err
}

// clusterJobs returns a job for each graph of cluster.yaml.
func (g *generator) clusterJobs() ([]job, error) {
	path, cfg, err := readCluster(g.stderr)
	if err != nil {
		return nil, err
	}
	project, err := readConfig(filepath.Dir(path), g.stderr)
	if err != nil {
		return nil, err
	}
	var jobs []job
	for _, gr := range cfg.Graphs {
		for name, at := range gr.SelectedAt {
			at.File = userPath(path)
			gr.SelectedAt[name] = at
		}
		jobs = append(jobs, job{
			cluster: path,
			claims:  cfg.Server.Claims, strict: project.Strict, openAPI: project.OpenAPI, meta: gr.MetaThreshold, root: filepath.Dir(path),
			graph: gr.ID, schema: gr.Schema, queries: gr.QueryFiles, selected: gr.Selected, places: gr.SelectedAt, noProvider: gr.Embedding == nil,
			out:  filepath.Join(filepath.Dir(path), "generated", model.PackageName(gr.ID)),
			docs: filepath.Join(filepath.Dir(path), filepath.FromSlash(codegen.ReferenceDir)),
		})
	}
	return jobs, nil
}

// readCluster reads the cluster.yaml in the current directory or its nearest parent that has one,
// and reports its faults to stderr.
func readCluster(stderr io.Writer) (path string, cfg *cluster.Config, err error) {
	if path, err = findUp(clusterFile); err != nil {
		return "", nil, err
	}
	cfg, err = cluster.Read(path)
	var diags diag.List
	if err != nil && !errors.As(err, &diags) {
		return "", nil, err
	}
	if err == nil {
		diags = onePackage(cfg, userPath(path))
		err = diags.Err()
		diags = append(diags, cfg.Notes...)
	}
	text, _ := os.ReadFile(path) // on error the report only lacks the source lines
	for i := range diags {
		diags[i].Span.File = userPath(path)
	}
	diag.Render(stderr, diags, map[string]string{userPath(path): string(text)}, false)
	if err != nil {
		return "", nil, &reportedError{}
	}
	return path, cfg, nil
}

// onePackage reports the graphs of cluster.yaml that would be generated into one package. `file` is
// the name of cluster.yaml in the diagnostics.
func onePackage(cfg *cluster.Config, file string) diag.List {
	var names []string
	for _, g := range cfg.Graphs {
		names = append(names, g.ID)
	}
	return model.OnePackage(names, func(graph string) diag.Span {
		at := cfg.Graph(graph).At
		at.File = file
		return at
	})
}

// queryFiles returns the files that `paths` lists, and the .gq files in the folders that `paths`
// lists. The files of a folder are in the order of their names.
func queryFiles(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, p)
			continue
		}
		entries, err := os.ReadDir(p)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && filepath.Ext(e.Name()) == ".gq" {
				files = append(files, filepath.Join(p, e.Name()))
			}
		}
	}
	return files, nil
}

// findUp returns the path of the file with the given name in the current directory or the nearest
// parent that has one.
func findUp(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for up := ""; ; up = filepath.Join(up, "..") {
		path := filepath.Join(up, name)
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if full := filepath.Join(dir, up); filepath.Dir(full) == full {
			return "", fmt.Errorf("found no %s in %s or its parent folders; create one, or name the sources with --schema and --queries", name, dir)
		}
	}
}

// moduleRoot returns the root folder of the module that contains the file. If no module contains
// the file, it returns the file's own folder.
func moduleRoot(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return filepath.Dir(path)
	}
	for dir := filepath.Dir(full); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return filepath.Dir(full)
		}
	}
}

// sourceName returns the name of a source in generated files. The name does not depend on the
// current folder of gq.
func sourceName(root, path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	rel, err := filepath.Rel(root, full)
	if err != nil || strings.HasPrefix(rel, "..") {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}
