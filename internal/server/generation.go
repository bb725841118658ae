package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"al.essio.dev/pkg/shellescape"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/control"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// generation is what the server serves of one revision. It does not change. When a later revision is recorded, the
// server makes another generation over the same open graphs. Calls in flight end on the one on which they began, and
// streams of events end, so that their clients connect again.
type generation struct {
	*boot
	catalogs []*tool.Catalog         // the stored queries, compiled into the program and applied
	config   *cluster.Config         // cluster.yaml as this generation read it, with the applied policies
	settings string                  // digest of the text of cluster.yaml
	mode     auth.Mode               // of the server; the same in all generations
	overall  access.Authorizer       // the policy of the server itself
	routes   http.Handler            // answers the requests
	streams  context.Context         // ends with the streams of events
	end      context.CancelCauseFunc // ends the streams of events
}

// The times of the watch for a later revision.
const (
	revisionPause  = 300 * time.Millisecond // between two looks, and after the first attempt that failed
	maxReloadPause = 10 * time.Second       // after several attempts that failed
)

// awaitsSettings reports whether cluster.yaml has become the applied one since the generation read it.
func (g *generation) awaitsSettings() bool {
	return g.revision.HasPolicies() && g.settings != g.revision.Settings && reconcile.SettingsDigest(g.config) == g.revision.Settings
}

// generation makes what the server serves of the recorded revision. The first call opens the graphs, while it holds the lock of the
// storage, and sets s.authenticator; later calls open only the graphs that are new. The server does not change otherwise.
func (s *Server) generation(ctx context.Context, o Options, first bool) (_ *generation, err error) {
	streams, end := context.WithCancelCause(s.stopping)
	defer func() { // after the lock is released, which can fail
		if err != nil {
			end(nil)
		}
	}()
	if first {
		lock, err := openWithin(ctx, &o, s.patience, "the storage folder", s.storage.Lock)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, lock.Close()) }()
	}
	revision, err := s.storage.Revision(ctx)
	if err != nil {
		return nil, err
	}
	if err := o.useRevision(revision, first); err != nil {
		return nil, err
	}
	g := &generation{config: o.Cluster, settings: o.settings, streams: streams, end: end}
	if g.mode, err = auth.Start(o.Tokens.Len() > 0 || len(o.Cluster.Server.Methods()) > 0, hasPolicy(&o), o.Unauthenticated); err != nil {
		return nil, err
	}
	if !first && g.mode != s.current.Load().mode {
		return nil, errors.New("the first policy, or the removal of the last one, takes effect at the next start of the server; restart it")
	}
	if g.boot, err = s.boot(ctx, &o, g.mode, revision, first); err != nil {
		return nil, err
	}
	g.catalogs = o.Catalogs
	overall, err := serverPolicy(&o, g.mode)
	if err != nil {
		return nil, err
	}
	if first {
		if s.authenticator, err = s.identity(&o, g.mode); err != nil {
			return nil, err
		}
	}
	g.overall = overall
	g.routes, err = s.routes(&o, g.boot, overall, streams)
	return g, err
}

// useRevision puts the policies and the limits of the recorded revision into the options. At the start of a server, `first`, it also
// compares them with those of cluster.yaml.
func (o *Options) useRevision(r *reconcile.Revision, first bool) error {
	if first && !o.AppliedPolicy {
		if err := comparePolicies(o.Cluster, r); err != nil {
			return err
		}
	}
	limited := o.usePolicies(r)
	if first && limited {
		o.Log.Warn("cluster.yaml has other limits than the applied revision, whose limits are in force; run omnigraph cluster apply to change them", "revision", r.Number)
	}
	return nil
}

