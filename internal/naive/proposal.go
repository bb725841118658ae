package naive

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Compare merges a copy of the target's state and reports what a merge would do.
func (g *Graph) Compare(ctx context.Context, source, target engine.Target, opts engine.CompareOptions) (*engine.Comparison, error) {
	s, base, id, o, err := g.merging(ctx, source, target)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	from, to, theirs, ours := s.from, s.to, s.theirs, s.ours
	out := &engine.Comparison{Source: from, Target: to, Base: base.commit, Outcome: engine.Merged}
	all := g.allChanges(base.state, theirs, &out.Nodes, &out.Edges)
	if err := o.check(g, all, opts.Resolutions); err != nil {
		return nil, err
	}
	if err := o.checkShown(opts.Shown); err != nil {
		return nil, err
	}
	var h engine.ChangeHash
	for i := range all {
		h.Change(&all[i])
	}
	for i := range opts.Resolutions {
		h.Resolve(&opts.Resolutions[i])
	}
	out.Digest = h.Sum()
	if opts.Changes != nil {
		if out.List, out.More, err = g.pageOf(all, base.state, theirs, *opts.Changes); err != nil {
			return nil, err
		}
		o.show(out.List)
	}
	if opts.ListOnly {
		return &engine.Comparison{Source: from, Target: to, Base: base.commit, List: out.List, More: out.More}, nil
	}
	m, err := g.tryMerge(s, id, opts.Resolutions)
	if err == nil {
		err = o.checkConflicts(g, m.conflicts)
	}
	if err != nil {
		return nil, err
	}
	o.showConflicts(m.conflicts)
	// The merge finds them in the random order of maps, but the first ones must be the same in each comparison.
	slices.SortFunc(m.conflicts, func(a, b engine.MergeConflict) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Entity, b.Entity), cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Property, b.Property))
	})
	out.Conflicts, out.ConflictCount = m.conflicts, len(m.conflicts)
	if most := opts.MaxConflicts; most > 0 {
		out.Conflicts = out.Conflicts[:min(len(out.Conflicts), most)]
	}
	if len(m.conflicts) == 0 {
		g.allChanges(ours, m.after, &out.MergedNodes, &out.MergedEdges)
	}
	switch {
	case len(m.conflicts) > 0:
	case m.before.equal(m.after):
		out.Outcome = engine.AlreadyUpToDate
	case id == to.ID:
		out.Outcome = engine.FastForward
	}
	return out, nil
}

// sides are the states, the commits and the names of the branches of a merge.
type sides struct {
	base, theirs, ours *state
	from, to           engine.Commit // the commits of theirs and ours
	source, target     string
}

