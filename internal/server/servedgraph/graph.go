// Package servedgraph implements a served graph: its tools, and the only path from a call to the
// engine. MCP and REST call [Graph.Do], which asks the policy. The command omnigraph goes through REST.
package servedgraph

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/audit"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/checks"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/codesource"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/reviewkey"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/textlimit"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/webhook"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken/seal"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// WriteRole is the role of this server during a call that may write.
type WriteRole struct {
	Writer bool // this server writes the graph

	// Confirm returns nil only if this server has been the writer since the start of the call, and if the
	// commits in flight are durable. It may send a request to the storage.
	Confirm func(ctx context.Context) error
}

// Config is the configuration of a served graph.
type Config struct {
	ID         string            // the id of the graph in URLs
	Graph      engine.Graph      // the open graph
	Binder     Binder            // checks the stored queries; nil means Graph, which may be opened for that
	Catalog    *tool.Catalog     // nil for a graph without stored queries
	Builtins   []tool.Tool       // the tools that do not come from stored queries
	Authorizer access.Authorizer // decides who may do what
	Limits     Limits            // for results over MCP; zero fields mean the defaults
	Version    string            // the version of the server
	Logger     *slog.Logger      // receives warnings and reports of calls

	// MetaThreshold is a number of exposed stored queries. A graph with at least this many offers
	// two meta tools that find and run them. In a graph with fewer, each query is a tool. The
	// default is 24.
	MetaThreshold int

	// OutputSchemas is true if tools/list contains the output schema of each tool, which doubles
	// the size of the list.
	OutputSchemas bool

	// ObjectRows is true if answers to models have rows as objects instead of arrays.
	ObjectRows bool

	// Toolsets are the sets of tools that tools/list shows to a client that asks for none. If there are none, it shows all.
	Toolsets []string

	// FlatArguments is true if the tools of stored queries take parameters at the top, and the other options under "_".
	FlatArguments bool

	// Confirm lists the actions that need a confirmation, in calls with a [Confirmer], before they
	// remove data or merge: branch_delete, branch_merge, schema_apply and change.
	Confirm []tool.Action

	// PageKeys are the keys of page tokens. If there are none, the Graph makes its own key, and another
	// Graph cannot open its tokens.
	PageKeys seal.Keys

	Now func() time.Time // the date of reads; nil means clock.Now

	Claims plan.Claims // the claims of callers that queries may use

	Drafts DraftLimits // limits of drafts; zero fields mean the defaults

	// Webhooks say to which receivers the events of watches may be sent, and RightsFor how long the rights of an owner count after
	// its last call; zero for the default. The server that writes the graph sends the events.
	Webhooks  webhook.Settings
	RightsFor time.Duration
	Delivers  WriterRole

	CheckLimits checks.Limits // limits of the runs of checks; zero fields mean the defaults

	Observer audit.Observer // is notified of calls; may be nil
	Trail    audit.Trail    // records calls

	// Memory is the budget for long answers with [encoding.Options.Parts]; nil means no limit.
	Memory encoding.Memory

	// CatchUp makes sure that later reads see every commit that was acknowledged before the call of
	// CatchUp. CatchUp is nil if reads always see these commits.
	CatchUp func(ctx context.Context) error

	// Writing returns the role of this server at the start of a call that may write. Writing is nil if no
	// other server can write the graph.
	Writing func(ctx context.Context) WriteRole

	// SourceFolder is the only folder in which the server looks for the files that a graph of source code was read from; empty for
	// none.
	SourceFolder string

	// Publisher serves proposed queries; nil if this server serves none.
	Publisher operations.QueryPublisher

	// AppliedSchema is the schema of the applied revision; nil if there is none. The policy was written for it, and with Plans, the
	// stored queries were compiled for it.
	AppliedSchema *engine.Schema

	// Plans returns a stored query with the plan for a schema of another revision, which has the digest, or nil. It is the query itself
	// if its names mean the same in that schema, and otherwise the query of that name in the other revision. It also reports whether the
	// query uses a name that a rename gives to something else, so that it must not bind by names. Plans is nil if there are no revisions.
	Plans Plans

	// TextLimit limits the compilation of callers' texts. If it is nil, this graph has its own
	// limiter, which takes its bytes from Memory.
	TextLimit *textlimit.Limiter
}

// WriterRole says which server writes a graph. The zero value is for a graph that no other server can write.
type WriterRole struct {
	Writes func() bool                     // whether this server does now
	Claim  func(ctx context.Context) error // makes this server the writer if no server is
	Tenure func() uint64                   // changes when this server begins to write the graph after another one may have written it
}

