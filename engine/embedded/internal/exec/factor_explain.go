package exec

import (
	"fmt"
	"strings"
)

// describe implements [step].
func (s *terms) describe(*explainer) (name, detail string) {
	return "terms", fmt.Sprintf("sum of %d counts", len(s.of))
}

// describe implements [step].
func (s *multiply) describe(x *explainer) (name, detail string) {
	var parts []string
	for _, w := range s.of {
		parts = append(parts, x.weight(w)...)
	}
	if c := s.last; c != nil {
		last := x.Traverse(c.Traverse)
		for _, other := range c.checks {
			x.Step(1)
			last += ", " + x.Traverse(other.Traverse)
		}
		if c.of != nil {
			last = strings.Join(append([]string{last}, x.weight(c.of)...), ", ")
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
	if s.times != 1 {
		detail += fmt.Sprintf(", times %d", s.times)
	}
	return "multiply", detail
}

// weight returns the texts of the factors of a weight.
func (x *explainer) weight(w *weight) (out []string) {
	x.Step(1)
	for _, c := range w.conds {
		x.Step(1)
		out = append(out, x.condition(c))
	}
	for _, f := range w.factors {
		var branches []string
		for _, b := range f.branches {
			part := append([]string{x.Traverse(b.Traverse)}, x.weight(b.of)...)
			branches = append(branches, strings.Join(part, ", "))
		}
		text := strings.Join(branches, " × ")
		switch {
		case f.optional:
			text = "optional (" + text + ")"
		case strings.Contains(text, ", "):
			text = "(" + text + ")"
		}
		out = append(out, text)
	}
	return out
}
