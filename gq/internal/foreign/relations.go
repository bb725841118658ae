package foreign

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// relation is an edge type as seen from a node at one of its ends.
type relation struct {
	edge    *catalog.Edge
	forward bool // the node is at the source
}

// other returns the type at the other end.
func (l *relation) other() string {
	if l.forward {
		return l.edge.To
	}
	return l.edge.From
}

// single reports whether a node has at most one edge of the relation.
func (l *relation) single() bool { return l.forward && l.edge.Card != nil && l.edge.Card.Max == 1 }

// clause writes the traversal from a node to another one. An empty name is a variable without a name.
func (l *relation) clause(node, edge, other string) string {
	a, b := "$_", "$_"
	if node != "" {
		a = "$" + lower(node)
	}
	if other != "" {
		b = "$" + lower(other)
	}
	if !l.forward {
		a, b = b, a
	}
	if edge != "" {
		edge = "$" + lower(edge) + ":"
	}
	return a + " " + edge + lower(l.edge.Name) + " " + b
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

// relationOfVerb returns the relation that a form of the verb of an edge means, or nil: citedBy and citing for cites,
// borrowers for borrowed, translations and members for translationOf and memberOf.
func (r *vocabulary) relationOfVerb(typ, name string) *relation {
	name = plain(name)
	base, by := strings.CutSuffix(name, "by")
	for _, n := range r.schema.Nodes { // citedPapers, citingPapers
		for _, plural := range []string{plain(n.Name), plain(n.Name) + "s"} {
			if cut, ok := strings.CutSuffix(base, plural); ok && len(cut) > 3 {
				base = cut
			}
		}
	}
	var found []*relation
	verb := stem(base)
	for _, e := range r.schema.Edges {
		edge := plain(e.Name)
		noun, of := strings.CutSuffix(edge, "of")
		if !strings.HasPrefix(noun, verb) || stem(strings.TrimSuffix(noun, "by")) != verb {
			continue
		}
		forward, reverse := r.atEnd(e, false, typ), r.atEnd(e, true, typ)
		agent := strings.HasSuffix(base, "ers") || strings.HasSuffix(base, "ors") || strings.HasSuffix(base, "ing") || of
		switch {
		case reverse && (by || agent || !forward):
			found = append(found, &relation{e, false})
		case forward && !by && (!reverse || strings.HasSuffix(base, "ed") || base == edge):
			found = append(found, &relation{e, true})
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// counted returns the relation that a name such as placed_aggregate or placedCount counts, or nil.
func (r *vocabulary) counted(typ, name string) *relation {
	for _, suffix := range []string{"aggregate", "count", "connection"} {
		if base, ok := strings.CutSuffix(plain(name), suffix); ok && base != "" {
			return r.relation(typ, base)
		}
	}
	return nil
}

// relation returns the relation that a name means at a node of a type, or nil. The name is that of an
// edge type, or that of a node type to which only one edge type leads.
func (r *vocabulary) relation(typ, name string) *relation {
	if r.schema.Node(typ) == nil && r.schema.Interface(typ) == nil {
		return nil
	}
	if e := r.edgeType(name); e != nil {
		for _, forward := range []bool{true, false} {
			if r.atEnd(e, !forward, typ) {
				return &relation{e, forward}
			}
		}
	}
	for _, inverse := range []string{"by", "inverse", "reverse", "incoming"} { // producedBy is produced from its other end
		base, ok := strings.CutSuffix(plain(name), inverse)
		if !ok && inverse != "by" {
			base, ok = strings.CutPrefix(plain(name), inverse)
		}
		if e := r.edgeType(base); ok && e != nil && r.atEnd(e, true, typ) {
			return &relation{e, false}
		}
	}
	other := r.pluralType(name)
	if other == "" {
		return r.relationOfVerb(typ, name)
	}
	var found *relation
	for _, e := range r.schema.Edges {
		for _, forward := range []bool{true, false} {
			l := &relation{e, forward}
			if l.other() == other && r.atEnd(e, !forward, typ) {
				if found != nil {
					return nil
				}
				found = l
			}
		}
	}
	return found
}