// Plans is the type of Config.Plans.
type Plans func(ctx context.Context, digest string, q tool.StoredQuery) (other tool.StoredQuery, renamed bool)

// Binder checks plans against a schema, like Bind of [engine.Graph].
type Binder interface {
	Bind(ctx context.Context, q *plan.Query, at engine.Target) error
}

// DefaultMetaThreshold is the default of Config.MetaThreshold.
const DefaultMetaThreshold = 24

// Graph is one served graph. It is safe for concurrent use. It does not own the engine's
// graph; the caller that opened that graph closes it.
type Graph struct {
	id     string
	engine engine.Graph    // the open graph
	access *access.Control // checks permissions

	limits  Limits        // of results over MCP
	version string        // version of the server
	outputs bool          // whether tools/list contains the output schemas
	objects bool          // whether answers to models have rows as objects
	flat    bool          // whether the tools of stored queries take parameters at the top
	claims  plan.Claims   // the claims of callers that queries may use
	confirm []tool.Action // the actions that need a confirmation; see Config
	log     *slog.Logger

	publisher operations.QueryPublisher // serves proposed queries; may be nil
	toolsets  []string                  // the sets that are listed by default; nil means all

	builtins []tool.Tool                 // the tools that do not come from stored queries
	stored   []tool.StoredQuery          // queries that fit the schema, in source order
	tools    map[string]tool.Tool        // by tool name: built-ins, and exposed queries or meta tools
	queries  map[string]tool.StoredQuery // by query name, including hidden queries
	leftOut  []LeftOut                   // stored queries that do not fit the schema
	checks   *checks.Runner              // runs the checks, including those that do not fit the schema

	unembedded []tool.StoredQuery // queries in leftOut that need an embedding provider
	meta       *metatools.Tools   // finds and runs stored queries; nil if each query is a tool

	pages  *seal.Sealer       // makes and opens page tokens
	record *audit.Recorder    // reports the calls
	trail  *audittrail.Trail  // may be nil
	now    func() time.Time   // returns the current time
	memory encoding.Memory    // memory budget of long answers; may be nil
	texts  *textlimit.Limiter // limits the compilation of texts from callers
	source *codesource.Reader // says whether source code has changed since it was read

	applied string // digest of Config.AppliedSchema; "" without Plans
	plans   Plans  // see Config; may be nil

	catchUp func(ctx context.Context) error // see Config; may be nil
	writing func(context.Context) WriteRole // see Config; may be nil

	heads  headWatch // the streams that wait for new commits
	events headWatch // the streams that wait for events of proposals; its only branch is main

	watching watchTurns // the evaluations of watches

	hookSender *webhook.Sender // sends the events of webhooks
	hookNews   chan struct{}   // receives a value when there may be something to do for webhooks
	owners     hookOwners      // of webhooks
	rightsFor  time.Duration   // see Config
	delivers   WriterRole      // see Config

	drafts  DraftLimits // limits of drafts
	opening opening     // the calls that open drafts

	reviewKeys *reviewkey.Store // of persons, on this server

	sizes operations.Sizes        // of the states of commits
	calls *operations.LastSummary // of the calls in the trail

	catalogDigest string // digest of all tool descriptors
}

// LeftOut is a stored query that is not served.
type LeftOut struct {
	Name   string // name of the query
	Reason string // why the query is not served
}

