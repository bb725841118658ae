package syntax

import (
	"errors"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/ebnf"
)

// explain reports why the parser rejected a declaration. The argument `garbled` is the offset of its first lexical error, which the scanner
// has already reported, or -1. explain reports nothing at or after that offset.
func (p *parser) explain(err error, d *declaration, garbled int) {
	at := SpanOf(d.tokens[0])
	var help, msg string
	var u *participle.UnexpectedTokenError
	var e participle.Error
	switch {
	case errors.As(err, &u):
		pl := placeIn(d.tokens, u.Unexpected)
		p.meter.Step(len(d.tokens))
		want := expectedTokens(u)
		if want == "" && pl.wantsType() {
			want = ", want a type"
		}
		pl.want = want
		var blamed Token
		help, blamed = hintFor(pl)
		if blamed.Pos != u.Unexpected.Pos {
			want = ""
		}
		at, msg = SpanOf(blamed), "unexpected "+quoteToken(blamed)+want
	case errors.As(err, &e):
		at.Start, msg = posOf(e.Position()), e.Message()
		at.End = at.Start
	default:
		msg = err.Error()
	}
	// After a character that forms no token, or after a string that is not closed, the tokens are meaningless. An unexpected end
	// follows from that error, too, even if hintFor blames an earlier token, such as a brace that is not closed.
	if garbled < 0 || at.Start.Offset < garbled && !(u != nil && u.Unexpected.EOF()) {
		p.fault(Unexpected, at, help, "%s", msg)
	}
}

// quoteToken quotes a token for a message and shortens it to a readable length.
func quoteToken(t Token) string {
	if t.EOF() {
		return "end of the declaration"
	}
	v := shorten(t.Value)
	if t.Type == String {
		return v
	}
	return "`" + v + "`"
}

// shorten shortens a piece of source to at most 40 bytes for a message.
func shorten(v string) string {
	const most = 40
	if len(v) > most {
		return strings.ToValidUTF8(v[:most], "") + "…"
	}
	return v
}

// expectedTokens describes the tokens that the grammar allows next. The library's message contains
// the whole rest of the production in EBNF; expectedTokens keeps only the terms that can come
// first.
func expectedTokens(u *participle.UnexpectedTokenError) string {
	if u.Expect != "" {
		return ", want " + u.Expect
	}
	const before = "(expected "
	msg := u.Message()
	at := strings.LastIndex(msg, before)
	if at < 0 {
		return ""
	}
	rest, err := ebnf.ParseString("Rest = " + strings.TrimSuffix(msg[at+len(before):], ")") + " .")
	if err != nil {
		return ""
	}
	words := firstTerms(nil, rest.Productions[0].Expression)
	if len(words) == 0 {
		return ""
	}
	return ", want " + or(words)
}

// firstTerms appends phrases for the terms that an expression can start with.
func firstTerms(words []string, e *ebnf.Expression) []string {
	for _, alt := range e.Alternatives {
		for _, t := range alt.Terms {
			switch {
			case t.Group == nil:
				words = append(words, phrase(t))
			case t.Group.Lookahead == ebnf.LookaheadAssertionNone:
				words = firstTerms(words, t.Group.Expr)
			default:
				continue
			}
			if t.Repetition != "?" && t.Repetition != "*" {
				break
			}
		}
	}
	return words
}

// phrase returns the words for a term. The term is not a group.
func phrase(t *ebnf.Term) string {
	if t.Literal != "" {
		return "`" + strings.Trim(t.Literal, `"`) + "`"
	}
	name := t.Name
	if t.Token != "" {
		name = "<" + t.Token + ">"
	}
	if p, ok := phrases[name]; ok {
		return p
	}
	return name
}

// phrases maps each token or production that an expression can start with to the words for it in
// messages.
var phrases = map[string]string{
	"<name>": "a name", "<typename>": "a type name", "<var>": "a $variable", "<int>": "an integer", "<float>": "a number",
	"<string>": "a string", "<relation>": "`=`, `!=`, `<`, `<=`, `>`, `>=`", "Operand": "an expression", "Type": "a type", "Body": "`match`, `insert`, `upsert`, `update`, `delete` or `for`",
	"Clause": "a clause", "Projection": "an expression", "Ordering": "an expression", "Param": "a $parameter",
	"PropMatch": "a property name", "Assign": "a property name", "Pred": "a property name", "Property": "a property name",
	"Member": "a property name, a constraint", "NameRef": "a property name", "TypeRef": "a type name",
	"EnumValue": "an enum value", "Annotation": "`@`", "QueryAnnotation": "`@`", "AsOf": "`as of`", "Valid": "`valid`", "ParamAnnotation": "`@`", "Ends": "the ends of a range", "Card": "`@card`",
	"MCPArg": "`expose`, `idempotent`, `tool_name` or `title`", "AnnotationArg": "a literal or a name", "Bounds": "`{`",
	"Statement": "`insert`, `upsert`, `update`, `delete`, `match` or `for`", "Written": "an expression", "NullTest": "`is`",
	"Term": "an expression", "Factor": "an expression", "Comparison": "an expression", "Condition": "an expression", "Subquery": "an expression",
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

// quoted returns each word between backquotes.
func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "`" + w + "`"
	}
	return out
}
