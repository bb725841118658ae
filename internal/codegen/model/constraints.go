package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// constraintLine summarizes in one line the rules that a mutation must satisfy, so that a caller
// learns them without a failed call. It is empty for a read, and for a mutation that only the types
// of its parameters restrict.
func constraintLine(q *plan.Query, s *catalog.Schema) string {
	if q.Mutation == nil {
		return ""
	}
	var rules []string
	add := func(format string, args ...any) {
		if r := fmt.Sprintf(format, args...); !slices.Contains(rules, r) {
			rules = append(rules, r)
		}
	}
	for _, st := range q.Mutation.Statements {
		switch st := st.(type) {
		case plan.Insert:
			if st.Entity == plan.Edge {
				edgeRules(s.Edge(st.Type), st.Set, add)
				break
			}
			n := s.Node(st.Type)
			if len(n.Key) > 0 {
				add("%s with the same %s is replaced", one(n.Name), strings.Join(n.Key, " and "))
			}
			nodeRules(n, st.Set, add)
		case plan.Update:
			nodeRules(s.Node(st.Type), st.Set, add)
		case plan.Delete:
			if st.Entity == plan.Node {
				add("deleting %s also deletes its edges", one(st.Type))
			}
		}
	}
	if len(rules) == 0 {
		return ""
	}
	return "Constraints: " + strings.Join(rules, "; ") + "."
}

// given returns a function that reports whether a parameter is assigned to a property. The caller
// cannot affect the other properties, so rules about them do not matter here.
func given(set []plan.Assign) func(prop string) bool {
	return func(prop string) bool {
		return slices.ContainsFunc(set, func(a plan.Assign) bool {
			_, param := a.Value.(plan.ParamRef)
			return param && a.Name == prop
		})
	}
}

func nodeRules(n *catalog.Node, set []plan.Assign, add func(string, ...any)) {
	touched := given(set)
	for _, p := range n.Properties {
		if p.Type.Enum != nil && touched(p.Name) {
			add("%s.%s is one of %s", n.Name, p.Name, strings.Join(p.Type.Enum, ", "))
		}
	}
	for _, r := range n.Ranges {
		if touched(r.Property) && (r.Min != nil || r.Max != nil) {
			add("%s.%s is %s", n.Name, r.Property, rangeText(r.Min, r.Max))
		}
	}
	for _, c := range n.Checks {
		if touched(c.Property) {
			add("%s.%s matches /%s/", n.Name, c.Property, c.Pattern)
		}
	}
	for _, u := range n.Unique {
		if slices.ContainsFunc(u, touched) {
			add("%s of %s is unique", strings.Join(u, " with "), one(n.Name))
		}
	}
}

func edgeRules(e *catalog.Edge, set []plan.Assign, add func(string, ...any)) {
	add("%s goes from an existing %s to an existing %s", e.Name, e.From, e.To)
	for _, p := range e.Properties {
		if p.Type.Enum != nil && given(set)(p.Name) {
			add("%s.%s is one of %s", e.Name, p.Name, strings.Join(p.Type.Enum, ", "))
		}
	}
	for _, u := range e.Unique {
		add("%s of %s edge is unique", strings.Join(u, " with "), one(e.Name))
	}
	if e.Card != nil {
		switch {
		case e.Card.Max < 0:
			if e.Card.Min > 0 {
				add("%s has at least %d %s", one(e.From), e.Card.Min, e.Name)
			}
		case e.Card.Min == 0:
			add("%s has at most %d %s", one(e.From), e.Card.Max, e.Name)
		case e.Card.Min == e.Card.Max:
			add("%s has %d %s", one(e.From), e.Card.Max, e.Name)
		default:
			add("%s has %d to %d %s", one(e.From), e.Card.Min, e.Card.Max, e.Name)
		}
	}
}

// one puts the indefinite article before a type name.
func one(name string) string {
	if strings.ContainsRune("AEIO", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}
