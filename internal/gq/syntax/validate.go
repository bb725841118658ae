package syntax

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// Small returns the value of an Int token that is a length or a number of hops. It reports
// whether the value is between 0 and 2^31-1.
func Small(t Token) (int, bool) {
	n, err := strconv.ParseInt(t.Value, 10, 32)
	return int(n), err == nil && n >= 0
}

// Large returns the value of an Int token that is a number of rows. It reports whether the value
// is between 0 and 2^63-1.
func Large(t Token) (int64, bool) {
	n, err := strconv.ParseInt(t.Value, 10, 64)
	return n, err == nil && n >= 0
}

// checkDecl checks the rules that the grammar does not express. It reports whether the
// declaration satisfies them.
func (p *parser) checkDecl(d Decl) bool {
	before := p.faultCount
	switch d := d.(type) {
	case *Interface:
		for _, prop := range d.Properties {
			p.property(prop)
		}
	case *Node:
		p.annotations(d.Annotations)
		p.members(d.Members)
	case *Edge:
		for _, c := range d.Cards {
			p.checkSmall(c.Min)
			if c.Max != nil {
				p.checkSmall(*c.Max)
			}
		}
		p.annotations(d.Annotations)
		p.members(d.Members)
	}
	return p.faultCount == before
}

// members checks the properties among the members of a declaration.
func (p *parser) members(ms []Member) {
	for _, m := range ms {
		if prop, ok := m.(*Property); ok {
			p.property(prop)
		}
	}
}

// property checks the type and the annotations of a property.
func (p *parser) property(prop *Property) {
	p.meter.Step(1)
	p.checkType(prop.Type)
	p.annotations(prop.Annotations)
}

// annotations checks that each argument is a literal or a name.
func (p *parser) annotations(as []*Annotation) {
	for _, a := range as {
		for _, arg := range a.Args {
			if _, ok := arg.Literal.(*Literal); arg.Literal != nil && !ok {
				p.reportUnexpected(arg.Literal, "a literal or a name", inAnnotation)
			}
		}
	}
}

// checkType checks the names and lengths in a type.
func (p *parser) checkType(t *Type) {
	switch {
	case t.Record != nil:
		p.fault(UnknownScalar, t.Span(), "declare a node type for the records, and an edge to it", "a property cannot be a list of records")
	case t.List != nil && t.List.Value == "Decimal":
		p.checkDecimal(t, t.ElemDim, t.ElemScale)
	case t.List != nil && t.ElemDim != nil:
		p.fault(UnknownScalar, t.Span(), "only a Decimal in a list takes numbers", "%s with numbers", t.List.Value)
	case t.List != nil:
		p.checkScalar(*t.List)
	case t.EnumEnd != nil:
	case t.Name.Value == "Decimal":
		p.checkDecimal(t, t.Dim, t.Scale)
	case t.Scale != nil:
		p.fault(UnknownScalar, t.Span(), "only Decimal takes two numbers", "%s with two numbers", t.Name.Value)
	case t.Name.Value == "Vector":
		if t.Dim == nil {
			p.fault(UnknownScalar, t.Span(), "write Vector(384)", "Vector without a length")
			return
		}
		p.checkSmall(*t.Dim)
	case t.Dim != nil:
		p.fault(UnknownScalar, t.Span(), "only Vector takes a length", "%s with a length", t.Name.Value)
	default:
		p.checkScalar(t.Name)
	}
}

// checkDecimal checks the precision and the scale of a Decimal.
func (p *parser) checkDecimal(t *Type, precision, scale *Token) {
	if precision == nil || scale == nil {
		p.fault(UnknownScalar, t.Span(), "write Decimal(12, 2): 12 digits, 2 of them after the point", "Decimal without a precision and a scale")
		return
	}
	n, okN := Small(*precision)
	m, okM := Small(*scale)
	if !okN || !okM || !value.IsDecimal(n, m) {
		p.fault(UnknownScalar, t.Span(), "give 1 to 38 digits, and no more after the point than these",
			"there is no Decimal(%s, %s)", precision.Value, scale.Value)
	}
}

// checkScalar reports a type name that is not a scalar type.
func (p *parser) checkScalar(t Token) {
	if _, ok := value.KindOf(t.Value); ok {
		return
	}
	help := ""
	if !p.faultsFull() {
		help = scalarHelp(t.Value)
	}
	if len(p.keywords) > 1 && help == scalarList {
		help += "; to refer to another node, declare an edge, as in edge Knows: Person -> Person"
	}
	p.fault(UnknownScalar, SpanOf(t), help, "unknown scalar type %s", t.Value)
}

// scalarNames lists the names of the scalar types.
var scalarNames = func() []string {
	var names []string
	for _, k := range value.Kinds() {
		if k != value.Vector && k != value.Decimal { // these take numbers, and have a help of their own
			names = append(names, k.String())
		}
	}
	return names
}()

