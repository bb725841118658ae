package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/skill"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// skillCommand makes the command gq skill.
func skillCommand() *cobra.Command {
	var s skillWriter
	cmd := &cobra.Command{
		Use:   "skill [--check] [--graph NAME] [--schema FILE --queries DIR|FILE…] [--out DIR]",
		Short: "Write a skill that teaches agents to use a graph",
		Long: `Write a skill of a graph, in the format of Agent Skills: the folder of the skill, with
SKILL.md and with references about the stored queries, the schema and the query language.
An agent reads SKILL.md first, and a reference when it needs it.

A server sends the same files over MCP to a caller who may do everything on the graph. To
any other caller it sends a skill about the types, queries and tools that this caller may see.
The files depend on the schema and the queries, and not on the data.

The command writes to skills/<name> in the folder of cluster.yaml, and removes references
of earlier runs that the skill no longer has. Without --schema it reads cluster.yaml in
the current directory or a parent.`,
		Example: `  gq skill
  gq skill --graph code --out .claude/skills
  gq skill --check
  gq skill --schema queries/code/schema.pg --queries queries/code --graph code`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{cmd, fmt.Errorf("unexpected argument %q; the command takes only flags", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	f := cmd.Flags()
	f.BoolVar(&s.check, "check", false, "write nothing; fail when a file is stale")
	f.StringVar(&s.graph, "graph", "", "the `NAME` of the graph (default: the only one)")
	f.StringVar(&s.schema, "schema", "", "the schema `FILE` (.pg)")
	f.StringSliceVar(&s.queries, "queries", nil, "a .gq file or a folder of .gq files at `PATH`")
	f.StringVar(&s.out, "out", "", "write the folder of the skill to `DIR` (default: skills)")
	return cmd
}

// skillWriter runs gq skill with the values of its flags.
type skillWriter struct {
	cataloger
	check bool   // write nothing, and report stale files instead
	out   string // the parent of the folder of the skill
}

// run runs gq skill.
func (w *skillWriter) run(cmd *cobra.Command) error {
	g := generator{stdout: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr()}
	j, err := w.job(cmd, &g)
	if err != nil {
		return err
	}
	sk, err := j.skill(&g)
	if err != nil {
		return err
	}
	if w.out == "" {
		w.out = filepath.Join(j.root, "skills")
	}
	dir := filepath.Join(w.out, sk.Name)
	stale, err := staleSkill(dir, sk)
	if err != nil {
		return err
	}
	for _, path := range stale {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if w.check {
			fmt.Fprintf(g.stderr, "%s is stale\n", userPath(name))
			continue
		}
		if err := putFile(name, sk.File(path)); err != nil {
			return fmt.Errorf("write the skill of graph %s: %w", j.graph, err)
		}
		fmt.Fprintln(g.stdout, userPath(name))
	}
	if w.check && len(stale) > 0 {
		fmt.Fprintln(g.stderr, "run gq skill, and commit the files that it writes")
		return &reportedError{}
	}
	return nil
}

// skill compiles the sources of a job and returns the skill of its graph. It reports the faults of the
// sources.
func (j *job) skill(g *generator) (*skill.Skill, error) {
	in, err := j.input(userPath)
	if err != nil {
		return nil, err
	}
	pkg, schema, diags := model.Compile(model.Input{
		Graph: j.graph, Source: in.Schema, Sources: in.Queries, Selected: in.Selected, SelectedAt: in.SelectedAt, Strict: j.strict, Claims: j.claims,
	})
	if diags.HasErrors() {
		texts := map[string]string{in.Schema.Name: in.Schema.Text}
		for _, src := range in.Queries {
			texts[src.Name] = src.Text
		}
		diag.Render(g.stderr, diags, texts, false)
		return nil, &reportedError{}
	}
	var queries []tool.StoredQuery
	for _, q := range pkg.Queries() {
		queries = append(queries, listedQuery{q})
	}
	return mcp.NewSkill(j.graph, schema, in.Schema.Text, builtin.All(""), queries, j.meta), nil
}

// ownReference matches the paths of the references that gq skill writes.
var ownReference = regexp.MustCompile(`^(gq-[a-z0-9_-]+|(queries|schema)(-[0-9]+)?)\.md$`)

// staleSkill returns the files of a skill that differ from the files in the folder, and the references
// of earlier runs that the skill no longer has. The paths are relative to the folder, with slashes.
func staleSkill(dir string, sk *skill.Skill) ([]string, error) {
	var stale []string
	for _, f := range sk.Files {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !bytes.Equal(text, f.Text) {
			stale = append(stale, f.Path)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "references"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		path := "references/" + e.Name()
		if e.Type().IsRegular() && ownReference.MatchString(e.Name()) && sk.File(path) == nil {
			stale = append(stale, path)
		}
	}
	return stale, nil
}

// putFile writes a file, or removes it if `f` is nil.
func putFile(name string, f *skill.File) error {
	if f == nil {
		return os.Remove(name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, f.Text, 0o644)
}
