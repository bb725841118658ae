package arguments

import "strings"

// Guard returns an optional String that guards a write, such as if_commit, or "" if it is absent or null. It
// notes a fault if the String is empty: a client that meant a condition would otherwise write without it.
func (o *Object) Guard(name string) string {
	s := o.OptString(name)
	switch {
	case s == nil:
		return ""
	case strings.TrimSpace(*s) == "":
		o.Fail(name, "found an empty text, expected a value", "to write without this condition, send null or leave it out")
	}
	return *s
}

// Unguarded returns a note for each of the named members that is present and null, and so guards nothing.
func (o *Object) Unguarded(names ...string) (notes []string) {
	for i := range o.members {
		m := &o.members[i]
		for _, name := range names {
			if m.name == name && m.raw.Kind() == 'n' {
				notes = append(notes, name+" is null, so the call ran without this condition")
			}
		}
	}
	return notes
}
