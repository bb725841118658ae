package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/codegen/breaking"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
)

// Plan lists the steps that turn the current content of the storage folder into the content that
// the sources describe.
type Plan struct {
	Revision *Revision    // the recorded revision; nil if there is none
	Next     *Revision    // the revision to record, without time and actor; nil if unchanged
	Graphs   []*GraphPlan // in the order of cluster.yaml
	Kept     []Kept       // sorted by id
	Removed  []string     // the graphs with stored queries that the next revision has not, which breaks their callers; sorted
}

// GraphPlan lists the steps for one graph.
type GraphPlan struct {
	*Source

	Recorded string // digest of the schema that the revision records, or ""
	// Live is the digest of the schema in force on main. It is "" if there is no graph or the graph
	// cannot be opened.
	Live string
	Head string // the commit of main that the plan is based on, or ""

	// Changed are the stored queries that the next revision records otherwise.
	Changed []QueryChange

	// Breaking are those changes of the tools that break callers, as gq breaking finds them.
	Breaking []breaking.Change

	// KeptProposed are the proposed queries that only the revision has, and Pruned those that the next one no longer has.
	KeptProposed, Pruned []string

	// NewPolicy is true if the next revision has another policy of the graph, or none any more.
	NewPolicy bool

	// Create is true if the graph does not exist yet.
	Create bool

	// Change migrates an existing graph to its schema; nil if the graph already has it. The plan
	// computes the steps from the live schema. If it cannot read the live schema of a graph in use,
	// it computes the steps from the recorded schema, and does not check them
	// against the stored data.
	Change *engine.SchemaChange

	// InUse says which process has the graph open, or why else it cannot be opened at this time. An apply can still record
	// the graph unless its schema must change. InUse is nil if the running server has the graph open, because the apply
	// then uses the graph through it.
	InUse *engine.Unavailable

	// Blocked is the reason why the graph cannot be migrated to its schema, or nil: a
	// *engine.UnsupportedMigration, a *engine.ConstraintViolations, a *Lost, or the error of
	// opening the graph.
	Blocked error
}

// Lost is the error for a graph that was applied once and is missing from the storage folder. An
// apply does not create an empty graph in its place.
type Lost struct {
	Dir      string // folder of the graph or, in shared storage, the object that must exist for it
	Revision uint64 // number of the revision that contains the graph
}

func (e *Lost) Error() string {
	return fmt.Sprintf("revision %d has the graph, but there is no graph in %s: restore it; or, to start with an empty graph, remove the graph from cluster.yaml, apply, add it again, and apply", e.Revision, e.Dir)
}

// Kept is a graph that is in the revision or the storage folder, but not in cluster.yaml. Apply
// does not change the data of such a graph.
type Kept struct {
	ID      string
	Live    string // digest, as GraphPlan.Live
	Missing bool   // the graph is in the revision, but not in the folder
	Err     error  // error of opening the graph
}

// State classifies graphs by the work that they need.
type State string

// The states of a graph. If several states apply, State returns the first of them in this list.
const (
	InUse    State = "in_use"     // another process has it open
	Blocked  State = "blocked"    // see GraphPlan.Blocked
	Create   State = "create"     // the graph does not exist yet
	Change   State = "change"     // the schema of the graph must change
	Record   State = "record"     // the graph has the schema, but the revision does not record it, its queries or its policy
	UpToDate State = "up_to_date" // nothing to do
)

// State returns the state of the graph.
func (g *GraphPlan) State() State {
	switch {
	case g.InUse != nil:
		return InUse
	case g.Blocked != nil:
		return Blocked
	case g.Create:
		return Create
	case g.Change != nil:
		return Change
	case g.Recorded != g.Digest, g.Changed != nil, g.NewPolicy, g.Pruned != nil:
		return Record
	}
	return UpToDate
}

// PolicyFile returns the file of the policy, as the revision names it, or "".
func (g *GraphPlan) PolicyFile() string {
	if g.Policy == nil {
		return ""
	}
	return g.Policy.File
}

// Drifted reports whether the live schema is known and differs from the recorded schema.
func (g *GraphPlan) Drifted() bool {
	return g.Recorded != "" && g.Live != "" && g.Live != g.Recorded
}