// foreignScalars maps scalar names of other languages, in lower case, to ours. It lists only names
// that are too different from the right type to be found by edit distance.
var foreignScalars = map[string]string{
	"int": "I64 or I32", "integer": "I64 or I32", "long": "I64", "bigint": "I64", "short": "I32", "int32": "I32", "int64": "I64",
	"uint": "U64 or U32", "uint32": "U32", "uint64": "U64", "number": "F64 or I64", "float": "F64 or F32", "float32": "F32",
	"float64": "F64", "double": "F64", "decimal": "Decimal(12, 2)", "numeric": "Decimal(12, 2)", "money": "Decimal(12, 2)", "real": "F64", "boolean": "Bool",
	"text": "String", "str": "String", "char": "String", "varchar": "String", "id": "String", "uuid": "String", "json": "String",
	"timestamp": "DateTime", "time": "DateTime", "bytes": "Blob", "binary": "Blob", "vector": "Vector(384)", "embedding": "Vector(384)",
}

// checkSmall checks that an integer is less than 2^31.
func (p *parser) checkSmall(t Token) {
	if _, ok := Small(t); !ok {
		p.fault(NumberTooLarge, SpanOf(t), "", "%s is outside the range 0 to 2147483647", t.Value)
	}
}

// checkQuery checks the rules that the grammar does not express. It reports whether the query
// satisfies them.
func (p *parser) checkQuery(q *Query) bool {
	before := p.faultCount
	for _, prm := range q.Params {
		p.param(prm)
	}
	switch b := q.Body.(type) {
	case *Read:
		p.clauses(b.Match)
		for _, pr := range b.Returns {
			p.operand(pr.Expr)
		}
		p.clauses(b.Having)
		for _, o := range b.Order {
			p.operand(o.Expr)
		}
		p.limit(b.Limit)
	case *Mutation:
		for _, st := range b.Statements {
			p.statement(st, false)
		}
		for _, pr := range b.Returns {
			p.operand(pr.Expr)
		}
	}
	return p.faultCount == before
}

// limit checks the number in a limit. The limit is nil if it is not written.
func (p *parser) limit(t *Token) {
	if t == nil || t.Type != Int {
		return
	}
	if _, ok := Large(*t); !ok {
		p.fault(NumberTooLarge, SpanOf(*t), "", "limit %s is outside the range 0 to 9223372036854775807", t.Value)
	}
}

// clauses checks the clauses of a match.
func (p *parser) clauses(cs []Clause) {
	p.meter.Step(len(cs))
	for _, c := range cs {
		switch c := c.(type) {
		case *Not, *Exists, *Any, *All, *Optional:
			p.clauses(Block(c))
		case *Binding:
			for _, m := range c.Props {
				p.checkValue(m.Value, inMatchValue)
			}
		case *Traversal:
			if c.Bounds != nil {
				p.checkSmall(c.Bounds.Min)
				if c.Bounds.Max != nil {
					p.checkSmall(*c.Bounds.Max)
				}
			}
		case *TextClause:
			if _, ok := c.Call.(*Call); !ok {
				p.reportUnexpected(c.Call, "a call without an operator after it", inMatch)
				continue
			}
			p.operand(c.Call)
			if c.Op != nil {
				p.operand(c.Right)
			}
		case *Filter:
			p.operand(c.Left)
			if c.Null == nil {
				p.operand(c.Right)
			}
		}
	}
}

// checkValue checks that a value is a literal, a parameter or now(), or computed from them. The
// argument `in` is the setting of the value, such as inWriteValue.
func (p *parser) checkValue(o Operand, in string) { p.checkValueWithin(o, in, maxDepth) }

// checkValueWithin is checkValue for a value that may have at most the given depth.
func (p *parser) checkValueWithin(o Operand, in string, depth int) { p.checkPart(o, in, depth, nil) }

// checkPart is like checkValueWithin, but the value may also contain the operands for which the
// function `also` returns true. The function `also` may be nil.
func (p *parser) checkPart(o Operand, in string, depth int, also func(Operand) bool) {
	p.meter.Step(1)
	if depth == 0 {
		p.reportTooDeep(o)
		return
	}
	if also != nil && also(o) {
		return
	}
	switch o := o.(type) {
	case *Literal, *VarRef, *Now, *ActorRef:
	case *Condition, *Subquery:
		p.reportUnexpected(o, "a literal, a $parameter or now()", in)
	case *Binary, *Comparison:
		for _, part := range parts(o) {
			p.checkPart(part, in, depth-1, also)
		}
	case *Call:
		if !slices.Contains(Functions, o.Name.Value) || !computes(o.Name.Value) {
			p.reportUnexpected(o, "a literal, a $parameter or now()", in)
			return
		}
		for _, a := range o.Args {
			p.checkPart(a, in, depth-1, also)
		}
	case *PropRef, *AliasRef, *NodeKey, *FieldRef, *OriginRef:
		p.reportUnexpected(o, "a literal, a $parameter or now()", in)
	}
}

// computes reports whether a function computes its result from its arguments alone.
func computes(name string) bool {
	return plan.FunctionNamed(name) != nil || slices.Contains(plan.Units(), name)
}

