package divide

import (
	"slices"

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
	body := lex.Tokens(text[open+1:]).Inner()
	start := 0 // of the field
	for i, t := range body.Outside() {
		switch {
		case t.Kind == lex.Dollar:
			return nil, nil, nil
		case t.Kind == lex.Mark && t.Text == "," && start == i:
			start = i + 1
		case t.Kind == lex.Mark && t.Text == "{":
			end := i + body[i:].GroupLen()
			fields = append(fields, body[start:end])
			start = end
		}
	}
	end := open + 1 + len(body)
	if start != len(body) || end == len(text) || text[end].Text != "}" {
		return nil, nil, nil
	}
	return head, fields, text[end+1:]
}

// usedParameters returns the head of a document without the parameters that a part does not use.
func usedParameters(head, part []lex.Token) []lex.Token {
	used := func(name string) bool {
		return slices.ContainsFunc(part, func(t lex.Token) bool { return t.Kind == lex.Dollar && t.Text == name })
	}
	open := slices.IndexFunc(head, func(t lex.Token) bool { return t.Kind == lex.Mark && t.Text == "(" })
	if open < 0 || head[len(head)-2].Text != ")" {
		return head
	}
	list := lex.Tokens(head[open+1 : len(head)-2])
	var starts []int // of the parameters
	for i, t := range list.Outside() {
		if t.Kind == lex.Dollar {
			starts = append(starts, i)
		}
	}
	var parameters []lex.Token
	for i, start := range starts {
		if end := append(starts, len(list))[i+1]; used(list[start].Text) {
			parameters = append(parameters, list[start:end]...)
		}
	}
	if len(parameters) == 0 {
		return append(slices.Clone(head[:open]), head[len(head)-1])
	}
	return slices.Concat(head[:open+1], parameters, head[len(head)-2:])
}
