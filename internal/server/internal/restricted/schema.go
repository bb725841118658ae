package restricted

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// maxKept is the number of schemas, of rights and of plans that a cache keeps: a graph may have thousands of stored queries, and an
// actor that lists them needs the plan of each. A full cache loses half of its elements, so that a list longer than it finds some.
const maxKept = 8192

// Cache keeps what follows from rights. The zero Cache is empty. It is safe for concurrent use.
type Cache struct {
	mu      sync.Mutex
	schemas map[kept]*engine.Schema
	widened map[kept]*engine.Rights
	plans   map[keptPlan]*plan.Query
}

// kept identifies what follows from rights and a schema by their digests.
type kept struct{ rights, schema string }

// keptPlan identifies what a plan becomes under rights.
type keptPlan struct {
	q *plan.Query
	kept
}

// recall returns the element of a map of the cache. If there is none, it makes one.
func recall[K comparable, V any](c *Cache, from *map[K]V, key K, make func() V) V {
	c.mu.Lock()
	v, ok := (*from)[key]
	c.mu.Unlock()
	if ok {
		return v
	}
	v = make() // not under the lock: a large schema must not hold up other callers
	c.mu.Lock()
	defer c.mu.Unlock()
	if *from == nil {
		*from = map[K]V{}
	}
	if len(*from) >= maxKept {
		for k := range *from {
			if delete(*from, k); len(*from) <= maxKept/2 {
				break
			}
		}
	}
	(*from)[key] = v
	return v
}

// Schema returns the part of a schema that the rights do not hide. It is the same schema if they hide no type and no property.
// Otherwise its source is empty, because a source has comments.
func (c *Cache) Schema(s *engine.Schema, r *engine.Rights) *engine.Schema {
	if !hidesNames(r) {
		return s
	}
	return recall(c, &c.schemas, kept{r.Digest, s.Digest}, func() *engine.Schema {
		reduced := Reduce(s.Catalog, r)
		return &engine.Schema{Catalog: reduced, Digest: catalog.Digest(reduced)}
	})
}

// Source returns the text of a schema. The error is a *wireerror.PartOnly if the schema is reduced.
func Source(s *engine.Schema, what string) (string, error) {
	if s.Source == "" && (len(s.Catalog.Nodes) > 0 || len(s.Catalog.Interfaces) > 0) {
		return "", &wireerror.PartOnly{What: what}
	}
	return s.Source, nil
}

// hidesNames reports whether the rights hide a type or a property.
func hidesNames(r *engine.Rights) bool {
	if r == nil {
		return false
	}
	hides := func(t *engine.TypeRights) bool { return t.None || len(t.Properties) > 0 }
	return slices.ContainsFunc(slices.Collect(maps.Values(r.Nodes)), hides) || slices.ContainsFunc(slices.Collect(maps.Values(r.Edges)), hides)
}

// rights returns the rights on a state with the schema `at`, from those for the schema of main. What main does not have is hidden:
// the policy cannot name it, such as the old name of a type, or a property that was dropped.
func (c *Cache) rights(r *engine.Rights, main, at *engine.Schema) *engine.Rights {
	if r == nil || main.Digest == at.Digest {
		return r
	}
	return recall(c, &c.widened, kept{r.Digest, main.Digest + at.Digest}, func() *engine.Rights {
		return within(r, main.Catalog, at, func(string) string { return "" })
	})
}

