package naive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// load is the state of a running load.
type load struct {
	*tx
	opts  engine.LoadOptions
	items []item // the parsed lines
	// loaded holds the ids of the entities in the input, by type.
	loaded map[typeKey]map[string]bool
	// excused holds the faults of lines that later lines supersede. Such a fault does not make the
	// load fail, but an engine may report it together with the faults that do.
	excused []error
	// lacking holds the faults of patches of entities that do not exist.
	lacking []error
	synced  *engine.SyncResult // of a load that claims its lines
}

// item is a line of a load that was parsed successfully.
type item struct {
	line     int64                  // number of the line, from 1
	typeKey  typeKey                // the type of the entity
	id       string                 // empty if the line has none
	from, to value.Value            // an edge's ends, like those that part returns
	props    map[string]value.Value // the properties by name
	cleared  map[string]bool        // the properties that are null
	yielded  []string               // properties of the line that the entity does not get, because another source owns them
	claims   claims                 // the member `sources`, or what the mode sync makes of it; nil if there is none
	gone     string                 // the id of the member delete
	was      string                 // the id of the member was
}

// typeKey identifies a node type or an edge type.
type typeKey struct {
	kind plan.Entity // node or edge
	name string      // of the type
}

// Load reads all lines, and then applies nodes before edges.
func (g *Graph) Load(ctx context.Context, r io.Reader, opts engine.LoadOptions) (*engine.LoadResult, error) {
	if _, _, err := g.at(ctx, engine.Target{Branch: opts.Branch}); err != nil && !mayRepeat(opts.WriteOptions, err) {
		return nil, err
	}
	if opts.Reads != nil && (opts.Mode == engine.Overwrite || opts.Changes != nil) {
		return nil, &engine.NotAllowed{Reason: "it needs the whole graph"}
	}
	if err := opts.CheckChanges(); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	body := fmt.Sprint(opts.Mode, opts.NewEdges, opts.LastWins, opts.Sync) + string(text)
	t, first, err := g.begin(opts.WriteOptions, body)
	if err != nil {
		return nil, err
	}
	if first != nil {
		return first.load, nil
	}
	if err := opts.Check(t.before.schema); err != nil {
		return nil, err
	}
	if c := opts.Changes; c != nil {
		switch at := t.line.positions[c.Source]; {
		case c.Position == "" && len(bytes.TrimSpace(text)) > 0:
			return nil, &engine.BadArgument{Detail: "the load has lines, but no new position"}
		case c.Position != "" && at != c.After:
			return nil, &engine.Conflict{Reason: "the source is at " + at}
		}
	}
	t.source = opts.Sync.Source
	if opts.Changes != nil && t.source == "" {
		t.source = opts.Changes.DefaultClaim()
	}
	l := &load{tx: t, opts: opts, loaded: map[typeKey]map[string]bool{}}
	if opts.Sync.Source != "" {
		l.synced = &engine.SyncResult{}
	}
	l.read(bytes.TrimPrefix(text, []byte("\ufeff")))
	l.change()
	entities := l.entities()
	certain := len(t.errs)
	t.errs = append(t.errs, l.lacking...)
	l.apply(entities)
	if opts.Mode == engine.Sync && len(t.errs) == 0 {
		if err := l.letGo(); err != nil {
			return nil, err
		}
	}
	if g.fault == BadLinesSkipped {
		t.errs = nil
	}
	commit, err := t.commit(opts.WriteOptions)
	if err != nil {
		var f *Failure
		if errors.As(err, &f) {
			f.load, f.Certain = true, certain
			f.Errs = append(f.Errs, l.excused...)
		}
		return nil, err
	}
	if c := opts.Changes; c != nil && c.Position != "" && !opts.DryRun {
		t.line.setPosition(c)
		if commit == nil && c.Position != c.After {
			commit = t.publish(opts.WriteOptions)
		}
	}
	result := &engine.LoadResult{Commit: commit, Head: t.line.head, Effects: &t.effects, Sync: l.synced}
	for _, typ := range changedTypes(t.after.schema, t.after.schema) {
		n := &t.effects.Nodes
		if typ.kind == plan.Edge {
			n = &t.effects.Edges
		}
		differences(typ, t.before, t.after, n)
	}
	for _, n := range t.after.schema.Nodes {
		if ids, ok := l.loaded[typeKey{plan.Node, n.Name}]; ok {
			result.Nodes = append(result.Nodes, engine.TypeCount{Type: n.Name, Count: int64(len(ids))})
		}
	}
	for _, e := range t.after.schema.Edges {
		if ids, ok := l.loaded[typeKey{plan.Edge, e.Name}]; ok {
			result.Edges = append(result.Edges, engine.TypeCount{Type: e.Name, Count: int64(len(ids))})
		}
	}
	if opts.Changes != nil {
		result.Position = t.line.positions[opts.Changes.Source]
	}
	t.line.keep(opts.WriteOptions, commit, outcome{body: body, load: result})
	return result, nil
}

// read parses the lines. It skips blank lines.
func (l *load) read(text []byte) {
	number := int64(0)
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		blank := len(bytes.TrimSpace(line)) == 0
		if !blank || l.g.fault != LinesOff {
			number++
		}
		if blank {
			continue
		}
		it := item{line: number, props: map[string]value.Value{}, cleared: map[string]bool{}}
		if faults := l.parse(line, &it); len(faults) > 0 {
			for _, f := range faults {
				f.Line = number
				l.errs = append(l.errs, f)
			}
			continue
		}
		l.items = append(l.items, it)
	}
}

