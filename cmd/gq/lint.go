package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gqconfig"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// lintCommand makes the command gq lint.
func lintCommand() *cobra.Command {
	var l linter
	cmd := &cobra.Command{
		Use:   "lint [--schema FILE FILE…] [--format text|json|sarif|github] [--max-warnings N] [--fix]",
		Short: "Report errors and probable mistakes in schemas and queries",
		Long: `Report errors and probable mistakes in schemas and queries.

Without --schema the command reads cluster.yaml in the current directory or a parent,
and also runs the rules that compare files. The gq.yaml in the same folder sets the
levels of the rules. With --schema the arguments are .gq files or folders of them, and
gq.yaml is read from the current directory. docs/reference/diagnostics.md lists the rules.

The exit code is 1 when there is an error, or when there are more warnings than allowed.`,
		Example: `  gq lint
  gq lint --max-warnings 0 --format github
  gq lint --schema queries/code/schema.pg queries/code/calls.gq`,
		RunE: func(cmd *cobra.Command, args []string) error {
			l.stdout, l.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return l.run(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&l.schema, "schema", "", "the schema `FILE` (.pg)")
	f.BoolVar(&l.whole, "whole", false, "treat the arguments as the complete set of the graph's files, and also run the rules that compare files")
	f.StringVar(&l.format, "format", "text", "the `FORMAT` of the report: text, json, sarif or github")
	f.IntVar(&l.maxWarnings, "max-warnings", -1, "fail when there are more than `N` warnings; a negative N means no limit")
	f.BoolVar(&l.fix, "fix", false, "apply the fixes that do not change the meaning of a query")
	return cmd
}

// linter runs gq lint with the values of its flags.
type linter struct {
	schema, format string // values of --schema and --format
	whole, fix     bool   // values of --whole and --fix
	maxWarnings    int    // negative for no limit

	cluster *cluster.Config // nil with --schema

	stdout, stderr io.Writer // where run prints the report and the faults
}

// lintJob is one catalog to lint. Its paths are relative to the current directory.
type lintJob struct {
	graph    string            // may be ""
	schema   string            // the path of the schema
	queries  []string          // the paths of the .gq files
	selected map[string]string // maps query names to files; nil means all queries
	whole    bool              // `queries` lists all files of the graph, so run the rules that compare files
	meta     int               // if at least this many queries are exposed, the meta tools replace them; 0: default
	outputs  bool              // tools/list has the output schemas

	selectedAt map[string]diag.Span // the place of each name that `selected` lists in cluster.yaml
	noProvider string               // the graph, if cluster.yaml names no embedding provider for it; else ""
}

// run runs gq lint.
func (l *linter) run(cmd *cobra.Command, args []string) error {
	if !slices.Contains([]string{"text", "json", "sarif", "github"}, l.format) {
		return &usageError{cmd, fmt.Errorf("--format is %q; use text, json, sarif or github", l.format)}
	}
	jobs, cfg, err := l.jobs(cmd, args)
	if err != nil {
		return err
	}
	texts := map[string]string{}
	report, lists, err := lintAll(jobs, cfg, texts)
	if err != nil {
		return err
	}
	if l.fix {
		changed, err := l.fixAll(jobs, compile.Options{Claims: cfg.Claims}, report, texts)
		if err != nil {
			return err
		}
		if changed {
			if report, lists, err = lintAll(jobs, cfg, texts); err != nil {
				return err
			}
		}
	}
	counts := diag.NewReport(report.List, report.Edits)
	if err := l.print(report, counts, lists, texts); err != nil {
		return err
	}
	if l.cluster != nil {
		for _, j := range jobs {
			l.notePublished(j, texts)
		}
	}
	if counts.Errors > 0 || l.maxWarnings >= 0 && counts.Warnings > l.maxWarnings {
		return &reportedError{}
	}
	return nil
}

// jobs returns the catalogs to lint and the configuration in gq.yaml.
func (l *linter) jobs(cmd *cobra.Command, args []string) ([]lintJob, gqconfig.Config, error) {
	if l.schema == "" {
		if len(args) > 0 || l.whole {
			return nil, gqconfig.Config{}, &usageError{cmd, errors.New("--schema is missing; name the schema of the files with it, or omit the files to read cluster.yaml")}
		}
		path, cluster, err := readCluster(l.stderr)
		if err != nil {
			return nil, gqconfig.Config{}, err
		}
		l.cluster = cluster
		cfg, err := readConfig(filepath.Dir(path), l.stderr)
		if err != nil {
			return nil, gqconfig.Config{}, err
		}
		cfg.Claims = cluster.Server.Claims
		var jobs []lintJob
		for _, g := range cluster.Graphs {
			j := lintJob{graph: g.ID, schema: fromHere(g.Schema), whole: true, selectedAt: g.SelectedAt, meta: g.MetaThreshold, outputs: g.OutputSchemas}
			if g.Embedding == nil {
				j.noProvider = g.ID
			}
			for _, path := range g.QueryFiles {
				j.queries = append(j.queries, fromHere(path))
			}
			if g.Selected != nil {
				j.selected = map[string]string{}
				for name, path := range g.Selected {
					j.selected[name] = fromHere(path)
				}
			}
			jobs = append(jobs, j)
		}
		return jobs, cfg, nil
	}
	files, err := queryFiles(args)
	if err != nil {
		return nil, gqconfig.Config{}, err
	}
	cfg, err := readConfig(".", l.stderr)
	return []lintJob{{schema: l.schema, queries: files, whole: l.whole}}, cfg, err
}

// lintAll lints every catalog and joins the reports. It adds the texts of all sources to the map
// `texts`, by the name of the source.
func lintAll(jobs []lintJob, cfg gqconfig.Config, texts map[string]string) (*lint.Report, []toolList, error) {
	all := &lint.Report{Edits: map[int][]diag.Edit{}}
	var lists []toolList
	seen := map[diag.Diagnostic]bool{} // two graphs may share sources
	for _, j := range jobs {
		c := compile.Catalog{Whole: j.whole, NoProvider: j.noProvider, Config: cfg.Lint, Options: compile.Options{Claims: cfg.Claims}}
		var err error
		if c.Schema, err = readSource(j.schema, texts); err != nil {
			return nil, nil, err
		}
		for _, path := range j.queries {
			src, err := readSource(path, texts)
			if err != nil {
				return nil, nil, err
			}
			c.Queries = append(c.Queries, src)
		}
		if j.selected != nil {
			c.Selected = map[string]string{}
			for name, path := range j.selected {
				c.Selected[name] = filepath.ToSlash(path)
			}
		}
		c.Build = func(schema *catalog.Schema, queries []*compile.Query) (*lint.ToolList, diag.List) {
			in := model.Input{Graph: "graph", Schema: schema, Source: c.Schema, Sources: c.Queries, Queries: queries, Strict: cfg.Strict}
			if j.whole {
				in.Selected, in.SelectedAt = c.Selected, j.selectedAt
			}
			_, sizes, faults := toolSizes(in, j.meta, j.outputs)
			if !j.whole || faults.HasErrors() {
				return nil, faults
			}
			lists = append(lists, toolList{
				Graph: j.graph, Tools: sizes.Tools, Queries: len(sizes.Queries), Bytes: sizes.Bytes, Tokens: lint.Tokens(sizes.Bytes), Reading: lint.Tokens(sizes.Reading),
			})
			return sizes, nil
		}
		r := compile.Lint(c)
		for i, d := range r.List {
			if seen[d] {
				continue
			}
			seen[d] = true
			if edits := r.Edits[i]; edits != nil {
				all.Edits[len(all.List)] = edits
			}
			all.List = append(all.List, d)
		}
	}
	return all, lists, nil
}

// readSource reads a file as a source. The name of the source is the path of the file.
func readSource(path string, texts map[string]string) (compile.Source, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return compile.Source{}, err
	}
	name := filepath.ToSlash(path)
	texts[name] = string(b)
	return compile.Source{Name: name, Text: string(b)}, nil
}

// fixAll applies the edits of a report to the files. Each file gets either all of its edits or
// none.
func (l *linter) fixAll(jobs []lintJob, o compile.Options, report *lint.Report, texts map[string]string) (changed bool, err error) {
	var edits []diag.Edit
	for _, i := range slices.Sorted(maps.Keys(report.Edits)) {
		edits = append(edits, report.Edits[i]...)
	}
	for _, j := range jobs {
		for _, path := range append([]string{j.schema}, j.queries...) {
			name := filepath.ToSlash(path)
			after, _ := diag.Apply(name, texts[name], edits)
			if after == texts[name] {
				continue
			}
			if !compile.SameMeaning(o, compile.Source{Name: j.schema, Text: texts[filepath.ToSlash(j.schema)]}, compile.Source{Name: name, Text: texts[name]}, after) {
				fmt.Fprintf(l.stderr, "%s: not fixed, because the file has errors or the fixes would change its meaning\n", name)
				continue
			}
			if err := replaceFile(path, after); err != nil {
				return changed, err
			}
			fmt.Fprintf(l.stderr, "%s: fixed\n", name)
			texts[name], changed = after, true
		}
	}
	return changed, nil
}
