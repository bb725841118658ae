package naive

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// moment returns a commit that is an ancestor of the head of a branch or of a proposal.
func (g *Graph) moment(id string) (moment, error) {
	live := map[string]bool{}
	for _, l := range g.lines {
		g.ancestors(l.head.ID, live)
	}
	for _, p := range g.proposals {
		g.ancestors(p.Head, live)
		g.ancestors(p.TargetHead, live)
	}
	switch {
	case live[id] && g.gone[id]:
		return moment{}, &engine.NotFound{What: "state of commit", Name: id, Reclaimed: true}
	case live[id]:
		return g.commits[id], nil
	}
	return moment{}, &engine.NotFound{What: "commit", Name: id}
}

// Changes compares the entities of a commit with the entities of its first parent.
func (g *Graph) Changes(ctx context.Context, commit string, r engine.ChangeRange) (*engine.Changes, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := g.line(""); err != nil {
		return nil, err
	}
	is, fault := g.moment(commit)
	if fault != nil && !g.gone[commit] {
		return nil, fault
	}
	is.commit = g.commits[commit].commit // also for a reclaimed commit, because its parent is needed
	var err error
	var was moment
	if len(is.commit.Parents) > 0 {
		parent := is.commit.Parents[0]
		if g.fault == ChangesFromSource {
			parent = is.commit.Parents[len(is.commit.Parents)-1]
		}
		if was, err = g.moment(parent); err != nil {
			return nil, err
		}
	}
	if fault != nil {
		return nil, fault
	}
	if was.state == nil {
		was.state = newState(is.state.source, is.state.schema)
	}
	out := &engine.Changes{Commit: is.commit}
	all := g.allChanges(was.state, is.state, &out.Nodes, &out.Edges)
	o := g.look([]*state{was.state, is.state}, []string{was.commit.ID, is.commit.ID}, []*engine.Rights{r.Rights, r.Rights})
	if err := o.check(g, all, nil); err != nil {
		return nil, err
	}
	out.List, out.More, err = g.pageOf(all, was.state, is.state, r)
	if err != nil {
		return nil, err
	}
	o.show(out.List)
	return out, nil
}

// pageOf returns the changes that r selects from all changes between two states, and reports whether
// more follow.
func (g *Graph) pageOf(all []engine.EntityChange, was, is *state, r engine.ChangeRange) (_ []engine.EntityChange, more bool, err error) {
	types := changedTypes(was.schema, is.schema)
	all = slices.DeleteFunc(slices.Clone(all), func(c engine.EntityChange) bool { return !r.Selects(c.Entity, c.Type, c.Kind) })
	if r.After != (engine.ChangePosition{}) {
		if !slices.ContainsFunc(types, func(t changedType) bool { return t.is(r.After) }) {
			return nil, false, &engine.BadArgument{Param: "after", Detail: "no such type"}
		}
		all = slices.DeleteFunc(all, func(c engine.EntityChange) bool { return !before(types, r.After, c.Position()) })
	}
	if g.fault == ChangesKeepDeleted {
		all = slices.DeleteFunc(all, func(c engine.EntityChange) bool { return c.Kind == engine.Deleted })
	}
	if r.Limit > 0 && len(all) > r.Limit {
		all, more = all[:r.Limit], true
	}
	for i := range all {
		c := &all[i]
		state := is
		if c.Kind == engine.Deleted {
			state = was
		}
		c.TypeID = state.typeID(entityOf(c.Entity), c.Type, g.fault)
		if r.Images {
			c.Before, c.After, c.Properties = was.image(c), is.image(c), nil
		}
	}
	bytes := 0
	for i := range all {
		if bytes += all[i].Bytes(); r.MaxBytes > 0 && bytes >= r.MaxBytes {
			all, more = all[:i+1], more || i+1 < len(all)
			break
		}
	}
	return all, more, nil
}

// changedType is a type that is in at least one of two schemas.
type changedType struct {
	kind  plan.Entity // node or edge
	name  string      // of the type
	props []string    // names of the properties
}

func (t changedType) is(p engine.ChangePosition) bool {
	return t.kind.String() == p.Entity && t.name == p.Type
}

// entityOf returns the kind of entity with the given name, which is "node" or "edge".
func entityOf(entity string) plan.Entity {
	if entity == plan.Edge.String() {
		return plan.Edge
	}
	return plan.Node
}

