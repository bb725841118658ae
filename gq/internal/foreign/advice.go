package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// unwoundList says what to use instead of UNWIND p.tags AS tag, with the names of the text.
func unwoundList(s *catalog.Schema, text tokens) string {
	v := &vocabulary{schema: s}
	for i := range text {
		rest := tokens(text[i:])
		at := 0 // of the variable
		switch {
		case rest.are("unwind"):
			at = 1
		case rest.are("for") && rest.at(2).are("in"):
			at = 3
		}
		if at == 0 || rest.at(at+1).text != "." {
			continue
		}
		typ := labelOf(v, text, rest.at(at).text)
		p := v.property(typ, rest.at(at+2).text)
		if p == nil || !p.Type.List {
			continue
		}
		name := "$" + lower(rest.at(at).text)
		return "a read makes no rows from a list: return the list, as in return { " + name + "." + p.Name + " }, or count the nodes with one member, as in match { " +
			name + ": " + typ + "  " + name + "." + p.Name + " contains $member } return { count(" + name + ") as n }"
	}
	return unwindNote
}

// labelOf returns the type with which a pattern or a binding of the text introduces a variable, or "".
func labelOf(v *vocabulary, text tokens, name string) string {
	for i := 0; i+2 < len(text); i++ {
		if t := text[i]; (t.kind == word || t.kind == dollar) && t.text == name && text[i+1].text == ":" {
			if typ := v.nodeType(text[i+2].text); typ != "" {
				return typ
			}
		}
	}
	return ""
}

// mergedEdge finds MERGE of an edge whose type has no @unique(src, dst).
func mergedEdge(s *catalog.Schema, text tokens) string {
	r := &vocabulary{schema: s}
	for i := range text {
		if !tokens(text[i:]).are("merge") {
			continue
		}
		for j := i + 1; j+1 < len(text) && !startsPart(text[j]); j++ {
			if text[j].text != ":" || text[j-1].text != "[" && (text[j-1].kind != word || text[j-2].text != "[") {
				continue
			}
			e := r.edgeType(text[j+1].text)
			if e == nil || slices.ContainsFunc(e.Unique, func(names []string) bool {
				return len(names) == 2 && slices.Contains(names, "src") && slices.Contains(names, "dst")
			}) {
				continue
			}
			return "an edge of " + e.Name + " is not found by its ends, because the type has no @unique(src, dst): send update " + e.Name +
				" set { … } where from = " + e.EndName(false) + "($a) and to = " + e.EndName(true) + "($b), and insert " + e.Name + " { from: …, to: … } if it changed none"
		}
	}
	return ""
}

// secondMatch finds a MATCH after WITH, or after a statement that changes the graph and before the columns.
func secondMatch(text tokens) string {
	bounded, written := false, false
	lastWriter := -1
	for i, t := range text {
		if slices.Contains(writers, strings.ToLower(t.text)) {
			lastWriter = i
		}
	}
	for i, t := range text {
		if t.kind != word || i > 0 && (text[i-1].text == "." || text[i-1].text == ":") {
			continue
		}
		switch name := strings.ToLower(t.text); {
		case name == "with" && i > 0 && text[i-1].are("starts"), name == "with" && i > 0 && text[i-1].are("ends"):
		case name == "with":
			bounded = true
		case slices.Contains(writers, name):
			written = true
		case name == "match" && written && i > lastWriter:
			return "a mutation does not read the graph after its changes: send the read as a query of its own, after it"
		case name == "match" && bounded && !written:
			return stagesNote
		}
	}
	return ""
}
