package naive

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// find sets the id of a line that has none, if the mode finds the entity that a line means.
func (l *load) find(it *item) error {
	if !l.opts.Mode.Finds() || it.id != "" {
		return nil
	}
	if it.typeKey.kind == plan.Node {
		if l.after.schema.Node(it.typeKey.name).Key == nil {
			return errors.New("a node without a key needs an id")
		}
		return nil
	}
	if l.opts.Changes != nil {
		return errors.New("a changed edge needs an id")
	}
	typ := l.after.schema.Edge(it.typeKey.name)
	if others, ok := identity(typ, it.props); ok {
		if e := l.after.edgeWith(typ.Name, it.from, it.to, others, it.props); e != nil && l.g.fault != EdgeNotFound {
			it.id = e.id
			return nil
		}
		id := derivedID(typ.Name, it.from, it.to, others, it.props)
		if l.after.of(plan.Edge, typ.Name)[id] == nil {
			it.id = id
		}
		return nil
	}
	if l.opts.NewEdges {
		return nil
	}
	return errors.New("an edge without an id needs a unique constraint with src and dst")
}

// identity returns the members, other than the ends, of the first unique rule with src and dst in which no property is null.
func identity(typ *catalog.Edge, props map[string]value.Value) (others []string, ok bool) {
	for _, members := range typ.Unique {
		if !slices.Contains(members, "src") || !slices.Contains(members, "dst") {
			continue
		}
		others = slices.DeleteFunc(slices.Clone(members), func(m string) bool { return m == "src" || m == "dst" })
		if !slices.ContainsFunc(others, func(m string) bool { return props[m].IsNull() }) {
			return others, true
		}
	}
	return nil, false
}

// edgeWith returns the edge with the given ends and properties, or nil.
func (s *state) edgeWith(typ string, from, to value.Value, members []string, props map[string]value.Value) *entity {
	for _, e := range s.sorted(plan.Edge, typ) {
		found := value.Equal(e.part("from"), from) && value.Equal(e.part("to"), to)
		for _, m := range members {
			found = found && same(e.props[m], props[m])
		}
		if found {
			return e
		}
	}
	return nil
}

// derivedID returns the id of a new edge; see [engine.DerivedEdgeID].
func derivedID(typ string, from, to value.Value, members []string, props map[string]value.Value) string {
	end := func(v value.Value) string {
		t, id := splitEnd(v)
		if t != "" {
			return t + "/" + id
		}
		return id
	}
	sum := func(texts ...string) string {
		var b strings.Builder
		for _, t := range texts {
			fmt.Fprintf(&b, "%d:%s", len(t), t)
		}
		h := sha256.Sum256([]byte(b.String()))
		return strings.ToLower(base32.StdEncoding.EncodeToString(h[:]))
	}
	texts := []string{typ, end(from), end(to)}
	for _, m := range members {
		texts = append(texts, value.Text(props[m]))
	}
	return sum(typ, end(from))[:10] + sum(texts...)[:16]
}

// patched returns the id and the properties of a line. In the mode patch, those that the line leaves out are those of the entity,
// as the lines before leave it.
func (l *load) patched(it *item, before []*entity) (id string, props map[string]value.Value) {
	id = it.id
	if !l.opts.Mode.Patches() {
		return id, l.filled(it)
	}
	if it.typeKey.kind == plan.Node {
		n := l.after.schema.Node(it.typeKey.name)
		if slices.ContainsFunc(n.Key, func(k string) bool { return it.props[k].IsNull() }) {
			return id, it.props
		}
		if n.Key != nil {
			id = keyID(n, it.props)
		}
	}
	old := l.after.of(it.typeKey.kind, it.typeKey.name)[id]
	for _, e := range before {
		if e.kind == it.typeKey.kind && e.typ == it.typeKey.name && e.id == id && l.opts.LastWins {
			old = e
		}
	}
	if l.opts.Sync.Source != "" {
		return id, l.claim(it, old)
	}
	if old == nil || l.g.fault == PatchReplaces {
		return id, l.filled(it)
	}
	props = maps.Clone(old.props)
	for name := range it.cleared {
		if l.g.fault != PatchKeepsNulls {
			delete(props, name)
		}
	}
	maps.Copy(props, it.props)
	return id, props
}

// filled returns the properties of a new entity: those of its line, and the defaults of those that the line leaves out.
func (l *load) filled(it *item) map[string]value.Value {
	props := map[string]value.Value{}
	maps.Copy(props, it.props)
	for _, p := range l.properties(it.typeKey.kind, it.typeKey.name) {
		if _, given := it.props[p.Name]; !given && !it.cleared[p.Name] && p.Default != nil {
			props[p.Name] = p.Default.Value
		}
	}
	return props
}

// excuseLacking moves the faults of the properties that a patch leaves out to l.lacking: an engine notices them only when
// it knows whether the entity exists.
func (l *load) excuseLacking(it *item, before int) {
	if !l.opts.Mode.Patches() {
		return
	}
	var key []string
	if it.typeKey.kind == plan.Node {
		key = l.after.schema.Node(it.typeKey.name).Key
	}
	l.errs = slices.DeleteFunc(l.errs, func() func(error) bool {
		i := -1
		return func(err error) bool {
			var v *engine.ConstraintViolation
			i++
			if i < before || !errors.As(err, &v) || v.Rule != "required" || it.cleared[v.Property] || slices.Contains(key, v.Property) {
				return false
			}
			l.lacking = append(l.lacking, &engine.LineError{Line: it.line, Field: "data." + v.Property, Err: err})
			return true
		}
	}())
}

// moves reports whether an edge of the input has the id of an edge between other nodes.
func (l *load) moves(old, e *entity) bool {
	return old != nil && e.kind == plan.Edge && l.opts.Mode.Finds() && l.opts.Changes == nil && l.g.fault != EdgeMoves &&
		!(value.Equal(old.part("from"), e.part("from")) && value.Equal(old.part("to"), e.part("to")))
}
