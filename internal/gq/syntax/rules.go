package syntax

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file has the rules of the grammar that are parsed by hand. All other rules are tags on the
// structs of schema.go, query.go and operand.go, which the library participle reads. The rules in
// this file are:
//
//   - The choice between clauses. It needs up to four tokens. A union of participle would try one
//     struct after another and allocate each.
//   - Operands. Most of a text consists of operands, and a struct with tags would cost about 20
//     allocations and 1.2 KB more for each. Operators with precedence belong here too.
//   - Enum values. They consist of tokens without a gap, which tags cannot express.
//
// Rules and structs call each other: participle calls parseClause and parseOperand where a field
// has the type Clause or Operand, and a rule calls parsePart to parse a struct. Participle takes no
// context, so these two rules count the steps of a parse on the meter.

// The productions of the rules, in EBNF. ebnf.go prints them together with the productions that
// participle derives from the structs.
// TestGrammarsMatchParser checks them.
const (
	clauseGrammar  = `Clause = Binding | Not | Exists | Any | All | Optional | TextClause | Traversal | Filter .`
	operandGrammar = `Operand = Term (("+" | "-") Term)* .`
	// valueGrammar and valueCallGrammar are the productions of operands in a schema, which has no
	// operators.
	valueGrammar      = `Operand = Now | Call | PropRef | VarRef | Literal | AliasRef .`
	valueCallGrammar  = `Call = <name> "(" Operand ("," Operand)* ")" .`
	termGrammar       = `Term = Factor (("*" | "/" | "%") Factor)* .`
	factorGrammar     = `Factor = "(" Comparison ")" | Condition | Subquery | Now | ActorRef | OriginRef | Call | PropRef | VarRef | Literal | FieldRef | AliasRef .`
	conditionGrammar  = `Condition = Not | Exists | Any | All .`
	comparisonGrammar = `Comparison = Operand ((<relation> | "contains" | "starts_with" | "in" | "matches") Operand | NullTest)? .`
	callGrammar       = `Call = <name> "(" "distinct"? Comparison ("," Comparison)* ")" .`
	propRefGrammar    = `PropRef = <var> "." <name> .`
	varRefGrammar     = `VarRef = <var> .`
	aliasRefGrammar   = `AliasRef = <name> .`
	fieldRefGrammar   = `FieldRef = <name> "." <name> .`
	nowGrammar        = `Now = "now" "(" ")" .`
	actorGrammar      = `ActorRef = "actor" "(" ")" ("." <name>)? .`
	originGrammar     = `OriginRef = "origin" "(" <var> ")" ("." <name>)? .`
	listGrammar       = `List = "[" (Literal ("," Literal)*)? "]" .`
	enumValueGrammar  = `EnumValue = (<name> | <typename> | <int> | "-")+ .`
)

var literalGrammar = `Literal = <string> | <int> | <float> | "true" | "false" | (("` + strings.Join(literalFunctions, `" | "`) + `") "(" <string> ")") | List .`

// parseClause looks at up to four tokens to decide which clause follows, and parses its struct.
func (g *grammar) parseClause(lex *lexer.PeekingLexer) (Clause, error) {
	g.meter.Step(1)
	next := nextTokens(lex)
	switch {
	case startsBlock(next):
		return g.parseBlock(lex)
	case next[0].Type == Name && next[0].Value == "optional" && next[1].Value == "{":
		return parsePart[Clause](g.optional, lex)
	case next[0].Type == Name && isTextFunction(next[0].Value) && next[1].Value == "(":
		return parsePart[Clause](g.text, lex)
	case next[0].Type == Var && next[1].Value == ":":
		return parsePart[Clause](g.binding, lex)
	case next[0].Type == Var && startsTraversal(next):
		return parsePart[Clause](g.traversal, lex)
	case next[0].Value == "(" && !startsParentheses(next):
		return nil, participle.NextMatch
	case startsOperand(next[0]):
		return parsePart[Clause](g.filter, lex)
	}
	return nil, participle.NextMatch
}

// startsBlock reports whether the next tokens start a `not`, `exists`, `any` or `all` block.
func startsBlock(next [4]Token) bool {
	return next[0].Type == Name && slices.Contains(blockKeywords, next[0].Value) && next[1].Value == "{"
}

// blockKeywords lists the keywords of the blocks that are conditions.
var blockKeywords = []string{"not", "exists", "any", "all"}

// parseBlock parses a block that is a condition. The caller has checked that one starts at the next
// token.
func (g *grammar) parseBlock(lex *lexer.PeekingLexer) (Clause, error) {
	switch lex.Peek().Value {
	case "not":
		return parsePart[Clause](g.not, lex)
	case "exists":
		return parsePart[Clause](g.exists, lex)
	case "any":
		return parsePart[Clause](g.any, lex)
	}
	return parsePart[Clause](g.all, lex)
}