// parts returns the operands on both sides of an operator or a comparison.
func parts(o Operand) []Operand {
	switch o := o.(type) {
	case *Binary:
		return []Operand{o.Left, o.Right}
	case *Comparison:
		if o.Null != nil {
			return []Operand{o.Left}
		}
		return []Operand{o.Left, o.Right}
	case *Literal, *VarRef, *PropRef, *AliasRef, *Now, *ActorRef, *OriginRef, *Call, *Condition, *NodeKey, *Subquery, *FieldRef:
	}
	return nil
}

// maxDepth bounds the depth of an operand: functions, operators and comparisons within each other.
const maxDepth = 256

// operand checks that an operand is not too deep and that the functions in it are known.
func (p *parser) operand(o Operand) { p.operandWithin(o, maxDepth) }

// reportTooDeep reports a part of an expression that is nested more than maxDepth levels deep.
func (p *parser) reportTooDeep(o Operand) {
	p.fault(TooDeep, o.Source().Span(), "nest fewer functions and operators", "functions and operators are nested more than %d levels deep", maxDepth)
}

// operandWithin is the method operand for an operand that may have at most the given depth.
func (p *parser) operandWithin(o Operand, depth int) {
	p.meter.Step(1)
	if depth == 0 {
		p.reportTooDeep(o)
		return
	}
	for _, part := range parts(o) {
		p.operandWithin(part, depth-1)
	}
	if block, ok := o.(*Condition); ok {
		p.clauses(Block(block.Block))
	}
	if s, ok := o.(*Subquery); ok {
		p.subquery(s)
	}
	call, ok := o.(*Call)
	if !ok {
		return
	}
	if !slices.Contains(Functions, call.Name.Value) {
		help, known := foreignFunctions[strings.ToLower(call.Name.Value)]
		if !known {
			help = diag.DidYouMean(call.Name.Value, Functions)
		}
		p.fault(UnknownCall, SpanOf(call.Name), help, "unknown function %s", call.Name.Value)
	}
	for _, a := range call.Args {
		p.operandWithin(a, depth-1)
	}
}

// foreignFunctions maps functions of other languages, in lower case, to the help for a call of them.
var foreignFunctions = map[string]string{
	"tolower": "write lower(text)", "lcase": "write lower(text)", "toupper": "write upper(text)", "ucase": "write upper(text)",
	"len": "write length(text) or size(list)", "char_length": "write length(text)", "character_length": "write length(text)", "strlen": "write length(text)",
	"cardinality": "write size(list)", "array_length": "write size(list)", "substr": "write substring(text, start, count), with positions from 0", "mid": "write substring(text, start, count), with positions from 0",
	"left": "write substring(text, 0, count)", "right": "write substring(text, length(text) - count, count)",
	"concat": "write a + b", "ifnull": "write coalesce(a, b)", "isnull": "write coalesce(a, b)", "nvl": "write coalesce(a, b)", "iif": "write if(condition, a, b)",
	"ceiling": "write ceil(number)", "trunc": "write int(number)", "mod": "write a % b",
	"tostring": "write string(value)", "str": "write string(value)", "tointeger": "write int(value)", "toint": "write int(value)", "tofloat": "write float(value)", "cast": "write string(value), int(value), float(value) or date(value)",
	"datediff": "write days_between(from, to)", "date_diff": "write days_between(from, to)", "timestampdiff": "write seconds_between(from, to)", "age": "write days_between(from, to)",
	"date_trunc": "write date(time) for the day; year(time) and month(time) return parts of it", "extract": "write year(time), month(time), day(time), hour(time) or weekday(time)", "date_part": "write year(time), month(time), day(time), hour(time) or weekday(time)",
	"dayofweek": "write weekday(time), from 1 for Monday", "current_timestamp": "write now()", "current_date": "write date(now())", "today": "write date(now())", "getdate": "write now()", "timestamp": "write now(), or a datetime(\"…\")",
	"interval": "write now() + days(30), or hours, minutes or seconds", "labels": "write type(n)", "label": "write type(n)", "to_string": "write string(value)", "to_lower": "write lower(text)", "to_upper": "write upper(text)",
	"array_agg": "write collect($p.name)", "group_concat": "write collect($p.name)", "string_agg": "write collect($p.name)", "list": "write collect($p.name)",
	"shortestpath": shortestForm, "allshortestpaths": shortestForm, "nodes": "bind the walk, as in $p $w:knows{1,6} $q, and write $w.nodes",
	"nullif": "write if(a != b, a)", "exists": "write exists { … }", "case": "write if(condition, a, b)", "greatest": "write if(a > b, a, b)", "least": "write if(a < b, a, b)",
}

// reportUnexpected reports that the operand `o` is where the grammar wants something else. `in`
// is the setting for the hint.
func (p *parser) reportUnexpected(o Operand, what, in string) {
	r := o.Source()
	help := ""
	if !p.faultsFull() {
		help, _ = hintFor(place{found: r.Tokens[0], after: r.Tokens[1:], in: in, opener: -1, closed: -1})
	}
	p.fault(Unexpected, r.Span(), help, "unexpected %s, want %s", quoteToken(r.Tokens[0]), what)
}
