// Package server builds the chain of handlers that serves the graphs of a cluster: host check,
// authentication, admission, policy and the transports.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"al.essio.dev/pkg/shellescape"
	"go.opentelemetry.io/otel/trace"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/provider"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/hostcheck"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/audit"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/reopen"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/textlimit"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/uploads"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/webhook"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/observe"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken/seal"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Options configures a Server.
type Options struct {
	// Engine opens the graphs, each in a folder of the cluster's storage. Nil means the embedded
	// engine.
	Engine engine.Engine

	Cluster  *cluster.Config // the configuration to serve
	Catalogs []*tool.Catalog // from the generated packages of the binary
	Bind     string          // the listen address; the host check depends on it

	// CompiledOnly makes the server ignore the stored queries of the applied revision, and serve those of
	// Catalogs alone.
	CompiledOnly bool

	// AppliedPolicy makes the server start with the policies of the applied revision even if the files differ from them.
	AppliedPolicy bool

	// Node is the name of this server; no other server that uses the same storage has it. Advertise
	// is the address of this server in the list of peers. Both are ignored if the storage is a
	// folder.
	Node, Advertise string

	Tokens *auth.Tokens // the static tokens and their actors

	// Unauthenticated allows everyone to do everything. Open fails if it is set together with
	// tokens or policies.
	Unauthenticated bool

	// RequireAll makes Open open all graphs, and fail if one cannot be opened. Without it, Open quarantines
	// that graph and serves the others; a graph in shared storage is opened when it is first used.
	RequireAll bool

	// Patience is how long Open waits for files that another process has open. That process may be
	// the previous server while it drains, or a short run of cluster status. A graph that is still
	// locked after that time is quarantined.
	Patience time.Duration

	// Surface returns what a graph offers over MCP in addition to its own tools; nil adds nothing.
	Surface func(g *servedgraph.Graph) mcp.Options

	// SocketOutlivesServer says that another process holds the listening socket too, so that clients
	// can connect while no server accepts. Before the server closes idle connections, it waits until
	// their clients have had the time to send one more request, and tells those to connect again.
	SocketOutlivesServer bool

	// MaxConnections is the limit of simultaneous client connections. If a further client connects,
	// the server closes the connection that has been idle for longest, or the new one if all others
	// are busy. 0 means DefaultMaxConnections, or fewer if the process may not open that many
	// files.
	MaxConnections int

	Dev *Dev // set if gq dev started the server

	Version string // version of the server
	// SourceVersion is the commit of the source code that the program was built from; empty if
	// unknown.
	SourceVersion string
	Log           *slog.Logger // receives all log lines

	// LogRequests logs every request; without it only failed and slow requests are logged.
	LogRequests bool

	// Tracer creates spans for requests, calls and operators; nil creates none.
	Tracer trace.TracerProvider

	// Now is the clock for all expiry times, time limits and dates: of tokens and their keys, page
	// tokens, idempotency keys, commits, log lines, and Patience. It must be safe for concurrent
	// use. Nil means clock.Now.
	Now func() time.Time

	applied  *reconcile.Revision // the revision to serve, or nil; see usePolicies
	policies map[string][]byte   // the texts of the applied policies, by path; see usePolicies
	settings string              // digest of the text of cluster.yaml
}

// Server serves the graphs of a cluster. Call Close after Serve has returned.
type Server struct {
	log     *slog.Logger               // receives all log lines
	options Options                    // as Open got them, with the defaults
	handler http.Handler               // answers all requests
	current atomic.Pointer[generation] // what the server serves

	reloading sync.Mutex             // held while the next generation is made
	unserved  atomic.Pointer[string] // why the server cannot serve the recorded revision; nil if it does
	opened    openGraphs             // the graphs to close
	reaching  sync.Mutex             // held while a forwarded request waits for its revision; before reloading
	plans     otherPlans             // of revisions that it does not serve

	authenticator *auth.Authenticator // nil in the unauthenticated mode
	limit         *limiters           // of admission
	uploads       map[string]*uploads.Store

	storage  *reconcile.Cluster // where the graphs and the revision are
	shared   *shared            // nil if the storage is a folder of this server
	closers  []io.Closer        // the verifiers to close
	pageKeys seal.Keys          // of page tokens
	metrics  *observe.Set       // the metrics of the server
	trail    *audittrail.Trail  // nil if the server keeps none

	strangers *audit.Unidentified // records the requests without a valid token; nil without a trail

	memory *engine.Memory // the memory budget of the queries of all graphs
	conns  *connections   // enforces the connection limit

	queryMemory int64              // the limit of one query, in bytes
	texts       *textlimit.Limiter // limits the compilation of texts from callers

	draining                 atomic.Bool        // the server has begun to stop
	delivering               sync.WaitGroup     // the deliveries of webhooks
	stopping                 context.Context    // ends when the server begins to stop
	stop                     context.CancelFunc // ends the context stopping
	drainTimeout, cutTimeout time.Duration      // the values of the constants with these names
	socketOutlives           bool               // see Options.SocketOutlivesServer
	lingerTimeout            time.Duration      // 0 unless the socket outlives the server or other servers share the storage

	patience time.Time // when the start stops waiting for other processes
}