// Approval returns the digest that a user passes to approve the change. It is "" if the change
// destroys nothing.
func (g *GraphPlan) Approval() string {
	if g.Change == nil || !g.Change.Destructive {
		return ""
	}
	return g.Change.Digest()
}

// BreakingDigest returns the digest that a user passes to approve the changes that break callers. It is "" if there are
// none.
func (g *GraphPlan) BreakingDigest() string {
	if len(g.Breaking) == 0 {
		return ""
	}
	var b strings.Builder
	for _, c := range g.Breaking {
		fmt.Fprintf(&b, "%s %s %s\n", c.Query, c.Kind, c.Message)
	}
	return digest([]byte(b.String()))
}

// Pending reports whether an apply would do anything.
func (p *Plan) Pending() bool {
	return p.Next != nil || slices.ContainsFunc(p.Graphs, func(g *GraphPlan) bool { return g.Create || g.Change != nil || g.Blocked != nil })
}

// Plan compares the sources with the storage folder. It does not change the folder.
func (c *Cluster) Plan(ctx context.Context, s *Sources) (_ *Plan, err error) {
	p, open, err := c.survey(ctx, s)
	return p, errors.Join(err, open.close())
}

// graph is the part of engine.Graph that an apply uses. A *control.Graph has it too.
type graph interface {
	Schema(context.Context, engine.Target) (*engine.Schema, error)
	Snapshot(context.Context, engine.Target) (*engine.Snapshot, error)
	ApplySchema(context.Context, string, *catalog.Schema, engine.SchemaOptions) (*engine.SchemaChange, error)
	Close() error
}

// opened maps ids to open graphs.
type opened map[string]graph

// close closes all graphs.
func (o opened) close() error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(o)) {
		errs = append(errs, o[id].Close())
	}
	return errors.Join(errs...)
}

// survey makes the plan. It leaves the graphs of the sources open, so that the plan stays valid
// until the caller closes them. The caller must close them after an error, too.
func (c *Cluster) survey(ctx context.Context, s *Sources) (*Plan, opened, error) {
	open := opened{}
	recorded, err := c.Revision(ctx)
	if err != nil {
		return nil, open, err
	}
	p := &Plan{Revision: recorded}
	for _, src := range s.Graphs {
		g := &GraphPlan{Source: src}
		before := recorded.Graph(src.ID)
		if before != nil {
			g.Recorded = before.Schema
		}
		g.Changed = queryChanges(before.stored(), src.Stored)
		if g.Breaking, err = breakingChanges(before, src); err != nil {
			return p, open, err
		}
		g.NewPolicy = !before.policy().equal(src.Policy)
		p.Graphs = append(p.Graphs, g)
		if err := c.look(ctx, g, before, open); err != nil {
			return p, open, err
		}
		if g.Create && before != nil {
			g.Create, g.Blocked = false, &Lost{Dir: c.home(src.ID), Revision: recorded.Number}
		}
		var faults error
		if g.KeptProposed, g.Pruned, faults = src.keepProposed(before, s); faults != nil && g.Blocked == nil {
			g.Blocked = faults
		}
	}
	p.Next = next(recorded, s)
	if recorded != nil {
		for i := range recorded.Graphs {
			if g := &recorded.Graphs[i]; s.graph(g.ID) == nil && (g.Stored != nil || g.Proposed != nil) {
				p.Removed = append(p.Removed, g.ID)
			}
		}
	}
	p.Kept, err = c.kept(ctx, recorded, s)
	return p, open, err
}

// look opens a graph and plans its change. It returns an error only if ctx ends: the error of ctx.
func (c *Cluster) look(ctx context.Context, g *GraphPlan, before *Graph, open opened) error {
	eg, err := c.openGraph(ctx, g.ID)
	if ctx.Err() != nil {
		if err == nil {
			err = eg.Close()
		}
		return errors.Join(ctx.Err(), err)
	}
	var missing *engine.NotFound
	switch {
	case errors.As(err, &missing):
		g.Create = true
		return nil
	case errors.As(err, &g.InUse):
		return g.fromRecord(before)
	case err != nil:
		g.Blocked = err
		return nil
	}
	open[g.ID] = eg
	g.Blocked = g.plan(ctx, eg)
	return ctx.Err()
}

