// Package naive is the reference model of a graph. It implements every method of [engine.Graph] as
// directly as possible from the definition of the language, without regard to speed.
//
// The whole state is a pair of maps. A read tries every assignment of entities to variables. A
// write copies the maps, changes the copy, checks every constraint and publishes the copy. Use the
// model only for graphs of a few dozen entities.
package naive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// Graph is a graph that is stored in Go maps. It implements [engine.Graph].
type Graph struct {
	fault Fault // the deliberate error of this graph

	mu      sync.Mutex
	ids     []string          // ids for the next entities without one
	lines   map[string]*line  // the branches by name
	commits map[string]moment // all commits by id
	gone    map[string]bool   // commits that a cleanup made unreadable
	closed  bool              // every call then fails

	proposals map[string]*engine.Proposal // by id
	drafts    map[string]*engine.Draft    // by id
	watches   map[string]engine.Watch     // by id; nil for none
	events    int                         // number of events of proposals so far
}

// line is a branch.
type line struct {
	name     string                // of the branch
	head     engine.Commit         // last commit
	state    *state                // a commit replaces it; it is never changed in place
	outcomes map[[2]string]outcome // outcomes of calls with an idempotency key, by actor and key

	positions map[string]string // by source: the position of the last load with changes of it
}

// moment is a commit and the state that it made.
type moment struct {
	commit engine.Commit
	state  *state // contents after the commit
}

var _ engine.Graph = (*Graph)(nil)

// New returns an empty graph that behaves with the given fault. Pass [Sound] for a graph without
// faults.
func New(source string, schema *catalog.Schema, fault Fault) *Graph {
	g := &Graph{fault: fault, commits: map[string]moment{}, gone: map[string]bool{}, proposals: map[string]*engine.Proposal{}, drafts: map[string]*engine.Draft{}}
	first := newState(source, schema)
	main := &line{name: engine.MainBranch, outcomes: map[[2]string]outcome{}}
	g.publish(main, engine.Commit{ID: freshID(), Seq: 1, Branch: engine.MainBranch, Time: now(), Schema: first.digest}, first)
	g.lines = map[string]*line{engine.MainBranch: main}
	return g
}

// UseIDs sets the ids for the next entities, drafts and proposals that need a generated one, in order. A
// model uses it to give them the ids that an engine has chosen.
func (g *Graph) UseIDs(ids ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ids = slices.Clone(ids)
}

// Schema returns the schema at the target.
func (g *Graph) Schema(ctx context.Context, at engine.Target) (*engine.Schema, error) {
	s, _, err := g.at(ctx, at)
	if err != nil {
		return nil, err
	}
	return &engine.Schema{Source: s.source, Catalog: s.schema, Digest: s.digest}, nil
}

// Snapshot counts the entities at the target.
func (g *Graph) Snapshot(ctx context.Context, at engine.Target) (*engine.Snapshot, error) {
	s, head, err := g.at(ctx, at)
	if err != nil {
		return nil, err
	}
	snap := &engine.Snapshot{Commit: head}
	for _, n := range s.schema.Nodes {
		snap.Nodes = append(snap.Nodes, engine.TypeCount{Type: n.Name, Count: int64(len(s.nodes[n.Name]))})
	}
	for _, e := range s.schema.Edges {
		snap.Edges = append(snap.Edges, engine.TypeCount{Type: e.Name, Count: int64(len(s.edges[e.Name]))})
	}
	return snap, nil
}

// Bind compares the parts of the schema that a plan uses with the schema at the target.
func (g *Graph) Bind(ctx context.Context, q *plan.Query, at engine.Target) error {
	s, _, err := g.at(ctx, at)
	if err != nil {
		return err
	}
	if at.Schema != "" && at.Schema != s.digest {
		return &engine.SchemaMismatch{Detail: "the schema is another one", Schema: s.digest}
	}
	return bind(q, s)
}

