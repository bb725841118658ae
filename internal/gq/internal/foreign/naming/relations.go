package naming

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// Relation is an edge type as seen from a node at one of its ends.
type Relation struct {
	Edge    *catalog.Edge
	Forward bool // the node is at the source
}

// Other returns the type at the other end.
func (l *Relation) Other() string {
	if l.Forward {
		return l.Edge.To
	}
	return l.Edge.From
}

// Single reports whether a node has at most one edge of the relation.
func (l *Relation) Single() bool { return l.Forward && l.Edge.Card != nil && l.Edge.Card.Max == 1 }

// Clause writes the traversal from a node to another one. An empty name is a variable without a name.
func (l *Relation) Clause(node, edge, other string) string {
	a, b := "$_", "$_"
	if node != "" {
		a = "$" + Lower(node)
	}
	if other != "" {
		b = "$" + Lower(other)
	}
	if !l.Forward {
		a, b = b, a
	}
	if edge != "" {
		edge = "$" + Lower(edge) + ":"
	}
	return a + " " + edge + Lower(l.Edge.Name) + " " + b
}

// verbEnds are the ends of verbs and of nouns made of them, the longest first: borrowed and borrowers have one stem.
var verbEnds = []string{"ations", "ation", "ions", "ers", "ors", "ees", "ion", "ing", "er", "or", "ed", "es", "s", "e"}

// stem cuts the end of a verb or a noun made of it.
func stem(name string) string {
	for _, end := range verbEnds {
		if cut, ok := strings.CutSuffix(name, end); ok && len(cut) >= 2 {
			return cut
		}
	}
	return name
}

// minStem is the least length of a verb that is left when a name of a type is cut from the end of a name.
const minStem = 4

// relationOfVerb returns the relation that a form of the verb of an edge means, or nil: citedBy and citing for cites,
// borrowers for borrowed, translations and members for translationOf and memberOf.
func (r *Vocabulary) relationOfVerb(typ, name string) *Relation {
	name = Plain(name)
	base, passive := strings.CutSuffix(name, "by") // citedBy: the node is the target
	for _, n := range r.Schema.Nodes {             // citedPapers, citingPapers
		for _, plural := range []string{Plain(n.Name), Plain(n.Name) + "s"} {
			if cut, ok := strings.CutSuffix(base, plural); ok && len(cut) >= minStem {
				base = cut
			}
		}
	}
	var found []*Relation
	verb := stem(base)
	for _, e := range r.Schema.Edges {
		edge := Plain(e.Name)
		noun, isNoun := strings.CutSuffix(edge, "of") // members of memberOf are its sources
		if !strings.HasPrefix(noun, verb) || stem(strings.TrimSuffix(noun, "by")) != verb {
			continue
		}
		atSource, atTarget := r.AtEnd(e, false, typ), r.AtEnd(e, true, typ)
		// Borrowers are at the source of borrowed, so the node that has them is at the target.
		agents := isNoun || strings.HasSuffix(base, "ers") || strings.HasSuffix(base, "ors") || strings.HasSuffix(base, "ing")
		switch {
		case atTarget && (passive || agents || !atSource):
			found = append(found, &Relation{Edge: e, Forward: false})
		case atSource && !passive && (!atTarget || strings.HasSuffix(base, "ed") || base == edge):
			found = append(found, &Relation{Edge: e, Forward: true})
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// Counted returns the relation that a name such as placed_aggregate or placedCount counts, or nil.
func (r *Vocabulary) Counted(typ, name string) *Relation {
	for _, suffix := range []string{"aggregate", "count", "connection"} {
		if base, ok := strings.CutSuffix(Plain(name), suffix); ok && base != "" {
			return r.Relation(typ, base)
		}
	}
	return nil
}

// Relation returns the relation that a name means at a node of a type, or nil. The name is that of an
// edge type, or that of a node type to which only one edge type leads.
func (r *Vocabulary) Relation(typ, name string) *Relation {
	if r.Schema.Node(typ) == nil && r.Schema.Interface(typ) == nil {
		return nil
	}
	if e := r.EdgeType(name); e != nil {
		for _, forward := range []bool{true, false} {
			if r.AtEnd(e, !forward, typ) {
				return &Relation{e, forward}
			}
		}
	}
	for _, inverse := range []string{"by", "inverse", "reverse", "incoming"} { // producedBy is produced from its other end
		base, ok := strings.CutSuffix(Plain(name), inverse)
		if !ok && inverse != "by" {
			base, ok = strings.CutPrefix(Plain(name), inverse)
		}
		if e := r.EdgeType(base); ok && e != nil && r.AtEnd(e, true, typ) {
			return &Relation{e, false}
		}
	}
	other := r.PluralType(name)
	if other == "" {
		return r.relationOfVerb(typ, name)
	}
	var found *Relation
	for _, e := range r.Schema.Edges {
		for _, forward := range []bool{true, false} {
			l := &Relation{e, forward}
			if l.Other() == other && r.AtEnd(e, !forward, typ) {
				if found != nil {
					return nil
				}
				found = l
			}
		}
	}
	return found
}
