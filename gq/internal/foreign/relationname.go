package foreign

import (
	"slices"
	"strings"
)

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
func (r *rewriter) relationOfVerb(typ, name string) *relation {
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

// edgeArguments reads the properties of an edge in parentheses in a traversal, as in $a wrote(role: translator) $w, as
// if they stood in braces.
func (r *rewriter) edgeArguments() {
	depth := 0
	for i := r.at; i < len(r.tokens); i++ {
		switch t := r.tokens[i]; {
		case t.kind == mark && t.text == "(":
			depth++
		case t.kind == mark && t.text == ")":
			if depth--; depth == 0 {
				r.tokens = slices.Clone(r.tokens)
				r.tokens[r.at].text, r.tokens[i].text = "{", "}"
				return
			}
		}
	}
	panic(giveUp{})
}
