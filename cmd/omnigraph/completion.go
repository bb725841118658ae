package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/clientconfig"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/policies"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
)

// completionTime bounds how long a completion waits for a graph. Tests set it higher, because they
// check the completions and not their speed.
var completionTime = time.Second

const completedCommits = 50 // number of commits of main that are offered, latest first

// byFlag maps the names of flags to the functions that complete their values. A verb with its own
// completion for a flag does not use this list. A flag that is in no list has no completion,
// because files of the current folder would be wrong guesses.
var byFlag = map[string]cobra.CompletionFunc{
	"store": folders, "dir": folders, "cluster": folders,
	"data": files("jsonl", "ndjson"), "policy": files("yaml", "cedar"), "tests": files("yaml"), "schema": files("pg"),
	"query": files("gq"), "out": anyFile, "file": anyFile,
	"branch": branches, "from": branches, "into": branches, "type": types,
	"graph": graphs, "format": completeWords("text", "json"), "via": completeWords("adhoc", "stored", "proposal"), "client": completeWords(clientconfig.Names()...),
	"action": completeWords(actions()...), "confirm": completeWords(cluster.Confirmable...), "source": branches, "target": branches, "state": completeWords("open", "merged", "closed"), "take": completeWords("ours", "theirs", "value"), "at": commits, "if-commit": commits,
}

// byVerb maps verbs to the functions that complete their arguments.
var byVerb = map[string]cobra.CompletionFunc{
	"omnigraph branch delete": firstArgument(branches), "omnigraph merge": firstArgument(branches), "omnigraph proposal submit": firstArgument(branches),
	"omnigraph commit show": firstArgument(commits), "omnigraph changes": firstArgument(commits),
	"omnigraph query": firstArgument(queriesOfFile), "omnigraph mutate": firstArgument(queriesOfFile), "omnigraph proposal query": firstArgument(queriesOfFile), "omnigraph queries run": firstArgument(storedQueryNames),
	"omnigraph context use": firstArgument(contextNames), "omnigraph context delete": firstArgument(contextNames),
	"omnigraph policy validate": firstArgument(files("yaml", "cedar")), "omnigraph policy test": firstArgument(files("yaml", "cedar")), "omnigraph policy explain": firstArgument(files("yaml", "cedar")),
}

// completions adds the completions of flags and arguments to every verb below cmd.
func completions(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		completions(sub)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, has := cmd.GetFlagCompletionFunc(f.Name); has || f.NoOptDefVal != "" {
			return
		}
		complete := byFlag[f.Name]
		if strings.HasPrefix(cmd.CommandPath(), "omnigraph policy ") && (f.Name == "query" || f.Name == "branch" || f.Name == "source") {
			complete = map[string]cobra.CompletionFunc{"query": queriesOfCluster}[f.Name]
		}
		if complete == nil {
			complete = cobra.NoFileCompletions
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, complete)
	})
	if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
		if cmd.ValidArgsFunction = byVerb[cmd.CommandPath()]; cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
}

// completeWords completes with fixed words.
func completeWords(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// files completes the paths of files with the given extensions.
func files(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

// folders completes the paths of folders.
func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// anyFile completes the path of any file.
func anyFile(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// firstArgument completes only the first argument.
func firstArgument(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, prefix)
	}
}

// among offers the words as completions. The shell drops words that do not match the typed text.
func among(words []string) ([]string, cobra.ShellCompDirective) {
	return words, cobra.ShellCompDirectiveNoFileComp
}

// fromGraph completes with words from the graph that the flags name: a store that no process has
// open, or a graph of a server. If the graph does not answer in time, there are no completions.
func fromGraph(ask func(ctx context.Context, s *source) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		given := func(name string) string {
			if f := cmd.Flags().Lookup(name); f != nil {
				return f.Value.String()
			}
			return ""
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		cmd.SetContext(ctx)
		e := endpoint{store: given("store"), server: given("server"), graph: given("graph"), actor: given("as"), policy: given("policy"), insecure: given("insecure") == "true"}
		s, err := e.open(cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		words, err := ask(ctx, s)
		if s.Close() != nil || err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return among(words)
	}
}

// branches completes the names of the graph's branches.
func branches(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return fromGraph(func(ctx context.Context, s *source) ([]string, error) {
		list, err := s.Branches(ctx)
		return mapped(list, func(b client.BranchHead) string { return b.Name }), err
	})(cmd, args, prefix)
}

// commits completes the ids of commits.
func commits(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return fromGraph(func(ctx context.Context, s *source) ([]string, error) {
		list, err := s.Commits(ctx, "", "", engine.CommitRange{Limit: completedCommits})
		return mapped(list, func(c client.CommitAnswer) string { return c.GraphCommitID }), err
	})(cmd, args, prefix)
}

// types completes the names of the node and edge types.
func types(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return fromGraph(func(ctx context.Context, s *source) ([]string, error) {
		snapshot, err := s.graph.Snapshot(ctx, readOptions(engine.Target{})...)
		if err != nil {
			return nil, err
		}
		return mapped(snapshot.Datasets, func(d client.Dataset) string { return d.TypeName }), nil
	})(cmd, args, prefix)
}

// storedQueryNames completes the names of the stored queries.
func storedQueryNames(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return fromGraph(func(ctx context.Context, s *source) ([]string, error) {
		list, err := s.graph.Queries(ctx)
		if err != nil {
			return nil, err
		}
		return mapped(list.Queries, func(q client.QueryEntry) string { return q.Name }), nil
	})(cmd, args, prefix)
}

// queriesOfFile completes the names of the queries in the file of --query.
func queriesOfFile(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return among(queryNames(cmd.Flag("query").Value.String()))
}

// queriesOfCluster completes the names of the stored queries of cluster.yaml.
func queriesOfCluster(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if cfg := clusterOf(cmd); cfg != nil {
		for _, g := range cfg.Graphs {
			for _, file := range g.QueryFiles {
				names = append(names, queryNames(file)...)
			}
		}
	}
	return among(names)
}

// queryNames returns the names of the queries of a file that can be parsed.
func queryNames(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	parsed, _ := syntax.ParseQueries(path, string(text))
	return mapped(parsed.Queries, func(q *syntax.Query) string { return q.Name.Value })
}

// graphs completes the ids of the graphs in cluster.yaml.
func graphs(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	if cfg := clusterOf(cmd); cfg != nil {
		ids = mapped(cfg.Graphs, func(g cluster.Graph) string { return g.ID })
	}
	if strings.HasPrefix(cmd.CommandPath(), "omnigraph policy ") {
		ids = append(ids, policies.OnServer)
	}
	return among(ids)
}

// clusterOf reads the cluster.yaml in the folder of --cluster, or in the current folder. It returns
// nil if there is none.
func clusterOf(cmd *cobra.Command) *cluster.Config {
	dir := ""
	if f := cmd.Flags().Lookup("cluster"); f != nil {
		dir = f.Value.String()
	}
	cfg, err := cluster.Read(filepath.Join(dir, "cluster.yaml"))
	if err != nil {
		return nil
	}
	return cfg
}

// actions returns the names of all actions of policies.
func actions() []string {
	var names []string
	for _, server := range []bool{false, true} {
		for _, a := range policy.Actions(server) {
			names = append(names, string(a))
		}
	}
	return names
}

// mapped returns the result of f for each element.
func mapped[T, U any](list []T, f func(T) U) []U {
	results := make([]U, len(list))
	for i := range list {
		results[i] = f(list[i])
	}
	return results
}