// comparePolicies returns an error if a policy file of cluster.yaml differs from the applied policy. Otherwise, a server would
// either serve a policy that nobody applied, or ignore the changes in the file without a word.
func comparePolicies(c *cluster.Config, r *reconcile.Revision) error {
	if !r.HasPolicies() {
		return nil
	}
	differs := func(whose, file string, applied *reconcile.Policy) error {
		found := ""
		switch {
		case file == "" && applied == nil:
			return nil
		case file == "":
			found = fmt.Sprintf("cluster.yaml names no policy of %s, but revision %d has %s", whose, r.Number, applied.File)
		default:
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if applied != nil && string(text) == applied.Text {
				return nil
			}
			found = fmt.Sprintf("%s, the policy of %s, differs from revision %d, which is applied", file, whose, r.Number)
		}
		return fmt.Errorf("%s; run omnigraph cluster apply --cluster %s, or start with --applied-policy to serve the applied policy", found, shellescape.Quote(filepath.Dir(c.File)))
	}
	for _, g := range r.Graphs {
		if at := c.Graph(g.ID); at != nil {
			if err := differs("graph "+g.ID, at.Policy, g.Policy); err != nil {
				return err
			}
		}
	}
	return differs("the server", c.ServerPolicy, r.Policy)
}

// usePolicies replaces the policies and the limits of cluster.yaml with those of a revision that has them. It reports whether a limit
// differed.
func (o *Options) usePolicies(r *reconcile.Revision) (limited bool) {
	o.applied = r
	if !r.HasPolicies() {
		return false
	}
	c := *o.Cluster
	c.Graphs = slices.Clone(c.Graphs)
	limited = r.Limit(&c)
	o.policies = map[string][]byte{}
	use := func(p *reconcile.Policy) string {
		if p == nil {
			return ""
		}
		path := filepath.Join(filepath.Dir(o.Cluster.File), filepath.FromSlash(p.File))
		o.policies[path] = []byte(p.Text)
		return path
	}
	for i := range c.Graphs {
		if g := r.Graph(c.Graphs[i].ID); g != nil {
			c.Graphs[i].Policy = use(g.Policy)
		}
	}
	c.ServerPolicy = use(r.Policy)
	o.Cluster = &c
	return limited
}

// Reload serves the recorded revision, with the settings that cluster.yaml has now for each graph. If that fails, the server
// goes on as before, and /readyz says why.
func (s *Server) Reload(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // the revision is recorded, whether or not the command still waits
	s.reloading.Lock()
	defer s.reloading.Unlock()
	before := s.current.Load()
	o := s.options
	if newer, err := s.storage.Newer(ctx, before.revision); err != nil || !newer && s.unserved.Load() == nil && len(before.quarantined) == 0 && before.settings == reconcile.SettingsDigest(o.Cluster) {
		return err
	}
	o.Cluster, o.settings = s.settings(ctx)
	g, err := s.generation(ctx, o, false)
	if err != nil {
		text := "the recorded revision is not served: " + err.Error()
		s.unserved.Store(&text)
		return err
	}
	s.unserved.Store(nil)
	s.shared.catchUpSchemas(ctx, before, g)
	s.begin(g)
	before.end(mcp.ErrReloaded)
	var ids []string
	for _, x := range g.served {
		ids = append(ids, x.ID())
	}
	left := s.opened.keep(ids, func(id string, err error) {
		if err != nil {
			s.log.Error("closing a graph that left the revision", "graph", id, "error", err)
		}
	})
	for _, id := range left { // before a later revision can open a graph with this id
		s.metrics.Forget(id)
		if s.shared != nil {
			s.shared.graphs.Delete(id)
		}
	}
	return nil
}

// begin serves a generation from now on.
func (s *Server) begin(g *generation) {
	s.plans.keep(g)
	s.limit.set(limitsOf(&Options{Cluster: g.config}))
	s.current.Store(g)
	deliver(s, g)
	if s.shared != nil && g.revision != nil {
		s.shared.storage.Node.Serve(g.revision.Number)
	}
}

// controlled returns the handler of the server. An apply can use the open graphs of the server through that
// handler, until the function that controlled returns is called.
func (s *Server) controlled(at net.Addr) (http.Handler, func()) {
	if s.storage == nil {
		return s.handler, func() {}
	}
	may := func(actor string) error { return s.current.Load().mayApply(actor) }
	if s.shared != nil {
		c := &control.Server{Secret: s.shared.secret, Knows: s.shared.storage.Node.Knows}
		return c.Handler(s.shared.written, s.Reload, may, s.handler), func() {}
	}
	c, withdraw, err := control.Announce(s.storage.Storage, at)
	if err != nil {
		s.log.Warn("the server could not write its address to the storage folder, so omnigraph cluster apply cannot change schemas while it runs", "error", err)
		return s.handler, func() {}
	}
	graph := func(_ context.Context, id string) (engine.Graph, error) {
		if g := s.opened.graph(id); g != nil {
			return g, nil
		}
		return nil, &engine.NotFound{What: "graph", Name: id}
	}
	return c.Handler(graph, s.Reload, may, s.handler), withdraw
}

