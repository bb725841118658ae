package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/contexts"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
)

// newContext makes the command omnigraph context.
func newContext() *cobra.Command {
	cmd := usage.Group("context", "Name graphs, and choose the one that commands use", newContextList(), newContextSet(), newContextUse(), newContextDelete())
	cmd.Long = `Name graphs, and choose the one that commands use. A command without --store and --server works on
the graph of the current context, or of the one that ` + contexts.Var + ` names. The contexts
are in ` + contexts.FileName + `, without tokens.`
	return cmd
}

// contextRow is a line of the list of contexts.
type contextRow struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	Server  string `json:"server,omitempty"`
	Store   string `json:"store,omitempty"`
	Graph   string `json:"graph,omitempty"`
}

// newContextList makes the command omnigraph context list.
func newContextList() *cobra.Command {
	var f formatFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the contexts",
		Example: "  omnigraph context list",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			file, err := contexts.Read()
			if err != nil {
				return err
			}
			used, _, err := file.InUse()
			if err != nil {
				return err
			}
			rows := []contextRow{}
			for _, name := range file.Names() {
				c := file.Contexts[name]
				rows = append(rows, contextRow{name, name == used, c.Server, c.Store, c.Graph})
			}
			return f.print(cmd, &report{doc: map[string]any{"contexts": rows}, columns: columns("name", "current", "server", "store", "graph"), rows: rowsOf(rows)})
		},
	}
	f.flags(cmd)
	return cmd
}

// newContextSet makes the command omnigraph context set.
func newContextSet() *cobra.Command {
	var c contexts.Context
	cmd := &cobra.Command{
		Use:   "set NAME (--store DIR | --server URL --graph ID)",
		Short: "Make or change a context, and use it",
		Example: "  omnigraph context set work --server https://graph.example.com --graph people\n" +
			"  omnigraph context set here --store data/people",
		Args: usage.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e := endpoint{store: c.Store, server: c.Server, graph: c.Graph}
			if c.Store == "" && c.Server == "" {
				return usage.Errorf("--store or --server is missing; name a local graph's folder, or a server's URL and --graph")
			}
			if err := e.check(); err != nil {
				return err
			}
			if c.Store != "" && !address.Is(c.Store) {
				var err error
				if c.Store, err = filepath.Abs(c.Store); err != nil {
					return err
				}
			}
			return changeContexts(func(f *contexts.File) error {
				f.Contexts[args[0]], f.Current = c, args[0]
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&c.Store, "store", "", "the folder of a local graph, or the URL of shared storage")
	cmd.Flags().StringVar(&c.Server, "server", "", "the URL of a server, instead of a store")
	cmd.Flags().StringVar(&c.Graph, "graph", "", "with --server or the URL of shared storage, the id of the graph; with a folder, the graph whose stored queries to use")
	return cmd
}

// newContextUse makes the command omnigraph context use.
func newContextUse() *cobra.Command {
	return &cobra.Command{
		Use:     "use NAME",
		Short:   "Use another context",
		Example: "  omnigraph context use work",
		Args:    usage.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeContexts(func(f *contexts.File) error {
				f.Current = args[0]
				_, err := f.Find(args[0])
				return err
			})
		},
	}
}

// newContextDelete makes the command omnigraph context delete.
func newContextDelete() *cobra.Command {
	return &cobra.Command{
		Use:     "delete NAME",
		Short:   "Delete a context; the graph stays",
		Example: "  omnigraph context delete work",
		Args:    usage.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeContexts(func(f *contexts.File) error {
				if f.Current == args[0] {
					f.Current = ""
				}
				_, err := f.Find(args[0])
				delete(f.Contexts, args[0])
				return err
			})
		},
	}
}

// changeContexts changes the file of contexts unless the function returns an error.
func changeContexts(change func(*contexts.File) error) error {
	f, err := contexts.Read()
	if err != nil {
		return err
	}
	if err := change(f); err != nil {
		return err
	}
	return f.Write()
}

// fill takes the graph of the context in use if no flag names a graph.
func (e *endpoint) fill() error {
	if e.store != "" || e.server != "" {
		return nil
	}
	f, err := contexts.Read()
	if err != nil {
		return err
	}
	_, c, err := f.InUse()
	if err != nil {
		return err
	}
	e.store, e.server = c.Store, c.Server
	if e.graph == "" {
		e.graph = c.Graph
	}
	return nil
}

// contextNames completes the names of contexts.
func contextNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	f, err := contexts.Read()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return among(f.Names())
}
