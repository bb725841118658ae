// Package membership has the hidden value of an entity that says which sources claim it: those that synchronise it with loads
// in the mode sync.
//
// Its text, which exports and stored rows have, is canonical:
//
//   - if a source created the entity
//     crm:name,size;erp:   for each source, by name: the properties that it owns, by name
//     !size                the owned properties that others have changed since, by name
//
// An entity that no source claims or created has the empty text. Names of properties that the type lacks have no effect.
package membership

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

// Set is the parsed value. A Set is never changed in place.
type Set struct {
	Created bool     // whether a source created the entity
	Sources []Source // by name, each once
	Edited  []string // by name, the owned properties that others have changed since their source set them
}

// Source is a source that claims an entity.
type Source struct {
	Name  string
	Props []string // by name, the properties that it owns
}

// MaxText is the maximum length of a text, in bytes.
const MaxText = 64 << 10

// Parse parses the text of a set.
func Parse(text string) (*Set, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("the sources take %d bytes, expected at most %d", len(text), MaxText)
	}
	s := &Set{}
	rest, edited, marked := strings.Cut(text, "!")
	if after, ok := strings.CutPrefix(rest, "+"); ok {
		s.Created, rest = true, after
	}
	names := func(list string) []string {
		if list == "" {
			return nil
		}
		return strings.Split(list, ",")
	}
	if rest != "" {
		for one := range strings.SplitSeq(rest, ";") {
			name, props, ok := strings.Cut(one, ":")
			if !ok || engine.CheckSource(name) != nil {
				return nil, fmt.Errorf("%q is not a list of sources such as \"+crm:name,size;erp:\"", text)
			}
			s.Sources = append(s.Sources, Source{name, names(props)})
		}
	}
	if marked {
		s.Edited = names(edited)
	}
	if s.String() != text || slices.ContainsFunc(s.Sources, func(x Source) bool { return !ascend(x.Props) }) || !ascend(s.Edited) ||
		!slices.IsSortedFunc(s.Sources, func(a, b Source) int { return order(a.Name, b.Name) }) {
		return nil, fmt.Errorf("%q is not in the form of an export, with names in order", text)
	}
	return s, nil
}

// order is strings.Compare, but equal names are out of order.
func order(a, b string) int {
	if a == b {
		return 1
	}
	return strings.Compare(a, b)
}

// ascend reports whether names are in order and each occurs once.
func ascend(names []string) bool {
	return slices.IsSortedFunc(names, order) && !slices.ContainsFunc(names, func(n string) bool { return !isName(n) })
}

// isName reports whether a text may be the name of a property.
func isName(s string) bool { return s != "" && !strings.ContainsAny(s, "!+:;, \t\n\"") }

// String returns the text of the set.
func (s *Set) String() string {
	var b strings.Builder
	if s.Created {
		b.WriteByte('+')
	}
	for i, x := range s.Sources {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(x.Name + ":" + strings.Join(x.Props, ","))
	}
	if len(s.Edited) > 0 {
		b.WriteString("!" + strings.Join(s.Edited, ","))
	}
	return b.String()
}

// Of returns the properties that a source owns, and whether it claims the entity.
func (s *Set) Of(source string) (props []string, ok bool) {
	i := slices.IndexFunc(s.Sources, func(x Source) bool { return x.Name == source })
	if i < 0 {
		return nil, false
	}
	return s.Sources[i].Props, true
}

// Gains reports whether a set has a source that an earlier one lacks. The arguments are the texts of the sets; one that cannot be
// parsed gains a source.
func Gains(was, is string) bool {
	if was == is {
		return false
	}
	a, err := Parse(was)
	b, failed := Parse(is)
	return err != nil || failed != nil || slices.ContainsFunc(b.Sources, func(x Source) bool { _, ok := a.Of(x.Name); return !ok })
}

// Owner returns the first source other than `but` that owns a property, or "".
func (s *Set) Owner(prop, but string) string {
	for _, x := range s.Sources {
		if x.Name != but && slices.Contains(x.Props, prop) {
			return x.Name
		}
	}
	return ""
}

