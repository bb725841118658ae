package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Diff returns the steps from one schema to another. There are none when the digests are equal.
// Otherwise, if every step is supported, applying the steps in their order turns the old schema
// into the new one.
//
// If the name of a type or property has disappeared, the type or property is dropped, unless the
// new schema renames it with @rename_from. All renames take place at once, so names can swap. The
// annotation may stay in the source after the migration: it has no effect if the old schema has the
// new name with the same annotation, or has the new name and not the old one. An annotation that
// cannot be honoured is an [AmbiguousRename].
func Diff(from, to *Schema) *Migration {
	d := &differ{m: &Migration{}, from: from, to: to, renamed: map[string]string{}, ends: endInterfaces(from, to)}
	nodes := pair(d, NodeType, from.Nodes, to.Nodes, func(n *Node) naming { return naming{n.Name, n.Name, n.RenameFrom} })
	edges := pair(d, EdgeType, from.Edges, to.Edges, func(e *Edge) naming { return naming{e.Name, strings.ToLower(e.Name), e.RenameFrom} })
	for _, k := range nodes.kept {
		d.renamed[k.old.Name] = k.new.Name
		if k.old.Name != k.new.Name {
			d.step(Step{Code: RenameNode, Kind: NodeType, Type: k.new.Name, Was: k.old.Name})
		}
	}
	for _, k := range edges.kept {
		if k.old.Name != k.new.Name {
			d.step(Step{Code: RenameEdge, Kind: EdgeType, Type: k.new.Name, Was: k.old.Name})
		}
	}
	for _, e := range edges.gone {
		d.step(Step{Code: DropEdge, Kind: EdgeType, Type: e.Name, Element: e, Drop: SoftDrop})
	}
	for _, n := range nodes.gone {
		d.step(Step{Code: DropNode, Kind: NodeType, Type: n.Name, Element: n, Drop: SoftDrop})
	}
	d.interfaces(from.Interfaces, to.Interfaces)

	d.reorder(Step{Kind: NodeType, List: "types"}, nodes.order())
	for _, a := range nodes.added {
		d.step(Step{Code: AddNode, Kind: NodeType, Type: a.item.Name, Element: a.item, At: a.at})
	}
	for _, k := range nodes.kept {
		d.node(k.old, k.new)
	}
	d.reorder(Step{Kind: EdgeType, List: "types"}, edges.order())
	for _, a := range edges.added {
		d.step(Step{Code: AddEdge, Kind: EdgeType, Type: a.item.Name, Element: a.item, At: a.at})
	}
	for _, k := range edges.kept {
		d.edge(k.old, k.new)
	}
	return d.m
}

// differ compares two schemas and collects the steps in m.
type differ struct {
	m       *Migration
	from    *Schema
	to      *Schema
	renamed map[string]string // old name to new name, for the nodes that both schemas have
	ends    map[string]bool   // the interfaces that are at ends of edge types in both schemas
}

// endInterfaces returns the interfaces that are at ends of edge types in both schemas.
func endInterfaces(from, to *Schema) map[string]bool {
	both := map[string]bool{}
	at := func(s *Schema, found func(name string)) {
		for _, e := range s.Edges {
			for _, target := range []bool{false, true} {
				if name, isInterface := e.End(target); isInterface {
					found(name)
				}
			}
		}
	}
	before := map[string]bool{}
	at(from, func(name string) { before[name] = true })
	at(to, func(name string) { both[name] = before[name] })
	return both
}

// step adds a step to the migration.
func (d *differ) step(s Step) { d.m.Steps = append(d.m.Steps, s) }

// naming holds the names of a type or property: its name, the key for matching the lists, and the
// old name from its @rename_from.
type naming struct{ name, key, was string }

// pairing lists the members of a list that disappeared, stayed and were added.
type pairing[T any] struct {
	gone  []T        // in the old order
	kept  []match[T] // in the new order
	added []added[T] // in the new order
}

// match is a member that both lists have, possibly under different names.
type match[T any] struct {
	old, new T      // the member in each list
	place    int    // index in the old list
	name     string // the new name
}

// added is a member that only the new list has.
type added[T any] struct {
	item T   // the member
	at   int // index in the new list
}