// mayApply returns an error if the policy of the server in force names the action cluster_apply and does not allow it to the actor, or if
// the name is that of an agent's call. A policy that does not name the action leaves applies to those who may open the storage.
func (g *generation) mayApply(actor string) error {
	p, ok := g.overall.(*policy.Policy)
	if !ok || !policy.Decides(p, tool.ClusterApply) {
		return nil
	}
	const way = "; nothing was applied"
	if _, agents := engine.SplitActor(actor); len(agents) > 0 {
		return &engine.Conflict{Reason: "an agent must not apply for " + actor + way}
	}
	if !p.Allowed(&access.Actor{ID: actor}, tool.Grant{Action: tool.ClusterApply}) {
		return &engine.Conflict{Reason: "the policy of the server does not allow cluster_apply to " + actor + way}
	}
	return nil
}

// settings reads cluster.yaml again. It returns the configuration of the start with the graphs that the file has now, and the
// digest of the file. If the file cannot be read, or is not the one that was applied, it returns the configuration that the server has.
func (s *Server) settings(ctx context.Context) (*cluster.Config, string) {
	old, has := s.options.Cluster, s.current.Load()
	digest := reconcile.SettingsDigest(old)
	if r, err := s.storage.Revision(ctx); s.shared == nil && err == nil && r.HasPolicies() && r.Settings != digest {
		s.log.Warn("cluster.yaml differs from the applied one, so the server goes on with the settings that it has", "file", old.File)
		return has.config, digest
	}
	fresh, err := cluster.Read(old.File)
	if err != nil {
		s.log.Warn("cluster.yaml cannot be read, so the server goes on with the settings that it has", "error", err)
		return has.config, digest
	}
	rest := *fresh
	rest.Graphs, rest.ServerPolicy, rest.Notes = old.Graphs, old.ServerPolicy, old.Notes
	l := &rest.Server.Limits
	memory, query, branches := l.MemoryBytes, l.QueryBytes, l.Branches
	*l = old.Server.Limits // the revision has the other ones
	l.MemoryBytes, l.QueryBytes, l.Branches = memory, query, branches
	changed := !reflect.DeepEqual(&rest, old)
	for i := range fresh.Graphs {
		g, was := &fresh.Graphs[i], old.Graph(fresh.Graphs[i].ID)
		changed = changed || was != nil && (g.Quota != was.Quota || g.ProposalKeep != was.ProposalKeep || !reflect.DeepEqual(g.Embedding, was.Embedding))
	}
	if changed {
		s.log.Warn("cluster.yaml has changes that take effect at the next start of the server: only limits, mcp, queries, drafts and policies take effect while it runs", "file", old.File)
	}
	c := *old
	c.Graphs, c.ServerPolicy = fresh.Graphs, fresh.ServerPolicy
	return &c, digest
}

// followRevisions serves each later revision soon after it is recorded, until ctx ends.
func (s *Server) followRevisions(ctx context.Context) {
	if s.storage == nil {
		return
	}
	pause := time.NewTimer(revisionPause)
	defer pause.Stop()
	failed, backoff := false, revisionPause
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		wait := revisionPause
		now := s.current.Load()
		newer, err := s.storage.Newer(ctx, now.revision)
		if err != nil && ctx.Err() == nil && !failed {
			s.log.Warn("the server cannot see whether a later revision is recorded; it tries again", "error", err)
		}
		failed = err != nil
		if err == nil && (newer || now.awaitsSettings()) {
			if err := s.Reload(ctx); err != nil && ctx.Err() == nil {
				wait = backoff
				backoff = min(2*backoff, maxReloadPause)
				s.log.Error("the server cannot serve the revision that is recorded, and goes on with the one before; it tries again", "error", err, "next_attempt_in", wait)
			} else {
				backoff = revisionPause
			}
		}
		pause.Reset(wait)
	}
}