// NewGraph checks every compiled plan against the live schema of main, or with the Binder of the
// configuration, and returns the served graph. It logs and leaves out queries that do not fit, or whose tool has the name of a built-in
// one; see [Graph.LeftOut]. It returns an error if it cannot read the schema or if two stored queries have the same tool. With a
// Binder, NewGraph makes no call on the graph of the configuration.
func NewGraph(ctx context.Context, c Config) (*Graph, error) {
	g := &Graph{
		id: c.ID, engine: c.Graph, access: access.NewControl(c.Authorizer, c.Graph, c.AppliedSchema), limits: c.Limits.withDefaults(),
		version: c.Version, outputs: c.OutputSchemas, objects: c.ObjectRows, flat: c.FlatArguments, toolsets: c.Toolsets, claims: c.Claims, confirm: c.Confirm, log: c.Logger, builtins: c.Builtins, memory: c.Memory, catchUp: c.CatchUp, writing: c.Writing, plans: c.Plans, publisher: c.Publisher, drafts: c.Drafts.withDefaults(),
		tools: map[string]tool.Tool{}, queries: map[string]tool.StoredQuery{},
	}
	if c.Plans != nil && c.AppliedSchema != nil {
		g.applied = c.AppliedSchema.Digest
	}
	g.calls = operations.NewLastSummary()
	g.hookSender, g.hookNews = webhook.New(c.Webhooks), make(chan struct{}, 1)
	g.rightsFor, g.delivers = cmp.Or(c.RightsFor, DefaultRightsFor), c.Delivers
	g.source = codesource.New(c.Graph, c.SourceFolder)
	if g.texts = c.TextLimit; g.texts == nil {
		g.texts = textlimit.New(c.Memory, 0)
	}
	if g.now = c.Now; g.now == nil {
		g.now = clock.Now
	}
	g.reviewKeys = reviewkey.New(g.now, c.Delivers.Tenure)
	if len(c.PageKeys.List) == 0 {
		c.PageKeys.List = [][]byte{seal.NewKey()}
	}
	var err error
	if g.pages, err = seal.NewSealer(c.PageKeys); err != nil {
		return nil, err
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	g.log, g.trail = g.log.With("graph", c.ID), c.Trail.To
	if g.record, err = audit.NewRecorder(c.ID, g.log, c.Observer, c.PageKeys.List[0], c.Trail); err != nil {
		return nil, err
	}
	for _, t := range c.Builtins {
		if err := g.register(t); err != nil {
			return nil, err
		}
	}
	binder := c.Binder
	if binder == nil {
		binder = c.Graph
	}
	if c.Catalog != nil {
		for _, q := range c.Catalog.Queries {
			if err := g.addQuery(ctx, q, binder); err != nil {
				return nil, err
			}
		}
	}
	if err := g.makeTools(cmp.Or(c.MetaThreshold, DefaultMetaThreshold)); err != nil {
		return nil, err
	}
	var queries []tool.StoredQuery
	if c.Catalog != nil {
		queries = c.Catalog.Queries
	}
	limits := c.CheckLimits
	if limits == (checks.Limits{}) {
		limits = checks.Within(c.Limits.Timeout)
	}
	g.checks = checks.New(queries, limits, c.Now)
	g.heads.latest = func(branch tool.Branch) (string, error) { return latestCommit(g.engine, branch) }
	g.events.latest = func(tool.Branch) (string, error) { return latestEvent(g.engine) }
	g.catalogDigest = g.digest()
	if c.Binder == nil {
		g.WarnReserved(ctx)
		g.WarnParts(ctx)
	}
	return g, nil
}

// makeTools makes tools from the exposed stored queries: one for each query, or only the two
// meta tools if the number of queries reaches the threshold.
func (g *Graph) makeTools(threshold int) error {
	exposed := 0
	for _, q := range g.stored {
		if q.Info().Exposed {
			exposed++
		}
	}
	if !needsMeta(exposed, threshold) {
		return nil
	}
	p := metatools.New(g.mayRun)
	p.LeftOut = g.LacksProvider
	for _, q := range g.stored {
		if q.Info().Exposed {
			delete(g.tools, q.Descriptor().Name)
			p.Queries = append(p.Queries, q)
		}
	}
	g.meta = p
	for _, t := range p.Tools() {
		if err := g.register(t); err != nil {
			return err
		}
	}
	return nil
}

// ID returns the name of the graph in URLs.
func (g *Graph) ID() string { return g.id }

// Version returns the version of the server.
func (g *Graph) Version() string { return g.version }

// OutputSchemas reports whether tools/list contains the output schema of each tool.
func (g *Graph) OutputSchemas() bool { return g.outputs }

// ObjectRows reports whether answers to models have rows as objects instead of arrays.
func (g *Graph) ObjectRows() bool { return g.objects }

// FlatArguments reports whether the tools of stored queries take parameters at the top.
func (g *Graph) FlatArguments() bool { return g.flat }

// LeftOut lists the stored queries that are not served, with the reasons.
func (g *Graph) LeftOut() []LeftOut { return g.leftOut }

// Logger returns the logger of the graph's operations.
func (g *Graph) Logger() *slog.Logger { return g.log }

// CatalogDigest returns a digest, in the form sha256:…, of everything that clients can learn about
// tools. If it changes, the tool schemas in a client's cache are out of date.
func (g *Graph) CatalogDigest() string { return g.catalogDigest }

// SchemaDigest returns the digest of the live schema of main.
func (g *Graph) SchemaDigest(ctx context.Context) (string, error) {
	s, err := g.engine.Schema(ctx, engine.Target{})
	if err != nil {
		return "", err
	}
	return s.Digest, nil
}

// addQuery adds a stored query to the catalog if its plan fits the schema of the binder.
func (g *Graph) addQuery(ctx context.Context, q tool.StoredQuery, binder Binder) error {
	name := q.Info().Name
	if reason := g.claims.Misfit(q.Plan()); reason != "" {
		g.leftOut = append(g.leftOut, LeftOut{Name: name, Reason: reason})
		g.log.WarnContext(ctx, "a stored query uses a claim that the server does not map in this way and is left out", "query", name, "reason", reason)
		return nil
	}
	err := binder.Bind(ctx, q.Plan(), engine.Target{})
	if err != nil && g.bindsOtherwise(ctx, q, binder) {
		err = nil
	}
	if err != nil {
		var mismatch *engine.SchemaMismatch
		var unsupported *engine.Unsupported
		if !errors.As(err, &mismatch) && !errors.As(err, &unsupported) {
			return fmt.Errorf("checking stored query %s: %w", name, err)
		}
		if needsProvider(err) {
			g.unembedded = append(g.unembedded, q)
			err = g.withSetting(err)
		}
		g.leftOut = append(g.leftOut, LeftOut{Name: name, Reason: err.Error()})
		g.log.WarnContext(ctx, "a stored query does not fit the schema and is left out", "query", name, "reason", err.Error())
		return nil
	}
	if _, taken := g.queries[name]; taken {
		return fmt.Errorf("stored query %s occurs twice in the catalog", name)
	}
	if own := q.Descriptor().Name; q.Info().Exposed && slices.ContainsFunc(g.builtins, func(t tool.Tool) bool { return t.Descriptor().Name == own }) {
		// An earlier version, which had no such tool, compiled the query.
		reason := fmt.Sprintf("this version has a built-in tool %s; give the query another tool name with @mcp(tool_name: …), then run omnigraph cluster apply, or gq generate if the query is compiled into the program", own)
		g.leftOut = append(g.leftOut, LeftOut{Name: name, Reason: reason})
		g.log.WarnContext(ctx, "a stored query has the name of a built-in tool and is left out", "query", name, "reason", reason)
		return nil
	}
	if q.Info().Exposed {
		if err := g.register(queryrun.Tool{StoredQuery: q}); err != nil {
			return err
		}
	}
	g.queries[name] = q
	g.stored = append(g.stored, q)
	return nil
}

// bindsOtherwise reports whether main has a schema other than the applied one, for which another revision has the query: an apply has
// changed the schema, and has not recorded its revision.
func (g *Graph) bindsOtherwise(ctx context.Context, q tool.StoredQuery, binder Binder) bool {
	live, ok := binder.(engine.Graph)
	if !ok || g.plans == nil || g.applied == "" {
		return false
	}
	s, err := live.Schema(ctx, engine.Target{})
	if err != nil {
		return false
	}
	other, _ := g.planOf(ctx, s.Digest, q)
	return other != nil && binder.Bind(ctx, other.Plan(), engine.Target{}) == nil
}

// register adds a tool. It fails if the name is taken.
func (g *Graph) register(t tool.Tool) error {
	name := t.Descriptor().Name
	if _, taken := g.tools[name]; taken {
		return fmt.Errorf("two tools have the name %s; rename one with @mcp(tool_name: …)", name)
	}
	g.tools[name] = t
	return nil
}

// all yields the tools on MCP in a stable order: built-ins, then the stored queries or the
// meta tools that replace them.
func (g *Graph) all(yield func(tool.Tool) bool) {
	for _, t := range g.builtins {
		if !yield(t) {
			return
		}
	}
	if g.meta != nil {
		for _, t := range g.meta.Tools() {
			if !yield(t) {
				return
			}
		}
		return
	}
	for _, t := range g.stored {
		if t.Info().Exposed && !yield(queryrun.Tool{StoredQuery: t}) {
			return
		}
	}
}

// digest returns the digest of all tool descriptors.
func (g *Graph) digest() string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	digest := func(of *tool.Descriptor) {
		d := *of
		if !g.outputs {
			d.OutputSchema = nil
		}
		if g.Confirms(of) {
			d.Description += " confirm" // clients see the argument confirm
		}
		// A descriptor consists of strings, bools and generated JSON, so it always encodes.
		if err := enc.Encode(d); err != nil {
			panic(fmt.Sprintf("servedgraph: descriptor of %s: %v", d.Name, err))
		}
	}
	for t := range g.all {
		digest(t.Descriptor())
	}
	if g.meta != nil { // clients learn of these queries through the meta tools
		for _, q := range g.meta.Queries {
			digest(q.Descriptor())
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// ReviewKeys returns the review keys of persons.
func (g *Graph) ReviewKeys() *reviewkey.Store { return g.reviewKeys }
