package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/internal/codegen/breaking"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// breakingCommand makes the command gq breaking.
func breakingCommand() *cobra.Command {
	var b breaker
	cmd := &cobra.Command{
		Use:   "breaking --against REF|FILE [--schema FILE --queries DIR|FILE…] [--format text|json|github]",
		Short: "Report changes that break clients of the tools",
		Long: `Compare the tools of the graphs in cluster.yaml with the tools of a git commit, branch
or tag, or of a catalog.json file, and list the breaking and the safe changes.

The exit code is 1 when a change is breaking. If the commit has no generated files yet, every
graph is new, and the exit code is 0. The command reads the file
generated/<graph>/catalog.json of the commit and the sources of the current directory;
you need not run gq generate first.

With --schema and --queries the command compares one graph and reads no cluster.yaml.
--graph names that graph; you can omit it if the earlier version has only one graph.`,
		Example: `  gq breaking --against main
  gq breaking --against v1.2.0 --format github
  gq breaking --against old/catalog.json
  gq breaking --against old/catalog.json --schema queries/code/schema.pg --queries queries/code`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{cmd, fmt.Errorf("unexpected argument %q; the command takes only flags", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			b.stdout, b.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return b.run(cmd)
		},
	}
	cmd.Flags().StringVar(&b.against, "against", "", "compare with this git `REF`, or with the catalog.json at this path")
	cmd.Flags().StringVar(&b.format, "format", "text", "the format of the report: text, json or github")
	cmd.Flags().StringVar(&b.schema, "schema", "", "the schema `FILE` (.pg)")
	cmd.Flags().StringSliceVar(&b.queries, "queries", nil, "a .gq file or a folder of .gq files at `PATH`")
	cmd.Flags().StringVar(&b.graph, "graph", "", "the `NAME` of the graph that --schema describes (default: the only graph of the earlier version)")
	return cmd
}

// breaker runs gq breaking with the values of its flags.
type breaker struct {
	against, format string    // values of --against and --format
	schema, graph   string    // of one graph, or "" for the graphs of cluster.yaml
	queries         []string  // values of --queries
	stdout, stderr  io.Writer // where run prints the report and the faults
}

// graphChanges holds the changes of one graph.
type graphChanges struct {
	Graph   string            `json:"graph"`             // name of the graph
	Added   bool              `json:"added,omitempty"`   // the whole graph was added
	Removed bool              `json:"removed,omitempty"` // the whole graph was removed
	Changes []breaking.Change `json:"changes"`           // the changes of the graph's tools
}

// run runs gq breaking.
func (b *breaker) run(cmd *cobra.Command) error {
	switch {
	case b.against == "":
		return &usageError{cmd, errors.New("--against is missing; give a git ref or the path of a catalog.json")}
	case !slices.Contains([]string{"text", "json", "github"}, b.format):
		return &usageError{cmd, fmt.Errorf("--format is %q; use text, json or github", b.format)}
	}
	if (b.schema != "") != (b.queries != nil) || b.graph != "" && b.schema == "" {
		return &usageError{cmd, errors.New("--schema and --queries must be given together, and --graph needs both; omit all three to read cluster.yaml")}
	}
	after, before, now, thresholds, err := b.sides(cmd)
	if err != nil {
		return err
	}
	var all []graphChanges
	for _, c := range after {
		i := slices.IndexFunc(before, func(o *codegen.Contract) bool { return o.Graph == c.Graph })
		switch {
		case i >= 0:
			changes := breaking.Compare(before[i], c)
			for i := range changes {
				changes[i].Line = now[c.Graph].output.Lines[changes[i].Query]
			}
			is := now[c.Graph].meta
			was := cmp.Or(thresholds[c.Graph], is)
			if b.schema == "" {
				changes = append(breaking.CompareMode(before[i], c, was, is, clusterFile), changes...)
			}
			all = append(all, graphChanges{Graph: c.Graph, Changes: changes})
		case !b.file():
			all = append(all, graphChanges{Graph: c.Graph, Added: true, Changes: []breaking.Change{}})
		}
	}
	for _, c := range before {
		if !slices.ContainsFunc(after, func(o *codegen.Contract) bool { return o.Graph == c.Graph }) {
			if b.file() {
				return fmt.Errorf("%s is the contract of graph %s, but %s has no graph with this name", b.against, c.Graph, clusterFile)
			}
			all = append(all, graphChanges{Graph: c.Graph, Removed: true, Changes: []breaking.Change{}})
		}
	}
	broken, err := b.print(all, now)
	if err != nil {
		return err
	}
	if broken > 0 {
		return &reportedError{}
	}
	return nil
}

// sides returns the two sides of the comparison: the contracts of the sources, and the earlier
// contracts. It also returns the compiled jobs by graph, and the thresholds that the method
// `earlier` returns.
func (b *breaker) sides(cmd *cobra.Command) (after, before []*codegen.Contract, now map[string]*job, thresholds map[string]int, err error) {
	g := generator{stdout: b.stdout, stderr: b.stderr}
	if b.schema == "" {
		jobs, err := g.jobs(cmd)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		root := "."
		if len(jobs) > 0 {
			root = jobs[0].root
		}
		if after, now, err = g.contracts(jobs); err == nil {
			before, thresholds, err = b.earlier(root)
		}
		return after, before, now, thresholds, err
	}
	root := fromHere(moduleRoot(b.schema))
	// The thresholds are for the graphs of cluster.yaml, which this comparison does not use.
	if before, _, err = b.earlier(root); err != nil || len(before) == 0 {
		return nil, nil, nil, nil, err
	}
	if b.graph != "" {
		before = slices.DeleteFunc(before, func(c *codegen.Contract) bool { return c.Graph != b.graph })
	}
	if len(before) != 1 {
		return nil, nil, nil, nil, fmt.Errorf("%s has %d graphs to compare with; name one with --graph", b.against, len(before))
	}
	files, err := queryFiles(b.queries)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	cfg, err := readConfig(".", b.stderr)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	after, now, err = g.contracts([]job{{graph: before[0].Graph, schema: b.schema, queries: files, strict: cfg.Strict, root: root}})
	return after, before, now, nil, err
}

// contracts compiles jobs. It returns their contracts, and the jobs by graph.
func (g *generator) contracts(jobs []job) ([]*codegen.Contract, map[string]*job, error) {
	var contracts []*codegen.Contract
	byGraph := map[string]*job{}
	failed := false
	for i := range jobs {
		ok, err := g.compile(&jobs[i])
		if err != nil {
			return nil, nil, err
		}
		if failed = failed || !ok; failed {
			continue
		}
		c, err := readContract(jobs[i].output.Package[codegen.ContractFile], jobs[i].graph)
		if err != nil {
			return nil, nil, err
		}
		contracts = append(contracts, c)
		byGraph[c.Graph] = &jobs[i]
	}
	if failed {
		return nil, nil, &reportedError{}
	}
	return contracts, byGraph, nil
}

// file reports whether to compare with a file instead of a commit.
func (b *breaker) file() bool {
	info, err := os.Stat(b.against)
	return strings.HasSuffix(b.against, ".json") || err == nil && info.Mode().IsRegular()
}

// earlier returns the contracts to compare with. It also returns the earlier threshold of each
// graph for which that threshold is known. If at least as many queries as the threshold are
// exposed, the server offers two tools instead of one for each query.
func (b *breaker) earlier(root string) ([]*codegen.Contract, map[string]int, error) {
	if b.file() {
		text, err := os.ReadFile(b.against)
		if err != nil {
			return nil, nil, err
		}
		c, err := readContract(text, b.against)
		return []*codegen.Contract{c}, nil, err
	}
	if strings.HasPrefix(b.against, "-") {
		return nil, nil, fmt.Errorf("--against is %q, which is neither a git ref nor a file; give a commit, a branch, a tag or the path of a catalog.json", b.against)
	}
	if _, err := git(root, "rev-parse", "--verify", "--quiet", b.against+"^{commit}"); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 {
			return nil, nil, fmt.Errorf("%s is not a commit, branch or tag of this repository, and not a file; in CI, fetch it first", b.against)
		}
		return nil, nil, err
	}
	names, err := git(root, "ls-tree", "-r", "-z", "--name-only", b.against, "--", "generated")
	if err != nil {
		return nil, nil, err
	}
	var contracts []*codegen.Contract
	for name := range strings.SplitSeq(string(names), "\x00") {
		// Each package of a graph is a folder directly in generated. Skip deeper folders.
		if ok, _ := path.Match("generated/*/"+codegen.ContractFile, name); !ok {
			continue
		}
		text, err := git(root, "show", b.against+":./"+name)
		if err != nil {
			return nil, nil, err
		}
		c, err := readContract(text, b.against+":"+name)
		if err != nil {
			return nil, nil, err
		}
		if model.PackageName(c.Graph) == path.Base(path.Dir(name)) {
			contracts = append(contracts, c)
		}
	}
	if len(contracts) == 0 {
		fmt.Fprintf(b.stderr, "%s has no generated/<graph>/%s, so there is nothing that a change could break; commit the files that gq generate writes, so that the next comparison finds them\n", b.against, codegen.ContractFile)
	}
	text, err := git(root, "show", b.against+":./"+clusterFile)
	if err != nil { // the commit has no such file; the current thresholds apply
		text = nil
	}
	return contracts, cluster.MetaThresholds(text), nil
}