// within returns rights that also hide what a schema has and another one lacks. What the schema renames, the other one may have
// under the name that `former` returns for the one it is renamed from.
func within(r *engine.Rights, main *catalog.Schema, at *engine.Schema, former func(from string) string) *engine.Rights {
	w := &engine.Rights{Digest: r.Digest + "/" + at.Digest, Nodes: maps.Clone(r.Nodes), Edges: maps.Clone(r.Edges)}
	if w.Nodes == nil {
		w.Nodes = map[string]*engine.TypeRights{}
	}
	if w.Edges == nil {
		w.Edges = map[string]*engine.TypeRights{}
	}
	for _, n := range at.Catalog.Nodes {
		known := cmp.Or(main.Node(n.Name), main.Node(former(n.RenameFrom)))
		if known == nil {
			w.Nodes[n.Name] = &engine.TypeRights{None: true}
			continue
		}
		hide(w.Nodes, n.Name, n.Properties, func(p *catalog.Property) bool {
			return known.Property(p.Name) == nil && known.Property(former(p.RenameFrom)) == nil && !n.IsKey(p.Name)
		})
	}
	for _, e := range at.Catalog.Edges {
		known := main.Edge(e.Name)
		if known == nil || known.Name != e.Name {
			known = main.Edge(former(e.RenameFrom))
		}
		if known == nil {
			w.Edges[e.Name] = &engine.TypeRights{None: true}
			continue
		}
		hide(w.Edges, e.Name, e.Properties, func(p *catalog.Property) bool {
			return known.Property(p.Name) == nil && known.Property(former(p.RenameFrom)) == nil
		})
	}
	return w
}

// Since returns the rights on the schema of main, of an actor that has the rights `before` on an earlier schema. If either are to a part,
// what is new in main is hidden: the policy was written before it, and may come to hide it. A rename makes nothing new, because the
// policy knows former names.
func (c *Cache) Since(r, before *engine.Rights, earlier, main *engine.Schema) *engine.Rights {
	if r == nil && before == nil {
		return nil
	}
	if r == nil {
		r = &engine.Rights{Digest: "all since " + before.Digest}
	}
	return recall(c, &c.widened, kept{r.Digest, "since " + earlier.Digest + main.Digest}, func() *engine.Rights {
		return within(r, earlier.Catalog, main, func(from string) string { return from })
	})
}

// hide adds to the rights on a type the properties for which `lacks` is true.
func hide(rights map[string]*engine.TypeRights, name string, props []*catalog.Property, lacks func(*catalog.Property) bool) {
	var more []string
	for _, p := range props {
		if lacks(p) {
			more = append(more, p.Name)
		}
	}
	if len(more) == 0 {
		return
	}
	t := engine.TypeRights{}
	if was := rights[name]; was != nil {
		t = *was
	}
	t.Properties = slices.Compact(slices.Sorted(slices.Values(slices.Concat(t.Properties, more))))
	rights[name] = &t
}

// noType returns the error of an export for a type that the schema lacks.
func noType(name string) error {
	return &engine.BadArgument{Param: "types", Detail: fmt.Sprintf("the schema has no type %q", name)}
}

// Reduce returns a schema without the types and properties that the rights hide, and without what cannot be without them: an edge
// type whose end is hidden, a property of an interface that a type of the interface hides, an embedding of a hidden text, and rules
// about a hidden property.
func Reduce(s *catalog.Schema, r *engine.Rights) *catalog.Schema {
	out := &catalog.Schema{}
	hidden := map[string]map[string]bool{} // by interface, the properties that a type hides
	shown, all := map[string]int{}, map[string]int{}
	for _, n := range s.Nodes {
		t := r.Nodes[n.Name]
		for _, i := range n.Implements {
			all[i]++
		}
		if t != nil && t.None {
			continue
		}
		m := *n
		hides := func(p string) bool { return t.Hides(p) && !n.IsKey(p) }
		m.Properties = without(n.Properties, hides)
		gone := func(p string) bool { return !has(m.Properties, p) }
		m.Unique, m.Index = rulesWithout(n.Unique, gone), rulesWithout(n.Index, gone)
		m.Ranges = slices.DeleteFunc(slices.Clone(n.Ranges), func(x catalog.Range) bool { return gone(x.Property) })
		m.Checks = slices.DeleteFunc(slices.Clone(n.Checks), func(x catalog.Check) bool { return gone(x.Property) })
		m.Valid = validWithout(n.Valid, gone)
		out.Nodes = append(out.Nodes, &m)
		for _, i := range n.Implements {
			shown[i]++
			if hidden[i] == nil {
				hidden[i] = map[string]bool{}
			}
			for _, p := range n.Properties {
				hidden[i][p.Name] = hidden[i][p.Name] || gone(p.Name)
			}
		}
	}
	lost := func(i string) bool { return all[i] > 0 && shown[i] == 0 }
	for _, i := range s.Interfaces {
		if lost(i.Name) {
			continue
		}
		out.Interfaces = append(out.Interfaces, &catalog.Interface{Name: i.Name, Properties: without(i.Properties, func(p string) bool { return hidden[i.Name][p] })})
	}
	for _, e := range s.Edges {
		t := r.Edges[e.Name]
		if t != nil && t.None || !hasEnd(out, e, false) || !hasEnd(out, e, true) {
			continue
		}
		m := *e
		m.Properties = without(e.Properties, t.Hides)
		gone := func(p string) bool { return p != "src" && p != "dst" && !has(m.Properties, p) }
		m.Unique, m.Index = rulesWithout(e.Unique, gone), rulesWithout(e.Index, gone)
		m.Valid = validWithout(e.Valid, gone)
		out.Edges = append(out.Edges, &m)
	}
	out.Index()
	return out
}

