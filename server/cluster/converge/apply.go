package converge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Options say as whom to apply, and what may be destroyed.
type Options struct {
	Actor string // recorded in commits and in the revision

	// Approved are digests of changes, as [GraphPlan.Approval] gives them, that may take
	// values from graphs.
	Approved []string
}

// Outcome is what an apply did, up to its error if there is one.
type Outcome struct {
	Plan     *Plan
	Applied  []Applied // in the order in which it was done
	Revision *Revision // in force now, nil for none
	Recorded bool      // Revision is of this apply

	// Unneeded are approvals that no change wanted, as when an apply that was cut short
	// has made the change already.
	Unneeded []string
}

// Applied is what was done to one graph.
type Applied struct {
	ID      string
	Created bool
	Commit  string // at the head of main afterwards
}

// GraphsInUse says that others have graphs open, so that nothing was applied.
type GraphsInUse struct{ Graphs []*GraphPlan }

// CannotApply says that graphs cannot be brought to their schemas, so that nothing was
// applied.
type CannotApply struct{ Graphs []*GraphPlan }

// Unapproved says that changes would destroy what nobody has approved, so that nothing
// was applied.
type Unapproved struct {
	Graphs []*GraphPlan
	// Stale are the approvals that were given and are of no change.
	Stale []string
}

func (e *GraphsInUse) Error() string {
	return "nothing was applied, because graphs are in use:" + lines(e.Graphs, func(g *GraphPlan) string { return g.InUse.Reason }) +
		"\nstop what has them open, such as omnigraph-server, apply, and start it again"
}

func (e *CannotApply) Error() string {
	return "nothing was applied:" + lines(e.Graphs, func(g *GraphPlan) string { return g.Blocked.Error() })
}

func (e *Unapproved) Error() string {
	var b strings.Builder
	b.WriteString("nothing was applied, because steps that take values from graphs are not approved:")
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
		fmt.Fprintf(&b, "\nthe approval %s is of none of these changes: the graph or its schema is another than when that was planned; look at the steps, and approve the digest above", s)
	}
	return b.String()
}

// Unwrap returns the reasons.
func (e *GraphsInUse) Unwrap() []error {
	var errs []error
	for _, g := range e.Graphs {
		errs = append(errs, g.InUse)
	}
	return errs
}

// Unwrap returns the reasons.
func (e *CannotApply) Unwrap() []error {
	var errs []error
	for _, g := range e.Graphs {
		errs = append(errs, g.Blocked)
	}
	return errs
}

func lines(graphs []*GraphPlan, why func(*GraphPlan) string) string {
	var b strings.Builder
	for _, g := range graphs {
		b.WriteString("\ngraph " + g.ID + ": " + strings.ReplaceAll(why(g), "\n", "\n  "))
	}
	return b.String()
}

// Apply makes the graphs that are missing, puts the schemas in force on main, and then
// records the revision. It is not atomic over graphs, but can be repeated: whatever cut
// it short, the next one does what is left. What is refused is refused before anything is
// done: the error is then a *GraphsInUse, a *CannotApply, an *Unapproved, or a
// *engine.Unavailable while another apply, or the start of a server, is under way.
func (c *Cluster) Apply(ctx context.Context, s *Sources, o Options) (out *Outcome, err error) {
	if err := c.FS.MkdirAll(c.Storage); err != nil {
		return nil, fmt.Errorf("making the storage folder: %w", err)
	}
	lock, err := Lock(c.FS, c.Storage)
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
	if err := plan.refusal(o.Approved); err != nil {
		return out, err
	}
	for _, g := range plan.Graphs {
		a, err := c.converge(ctx, g, open, o)
		if err != nil {
			return out, fmt.Errorf("graph %s: %w", g.ID, err)
		}
		if a != nil {
			out.Applied = append(out.Applied, *a)
		}
	}
	if plan.Next == nil {
		return out, nil
	}
	r := *plan.Next
	r.Applied, r.Actor = c.now().UnixMicro(), o.Actor
	if err := c.record(&r); err != nil {
		return out, fmt.Errorf("recording the revision, which the next cluster apply does again: %w", err)
	}
	out.Revision, out.Recorded = &r, true
	return out, nil
}

// converge brings one graph to its schema; what it did is nil when that was nothing.
func (c *Cluster) converge(ctx context.Context, g *GraphPlan, open opened, o Options) (*Applied, error) {
	switch {
	case g.Create:
		eg, err := c.Create(ctx, c.dir(g.ID), g.Text, g.Schema)
		if err != nil {
			return nil, err
		}
		open[g.ID] = eg // and so locked until the revision names it
		snap, err := eg.Snapshot(ctx, engine.Target{})
		if err != nil {
			return nil, err
		}
		return &Applied{ID: g.ID, Created: true, Commit: snap.Commit.ID}, nil
	case g.Change != nil:
		change, err := open[g.ID].ApplySchema(ctx, g.Text, g.Schema, engine.SchemaOptions{
			WriteOptions:  engine.WriteOptions{Actor: o.Actor, IfCommit: g.Head},
			AllowDataLoss: g.Change.Destructive, // which refusal held to the approvals
		})
		if err != nil {
			return nil, err
		}
		return &Applied{ID: g.ID, Commit: change.Head.ID}, nil
	}
	return nil, nil
}

// refusal is why the plan must not be carried out, or nil.
func (p *Plan) refusal(approved []string) error {
	var inUse, blocked, unapproved []*GraphPlan
	for _, g := range p.Graphs {
		switch {
		case g.InUse != nil:
			inUse = append(inUse, g)
		case g.Blocked != nil:
			blocked = append(blocked, g)
		case g.Approval() != "" && !slices.Contains(approved, g.Approval()):
			unapproved = append(unapproved, g)
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
	return nil
}

// unneeded are the approvals that are of no change.
func (p *Plan) unneeded(approved []string) []string {
	var stale []string
	for _, a := range approved {
		if !slices.ContainsFunc(p.Graphs, func(g *GraphPlan) bool { return g.Approval() == a }) {
			stale = append(stale, a)
		}
	}
	return stale
}
