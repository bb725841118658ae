// Package policies has the verbs for policies.
package policies

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// OnServer is the value of --graph for the policy of the server itself.
const OnServer = "cluster"

// New makes the command omnigraph policy.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check, test and explain policies",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage.Errorf("unknown command %q; see %s --help", args[0], cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newValidate(), newTest(), newExplain(), newTools(), newCedar(), newSchema())
	return cmd
}

// policySource holds the flags that select a policy.
type policySource struct {
	cluster string // the folder of cluster.yaml
	graph   string // id of the graph, or OnServer; "" selects the only graph
	file    string // policy file; "" selects the graph's own policy
}

// flags adds the flags to a command.
func (s *policySource) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.cluster, "cluster", "", "the `DIR` that holds cluster.yaml (default: the current one)")
	cmd.Flags().StringVar(&s.graph, "graph", "", "the `ID` of the graph, or cluster for the server itself (default: the only graph)")
}

// bound is a policy file with the graph or server that it applies to.
type bound struct {
	file  string // path of the policy file
	graph string // id of the graph; "" for the server
}

// config reads cluster.yaml. It returns nil if no folder was named and the current folder has no
// cluster.yaml.
func (s *policySource) config(cmd *cobra.Command) (*cluster.Config, error) {
	path := filepath.Join(s.cluster, "cluster.yaml")
	cfg, err := cluster.Read(path)
	if s.cluster == "" && errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return cfg, terminal.PrintFaults(cmd, err)
}

// bindings lists the policy files of a cluster, each with the graph or server that it applies to.
func bindings(cfg *cluster.Config) []bound {
	var all []bound
	for _, g := range cfg.Graphs {
		if g.Policy != "" {
			all = append(all, bound{g.Policy, g.ID})
		}
	}
	if cfg.ServerPolicy != "" {
		all = append(all, bound{cfg.ServerPolicy, ""})
	}
	return all
}

// choose returns the policy that the flags select, and the options that were used to compile it.
func (s *policySource) choose(cmd *cobra.Command) (*policy.Policy, policy.Options, error) {
	b, o, err := s.binding(cmd)
	if err != nil {
		return nil, o, err
	}
	p, err := policy.Read(b.file, o)
	return p, o, terminal.PrintFaults(cmd, err)
}

// binding returns the policy file that the flags select, and the names that the policy may refer
// to.
func (s *policySource) binding(cmd *cobra.Command) (bound, policy.Options, error) {
	cfg, err := s.config(cmd)
	if err != nil {
		return bound{}, policy.Options{}, err
	}
	var fits []bound
	if cfg != nil {
		for _, b := range bindings(cfg) {
			if (s.file == "" || sameFile(b.file, s.file)) && (s.graph == "" || s.graph == b.name()) {
				fits = append(fits, b)
			}
		}
	}
	switch {
	case len(fits) > 1 && s.graph == "":
		// The server's policy is selected only if it is named, or if there is no other.
		graphs := slices.DeleteFunc(slices.Clone(fits), func(b bound) bool { return b.graph == "" })
		if len(graphs) != 1 {
			return bound{}, policy.Options{}, usage.Errorf("--graph is missing; policies apply to %s", boundNames(fits))
		}
		fits = graphs
	case len(fits) == 0 && s.file != "":
		return s.unboundFile(cmd)
	case len(fits) == 0 && cfg == nil:
		return bound{}, policy.Options{}, usage.Errorf("there is no cluster.yaml here; name its folder with --cluster, or give a policy file")
	case len(fits) == 0 && s.graph != "":
		return bound{}, policy.Options{}, fmt.Errorf("no policy in %s applies to %s; its policies apply to %s", cfg.File, s.graph, boundNames(bindings(cfg)))
	case len(fits) == 0:
		return bound{}, policy.Options{}, fmt.Errorf("%s has no section policies; add one, or give a policy file", cfg.File)
	}
	o, err := optionsOf(cmd, cfg, fits[0])
	return fits[0], o, err
}

