// Package cursor reads the tokens of a text one after the other, looks ahead for what the parts of a text begin with, and writes tokens
// that one language has as those of the others.
package cursor

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// Cursor reads the tokens of a text one after the other.
type Cursor struct {
	Tokens []lex.Token
	At     int // index of the next token
	Steps  int // tokens read, including those that were read again
	depth  int // of the nesting around the next token
}

// MaxSteps bounds the tokens that one rewriting reads. It reads some tokens more than once, because a
// parenthesis may open a pattern or an expression.
const MaxSteps = 20_000

// maxDepth bounds the nesting of expressions and blocks.
const maxDepth = 50

// Rest returns the tokens from the next one on.
func (r *Cursor) Rest() lex.Tokens { return r.Tokens[min(r.At, len(r.Tokens)):] }

// Peek returns the token n places after the next one.
func (r *Cursor) Peek(n int) lex.Token { return r.Rest().At(n) }

// Next reads a token.
func (r *Cursor) Next() lex.Token {
	t := r.Peek(0)
	if r.Steps++; r.Steps > MaxSteps || t.Kind == lex.End {
		panic(refuse.GiveUp{})
	}
	r.At++
	return t
}

// Is reports whether the next tokens have the values, in any case.
func (r *Cursor) Is(values ...string) bool { return r.Rest().Are(values...) }

// IsOne reports whether the next token has one of the values, in any case.
func (r *Cursor) IsOne(values ...string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return r.Is(v) })
}

// Accept reads the tokens if they come next.
func (r *Cursor) Accept(values ...string) bool {
	if !r.Is(values...) {
		return false
	}
	for range values {
		r.Next()
	}
	return true
}

// More reports whether another member of a list comes. It reads the commas before it, or else the closing mark.
func (r *Cursor) More(closing string) bool {
	for r.Accept(",") {
	}
	return !r.Accept(closing)
}

// List reads a list of one member or more, each with a function: in braces, where commas may be missing, or without.
func (r *Cursor) List(member func()) {
	braces := r.Accept("{")
	for more := true; more; more = r.Accept(",") || braces && !r.IsOne("}") {
		member()
	}
	if braces {
		r.Expect("}")
	}
}

// Expect reads the tokens, which must come next.
func (r *Cursor) Expect(values ...string) {
	refuse.If(!r.Accept(values...))
}

// Word reads a word.
func (r *Cursor) Word() string {
	t := r.Next()
	refuse.If(t.Kind != lex.Word)
	return t.Text
}

// Deeper counts a level of nesting until the function that it returns is called.
func (r *Cursor) Deeper() func() {
	if r.depth++; r.depth > maxDepth {
		panic(refuse.GiveUp{})
	}
	return func() { r.depth-- }
}

// IsAt reports whether one of the marks stands n places after the next token.
func (r *Cursor) IsAt(n int, marks ...string) bool {
	t := r.Peek(n)
	return t.Kind == lex.Mark && slices.Contains(marks, t.Text)
}

// SkipTwo reads two tokens.
func (r *Cursor) SkipTwo() {
	r.Next()
	r.Next()
}

// SkipGroup skips the tokens from an opening bracket to the closing one.
func (r *Cursor) SkipGroup() {
	for depth := 0; ; {
		t := r.Next()
		if t.Kind != lex.Mark {
			continue
		}
		switch t.Text {
		case "(", "{", "[":
			depth++
		case ")", "}", "]":
			if depth--; depth <= 0 {
				return
			}
		}
	}
}

// SkipCall skips the arguments of a call up to its closing parenthesis.
func (r *Cursor) SkipCall() {
	r.At--
	r.SkipGroup()
}

// SkipTo skips tokens to a word outside of parentheses.
func (r *Cursor) SkipTo(word string) {
	for !r.Is(word) {
		if r.Is("(") {
			r.SkipGroup()
		} else {
			r.Next()
		}
	}
}

// Literal reads a string.
func (r *Cursor) Literal() string {
	t := r.Next()
	refuse.If(t.Kind != lex.Text)
	return t.Text
}

// Flag reads true or false.
func (r *Cursor) Flag() bool {
	if r.Accept("true") {
		return true
	}
	r.Expect("false")
	return false
}

// MemberName reads the name of a property, perhaps in quotes.
func (r *Cursor) MemberName() string {
	t := r.Next()
	refuse.If(t.Kind != lex.Word && t.Kind != lex.Text)
	return t.Text
}

// Starts reports whether another part of the query comes next, or its end.
func (r *Cursor) Starts() bool {
	t := r.Peek(0)
	if t.Kind == lex.End || t.Kind == lex.Mark && (t.Text == "}" || t.Text == ";") {
		return true
	}
	// A keyword that is the name of a variable or of a property has a dot, a colon or a relation after it.
	return t.Kind == lex.Word && slices.Contains(lex.Starters, strings.ToLower(t.Text)) && r.Peek(1).Text != "." && (r.Peek(1).Text != ":" || r.IsOne("orderby", "first", "limit"))
}

// Mentions reports whether the rest of the text has the name of a variable.
func (r *Cursor) Mentions(name string) bool {
	return slices.ContainsFunc(r.Tokens[r.At:], func(t lex.Token) bool { return (t.Kind == lex.Word || t.Kind == lex.Dollar) && t.Text == name })
}

// Uses counts the tokens of the text that name a variable or a parameter.
func (r *Cursor) Uses(name string) (n int) {
	for _, t := range r.Tokens {
		if t.Kind == lex.Dollar && t.Text == name {
			n++
		}
	}
	return n
}

// OverAhead reports whether OVER comes after the parentheses that come next.
func (r *Cursor) OverAhead() bool {
	n := r.Rest().GroupLen()
	return r.Peek(n).Are("over") && r.IsAt(n+1, "(")
}
