package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/control"
)

// Options configure an apply: its actor, and the destructive changes that are approved.
type Options struct {
	Actor   string // name of the actor in commits and in the revision
	Message string // of the commits and of the revision

	// Approved are the digests of changes that may destroy values in graphs. [GraphPlan.Approval]
	// returns such digests.
	Approved []string

	// Breaking are the digests of changes of tools that break callers and are approved. [GraphPlan.BreakingDigest]
	// returns such digests. AllowBreaking approves all of them.
	Breaking      []string
	AllowBreaking bool
}

// Outcome describes what an apply did. If the apply failed, Outcome describes the work that was
// done before the error.
type Outcome struct {
	Plan     *Plan     // the changes to make
	Applied  []Applied // in the order of the work
	Revision *Revision // the revision in force; nil if there is none
	Recorded bool      // this apply recorded Revision
	Served   bool      // a running server serves Revision, which this apply recorded

	// Unneeded are approvals that match no planned change. An earlier apply that was interrupted
	// may have made such a change already.
	Unneeded []string
}

// Applied describes the work on one graph.
type Applied struct {
	ID      string
	Created bool   // the apply created the graph
	Commit  string // the head of main after the work
}

// GraphsInUse is the error if other processes have graphs open whose schemas must change. Nothing was applied.
type GraphsInUse struct{ Graphs []*GraphPlan }

// CannotApply is the error if graphs cannot be migrated to their schemas. Nothing was applied.
type CannotApply struct{ Graphs []*GraphPlan }

// Unapproved is the error if changes would destroy data without approval. Nothing was applied.
type Unapproved struct {
	Graphs []*GraphPlan // the graphs whose changes need an approval
	// Stale are the given approvals that match no change.
	Stale []string
}

// Breaks is the error if changes of tools would break their callers without approval. Nothing was applied.
type Breaks struct {
	Graphs  []*GraphPlan
	Removed []string // graphs with stored queries that cluster.yaml does not name any more
}

func (e *Breaks) Error() string {
	var b strings.Builder
	b.WriteString("nothing was applied, because changes that break callers of the tools are not approved:")
	for _, g := range e.Graphs {
		fmt.Fprintf(&b, "\ngraph %s:", g.ID)
		for _, c := range g.Breaking {
			fmt.Fprintf(&b, "\n  %s: %s: %s (%s)", c.File, c.Kind, c.Message, c.Kind.Why())
		}
		b.WriteString("\n  approve this with --breaking " + g.BreakingDigest())
	}
	for _, id := range e.Removed {
		fmt.Fprintf(&b, "\ngraph %s: the graph and its tools are removed\n  approve this with --breaking %s", id, RemovalDigest(id))
	}
	return b.String()
}

// RemovalDigest returns the digest that a user passes to approve that a graph and its tools are removed.
func RemovalDigest(graph string) string { return digest([]byte("removed " + graph)) }

func (e *GraphsInUse) Error() string {
	return "nothing was applied, because graphs are in use:" + listGraphs(e.Graphs, func(g *GraphPlan) string { return g.InUse.Reason }) +
		"\nend the process that has them open, such as omnigraph load or an omnigraph-server of an earlier version, and apply again"
}

func (e *CannotApply) Error() string {
	return "nothing was applied:" + listGraphs(e.Graphs, func(g *GraphPlan) string { return g.Blocked.Error() })
}

func (e *Unapproved) Error() string {
	var b strings.Builder
	b.WriteString("nothing was applied, because steps that remove values from graphs are not approved:")
	for _, g := range e.Graphs {
		fmt.Fprintf(&b, "\ngraph %s:", g.ID)
		for _, s := range g.Change.Steps {
			if s.Destructive() {
				b.WriteString("\n  " + s.String())
			}
		}
		b.WriteString("\n  approve this with --approve " + g.Approval())
	}
	for _, s := range e.Stale {
		fmt.Fprintf(&b, "\nthe approval %s matches none of these changes, because a graph or its schema changed after the plan; check the steps, and approve the digest above", s)
	}
	return b.String()
}

// Unwrap returns the reason for each graph.
func (e *GraphsInUse) Unwrap() []error {
	var errs []error
	for _, g := range e.Graphs {
		errs = append(errs, g.InUse)
	}
	return errs
}

// Unwrap returns the reason for each graph.
func (e *CannotApply) Unwrap() []error {
	var errs []error
	for _, g := range e.Graphs {
		errs = append(errs, g.Blocked)
	}
	return errs
}

// listGraphs returns a line for each graph, with the text that the function `why` returns.
func listGraphs(graphs []*GraphPlan, why func(*GraphPlan) string) string {
	var b strings.Builder
	for _, g := range graphs {
		b.WriteString("\ngraph " + g.ID + ": " + strings.ReplaceAll(why(g), "\n", "\n  "))
	}
	return b.String()
}