// without returns the properties that are not hidden, and whose source is not.
func without(props []*catalog.Property, hides func(string) bool) []*catalog.Property {
	return slices.DeleteFunc(slices.Clone(props), func(p *catalog.Property) bool {
		return hides(p.Name) || p.Embed != nil && hides(p.Embed.Source)
	})
}

// has reports whether a list has a property with a name.
func has(props []*catalog.Property, name string) bool {
	return slices.ContainsFunc(props, func(p *catalog.Property) bool { return p.Name == name })
}

// rulesWithout returns the rules all of whose properties are there.
func rulesWithout(rules [][]string, gone func(string) bool) [][]string {
	return slices.DeleteFunc(slices.Clone(rules), func(names []string) bool { return slices.ContainsFunc(names, gone) })
}

// validWithout returns nil if one of the properties is gone: for the caller, the entities of the type are always valid.
func validWithout(v *catalog.Validity, gone func(string) bool) *catalog.Validity {
	if v == nil || gone(v.Since) || gone(v.Until) {
		return nil
	}
	return v
}

// hasEnd reports whether the schema has the type at an end of an edge.
func hasEnd(s *catalog.Schema, e *catalog.Edge, to bool) bool {
	name, shared := e.End(to)
	if shared {
		return slices.ContainsFunc(s.Interfaces, func(i *catalog.Interface) bool { return i.Name == name })
	}
	return slices.ContainsFunc(s.Nodes, func(n *catalog.Node) bool { return n.Name == name })
}

// visibleEffects returns the effects of a write without what the rights hide of the entities that it changed.
func visibleEffects(e *engine.WriteEffects, r *engine.Rights) *engine.WriteEffects {
	if e == nil || r == nil || len(e.Changes) == 0 {
		return e
	}
	// The delete of a node deletes edges too, whose other ends may be hidden.
	cascades := slices.ContainsFunc(slices.Collect(maps.Values(r.Nodes)), narrowed) || slices.ContainsFunc(slices.Collect(maps.Values(r.Edges)), narrowed)
	seen := *e
	seen.Changes = nil
	for _, c := range e.Changes {
		t := r.Nodes[c.Type]
		if c.Entity == plan.Edge.String() {
			t = r.Edges[c.Type]
			if c.Kind == engine.Deleted && cascades {
				seen.More = true
				continue
			}
		}
		if t != nil && t.None {
			seen.More = true
			continue
		}
		c.Properties = slices.DeleteFunc(slices.Clone(c.Properties), func(p engine.PropertyChange) bool { return t.Hides(p.Name) })
		c.Before, c.After = visibleImage(c.Before, t), visibleImage(c.After, t)
		seen.Changes = append(seen.Changes, c)
	}
	return &seen
}

// narrowed reports whether the rights on a type hide some of its entities.
func narrowed(t *engine.TypeRights) bool { return t.None || len(t.Any) > 0 || len(t.All) > 0 }

// visibleImage returns an image without the hidden properties.
func visibleImage(i *engine.Image, t *engine.TypeRights) *engine.Image {
	if i == nil {
		return nil
	}
	seen := *i
	seen.Properties = slices.DeleteFunc(slices.Clone(i.Properties), func(p engine.PropertyValue) bool { return t.Hides(p.Name) })
	return &seen
}
