package converge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// Plan is what leads from what is in the storage folder to what the sources say.
type Plan struct {
	Revision *Revision    // that is recorded, nil for none
	Next     *Revision    // that apply would record, without time and actor; nil when it is the recorded one
	Graphs   []*GraphPlan // in the order of cluster.yaml
	Kept     []Kept       // in order of name
}

// GraphPlan is what is to be done to one graph.
type GraphPlan struct {
	*Source

	Recorded string // the digest of the schema that the revision says was applied, or ""
	Live     string // of the schema in force on main; "" when there is no graph, or it cannot be opened
	Head     string // the commit of main that the plan is made on, or ""

	// Create says that the graph does not exist.
	Create bool

	// Change leads to the schema of a graph that exists, nil when it has it. It is made
	// from the live schema; for a graph in use from the recorded one, and then steps that
	// depend on the stored data are not judged by it.
	Change *engine.SchemaChange

	// InUse says who has the graph open, or why else it cannot be opened now.
	InUse *engine.Unavailable

	// Blocked is why the graph cannot be brought to its schema, or nil: a
	// *engine.UnsupportedMigration, a *engine.ConstraintViolations, a *Lost, or the error
	// of opening the graph.
	Blocked error
}

// Lost says that a graph was applied once and is not in the storage folder any more. An
// apply does not make an empty one in its place.
type Lost struct {
	Dir      string
	Revision uint64
}

func (e *Lost) Error() string {
	return fmt.Sprintf("revision %d has the graph, and there is none in %s: bring the folder back; or, to begin with an empty one, take the graph out of cluster.yaml, apply, and put it in again", e.Revision, e.Dir)
}

// Kept is a graph that the revision names or the storage folder holds, and cluster.yaml
// does not name. Its data is left alone.
type Kept struct {
	ID      string
	Live    string // as of GraphPlan
	Missing bool   // only the revision has it
	Err     error  // of opening it
}

// State sorts graphs by what is to be done to them.
type State string

// The states of a graph, the first that applies.
const (
	InUse    State = "in_use"  // another has it open
	Blocked  State = "blocked" // see GraphPlan.Blocked
	Create   State = "create"
	Change   State = "change"
	Record   State = "record" // only the revision does not say so yet
	UpToDate State = "up_to_date"
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
	case g.Recorded != g.Digest:
		return Record
	}
	return UpToDate
}

// Drifted reports whether the live schema is known to be another than the one that the
// revision says was applied.
func (g *GraphPlan) Drifted() bool {
	return g.Recorded != "" && g.Live != "" && g.Live != g.Recorded
}

// Approval is the digest by which to approve what the change destroys; "" when it
// destroys nothing.
func (g *GraphPlan) Approval() string {
	if g.Change == nil || !g.Change.Destructive {
		return ""
	}
	return g.Change.Digest()
}

// Pending reports whether an apply would do anything.
func (p *Plan) Pending() bool {
	return p.Next != nil || slices.ContainsFunc(p.Graphs, func(g *GraphPlan) bool { return g.Create || g.Change != nil || g.Blocked != nil })
}

// Plan compares the sources with the storage folder. It changes nothing in it.
func (c *Cluster) Plan(ctx context.Context, s *Sources) (_ *Plan, err error) {
	p, open, err := c.survey(ctx, s)
	return p, errors.Join(err, open.close())
}

// opened are graphs that were opened, by id.
type opened map[string]engine.Graph

func (o opened) close() error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(o)) {
		errs = append(errs, o[id].Close())
	}
	return errors.Join(errs...)
}

// survey makes the plan, and leaves the graphs of the sources open, so that the plan
// holds until they are closed. They are to be closed after an error, too.
func (c *Cluster) survey(ctx context.Context, s *Sources) (*Plan, opened, error) {
	open := opened{}
	recorded, err := c.Revision()
	if err != nil {
		return nil, open, err
	}
	p := &Plan{Revision: recorded, Next: next(recorded, s)}
	for _, src := range s.Graphs {
		g := &GraphPlan{Source: src}
		before := recorded.Graph(src.ID)
		if before != nil {
			g.Recorded = before.Schema
		}
		p.Graphs = append(p.Graphs, g)
		if err := c.look(ctx, g, before, open); err != nil {
			return p, open, err
		}
		if g.Create && before != nil {
			g.Create, g.Blocked = false, &Lost{Dir: c.dir(src.ID), Revision: recorded.Number}
		}
	}
	p.Kept, err = c.kept(ctx, recorded, s)
	return p, open, err
}

// look opens a graph and plans for it. The error is that of the context.
func (c *Cluster) look(ctx context.Context, g *GraphPlan, before *Graph, open opened) error {
	eg, err := c.Open(ctx, c.dir(g.ID))
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

// plan finds the steps to the schema of an open graph.
func (g *GraphPlan) plan(ctx context.Context, eg engine.Graph) error {
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
	g.Change, err = eg.ApplySchema(ctx, g.Text, g.Schema, engine.SchemaOptions{WriteOptions: engine.WriteOptions{DryRun: true, IfCommit: g.Head}})
	if err != nil {
		return err
	}
	return unsupported(g.Change.Steps)
}

// fromRecord plans for a graph that cannot be opened from the schema that the revision
// says it has.
func (g *GraphPlan) fromRecord(before *Graph) error {
	if before == nil || before.Schema == g.Digest && before.Source == g.Text {
		return nil
	}
	old, faults := gq.CompileSchema(gq.Source{Name: RevisionFile, Text: before.Source})
	if faults.HasErrors() {
		return nil // a later language; the steps are known once the graph can be opened
	}
	m := catalog.Diff(old, g.Schema)
	g.Change = &engine.SchemaChange{Steps: m.Steps, Supported: m.Supported(), Destructive: m.Destructive(), From: before.Schema, To: g.Digest}
	return nil
}

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

// kept finds the graphs that the sources do not name.
func (c *Cluster) kept(ctx context.Context, recorded *Revision, s *Sources) ([]Kept, error) {
	names, err := c.folders()
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
			continue // a folder of something else
		case errors.As(k.Err, &missing):
			k.Missing, k.Err = true, nil
		}
		kept = append(kept, k)
	}
	return kept, nil
}

func (c *Cluster) liveSchema(ctx context.Context, id string) (digest string, err error) {
	g, err := c.Open(ctx, c.dir(id))
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
