package enginetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file checks a law about merges without the model: every change of the source is in the result, is in a
// conflict, or was resolved away. A merge with conflicts has no result, so only the result has to be looked at.

// sourceChanges are the changes that the source of a merge made since the merge base.
type sourceChanges struct {
	base string // id of the merge base
	list []*givenValues
}

// givenValues are the values that a side gave an entity since the merge base.
type givenValues struct {
	change  *engine.EntityChange // one of the changes of the entity
	values  []value.Value        // the new values
	fresh   []value.Value        // those that are not among the old ones
	deleted bool                 // the entity is gone
	filled  bool                 // all values are of added properties, so a schema change may have given them
}

// given returns the values that changes give to entities. If a type or a property has another name than before, the
// changes list its values as old ones of the one name and new ones of the other. Types that exchanged their names list
// the old values of each other's entities.
func given(list []engine.EntityChange) (out []*givenValues) {
	type place struct{ entity, typ, id string }
	type values struct {
		*givenValues
		deletion bool
		others   bool
	}
	at, old := map[place]*values{}, map[place][]value.Value{} // the old values are those of all types
	for i := range list {
		c := &list[i]
		k := place{c.Entity, c.TypeID, c.ID}
		v := at[k]
		if v == nil {
			v = &values{givenValues: &givenValues{change: c}}
			at[k] = v
			out = append(out, v.givenValues)
		}
		all := place{c.Entity, "", c.ID}
		for _, p := range c.Properties {
			was, is := p.Old, p.New
			if c.Entity == "edge" && (p.Name == "from" || p.Name == "to") {
				was, is = endID(was), endID(is)
			}
			old[all], v.values = append(old[all], was), append(v.values, is)
		}
		switch ends := []value.Value{value.OfString(c.From), value.OfString(c.To)}; {
		case c.Entity == "edge" && c.Kind == engine.Inserted:
			v.values = append(v.values, ends...)
		case c.Entity == "edge" && c.Kind == engine.Deleted:
			old[all] = append(old[all], ends...)
		}
		v.deletion, v.others = v.deletion || c.Kind == engine.Deleted, v.others || c.Kind != engine.Deleted
	}
	for k, v := range at {
		was := old[place{k.entity, "", k.id}]
		v.deleted = v.deletion && !v.others
		v.fresh = slices.DeleteFunc(slices.Clone(v.values), func(n value.Value) bool {
			return n.IsNull() || slices.ContainsFunc(was, func(o value.Value) bool { return wider(o, n) })
		})
	}
	return out
}

// endID returns the id of the node at an end of an edge. Its type may have another name than before.
func endID(end value.Value) value.Value {
	if end.IsList() {
		_, id := plan.NodeOf(end)
		return value.OfString(id)
	}
	return end
}

// wider reports whether two values are equal, or would be after the first one is cast to the type of the other. If that
// type does not have the value, it was cast by way of a third type, and the law says nothing.
func wider(v, other value.Value) bool {
	if !v.IsNull() && !other.IsNull() && v.IsList() == other.IsList() && !digitsOf(v).Equal(digitsOf(other)) {
		cast, ok := value.Cast(v, digitsOf(other))
		if !ok {
			return true
		}
		v = cast
	}
	return value.Equal(v, other)
}

// digitsOf returns the type of a value. A list of Decimals has the digits of its first element.
func digitsOf(v value.Value) value.Type {
	t := v.Type()
	if t.List && t.Kind == value.Decimal && len(v.Elems()) > 0 {
		t.Dim = v.Elems()[0].Type().Dim
	}
	return t
}

