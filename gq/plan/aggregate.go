package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// AggFunc is an aggregate function. Plans encode its number, so a number never gets
// another meaning.
type AggFunc uint8

// The aggregate functions.
const (
	Count AggFunc = 0 // number of values or rows
	Sum   AggFunc = 1 // sum of numbers
	Avg   AggFunc = 2 // mean of numbers
	Min   AggFunc = 3 // least value
	Max   AggFunc = 4 // greatest value
	// Median is the middle one of the sorted values. Of an even number of values, it is the
	// mean of the two in the middle, rounded once. NaN sorts last.
	Median AggFunc = 5
	// Collect is the list of the values, in the order of the ids that break ties between rows; see
	// Read.Ties. A list of nodes is a column of records, or the argument of Size.
	Collect AggFunc = 6
)

// MaxCollected is the maximum number of values that Collect may gather in one group. A read that gathers
// more fails.
const MaxCollected = 10_000

// Aggregate describes an aggregate function to the checker, the engines, the generators and
// the documentation. An engine adds the evaluation. Every aggregate ignores nulls, except
// that count of a whole node counts rows.
type Aggregate struct {
	Func AggFunc   // identifies the function
	Name string    // in the language
	Arg  *Argument // what the argument may be
	// Result returns the type of the result for an argument of a type that Arg accepts. The type is
	// nullable if the result for a group without values is null; otherwise that result is 0 or an empty list.
	Result func(arg value.Type) value.Type
	Member bool // the result is one of the values of the argument
	// Distinct is set if the argument may begin with `distinct`, so that equal values count once.
	Distinct bool
	// Block is true if the aggregate may have a block over whose matches it computes, as in count {
	// $m replyOf $p }.
	Block bool
	Doc   string // a verb phrase whose subject is the aggregate: "adds the values"
}

// Argument describes the arguments that an aggregate accepts.
type Argument struct {
	Text    string                // for messages: "want a number"
	Nodes   bool                  // accepts whole nodes
	accepts func(value.Type) bool // reports whether values of a type are accepted
}

// Accepts reports whether an aggregate accepts values of a type.
func (a *Argument) Accepts(t value.Type) bool { return a.accepts(t) }

var (
	anything = &Argument{"anything bound", true, func(value.Type) bool { return true }}                                                            // argument of count
	number   = &Argument{"a number", false, isNumberOrDecimal}                                                                                     // argument of sum and avg
	middling = &Argument{"an integer, a float or a Decimal", false, isNumberOrDecimal}                                                             // argument of median
	gathered = &Argument{"a scalar or a node", true, func(t value.Type) bool { return !t.List && t.Kind != value.Blob && t.Kind != value.Vector }} // argument of collect
	sortable = &Argument{extremes(), false, func(t value.Type) bool { return !t.List && t.Kind.HasExtremes() }}                                    // argument of min and max
)

// extremes describes the values that the aggregates min and max accept.
func extremes() string {
	names := []string{"a number"}
	for _, k := range value.Kinds() {
		if k.HasExtremes() && !k.IsNumeric() {
			names = append(names, "a "+k.String())
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Aggregates lists the aggregates in the order of their numbers.
var Aggregates = []Aggregate{
	{Func: Count, Name: "count", Arg: anything, Distinct: true, Block: true, Result: always(value.Of(value.I64)),
		Doc: "counts the rows that bind a node variable, or the rows in which a property is not null"},
	{Func: Sum, Name: "sum", Arg: number, Block: true, Result: sumOf,
		Doc: "adds the values, rounding only the final sum"},
	{Func: Avg, Name: "avg", Arg: number, Block: true, Result: always(value.Of(value.F64).Optional()),
		Doc: "divides the sum by the number of values"},
	{Func: Min, Name: "min", Arg: sortable, Result: value.Type.Optional, Member: true, Block: true,
		Doc: "returns the smallest value"},
	{Func: Max, Name: "max", Arg: sortable, Result: value.Type.Optional, Member: true, Block: true,
		Doc: "returns the largest value"},
	{Func: Median, Name: "median", Arg: middling, Result: always(value.Of(value.F64).Optional()),
		Doc: "returns the middle value, or the mean of the two middle values if the number of values is even"},
	{Func: Collect, Name: "collect", Arg: gathered, Distinct: true, Result: listOf,
		Doc: "returns a list of the values, or of the nodes as objects; more than 10,000 in one group are an error"},
}

// listOf returns the type of a list of values of a type. A whole node is a record, so it has no kind,
// and neither has a list of nodes.
func listOf(t value.Type) value.Type { return value.Type{Kind: t.Kind, List: true, Dim: t.Dim} }

// CollectedNodes returns the argument of an aggregate that makes a list of nodes: a Whole, or an EndNode for the nodes at
// an end of edges. It reports false for any other aggregate.
func (a Agg) CollectedNodes() (Expr, bool) {
	_, whole := a.Arg.(Whole)
	_, end := a.Arg.(EndNode)
	if a.Func != Collect || !whole && !end {
		return nil, false
	}
	return a.Arg, true
}

// sumOf returns the type of the sum of numbers.
func sumOf(t value.Type) value.Type {
	if t.Kind == value.Decimal {
		return value.DecimalOf(value.MaxDigits, t.Scale()).Optional()
	}
	return f64Type.Optional()
}

// always returns a function that returns t for every argument.
func always(t value.Type) func(value.Type) value.Type {
	return func(value.Type) value.Type { return t }
}

// Row returns the description of the function, or nil if there is no such function.
func (f AggFunc) Row() *Aggregate {
	if int(f) < len(Aggregates) {
		return &Aggregates[f]
	}
	return nil
}

// String returns the name of the function in the language.
func (f AggFunc) String() string {
	if row := f.Row(); row != nil {
		return row.Name
	}
	return fmt.Sprintf("aggregate %d", uint8(f))
}

// AggregateNamed returns the aggregate with a name, or nil if there is none.
func AggregateNamed(name string) *Aggregate {
	i := slices.IndexFunc(Aggregates, func(a Aggregate) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &Aggregates[i]
}

// AggregateNames returns the names of the aggregates.
func AggregateNames() []string {
	var names []string
	for _, a := range Aggregates {
		names = append(names, a.Name)
	}
	return names
}
