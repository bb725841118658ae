package syntax

import (
	"errors"
	"io"
	"math"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// grammar holds a parser for each struct that is parsed on its own: the declarations, and the
// structs that the rules of rules.go choose between.
type grammar struct {
	meter *work.Meter // nil for no limits

	traits   func() *participle.Parser[Interface] // parses an interface
	nodeType func() *participle.Parser[Node]
	edgeType func() *participle.Parser[Edge]
	query    func() *participle.Parser[Query]

	read       func() *participle.Parser[Read]
	mutation   func() *participle.Parser[Mutation]
	insert     func() *participle.Parser[Insert]
	update     func() *participle.Parser[Update]
	delete     func() *participle.Parser[Delete]
	matchBlock func() *participle.Parser[MatchBlock]
	listBlock  func() *participle.Parser[ListBlock]

	binding   func() *participle.Parser[Binding]
	not       func() *participle.Parser[Not]
	exists    func() *participle.Parser[Exists]
	any       func() *participle.Parser[Any]
	all       func() *participle.Parser[All]
	optional  func() *participle.Parser[Optional]
	text      func() *participle.Parser[TextClause]
	traversal func() *participle.Parser[Traversal]
	filter    func() *participle.Parser[Filter]
	null      func() *participle.Parser[NullTest]
}

// newGrammar returns a grammar. The rules of the grammar count their steps on a meter.
func newGrammar(m *work.Meter) *grammar {
	g := &grammar{meter: m}
	operands := participle.ParseTypeWith(g.parseOperand)
	values := participle.ParseTypeWith(g.parseFactor) // for schemas, in which values have no operators
	clauses := participle.ParseTypeWith(g.parseClause)
	members := participle.Union[Member](&ListConstraint{}, &RangeConstraint{}, &CheckConstraint{}, &Property{})
	bodies := participle.ParseTypeWith(g.parseBody)
	statements := participle.ParseTypeWith(g.parseStatement)
	written := participle.ParseTypeWith(g.parseWritten)

	g.traits = build[Interface](values)
	g.nodeType = build[Node](members, values)
	g.edgeType = build[Edge](members, values)
	g.query = build[Query](bodies, operands)

	g.read = build[Read](clauses, operands)
	g.mutation = build[Mutation](statements, operands)
	g.insert = build[Insert](written)
	g.update = build[Update](written)
	g.delete = build[Delete](written)
	g.matchBlock = build[MatchBlock](statements, clauses, operands)
	g.listBlock = build[ListBlock](statements, operands)

	g.binding = build[Binding](operands)
	g.not = build[Not](clauses)
	g.exists = build[Exists](clauses)
	g.any = build[Any](clauses)
	g.all = build[All](clauses)
	g.optional = build[Optional](clauses)
	g.text = build[TextClause](operands)
	g.traversal = build[Traversal]()
	g.filter = build[Filter](operands)
	g.null = build[NullTest]()
	return g
}

// plainGrammar has no meter and is safe for concurrent use.
var plainGrammar = newGrammar(nil)

// unmetered is the greatest number of tokens in a declaration that is parsed without a meter. It is
// small enough that parsing stops within about 10 ms after the context ends. It is large enough
// that grammarFor spends only a small part of the parse time on making grammars.
const unmetered = 8192

// grammarFor returns the grammar for a declaration of n tokens. If there is a meter, a long
// declaration gets a grammar of its own that counts on the meter, because the library passes no
// context to the rules. Making a grammar takes about as long as parsing 1,000 to 2,000 tokens.
func grammarFor(m *work.Meter, n int) *grammar {
	if m == nil || n <= unmetered {
		return plainGrammar
	}
	return newGrammar(m)
}

// The library limits a repetition to a million items by default. A valid list can be longer.
func init() { participle.MaxIterations = math.MaxInt }

// build makes a parser that never backtracks. It therefore reports an error where it occurs and
// takes linear time. Where one token is not enough to decide, the grammars have lookahead
// groups. The parser is built at its first use, so that programs that parse nothing do not pay
// for it.
func build[G any](opts ...participle.Option) func() *participle.Parser[G] {
	return sync.OnceValue(func() *participle.Parser[G] {
		return participle.MustBuild[G](append(opts, participle.Lexer(definition{}), participle.UseLookahead(0))...)
	})
}

// The parsers of the declarations, for parseOne.
func interfaceOf(g *grammar) *participle.Parser[Interface] { return g.traits() }
func nodeOf(g *grammar) *participle.Parser[Node]           { return g.nodeType() }
func edgeOf(g *grammar) *participle.Parser[Edge]           { return g.edgeType() }
func queryOf(g *grammar) *participle.Parser[Query]         { return g.query() }

// definition tells the grammars the names of the tokens. The parsers only receive tokens from scan,
// so Lex is never called.
type definition struct{}

// Symbols implements [lexer.Definition].
func (definition) Symbols() map[string]lexer.TokenType { return symbols }

// Lex implements [lexer.Definition].
func (definition) Lex(string, io.Reader) (lexer.Lexer, error) {
	return nil, errors.ErrUnsupported
}

// tokenList passes the tokens of a declaration to the library, and after them only the end token.
type tokenList struct {
	meter  *work.Meter // counts the tokens
	tokens []Token     // the tokens that Next has not returned
	end    Token       // the end token
}

// Next implements [lexer.Lexer].
func (l *tokenList) Next() (Token, error) {
	if len(l.tokens) == 0 {
		return l.end, nil
	}
	l.meter.Step(1)
	t := l.tokens[0]
	l.tokens = l.tokens[1:]
	return t, nil
}

// peeking returns a lexer over the tokens. The lexer's end-of-file token is right after the last
// token.
func peeking(m *work.Meter, tokens []Token) *lexer.PeekingLexer {
	last := tokens[len(tokens)-1]
	end := endOf(last)
	lex, _ := lexer.Upgrade(&tokenList{meter: m, tokens: tokens, end: lexer.EOFToken(lexer.Position{
		Filename: last.Pos.Filename, Offset: end.Offset, Line: end.Line, Column: end.Column,
	})})
	return lex
}