// sourceChanges lists the changes that the law of a merge is about. It returns nil if there is no such merge, or if the
// law says nothing about it: a dry run has no result, and a key can name an earlier merge.
func (p *pair) sourceChanges(ctx context.Context, s step) *sourceChanges {
	if s.dryRun || s.key != "" {
		return nil
	}
	all := engine.CompareOptions{Changes: &engine.ChangeRange{}, ListOnly: true}
	c, err := p.engine.Compare(ctx, engine.Target{Branch: s.branching.source}, engine.Target{Branch: s.branching.target}, all)
	if err != nil {
		return nil
	}
	source, err := p.engine.Schema(ctx, engine.Target{Branch: s.branching.source})
	if err != nil {
		return nil
	}
	// An entity whose type the source dropped may be there again, if the target dropped the type too and then added one of
	// its name.
	list := slices.DeleteFunc(given(c.List), func(g *givenValues) bool {
		_, has := typeOf(source.Catalog, g.change)
		return g.deleted && !has
	})
	base, err := p.engine.Schema(ctx, engine.Target{Commit: c.Base.ID})
	if err != nil {
		return nil
	}
	for _, g := range list {
		typ, _ := typeOf(base.Catalog, g.change)
		g.filled = g.change.Kind == engine.Updated && !slices.ContainsFunc(g.change.Properties, func(c engine.PropertyChange) bool {
			return !c.New.IsNull() && (!c.Old.IsNull() || slices.ContainsFunc(typ, func(p *catalog.Property) bool { return p.Name == c.Name }))
		})
	}
	return &sourceChanges{c.Base.ID, list}
}

// exchanged reports whether a deleted entity is gone from a result in which another type has the name of its type. Compare
// pairs types by name, so it may list the deletion as an update of the other type.
func exchanged(list []engine.EntityChange, a *engine.EntityChange) bool {
	moved := false
	for i := range list {
		c := &list[i]
		if c.Entity != a.Entity || c.Kind == engine.Deleted {
			continue
		}
		if c.TypeID == a.TypeID && c.ID == a.ID {
			return false // it is still there
		}
		moved = moved || (c.Type == a.Type) != (c.TypeID == a.TypeID)
	}
	return moved
}

// typeOf returns the properties of the type of a changed entity, and whether the schema has the type.
func typeOf(s *catalog.Schema, c *engine.EntityChange) ([]*catalog.Property, bool) {
	if e := s.Edge(c.Type); c.Entity == "edge" {
		if e == nil {
			return nil, false
		}
		return e.Properties, true
	}
	if n := s.Node(c.Type); n != nil {
		return n.Properties, true
	}
	return nil, false
}

// unmerged describes a change of the source that the result of a merge lacks, or returns "". The branch `target` must
// have the result.
func (p *pair) unmerged(ctx context.Context, of *sourceChanges, target string, resolutions []engine.Resolution) string {
	all := engine.CompareOptions{Changes: &engine.ChangeRange{}, ListOnly: true}
	c, err := p.engine.Compare(ctx, engine.Target{Branch: target}, engine.Target{Commit: of.base}, all)
	if err != nil {
		return "the changes of the result: " + err.Error()
	}
	resolved := func(entity, id string) bool {
		return slices.ContainsFunc(resolutions, func(r engine.Resolution) bool { return r.Entity == entity && r.ID == id })
	}
	results := given(c.List)
	for _, g := range of.list {
		a := g.change
		// An edge that the source deleted together with a node stays if the resolution keeps the node.
		if resolved(a.Entity, a.ID) || a.Entity == "edge" && g.deleted && (resolved("node", a.From) || resolved("node", a.To)) {
			continue
		}
		// The values that a schema change gave are no edits, so the target may have deleted the entity.
		if g.filled && slices.ContainsFunc(results, func(r *givenValues) bool {
			return r.deleted && r.change.Entity == a.Entity && r.change.ID == a.ID
		}) || g.deleted && exchanged(c.List, a) {
			continue
		}
		has := func(r *givenValues) bool {
			return r.change.Entity == a.Entity && r.change.ID == a.ID && r.deleted == g.deleted && !slices.ContainsFunc(g.fresh, func(v value.Value) bool {
				return !slices.ContainsFunc(r.values, func(w value.Value) bool { return wider(v, w) })
			})
		}
		if (g.deleted || len(g.fresh) > 0) && !slices.ContainsFunc(results, has) {
			return fmt.Sprintf("a change of the source is neither in the result nor in a conflict: %s", changeText(a))
		}
	}
	p.seen.add("law of merges", "holds")
	return ""
}
