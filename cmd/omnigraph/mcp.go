package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/index"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/credentials"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// catalogs are the generated packages with the stored queries that are compiled into this binary.
var catalogs = []*tool.Catalog{code.Catalog()}

// tokenVar is the environment variable that holds the bearer token for a server.
const tokenVar = credentials.TokenVar

// localActor is the actor on a local graph if no flag names one.
const localActor = "local"

// newMCP makes the command omnigraph mcp.
func newMCP() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve a graph to one MCP client, and configure clients",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage.Errorf("unknown command %q; the commands are serve and install", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMCPServe(), newMCPInstall())
	return cmd
}

// endpoint is the graph to serve or use: a local store, or a graph of a server.
type endpoint struct {
	store, actor, policy string        // values of the flags for a local graph
	groups               []string      // the groups of the actor; see actor
	server, graph        string        // values of the flags for a graph of a server
	insecure             bool          // permits sending the token over http://
	timeout              time.Duration // time limit of a verb; 0 means no limit
	confirm              []string      // actions that the user of an MCP client must confirm
	toolsets             []string      // the sets of tools that are listed
	proposalKeep         time.Duration // how long a cleanup of a local graph keeps ended proposals; 0 means the default
}

// flags adds the flags to a command.
func (e *endpoint) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&e.store, "store", "", "the folder of a local graph, or the URL of shared storage")
	cmd.Flags().StringVar(&e.actor, "as", "", "the actor for a local graph (default "+localActor+")")
	cmd.Flags().StringSliceVar(&e.groups, "as-groups", nil, "the `GROUPS` of the actor for a local graph, for actor().groups")
	cmd.Flags().StringVar(&e.policy, "policy", "", "the policy file that decides what the actor may do (default: the actor may do everything)")
	cmd.Flags().StringVar(&e.server, "server", "", "the URL of a server, instead of a store")
	cmd.Flags().StringVar(&e.graph, "graph", "", "with --server or the URL of shared storage, the id of the graph; with a folder, the graph whose stored queries to use")
	cmd.Flags().BoolVar(&e.insecure, "insecure", false, "permit sending the token to another machine over http://, where others can read it")
}

// check reports faults of the flags.
func (e *endpoint) check() error {
	if err := e.fill(); err != nil {
		return err
	}
	switch {
	case e.store == "" && e.server == "":
		return usage.Errorf("--store or --server is missing; name a local graph's folder, or a server's URL and --graph, or choose a graph with: omnigraph context set")
	case e.store != "" && e.server != "":
		return usage.Errorf("--store and --server are both given; choose one")
	case address.Is(e.store) && !cluster.IsGraphID(e.graph):
		return usage.Errorf("--graph is missing or is not the id of a graph; name the graph in the shared storage")
	case e.server != "" && e.graph == "":
		return usage.Errorf("--graph is missing; name the graph of the server to use")
	case e.server != "" && (e.actor != "" || e.groups != nil || e.policy != ""):
		return usage.Errorf("--as, --as-groups and --policy are for a local graph; a server takes the actor from the token in %s", tokenVar)
	case e.timeout < 0:
		return usage.Errorf("--timeout is %v; it must be a positive duration, such as 30s", e.timeout)
	case e.policy != "" && e.actor == "":
		return usage.Errorf("--as is missing; name the actor that --policy applies to")
	}
	if e.server != "" {
		u, err := url.Parse(e.server)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			return usage.Errorf("--server is %q; give a URL such as http://127.0.0.1:8080", e.server)
		case u.User != nil:
			return usage.Errorf("--server contains a user name or a password; remove them, and set the token in %s", tokenVar)
		case u.RawQuery != "" || u.Fragment != "":
			return usage.Errorf("--server is %q; give a URL without ? and #", e.server)
		}
	}
	return nil
}