// openGraph opens a graph, or returns that of the running server. The error is an *engine.Unavailable if another process has
// the graph open.
func (c *Cluster) openGraph(ctx context.Context, id string) (graph, error) {
	if c.Bucket != nil {
		g := &sharedGraph{cluster: c, id: id}
		var missing *notServed
		if _, err := g.Snapshot(ctx, engine.Target{}); !errors.As(err, &missing) {
			return g, err
		}
	}
	eg, err := c.Engine.Open(ctx, c.Place(id), engine.OpenOptions{})
	if err == nil {
		return eg, nil
	}
	var held *engine.Unavailable
	if c.Server == nil || !errors.As(err, &held) {
		return nil, err
	}
	served := c.Server.Graph(id)
	if _, lost := served.Snapshot(ctx, engine.Target{}); lost != nil {
		return nil, err // the server has stopped, or another process has the graph open
	}
	return served, nil
}

// plan finds the steps from the live schema of an open graph to the wanted schema.
func (g *GraphPlan) plan(ctx context.Context, eg graph) error {
	live, err := eg.Schema(ctx, engine.Target{})
	if err != nil {
		return err
	}
	snap, err := eg.Snapshot(ctx, engine.Target{})
	if err != nil {
		return err
	}
	g.Live, g.Head = live.Digest, snap.Commit.ID
	if live.Digest == g.Digest && live.Source == g.Text {
		return nil
	}
	g.Change, err = eg.ApplySchema(ctx, g.Text, g.Schema, engine.SchemaOptions{WriteOptions: engine.WriteOptions{DryRun: true}, IfSchema: g.Live})
	if err != nil {
		return err
	}
	return unsupported(g.Change.Steps)
}

// fromRecord plans the change of a graph that cannot be opened. It starts from the schema that the
// revision records.
func (g *GraphPlan) fromRecord(before *Graph) error {
	if before == nil || before.Schema == g.Digest && before.Source == g.Text {
		return nil
	}
	old, faults := compile.StoredSchema(compile.Source{Name: RevisionFile, Text: before.Source})
	if faults.HasErrors() {
		return nil // a later version wrote it; the steps become known once the graph opens
	}
	m := catalog.Diff(old, g.Schema)
	g.Change = &engine.SchemaChange{Steps: m.Steps, Supported: m.Supported(), Destructive: m.Destructive(), From: before.Schema, To: g.Digest}
	return nil
}

// unsupported returns the error for the steps that cannot be executed, or nil if there are none.
func unsupported(steps []catalog.Step) error {
	var bad []catalog.Step
	for _, s := range steps {
		if s.Reason != "" {
			bad = append(bad, s)
		}
	}
	if bad == nil {
		return nil
	}
	return &engine.UnsupportedMigration{Steps: bad}
}

// kept finds the graphs that are not in the sources.
func (c *Cluster) kept(ctx context.Context, recorded *Revision, s *Sources) ([]Kept, error) {
	names, err := c.stored(ctx)
	if err != nil {
		return nil, err
	}
	if recorded != nil {
		for _, g := range recorded.Graphs {
			names = append(names, g.ID)
		}
	}
	slices.Sort(names)
	var kept []Kept
	for _, id := range slices.Compact(names) {
		if s.graph(id) != nil {
			continue
		}
		k := Kept{ID: id}
		var missing *engine.NotFound
		k.Live, k.Err = c.liveSchema(ctx, id)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(k.Err, &missing) && recorded.Graph(id) == nil:
			continue // the folder does not hold a graph
		case errors.As(k.Err, &missing):
			k.Missing, k.Err = true, nil
		}
		kept = append(kept, k)
	}
	return kept, nil
}

// liveSchema returns the digest of the schema on main of a stored graph.
func (c *Cluster) liveSchema(ctx context.Context, id string) (digest string, err error) {
	g, err := c.openGraph(ctx, id)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	schema, err := g.Schema(ctx, engine.Target{})
	if err != nil {
		return "", err
	}
	return schema.Digest, nil
}
