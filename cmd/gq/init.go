package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/omnigraph-go/omnigraph/internal/buildversion"
	"github.com/omnigraph-go/omnigraph/internal/codegen/scaffold"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// initCommand makes the command gq init.
func initCommand() *cobra.Command {
	var i initializer
	cmd := &cobra.Command{
		Use:   "init DIR [--module PATH] [--graph NAME] [--replace CHECKOUT] [--bind HOST:PORT] [--dry-run]",
		Short: "Create a Go module with a schema, queries, a policy and a server",
		Long: `Create a Go module in an empty folder: a schema, stored queries with their tests, a
policy with its test cases, initial data, a server with the queries compiled in, a
Makefile, a CI workflow and a Dockerfile. The command then prints shell commands (POSIX)
that start the server and call one of its queries.

The module requires the version of Omnigraph that this gq belongs to. A gq that was built
from a checkout has no released version and needs --replace with the checkout. The folder
may hold .git; if it holds anything else, the command fails and writes nothing.`,
		Example: `  gq init brain
  gq init brain --module example.com/acme/brain --dry-run
  gq init brain --graph library
  gq init brain --replace ../omnigraph`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{cmd, fmt.Errorf("got %d arguments; give only the folder of the new module", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return i.run(cmd, args[0]) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	f := cmd.Flags()
	f.StringVar(&i.path, "module", "", "the module `PATH` (default: the name of DIR)")
	f.StringVar(&i.graph, "graph", "team", "the `NAME` of the graph")
	f.StringVar(&i.replace, "replace", "", "the `DIR` of a checkout of Omnigraph to build with, instead of a released version")
	f.StringVar(&i.bind, "bind", "127.0.0.1:8080", "the `ADDRESS` on which the server listens if you run the printed commands")
	f.BoolVar(&i.dryRun, "dry-run", false, "write nothing; list the files")
	_ = cmd.MarkFlagDirname("replace")
	_ = cmd.RegisterFlagCompletionFunc("module", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("graph", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("bind", cobra.NoFileCompletions)
	return cmd
}

// initializer runs gq init with the values of its flags.
type initializer struct {
	path, graph, replace, bind string // path of the module, graph id, checkout, and address
	dryRun                     bool   // list the files, but write none
}

// run runs gq init.
func (i *initializer) run(cmd *cobra.Command, dir string) error {
	m, err := i.module(dir)
	if err != nil {
		return err
	}
	taken, err := scaffold.BlockingEntries(dir)
	if err != nil {
		return err
	}
	if len(taken) > 0 {
		return fmt.Errorf("%s is not empty: it holds %s; name a folder that is empty or does not exist", dir, some(taken, 5))
	}
	files, err := m.Files()
	if err != nil {
		return err
	}
	if !i.dryRun {
		if err := scaffold.Write(dir, files); err != nil {
			return fmt.Errorf("nothing was created: %w", err)
		}
	}
	w := cmd.OutOrStdout()
	for _, name := range files.Names() {
		fmt.Fprintln(w, filepath.Join(dir, filepath.FromSlash(name)))
	}
	if i.dryRun {
		return nil
	}
	fmt.Fprintf(w, "\nCreated the module %s. Run these commands next:\n\n", m.Path)
	if filepath.Clean(dir) != "." {
		fmt.Fprintf(w, "  cd %s\n", quoteFolder(dir))
	}
	for _, step := range m.Steps() {
		fmt.Fprintf(w, "  %s\n", step)
	}
	_, err = fmt.Fprintf(w, "\n%s\n\nThe server runs until Ctrl-C. In a second terminal, in the module's folder, call a query\nof the module over MCP:\n\n  %s\n", scaffold.CompileNote, m.Call())
	return err
}

// quoteFolder returns the path `dir` as an argument of cd. Without the prefix ./, cd would read a
// name that begins with - as a flag or as the previous folder.
func quoteFolder(dir string) string {
	if strings.HasPrefix(dir, "-") {
		dir = "./" + dir
	}
	return shellescape.Quote(dir)
}

// module returns the description of the module to create in dir.
func (i *initializer) module(dir string) (*scaffold.Module, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if !cluster.IsGraphID(i.graph) {
		return nil, fmt.Errorf("--graph is %q; use a name of at most 63 characters that starts with a lower-case letter, has only a-z, 0-9, _ and -, and is not cluster", i.graph)
	}
	m := &scaffold.Module{Path: cmp.Or(i.path, filepath.Base(full)), Bind: i.bind, Graph: i.graph, Workspace: inWorkspace(full)}
	if err := m.Check(); err != nil {
		return nil, err
	}
	if i.replace == "" {
		if m.Version = buildversion.Release(); m.Version == "" {
			info, _ := debug.ReadBuildInfo()
			m.Version, err = released(info)
		}
		return m, err
	}
	if m.Replace, err = filepath.Abs(i.replace); err != nil {
		return nil, err
	}
	m.Version = "v0.0.0" // the folder replaces all versions, so any version will do
	if !isCheckout(m.Replace) {
		return nil, fmt.Errorf("--replace is %s, but that folder does not hold the go.mod of %s; name a checkout of Omnigraph", i.replace, scaffold.Omnigraph)
	}
	return m, nil
}

// released returns the version of Omnigraph that the go command recorded in this binary. It succeeds
// only if the version came from a module proxy, so that other users can fetch it too.
func released(info *debug.BuildInfo) (string, error) {
	if info != nil {
		// A main module that was built from a local folder has no checksum.
		if m := info.Main; m.Path == scaffold.Omnigraph && m.Sum != "" {
			return m.Version, nil
		}
		for _, m := range info.Deps {
			if m.Path == scaffold.Omnigraph && m.Replace == nil && semver.IsValid(m.Version) {
				return m.Version, nil
			}
		}
	}
	checkout := "DIR"
	if path, err := findUp("go.mod"); err == nil && isCheckout(filepath.Dir(path)) {
		checkout = shellescape.Quote(filepath.Dir(path))
	}
	return "", errors.New("this gq was built from a checkout, so the version of Omnigraph to require is unknown; " +
		"name the checkout with --replace " + checkout + ", or install a released gq: go install " + scaffold.Omnigraph + "/cmd/gq@latest")
}

// isCheckout reports whether dir is the root of Omnigraph's module.
func isCheckout(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && modfile.ModulePath(text) == scaffold.Omnigraph
}

// inWorkspace reports whether the go command would treat dir as part of a workspace.
func inWorkspace(dir string) bool {
	if set := os.Getenv("GOWORK"); set != "" {
		return set != "off"
	}
	for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.work")); err == nil {
			return true
		}
		if filepath.Dir(up) == up {
			return false
		}
	}
}

// some joins the first n names and adds the number of the others.
func some(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}