const (
	// A client must send its header, and its whole request, within these times.
	headerTimeout  = 10 * time.Second
	requestTimeout = 2 * time.Minute // for the whole request

	// The server must finish its answer, and the client must read it, within this time. Otherwise a
	// client that does not read could keep an answer in memory for ever.
	answerTimeout = 10 * time.Minute
	idleTimeout   = 2 * time.Minute // for a connection without a request

	maxHeader = 64 << 10 // bytes of the header of a request
)

// Open opens the graphs of the applied revision and compiles their policies. With shared storage, it lets
// their first use open them, unless RequireAll is set. If RequireAll is not
// set and at least one graph can be opened, Open quarantines the graphs that cannot. A fault of the
// configuration is an error; a fault in a policy is a diag.List.
func Open(ctx context.Context, o Options) (_ *Server, err error) {
	o.Log = observe.WithRequests(o.Log)
	if o.Now == nil {
		o.Now = clock.Now
	}
	s := &Server{
		log: o.Log, metrics: observe.New(o.Version), conns: newConnections(maxConnections(o.MaxConnections)),
		drainTimeout: drainTimeout, cutTimeout: cutTimeout, socketOutlives: o.SocketOutlivesServer,
		uploads: map[string]*uploads.Store{},
	}
	if o.SocketOutlivesServer || o.Cluster.Shared != nil {
		s.lingerTimeout = lingerTimeout
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if _, err := auth.Start(o.Tokens.Len() > 0 || len(o.Cluster.Server.Methods()) > 0, hasPolicy(&o), o.Unauthenticated); err != nil {
		return nil, err
	}
	for _, d := range o.Cluster.Notes {
		o.Log.Info(d.Message, "place", d.Span.String())
	}
	hosts, err := hostcheck.New(hostcheck.Options{
		Bind: o.Bind, PublicHosts: servedHosts(o.Cluster), Origins: o.Cluster.Server.BrowserOrigins, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	if err := s.connect(ctx, &o); err != nil {
		return nil, err
	}
	if s.pageKeys, err = s.pageTokenKeys(ctx, &o); err != nil {
		return nil, fmt.Errorf("the key of page tokens: %w", err)
	}
	if err := s.openTrail(ctx, &o); err != nil {
		return nil, fmt.Errorf("the audit trail: %w", err)
	}
	limits := limitsOf(&o)
	warnAboutMemory(limits, o.Log)
	s.memory = engine.NewMemory(limits.MemoryBytes)
	s.queryMemory = limits.QueryBytes
	s.texts = textlimit.New(s.memory, s.queryMemory)
	s.metrics.QueryMemory(s.memory.Taken)
	s.limit = &limiters{newLimiter(limits, s.metrics), newSubscriptionLimiter(limits, s.metrics)}
	s.patience = o.Now().Add(o.Patience)
	o.settings = reconcile.SettingsDigest(o.Cluster)
	s.options = o
	first, err := s.generation(ctx, o, true)
	if err != nil {
		return nil, err
	}
	for _, c := range first.catalogs {
		if o.Cluster.Graph(c.Graph) == nil {
			o.Log.Info("this program contains stored queries for a graph that cluster.yaml does not name", "graph", c.Graph)
		}
	}
	s.begin(first)
	routes := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reachRevision(s, w, r) {
			s.current.Load().routes.ServeHTTP(w, r)
		}
	})
	s.handler = observe.Requests(recovered(canonical(hosts.Wrap(routes)), o.Log), observe.Options{
		Log: o.Log, Set: s.metrics, Tracer: o.Tracer, All: o.LogRequests, Quiet: probes, Now: o.Now,
	})
	return s, nil
}

// hasPolicy reports whether any graph, or the server, has a policy.
func hasPolicy(o *Options) bool {
	return slices.ContainsFunc(o.Cluster.Graphs, func(g cluster.Graph) bool { return g.Policy != "" }) || o.Cluster.ServerPolicy != ""
}

// open opens one graph with its policy and its catalog, or prepares it for its first use. It serves a graph that is open.
func (s *Server) open(ctx context.Context, o *Options, c *cluster.Graph, mode auth.Mode, b *boot) (*servedgraph.Graph, error) {
	authorizer, err := graphPolicy(o, c, mode)
	if err != nil {
		return nil, err
	}
	useNamed(catalogOf(o.Catalogs, c.ID), authorizer)
	if g := s.opened.graph(c.ID); g != nil {
		return s.again(ctx, o, c, g, authorizer, b)
	}
	place := s.storage.Place(c.ID)
	embedder, err := provider.New(c.Embedding)
	if err != nil {
		return nil, err
	}
	log := o.Log.With("graph", c.ID)
	options := engine.OpenOptions{
		Now: o.Now, MaxBranches: maxBranches(o, c), MaxBytes: c.Quota.Bytes, ProposalKeep: c.ProposalKeep,
		Embedder: counted(embedder, c.ID, s.metrics), QueryMemory: s.queryMemory, SharedMemory: s.memory,
		BackgroundFailed: func(err error) {
			log.Error(backgroundFault(s.shared != nil), "error", err)
		},
	}
	if applied := b.revision.Graph(c.ID); s.shared != nil && applied != nil && !o.RequireAll {
		return s.openOnUse(ctx, o, c, b.revision, options, authorizer)
	}
	g, err := openWithin(ctx, o, s.patience, "graph "+c.ID, func() (engine.Graph, error) {
		if s.shared != nil {
			return s.openReplica(ctx, c.ID, options)
		}
		return s.openFolder(ctx, place, options, log)
	})
	if err != nil {
		var missing *engine.NotFound
		if errors.As(err, &missing) {
			err = fmt.Errorf("%w; create it with: omnigraph cluster apply, or: omnigraph init --schema %s --store %s", err, shellescape.Quote(c.Schema), storeFlags(o, c.ID, place))
		}
		return nil, unopened{err}
	}
	served, err := s.serve(ctx, o, c, g, embedder, nil, authorizer, publisherOf(s, o, c.ID, b.revision))
	if err == nil {
		b.compare(ctx, o, served)
	}
	return served, err
}

// serve combines a graph with its catalog, and closes the graph if that fails. Unless it is nil, the binder
// checks the stored queries.
func (s *Server) serve(ctx context.Context, o *Options, c *cluster.Graph, g engine.Graph, embedder engine.Embedder, binder servedgraph.Binder, authorizer access.Authorizer, publisher operations.QueryPublisher) (*servedgraph.Graph, error) {
	served, err := serve(ctx, o, c, g, binder, s.catchUp(c.ID), s.writing(c.ID), deliversFor(s, c.ID), authorizer, publisher, plansFor(s, o, c.ID), s.pageKeys, audit.Trail{To: s.trail, Values: o.Cluster.Server.Audit.Values}, s.metrics, s.memory, s.texts)
	known := s.opened.graph(c.ID) != nil
	if err != nil {
		if known {
			return nil, err // maybe the graph opens itself again at the moment, so it is not quarantined
		}
		var data engine.Error
		if errors.As(err, &data) {
			err = unopened{err}
		}
		return nil, errors.Join(err, g.Close()) // free the lock, which omnigraph verify needs
	}
	if !known {
		s.opened.add(c.ID, openGraph{g, embedder})
		s.metrics.Watch(served)
	}
	return served, nil
}

// again serves an open graph with another catalog, policy and limits. The graph keeps the provider of vectors with which it was
// opened.
func (s *Server) again(ctx context.Context, o *Options, c *cluster.Graph, g engine.Graph, authorizer access.Authorizer, b *boot) (*servedgraph.Graph, error) {
	var binder servedgraph.Binder
	if applied := b.revision.Graph(c.ID); s.shared != nil && applied != nil {
		empty, err := emptyGraph(ctx, applied, s.opened.of(c.ID).embedder) // g may not be open, or lag behind the revision
		if err != nil {
			return nil, fmt.Errorf("the schema of the applied revision: %w", err)
		}
		defer empty.Close()
		binder = empty
	}
	return s.serve(ctx, o, c, g, nil, binder, authorizer, publisherOf(s, o, c.ID, b.revision))
}

// maxBranches returns the number of branches that a graph may have: its quota, or else the limit of the
// server.
func maxBranches(o *Options, c *cluster.Graph) int {
	return cmp.Or(c.Quota.Branches, limitsOf(o).Branches)
}

// backgroundFault returns the log line for work in the background that failed. Only servers with shared
// storage also read the log of another server.
func backgroundFault(shared bool) string {
	if shared {
		return "a checkpoint failed, or the server could not read the log of the graph; no data is lost, and the server tries again"
	}
	return "a checkpoint failed; no data is lost, and the graph tries again at the next checkpoint"
}

// openFolder opens a graph in a folder. If the storage of the graph fails later, the returned graph
// opens itself again.
func (s *Server) openFolder(ctx context.Context, dir string, options engine.OpenOptions, log *slog.Logger) (engine.Graph, error) {
	g, err := reopen.New(ctx, reopen.Options{
		Open: func(ctx context.Context, failed func(error)) (engine.Graph, error) {
			options := options
			options.StorageFailed = failed
			return s.storage.Engine.Open(ctx, dir, options)
		},
		Failed: func(err error) {
			log.Error("the storage of the graph failed; the graph refuses writes until the server has opened it again, which it does automatically", "error", err)
		},
		Retried: func(err error, wait time.Duration) {
			log.Error("the server cannot open the graph again yet", "error", err, "next_attempt_in", wait)
		},
		Reopened: func() { log.Info("the server opened the graph again; the graph accepts writes") },
	})
	if err != nil {
		return nil, err // not `return g, err`, because a nil *reopen.Graph in an engine.Graph is not nil
	}
	return g, nil
}

// storeFlags returns the value of the flag --store for a graph. If the storage is shared, the flag
// --graph with its value follows.
func storeFlags(o *Options, graph, place string) string {
	if shared := o.Cluster.Shared; shared != nil {
		return shellescape.Quote(shared.URL) + " --graph " + shellescape.Quote(graph)
	}
	return shellescape.Quote(place)
}

// engine returns the engine that opens the graphs.
func (o *Options) engine() engine.Engine {
	if o.Engine == nil {
		return embedded.Engine{}
	}
	return o.Engine
}

// serve combines a graph with its catalog, its limits and its authorizer.
func serve(ctx context.Context, o *Options, c *cluster.Graph, g engine.Graph, binder servedgraph.Binder, catchUp func(context.Context) error, writing func(context.Context) servedgraph.WriteRole, delivers servedgraph.WriterRole, authorizer access.Authorizer, publisher operations.QueryPublisher, plans servedgraph.Plans, pageKeys seal.Keys, trail audit.Trail, observer audit.Observer, memory encoding.Memory, texts *textlimit.Limiter) (*servedgraph.Graph, error) {
	catalog := catalogOf(o.Catalogs, c.ID)
	if catalog == nil {
		o.Log.Warn("neither this program nor the applied revision contains stored queries for the graph", "graph", c.ID)
	}
	tools := append(builtin.All(o.Version), builtin.Watching()...)
	if publisher != nil {
		tools = append(tools, builtin.Publishing()...)
	}
	var schema *engine.Schema
	if applied := o.applied.Graph(c.ID); applied != nil {
		compiled, faults := compile.StoredSchema(compile.Source{Name: c.ID + ".pg", Text: applied.Source})
		if err := faults.Err(); err != nil {
			return nil, fmt.Errorf("the schema of the applied revision: %w", err)
		}
		schema = &engine.Schema{Source: applied.Source, Digest: applied.Schema, Catalog: compiled}
	}
	return servedgraph.NewGraph(ctx, servedgraph.Config{
		AppliedSchema: schema, Plans: plans,
		ID: c.ID, Graph: g, Binder: binder, CatchUp: catchUp, Writing: writing, Catalog: catalog, Builtins: tools, Authorizer: authorizer, Publisher: publisher,
		Limits:   servedgraph.Limits{MaxRows: c.MaxRows, MaxBytes: c.MaxBytes, Refuse: c.RefuseOversize, LoadBytes: cmp.Or(o.Cluster.Server.Limits.LoadBytes, c.Quota.Bytes), Timeout: o.Cluster.Server.Limits.RequestTimeout, AnswerBytes: limitsOf(o).MemoryBytes / answerShare},
		Drafts:   servedgraph.DraftLimits{Keep: c.DraftKeep, Max: c.MaxDrafts},
		Webhooks: webhook.Settings{Hosts: c.Watches.Hosts, Loopback: c.Watches.Loopback}, RightsFor: c.Watches.RightsFor, Delivers: delivers,
		Version: o.Version, Logger: o.Log, MetaThreshold: c.MetaThreshold, SourceFolder: c.Source, OutputSchemas: c.OutputSchemas, ObjectRows: c.ObjectRows, Toolsets: c.Toolsets, FlatArguments: c.FlatArguments, Confirm: actionsOf(c.Confirm), PageKeys: pageKeys, Claims: o.Cluster.Server.Claims, Observer: observer, Trail: trail, Memory: memory, TextLimit: texts, Now: o.Now,
	})
}

// actionsOf returns the actions with the given names.
func actionsOf(names []string) []tool.Action {
	var actions []tool.Action
	for _, name := range names {
		actions = append(actions, tool.Action(name))
	}
	return actions
}

// policy compiles an applied policy, or reads a policy file if the revision has none.
func (o *Options) policy(file string, options policy.Options) (*policy.Policy, error) {
	if text, ok := o.policies[file]; ok {
		return policy.CompileFile(file, text, options)
	}
	return policy.Read(file, options)
}

// serverPolicy returns the policy for actions that concern no graph.
func serverPolicy(o *Options, mode auth.Mode) (access.Authorizer, error) {
	switch {
	case mode == auth.Unauthenticated:
		return policy.Unrestricted(""), nil
	case mode == auth.ReadsOnly:
		return policy.ReadOnly(""), nil
	case o.Cluster.ServerPolicy == "":
		return policy.Nothing(""), nil
	}
	return o.policy(o.Cluster.ServerPolicy, policy.Options{TokenGroups: o.Cluster.Server.TokenGroups(), EarlierAgents: o.Cluster.Server.EarlierAgents(), LooseGroups: true})
}

// graphPolicy returns the authorizer of a graph for the mode of the server.
func graphPolicy(o *Options, c *cluster.Graph, mode auth.Mode) (access.Authorizer, error) {
	switch {
	case mode == auth.Unauthenticated:
		return policy.Unrestricted(c.ID), nil
	case mode == auth.ReadsOnly:
		return policy.ReadOnly(c.ID), nil
	case c.Policy == "":
		o.Log.Warn("no policy applies to the graph, so no one may use it; list the graph under applies_to of a policy in cluster.yaml", "graph", c.ID)
		return policy.Nothing(c.ID), nil
	}
	var queries []string
	for _, id := range o.Cluster.PolicyGraphs(c.Policy) {
		if catalog := catalogOf(o.Catalogs, id); catalog != nil {
			for _, q := range catalog.Queries {
				queries = append(queries, q.Info().Name)
			}
		}
	}
	p, err := o.policy(c.Policy, policy.Options{
		Graph: c.ID, Graphs: o.Cluster.PolicyGraphs(c.Policy), Queries: queries, UnknownQueries: true,
		TokenGroups: o.Cluster.Server.TokenGroups(), EarlierAgents: o.Cluster.Server.EarlierAgents(), LooseGroups: true, Protected: c.Protected,
		Claims: o.Cluster.Server.Claims,
	})
	if err != nil {
		return nil, err
	}
	for _, d := range p.UnknownQueries() {
		o.Log.Warn("the policy names a query that the server does not have, so the rule has no effect for it; correct the name, or run omnigraph cluster apply", "graph", c.ID,
			"at", d.Span.String(), "fault", d.Message, "help", d.Help)
	}
	return p, nil
}

// catalogOf returns the catalog of a graph, or nil.
func catalogOf(catalogs []*tool.Catalog, graph string) *tool.Catalog {
	for _, c := range catalogs {
		if c.Graph == graph {
			return c
		}
	}
	return nil
}

// Serves reports whether the server serves a graph. It is false for a quarantined graph.
func (s *Server) Serves(graph string) bool {
	return slices.ContainsFunc(s.current.Load().served, func(g *servedgraph.Graph) bool { return g.ID() == graph })
}

// Catalogs returns the stored queries of the graphs, from the program and from the applied revision. Those that
// do not fit the schema of their graph are not served.
func (s *Server) Catalogs() []*tool.Catalog { return s.current.Load().catalogs }

// Handler returns the handler of the whole server.
func (s *Server) Handler() http.Handler { return s.handler }

// Close closes the graphs and stops fetching the keys of the token issuer.
func (s *Server) Close() error {
	endDeliveries(s)
	if s.strangers != nil {
		s.strangers.Close()
	}
	closeTrail(s.trail, s.log) // before the lock of its chain is free
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	s.closers = nil
	s.opened.closing.Wait()
	s.leave()
	errs = append(errs, s.opened.close())
	s.disconnect()
	return errors.Join(errs...)
}
