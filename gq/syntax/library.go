package syntax

import (
	"math"
	"sync"

	"github.com/alecthomas/participle/v2"

	"github.com/omnigraph-go/omnigraph/gq/work"
)

// grammar is the parsers that the grammar library makes. They call back for clauses and
// operands, and the callbacks count to the meter: the library itself knows no context.
type grammar struct {
	meter *work.Meter // nil for none

	query    func() *participle.Parser[Query]
	binding  func() *participle.Parser[Binding]
	traits   func() *participle.Parser[Interface]
	nodeType func() *participle.Parser[Node]
	edgeType func() *participle.Parser[Edge]
}

func newGrammar() *grammar {
	g := &grammar{}
	operands := participle.ParseTypeWith(g.parseOperand)
	members := participle.Union[Member](&ListConstraint{}, &RangeConstraint{}, &CheckConstraint{}, &Property{})
	g.binding = build[Binding](operands)
	g.traits = build[Interface](operands)
	g.nodeType = build[Node](members, operands)
	g.edgeType = build[Edge](members, operands)
	g.query = build[Query](
		operands,
		participle.ParseTypeWith(g.parseClause),
		participle.Union[Body](&Read{}, &Mutation{}),
		participle.Union[Statement](&Insert{}, &Update{}, &Delete{}),
	)
	return g
}

// unmetered is the number of tokens up to which a declaration is parsed without a look
// at the meter: that takes a few milliseconds.
const unmetered = 2048

// plainGrammar has no meter and is safe for concurrent use.
var plainGrammar = newGrammar()

// spare are grammars for one goroutine each: making one takes longer than parsing a
// short query.
var spare struct {
	sync.Mutex
	grammars []*grammar
}

// maxSpare bounds the grammars that are kept.
const maxSpare = 4

// takeGrammar returns a grammar that counts to a meter. The caller gives it back.
func takeGrammar(m *work.Meter) *grammar {
	spare.Lock()
	defer spare.Unlock()
	g := (*grammar)(nil)
	if n := len(spare.grammars); n > 0 {
		g, spare.grammars = spare.grammars[n-1], spare.grammars[:n-1]
	} else {
		g = newGrammar()
	}
	g.meter = m
	return g
}

func (g *grammar) giveBack() {
	g.meter = nil
	spare.Lock()
	defer spare.Unlock()
	if len(spare.grammars) < maxSpare {
		spare.grammars = append(spare.grammars, g)
	}
}

// The library refuses repetitions past a million, which a long but valid list can have.
func init() { participle.MaxIterations = math.MaxInt }

// build makes a parser that never goes back over a token it has taken: an error is
// reported where it is, and parsing takes linear time. What one token does not
// decide, lookahead groups in the grammars do. It is made at its first use, so that
// programs that parse nothing do not pay for it.
func build[G any](opts ...participle.Option) func() *participle.Parser[G] {
	return sync.OnceValue(func() *participle.Parser[G] {
		return participle.MustBuild[G](append(opts, participle.Lexer(definition{}), participle.UseLookahead(0))...)
	})
}

// The parsers of grammars, for parseOne.
func queryOf(g *grammar) func() *participle.Parser[Query]         { return g.query }
func interfaceOf(g *grammar) func() *participle.Parser[Interface] { return g.traits }
func nodeOf(g *grammar) func() *participle.Parser[Node]           { return g.nodeType }
func edgeOf(g *grammar) func() *participle.Parser[Edge]           { return g.edgeType }