// Apply creates the missing graphs, puts the schemas in force on main, and then records the
// revision. It is not atomic over several graphs, but it can be repeated: if an apply is
// interrupted, the next one does the remaining work. Apply checks whether it must refuse the plan
// before it changes anything. If it refuses, the error is a *GraphsInUse, a *CannotApply, an
// *Unapproved or a *Breaks, or a *engine.Unavailable if another apply or the start of a server is in progress.
func (c *Cluster) Apply(ctx context.Context, s *Sources, o Options) (out *Outcome, err error) {
	if err := engine.CheckMessage(o.Message); err != nil {
		return nil, err
	}
	if err := c.allowed(ctx, o.Actor); err != nil {
		return nil, err
	}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	lock, err := c.Lock()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	plan, open, err := c.survey(ctx, s)
	defer func() { err = errors.Join(err, open.close()) }()
	if err != nil {
		return nil, err
	}
	out = &Outcome{Plan: plan, Revision: plan.Revision, Unneeded: plan.unneeded(o.Approved)}
	if err := plan.refusal(o); err != nil {
		return out, err
	}
	if plan.Next != nil && slices.ContainsFunc(plan.Graphs, func(g *GraphPlan) bool { return g.Change != nil }) {
		next := *plan.Next
		next.Applied, next.Actor, next.Message = c.now().UnixMicro(), o.Actor, o.Message
		if err := c.setPrepared(ctx, &next); err != nil {
			return out, fmt.Errorf("preparing the revision: %w", err)
		}
	}
	for _, g := range plan.Graphs {
		a, err := c.applyGraph(ctx, g, open, o)
		if err != nil {
			return out, fmt.Errorf("graph %s: %w", g.ID, err)
		}
		if a != nil {
			out.Applied = append(out.Applied, *a)
		}
	}
	if plan.Next == nil {
		return out, c.reload(ctx, out, open)
	}
	r := *plan.Next
	r.Applied, r.Actor, r.Message = c.now().UnixMicro(), o.Actor, o.Message
	if err := c.record(ctx, &r); err != nil {
		return out, fmt.Errorf("recording the revision failed; run cluster apply again to record it: %w", err)
	}
	out.Revision, out.Recorded = &r, true
	return out, c.reload(ctx, out, open)
}

// allowed asks the running server, or one of the running servers, whether its policy allows the actor to apply. Whoever may open the
// storage can stop the servers, and apply without a question.
func (c *Cluster) allowed(ctx context.Context, actor string) error {
	servers, err := c.servers(ctx, "")
	if err != nil {
		return err
	}
	for _, s := range servers {
		var stopped *control.Unreachable
		if err := s.MayApply(ctx, actor); !errors.As(err, &stopped) {
			return err
		}
	}
	return nil
}

// reload makes the running server, if there is one, serve the recorded revision.
func (c *Cluster) reload(ctx context.Context, out *Outcome, open opened) error {
	if c.Server == nil || out.Revision == nil {
		return nil
	}
	err := open.close() // the server opens new graphs
	clear(open)
	if err != nil {
		return err
	}
	var stopped *control.Unreachable
	switch err := c.Server.Reload(ctx); {
	case err == nil:
		out.Served = out.Recorded
	case !errors.As(err, &stopped):
		return fmt.Errorf("revision %d is recorded, but the running server still serves the one before: %w", out.Revision.Number, err)
	}
	return nil
}

// applyGraph creates one graph or migrates it to its schema. It returns nil if the graph needed no
// work.
func (c *Cluster) applyGraph(ctx context.Context, g *GraphPlan, open opened, o Options) (*Applied, error) {
	switch {
	case g.Create:
		created, err := c.Engine.Create(ctx, c.Place(g.ID), g.Text, g.Schema, engine.OpenOptions{})
		if err != nil {
			return nil, err
		}
		open[g.ID] = created // open graphs stay locked until the revision is recorded
		snap, err := created.Snapshot(ctx, engine.Target{})
		if err != nil {
			return nil, err
		}
		return &Applied{ID: g.ID, Created: true, Commit: snap.Commit.ID}, nil
	case g.Change != nil:
		change, err := open[g.ID].ApplySchema(ctx, g.Text, g.Schema, engine.SchemaOptions{
			WriteOptions:  engine.WriteOptions{Actor: o.Actor, Message: o.Message},
			IfSchema:      g.Live,               // others may write meanwhile
			AllowDataLoss: g.Change.Destructive, // refusal has checked that this is approved
		})
		if err != nil {
			return nil, err
		}
		return &Applied{ID: g.ID, Commit: change.Head.ID}, nil
	}
	return nil, nil
}

// refusal returns the reason why the plan must not be applied, or nil.
func (p *Plan) refusal(o Options) error {
	var inUse, blocked, unapproved, breaks []*GraphPlan
	approved := o.Approved
	for _, g := range p.Graphs {
		switch {
		case g.InUse != nil && (g.Change != nil || g.Recorded != g.Digest):
			inUse = append(inUse, g)
		case g.Blocked != nil:
			blocked = append(blocked, g)
		case g.Approval() != "" && !slices.Contains(approved, g.Approval()):
			unapproved = append(unapproved, g)
		case len(g.Breaking) > 0 && !o.AllowBreaking && !slices.Contains(o.Breaking, g.BreakingDigest()):
			breaks = append(breaks, g)
		}
	}
	switch {
	case inUse != nil:
		return &GraphsInUse{inUse}
	case blocked != nil:
		return &CannotApply{blocked}
	case unapproved != nil:
		return &Unapproved{Graphs: unapproved, Stale: p.unneeded(approved)}
	}
	removed := slices.DeleteFunc(slices.Clone(p.Removed), func(id string) bool {
		return o.AllowBreaking || slices.Contains(o.Breaking, RemovalDigest(id))
	})
	if breaks != nil || len(removed) > 0 {
		return &Breaks{breaks, removed}
	}
	return nil
}

// unneeded returns the approvals that match no change of the plan.
func (p *Plan) unneeded(approved []string) []string {
	var stale []string
	for _, a := range approved {
		if !slices.ContainsFunc(p.Graphs, func(g *GraphPlan) bool { return g.Approval() == a }) {
			stale = append(stale, a)
		}
	}
	return stale
}