// order returns the names of the kept members in the new order. It returns nil when their order
// has not changed.
func (p pairing[T]) order() []string {
	if slices.IsSortedFunc(p.kept, func(a, b match[T]) int { return a.place - b.place }) {
		return nil
	}
	names := make([]string, len(p.kept))
	for i, k := range p.kept {
		names[i] = k.name
	}
	return names
}

// pair finds the members that two lists have in common, by their names or by the old name that the
// new member gives in @rename_from. If the members are properties, `typ` is the name of their type.
func pair[T any](d *differ, kind TypeKind, from, to []T, name func(T) naming, typ ...string) pairing[T] {
	var out pairing[T]
	list := renaming{old: map[string]int{}, was: make([]string, len(from)), stays: make([]bool, len(from)), renamed: make([]bool, len(from))}
	fold := func(name string) string {
		if kind == EdgeType && len(typ) == 0 {
			return strings.ToLower(name)
		}
		return name
	}
	for i, o := range from {
		list.old[name(o).key], list.was[i] = i, fold(name(o).was)
	}
	asked := make([]bool, len(to)) // whether the member asks for a rename
	for at, n := range to {
		key, was := name(n).key, fold(name(n).was)
		i, same := list.old[key]
		if asked[at] = list.asks(key, was); asked[at] {
			if i, ok := list.old[was]; ok {
				list.renamed[i] = true
			}
		} else if same {
			list.stays[i] = true
		}
	}
	taken := make([]bool, len(from))
	for at, n := range to {
		called := name(n)
		source := called.key
		if asked[at] {
			source = fold(called.was)
		}
		i, ok := list.old[source]
		if asked[at] {
			if reason := list.fault(called, source, ok && taken[i]); reason != "" {
				s := Step{Code: AmbiguousRename, Kind: kind, Type: called.name, Was: called.was, Reason: reason}
				if len(typ) > 0 {
					s.Type, s.Property = typ[0], called.name
				}
				d.step(s)
				list.spare(taken, source, called.key)
				continue
			}
		}
		if !ok {
			out.added = append(out.added, added[T]{n, at})
			continue
		}
		taken[i] = true
		out.kept = append(out.kept, match[T]{from[i], n, i, called.name})
	}
	for i, o := range from {
		if !taken[i] {
			out.gone = append(out.gone, o)
		}
	}
	return out
}

// renaming is what pair knows about the old members while it decides about the renames. All renames take place at
// once, so names can swap.
type renaming struct {
	old            map[string]int // the places of the old members by key
	was            []string       // the keys in the @rename_from of the old members
	stays, renamed []bool         // whether a new member takes the old one under its name, or asks for it by @rename_from
}

// asks reports whether a new member asks for a rename from `was`. If the old schema already has the member with the
// same @rename_from, or has it and no member of the old name, the rename took place earlier.
func (r *renaming) asks(key, was string) bool {
	if was == "" || was == key {
		return false
	}
	i, ok := r.old[key]
	_, exists := r.old[was]
	return !ok || exists && r.was[i] != was
}

// spare marks the old members that a refused rename is about as taken, so that no step says that they are dropped.
func (r *renaming) spare(taken []bool, names ...string) {
	for _, name := range names {
		if i, ok := r.old[name]; ok {
			taken[i] = true
		}
	}
}

// fault says why a rename that a new member asks for cannot be honoured, and what to do, or returns "". The parameter
// `taken` says whether an earlier member has got the old one.
func (r *renaming) fault(called naming, source string, taken bool) string {
	i, ok := r.old[source]
	own, replaces := r.old[called.key]
	switch {
	case !ok:
		return "the schema in force has no " + called.was + "; correct the name, or remove this @rename_from"
	case r.stays[i] || taken:
		return called.was + " still exists or was renamed to another name; remove this @rename_from or the other declaration"
	case replaces && !r.renamed[own]:
		return "the schema in force has another " + called.name + ", whose values would be lost; drop or rename it first, or remove this @rename_from"
	}
	return ""
}

// reorder adds a Reorder step, unless `order` is nil.
func (d *differ) reorder(s Step, order []string) {
	if order != nil {
		s.Code, s.Order = Reorder, order
		d.step(s)
	}
}

