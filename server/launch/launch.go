// Package launch implements the command omnigraph-server for any set of generated packages. A
// module with stored queries of its own builds its server by calling [Main].
package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/buildversion"
	"github.com/omnigraph-go/omnigraph/internal/gcpace"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/processors"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/observe"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Program holds the parts of a server binary that its module provides.
type Program struct {
	Catalogs []*tool.Catalog // from the generated packages
	Sample   Sample          // the query that --dev calls
	Engine   engine.Engine   // opens the graphs; nil for the embedded engine
}

// Sample names a stored query that needs no arguments. If the graph has no such query, or for the
// zero value, --dev calls the first exposed read that needs none.
type Sample struct{ Graph, Query string }

// usageError is an error in the command line.
type usageError struct{ error }

// Main runs the command with the arguments of the process. If the command fails, Main exits
// with status 1, or with status 2 if the fault is in the command line.
func Main(p Program) {
	// The first signal stops the server gracefully; a second one kills the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	err := newCommand(p).ExecuteContext(ctx)
	if err == nil {
		return
	}
	var faults diag.List
	if errors.As(err, &faults) {
		diag.Render(os.Stderr, faults, sources(faults), false)
	} else {
		fmt.Fprintf(os.Stderr, "omnigraph-server: %v\n", err)
	}
	var usage usageError
	if errors.As(err, &usage) {
		os.Exit(2)
	}
	os.Exit(1)
}

// options are the flags of the command.
type options struct {
	cluster, bind   string // the folder with cluster.yaml; the address to listen on
	unauthenticated bool   // let anyone do anything
	requireAll      bool   // do not start if a graph cannot be opened
	appliedPolicy   bool   // start with the applied policies even if the files differ
	compiledOnly    bool   // ignore the stored queries of the applied revision
	dev             bool   // write a development token and show one call
	verbose         bool   // log at level debug
	logFormat       string // text or json
	logLevel        string // the lowest level of the lines in the log
	logRequests     bool   // log every request
	node, advertise string // name and address of the server among those that share its storage
	connections     int    // limit of connections; 0 for the default
}

// newCommand returns the command omnigraph-server with its flags.
func newCommand(p Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "omnigraph-server",
		Short: "Serve the graphs of a cluster.yaml over MCP and REST",
		Long: `Serve the graphs of a cluster.yaml over MCP and REST.

The server serves the graphs, the stored queries and the policies of the revision that
omnigraph cluster apply recorded, with the settings of cluster.yaml. If it cannot open a graph, it quarantines the graph: it
answers requests to the graph with 503 until it is restarted, and /readyz lists the graph.

The server accepts the bearer tokens of the file that OMNIGRAPH_TOKENS_FILE names, of
the variables OMNIGRAPH_TOKEN_<ACTOR>, and of the issuer that cluster.yaml names under
server.oidc. It prints the address that it listens on as
OMNIGRAPH_LISTEN_ADDR=host:port; with port 0 it chooses a free port. If systemd passes a
socket (LISTEN_FDS), the server serves on it, and --bind may be absent. The server tries
to use no more memory than GOMEMLIMIT, such as 2GiB; the default is four fifths of the
memory that is available.

SIGTERM stops the server once the calls in flight have ended. SIGHUP makes it read the
tokens again, and does not stop it. What omnigraph cluster apply applies takes effect while the
server runs; everything else that changed does at the next start.`,
		Example:       "  omnigraph-server --cluster . --bind 127.0.0.1:8080\n  omnigraph-server --cluster . --bind 127.0.0.1:0 --dev",
		Version:       buildversion.Program(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, args []string) error { return serve(cmd, p, o) },
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	cmd.Flags().StringVar(&o.cluster, "cluster", ".", "the folder that holds cluster.yaml")
	cmd.Flags().StringVar(&o.bind, "bind", "127.0.0.1:8080", "the address to listen on")
	cmd.Flags().BoolVar(&o.unauthenticated, "unauthenticated", false, "let anyone do anything; allowed only if there are no tokens and no policy")
	cmd.Flags().BoolVar(&o.requireAll, "require-all", false, "open all graphs at the start, and do not start if one cannot be opened, instead of serving the others")
	cmd.Flags().BoolVar(&o.compiledOnly, "compiled-only", false, "ignore the stored queries of the applied revision, and serve only those that are compiled into this program")
	cmd.Flags().BoolVar(&o.appliedPolicy, "applied-policy", false, "serve the policies of the applied revision even if the policy files differ from them")
	cmd.Flags().BoolVar(&o.dev, "dev", false, "write a development token to the data folder, print it, and show one call")
	cmd.Flags().IntVar(&o.connections, "max-connections", 0, fmt.Sprintf("the maximum number of connections; at the maximum, a new connection closes the one that has been idle longest (default %d, or three quarters of the files that may be open)", server.DefaultMaxConnections))
	cmd.Flags().StringVar(&o.node, "node", "", "with shared storage, the name of this server, which no other server has (default: the host name and the port)")
	cmd.Flags().StringVar(&o.advertise, "advertise", "", "with shared storage, the address of this server in the list peers of cluster.yaml")
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "log at level debug")
	_ = cmd.MarkFlagDirname("cluster")
	for _, name := range []string{"bind", "node", "advertise"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.AddCommand(newHealth(), newDocs())
	cmd.Flags().StringVar(&o.logFormat, "log-format", "text", "the format of log lines: "+strings.Join(observe.Formats, ", "))
	cmd.Flags().StringVar(&o.logLevel, "log-level", "info", "the lowest level of log lines: "+strings.Join(observe.Levels, ", "))
	cmd.Flags().BoolVar(&o.logRequests, "log-requests", false, "log every request, not only failed requests, slow requests and writes")
	return cmd
}

