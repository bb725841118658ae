package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/clientconfig"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
)

// newMCPInstall makes the command omnigraph mcp install.
func newMCPInstall() *cobra.Command {
	var e endpoint
	var client, name, file string
	var show bool
	cmd := &cobra.Command{
		Use:   "install --client NAME (--store DIR | --server URL --graph ID)",
		Short: "Write an MCP client's configuration, or print it",
		Long: `Write the configuration with which an MCP client starts omnigraph mcp serve, or print it.
The command does not change other settings or comments in the file. It keeps a
copy of the old file with .bak appended to the name.

The clients are ` + strings.Join(clientconfig.Names(), ", ") + `. For
claude-code, vscode and opencode the command writes the file in the current folder, and
for the other clients the configuration file of the user.`,
		Example: "  omnigraph mcp install --client claude-code --store data/code --as act-ada\n  omnigraph mcp install --client codex --server https://graph.example.com --graph code --print",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := usage.Required(cmd, "client"); err != nil {
				return err
			}
			c, ok := clientconfig.Lookup(client)
			if !ok {
				return usage.Errorf("--client is %q; it must be one of %s", client, strings.Join(clientconfig.Names(), ", "))
			}
			if err := e.check(); err != nil {
				return err
			}
			server, err := e.launch(name)
			if err != nil {
				return err
			}
			if show {
				text, err := c.Merge(nil, server)
				if err != nil {
					return err
				}
				_, err = cmd.OutOrStdout().Write(text)
				return err
			}
			if file == "" {
				if file, err = c.Path(); err != nil {
					return err
				}
			}
			changed, err := c.Install(file, server)
			if err != nil {
				return err
			}
			if !changed {
				fmt.Fprintf(cmd.OutOrStdout(), "%s already has this configuration\n", file)
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "wrote the configuration of server %q to %s\n", server.Name, file)
			if len(server.Env) > 0 && !c.ExpandsEnv() {
				fmt.Fprintf(cmd.OutOrStdout(), "set %s in the environment of the client before you start it\n", strings.Join(server.Env, ", "))
			}
			return nil
		},
	}
	e.flags(cmd)
	cmd.Flags().StringVar(&client, "client", "", "the client: "+strings.Join(clientconfig.Names(), ", "))
	cmd.Flags().StringVar(&name, "name", "omnigraph", "the `NAME` of the server in the configuration of the client")
	cmd.Flags().StringVar(&file, "file", "", "the file to write, instead of the client's usual file")
	cmd.Flags().BoolVar(&show, "print", false, "print the configuration instead of writing it")
	return cmd
}

// launch returns the command that a client runs to start the session that the endpoint describes.
func (e *endpoint) launch(name string) (clientconfig.Server, error) {
	s := clientconfig.Server{Name: name}
	if strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", r)
	}) || name == "" {
		return s, usage.Errorf("--name is %q; use only letters, digits, _ and -", name)
	}
	executable, err := os.Executable()
	if err != nil {
		return s, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return s, err
	}
	start, err := clientconfig.Program(executable, dir)
	if err != nil {
		return s, err
	}
	args := []string{"mcp", "serve"}
	if e.server != "" {
		s.Env = []string{tokenVar}
		args = append(args, "--server", e.server, "--graph", e.graph)
	} else {
		// Clients may start their servers in any folder, so make the paths absolute.
		for _, path := range []*string{&e.store, &e.policy} {
			if *path == "" || address.Is(*path) {
				continue
			}
			if *path, err = filepath.Abs(*path); err != nil {
				return s, err
			}
		}
		args = append(args, "--store", e.store)
		for _, f := range [][2]string{{"--graph", e.graph}, {"--as", e.actor}, {"--as-groups", strings.Join(e.groups, ",")}, {"--policy", e.policy}} {
			if f[1] != "" {
				args = append(args, f[0], f[1])
			}
		}
	}
	s.Command = append(start, args...)
	return s, nil
}