// isTextFunction reports whether a clause may start with a call of the function.
func isTextFunction(name string) bool {
	return name == "search" || name == "match_text" || name == "fuzzy"
}

// startsTraversal distinguishes a traversal from a filter that starts with a bare variable. An edge
// may have the same name as an operator, such as `in`. After such a name, only bounds, another edge after
// a bar, or a variable without a property make the clause a traversal.
func startsTraversal(next [4]Token) bool {
	switch {
	case next[1].Type == Var:
		return true
	case next[1].Value == "<":
		return next[2].Type == Name && (next[3].Value == ">" || next[3].Value == "|")
	case next[1].Type != Name:
		return false
	case slices.Contains(wordOperators, next[1].Value):
		return next[2].Value == "{" || next[2].Value == "|" || next[2].Type == Var && next[3].Value != "."
	}
	return true
}

// wordOperators lists the words that start a filter when they follow a bare variable.
var wordOperators = []string{"contains", "starts_with", "in", "is", "matches"}

// startsParentheses distinguishes an operand in parentheses from a node pattern of another language,
// such as (p:Person) or ($p)-[:KNOWS]->($q).
func startsParentheses(next [4]Token) bool {
	switch t := next[1]; {
	case t.Type == Var && next[2].Value == ")":
		return next[3].Value != "-" && next[3].Value != "->" && next[3].Value != "<"
	case t.Type == Var:
		return next[2].Value != ":"
	case t.Type == Name && t.Value != "true" && t.Value != "false":
		return next[2].Value == "(" || next[2].Value == "." || next[2].Value == "{" && (slices.Contains(blockKeywords, t.Value) || slices.Contains(SubqueryKeywords, t.Value))
	default:
		return startsOperand(t)
	}
}

// startsOperand reports whether an operand can start with the token.
func startsOperand(t Token) bool {
	switch t.Type {
	case Name, Var, Int, Float, String:
		return true
	}
	return t.Value == "[" || t.Value == "("
}

// parseFactor parses an operand without operators, or an operand in parentheses. If none starts at
// the next token, it returns participle.NextMatch and consumes nothing.
func (g *grammar) parseFactor(lex *lexer.PeekingLexer) (Operand, error) {
	g.meter.Step(1)
	c := cursor{lex, lex.RawCursor()}
	switch t := *lex.Peek(); {
	case t.Value == "(" && t.Type == Punct:
		return g.parseParentheses(c)
	case t.Type == Var:
		return c.variable()
	case t.Type == Name && t.Value != "true" && t.Value != "false":
		return g.parseNamed(c)
	case startsOperand(t):
		return g.parseLiteral(c)
	}
	return nil, participle.NextMatch
}

// parseNamed parses an expression that starts with a name.
func (g *grammar) parseNamed(c cursor) (Operand, error) {
	next := nextTokens(c.PeekingLexer)
	if startsBlock(next) {
		block, err := g.parseBlock(c.PeekingLexer)
		if err != nil {
			return nil, err
		}
		return &Condition{c.consumed(), block}, nil
	}
	if startsSubquery(next) {
		return parsePart[*Subquery](g.subquery, c.PeekingLexer)
	}
	if next[1].Value == "." && next[2].Type == Name {
		column := *c.Next()
		c.Next()
		field := *c.Next()
		return &FieldRef{c.consumed(), column, field}, nil
	}
	if next[1].Value != "(" {
		c.Next()
		return &AliasRef{c.consumed()}, nil
	}
	if next[0].Value == "now" {
		c.Next()
		c.Next()
		if err := c.want(")"); err != nil {
			return nil, err
		}
		return &Now{c.consumed()}, nil
	}
	if next[0].Value == ActorFunction {
		return c.actor()
	}
	if next[0].Value == OriginFunction {
		return c.origin()
	}
	kind, isLiteral := value.KindOfLiteral(next[0].Value)
	if isLiteral && (kind != value.Date || next[2].Type == String && next[3].Value == ")") {
		return g.parseLiteral(c)
	}
	return g.parseCall(c)
}

// parsePart parses a struct with its grammar. It does not require that the text ends there.
func parsePart[I any, G any](p func() *participle.Parser[G], lex *lexer.PeekingLexer) (I, error) {
	n, err := p().ParseFromLexer(lex, partOptions...)
	if err != nil {
		var none I
		return none, err
	}
	return any(n).(I), nil
}

// partOptions let a parser leave tokens after its struct.
var partOptions = []participle.ParseOption{participle.AllowTrailing(true)}

// nextTokens returns the next four tokens. Past the end it repeats the end token.
func nextTokens(lex *lexer.PeekingLexer) (next [4]Token) {
	start := lex.MakeCheckpoint()
	for i := range next {
		next[i] = *lex.Next()
	}
	lex.LoadCheckpoint(start)
	return next
}

// cursor reads tokens, and knows where the node that it reads began.
type cursor struct {
	*lexer.PeekingLexer
	from lexer.RawCursor // start of the node
}