// image returns the entity that a change is about, or nil if the state does not have it.
func (s *state) image(c *engine.EntityChange) *engine.Image {
	e := s.of(entityOf(c.Entity), c.Type)[c.ID]
	if e == nil {
		return nil
	}
	out := &engine.Image{From: e.from, To: e.to, FromType: e.fromType, ToType: e.toType}
	typ, _ := shapeOf(s.schema, entityOf(c.Entity), c.Type)
	for _, p := range typ.props {
		out.Properties = append(out.Properties, engine.PropertyValue{Name: p.Name, Value: e.props[p.Name]})
	}
	return out
}

// typeID follows the type back to the schema in which it first occurred. It returns the digest of
// that schema, the number of earlier times that the schema was in force, and the name of the type
// there.
func (s *state) typeID(kind plan.Entity, name string, fault Fault) string {
	digest, first, rest := s.digest, name, s.ancestors
	for i, a := range s.ancestors {
		before, ok := a.mapping[kind][name]
		if !ok || fault == RenameAnew && before.was != name {
			break
		}
		digest, first, rest = a.digest, before.was, s.ancestors[i+1:]
	}
	times := 0
	for _, a := range rest {
		if a.digest == digest {
			times++
		}
	}
	return fmt.Sprint(digest, times, kind, first)
}

