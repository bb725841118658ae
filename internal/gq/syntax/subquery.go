package syntax

import "slices"

// Subquery is a block with a value, as an operand: an aggregate over the matches of its clauses, or
// the first row or a list of the rows that they yield. The grammar accepts each keyword with every form
// of `return`; the checker reports the combinations that do not fit.
type Subquery struct {
	Range
	Keyword  Token         `parser:"@('count' | 'sum' | 'min' | 'max' | 'avg' | 'first' | 'collect') '{'"`
	Match    []Clause      `parser:"( (?! 'return') @@ )+"`               // the clauses before `return`
	Returns  []*Projection `parser:"( 'return' ( '{' ( @@ ','? )+ '}'"`   // the fields of a record
	Distinct *Token        `parser:"| @'distinct'?"`                      // nil if it is not written
	Value    Operand       `parser:"  @@ )"`                              // the argument of an aggregate; nil without one
	Order    []*Ordering   `parser:"( 'order' '{' @@ ( ',' @@ )* '}' )?"` // the sort keys in order
	Limit    *Token        `parser:"( 'limit' @Int )? )? '}'"`            // nil for no limit
}

// FieldRef is a field of a column that is a record, such as latest.on.
type FieldRef struct {
	Range
	Column, Field Token // the names of the column and of the field
}

// operand marks the types that are an [Operand].
func (*Subquery) operand() {}
func (*FieldRef) operand() {}

// SubqueryKeywords lists the keywords that start a subquery.
var SubqueryKeywords = []string{"count", "sum", "min", "max", "avg", "first", "collect"}

// startsSubquery reports whether the next tokens start a subquery.
func startsSubquery(next [4]Token) bool {
	return next[0].Type == Name && next[1].Value == "{" && slices.Contains(SubqueryKeywords, next[0].Value)
}

// Results returns the operands of a subquery outside of its clauses: its value or its columns, and its
// sort keys.
func (s *Subquery) Results() []Operand {
	var list []Operand
	if s.Value != nil {
		list = append(list, s.Value)
	}
	for _, p := range s.Returns {
		list = append(list, p.Expr)
	}
	for _, o := range s.Order {
		list = append(list, o.Expr)
	}
	return list
}

// subquery checks the parts of a subquery.
func (p *parser) subquery(s *Subquery) {
	p.clauses(s.Match)
	for _, o := range s.Results() {
		p.operand(o)
	}
	if s.Limit != nil {
		if _, ok := Large(*s.Limit); !ok {
			p.fault(NumberTooLarge, SpanOf(*s.Limit), "", "limit %s is outside the range 0 to 9223372036854775807", s.Limit.Value)
		}
	}
}
