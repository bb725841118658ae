package catalog

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// propertyPairing is the pairing of the properties of a type.
type propertyPairing struct {
	pairing[*Property]
	renamed map[string]string // old name to new name, for the renamed properties
	key     []string          // names of the members of the key, after the renames
}

// pairProperties pairs the properties of a type and adds a step for each renamed one.
func (d *differ) pairProperties(at Step, from, to []*Property) propertyPairing {
	p := propertyPairing{renamed: map[string]string{}}
	p.pairing = pair(d, at.Kind, from, to, func(p *Property) naming { return naming{p.Name, p.Name, p.RenameFrom} }, at.Type)
	for _, k := range p.kept {
		if k.old.Name != k.new.Name {
			p.renamed[k.old.Name] = k.new.Name
			s := at
			s.Code, s.Property, s.Was = RenameProperty, k.new.Name, k.old.Name
			d.step(s)
		}
	}
	return p
}

// properties adds the steps that drop, reorder, add and change the properties of a type.
func (d *differ) properties(at Step, p propertyPairing) {
	for _, prop := range p.gone {
		s := at
		s.Code, s.Property, s.Element, s.Drop = DropProperty, prop.Name, prop, SoftDrop
		d.step(s)
	}
	s := at
	s.List = "properties"
	d.reorder(s, p.order())
	for _, a := range p.added {
		s := at
		s.Property, s.Element, s.At = a.item.Name, a.item, a.at
		if s.Code = AddProperty; !a.item.Type.Nullable && !fills(a.item) {
			s.Code, s.To = AddRequired, a.item.Type.String()
			s.Reason = "the stored rows have no value for it; add @default(…) or @backfill(\"…\"), or make it nullable"
		}
		d.step(s)
	}
	for _, k := range p.kept {
		s := at
		s.Property = k.new.Name
		d.propertyType(s, k.old.Type, k.new, slices.Contains(p.key, k.new.Name))
		d.embed(s, k.old.Embed, k.new, p.renamed)
		if k.old.Approximate != k.new.Approximate {
			s := s
			s.Code, s.Element = ChangeANN, Approximate(k.new.Approximate)
			d.step(s)
		}
		if !SameFilling(k.old, k.new) {
			s := s
			s.Code, s.Element = ChangeDefault, k.new.filling()
			d.step(s)
		}
		was := ""
		if k.old.Name != k.new.Name {
			was = k.old.Name
		}
		d.notes(s, propertyNotes(k.old), propertyNotes(k.new), was)
	}
}

// propertyType compares the types of a property. A step to another kind takes the values of the enum with it. A member
// of the key may only change to a wider integer type, because its text in the ids then stays the same.
func (d *differ) propertyType(s Step, from value.Type, now *Property, key bool) {
	to := now.Type
	unsupported := func(code StepCode, reason string) {
		s := s
		s.Code, s.From, s.To, s.Reason = code, from.String(), to.String(), reason
		d.step(s)
	}
	switch {
	case from.Kind == to.Kind && from.List == to.List && from.Dim == to.Dim:
	case key && !(Widens(from, to) && to.Kind.IsInteger()) && from.CastsTo(to) != value.CastsNone:
		unsupported(ChangeType, "the id of every stored node is made from its key; add a node type with the new key, and remove this one")
		return
	case from.CastsTo(to) != value.CastsNone:
		s := s
		s.Code, s.Element, s.From, s.To = CastType, now, from.String(), to.String()
		if from.CastsTo(to) == value.CastsAll && to.Enum == nil {
			s.Code = WidenType
		}
		d.step(s)
		from.Enum, to.Enum = nil, nil // part of the step
	case from.Kind == value.Vector && to.Kind == value.Vector:
		s := s
		s.Code, s.Element, s.From, s.To = ResizeVector, now, from.String(), to.String()
		d.remake(s, now)
	default:
		unsupported(ChangeType, "values of the stored type cannot be converted; add a property with another name, and remove this one")
		return
	}
	d.enum(s, from.Enum, to.Enum, unsupported)
	switch {
	case from.Nullable && !to.Nullable:
		unsupported(MakeRequired, "stored values may be null")
	case !from.Nullable && to.Nullable:
		s := s
		s.Code = MakeNullable
		d.step(s)
	}
}

// Widens reports whether the type `to` is wider than the type `from`, so that every value of `from`
// is numerically a value of `to`; see [value.Kind.Widens]. A list widens as its elements do.
func Widens(from, to value.Type) bool {
	return from.List == to.List && from.Kind.Widens(to.Kind)
}