// merging returns what a merge of two targets starts from: its sides, the merge base with its id, and the caller.
func (g *Graph) merging(ctx context.Context, source, target engine.Target) (s sides, base moment, id string, o onlooker, err error) {
	reads := [2]*engine.Rights{source.Rights, target.Rights}
	source.Rights, target.Rights = nil, nil
	if s.theirs, s.from, err = g.at(ctx, source); err != nil {
		return s, base, "", nil, err
	}
	if s.ours, s.to, err = g.at(ctx, target); err != nil {
		return s, base, "", nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	id = g.lowest(s.from.ID, s.to.ID)
	if base, err = g.moment(id); err != nil {
		return s, base, "", nil, err
	}
	s.base, s.source, s.target = base.state, cmp.Or(source.Branch, s.from.Branch), cmp.Or(target.Branch, s.to.Branch)
	return s, base, id, g.lookAtMerge(s, id, reads[0], reads[1]), nil
}

// tryMerge merges into a copy of the target's state. The argument `base` is the id of the merge base.
func (g *Graph) tryMerge(s sides, base string, resolutions []engine.Resolution) (*merge, error) {
	t := &tx{g: g, line: &line{name: s.to.Branch, head: s.to, state: s.ours}, before: s.ours, after: s.ours.clone(), touched: map[[4]string]bool{}, lines: map[*entity]int64{}}
	m := &merge{tx: t, base: s.base, source: s.theirs, changed: map[*entity]bool{}}
	m.fast = base == s.to.ID
	if base != s.from.ID {
		if err := m.resolveWith(s.source, s.target, resolutions); err != nil {
			return nil, err
		}
		m.run()
	}
	return m, nil
}

// preview is the state that a merge would commit.
type preview struct {
	graph  *Graph
	target *state
	state  *state
	commit string // the head of the target
	caller onlooker
}

// Preview merges a copy of the target's state and keeps the result.
func (g *Graph) Preview(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (engine.Preview, error) {
	s, base, id, o, err := g.merging(ctx, source, target)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := o.check(g, g.allChanges(base.state, s.theirs, &engine.ChangeCounts{}, &engine.ChangeCounts{}), resolutions); err != nil {
		return nil, err
	}
	m, err := g.tryMerge(s, id, resolutions)
	if err != nil {
		return nil, err
	}
	if len(m.conflicts) > 0 {
		return nil, o.conflictsOf(g, &engine.MergeConflicts{Conflicts: m.conflicts})
	}
	if g.fault == PreviewIsTarget {
		return &preview{g, s.ours, s.ours, s.to.ID, o}, nil
	}
	return &preview{g, s.ours, m.after, s.to.ID, o}, nil
}

// Query evaluates a read on the state.
func (p *preview) Query(ctx context.Context, q *plan.Query, args engine.Args, at time.Time) (engine.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if q.AsOf != nil {
		return nil, &engine.BadArgument{Param: "query", Detail: "a preview has no past"}
	}
	seen := p.state
	if reads := p.caller[2].rights; reads != nil {
		if err := cmp.Or(checkRead(q, reads), checkOrigins(q, reads, p.state.schema)); err != nil {
			return nil, err
		}
		p.graph.mu.Lock()
		seen = p.graph.without(p.state, p.graph.hiddenWith(p.state, append(p.graph.states(p.commit), p.target), reads))
		p.graph.mu.Unlock()
	}
	return p.graph.evaluate(q, args, seen, p.commit, instant(engine.Target{Now: at}), p.caller[2].rights)
}

// Changes compares the state with the target.
func (p *preview) Changes(ctx context.Context, r engine.ChangeRange) ([]engine.EntityChange, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	p.graph.mu.Lock()
	defer p.graph.mu.Unlock()
	list, more, err := p.graph.pageOf(p.graph.allChanges(p.target, p.state, &engine.ChangeCounts{}, &engine.ChangeCounts{}), p.target, p.state, r)
	p.caller.show(list)
	return list, more, err
}

// Entity looks for a change of the entity.
func (p *preview) Entity(ctx context.Context, at engine.ChangePosition) (*engine.Image, bool, error) {
	if p.caller.hides(at.Entity, at.Type, at.ID, "") {
		return nil, true, nil
	}
	all, _, err := p.Changes(ctx, engine.ChangeRange{})
	if err != nil {
		return nil, false, err
	}
	changed := slices.ContainsFunc(all, func(c engine.EntityChange) bool { return c.Position() == at })
	return p.caller.image(at.Entity, at.Type, p.state.image(&engine.EntityChange{Entity: at.Entity, Type: at.Type, ID: at.ID})), !changed, nil
}

// resolveWith converts the three states of a merge to one schema and stores the resolutions for the
// conflicts. The error is a *engine.SchemasDiverge, or a *engine.BadArgument for a resolution whose
// type or property does not exist.
func (m *merge) resolveWith(source, target string, resolutions []engine.Resolution) error {
	if err := m.align(source, target); err != nil {
		return err
	}
	m.resolutions = map[engine.ConflictPlace]engine.Resolution{}
	for _, r := range resolutions {
		kind := entityOf(r.Entity)
		typ, ok := shapeOf(m.after.schema, kind, r.Type)
		end := kind == plan.Edge && (r.Property == "from" || r.Property == "to")
		if ok && r.Property != "" && !end {
			ok = m.property(kind, typ.name, r.Property) != nil
		}
		bad := r.Take == engine.TakeValue && (r.Property == "" || ok && end && m.unfitEnd(typ.edge, r.Property == "to", r.Value) || ok && !end && m.unfit(kind, r.Type, r.Property, r.Value))
		if !ok || bad {
			return &engine.BadArgument{Param: "resolutions", Detail: "the resolution does not fit the schema"}
		}
		m.resolutions[r.ConflictPlace] = r
	}
	return nil
}

// unfitEnd reports whether a value cannot be an end of an edge. At an interface an end is a record with one of the types
// that nodes can have there, and at a node type a String.
func (m *merge) unfitEnd(edge *catalog.Edge, to bool, v value.Value) bool {
	if _, isInterface := edge.End(to); !isInterface {
		return !fits(v, value.Of(value.String))
	}
	var types []string
	for _, n := range m.after.schema.EndsAt(edge, to) {
		types = append(types, n.Name)
	}
	return len(types) == 0 || !fits(v, plan.NodeType(types))
}

// unfit reports whether a property cannot have a value: because of its type, its enum, a range or a pattern.
func (m *merge) unfit(kind plan.Entity, typ, property string, v value.Value) bool {
	probe := &tx{g: m.g, after: m.after}
	e := &entity{kind: kind, typ: typ, props: map[string]value.Value{}}
	for _, p := range probe.properties(kind, typ) {
		if p.Name != property {
			continue
		}
		if v.IsNull() {
			return !p.Type.Nullable
		}
		converted, err := convert(v, p.Type)
		if err != nil || p.Type.Enum != nil && !slices.Contains(p.Type.Enum, v.Str()) {
			return true
		}
		e.props[property] = converted
	}
	if kind == plan.Node {
		n := m.after.schema.Node(typ)
		for _, r := range n.Ranges {
			probe.checkRange(e, r)
		}
		for _, c := range n.Checks {
			probe.checkPattern(e, c)
		}
	}
	return len(probe.errs) > 0
}

// resolution returns the resolution of a conflict, and whether there is one.
func (m *merge) resolution(kind plan.Entity, typ, id, property string) (engine.Resolution, bool) {
	r, ok := m.resolutions[engine.ConflictPlace{Entity: kind.String(), Type: typ, ID: id, Property: property}]
	return r, ok && m.g.fault != ResolutionIgnored
}

// show adds the three versions of the entity to the last conflict.
func (m *merge) show(was, is, have *entity, property string) {
	c := &m.conflicts[len(m.conflicts)-1]
	c.Base, c.Theirs, c.Ours = m.imageOf(was, property), m.imageOf(is, property), m.imageOf(have, property)
}

// imageOf returns an entity with one property, or with all if the property is empty.
func (m *merge) imageOf(e *entity, property string) *engine.Image {
	if e == nil {
		return nil
	}
	out := &engine.Image{From: e.from, To: e.to, FromType: e.fromType, ToType: e.toType}
	for _, p := range m.tx.properties(e.kind, e.typ) {
		if property == "" || property == p.Name {
			out.Properties = append(out.Properties, engine.PropertyValue{Name: p.Name, Value: e.props[p.Name]})
		}
	}
	return out
}

// allChanges lists all changes between two states, in order, and counts them.
func (g *Graph) allChanges(was, is *state, nodes, edges *engine.ChangeCounts) (all []engine.EntityChange) {
	for _, t := range changedTypes(was.schema, is.schema) {
		n := nodes
		if t.kind == plan.Edge {
			n = edges
		}
		all = append(all, differences(t, was, is, n)...)
	}
	return all
}

// Proposals lists the proposals, newest first.
func (g *Graph) Proposals(ctx context.Context, r engine.ProposalRange) ([]engine.Proposal, error) {
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []engine.Proposal
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(g.proposals))) {
		p := g.proposals[id]
		if (r.Before == "" || id < r.Before) && (r.State == 0 || p.State == r.State) && (r.Limit == 0 || len(list) < r.Limit) {
			list = append(list, *p)
		}
	}
	return list, nil
}

