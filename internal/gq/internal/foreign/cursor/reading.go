package cursor

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// Truth reports whether IS TRUE, IS NOT FALSE or the like comes next.
func (r *Cursor) Truth() bool {
	return r.Is("is", "true") || r.Is("is", "false") || r.Is("is", "not", "true") || r.Is("is", "not", "false")
}

// NotOperator reports whether NOT IN, NOT LIKE or the like comes next.
func (r *Cursor) NotOperator() bool {
	return r.Is("not") && slices.Contains([]string{"in", "like", "ilike", "rlike", "regexp", "between", "contains", "starts", "ends", "starts_with", "matches"}, strings.ToLower(r.Peek(1).Text))
}

// Optional reads the question mark after a parameter that may drop the condition.
func (r *Cursor) Optional(operand string) string {
	if r.Accept("?") {
		return operand + "?"
	}
	return operand
}

// PatternAt reports whether a pattern, perhaps a shortest one, comes n places after the next token.
func (r *Cursor) PatternAt(n int) bool {
	switch naming.Plain(r.Peek(n).Text) {
	case "(", "any", "all", "shortest", "shortestpath", "allshortestpaths":
		return true
	}
	return false
}

// PathPrefix reads the words before a pattern that choose paths: a walk lists each end once, with a shortest path.
func (r *Cursor) PathPrefix() {
	for r.IsOne("any", "all", "shortest", "path", "paths", "walk", "trail") || r.Peek(0).Kind == lex.Number && r.Peek(0).Text == "1" {
		r.Next()
	}
}

var mostHops = strconv.Itoa(plan.MaxHops)

// BoundsFrom returns the bounds of a walk of any number of edges from `low` on.
func BoundsFrom(low string) string { return "{" + low + "," + mostHops + "}" }

// Bounds reads the bounds of a walk with the separator of the other language.
func (r *Cursor) Bounds(separator string) string {
	low, high := "1", mostHops
	if r.Peek(0).Kind == lex.Number {
		low = r.Next().Text
		high = low
	}
	if r.Accept(separator) || r.Accept("..") || r.Accept(",") {
		high = mostHops
		if r.Peek(0).Kind == lex.Number {
			high = r.Next().Text
		}
	}
	return "{" + low + "," + high + "}"
}

// ComparedLater reports whether the rest of the text says that two nodes differ, as in a <> b and a.name < b.name.
func (r *Cursor) ComparedLater(a, b string) bool {
	for i := r.At; i < len(r.Tokens); i++ {
		left := r.Tokens[i].Text
		if left != a && left != b {
			continue
		}
		j := i + 1
		if j+1 < len(r.Tokens) && r.Tokens[j].Text == "." {
			j += 2
		}
		if j+1 >= len(r.Tokens) || !slices.Contains([]string{"<>", "!=", "<", ">"}, r.Tokens[j].Text) {
			continue
		}
		if right := r.Tokens[j+1].Text; right != left && (right == a || right == b) {
			return true
		}
	}
	return false
}

// BindsLater reports whether the rest of the text has a pattern with a node of a name and a type, as in (p:Person).
func (r *Cursor) BindsLater(name string) bool {
	for i := r.At; i+2 < len(r.Tokens); i++ {
		if r.Tokens[i].Text == "(" && r.Tokens[i+1].Text == name && r.Tokens[i+1].Kind == lex.Word && r.Tokens[i+2].Text == ":" {
			return true
		}
	}
	return false
}

// SkipCondition skips the tokens of one of several conditions.
func (r *Cursor) SkipCondition() {
	for depth, between := 0, false; ; {
		t := r.Peek(0)
		switch {
		case t.Kind == lex.Mark && t.Text == "(":
			depth++
		case t.Kind == lex.Mark && t.Text == ")":
			if depth--; depth < 0 {
				return
			}
		case depth > 0 && t.Kind != lex.End:
		case r.Starts(), r.Is("left", "join"), r.Is("left", "outer"), r.IsOne("join", "inner", "cross", ",", "returning"):
			return
		case t.Are("or"):
			panic(refuse.GiveUp{})
		case t.Are("and") && !between:
			return
		case t.Are("and"):
			between = false
		case t.Are("between"):
			between = true
		}
		r.Next()
	}
}

// TableAlias reads the alias of a table, or returns "".
func (r *Cursor) TableAlias() string {
	r.Accept("as")
	if t := r.Peek(0); t.Kind == lex.Word && !r.Starts() && !r.IsOne("join", "left", "right", "inner", "cross", "full", "on", "using", "union", "natural", "returning") {
		return r.Word()
	}
	return ""
}

// Qualified reads a column with the alias of its table, which may be missing.
func (r *Cursor) Qualified() (table, column string) {
	column = r.Word()
	if r.Accept(".") {
		table, column = column, r.Word()
	}
	return table, column
}

// ComparedBefore returns the property to which a text compares or assigns the token at an index, as in
// {email: $a} and p.email = $a, or "".
func (r *Cursor) ComparedBefore(i int) string {
	if i < 2 || i+1 < len(r.Tokens) && slices.Contains([]string{".", ":"}, r.Tokens[i+1].Text) {
		return ""
	}
	operator, property := r.Tokens[i-1], r.Tokens[i-2]
	if property.Kind != lex.Word {
		return ""
	}
	inBraces := operator.Text == ":" && i > 2 && (r.Tokens[i-3].Text == "{" || r.Tokens[i-3].Text == ",")
	if inBraces || lex.Relations[operator.Text] != "" && i > 2 && r.Tokens[i-3].Text == "." {
		return property.Text
	}
	return ""
}

// Headed reports whether the word query or mutation at the start of the text begins a head, which a
// brace or a parenthesis ends.
func (r *Cursor) Headed() bool {
	i := 1
	if r.Peek(i).Kind == lex.Word {
		i++
	}
	t := r.Peek(i)
	return t.Kind == lex.Mark && (t.Text == "{" || t.Text == "(" || t.Text == "@")
}

// ResultType skips the type of the result after the head, as in query q(): [Person!]!.
func (r *Cursor) ResultType() {
	if !r.Accept(":") && !r.Accept("->") && !r.Accept("returns") && !r.Accept("=", ">") && !r.Accept("as") {
		return
	}
	for !r.Is("{") {
		if t := r.Next(); t.Kind != lex.Word && !strings.Contains("[]!?", t.Text) {
			panic(refuse.GiveUp{})
		}
	}
}
