package dataimport

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// Finder finds nodes of the graph by the properties of a @unique.
type Finder interface {
	// Find returns the id of the node with each tuple of values, "" for none.
	Find(ctx context.Context, typ string, props []string, tuples [][]value.Value) ([]string, error)
}

// findBatch is the number of tuples in one call of Find.
const findBatch = 1000

// joined lists names.
func joined(list []string) string { return strings.Join(list, ", ") }

// Lookups reports whether ends are found by other properties than a key, so that Prepare needs a Finder.
func (in *Import) Lookups() bool { return len(in.plan.lookups) > 0 }

// Prepare finds the nodes at ends that are given by other properties than a key: among the nodes that the import makes, and then
// in the graph. It records their ids in the lookups of the plan; after a success, a further call does nothing. It needs memory for
// each distinct value of such an end. With `replaces`, the graph has no other node of a type than those that the import makes of it.
func (in *Import) Prepare(ctx context.Context, graph Finder, replaces bool) error {
	if !in.Lookups() || in.prepared {
		return nil
	}
	own, err := in.findOwn(ctx)
	if err != nil {
		return err
	}
	wanted, err := in.wantedEnds(ctx, own, replaces)
	if err != nil {
		return err
	}
	for l, tuples := range wanted {
		if err := l.find(ctx, graph, tuples, own[l.typ.Name]); err != nil {
			return err
		}
	}
	in.prepared = true
	return nil
}

// findOwn records the nodes that the import makes in the lookups. It returns their ids, by the name of the type.
func (in *Import) findOwn(ctx context.Context) (map[string]map[string]bool, error) {
	own := map[string]map[string]bool{}
	err := in.each(ctx, false, func(p *pass, m *plannedMapping, r *record.Record) {
		for _, l := range in.plan.lookups {
			if l.typ != m.node {
				continue
			}
			id, ok := p.id(m, r)
			if !ok {
				continue
			}
			if own[l.typ.Name] == nil {
				own[l.typ.Name] = map[string]bool{}
			}
			id = strings.Clone(id)
			own[l.typ.Name][id] = true
			if tuple, ok := p.named(m, l.props, r); ok {
				l.ids[strings.Clone(tuple)] = id
			}
		}
	})
	return own, err
}

// wantedEnds returns the values of the ends that no node of the import has, by lookup and by their texts. With `replaces`, it leaves out the
// types in `own`.
func (in *Import) wantedEnds(ctx context.Context, own map[string]map[string]bool, replaces bool) (map[*lookup]map[string][]value.Value, error) {
	wanted := map[*lookup]map[string][]value.Value{}
	err := in.each(ctx, true, func(p *pass, m *plannedMapping, r *record.Record) {
		for _, e := range []*plannedEnd{m.from, m.to} {
			if e.lookup == nil || replaces && own[e.typ.Name] != nil {
				continue
			}
			tuple, ok, fault := p.tuple(e.by, r)
			if fault != nil || !ok {
				continue
			}
			if _, known := e.lookup.ids[tuple]; known {
				continue
			}
			if wanted[e.lookup] == nil {
				wanted[e.lookup] = map[string][]value.Value{}
			}
			if _, known := wanted[e.lookup][tuple]; known {
				continue
			}
			wanted[e.lookup][strings.Clone(tuple)] = e.values(r)
		}
	})
	return wanted, err
}

// values returns copies of the values that identify the node at an end.
func (e *plannedEnd) values(r *record.Record) []value.Value {
	values := make([]value.Value, len(e.by))
	for i := range e.by {
		values[i], _, _ = e.by[i].value(r)
		if values[i].Kind() == value.String {
			values[i] = value.OfString(strings.Clone(values[i].Str()))
		}
	}
	return values
}

// find looks for tuples in the graph. A node that the import itself makes does not count, because its values change.
func (l *lookup) find(ctx context.Context, graph Finder, tuples map[string][]value.Value, own map[string]bool) error {
	var keys []string
	var batch [][]value.Value
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		ids, err := graph.Find(ctx, l.typ.Name, l.props, batch)
		if err != nil {
			return err
		}
		for i, id := range ids {
			if id != "" && !own[id] {
				l.ids[keys[i]] = id
			}
		}
		keys, batch = keys[:0], batch[:0]
		return nil
	}
	for key, values := range tuples {
		keys, batch = append(keys, key), append(batch, values)
		if len(batch) == findBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// each calls visit with each record of which a mapping makes a node, or an edge, in a pass of its own. The record and its texts are valid
// during the call. Faults of records are left to the pass that makes lines.
func (in *Import) each(ctx context.Context, edges bool, visit func(p *pass, m *plannedMapping, r *record.Record)) error {
	p := in.newPass(ctx)
	p.phases = []bool{edges}
	p.visit = visit
	return p.drain()
}

// drain runs a pass to its end and makes no lines.
func (p *pass) drain() error {
	err := p.run(1 << 62)
	if errors.Is(err, io.EOF) || errors.Is(err, errStop) {
		err = nil
	}
	return errors.Join(err, p.closeFile())
}

// id returns the id of the node that a mapping makes of a record, if the record or the key gives one.
func (p *pass) id(m *plannedMapping, r *record.Record) (string, bool) {
	if len(m.node.Key) > 0 {
		return p.named(m, m.node.Key, r)
	}
	return p.named(m, []string{"id"}, r)
}

// named returns the texts of some properties of the node that a mapping makes of a record.
func (p *pass) named(m *plannedMapping, props []string, r *record.Record) (string, bool) {
	var by []plannedProperty
	for _, name := range props {
		for i := range m.props {
			if m.props[i].name == name {
				by = append(by, m.props[i])
			}
		}
	}
	if len(by) != len(props) {
		return "", false
	}
	tuple, ok, fault := p.tuple(by, r)
	return tuple, ok && fault == nil
}