// enum adds the steps that change the values of an enum. nil stands for a String that is not an
// enum. The function `unsupported` adds a step that needs the stored data.
func (d *differ) enum(s Step, from, to []string, unsupported func(StepCode, string)) {
	switch {
	case from == nil && to == nil:
		return
	case from == nil:
		unsupported(NarrowEnum, "a stored value may be missing from the enum")
		return
	case to == nil:
		s.Code, s.Element = WidenEnum, Enum(nil)
		d.step(s)
		return
	}
	now := make(map[string]bool, len(to))
	for _, v := range to {
		now[v] = true
	}
	var lost []string
	for _, v := range from {
		if !now[v] {
			lost = append(lost, v)
		}
	}
	switch {
	case lost != nil:
		unsupported(NarrowEnum, "stored values may be "+strings.Join(lost, " or "))
	case len(to) > len(from):
		s.Code, s.Element = WidenEnum, Enum(to)
		d.step(s)
	case !slices.Equal(from, to):
		s.Code, s.List, s.Order = Reorder, "enum", to
		d.step(s)
	}
}

// remake adds a step that removes the vectors of a property.
func (d *differ) remake(s Step, now *Property) {
	s.Drop = SoftDrop
	if !now.Type.Nullable {
		s.Reason = "the stored rows would have no vector; make the property optional in the same change, run omnigraph embed, then make it required"
	}
	d.step(s)
}

// embed compares the embedding of a property with that of the property as it is now. Vectors of one model cannot be compared
// with those of another.
func (d *differ) embed(s Step, from *Embed, now *Property, renamed map[string]string) {
	to := now.Embed
	if from != nil {
		from = &Embed{renamedTo(from.Source, renamed), from.Model}
	}
	if sameEmbed(from, to) {
		return
	}
	if from != nil && to != nil && (from.Source != to.Source || from.Model != "" && to.Model != "") {
		s.Code, s.Element, s.From, s.To = ReplaceEmbed, *to, spell(*from), spell(*to)
		d.remake(s, now)
		return
	}
	s.Code, s.Element = ChangeEmbed, Embed{}
	if to != nil {
		s.Element = *to
	}
	d.step(s)
}

// renamedTo returns the new name of a member, which is its old name if it was not renamed.
func renamedTo(name string, renamed map[string]string) string {
	if to, ok := renamed[name]; ok {
		return to
	}
	return name
}

// renameAll returns the new names of members. It returns nil for nil.
func renameAll(names []string, renamed map[string]string) []string {
	if names == nil {
		return nil
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = renamedTo(n, renamed)
	}
	return out
}

// renameLists returns the lists with the new names of the members.
func renameLists[E ~[]string](lists [][]string, renamed map[string]string) []E {
	out := make([]E, len(lists))
	for i, l := range lists {
		out[i] = renameAll(l, renamed)
	}
	return out
}

// list holds the differences between the old and the new constraints of one kind.
type list struct {
	name  string           // unique, index, range, check, card or valid
	gone  []Element        // only the old schema has them
	order []string         // the kept constraints in their new order; nil when it has not changed
	added []added[Element] // only the new schema has them
}

// listOf compares constraints by their text. A list may contain the same text twice.
func listOf[E Element](name string, from, to []E) list {
	l := list{name: name}
	places := map[string][]int{}
	for i, e := range from {
		places[spell(e)] = append(places[spell(e)], i)
	}
	var order []string
	last, sorted := -1, true
	for at, e := range to {
		text := spell(e)
		left := places[text]
		if len(left) == 0 {
			l.added = append(l.added, added[Element]{e, at})
			continue
		}
		places[text] = left[1:]
		order = append(order, text)
		sorted = sorted && left[0] > last
		last = left[0]
	}
	// If the old list has a constraint more often than the new one, its last occurrences are
	// gone.
	for i, e := range from {
		if slices.Contains(places[spell(e)], i) {
			l.gone = append(l.gone, e)
		}
	}
	if !sorted {
		l.order = order
	}
	return l
}

// dropConstraints adds a step for each constraint that is gone.
func (d *differ) dropConstraints(at Step, lists []list) {
	for _, l := range lists {
		for _, e := range l.gone {
			s := at
			if s.Code = DropConstraint; l.name == "index" {
				s.Code = DropIndex
			}
			s.Element = e
			d.step(s)
		}
	}
}

// addConstraints adds the steps that reorder constraints and add new ones.
func (d *differ) addConstraints(at Step, lists []list) {
	for _, l := range lists {
		s := at
		s.List = l.name
		d.reorder(s, l.order)
		for _, a := range l.added {
			s := at
			if s.Code = AddConstraint; l.name == "index" {
				s.Code = AddIndex
			}
			s.Element, s.At = a.item, a.at
			d.step(s)
		}
	}
}
