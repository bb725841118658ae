package exec

import (
	"fmt"
	"strings"
)

// describe implements [Step].
func (s *Terms) describe(*explainer) (name, detail string) {
	return "terms", fmt.Sprintf("sum of %d counts", len(s.Of))
}

// describe implements [Step].
func (s *Multiply) describe(x *explainer) (name, detail string) {
	var parts []string
	for _, w := range s.Of {
		parts = append(parts, x.weight(w)...)
	}
	if c := s.Last; c != nil {
		last := x.Traverse(c.Traverse)
		for _, other := range c.Checks {
			x.Step(1)
			last += ", " + x.Traverse(other.Traverse)
		}
		if c.Of != nil {
			last = strings.Join(append([]string{last}, x.weight(c.Of)...), ", ")
		}
		parts = append(parts, last)
	}
	detail = strings.Join(parts, " × ")
	switch {
	case detail == "":
		detail = "each row once"
	default:
		detail = "each row by the matches of " + detail
	}
	if s.Times != 1 {
		detail += fmt.Sprintf(", times %d", s.Times)
	}
	return "multiply", detail
}

// weight returns the texts of the factors of a weight.
func (x *explainer) weight(w *Weight) (out []string) {
	x.Step(1)
	for _, c := range w.Conds {
		x.Step(1)
		out = append(out, x.condition(c))
	}
	for _, f := range w.Factors {
		var branches []string
		for _, b := range f.Branches {
			part := append([]string{x.Traverse(b.Traverse)}, x.weight(b.Of)...)
			branches = append(branches, strings.Join(part, ", "))
		}
		text := strings.Join(branches, " × ")
		switch {
		case f.Optional:
			text = "optional (" + text + ")"
		case strings.Contains(text, ", "):
			text = "(" + text + ")"
		}
		out = append(out, text)
	}
	return out
}