// bind compares the parts of the schema that a plan uses with the schema of a state.
func bind(q *plan.Query, s *state) error {
	for _, u := range q.Uses {
		if detail := misfit(s.schema, u); detail != "" {
			return &engine.SchemaMismatch{Detail: detail}
		}
	}
	if q.Read != nil && q.Read.Valid != nil && !hasValid(s) {
		return &engine.SchemaMismatch{Detail: "no type says with @valid when its entities are valid"}
	}
	return nil
}

// evaluate evaluates a read on a state, which is what the rights `reads` allow. It computes the whole result before it returns.
func (g *Graph) evaluate(q *plan.Query, args engine.Args, s *state, commit string, at time.Time, reads *engine.Rights) (engine.Result, error) {
	if q.Read == nil {
		return nil, &engine.SchemaMismatch{Detail: "query " + q.Name + " is not a read"}
	}
	if err := bind(q, s); err != nil {
		return nil, err
	}
	args, err := checkArgs(q, args, g.fault)
	if err != nil {
		return nil, err
	}
	if s, err = g.then(s, q, args, at, reads); err != nil {
		return nil, err
	}
	ev := newEvaluation(g, s, q, args, at)
	ev.commit = commit
	rows, err := ev.rows()
	if err != nil {
		return nil, err
	}
	return &result{columns: q.Read.Columns, commit: commit, ev: ev, rows: func() ([][]cell, error) { return rows, nil }}, nil
}

// Query evaluates a read. It computes the whole result before it returns.
func (g *Graph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	if q.AsOf != nil && g.fault != AsOfIgnored {
		pinned, err := g.pin(ctx, q, args, at)
		if err != nil {
			return nil, err
		}
		at = pinned
	}
	s, head, err := g.at(ctx, at)
	if err != nil {
		return nil, err
	}
	if at.Schema != "" && at.Schema != s.digest {
		return nil, &engine.SchemaMismatch{Detail: "the schema is another one", Schema: s.digest}
	}
	if err := cmp.Or(checkRead(q, at.Rights), checkOrigins(q, at.Rights, s.schema)); err != nil {
		return nil, err
	}
	r, err := g.evaluate(q, args, s, head.ID, instant(at), at.Rights)
	if late, ok := r.(*result); ok && g.fault == LateSnapshot {
		late.rows = func() ([][]cell, error) {
			late.ev.state, _, _ = g.at(ctx, at)
			return late.ev.rows()
		}
	}
	return r, err
}

// Verify returns an *engine.Unsupported, because the model stores nothing.
func (g *Graph) Verify(ctx context.Context) error {
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return err
	}
	return &engine.Unsupported{Construct: "verifying stored data"}
}

// Stats counts the branches and the commits.
func (g *Graph) Stats() engine.Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for name := range g.lines {
		if g.shut(name) == nil {
			n++
		}
	}
	return engine.Stats{Branches: n, Commits: int64(len(g.commits))}
}

// Failure returns nil: the model has no storage that could fail.
func (g *Graph) Failure() error { return nil }

// MustReopen returns false.
func (g *Graph) MustReopen() bool { return false }

// Close makes all later calls fail.
func (g *Graph) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	return nil
}