// newMCPServe makes the command omnigraph mcp serve.
func newMCPServe() *cobra.Command {
	var e endpoint
	cmd := &cobra.Command{
		Use:   "serve (--store DIR | --server URL --graph ID)",
		Short: "Serve a graph over MCP on standard input and output",
		Long: `Serve a graph to one MCP client over standard input and output, one JSON-RPC message per
line. The command serves a local graph in this process, and locks its folder while it runs.
For a graph of a server, it forwards the messages to the server with the bearer token that
other commands send; omnigraph --help says where the token comes from.

A local graph has the stored queries that were written for its schema: the queries
compiled into this binary, or else the query files that the cluster.yaml in the current
folder names. At the end of the input, the command answers the requests that it has
read, and exits.`,
		Example: "  omnigraph mcp serve --store data/code --as act-ada\n  OMNIGRAPH_TOKEN=… omnigraph mcp serve --server http://127.0.0.1:8080 --graph code",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(e.check(), e.checkConfirm()); err != nil {
				return err
			}
			err := e.serve(cmd)
			if errors.Is(err, context.Canceled) && cmd.Context().Err() != nil {
				return nil // a signal is a normal way for a client to end the session
			}
			return err
		},
	}
	e.flags(cmd)
	cmd.Flags().StringSliceVar(&e.confirm, "confirm", nil, "the `ACTIONS` on a local graph that the user must confirm: "+strings.Join(cluster.Confirmable, ", "))
	cmd.Flags().StringSliceVar(&e.toolsets, "toolsets", nil, "list only the tools of the `SETS`: "+strings.Join(cluster.Toolsets, ", "))
	return cmd
}

// checkConfirm reports faults of the flags --confirm and --toolsets.
func (e *endpoint) checkConfirm() error {
	if e.server != "" && e.confirm != nil {
		return usage.Errorf("--confirm is for a local graph; for a graph of a server set mcp.confirm in cluster.yaml")
	}
	for _, set := range e.toolsets {
		if !slices.Contains(cluster.Toolsets, set) {
			return usage.Errorf("--toolsets has the set %q; the sets are %s", set, strings.Join(cluster.Toolsets, ", "))
		}
	}
	for _, a := range e.confirm {
		if !slices.Contains(cluster.Confirmable, a) {
			return usage.Errorf("--confirm has the action %q; the actions are %s", a, strings.Join(cluster.Confirmable, ", "))
		}
	}
	return nil
}