// Proposal returns a proposal.
func (g *Graph) Proposal(ctx context.Context, id string) (*engine.Proposal, error) {
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.proposals[id]
	if !ok {
		return nil, &engine.NotFound{What: "proposal", Name: id}
	}
	found := *p
	return &found, nil
}

// ProposalEvents lists the events of all proposals.
func (g *Graph) ProposalEvents(ctx context.Context, r engine.EventRange) (*engine.EventPage, error) {
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	out := &engine.EventPage{Latest: fmt.Sprintf("%026d", g.events)}
	found := r.After == "" || r.After == engine.NoEvent
	var all []engine.StoredEvent
	for _, p := range g.proposals {
		for _, e := range p.Events {
			found = found || e.ID == r.After
			if e.ID > r.After {
				all = append(all, engine.StoredEvent{ProposalEvent: e, Proposal: *p})
			}
		}
	}
	switch {
	case r.Latest:
		return out, nil
	case !found:
		return nil, &engine.NotFound{What: "proposal event", Name: r.After}
	}
	slices.SortFunc(all, func(a, b engine.StoredEvent) int { return strings.Compare(a.ID, b.ID) })
	for _, e := range all {
		if out.More = r.Limit > 0 && len(out.List) == r.Limit; out.More {
			break
		}
		out.List = append(out.List, e)
	}
	return out, nil
}

