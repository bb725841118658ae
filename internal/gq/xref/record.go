package xref

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// Field is a field of the records in a parameter.
type Field struct {
	Name string
	Type string // as the query declares it, such as Date?
}

// Fields returns the fields of the record that a variable at an offset stands for: inside
// `for $s in $study { … }`, the fields that the type of $study lists. It returns nil for another variable.
func (s *Source) Fields(v syntax.Token) []Field {
	n := s.Query(v.Pos.Offset)
	if n == nil {
		return nil
	}
	from, to := s.index(n.Pos.Offset), s.index(v.Pos.Offset)
	closed := 0 // the braces that close before v and whose opening brace is still to come
	for i := to - 1; i > from; i-- {
		switch s.Tokens[i].Value {
		case "}":
			closed++
		case "{":
			if closed > 0 {
				closed--
			} else if list := at(s.Tokens, i-1); isVar(list) && at(s.Tokens, i-2).Value == "in" &&
				at(s.Tokens, i-3).Value == v.Value && at(s.Tokens, i-4).Value == "for" {
				return s.declaredFields(from, list.Value)
			}
		}
	}
	return nil
}

// index returns the index of the first token at an offset or after it.
func (s *Source) index(offset int) int {
	i, _ := slices.BinarySearchFunc(s.Tokens, offset, func(t syntax.Token, at int) int { return t.Pos.Offset - at })
	return i
}

// declaredFields returns the fields of the records in a parameter of the query whose name is token i.
func (s *Source) declaredFields(i int, param string) []Field {
	for ; at(s.Tokens, i).Value != param || at(s.Tokens, i+1).Value != ":"; i++ {
		if i >= len(s.Tokens) {
			return nil
		}
	}
	if at(s.Tokens, i+2).Value != "[" || at(s.Tokens, i+3).Value != "{" {
		return nil
	}
	var fields []Field
	for i += 4; i < len(s.Tokens) && s.Tokens[i].Value != "}"; i++ {
		switch t := s.Tokens[i]; {
		case t.Type == syntax.Name && at(s.Tokens, i+1).Value == ":":
			fields = append(fields, Field{Name: t.Value})
		case t.Type == syntax.TypeName && len(fields) > 0, t.Value == "?" && len(fields) > 0:
			fields[len(fields)-1].Type += t.Value
		}
	}
	return fields
}