// unboundFile returns the selection of a policy file that no cluster.yaml names. The names of
// queries in such a file cannot be checked.
func (s *policySource) unboundFile(cmd *cobra.Command) (bound, policy.Options, error) {
	b := bound{file: s.file, graph: s.graph}
	switch s.graph {
	case "":
		b.graph = "graph"
	case OnServer:
		b.graph = ""
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: no cluster.yaml names the file, so the command does not check the names of queries\n", s.file)
	return b, policy.Options{Graph: b.graph, AnyQuery: true}, nil
}

// name returns the id of the graph, or OnServer.
func (b bound) name() string {
	if b.graph == "" {
		return OnServer
	}
	return b.graph
}

// boundNames lists the graphs and servers that policies apply to.
func boundNames(all []bound) string {
	var s []string
	for _, b := range all {
		s = append(s, b.name())
	}
	if s == nil {
		return "nothing"
	}
	return strings.Join(s, ", ")
}

// sameFile reports whether two paths name the same existing file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// optionsOf returns the options for compiling a policy: the names that the policy may use. Among
// them are the stored queries of every graph that the policy's file applies to; optionsOf reads
// these queries from their sources.
func optionsOf(cmd *cobra.Command, cfg *cluster.Config, b bound) (policy.Options, error) {
	o := policy.Options{Graph: b.graph, Graphs: cfg.PolicyGraphs(b.file), TokenGroups: cfg.Server.TokenGroups(), EarlierAgents: cfg.Server.EarlierAgents(), LooseGroups: true, Claims: cfg.Server.Claims}
	if g := cfg.Graph(b.graph); g != nil {
		o.Protected = g.Protected
	}
	for _, id := range o.Graphs {
		schema, queries, err := compileGraph(cmd, cfg, cfg.Graph(id))
		if err != nil {
			return o, err
		}
		o.Queries, o.Schemas = append(o.Queries, queries...), append(o.Schemas, schema)
	}
	return o, nil
}

// schemaOf returns the schema of the graph of a policy, or nil for a policy of a server or of a graph that is not known.
func schemaOf(o policy.Options) *engine.Schema {
	i := slices.Index(o.Graphs, o.Graph)
	if i < 0 || i >= len(o.Schemas) {
		return nil
	}
	return &engine.Schema{Catalog: o.Schemas[i], Digest: catalog.Digest(o.Schemas[i])}
}

// compileGraph compiles the sources of a graph, and returns its schema and the names of its stored queries.
func compileGraph(cmd *cobra.Command, cfg *cluster.Config, g *cluster.Graph) (*catalog.Schema, []string, error) {
	text, err := os.ReadFile(g.Schema)
	if err != nil {
		return nil, nil, err
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: g.Schema, Text: string(text)})
	if err := faults.Err(); err != nil {
		return nil, nil, terminal.PrintFaults(cmd, err)
	}
	var sources []gq.Source
	for _, f := range g.QueryFiles {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, gq.Source{Name: f, Text: string(text)})
	}
	compiled, faults := (gq.Options{Claims: cfg.Server.Claims}).CompileQueries(schema, sources...)
	if err := faults.Err(); err != nil {
		return nil, nil, terminal.PrintFaults(cmd, err)
	}
	var queries []string
	for _, q := range compiled {
		if _, ok := g.Selected[q.Plan.Name]; ok || g.Selected == nil {
			queries = append(queries, q.Plan.Name)
		}
	}
	return schema, queries, nil
}

// checkFormat checks the value of the flag --format.
func checkFormat(value string) error {
	if value != "text" && value != "json" {
		return usage.Errorf("--format is %q; it must be text or json", value)
	}
	return nil
}

// tokenGroupsFlag adds a flag for the groups that the actor's token names.
func tokenGroupsFlag(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringSliceVar(to, "token-groups", nil, "the `GROUPS` that the actor's token contains, as the issuer names them")
}

// formatFlag adds the flag --format, which is text or json.
func formatFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "format", "text", "the format of the output: text or json")
}

// writeJSON writes v as indented JSON.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// maxOneArg allows one file or none.
func maxOneArg(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage.Errorf("%s takes at most one file, but %q was given too; see --help", cmd.CommandPath(), args[1])
	}
	return nil
}

// actionNamed checks the name of an action, and the arguments `query`, `source` and `via` that a user gave
// with it.
func actionNamed(action, query, source, via string, o policy.Options) error {
	known := policy.Actions(o.Graph == "")
	switch {
	case !slices.Contains(known, tool.Action(action)):
		all := make([]string, len(known))
		for i, a := range known {
			all[i] = string(a)
		}
		help := "expected one of " + strings.Join(all, ", ")
		if near := diag.DidYouMean(action, all); near != "" {
			help = near
		}
		return fmt.Errorf("unknown action %q; %s", action, help)
	case action == string(tool.InvokeQuery) && query == "":
		return errors.New("the action invoke_query needs a query; give the name of a stored query")
	case query != "" && !o.AnyQuery && !slices.Contains(o.Queries, query):
		if near := diag.DidYouMean(query, o.Queries); near != "" {
			return fmt.Errorf("unknown query %q; %s", query, near)
		}
		return fmt.Errorf("unknown query %q; the graph has %s", query, strings.Join(o.Queries, ", "))
	}
	row := tool.Action(action).Row()
	switch {
	case source != "" && row.On != tool.OnSource:
		return fmt.Errorf("a source is only for load_source, not for %s", action)
	case via == "":
	case !row.ByVia():
		return fmt.Errorf("via applies only to read, change and branch_merge, not to %s", action)
	case !slices.Contains(row.Vias[:], tool.Via(via)):
		return fmt.Errorf("via is %q; for %s it must be %s or %s", via, action, row.Vias[0], row.Vias[1])
	}
	return nil
}
