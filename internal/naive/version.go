package naive

import (
	"context"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// outcome is the outcome of a call with an idempotency key.
type outcome struct {
	body   string               // description of the request
	change engine.Change        // the result; load, merge and schema are set for those calls
	load   *engine.LoadResult   // the result of a load
	merge  *engine.MergeResult  // the result of a merge
	schema *engine.SchemaChange // the result of a schema change
}

// repeated returns the outcome of an earlier call with the same key, or nil. That call must have one of the bodies.
func (l *line) repeated(opts engine.WriteOptions, bodies []string) (*outcome, error) {
	first, ok := l.outcomes[[2]string{opts.Actor, opts.IdempotencyKey}]
	switch {
	case opts.IdempotencyKey == "" || opts.DryRun || !ok:
		return nil, nil
	case !slices.Contains(bodies, first.body):
		return nil, &engine.Conflict{Reason: "the idempotency key was used for a different write"}
	}
	return &first, nil
}

// keep stores the outcome of a write with an idempotency key.
func (l *line) keep(opts engine.WriteOptions, commit *engine.Commit, o outcome) {
	if opts.IdempotencyKey != "" && commit != nil {
		l.outcomes[[2]string{opts.Actor, opts.IdempotencyKey}] = o
	}
}

// line returns a branch; an empty name means main.
func (g *Graph) line(name string) (*line, error) {
	if g.closed {
		return nil, &engine.Unavailable{Reason: "it is closed"}
	}
	if name == "" {
		name = engine.MainBranch
	}
	if err := g.shut(name); err != nil {
		return nil, err
	}
	if l := g.lines[name]; l != nil {
		return l, nil
	}
	return nil, &engine.NotFound{What: "branch", Name: name}
}

// publish makes a commit the head of a branch.
func (g *Graph) publish(l *line, c engine.Commit, s *state) {
	l.head, l.state = c, s
	g.commits[c.ID] = moment{c, s}
	if g.fault == BranchesShared {
		for _, other := range g.lines {
			other.state = s
		}
	}
	if g.fault == KeyIgnored {
		l.outcomes = map[[2]string]outcome{}
	}
}

// past returns a list: a commit, its first parent, the first parent of that, and so on.
func (g *Graph) past(c engine.Commit) []engine.Commit {
	all := []engine.Commit{c}
	for len(c.Parents) > 0 {
		c = g.commits[c.Parents[0]].commit
		all = append(all, c)
	}
	return all
}

// ancestors adds the ids of a commit and of all its ancestors to the map `into`, and returns that
// map.
func (g *Graph) ancestors(id string, into map[string]bool) map[string]bool {
	into[id] = true
	for _, p := range g.commits[id].commit.Parents {
		if !into[p] {
			g.ancestors(p, into)
		}
	}
	return into
}

// lowest returns the lowest common ancestor of two commits. If there are several, it returns the
// one with the greatest id.
func (g *Graph) lowest(a, b string) string {
	of := g.ancestors(b, map[string]bool{})
	var common []string
	for id := range g.ancestors(a, map[string]bool{}) {
		if of[id] {
			common = append(common, id)
		}
	}
	var best string
	for _, id := range common {
		lower := slices.ContainsFunc(common, func(o string) bool {
			return o != id && g.ancestors(o, map[string]bool{})[id]
		})
		if !lower {
			best = max(best, id)
		}
	}
	return best
}

// Branches returns the branches in name order.
func (g *Graph) Branches(ctx context.Context) ([]engine.Branch, error) {
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []engine.Branch
	for name, l := range g.lines {
		if g.shut(name) == nil {
			all = append(all, engine.Branch{Name: name, Head: l.head})
		}
	}
	slices.SortFunc(all, func(a, b engine.Branch) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// CreateBranch creates a branch at any commit.
func (g *Graph) CreateBranch(ctx context.Context, name string, from engine.Target) (engine.Branch, error) {
	if err := engine.CheckBranchName(name); err != nil {
		return engine.Branch{}, err
	}
	if g.fault == ForkFromMain {
		from = engine.Target{}
	}
	s, head, err := g.at(ctx, from)
	if err != nil {
		return engine.Branch{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lines[name] != nil {
		return engine.Branch{}, &engine.Conflict{Reason: "branch " + name + " exists already"}
	}
	if base := g.goneBase(head.ID); base != "" {
		return engine.Branch{}, &engine.NotFound{What: "state of commit", Name: base, Reclaimed: true}
	}
	g.lines[name] = &line{name: name, head: head, state: s, outcomes: map[[2]string]outcome{}}
	return engine.Branch{Name: name, Head: head}, nil
}

// goneBase returns a merge base of a commit and a branch that a cleanup has removed, or "" if there is none.
func (g *Graph) goneBase(id string) string {
	for _, l := range g.lines {
		if base := g.lowest(id, l.head.ID); g.gone[base] {
			return base
		}
	}
	return ""
}

// DeleteBranch removes a branch.
func (g *Graph) DeleteBranch(ctx context.Context, name string) error {
	return g.DeleteBranchAt(ctx, name, "")
}

// DeleteBranchAt removes a branch if its head is the given commit. The id "" allows any head.
func (g *Graph) DeleteBranchAt(ctx context.Context, name, head string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if name == engine.MainBranch || name == "" {
		return &engine.Conflict{Reason: "branch main cannot be deleted"}
	}
	l, err := g.line(name)
	if err != nil {
		return err
	}
	if head != "" && head != l.head.ID {
		return &engine.PreconditionFailed{Expected: head, Actual: l.head.ID}
	}
	if err := g.openProposal(l.name); err != nil {
		return err
	}
	if id, ok := engine.DraftID(l.name); ok {
		g.end(g.drafts[id], engine.DraftDeleted, "", "")
		return nil
	}
	delete(g.lines, l.name)
	return nil
}

// Commits returns the commits of a branch.
func (g *Graph) Commits(ctx context.Context, branch string, r engine.CommitRange) ([]engine.Commit, error) {
	_, head, err := g.at(ctx, engine.Target{Branch: branch})
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	all := slices.DeleteFunc(g.past(head), func(c engine.Commit) bool { return r.Before > 0 && c.Seq >= r.Before })
	if r.Limit > 0 && len(all) > r.Limit {
		all = all[:r.Limit]
	}
	if g.fault == CommitsOldest {
		slices.Reverse(all)
	}
	return all, nil
}

// Commit returns the commit with an id.
func (g *Graph) Commit(ctx context.Context, id string) (engine.Commit, error) {
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return engine.Commit{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if m, ok := g.commits[id]; ok {
		return m.commit, nil
	}
	return engine.Commit{}, &engine.NotFound{What: "commit", Name: id}
}

// Merge merges a branch into another one. A repeated write gets its first outcome even if the source is gone, so the error
// of the missing source comes after begin.
func (g *Graph) Merge(ctx context.Context, source, target string, opts engine.MergeOptions) (*engine.MergeResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	from, missing := g.line(source)
	if missing != nil && opts.IdempotencyKey == "" {
		return nil, missing
	}
	to, _, err := g.lineToWrite(target, opts.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	if from == to {
		return nil, &engine.BadArgument{Param: "source", Detail: "the source and the target are the same branch"}
	}
	name := source
	if missing == nil {
		name = from.name
	}
	if p := opts.Proposal; p != nil && (p.Source != source || p.Target != to.name) {
		return nil, &engine.BadArgument{Param: "proposal", Detail: "the proposal has other branches"}
	}
	write := engine.WriteOptions{Branch: target, Actor: opts.Actor, Message: opts.Message, Tool: opts.Tool, IfCommit: opts.IfCommit, IdempotencyKey: opts.IdempotencyKey, DryRun: opts.DryRun}
	body := "merge " + name
	t, first, err := g.begin(write, body)
	if err != nil {
		return nil, err
	}
	if first != nil {
		return first.merge, nil
	}
	if missing != nil {
		return nil, missing
	}
	if opts.IfSource != "" && opts.IfSource != from.head.ID {
		return nil, &engine.PreconditionFailed{Expected: opts.IfSource, Actual: from.head.ID}
	}
	base := g.lowest(from.head.ID, to.head.ID)
	o := g.lookAtMerge(sides{base: g.commits[base].state, theirs: from.state, ours: to.state, from: from.head, to: to.head}, base, opts.ReadsSource, opts.ReadsTarget)
	if err := o.check(g, g.allChanges(g.commits[base].state, from.state, &engine.ChangeCounts{}, &engine.ChangeCounts{}), opts.Resolutions); err != nil {
		return nil, err
	}
	if opts.Writes != nil && !o.oneSchema() {
		return nil, &engine.NotAllowed{Reason: "the schemas differ"}
	}
	if err := t.mergeFrom(from, base, opts.Resolutions); err != nil {
		return nil, o.conflictsOf(g, err)
	}
	if t.checkRights(opts.Writes); len(t.errs) > 0 {
		return nil, &Failure{Errs: t.errs}
	}
	out, err := t.finishMerge(from, base, write, opts)
	if err != nil {
		return nil, err
	}
	to.keep(write, out.Commit, outcome{body: body, merge: out})
	return out, nil
}

// mergeFrom compares the base, the source and the target entity by entity, and changes the copy of the target.
func (t *tx) mergeFrom(from *line, base string, resolutions []engine.Resolution) error {
	g, to := t.g, t.line
	m := &merge{tx: t, base: g.commits[base].state, source: from.state, changed: map[*entity]bool{}}
	m.fast = base == to.head.ID
	if g.fault == MergeTwoWay {
		m.base = to.state
	}
	if base != from.head.ID { // if they are equal, the target already contains the source
		if err := m.resolveWith(from.name, to.name, resolutions); err != nil {
			return err
		}
		m.run()
	}
	if len(m.conflicts) > 0 {
		if g.fault == MergeFirst {
			m.conflicts = m.conflicts[:1]
		}
		return &engine.MergeConflicts{Conflicts: m.conflicts}
	}
	t.errs, t.touched, t.lost = nil, nil, nil // the merge has checked the rules that it must keep
	if g.fault != MergeOneParent {
		t.parents = []string{from.head.ID}
	}
	return nil
}

// finishMerge commits a merge, ends the draft that is its source, and closes its proposal.
func (t *tx) finishMerge(from *line, base string, write engine.WriteOptions, opts engine.MergeOptions) (*engine.MergeResult, error) {
	g, to := t.g, t.line
	out := &engine.MergeResult{Outcome: engine.Merged, Nodes: t.nodes, Edges: t.edges}
	switch {
	case t.before.equal(t.after):
		out.Outcome = engine.AlreadyUpToDate
	case base == to.head.ID:
		out.Outcome = engine.FastForward
	}
	before := to.head.ID
	if opts.Proposal != nil {
		if _, err := g.nextProposal(opts.Proposal); err != nil {
			return nil, err
		}
	}
	id, ends := engine.DraftID(from.name)
	if ends = ends && !opts.DryRun && out.Outcome != engine.AlreadyUpToDate; ends {
		except := ""
		if opts.Proposal != nil {
			except = opts.Proposal.ID
		}
		if err := g.openProposalBut(from.name, except); err != nil {
			return nil, err
		}
	}
	if opts.Proposal != nil {
		t.proposal, t.approvers = opts.Proposal.ID, opts.Approvers
	}
	var err error
	if out.Commit, err = t.commit(write); err != nil {
		return nil, err
	}
	if ends && out.Commit != nil {
		g.end(g.drafts[id], engine.DraftMerged, opts.Actor, out.Commit.ID)
	}
	if opts.Proposal != nil && out.Commit != nil {
		p := *opts.Proposal
		p.State, p.Merge, p.Base, p.Head, p.TargetHead = engine.ProposalMerged, out.Commit.ID, base, from.head.ID, before
		g.keepProposal(p)
	}
	out.Head = to.head
	return out, nil
}

// merge is the state of a running merge. The tx holds the target.
type merge struct {
	*tx
	base, source *state                 // base is the state of the common ancestor
	mapping      mapping                // to the schema of the source, if the target adopts it; else nil
	changed      map[*entity]bool       // entities that the merge inserted or updated
	gone         []*entity              // entities that the source deleted
	conflicts    []engine.MergeConflict // found so far; if there are any, the merge fails
	fast         bool                   // the target did not change since the base: the result is the state of the source
	resolutions  map[engine.ConflictPlace]engine.Resolution
	filling      mapping // from the schema of the base, which the entities of both sides are compared with

	kept map[[2]string]bool // the nodes, by type and id, that one side deleted and that a resolution keeps
	ours *state             // the target, in the schema of the result

	// uncarriedEdges contains the changed edges, by type and id, that the later schema drops because of their ends.
	uncarriedEdges map[[2]string]bool
}

// conflict adds a conflict.
func (m *merge) conflict(kind engine.ConflictKind, e plan.Entity, typ, id, property string) {
	m.conflicts = append(m.conflicts, engine.MergeConflict{Kind: kind, Entity: e.String(), Type: typ, ID: id, Property: property, Message: "the branches conflict"})
}

// run merges the types one by one.
func (m *merge) run() {
	m.kept, m.ours = map[[2]string]bool{}, m.after.clone()
	for _, n := range m.after.schema.Nodes {
		m.merge(plan.Node, n.Name)
	}
	for _, e := range m.after.schema.Edges {
		m.merge(plan.Edge, e.Name)
		for _, gone := range m.gone {
			if gone.kind == plan.Edge && gone.typ == e.Name {
				m.touch(gone)
				delete(m.after.edges[e.Name], gone.id)
			}
		}
	}
	for _, e := range m.gone {
		if e.kind == plan.Node {
			delete(m.after.nodes[e.typ], e.id)
		}
	}
	m.orphans()
	if m.g.fault != MergeUnchecked && !m.fast {
		m.constraints()
	}
}

// merge merges the entities of a type one by one.
func (m *merge) merge(kind plan.Entity, typ string) {
	ids := map[string]bool{}
	for _, s := range []*state{m.base, m.source} {
		for id := range s.of(kind, typ) {
			ids[id] = true
		}
	}
	for id := range ids {
		was, is, have := m.base.of(kind, typ)[id], m.source.of(kind, typ)[id], m.after.of(kind, typ)[id]
		switch {
		case kind == plan.Edge && m.uncarriedEdges[[2]string{typ, id}]: // the conflict is known
		case unedited(was, m.unfilled(m.after.schema, was, is)) && have == nil && m.spared(was, m.ours):
			m.carry(is)
		case unedited(was, m.unfilled(m.after.schema, was, have)) && is == nil && m.spared(was, m.source):
		case sameEntity(was, is):
		case sameEntity(is, have):
		case unedited(was, m.unfilled(m.after.schema, was, is)) && have == nil:
		case unedited(was, m.unfilled(m.after.schema, was, have)) && is == nil:
			if m.g.fault != MergeKeepsDeleted {
				m.count(kind, engine.Deleted)
				m.gone = append(m.gone, have)
			}
		case sameEntity(was, have):
			m.carry(is)
		case is == nil || was != nil && have == nil:
			r, ok := m.resolution(kind, typ, id, "")
			switch {
			case !ok:
				m.conflict(engine.DeleteVsUpdate, kind, typ, id, "")
				m.show(was, is, have, "")
				m.conflicts[len(m.conflicts)-1].Edges = m.taken(was, is == nil)
			case (r.Take == engine.TakeOurs) == (is == nil): // keep the entity
				if kind == plan.Node {
					m.kept[[2]string{typ, id}] = true
				}
				if is != nil {
					m.place(is)
				}
			case r.Take == engine.TakeOurs:
			default:
				m.count(kind, engine.Deleted)
				m.gone = append(m.gone, have)
			}
		case m.g.fault == MergeWholeRows:
			m.conflict(engine.DivergentUpdate, kind, typ, id, "")
		default:
			m.properties(was, is, have)
		}
	}
}

// properties merges an entity that exists on both sides and that both changed.
func (m *merge) properties(was, is, have *entity) {
	merged := &entity{kind: is.kind, typ: is.typ, id: is.id, props: map[string]value.Value{}}
	kind := engine.DivergentUpdate
	if was == nil {
		kind = engine.DivergentInsert
	}
	names := []string{}
	for _, p := range m.tx.properties(is.kind, is.typ) {
		names = append(names, p.Name)
	}
	if is.kind == plan.Edge {
		names = append(names, "from", "to")
	}
	for _, name := range names {
		s, h := is.part(name), have.part(name)
		result := h
		switch {
		case value.Equal(s, h):
		case was != nil && value.Equal(was.part(name), s):
		case was != nil && value.Equal(was.part(name), h) || m.g.fault == MergeTakesSource:
			result = s
		default:
			r, ok := m.resolution(is.kind, is.typ, is.id, name)
			switch {
			case !ok:
				m.conflict(kind, is.kind, is.typ, is.id, name)
				m.show(was, is, have, name)
			case r.Take == engine.TakeTheirs:
				result = s
			case r.Take == engine.TakeValue:
				result = r.Value
			}
		}
		switch {
		case is.kind == plan.Edge && (name == "from" || name == "to"):
			merged.setEnd(name == "to", result)
		case !result.IsNull():
			merged.props[name] = result
		}
	}
	base := claims(nil)
	if was != nil {
		base = was.claims
	}
	if merged.claims = mergeClaims(base, is.claims, have.claims); m.g.fault == MergeKeepsClaims {
		merged.claims = have.claims
	}
	switch {
	case sameEntity(merged, have):
	case was != nil && sameValues(was, have): // only the source changed more than the claims
		merged.made, merged.changed = is.made, is.changed
		m.carry(merged)
	default:
		m.place(merged)
	}
}

// lacks reports whether an end of an edge does not exist. It adds a conflict for each missing end.
func (m *merge) lacks(e *entity) bool {
	lacks := false
	for _, name := range []string{"from", "to"} {
		if m.after.node(e, name == "to") == nil {
			lacks = true
			if m.g.fault != MergeOrphans {
				m.conflict(engine.OrphanEdge, plan.Edge, e.typ, e.id, name)
			}
		}
	}
	return lacks
}

// orphans removes each edge with an end node that the merge deleted.
func (m *merge) orphans() {
	for _, typ := range m.after.schema.Edges {
		for _, e := range m.after.sorted(plan.Edge, typ.Name) {
			if m.lacks(e) {
				m.touch(e)
				delete(m.after.edges[typ.Name], e.id)
			}
		}
	}
}

// constraints checks the constraints that the merge may have broken.
func (m *merge) constraints() {
	for _, typ := range shapes(m.after.schema) {
		for _, e := range m.after.sorted(typ.kind, typ.name) {
			if !m.changed[e] && m.mapping != nil {
				m.values(e, m.broken)
				m.checkValid(e.kind, e.typ, []*entity{e}, m.broken)
			}
		}
	}
	unique := func(kind plan.Entity, typ string, rules [][]string) {
		shape, _ := shapeOf(m.after.schema, kind, typ)
		for _, names := range rules {
			all, added := m.after.sorted(kind, typ), !m.hadUniqueRule(shape, names)
			for _, a := range all {
				if (m.changed[a] || added) && slices.ContainsFunc(all, func(b *entity) bool { return a != b && m.sameTuple(a, b, names) }) {
					m.conflict(engine.UniqueViolation, kind, typ, a.id, strings.Join(names, ", "))
				}
			}
		}
	}
	for _, n := range m.after.schema.Nodes {
		unique(plan.Node, n.Name, n.Unique)
	}
	for _, e := range m.after.schema.Edges {
		unique(plan.Edge, e.Name, e.Unique)
		if e.Card == nil {
			continue
		}
		for _, source := range m.after.sources(e) {
			n := len(m.outgoing(e, source))
			if (m.touches(e, source) || n > 0 && !m.bounded(e)) && (n < e.Card.Min || e.Card.Max >= 0 && n > e.Card.Max) {
				m.conflict(engine.CardinalityViolation, plan.Edge, e.Name, source.id, "")
			}
		}
	}
}
