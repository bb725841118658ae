package instead

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
)

// unwoundList says what to use instead of UNWIND p.tags AS tag, with the names of the text.
func unwoundList(s *catalog.Schema, text lex.Tokens) string {
	v := &naming.Vocabulary{Schema: s}
	for i := range text {
		rest := lex.Tokens(text[i:])
		at := 0 // of the variable
		switch {
		case rest.Are("unwind"):
			at = 1
		case rest.Are("for") && rest.At(2).Are("in"):
			at = 3
		}
		if at == 0 || rest.At(at+1).Text != "." {
			continue
		}
		typ := labelOf(v, text, rest.At(at).Text)
		p := v.Property(typ, rest.At(at+2).Text)
		if p == nil || !p.Type.List {
			continue
		}
		name := "$" + naming.Lower(rest.At(at).Text)
		return "a read makes no rows from a list: return the list, as in return { " + name + "." + p.Name + " }, or count the nodes with one member, as in match { " +
			name + ": " + typ + "  " + name + "." + p.Name + " contains $member } return { count(" + name + ") as n }"
	}
	return unwindNote
}

// labelOf returns the type with which a pattern or a binding of the text introduces a variable, or "".
func labelOf(v *naming.Vocabulary, text lex.Tokens, name string) string {
	for i := 0; i+2 < len(text); i++ {
		if t := text[i]; (t.Kind == lex.Word || t.Kind == lex.Dollar) && t.Text == name && text[i+1].Text == ":" {
			if typ := v.NodeType(text[i+2].Text); typ != "" {
				return typ
			}
		}
	}
	return ""
}

// mergedEdge finds MERGE of an edge whose type has no @unique(src, dst).
func mergedEdge(s *catalog.Schema, text lex.Tokens) string {
	r := &naming.Vocabulary{Schema: s}
	for i := range text {
		if !lex.Tokens(text[i:]).Are("merge") {
			continue
		}
		for j := i + 1; j+1 < len(text) && !lex.StartsPart(text[j]); j++ {
			if text[j].Text != ":" || text[j-1].Text != "[" && (text[j-1].Kind != lex.Word || text[j-2].Text != "[") {
				continue
			}
			e := r.EdgeType(text[j+1].Text)
			if e == nil || naming.OnePerPair(e) {
				continue
			}
			return "an edge of " + e.Name + " is not found by its ends, because the type has no @unique(src, dst): send update " + e.Name +
				" set { … } where from = " + e.EndName(false) + "($a) and to = " + e.EndName(true) + "($b), and insert " + e.Name + " { from: …, to: … } if it changed none"
		}
	}
	return ""
}

// secondMatch finds a MATCH after WITH, or after a statement that changes the graph and before the columns.
func secondMatch(text lex.Tokens) string {
	bounded, written := false, false
	lastWriter := -1
	for i, t := range text {
		if slices.Contains(lex.Writers, strings.ToLower(t.Text)) {
			lastWriter = i
		}
	}
	for i, t := range text {
		if t.Kind != lex.Word || i > 0 && (text[i-1].Text == "." || text[i-1].Text == ":") {
			continue
		}
		switch name := strings.ToLower(t.Text); {
		case name == "with" && i > 0 && text[i-1].Are("starts"), name == "with" && i > 0 && text[i-1].Are("ends"):
		case name == "with":
			bounded = true
		case slices.Contains(lex.Writers, name):
			written = true
		case name == "match" && written && i > lastWriter:
			return "a mutation does not read the graph after its changes: send the read as a query of its own, after it"
		case name == "match" && bounded && !written:
			return stagesNote
		}
	}
	return ""
}
