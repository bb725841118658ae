package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/replica"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/control"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/forward"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken/seal"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
)

// ageHeader is the header in which a server states how old the data in its answer may be, in whole seconds, if
// another server may have written the graph since.
const ageHeader = "Omnigraph-Data-Age"

// shared is what a server keeps for its shared storage.
type shared struct {
	storage   *replica.Storage
	graphs    sync.Map           // the served graphs, *replica.Graph by id; some are not open
	forwarder *forward.Forwarder // nil if cluster.yaml names no peers
	secret    string             // of requests of applies; see package control
	done      func()             // ends the connection to the storage
}

// graph returns a served graph, or nil.
func (s *shared) graph(id string) *replica.Graph {
	g, ok := s.graphs.Load(id)
	if !ok {
		return nil
	}
	return g.(*replica.Graph)
}

// connect connects the server to the storage of the cluster. It sets s.storage. If several servers
// share the storage, it also sets s.shared.
func (s *Server) connect(ctx context.Context, o *Options) error {
	c := o.Cluster.Shared
	if c == nil {
		s.storage = &reconcile.Cluster{FS: fs.OS(), Storage: o.Cluster.Storage, Engine: o.engine()}
		return nil
	}
	if _, ok := o.engine().(embedded.Engine); !ok {
		return errors.New("cluster.yaml has shared storage, but this program has an engine of its own; write the path of a folder as storage")
	}
	own, err := ownAddress(o)
	if err != nil {
		return err
	}
	if err := replica.CheckNodeID(o.Node); err != nil {
		return fmt.Errorf("%w; name the server with --node", err)
	}
	o.Log.Info("probing the shared storage", "storage", address.Redacted(c.URL))
	if err := address.Probe(ctx, c.URL); err != nil {
		return fmt.Errorf("the shared storage %s cannot be used: %w", address.Redacted(c.URL), err)
	}
	bucket, done, err := address.Open(ctx, c.URL)
	if err != nil {
		return fmt.Errorf("the shared storage %s: %w", address.Redacted(c.URL), err)
	}
	revision, err := (&reconcile.Cluster{Bucket: bucket}).Revision(ctx)
	if err != nil {
		done()
		return err
	}
	secret, err := control.SharedSecret(ctx, bucket, false)
	if err != nil {
		done()
		return fmt.Errorf("the secret of the servers in the shared storage: %w", err)
	}
	digest, err := configDigest(o, revision)
	if err != nil {
		done()
		return fmt.Errorf("reading the files of the configuration: %w", err)
	}
	node := replica.NewNode(replica.NodeOptions{
		Bucket: bucket, ID: o.Node, Address: own, Lease: c.Lease, Config: digest,
		Twin: func() {
			o.Log.Error("another running server has the same name; give each server another name with --node", "node", o.Node)
		},
		Failed: func(err error) {
			o.Log.Warn("the server could not renew its lease in the shared storage; other servers may take over its graphs", "error", err)
		},
	})
	storage := &replica.Storage{
		Bucket: bucket, Cache: c.Cache, Bound: embedded.NewCacheBound(c.CacheBytes), Node: node, MaxStaleness: c.MaxStaleness, Retention: c.Retention,
		Idle: c.Idle, HeldUntil: clock.Now().Add(o.Patience),
		Changed: func(graph string, st replica.State) {
			o.Log.Info("role of this server", "graph", graph, "role", string(st.Role), "epoch", st.Epoch, "writer", st.Writer.Node, "lag", st.Lag)
		},
		Failed: func(graph string, err error) {
			o.Log.Warn("the server could not become the writer of the graph; it tries again", "graph", graph, "error", err)
		},
		Fault: func(graph string, err error) {
			o.Log.Error("a graph could not be opened or closed; until it is open, the server answers its requests with 503, and tries again by itself", "graph", graph, "error", err)
		},
		Collected: func(graph string, n embedded.Collected, err error) {
			if err != nil {
				o.Log.Warn("the server could not delete all unneeded objects of the graph; it tries again", "graph", graph, "error", err)
				return
			}
			o.Log.Info("deleted unneeded objects of the graph", "graph", graph, "log", n.LogObjects, "checkpoints", n.Checkpoints, "segments", n.Segments, "kept", n.Pinned)
		},
	}
	s.shared = &shared{storage: storage, secret: secret, done: done}
	s.storage = &reconcile.Cluster{Bucket: bucket, Engine: storage}
	if len(o.Cluster.Peers) > 0 {
		s.shared.forwarder = forward.New(forward.Options{Node: o.Node, Own: own, Peers: o.Cluster.Peers, Lease: cmp.Or(c.Lease, replica.DefaultLease), Log: o.Log, Revision: func() string {
			if now := s.current.Load(); now != nil && now.revision != nil {
				return s.shared.state(now.revision.Number)
			}
			return ""
		}})
	}
	return node.Start(ctx)
}