// PutProposal opens, changes or closes a proposal.
func (g *Graph) PutProposal(ctx context.Context, p engine.Proposal) (*engine.Proposal, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.ID != "" {
		was, err := g.nextProposal(&p)
		if err != nil {
			return nil, err
		}
		p.Source, p.Target, p.Author = was.Source, was.Target, was.Author
	}
	ofQuery := p.Query() != ""
	switch {
	case p.State == 0:
		p.State = engine.ProposalOpen
	case p.State == engine.ProposalMerged && !ofQuery:
		return nil, &engine.BadArgument{Param: "state", Detail: "only a merge makes a proposal merged"}
	}
	if ofQuery {
		if p.Target = engine.MainBranch; p.ID == "" {
			p.ID, p.Revision, p.State = g.newID(), 0, engine.ProposalOpen
		}
		return g.keepProposal(p), nil
	}
	source, err := g.line(p.Source)
	if err != nil {
		return nil, err
	}
	target, err := g.line(p.Target)
	if err != nil {
		return nil, err
	}
	if source == target {
		return nil, &engine.BadArgument{Param: "source", Detail: "the source and the target are the same branch"}
	}
	p.Source, p.Target = source.name, target.name
	if p.ID == "" {
		for _, o := range g.proposals {
			if o.State == engine.ProposalOpen && o.Source == p.Source && o.Target == p.Target {
				return nil, &engine.Conflict{Reason: "the proposal is open already"}
			}
		}
		p.ID, p.Revision, p.State = g.newID(), 0, engine.ProposalOpen
	}
	p.Head, p.TargetHead, p.Base = source.head.ID, target.head.ID, g.lowest(source.head.ID, target.head.ID)
	return g.keepProposal(p), nil
}

// nextProposal returns the stored version of an open proposal with the revision of p.
func (g *Graph) nextProposal(p *engine.Proposal) (*engine.Proposal, error) {
	was, ok := g.proposals[p.ID]
	switch {
	case !ok:
		return nil, &engine.NotFound{What: "proposal", Name: p.ID}
	case was.State != engine.ProposalOpen || was.Revision != p.Revision:
		return nil, &engine.Conflict{Reason: "the proposal is final or has another revision"}
	}
	return was, nil
}

// keepProposal stores the next revision of a proposal and returns a copy.
func (g *Graph) keepProposal(p engine.Proposal) *engine.Proposal {
	p.Revision++
	// The readers share the arrays, so a caller that appends must get an array of its own.
	p.Events, p.Resolutions = slices.Clip(slices.Clone(p.Events)), slices.Clip(p.Resolutions)
	for i := range p.Events {
		if p.Events[i].Time.IsZero() {
			p.Events[i].Time = now()
		}
		if was := g.proposals[p.ID]; was == nil || !slices.ContainsFunc(was.Events, func(e engine.ProposalEvent) bool { return e.ID == p.Events[i].ID }) {
			g.events++
			p.Events[i].ID = fmt.Sprintf("%026d", g.events)
		}
	}
	kept := p
	g.proposals[p.ID] = &kept
	return &p
}

// openProposal returns a *engine.Conflict if an open proposal needs the branch.
func (g *Graph) openProposal(branch string) error { return g.openProposalBut(branch, "") }

// openProposalBut is like openProposal, but ignores one proposal.
func (g *Graph) openProposalBut(branch, except string) error {
	for _, p := range g.proposals {
		if p.ID != except && p.State == engine.ProposalOpen && (p.Source == branch || p.Target == branch) {
			return &engine.Conflict{Reason: "the branch has an open proposal"}
		}
	}
	return nil
}
