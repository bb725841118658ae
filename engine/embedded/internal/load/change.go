package load

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/membership"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// changes are the deletes and the moves of an input; see [engine.SourceChanges].
type changes struct{ gone, moved []change }

// change deletes an entity, or moves it to another id.
type change struct {
	typ  *schema.Type
	id   string
	line int64
	to   string        // of a move: the new id
	key  []value.Value // of a move: the values of the key, by position in typ.Key
}

// empty reports whether there are no changes.
func (c *changes) empty() bool { return len(c.gone)+len(c.moved) == 0 }

// add adds the changes of the block that begins after the line `before`.
func (c *changes) add(block changes, before int64) {
	for _, list := range [][]change{block.gone, block.moved} {
		for i := range list {
			list[i].line += before
		}
	}
	c.gone, c.moved = append(c.gone, block.gone...), append(c.moved, block.moved...)
}

// Empty reports whether the input has no lines.
func (in *Input) Empty() bool {
	some := func(r *Rows) bool { return r != nil }
	return in.changes.empty() && !slices.ContainsFunc(in.Nodes, some) && !slices.ContainsFunc(in.Edges, some)
}

// moved notes that the row that was just added is of an entity that had another id.
func (p *parser) moved(t *schema.Type, was string) {
	r := p.rows(t)
	m := change{typ: t, id: was, line: int64(p.line), to: string(r.idColumn().Raw(len(r.lines) - 1))}
	for _, k := range t.Key {
		m.key = append(m.key, version.Detached(p.vals[k]))
	}
	if m.to != was {
		p.changes.moved = append(p.changes.moved, m)
	}
}

// held is an edge that waits for its moved ends.
type held struct {
	typ      *schema.Type
	id       string
	src, dst end // with the types of the ends, and their ids
	vals     []value.Value
	claims   string // the membership
}

// change deletes entities, and moves others to their new ids.
func (a *applier) change() error {
	for _, e := range []plan.Entity{plan.Edge, plan.Node} {
		for i, c := range a.in.changes.gone {
			if i%cancelEvery == 0 && a.ctx.Err() != nil {
				return a.ctx.Err()
			}
			ord, ok := a.tx.Table(c.typ).Lookup(c.id)
			if !ok || c.typ.Entity != e {
				continue
			}
			if stays, err := a.leave(c.typ, ord); stays || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			a.tx.Delete(c.typ, ord)
		}
	}
	if a.sync != nil {
		a.sync.cutKept()
	}
	return a.move()
}

// leave lets a deleted entity go as the mode sync does, and reports whether it stays: if the source does not claim it, if another
// source claims it or no source created it, and if it is a node with an edge that is not the source's alone.
func (a *applier) leave(t *schema.Type, ord uint32) (stays bool, err error) {
	if a.sync == nil {
		return false, nil
	}
	source := a.sync.opts.Source
	was := membership.Stored(a.tx.Table(t).Claims(ord))
	own, claims := was.Of(source)
	is := was.Release(source)
	switch {
	case !claims:
		return true, nil
	case len(is.Sources) > 0 || !is.Created:
		return true, a.release(t, ord, own, is)
	case t.Entity == plan.Node:
		edges := int64(0)
		a.tx.Edges(t, ord, func(typ *schema.Type, edge uint32) {
			of := membership.Stored(a.tx.Table(typ).Claims(edge))
			_, claims := of.Of(source)
			stays = stays || !claims || len(of.Sources) > 1 || !of.Created
			edges++
		})
		if stays {
			a.sync.keep(t, a.tx.Table(t).ID(ord))
			return true, nil
		}
		a.sync.result.Cascaded += edges
	}
	a.sync.result.Deleted++
	return false, nil
}

// move gives entities their new ids. All entities leave their old ids first, because one may take the id of another.
func (a *applier) move() error {
	s := a.tx.Schema()
	now := map[*schema.Type]map[string]string{} // by type: the new ids of moved entities
	var nodes []version.Row
	var moved []change
	for _, c := range a.in.changes.moved {
		ord, ok := a.tx.Table(c.typ).Lookup(c.id)
		if !ok || now[c.typ][c.id] != "" {
			continue
		}
		if now[c.typ] == nil {
			now[c.typ] = map[string]string{}
		}
		now[c.typ][c.id] = c.to
		if c.typ.Entity == plan.Edge {
			continue
		}
		row := version.Row{ID: c.to, Vals: a.values(c.typ, ord), Claims: strings.Clone(a.tx.Table(c.typ).Claims(ord))}
		for i, k := range c.typ.Key {
			row.Vals[k] = c.key[i]
		}
		nodes, moved = append(nodes, row), append(moved, c)
	}
	newID := func(t *schema.Type, id string) string {
		if t.Of != nil {
			typ, node := schema.SplitRef(id)
			if to := now[t.Of.Member(typ)][node]; to != "" {
				return schema.RefID(typ, to)
			}
		} else if to := now[t][id]; to != "" {
			return to
		}
		return id
	}
	var edges []held
	hold := func(t *schema.Type, ord uint32) {
		table := a.tx.Table(t)
		src, dst := table.Ends(ord)
		h := held{typ: t, id: newID(t, table.ID(ord)), vals: a.values(t, ord), claims: strings.Clone(table.Claims(ord))}
		h.src.text = newID(s.Nodes[t.From], a.tx.Table(s.Nodes[t.From]).ID(src))
		h.dst.text = newID(s.Nodes[t.To], a.tx.Table(s.Nodes[t.To]).ID(dst))
		edges = append(edges, h)
		a.tx.Delete(t, ord)
	}
	for i, c := range moved {
		if i%cancelEvery == 0 && a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		ord, _ := a.tx.Table(c.typ).Lookup(c.id)
		version.EdgesAt(a.tx, c.typ, ord, hold)
		a.tx.Delete(c.typ, ord)
	}
	for _, c := range a.in.changes.moved {
		if c.typ.Entity == plan.Edge {
			if ord, ok := a.tx.Table(c.typ).Lookup(c.id); ok {
				hold(c.typ, ord)
			}
		}
	}
	for i, c := range moved {
		if _, taken := a.tx.Table(c.typ).Lookup(c.to); taken {
			a.fail(c.line, "", &engine.KeyConflict{Entity: "node", Type: c.typ.Name, ID: c.to})
			continue
		}
		a.tx.PutClaimed(c.typ, nodes[i])
	}
	if len(a.bad.Lines) > 0 {
		return nil
	}
	for _, h := range edges {
		src, hasSrc := a.tx.LookupEnd(s.Nodes[h.typ.From], h.src.text)
		dst, hasDst := a.tx.LookupEnd(s.Nodes[h.typ.To], h.dst.text)
		if hasSrc && hasDst {
			a.tx.PutClaimed(h.typ, version.Row{ID: h.id, Src: src, Dst: dst, Vals: h.vals, Claims: h.claims})
		}
	}
	return nil
}

// values returns the values of an entity, which outlive it.
func (a *applier) values(t *schema.Type, ord uint32) []value.Value {
	table := a.tx.Table(t)
	vals := make([]value.Value, len(t.Props))
	for p := range vals {
		vals[p] = table.Value(ord, p)
	}
	return vals
}