// interfaces compares interfaces. They hold no data, so a changed interface is simply replaced.
func (d *differ) interfaces(from, to []*Interface) {
	p := pair(d, InterfaceType, from, to, func(i *Interface) naming { return naming{i.Name, i.Name, ""} })
	for _, i := range p.gone {
		d.step(Step{Code: DropInterface, Kind: InterfaceType, Type: i.Name, Element: i})
	}
	d.reorder(Step{Kind: InterfaceType, List: "types"}, p.order())
	for _, a := range p.added {
		d.step(Step{Code: AddInterface, Kind: InterfaceType, Type: a.item.Name, Element: a.item, At: a.at})
	}
	for _, k := range p.kept {
		if !slices.EqualFunc(k.old.Properties, k.new.Properties, sameProperty) {
			d.step(Step{Code: ChangeInterface, Kind: InterfaceType, Type: k.new.Name, Element: k.new})
		}
	}
}

// sameProperty reports whether two properties are equal.
func sameProperty(a, b *Property) bool {
	return a.Name == b.Name && a.Type.Equal(b.Type) && sameEmbed(a.Embed, b.Embed) && a.Approximate == b.Approximate && SameFilling(a, b) && sameNotes(propertyNotes(a), propertyNotes(b))
}

// sameEmbed reports whether two embeddings are equal, or both nil.
func sameEmbed(a, b *Embed) bool { return a == b || a != nil && b != nil && *a == *b }

// sameNotes reports whether two notes are equal.
func sameNotes(a, b Notes) bool {
	return a.Description == b.Description && a.RenameFrom == b.RenameFrom &&
		slices.EqualFunc(a.Annotations, b.Annotations, func(x, y Annotation) bool { return x.Name == y.Name && slices.Equal(x.Args, y.Args) })
}

// propertyNotes returns the notes of a property.
func propertyNotes(p *Property) Notes { return Notes{p.Description, p.RenameFrom, p.Annotations} }

// notes adds a step when the notes on a type or property changed. If an @rename_from annotation
// renamed it, `renamed` is the old name, and otherwise `renamed` is empty. The rename step itself
// records that annotation, so the method notes does not report it a second time.
func (d *differ) notes(s Step, from, to Notes, renamed string) {
	if renamed != "" {
		from.RenameFrom = renamed
	}
	if !sameNotes(from, to) {
		s.Code, s.Element = Annotate, to
		d.step(s)
	}
}

// node adds the steps that change one node type into another.
func (d *differ) node(from, to *Node) {
	at := Step{Kind: NodeType, Type: to.Name}
	props := d.pairProperties(at, from.Properties, to.Properties)
	props.key = to.Key
	d.key(at, renameAll(from.Key, props.renamed), to.Key)
	if was := renameAll(from.DeclaredKey(), props.renamed); slices.Equal(slices.Sorted(slices.Values(was)), to.Key) && !slices.Equal(was, to.DeclaredKey()) {
		d.reorder(Step{Kind: NodeType, Type: to.Name, List: "key"}, to.DeclaredKey())
	}

	rename := func(name string) string { return renamedTo(name, props.renamed) }
	var ranges []Range
	for _, r := range from.Ranges {
		r.Property = rename(r.Property)
		ranges = append(ranges, r)
	}
	var checks []Check
	for _, c := range from.Checks {
		c.Property = rename(c.Property)
		checks = append(checks, c)
	}
	lists := []list{
		listOf("unique", renameLists[Unique](from.Unique, props.renamed), renameLists[Unique](to.Unique, nil)),
		listOf("index", renameLists[Index](from.Index, props.renamed), renameLists[Index](to.Index, nil)),
		listOf("range", ranges, to.Ranges),
		listOf("check", checks, to.Checks),
		listOf("valid", validities(from.Valid, props.renamed), validities(to.Valid, nil)),
	}
	d.dropConstraints(at, lists)
	d.properties(at, props)
	d.addConstraints(at, lists)
	if !slices.Equal(from.Implements, to.Implements) {
		s := at
		s.Code, s.Element = Implement, Implements(to.Implements)
		if slices.ContainsFunc(from.Implements, func(name string) bool { return d.ends[name] && !slices.Contains(to.Implements, name) }) {
			s.Drop = SoftDrop
		}
		d.step(s)
	}
	was := ""
	if from.Name != to.Name {
		was = from.Name
	}
	d.notes(at, Notes{from.Description, from.RenameFrom, from.Annotations}, Notes{to.Description, to.RenameFrom, to.Annotations}, was)
}

