package lint

import "github.com/omnigraph-go/omnigraph/internal/gq/syntax"

// changedMinus reports each minus that subtracts but is written like a sign: directly before a
// number.
func changedMinus(p *queryPass) {
	tokens := p.Syntax.Tokens
	for i := 1; i+1 < len(tokens); i++ {
		p.in.Meter.Step(1)
		minus, number := tokens[i], tokens[i+1]
		if minus.Type != syntax.Punct || minus.Value != "-" || number.Type != syntax.Int && number.Type != syntax.Float ||
			number.Pos.Offset != minus.Pos.Offset+1 {
			continue
		}
		at := syntax.SpanOf(minus)
		at.End = syntax.SpanOf(number).End
		p.report(at, "write - "+number.Value+" to subtract, or put a comma before the minus sign to begin a new column", nil,
			"-%s is subtracted from the operand before it", number.Value)
	}
}
