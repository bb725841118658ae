package syntax

import (
	"math"
	"sync"

	"github.com/alecthomas/participle/v2"

	"github.com/omnigraph-go/omnigraph/gq/work"
)

// grammar holds the parsers of the grammar library. The library knows nothing of contexts. It
// calls parseClause and parseOperand, which count their steps on the meter.
type grammar struct {
	meter *work.Meter // nil for no limits

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

// unmetered is the greatest number of tokens in a declaration that is parsed without a meter.
// Parsing that many tokens takes a few milliseconds.
const unmetered = 2048

// plainGrammar has no meter and is safe for concurrent use.
var plainGrammar = newGrammar()

// spare keeps grammars for reuse, because making one takes longer than parsing a short query.
// One goroutine at a time may use a grammar. grammars is guarded by the mutex.
var spare struct {
	sync.Mutex
	grammars []*grammar
}

// maxSpare bounds the number of grammars in spare.
const maxSpare = 4

// takeGrammar returns a grammar that counts its steps on m. The caller must call giveBack when
// done.
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

// The parsers of a grammar, for parseOne.
func queryOf(g *grammar) func() *participle.Parser[Query]         { return g.query }
func interfaceOf(g *grammar) func() *participle.Parser[Interface] { return g.traits }
func nodeOf(g *grammar) func() *participle.Parser[Node]           { return g.nodeType }
func edgeOf(g *grammar) func() *participle.Parser[Edge]           { return g.edgeType }
