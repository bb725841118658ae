package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// byFlag maps the names of flags to the functions that complete their values. A verb with its own
// completion for a flag does not use this list. A flag that is in no list has no completion.
var byFlag = map[string]cobra.CompletionFunc{
	"schema": files("pg"), "queries": files("gq"), "out": folders, "graph": graphs, "against": refs,
}

// formatsOf lists the values of --format by verb.
var formatsOf = map[string][]string{
	"lint": {"text", "json", "sarif", "github"}, "breaking": {"text", "json", "github"}, "catalog": {"table", "json"},
}

// byVerb maps verbs to the functions that complete their arguments.
var byVerb = map[string]cobra.CompletionFunc{
	"fmt": files("pg", "gq"), "lint": files("gq"), "explain": fileAndQuery,
}

// completions adds the completions of flags and arguments to every verb of root.
func completions(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if _, has := cmd.GetFlagCompletionFunc(f.Name); has || f.NoOptDefVal != "" {
				return
			}
			complete := byFlag[f.Name]
			if words := formatsOf[cmd.Name()]; f.Name == "format" {
				complete = cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
			}
			if complete == nil && f.Annotations[cobra.BashCompSubdirsInDir] == nil {
				complete = cobra.NoFileCompletions
			}
			if complete != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete)
			}
		})
		if cmd.ValidArgsFunction == nil {
			if cmd.ValidArgsFunction = byVerb[cmd.Name()]; cmd.ValidArgsFunction == nil {
				cmd.ValidArgsFunction = cobra.NoFileCompletions
			}
		}
	}
}

// files completes the paths of files with the given extensions.
func files(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

// folders completes the paths of folders.
func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// graphs completes the names of the graphs in cluster.yaml.
func graphs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if _, cfg, err := readCluster(io.Discard); err == nil {
		for _, g := range cfg.Graphs {
			names = append(names, g.ID)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// refs completes branches and tags of git, and files.
func refs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	out, err := git(".", "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return strings.Fields(string(out)), cobra.ShellCompDirectiveDefault
}

// fileAndQuery completes a .gq file, and then the name of a query in that file.
func fileAndQuery(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return []string{"gq"}, cobra.ShellCompDirectiveFilterFileExt
	case 1:
	default:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	parsed, _ := syntax.ParseQueries(args[0], string(text))
	var names []string
	for _, q := range parsed.Queries {
		names = append(names, q.Name.Value)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