// changedTypes lists the types of two schemas in the order of changes. The properties of a type are
// those of the later schema first. The properties that only the earlier schema has follow.
func changedTypes(was, is *catalog.Schema) (all []changedType) {
	for _, s := range []*catalog.Schema{is, was} {
		add := func(kind plan.Entity, name string, props []*catalog.Property) {
			i := slices.IndexFunc(all, func(t changedType) bool { return t.kind == kind && t.name == name })
			if i < 0 {
				i = len(all)
				all = append(all, changedType{kind: kind, name: name})
			}
			for _, p := range props {
				if !slices.Contains(all[i].props, p.Name) {
					all[i].props = append(all[i].props, p.Name)
				}
			}
		}
		for _, n := range s.Nodes {
			add(plan.Node, n.Name, n.Properties)
		}
		for _, e := range s.Edges {
			add(plan.Edge, e.Name, e.Properties)
		}
	}
	slices.SortFunc(all, func(a, b changedType) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	return all
}

// before reports whether change a comes before change b.
func before(types []changedType, a, b engine.ChangePosition) bool {
	place := func(p engine.ChangePosition) int {
		return slices.IndexFunc(types, func(t changedType) bool { return t.is(p) })
	}
	if place(a) != place(b) {
		return place(a) < place(b)
	}
	return a.ID < b.ID
}

// differences lists the entities of a type that differ between two states, and counts them in n.
func differences(t changedType, was, is *state, n *engine.ChangeCounts) (list []engine.EntityChange) {
	kind, typ := t.kind, t.name
	ids := map[string]bool{}
	for id := range was.of(kind, typ) {
		ids[id] = true
	}
	for id := range is.of(kind, typ) {
		ids[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		old, now := was.of(kind, typ)[id], is.of(kind, typ)[id]
		c := engine.EntityChange{Kind: engine.Updated, Entity: kind.String(), Type: typ, ID: id}
		count := &n.Updated
		switch {
		case old == nil:
			c.Kind, count, old = engine.Inserted, &n.Inserted, &entity{}
		case now == nil:
			c.Kind, count, now = engine.Deleted, &n.Deleted, &entity{}
		case kind == plan.Edge:
			c.Properties = appendDifferent(c.Properties, "from", old.part("from"), now.part("from"))
			c.Properties = appendDifferent(c.Properties, "to", old.part("to"), now.part("to"))
		}
		endsChanged(&c, now)
		if c.Kind == engine.Deleted {
			endsChanged(&c, old)
		}
		for _, p := range t.props {
			c.Properties = appendDifferent(c.Properties, p, old.props[p], now.props[p])
		}
		if c.Kind != engine.Updated || len(c.Properties) > 0 {
			*count++
			list = append(list, c)
		}
	}
	return list
}

// appendDifferent appends a change of the property unless both values are equal.
func appendDifferent(list []engine.PropertyChange, name string, old, now value.Value) []engine.PropertyChange {
	if value.Equal(old, now) {
		return list
	}
	return append(list, engine.PropertyChange{Name: name, Old: old, New: now})
}

// Cleanup marks the commits that become unreadable.
func (g *Graph) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*engine.CleanupResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := g.line(""); err != nil {
		return nil, err
	}
	if opts.KeepCommits < 0 {
		return nil, &engine.BadArgument{Param: "keep_commits", Detail: "less than none"}
	}
	keep, live := map[string]bool{}, map[string]bool{}
	for name, l := range g.lines {
		g.ancestors(l.head.ID, live)
		keep[l.head.ID] = true
		for i, c := range g.past(l.head) {
			if i < opts.KeepCommits || g.fault == CleanupKeepsLines {
				keep[c.ID] = true
			}
		}
		for other, o := range g.lines {
			if name != other && g.fault != CleanupDropsBases {
				keep[g.lowest(l.head.ID, o.head.ID)] = true
			}
		}
	}
	for _, p := range g.proposals {
		for _, id := range []string{p.Base, p.Head, p.TargetHead, p.Merge} {
			if id != "" {
				g.ancestors(id, live)
				keep[id] = true
			}
		}
	}
	out := &engine.CleanupResult{}
	for id := range live {
		late := !opts.Before.IsZero() && !g.commits[id].commit.Time.Before(opts.Before)
		switch {
		case g.gone[id]:
		case keep[id] || late:
			out.Kept++
		default:
			out.Commits++
			if !opts.DryRun {
				g.gone[id] = true
			}
		}
	}
	return out, nil
}

// author is what the origins of entities say of a commit.
type author struct {
	commit engine.Commit
}

// sign gives the entities that a commit has put their origins: those that it made or changed, compared with the state before it,
// except those that a merge carries from its source.
func (t *tx) sign(c engine.Commit) {
	by := &author{c}
	if t.carriesAll {
		return
	}
	before := t.before
	if t.adopted != nil {
		before = t.adopted
	}
	for _, typ := range shapes(t.after.schema) {
		for id, e := range t.after.of(typ.kind, typ.name) {
			was := before.of(typ.kind, typ.name)[id]
			if e == was || t.carries[e] && t.g.fault != MergeSigns {
				continue
			}
			signed := *e
			switch {
			case was == nil:
				signed.made, signed.changed = by, by
			case sameValues(was, e):
				signed.made, signed.changed = was.made, was.changed
			default:
				signed.made, signed.changed = was.made, by
			}
			if t.g.fault == MadeByLast {
				signed.made = signed.changed
			}
			t.after.of(typ.kind, typ.name)[id] = &signed
		}
	}
}

// origin returns a fact about the origin of an entity.
func (ev *evaluation) origin(o plan.Origin) value.Value {
	e := ev.env[o.Var]
	by := e.changed
	if o.Fact.Made() {
		by = e.made
	}
	if by == nil {
		return value.Null
	}
	text := ""
	switch o.Fact {
	case plan.OriginAt, plan.OriginMadeAt:
		return value.OfDateTime(value.DateTimeOf(by.commit.Time))
	case plan.OriginActor, plan.OriginMadeBy:
		text = by.commit.Actor
	case plan.OriginProposal:
		text = ev.broughtBy(by.commit.ID)
	case plan.OriginSource:
		text = by.commit.Source
	case plan.OriginTool:
		text = by.commit.Tool
	}
	if text == "" {
		return value.Null
	}
	return value.OfString(text)
}

// broughtBy returns the proposal whose merge brought a commit to the branch that is read: the first commit on the line of first parents that is
// the commit or has it as an ancestor.
func (ev *evaluation) broughtBy(commit string) string {
	if ev.brought == nil {
		ev.brought = map[string]string{}
		var line []string
		for id := ev.commit; id != ""; {
			line = append(line, id)
			parents := ev.g.commits[id].commit.Parents
			if id = ""; len(parents) > 0 {
				id = parents[0]
			}
		}
		for _, id := range slices.Backward(line) {
			for of := range ev.g.ancestors(id, map[string]bool{}) {
				if _, known := ev.brought[of]; !known {
					ev.brought[of] = ev.g.commits[id].commit.Proposal
				}
			}
		}
	}
	return ev.brought[commit]
}