// sameEnd reports whether two edge types have the same node type or the same interface at an end.
func (d *differ) sameEnd(from, to *Edge, target bool) bool {
	was, wasInterface := from.End(target)
	is, isInterface := to.End(target)
	if !wasInterface {
		was = d.renamed[was]
	}
	return was == is && wasInterface == isInterface
}

// endpoints adds a step if an end of an edge type changed. The stored edges stay if their nodes may be at the new ends.
func (d *differ) endpoints(s Step, from, to *Edge) {
	s.Element, s.From, s.To = to, from.EndName(false)+" -> "+from.EndName(true), to.EndName(false)+" -> "+to.EndName(true)
	for _, target := range []bool{false, true} {
		if d.sameEnd(from, to, target) {
			continue
		}
		now := d.to.EndsAt(to, target)
		stay, leave := false, false
		for _, n := range d.from.EndsAt(from, target) {
			name, kept := d.renamed[n.Name]
			fits := kept && slices.ContainsFunc(now, func(n *Node) bool { return n.Name == name })
			stay, leave = stay || fits, leave || !fits
		}
		switch {
		case !stay:
			s.Code, s.Element, s.Reason = ChangeEndpoints, nil, "the stored edges have other endpoint types; add an edge type with another name, and remove this one"
			d.step(s)
			return
		case leave:
			s.Code = NarrowEndpoints
		case s.Code == "":
			s.Code = WidenEndpoints
		}
	}
	if s.Code != "" {
		d.step(s)
	}
}

// edge adds the steps that change one edge type into another.
func (d *differ) edge(from, to *Edge) {
	at := Step{Kind: EdgeType, Type: to.Name}
	d.endpoints(at, from, to)
	props := d.pairProperties(at, from.Properties, to.Properties)
	lists := []list{
		listOf("unique", renameLists[Unique](from.Unique, props.renamed), renameLists[Unique](to.Unique, nil)),
		listOf("index", renameLists[Index](from.Index, props.renamed), renameLists[Index](to.Index, nil)),
		listOf("card", cards(from.Card), cards(to.Card)),
		listOf("valid", validities(from.Valid, props.renamed), validities(to.Valid, nil)),
	}
	d.dropConstraints(at, lists)
	d.properties(at, props)
	d.addConstraints(at, lists)
	was := ""
	if !strings.EqualFold(from.Name, to.Name) {
		was = from.Name
	}
	d.notes(at, Notes{from.Description, from.RenameFrom, from.Annotations}, Notes{to.Description, to.RenameFrom, to.Annotations}, was)
}

// cards returns c as a list, which is empty if c is nil.
func cards(c *Cardinality) []Cardinality {
	if c == nil {
		return nil
	}
	return []Cardinality{*c}
}

// validities returns v with the new names of its properties as a list, which is empty if v is nil.
func validities(v *Validity, renamed map[string]string) []Validity {
	if v == nil {
		return nil
	}
	return []Validity{{renamedTo(v.Since, renamed), renamedTo(v.Until, renamed)}}
}

// String formats the bounds as a schema writes them.
func (c Cardinality) String() string {
	if c.Max < 0 {
		return fmt.Sprintf("@card(%d..)", c.Min)
	}
	return "@card(" + strconv.Itoa(c.Min) + ".." + strconv.Itoa(c.Max) + ")"
}

// key adds a step when the key changed. The members of a key are sorted by name, and an id lists
// their values in that order.
func (d *differ) key(s Step, from, to []string) {
	if slices.Equal(from, to) {
		return
	}
	s.Code, s.From, s.To = ChangeKey, spellKey(from), spellKey(to)
	s.Reason = "the id of every stored node is made from its key; add a node type with the new key, and remove this one"
	if slices.Equal(slices.Sorted(slices.Values(from)), to) {
		s.Reason = "the new names of the key properties sort in another order, which would change the id of every stored node"
	}
	d.step(s)
}

// spellKey writes a key as a schema does. It returns "" if there is no key.
func spellKey(names []string) string {
	if names == nil {
		return ""
	}
	return "@key(" + strings.Join(names, ", ") + ")"
}