// consumed returns the tokens from the start of the node to the current position.
func (c cursor) consumed() Range { return Range{c.Range(c.from, c.RawCursor())} }

// variable parses a variable or a property of one.
func (c cursor) variable() (Operand, error) {
	v := *c.Next()
	if c.Peek().Value != "." {
		return &VarRef{c.consumed()}, nil
	}
	c.Next()
	prop := *c.Peek()
	if prop.Type != Name {
		return nil, unexpected(prop, "a property name")
	}
	c.Next()
	return &PropRef{c.consumed(), v, prop}, nil
}

// actor parses actor() and the name of a member.
func (c cursor) actor() (Operand, error) {
	c.Next()
	c.Next()
	if err := c.want(")"); err != nil {
		return nil, err
	}
	member, err := c.member("id, groups or the name of a claim")
	return &ActorRef{c.consumed(), member}, err
}

// origin parses origin($x) and the name of a fact.
func (c cursor) origin() (Operand, error) {
	c.Next()
	c.Next()
	v := *c.Peek()
	if v.Type != Var {
		return nil, unexpected(v, "the variable of a node or an edge, as in origin($p).actor")
	}
	c.Next()
	if err := c.want(")"); err != nil {
		return nil, err
	}
	fact, err := c.member("the name of a fact, such as actor or at")
	return &OriginRef{c.consumed(), v, fact}, err
}

// member parses a point and a name, or nothing, and then returns nil. The text says what is expected after the point.
func (c cursor) member(expected string) (*Token, error) {
	if c.Peek().Value != "." {
		return nil, nil
	}
	c.Next()
	name := *c.Peek()
	if name.Type != Name {
		return nil, unexpected(name, expected)
	}
	c.Next()
	return &name, nil
}

// want consumes the next token if it has the given text. Otherwise the error says that the text is
// expected.
func (c cursor) want(text string) error {
	if t := *c.Peek(); t.Value != text {
		return unexpected(t, "`"+text+"`")
	}
	c.Next()
	return nil
}

// parseLiteral parses a literal. The caller has checked that the first token starts one.
func (g *grammar) parseLiteral(c cursor) (Operand, error) {
	t := *c.Next()
	l := &Literal{Text: t.Value}
	switch {
	case t.Type == String:
		l.Kind, l.Text = StringLiteral, Text(t)
	case t.Type == Int:
		l.Kind = IntLiteral
	case t.Type == Float:
		l.Kind = FloatLiteral
	case t.Value == "[":
		return g.parseList(c)
	case t.Value == "true" || t.Value == "false":
		l.Kind = BoolLiteral
	default:
		k, _ := value.KindOfLiteral(t.Value)
		return c.textOf(k)
	}
	l.Range = c.consumed()
	return l, nil
}

// textOf parses the rest of a literal of a kind that is written as a call with a text, such as
// date("2024-05-01").
func (c cursor) textOf(kind value.Kind) (Operand, error) {
	c.Next()
	t := *c.Peek()
	if t.Type != String {
		return nil, unexpected(t, "a string")
	}
	c.Next()
	if err := c.want(")"); err != nil {
		return nil, err
	}
	return &Literal{Range: c.consumed(), Kind: TextLiteral, Of: kind, Text: Text(t)}, nil
}

// parseList parses the rest of a list after its bracket.
func (g *grammar) parseList(c cursor) (Operand, error) {
	l := &Literal{Kind: ListLiteral}
	for c.Peek().Value != "]" {
		if len(l.Elems) > 0 {
			if err := c.want(","); err != nil {
				return nil, err
			}
		}
		at := *c.Peek()
		o, err := required(g.parseFactor(c.PeekingLexer))(at)
		if err != nil {
			return nil, err
		}
		elem, ok := o.(*Literal)
		if !ok {
			return nil, unexpected(at, "a literal")
		}
		l.Elems = append(l.Elems, elem)
	}
	c.Next()
	l.Range = c.consumed()
	return l, nil
}

// unexpected returns the library's error for a token that the grammar does not allow.
func unexpected(t Token, want string) error {
	return &participle.UnexpectedTokenError{Unexpected: t, Expect: want}
}

// Parse consumes the tokens that follow each other without a gap.
func (e *EnumValue) Parse(lex *lexer.PeekingLexer) error {
	c := cursor{lex, lex.RawCursor()}
	end := c.Peek().Pos.Offset
	var b strings.Builder
	for t := c.Peek(); enumPart(*t) && t.Pos.Offset == end; t = c.Peek() {
		b.WriteString(t.Value)
		end += len(t.Value)
		c.Next()
	}
	if b.Len() == 0 {
		return participle.NextMatch
	}
	e.Range, e.Text = c.consumed(), b.String()
	return nil
}

// enumPart reports whether the token can be a part of an enum value.
func enumPart(t Token) bool {
	return t.Type == Name || t.Type == TypeName || t.Type == Int || t.Value == "-"
}