// patience is how long the start waits for a previous server. It exceeds the drain time of that
// server.
const patience = 20 * time.Second

// noArgs rejects positional arguments as a usage error.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument %q; see --help", cmd.CommandPath(), args[0])}
	}
	return nil
}

// serve runs the server until a signal stops it.
func serve(cmd *cobra.Command, p Program, o options) (err error) {
	if o.verbose {
		o.logLevel = "debug"
	}
	log, err := observe.NewLogger(cmd.ErrOrStderr(), o.logFormat, o.logLevel)
	if err != nil {
		return usageError{err}
	}
	tracer, flush, err := observe.Tracing(cmd.Context(), buildversion.Program(), os.Getenv, log)
	if err != nil {
		return err
	}
	defer flush() // runs after the graphs are closed

	config, err := cluster.Read(filepath.Join(o.cluster, "cluster.yaml"))
	if err != nil {
		return err
	}
	// From here on a hangup does not end the process, not even while the graphs open.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	tokens, token, err := loadTokens(config, o.dev)
	if err != nil {
		return err
	}
	ln, passed, err := listen(&o, cmd.Flags().Changed("bind"))
	if err != nil {
		return err
	}
	defer ln.Close()
	if o.node == "" {
		o.node = nodeName(ln.Addr())
	}
	var dev *server.Dev
	if faults := os.Getenv(server.DevFaultsVar); o.dev && faults != "" {
		dev = &server.Dev{Faults: faults, Actor: devActor}
	}
	limitMemory(log)
	defer gcpace.Space(heapGrowth)()
	defer processors.Spare()()
	s, err := server.Open(cmd.Context(), server.Options{
		Engine: p.Engine, Cluster: config, Catalogs: p.Catalogs, CompiledOnly: o.compiledOnly, AppliedPolicy: o.appliedPolicy,
		Node: o.node, Bind: o.bind, Advertise: o.advertise, MaxConnections: o.connections, SocketOutlivesServer: passed,
		Tokens: tokens, Unauthenticated: o.unauthenticated, RequireAll: o.requireAll, Patience: patience, Dev: dev,
		Version: buildversion.Program(), SourceVersion: buildversion.Commit(),
		Log: log, LogRequests: o.logRequests, Tracer: tracer,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()

	p.Catalogs = s.Catalogs()
	fmt.Fprintf(cmd.OutOrStdout(), "OMNIGRAPH_LISTEN_ADDR=%s\n", ln.Addr())
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	shown := make(chan struct{})
	if o.dev {
		fmt.Fprintf(cmd.OutOrStdout(), "OMNIGRAPH_DEV_TOKEN=%s\n", token)
		go func() {
			defer close(shown)
			showCall(ctx, cmd.OutOrStdout(), o.bind, ln.Addr(), s, config, p, token)
		}()
	} else {
		close(shown)
	}
	reloads := make(chan struct{})
	go func() {
		defer close(reloads)
		reloadTokens(ctx, hangups, tokens, func() (*auth.Tokens, error) {
			fresh, _, err := loadTokens(config, o.dev)
			return fresh, err
		}, log)
	}()
	err = s.Serve(ctx, ln)
	cancel()
	<-shown
	<-reloads
	return err
}

// nodeName returns the default name of a server: the host name in lower case and the port. It
// replaces each character that a name may not have with a hyphen.
func nodeName(addr net.Addr) string {
	host, err := os.Hostname()
	if err != nil {
		host = "server"
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(host))
	name = name[:min(len(name), 80)]
	if tcp, ok := addr.(*net.TCPAddr); ok {
		name = fmt.Sprintf("%s-%d", name, tcp.Port)
	}
	return name
}

// sources reads the files of the diagnostics, so that their lines can be shown.
func sources(faults diag.List) map[string]string {
	texts := map[string]string{}
	for _, d := range faults {
		if b, err := os.ReadFile(d.Span.File); err == nil {
			texts[d.Span.File] = string(b)
		}
	}
	return texts
}