// git runs git in a folder and returns its standard output.
func git(dir string, args ...string) ([]byte, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, errors.New("git is not installed; install it, or set --against to the path of a catalog.json")
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}

// readContract decodes a contract. Errors use `name` as the name of the contract's file.
func readContract(text []byte, name string) (*codegen.Contract, error) {
	var c codegen.Contract
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("read the contract %s: %w", name, err)
	}
	if c.Graph == "" {
		return nil, fmt.Errorf("read the contract %s: the file names no graph; write it again with gq generate", name)
	}
	return &c, nil
}

// print writes the report and returns the number of breaking changes. The map `now` holds the jobs
// by graph.
func (b *breaker) print(all []graphChanges, now map[string]*job) (broken int, err error) {
	safe := 0
	for i := range all {
		g := &all[i]
		if g.Changes == nil {
			g.Changes = []breaking.Change{}
		}
		if g.Removed {
			broken++
		}
		if g.Added {
			safe++
		}
		for _, c := range g.Changes {
			if c.Breaking {
				broken++
			} else {
				safe++
			}
		}
	}
	switch b.format {
	case "json":
		enc := json.NewEncoder(b.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return broken, enc.Encode(struct {
			Against  string         `json:"against"`
			Breaking int            `json:"breaking"`
			Safe     int            `json:"safe"`
			Graphs   []graphChanges `json:"graphs"`
		}{b.against, broken, safe, all})
	case "github":
		return broken, b.github(all)
	}
	for _, g := range all {
		if g.Removed {
			fmt.Fprintf(b.stdout, "breaking: the graph %s was removed\n", g.Graph)
		}
		if g.Added {
			fmt.Fprintf(b.stdout, "safe: the graph %s was added\n", g.Graph)
		}
		for _, c := range g.Changes {
			word := "safe"
			if c.Breaking {
				word = "breaking"
			}
			place := c.File
			if j := now[g.Graph]; j != nil && c.Query != "" {
				place = filepath.ToSlash(fromHere(filepath.Join(fromHere(moduleRoot(j.schema)), filepath.FromSlash(place))))
			}
			if c.Line > 0 {
				place += ":" + strconv.Itoa(c.Line)
			}
			if c.Query != "" {
				place += ": " + c.Query
			}
			fmt.Fprintf(b.stdout, "%s: %s: %s: %s (%s)\n", word, place, c.Kind, c.Message, c.Kind.Why())
		}
	}
	_, err = fmt.Fprintf(b.stdout, "%d breaking, %d safe\n", broken, safe)
	return broken, err
}

// github writes GitHub workflow commands: breaking changes as errors, other changes as notices.
func (b *breaker) github(all []graphChanges) error {
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, g := range all {
		if g.Removed {
			fmt.Fprintf(b.stdout, "::error file=%s::%s\n", clusterFile, message.Replace("the graph "+g.Graph+" is gone"))
		}
		for _, c := range g.Changes {
			command := "notice"
			if c.Breaking {
				command = "error"
			}
			place, text := property.Replace(c.File), c.Message
			if c.Query != "" {
				text = c.Query + ": " + text
			}
			if c.Line > 0 {
				place += ",line=" + strconv.Itoa(c.Line)
			}
			if _, err := fmt.Fprintf(b.stdout, "::%s file=%s,title=%s::%s\n", command, place, property.Replace(string(c.Kind)),
				message.Replace(text)); err != nil {
				return err
			}
		}
	}
	return nil
}