// at returns the state and the commit at a target.
func (g *Graph) at(ctx context.Context, at engine.Target) (*state, engine.Commit, error) {
	if err := ctx.Err(); err != nil {
		return nil, engine.Commit{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	l, err := g.line(at.Branch)
	if err != nil {
		return nil, engine.Commit{}, err
	}
	if !at.AsOf.IsZero() {
		commit, err := g.asOf(l, at)
		if err != nil {
			return nil, engine.Commit{}, err
		}
		at.Commit = commit
	}
	if at.Commit != "" && g.fault != CommitIsHead {
		m, err := g.moment(at.Commit)
		if err == nil && at.Rights != nil {
			m.state = g.visible(m.state, m.commit.ID, at.Rights)
		}
		return m.state, m.commit, err
	}
	if at.AtLeast != "" && !slices.ContainsFunc(g.past(l.head), func(c engine.Commit) bool { return c.ID == at.AtLeast }) {
		return nil, engine.Commit{}, &engine.NotFound{What: "commit", Name: at.AtLeast}
	}
	if at.Rights != nil {
		return g.visible(l.state, l.head.ID, at.Rights), l.head, nil
	}
	return l.state, l.head, nil
}

// asOf returns the commit that a target with an instant selects: of the line of commits from its commit or its
// branch, the newest that is not after the instant.
func (g *Graph) asOf(l *line, at engine.Target) (string, error) {
	if at.AsOf.After(now()) {
		return "", &engine.BadArgument{Param: "snapshot", Detail: "the instant is in the future"}
	}
	from := l.head
	if at.Commit != "" {
		m, err := g.moment(at.Commit)
		var missing *engine.NotFound
		if errors.As(err, &missing) && !missing.Reclaimed {
			return "", err
		}
		if err == nil {
			from = m.commit
		} else {
			from = g.commits[at.Commit].commit
		}
	}
	for _, c := range g.past(from) {
		if c.Time.Before(at.AsOf) || c.Time.Equal(at.AsOf) && g.fault != AsOfExclusive {
			return c.ID, nil
		}
	}
	return "", &engine.NotFound{What: "commit at or before", Name: at.AsOf.UTC().Format(time.RFC3339Nano)}
}

// pin returns the target of a read that says as of when, as the commit and the instant.
func (g *Graph) pin(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Target, error) {
	args, err := checkArgs(q, args, g.fault)
	if err != nil {
		return at, err
	}
	rights := at.Rights
	at.Rights = nil
	_, head, err := g.at(ctx, at)
	if at.Commit != "" || !at.AsOf.IsZero() {
		at.Commit = head.ID
	}
	at.Rights, at.AsOf = rights, q.Instant(args)
	return at, err
}

// instant returns the value of now() in a read at the target.
func instant(at engine.Target) time.Time {
	if at.Now.IsZero() {
		return now()
	}
	return at.Now
}

// now returns the time in microseconds, the precision that commits keep.
func now() time.Time { return clock.Now().UTC().Truncate(time.Microsecond) }

// freshID returns an id that no entity or commit has.
func freshID() string {
	return ulid.MustNew(ulid.Timestamp(clock.Now()), ulid.DefaultEntropy()).String()
}

// misfit describes how a schema differs from a part of a schema that a plan uses. It returns "" if
// it does not differ.
func misfit(s *catalog.Schema, u plan.Use) string {
	var prop *catalog.Property
	var from, to string
	switch u.Entity {
	case plan.Node:
		n := s.Node(u.Type)
		if n == nil {
			return "there is no node type " + u.Type
		}
		prop = n.Property(u.Property)
	case plan.Edge:
		e := s.Edge(u.Type)
		if e == nil {
			return "there is no edge type " + u.Type
		}
		prop, from, to = e.Property(u.Property), e.EndName(false), e.EndName(true)
	case plan.Interface:
		i := s.Interface(u.Type)
		if i == nil {
			return "there is no interface " + u.Type
		}
		prop = i.Property(u.Property)
	}
	switch {
	case u.Property == "" && (from != u.From || to != u.To):
		return fmt.Sprintf("edge %s leads from %s to %s, not from %s to %s", u.Type, from, to, u.From, u.To)
	case u.Property == "":
		return ""
	case prop == nil:
		return fmt.Sprintf("%s %s has no property %s", u.Entity, u.Type, u.Property)
	case prop.Type.Kind != u.Value.Kind || prop.Type.List != u.Value.List || prop.Type.Dim != u.Value.Dim || prop.Type.Nullable && !u.Value.Nullable:
		return fmt.Sprintf("%s.%s is %s, not %s", u.Type, u.Property, prop.Type, u.Value)
	}
	return ""
}

// checkArgs checks the arguments against the parameters. It returns the arguments, with each null
// argument replaced by the default of its parameter.
func checkArgs(q *plan.Query, args engine.Args, fault Fault) (engine.Args, error) {
	if len(args) != len(q.Params) {
		return nil, &engine.BadArgument{Param: q.Name, Detail: fmt.Sprintf("%d arguments for %d parameters", len(args), len(q.Params))}
	}
	args = slices.Clone(args)
	for i, p := range q.Params {
		if args[i].IsNull() && fault != DefaultIgnored {
			args[i] = p.Default
		}
	}
	for i, p := range q.Params {
		if !fits(args[i], p.Type) {
			return nil, &engine.BadArgument{Param: p.Name, Detail: "the argument is not of type " + p.Type.String()}
		}
		elems := []value.Value{args[i]}
		if args[i].IsList() {
			elems = args[i].Elems()
		}
		for _, e := range elems {
			if !allowed(p, e, fault) {
				return nil, &engine.BadArgument{Param: p.Name, Detail: value.Text(e) + " is not allowed"}
			}
		}
	}
	return args, nil
}

// allowed reports whether an argument, or an element of a list argument, satisfies the range and
// the pattern of its parameter. Null is always allowed.
func allowed(p plan.Param, v value.Value, fault Fault) bool {
	if v.IsNull() {
		return true
	}
	inside := func(end *value.Value, sign int) bool {
		if end == nil {
			return true
		}
		order, ok := value.Compare(v, *end)
		return ok && order*sign >= 0 && (order != 0 || fault != BoundsExclusive)
	}
	return inside(p.Bounds.Min, 1) && inside(p.Bounds.Max, -1) &&
		(p.Pattern == nil || regexp.MustCompile(p.Pattern.String()).MatchString(v.Str()))
}

// fits reports whether v is a value of exactly the type t.
func fits(v value.Value, t value.Type) bool {
	if v.IsNull() {
		return t.Nullable
	}
	if t.Fields != nil && !t.List {
		for i, f := range t.Fields {
			if !v.IsList() || len(v.Elems()) != len(t.Fields) || !fits(v.Elems()[i], f.Type) ||
				f.Type.Enum != nil && !slices.Contains(f.Type.Enum, v.Elems()[i].Str()) {
				return false
			}
		}
		return true
	}
	if t.Fields != nil {
		return v.IsList() && !slices.ContainsFunc(v.Elems(), func(r value.Value) bool {
			if !r.IsList() || len(r.Elems()) != len(t.Fields) {
				return true
			}
			for i, f := range t.Fields {
				if !fits(r.Elems()[i], f.Type) {
					return true
				}
			}
			return false
		})
	}
	if v.Kind() != t.Kind || v.IsList() != t.List {
		return false
	}
	if v.IsList() {
		return !slices.ContainsFunc(v.Elems(), func(e value.Value) bool { return !fits(e, t.Elem()) })
	}
	switch t.Kind {
	case value.String:
		return utf8.ValidString(v.Str())
	case value.Vector:
		return len(v.Vector()) == t.Dim
	case value.Decimal:
		return fitsDecimal(v, t)
	}
	return true
}

// entity is a node or an edge. It is immutable.
type entity struct {
	kind     plan.Entity // node or edge
	typ, id  string      // names of the type and of the entity
	from, to string      // ids of an edge's endpoints
	// fromType and toType are the types of the nodes at the ends that are interfaces. They are "" for other ends.
	fromType, toType string
	props            map[string]value.Value // without nulls
	// claims is the membership. In an entity to put, nil means that it keeps its own.
	claims claims

	made, changed *author // the commits that made and last changed it; nil in a write that is not committed
}

// state is the complete contents of a graph, by type name and id, and its schema.
type state struct {
	nodes, edges map[string]map[string]*entity
	source       string          // text of the schema
	schema       *catalog.Schema // the compiled schema
	digest       string          // of the schema
	ancestors    []ancestor      // ancestors of the schema, the latest first
}

// newState returns an empty state with a schema.
func newState(source string, schema *catalog.Schema) *state {
	s := &state{nodes: map[string]map[string]*entity{}, edges: map[string]map[string]*entity{}, source: source, schema: schema, digest: catalog.Digest(schema)}
	for _, n := range schema.Nodes {
		s.nodes[n.Name] = map[string]*entity{}
	}
	for _, e := range schema.Edges {
		s.edges[e.Name] = map[string]*entity{}
	}
	return s
}

// clone copies the maps. The copies share the entities.
func (s *state) clone() *state {
	c := *s
	c.nodes, c.edges = map[string]map[string]*entity{}, map[string]map[string]*entity{}
	for typ, byID := range s.nodes {
		c.nodes[typ] = cloneMap(byID)
	}
	for typ, byID := range s.edges {
		c.edges[typ] = cloneMap(byID)
	}
	return &c
}

// cloneMap returns a copy of a map, with the same entities.
func cloneMap(m map[string]*entity) map[string]*entity {
	c := make(map[string]*entity, len(m))
	for id, e := range m {
		c[id] = e
	}
	return c
}

// of returns the entities of a type by id.
func (s *state) of(kind plan.Entity, typ string) map[string]*entity {
	if kind == plan.Edge {
		return s.edges[typ]
	}
	return s.nodes[typ]
}

// sorted returns the entities of a type in id order. For an interface it returns the nodes of the types that
// implement it, one type after the other.
func (s *state) sorted(kind plan.Entity, typ string) []*entity {
	var all []*entity
	if kind == plan.Interface {
		for _, n := range s.schema.Implementers(typ) {
			all = append(all, s.sorted(plan.Node, n.Name)...)
		}
		return all
	}
	for _, e := range s.of(kind, typ) {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entity) int { return strings.Compare(a.id, b.id) })
	return all
}

// equal reports whether two states have the same schema and the same entities with the same
// properties.
func (s *state) equal(o *state) bool {
	return s.digest == o.digest && s.source == o.source && equalMaps(s.nodes, o.nodes) && equalMaps(s.edges, o.edges)
}

// equalMaps reports whether two maps have the same entities with the same properties.
func equalMaps(a, b map[string]map[string]*entity) bool {
	for typ, byID := range a {
		if len(byID) != len(b[typ]) {
			return false
		}
		for id, e := range byID {
			o := b[typ][id]
			if o == nil || !sameEnds(o, e) || len(o.props) != len(e.props) || !maps.Equal(o.claims, e.claims) {
				return false
			}
			for name, v := range e.props {
				if w, ok := o.props[name]; !ok || !value.Equal(v, w) {
					return false
				}
			}
		}
	}
	return true
}

// sameEntity reports whether two versions of an entity are equal. A nil version means that it does
// not exist.
func sameEntity(a, b *entity) bool {
	return sameValues(a, b) && (a == nil || maps.Equal(a.claims, b.claims))
}

// unedited reports whether an entity is on a branch what it was, apart from claims that sources gave up there. A source that began
// to claim it has not lost it, so a deletion on the other branch is a conflict.
func unedited(a, b *entity) bool {
	return sameValues(a, b) && (b == nil || !slices.ContainsFunc(b.claims.sources(), func(s string) bool { return !a.claims["source "+s] }))
}

// sameValues reports whether two entities are equal apart from the sources that claim them.
func sameValues(a, b *entity) bool {
	if a == nil || b == nil {
		return a == b
	}
	if !sameEnds(a, b) || len(a.props) != len(b.props) {
		return false
	}
	for name, v := range a.props {
		if w, ok := b.props[name]; !ok || !value.Equal(v, w) {
			return false
		}
	}
	return true
}