// Claim returns the set after a source has set the properties `props`, which ascend. The source owns these and no others.
func (s *Set) Claim(source string, props []string) *Set {
	out := s.without(source)
	out.Sources = append(out.Sources, Source{source, props})
	slices.SortFunc(out.Sources, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	out.Edited = slices.DeleteFunc(out.Edited, func(p string) bool { return slices.Contains(props, p) })
	return out.owned()
}

// Add returns the set after a source has set the properties `props`, which ascend. The source keeps what else it owns.
func (s *Set) Add(source string, props []string) *Set {
	had, _ := s.Of(source)
	all := slices.Concat(had, props)
	slices.Sort(all)
	out := s.Claim(source, slices.Compact(all))
	for _, p := range s.Edited {
		if slices.Contains(had, p) && !slices.Contains(props, p) {
			out.Edited = append(out.Edited, p)
		}
	}
	slices.Sort(out.Edited)
	return out
}

// Release returns the set after a source has let the entity go.
func (s *Set) Release(source string) *Set { return s.without(source).owned() }

// without returns a copy without a source.
func (s *Set) without(source string) *Set {
	out := &Set{Created: s.Created, Edited: slices.Clone(s.Edited)}
	for _, x := range s.Sources {
		if x.Name != source {
			out.Sources = append(out.Sources, x)
		}
	}
	return out
}

// owned removes the marks of properties that no source owns.
func (s *Set) owned() *Set {
	s.Edited = slices.DeleteFunc(s.Edited, func(p string) bool { return s.Owner(p, "") == "" })
	return s
}

// Mark returns the text of the set `text` after a write that is no sync. The function `changed` reports whether it changed a
// property.
func Mark(text string, changed func(prop string) bool) string {
	if text == "" {
		return ""
	}
	s := Stored(text)
	var marks []string
	for _, x := range s.Sources {
		for _, p := range x.Props {
			if !slices.Contains(s.Edited, p) && !slices.Contains(marks, p) && changed(p) {
				marks = append(marks, p)
			}
		}
	}
	if marks == nil {
		return text
	}
	out := *s
	out.Edited = append(slices.Clone(s.Edited), marks...)
	slices.Sort(out.Edited)
	return out.String()
}

// Renamed returns the text of the set `text` after a schema change. The function `now` returns the new name of a property; it
// reports false if the property is gone.
func Renamed(text string, now func(prop string) (name string, ok bool)) string {
	if text == "" {
		return ""
	}
	names := func(props []string) (out []string) {
		for _, p := range props {
			if name, ok := now(p); ok {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return out
	}
	s := Stored(text)
	out := &Set{Created: s.Created, Edited: names(s.Edited)}
	for _, x := range s.Sources {
		out.Sources = append(out.Sources, Source{x.Name, names(x.Props)})
	}
	return out.owned().String()
}

// Merge returns the text of a set that two branches changed, by the rule that each addition and each removal of a member
// stands. An entity that one side inserted has no base.
func Merge(base, source, target string) string {
	if source == target || source == base {
		return target
	}
	if target == base {
		return source
	}
	b, s, t := Stored(base), Stored(source), Stored(target)
	out := &Set{Created: mergedPresence(b.Created, s.Created, t.Created), Edited: merge(b.Edited, s.Edited, t.Edited)}
	names := func(x *Set) (all []string) {
		for _, y := range x.Sources {
			all = append(all, y.Name)
		}
		return all
	}
	for _, name := range merge(names(b), names(s), names(t)) {
		was, _ := b.Of(name)
		theirs, _ := s.Of(name)
		ours, _ := t.Of(name)
		out.Sources = append(out.Sources, Source{name, merge(was, theirs, ours)})
	}
	return out.owned().String()
}

// merge merges three lists of names, and returns the names in order.
func merge(base, source, target []string) []string {
	var out []string
	for _, name := range slices.Concat(base, source, target) {
		if !slices.Contains(out, name) && mergedPresence(slices.Contains(base, name), slices.Contains(source, name), slices.Contains(target, name)) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// mergedPresence merges the presence of one member: the side that changed it decides.
func mergedPresence(base, source, target bool) bool {
	if source == base {
		return target
	}
	return source
}