// ownAddress returns the address at which the other servers reach this server. It returns "" if
// cluster.yaml names no peers.
func ownAddress(o *Options) (string, error) {
	peers := o.Cluster.Peers
	switch {
	case o.Advertise == "" && len(peers) == 0:
		return "", nil
	case o.Advertise == "":
		return "", fmt.Errorf("--advertise is missing; name the address of this server, one of %s", strings.Join(peers, ", "))
	}
	own, err := cluster.PeerAddress(o.Advertise)
	if err != nil {
		return "", fmt.Errorf("--advertise: %w", err)
	}
	if !slices.Contains(peers, own) {
		return "", fmt.Errorf("--advertise is %s, but peers in %s does not list it; add it there on every server", own, o.Cluster.File)
	}
	return own, nil
}

// servedHosts returns the hosts that a request may name: those under which clients and other
// servers reach this server. It returns nil if any host is allowed.
func servedHosts(c *cluster.Config) []string {
	if len(c.Server.PublicHosts) == 0 {
		return nil
	}
	hosts := slices.Clone(c.Server.PublicHosts)
	for _, peer := range c.Peers {
		if u, err := url.Parse(peer); err == nil {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}

// pageTokenName is the name of the object with the keys of page tokens, in the form of seal.ParseKeys.
const pageTokenName = seal.KeyFile

// pageTokenKeys returns the keys of page tokens: those in the environment, or those in the storage. All
// servers that share a storage use the same keys.
func (s *Server) pageTokenKeys(ctx context.Context, o *Options) (seal.Keys, error) {
	switch keys, err := seal.FromEnvironment(os.Getenv); {
	case err != nil, len(keys.List) > 0:
		return keys, err
	case s.shared == nil:
		return seal.FromFolder(o.Cluster.Storage)
	}
	return SharedPageTokenKeys(ctx, s.shared.storage.Bucket)
}

// SharedPageTokenKeys returns the keys of page tokens in shared storage. If there are none yet, it makes a key
// and stores it.
func SharedPageTokenKeys(ctx context.Context, bucket object.Bucket) (seal.Keys, error) {
	read := func(ctx context.Context) ([][]byte, error) { return sharedKeys(ctx, bucket) }
	list, err := read(ctx)
	if errors.Is(err, object.ErrNotFound) {
		list = [][]byte{seal.NewKey()}
		err = object.Establish(ctx, bucket, pageTokenName, []byte(hex.EncodeToString(list[0])))
		if errors.Is(err, object.ErrExists) {
			list, err = read(ctx) // another server was faster
		}
	}
	return seal.Keys{List: list, Again: read}, err
}

// sharedKeys reads the keys of page tokens in shared storage.
func sharedKeys(ctx context.Context, bucket object.Bucket) ([][]byte, error) {
	text, err := bucket.Read(ctx, pageTokenName, 0, object.Whole)
	if err != nil {
		return nil, err
	}
	list, err := seal.ParseKeys(string(text))
	if err != nil {
		return nil, fmt.Errorf("the object %s of the shared storage: %w; correct or remove it: without it, the next server that starts makes a new key, and existing page tokens stop working", pageTokenName, err)
	}
	return list, nil
}

// openOnUse serves a graph in shared storage that its first use opens. It checks the stored queries
// against the schema in the applied revision.
func (s *Server) openOnUse(ctx context.Context, o *Options, c *cluster.Graph, revision *reconcile.Revision, options engine.OpenOptions, authorizer access.Authorizer) (*servedgraph.Graph, error) {
	var binder servedgraph.Binder = noQueries{}
	if catalogOf(o.Catalogs, c.ID) != nil {
		empty, err := emptyGraph(ctx, revision.Graph(c.ID), options.Embedder)
		if err != nil {
			return nil, fmt.Errorf("the schema of the applied revision: %w; run omnigraph cluster apply, or start the server with --require-all", err)
		}
		defer empty.Close()
		binder = empty
	}
	g, err := s.shared.storage.OpenOnUse(c.ID, options, func(ctx context.Context) {
		now := s.current.Load()
		if now == nil {
			return
		}
		for _, sg := range now.served {
			if sg.ID() == c.ID {
				now.compare(ctx, o, sg)
				sg.WarnReserved(ctx)
				sg.WarnParts(ctx)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	s.shared.graphs.Store(c.ID, g)
	return s.serve(ctx, o, c, g, options.Embedder, binder, authorizer, publisherOf(s, o, c.ID, revision))
}

// noQueries is the binder of a graph without stored queries.
type noQueries struct{}

// Bind implements servedgraph.Binder.
func (noQueries) Bind(context.Context, *plan.Query, engine.Target) error { return nil }

// emptyGraph returns a graph in memory with the schema of an applied graph.
func emptyGraph(ctx context.Context, applied *reconcile.Graph, embedder engine.Embedder) (engine.Graph, error) {
	schema, faults := compile.StoredSchema(compile.Source{Name: applied.ID + ".pg", Text: applied.Source})
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return embedded.Engine{FS: fs.NewMem()}.Create(ctx, applied.ID, applied.Source, schema, engine.OpenOptions{Embedder: embedder})
}

// openReplica opens a graph in shared storage.
func (s *Server) openReplica(ctx context.Context, id string, o engine.OpenOptions) (engine.Graph, error) {
	g, err := s.storage.Engine.Open(ctx, id, o)
	if err != nil {
		return nil, err
	}
	s.shared.graphs.Store(id, g.(*replica.Graph))
	return g, nil
}

// catchUp returns a function that makes this server read the log of a graph to its end. It returns
// nil if the storage is a folder.
func (s *Server) catchUp(graph string) func(context.Context) error {
	if s.shared == nil {
		return nil
	}
	return s.shared.graph(graph).CatchUp
}

// catchUpTime is how long a server waits for the log of a graph before it serves a revision with another schema.
const catchUpTime = 2 * time.Second

// catchUpSchemas reads the logs of the graphs whose schemas differ between two generations, so that reads of the later one see the schema.
// If that fails, queries run with the plans of the earlier one until the server has read the log.
func (s *shared) catchUpSchemas(ctx context.Context, before, after *generation) {
	if s == nil || before.revision == nil || after.revision == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	for _, g := range after.revision.Graphs {
		if was := before.revision.Graph(g.ID); was == nil || was.Schema == g.Schema {
			continue
		}
		if open := s.graph(g.ID); open != nil && open.State().Role == replica.Reader {
			_ = open.CatchUpSchema(ctx, g.Schema)
		}
	}
}

// writing returns the function for servedgraph.Config.Writing. It returns nil if the storage is a folder.
func (s *Server) writing(graph string) func(context.Context) servedgraph.WriteRole {
	if s.shared == nil {
		return nil
	}
	g := s.shared.graph(graph)
	return func(ctx context.Context) (role servedgraph.WriteRole) {
		_ = g.Claim(ctx) // if the graph has no writer at the moment; the call itself reports the fault
		role.Writer, role.Confirm = g.Writing()
		return role
	}
}

// written returns a graph for an apply. The error is an *engine.Unavailable if another server writes it, and an *engine.NotFound if this
// server has closed it because it has no calls: then the apply opens the graph itself, and disturbs nobody.
func (s *shared) written(ctx context.Context, id string) (engine.Graph, error) {
	g := s.graph(id)
	if g == nil || g.State().Role == replica.Idle {
		return nil, &engine.NotFound{What: "graph", Name: id}
	}
	if err := g.Claim(ctx); err != nil {
		return nil, err
	}
	if g.State().Role != replica.Writer {
		return nil, &engine.Unavailable{Reason: "another server writes the graph"}
	}
	return g, nil
}

// state returns the value of forward.RevisionHeader for a revision: its number, with a proof that a server of the cluster states it.
func (s *shared) state(number uint64) string {
	text := strconv.FormatUint(number, 10)
	h := hmac.New(sha256.New, []byte(s.secret))
	h.Write([]byte("revision " + text))
	return text + " " + hex.EncodeToString(h.Sum(nil))
}

// reachRevision makes the server serve at least the revision by which another server forwarded a request. It returns false after it answered
// the request, because that failed: the policy of the later revision could refuse the call.
func reachRevision(s *Server, w http.ResponseWriter, r *http.Request) bool {
	stated := r.Header.Get(forward.RevisionHeader)
	if stated == "" || s.shared == nil {
		return true
	}
	text, _, _ := strings.Cut(stated, " ")
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil || !hmac.Equal([]byte(stated), []byte(s.shared.state(number))) {
		return true // a client stated it
	}
	served := func() bool {
		now := s.current.Load()
		return now.revision != nil && now.revision.Number >= number
	}
	if served() || reach(r.Context(), s, number, served) {
		return true
	}
	envelope.Write(w, wireerror.Explain(&engine.Unavailable{Reason: "the server does not serve the revision yet", RetryAfter: time.Second}))
	return false
}

// reach reads the recorded revision until `served` returns true, and returns that. If the server failed to serve a revision, the requests that
// wait fail at once, and followRevisions tries again.
func reach(ctx context.Context, s *Server, number uint64, served func() bool) bool {
	s.reaching.Lock()
	defer s.reaching.Unlock()
	if served() || s.unserved.Load() != nil || ctx.Err() != nil {
		return served()
	}
	if err := s.Reload(ctx); err != nil {
		s.log.WarnContext(ctx, "another server forwarded a request by a later revision, which this server cannot serve yet", "revision", number, "error", err)
	}
	return served()
}

// maxRepeated is the longest body that a server keeps in memory, so that it can forward the request again if the
// writer changes.
const maxRepeated = 1 << 20

// forwarding returns the function that forwards requests that write to a graph. If the writer is stopping, the
// function waits for the next one. forwarding returns nil if this server forwards no requests.
func (s *Server) forwarding(graph string) func(w http.ResponseWriter, r *http.Request, body []byte) bool {
	if s.shared == nil || s.shared.forwarder == nil {
		return nil
	}
	g := s.shared.graph(graph)
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		for {
			if g.Claim(r.Context()) != nil {
				return false // the call itself reports the fault
			}
			state := g.State()
			if state.Role == replica.Writer {
				return false
			}
			w.Header()[ageHeader] = nil // not sent: the answer comes from the writer, whose data is not old
			if forward.Forwarded(r) {
				s.shared.forwarder.Refuse(w)
				return true
			}
			if body == nil {
				body = shortBody(r)
			}
			switch s.shared.forwarder.Send(w, r, state.Writer.Address, body) {
			case forward.Declined:
				return false
			case forward.Answered:
				return true
			}
			if !g.AwaitWriter(r.Context(), state.Writer) {
				s.shared.forwarder.Unreachable(w, r, state.Writer.Address)
				return true
			}
		}
	}
}

// shortBody reads the body of a request if it has at most maxRepeated bytes, and leaves an equal body in its
// place. It returns nil for a longer body, and if the client does not send all of it.
func shortBody(r *http.Request) []byte {
	if r.ContentLength <= 0 || r.ContentLength > maxRepeated {
		return nil
	}
	body := make([]byte, r.ContentLength)
	n, err := io.ReadFull(r.Body, body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body[:n]), r.Body), r.Body} // after an error, r.Body returns it again
	if err != nil {
		return nil
	}
	return body
}

// forwardOverREST returns the function for rest.Options.Forward. It returns nil if this server
// forwards no requests.
func (s *Server) forwardOverREST(served []*servedgraph.Graph) func(w http.ResponseWriter, r *http.Request, graph string) bool {
	if s.shared == nil || s.shared.forwarder == nil {
		return nil
	}
	send := map[string]func(http.ResponseWriter, *http.Request, []byte) bool{}
	for _, g := range served {
		send[g.ID()] = s.forwarding(g.ID())
	}
	return func(w http.ResponseWriter, r *http.Request, graph string) bool {
		f := send[graph]
		return f != nil && f(w, r, nil)
	}
}

// keepAuthorization returns a handler that keeps the Authorization header of each request for the
// forwarder, and then calls `next`.
func (s *Server) keepAuthorization(next http.Handler) http.Handler {
	if s.shared == nil || s.shared.forwarder == nil {
		return next
	}
	return s.shared.forwarder.Keep(next)
}

// tellAge returns a handler that calls `next`. If a request is about a graph that another server may have written
// since, the handler first sets the header with the age of the data.
func (s *Server) tellAge(next http.Handler) http.Handler {
	if s.shared == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if segments := strings.SplitN(r.URL.EscapedPath(), "/", 4); len(segments) > 3 && segments[1] == "graphs" {
			id, err := url.PathUnescape(segments[2])
			if g := s.shared.graph(id); err == nil && g != nil {
				if g.State().Role == replica.Idle {
					w = &agedWriter{ResponseWriter: w, graph: g} // the call opens the graph
				} else {
					setAge(w.Header(), g)
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// setAge sets the header with the age of the data if this server only reads the graph, or is a writer that is
// cut off from the storage.
func setAge(h http.Header, g *replica.Graph) {
	if state := g.State(); state.MayLag {
		h.Set(ageHeader, strconv.Itoa(int(math.Ceil(state.Lag.Seconds()))))
	}
}

// agedWriter sets the header with the age of the data when the answer begins.
type agedWriter struct {
	http.ResponseWriter
	graph *replica.Graph
	begun bool
}

// begin sets the header, once.
func (w *agedWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	if _, decided := w.Header()[ageHeader]; !decided {
		setAge(w.Header(), w.graph)
	}
}

// WriteHeader implements http.ResponseWriter.
func (w *agedWriter) WriteHeader(status int) {
	w.begin()
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *agedWriter) Write(b []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *agedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// configFault returns an error while the configuration of this server differs from that of another server
// that shares the storage; see replica.Node.Differs.
func (s *Server) configFault() error {
	if s.shared == nil {
		return nil
	}
	if other, found := s.shared.storage.Node.Differs(); found {
		return replica.ConfigError(other)
	}
	return nil
}

// tellRole adds to the readiness of a graph whether this server writes the graph, and how far
// behind it is.
func (s *Server) tellRole(x *client.GraphReadiness) {
	if s.shared == nil {
		return
	}
	g := s.shared.graph(x.GraphID)
	if g == nil {
		return
	}
	state := g.State()
	x.Role, x.Epoch, x.Writer = string(state.Role), state.Epoch, state.Writer.Node
	x.LagMS = state.Lag.Milliseconds()
}

// announceTime is how long a server that stops waits until the storage has its announcement.
const announceTime = time.Second

// announceStop tells the other servers that this one is about to stop.
func (s *Server) announceStop() {
	if s.shared == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), announceTime)
	defer cancel()
	s.shared.storage.Node.AnnounceStop(ctx)
}

// leave removes this server's lease, so that other servers take over the graphs that it writes. It
// must be called before the graphs are closed.
func (s *Server) leave() {
	if s.shared == nil {
		return
	}
	if err := s.shared.storage.Node.Leave(context.Background()); err != nil {
		s.log.Warn("the server could not remove its lease from the shared storage; other servers take over its graphs when the lease ends", "error", err)
	}
}

// disconnect ends the connections to the storage and to other servers. The graphs must have been
// closed before.
func (s *Server) disconnect() {
	if s.shared == nil {
		return
	}
	if s.shared.forwarder != nil {
		_ = s.shared.forwarder.Close()
	}
	s.shared.done()
	s.shared = nil
}