// entities builds the entities of the lines, and checks each one on its own.
func (l *load) entities() []*entity {
	var all []*entity
	for _, it := range l.items {
		before := len(l.errs)
		if err := l.find(&it); err != nil {
			l.errs = append(l.errs, &engine.LineError{Line: it.line, Field: "data.id", Err: err})
		}
		id, props := l.patched(&it, all)
		// What the line says must be valid even where the source yields to another, whose value stands.
		said := maps.Clone(props)
		for _, p := range it.yielded {
			if v, ok := it.props[p]; !ok {
				delete(said, p)
			} else {
				said[p] = v
			}
		}
		e := l.build(it.typeKey.kind, it.typeKey.name, it.id, said)
		if e != nil && it.yielded != nil {
			e = l.build(it.typeKey.kind, it.typeKey.name, it.id, props)
		}
		if faults := len(l.errs); faults > before {
			if l.excuseLacking(&it, before); e == nil && len(l.errs) == before {
				e = &entity{kind: it.typeKey.kind, typ: it.typeKey.name, id: id, props: props} // other lines may have the same id
			}
		}
		for i, err := range l.errs[before:] {
			var v *engine.ConstraintViolation
			field := ""
			if errors.As(err, &v) {
				field = "data." + v.Property
			}
			l.errs[before+i] = &engine.LineError{Line: it.line, Field: field, Err: err}
		}
		if e == nil {
			continue
		}
		keyed := it.typeKey.kind == plan.Node && l.after.schema.Node(it.typeKey.name).Key != nil
		if e.id == "" && !keyed {
			e.id = l.g.newID()
		}
		if it.id != "" && it.id != e.id {
			l.errs = append(l.errs, &engine.LineError{Line: it.line, Field: "data.id", Err: &engine.ConstraintViolation{
				Entity: "node", Type: e.typ, ID: e.id, Rule: "key", Detail: fmt.Sprintf("the id is %q, but the key is %q", it.id, e.id)}})
			continue
		}
		if e.kind == plan.Edge {
			e.setEnd(false, it.from)
			e.setEnd(true, it.to)
		}
		e.claims = it.claims
		l.lines[e] = it.line
		all = append(all, e)
	}
	return all
}

// apply adds the entities to the state, nodes before edges.
func (l *load) apply(all []*entity) {
	for _, e := range all {
		key := typeKey{e.kind, e.typ}
		if l.loaded[key] == nil {
			l.loaded[key] = map[string]bool{}
			if l.opts.Mode == engine.Overwrite && l.g.fault != OverwriteKeeps {
				l.clear(key)
			}
		}
	}
	if l.opts.Mode == engine.Overwrite && l.g.fault == OverwriteAll {
		for _, n := range l.after.schema.Nodes {
			l.clear(typeKey{plan.Node, n.Name})
		}
		for _, e := range l.after.schema.Edges {
			l.clear(typeKey{plan.Edge, e.Name})
		}
	}
	for _, kind := range []plan.Entity{plan.Node, plan.Edge} {
		for i, e := range all {
			switch {
			case e.kind != kind:
			case l.superseded(all, i) && kind == plan.Node:
			case l.superseded(all, i):
				standing := len(l.errs)
				l.endpoints(e)
				l.excused = append(l.excused, l.errs[standing:]...)
				l.errs = l.errs[:standing]
			default:
				l.add(e)
			}
		}
	}
	if l.opts.Mode == engine.Overwrite {
		l.orphans()
	}
}

// superseded reports whether another line stands for entity i, because the last one wins.
func (l *load) superseded(all []*entity, i int) bool {
	others := all[i+1:]
	if l.g.fault == FirstEdgeStands {
		others = all[:i]
	}
	return l.opts.LastWins && l.opts.Mode.Finds() && slices.ContainsFunc(others, func(e *entity) bool {
		return e.kind == all[i].kind && e.typ == all[i].typ && e.id == all[i].id
	})
}

// clear removes every entity of a type. It keeps the edges of removed nodes.
func (l *load) clear(key typeKey) {
	for _, e := range l.after.sorted(key.kind, key.name) {
		l.touch(e)
		delete(l.after.of(key.kind, key.name), e.id)
	}
}

// add adds one entity of the input to the state.
func (l *load) add(e *entity) {
	key := typeKey{e.kind, e.typ}
	old := l.after.of(e.kind, e.typ)[e.id]
	twice := l.loaded[key][e.id]
	l.loaded[key][e.id] = true
	if e.kind == plan.Edge {
		l.endpoints(e)
	}
	switch {
	case twice && l.g.fault == DuplicateKeyAllowed:
	case twice, old != nil && l.opts.Mode == engine.Append && l.g.fault != AppendUpserts, l.moves(old, e):
		l.report(e, "", &engine.KeyConflict{Entity: e.kind.String(), Type: e.typ, ID: e.id})
		return
	case old != nil && l.g.fault == MergeKeeps:
		line := l.lines[e]
		e = l.merge(old, e)
		l.lines[e] = line
	}
	l.put(e)
}

// orphans reports the edges that remained although one of their nodes was removed.
func (l *load) orphans() {
	for _, typ := range l.after.schema.Edges {
		for _, e := range l.after.sorted(plan.Edge, typ.Name) {
			if l.lines[e] == 0 {
				l.endpoints(e)
			}
		}
	}
}