// serve serves the graph until the end of the input.
func (e *endpoint) serve(cmd *cobra.Command) (err error) {
	ctx := cmd.Context()
	if e.server != "" {
		c, err := client.New(e.server)
		if err != nil {
			return err
		}
		token, err := e.token(ctx, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		address := c.Graph(e.graph).MCPURL()
		if e.toolsets != nil {
			address += "?toolsets=" + strings.Join(e.toolsets, ",")
		}
		return mcp.ProxyStdio(ctx, mcp.Remote{URL: address, Token: token, Client: c.HTTPClient()}, cmd.InOrStdin(), cmd.OutOrStdout())
	}
	g, err := e.openStore(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	warn := func(why string, fault error) { log.Warn(why, "fault", fault) }
	served, err := e.local(ctx, g, log, warn, servedgraph.Limits{}, builtin.Local(version(), index.ReadModule))
	if err != nil {
		return err
	}
	return mcp.ServeStdio(access.WithActor(ctx, e.localActor()), served, mcp.Options{}, cmd.InOrStdin(), cmd.OutOrStdout())
}

// local returns the served graph of a store, with the given built-in tools. Only the command that serves
// tools needs them, and it takes milliseconds to make them.
func (e *endpoint) local(ctx context.Context, g engine.Graph, log *slog.Logger, warn warning, limits servedgraph.Limits, builtins []tool.Tool) (*servedgraph.Graph, error) {
	queries, err := e.catalog(ctx, g, warn)
	if err != nil {
		return nil, err
	}
	var authorizer access.Authorizer = policy.Unrestricted(e.graph)
	if e.policy != "" {
		schema, err := g.Schema(ctx, engine.Target{})
		if err != nil {
			return nil, err
		}
		o := policy.Options{Graph: e.graph, Claims: claimsHere(), Schemas: []*catalog.Schema{schema.Catalog}}
		if queries != nil {
			for _, q := range queries.Queries {
				o.Queries = append(o.Queries, q.Info().Name)
			}
		}
		if o.Protected, err = e.protected(); err != nil {
			return nil, err
		}
		if authorizer, err = policy.Read(e.policy, o); err != nil {
			return nil, err
		}
	}
	keys, err := e.pageKeys(ctx, g)
	if err != nil {
		return nil, fmt.Errorf("read or create the key of page tokens: %w", err)
	}
	keys.Unlimited = true // the only client is the user of this command
	var confirm []tool.Action
	for _, a := range e.confirm {
		confirm = append(confirm, tool.Action(a))
	}
	return servedgraph.NewGraph(ctx, servedgraph.Config{
		Confirm: confirm, Toolsets: e.toolsets,
		ID: e.graph, Graph: g, Catalog: queries, Builtins: builtins, Authorizer: authorizer, Limits: limits, Version: version(), Logger: log,
		PageKeys: keys, Claims: claimsHere(),
	})
}

// claimsHere returns the claims that the cluster.yaml in the current folder, if there is one without faults, lets queries use.
func claimsHere() plan.Claims {
	cfg, err := cluster.Read(clusterFile)
	if err != nil {
		return nil
	}
	return cfg.Server.Claims
}

// protected returns what the cluster.yaml in the current folder, if there is one, says about the protected
// branches of the graph. Only a policy in Cedar's own language needs it.
func (e *endpoint) protected() (protected.Rules, error) {
	if filepath.Ext(e.policy) != ".cedar" {
		return protected.Rules{}, nil
	}
	cfg, err := cluster.Read(clusterFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return protected.Rules{}, nil
	case err != nil:
		return protected.Rules{}, fmt.Errorf("the protected branches of graph %s are unknown, because %s has errors: %w", e.graph, clusterFile, err)
	}
	if g := cfg.Graph(e.graph); g != nil {
		return g.Protected, nil
	}
	return protected.Rules{}, nil
}

// A warning reports why a store is served without stored queries, and the faults of the files that name them.
type warning func(why string, faults error)

// catalog returns the stored queries of a store. If a graph is named, they are that graph's
// queries. Otherwise they are the queries that were made for exactly the store's schema, if there
// are any. catalog looks first at the compiled-in packages, then at the sources of the cluster.yaml
// in the current folder.
func (e *endpoint) catalog(ctx context.Context, g engine.Graph, warn warning) (*tool.Catalog, error) {
	schema, err := g.Schema(ctx, engine.Target{})
	if err != nil {
		return nil, err
	}
	for _, c := range catalogs {
		if c.Graph == e.graph || e.graph == "" && c.SchemaDigest == schema.Digest {
			e.graph = c.Graph
			return c, nil
		}
	}
	cfg, err := cluster.Read(clusterFile)
	switch {
	case err == nil:
		for i := range cfg.Graphs {
			if g := &cfg.Graphs[i]; g.ID == e.graph || e.graph == "" && reconcile.SchemaDigest(g) == schema.Digest {
				named := e.graph != ""
				e.graph = g.ID
				catalog, err := reconcile.CompileQueries(cfg, g)
				if err != nil && !named { // optional here: the user did not name the graph
					warn("graph "+g.ID+" has no stored queries here, because their sources have errors", err)
					err = nil
				}
				return catalog, err
			}
		}
	case errors.Is(err, fs.ErrNotExist):
	case e.graph != "":
		return nil, err
	default:
		warn("the graph has no stored queries, because the "+clusterFile+" here has errors", err)
	}
	if address.Is(e.store) {
		return nil, nil // --graph names the graph in the shared storage
	}
	if e.graph != "" {
		return nil, usage.Errorf("--graph is %q, but neither this program nor a %s here has stored queries for this graph; leave --graph out to serve no stored queries", e.graph, clusterFile)
	}
	e.graph = "local"
	return nil, nil
}
