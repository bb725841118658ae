package syntax

import (
	"strings"

	"github.com/alecthomas/participle/v2"
)

// show quotes a token for a message and shortens it to a readable length.
func show(t Token) string {
	if t.EOF() {
		return "end of the declaration"
	}
	v := cut(t.Value)
	if t.Type == String {
		return v
	}
	return "`" + v + "`"
}

// cut shortens a piece of source to at most 40 bytes for a message.
func cut(v string) string {
	const most = 40
	if len(v) > most {
		return strings.ToValidUTF8(v[:most], "") + "…"
	}
	return v
}

// wanted describes the tokens that the grammar allows next. The library's message gives the
// whole rest of the production in EBNF; wanted keeps only the terms that can come first.
func wanted(u *participle.UnexpectedTokenError) string {
	if u.Expect != "" {
		return ", want " + u.Expect
	}
	_, rest, ok := strings.Cut(u.Message(), "(expected ")
	if !ok {
		return ""
	}
	terms := firstTerms(strings.TrimSuffix(rest, ")"))
	if len(terms) == 0 {
		return ""
	}
	return ", want " + or(terms)
}

// firstTerms returns phrases for the terms that an EBNF sequence can start with.
func firstTerms(ebnf string) []string {
	var out []string
	for ebnf = strings.TrimSpace(ebnf); ebnf != ""; ebnf = strings.TrimSpace(ebnf) {
		n := termLen(ebnf)
		term := ebnf[:n]
		ebnf = ebnf[n:]
		optional := false
		for ebnf != "" && strings.IndexByte("?*+!", ebnf[0]) >= 0 {
			optional = optional || ebnf[0] == '?' || ebnf[0] == '*'
			ebnf = ebnf[1:]
		}
		switch {
		case strings.HasPrefix(term, "(?"):
			continue
		case term == "|":
			continue
		case term[0] == '(':
			for _, alt := range alternatives(term[1 : len(term)-1]) {
				out = append(out, firstTerms(alt)...)
			}
		default:
			out = append(out, phrase(term))
		}
		if !optional {
			break
		}
	}
	return out
}

// termLen returns the length of the first term of an EBNF text.
func termLen(s string) int {
	switch s[0] {
	case '"':
		if end := strings.IndexByte(s[1:], '"'); end >= 0 {
			return end + 2
		}
		return len(s)
	case '(':
		depth := 0
		for i := 0; i < len(s); i++ {
			switch s[i] {
			case '"':
				i += termLen(s[i:]) - 1
			case '(':
				depth++
			case ')':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(s)
	}
	if n := strings.IndexAny(s, " ?*+!"); n > 0 {
		return n
	}
	return len(s)
}

// alternatives splits the contents of a group at its top-level bars.
func alternatives(s string) []string {
	var out []string
	start := 0
	for i := 0; i < len(s); {
		if s[i] == '|' {
			out = append(out, s[start:i])
			start = i + 1
		}
		if s[i] == '(' || s[i] == '"' {
			i += termLen(s[i:])
			continue
		}
		i++
	}
	return append(out, s[start:])
}

func phrase(term string) string {
	if term[0] == '"' {
		return "`" + strings.Trim(term, `"`) + "`"
	}
	if p, ok := phrases[term]; ok {
		return p
	}
	return term
}

// phrases maps tokens and productions that can come first to words for messages.
var phrases = map[string]string{
	"<name>": "a name", "<typename>": "a type name", "<var>": "a $variable", "<int>": "an integer", "<float>": "a number",
	"<string>": "a string", "<relation>": "`=`, `!=`, `<`, `<=`, `>`, `>=`", "Operand": "an expression", "Type": "a type", "Body": "`match`, `insert`, `update` or `delete`",
	"Clause": "a clause", "Projection": "an expression", "Ordering": "an expression", "Param": "a $parameter",
	"PropMatch": "a property name", "Assign": "a property name", "Pred": "a property name", "Property": "a property name",
	"Member": "a property name, a constraint", "NameRef": "a property name", "TypeRef": "a type name",
	"EnumValue": "an enum value", "Annotation": "`@`", "QueryAnnotation": "`@`", "Doc": "`@description`", "Card": "`@card`",
	"MCPArg": "`expose`, `idempotent`, `tool_name` or `title`", "AnnotationArg": "a literal or a name", "Bounds": "`{`",
	"Statement": "`insert`, `update` or `delete`",
}

// or joins phrases with commas and "or", without duplicates.
func or(words []string) string {
	seen := map[string]bool{}
	var uniq []string
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			uniq = append(uniq, w)
		}
	}
	if n := len(uniq); n > 1 {
		return strings.Join(uniq[:n-1], ", ") + " or " + uniq[n-1]
	}
	return uniq[0]
}
