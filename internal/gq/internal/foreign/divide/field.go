package divide

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
)

// FieldParts divides a document of GraphQL with several fields into a document for each: each has the parameters and
// the fragments that it uses. It returns nil for other texts.
func FieldParts(text []lex.Token) (parts [][]lex.Token) {
	head, fields, tail := documentOf(text)
	if len(fields) < 2 {
		return nil
	}
	for _, f := range fields {
		part := slices.Concat(usedParameters(head, append(slices.Clone(f), tail...)), f, []lex.Token{{Kind: lex.Mark, Text: "}"}}, tail)
		parts = append(parts, part)
	}
	return parts
}

// documentOf divides a document of GraphQL into its head with the opening brace, the fields of its body, and the
// fragments after it.
func documentOf(text []lex.Token) (head []lex.Token, fields [][]lex.Token, tail []lex.Token) {
	open := slices.IndexFunc(text, func(t lex.Token) bool { return t.Kind == lex.Mark && t.Text == "{" })
	if open < 0 || open > 0 && !text[0].Are("query") {
		return nil, nil, nil
	}
	for i := 0; i < open; i++ { // a default with braces is none of the body
		if text[i].Text == "@" {
			return nil, nil, nil
		}
	}
	head = text[:open+1]
	if open > 1 && text[1].Kind == lex.Word { // each query has a name of its own
		head = slices.Concat(text[:1], text[2:open+1])
	}
	depth, start := 0, open+1
	for i := open + 1; i < len(text); i++ {
		t := text[i]
		if t.Kind != lex.Mark {
			if depth == 0 && t.Kind == lex.Dollar {
				return nil, nil, nil
			}
			continue
		}
		switch t.Text {
		case "(", "[", "{":
			depth++
		case ")", "]":
			depth--
		case "}":
			if depth == 0 {
				if start != i {
					return nil, nil, nil
				}
				return head, fields, text[i+1:]
			}
			if depth--; depth == 0 {
				fields = append(fields, text[start:i+1])
				start = i + 1
			}
		case ",":
			if depth == 0 && start == i {
				start = i + 1
			}
		}
	}
	return nil, nil, nil
}

// usedParameters returns the head of a document without the parameters that a part does not use.
func usedParameters(head, part []lex.Token) (out []lex.Token) {
	used := func(name string) bool {
		return slices.ContainsFunc(part, func(t lex.Token) bool { return t.Kind == lex.Dollar && t.Text == name })
	}
	open := slices.IndexFunc(head, func(t lex.Token) bool { return t.Kind == lex.Mark && t.Text == "(" })
	if open < 0 || head[len(head)-2].Text != ")" {
		return head
	}
	out = slices.Clone(head[:open])
	var parameters []lex.Token
	keep, depth := true, 0
	for _, t := range head[open+1 : len(head)-2] {
		if t.Kind == lex.Mark && strings.Contains("([{", t.Text) {
			depth++
		} else if t.Kind == lex.Mark && strings.Contains(")]}", t.Text) {
			depth--
		}
		if depth == 0 && t.Kind == lex.Dollar {
			keep = used(t.Text)
		}
		if keep {
			parameters = append(parameters, t)
		}
	}
	if len(parameters) > 0 {
		out = append(append(append(out, head[open]), parameters...), head[len(head)-2])
	}
	return append(out, head[len(head)-1])
}
