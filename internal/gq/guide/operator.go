package guide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

var (
	equality = []plan.Op{plan.Eq, plan.Ne, plan.In}                                     // for types without an order
	order    = []plan.Op{plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge, plan.In} // for types with an order
)

// Operators lists the operators that a condition can apply to a property of the type: comparison
// operators as they are written, and functions with an open parenthesis.
func Operators(t value.Type) []string {
	var ops []plan.Op
	var functions []string
	switch {
	case !t.Kind.IsComparable():
	case t.List:
		ops = []plan.Op{plan.Contains}
	case t.Enum != nil, t.Kind == value.Bool:
		ops = equality
	case t.Kind == value.String:
		ops = append(slices.Clone(order), plan.Contains, plan.StartsWith, plan.Matches)
		functions = []string{"search(", "match_text(", "fuzzy("}
	default:
		ops = order
	}
	names := make([]string, 0, len(ops)+len(functions))
	for _, op := range ops {
		names = append(names, op.String())
	}
	return append(names, functions...)
}

// Rankings lists the functions that rank nodes by a property of the type, in return and in
// order.
func Rankings(t value.Type) []string {
	switch {
	case isText(t):
		return []string{"bm25"}
	case isVector(t):
		return []string{"nearest"}
	}
	return nil
}

// Filter returns a condition on a property of a variable, such as `$p.age >= $age`, and the
// parameter that it needs, such as `$age: I32`. Both are empty if the property does not take the
// operator.
func Filter(variable string, p *catalog.Property, operator string) (condition, param string) {
	if !slices.Contains(Operators(p.Type), operator) {
		return "", ""
	}
	place, name := variable+"."+p.Name, "$"+p.Name
	param = name + ": " + paramType(p.Type)
	if p.Type.List {
		param = name + ": " + paramType(p.Type.Elem())
	}
	if operator == plan.In.String() {
		param = name + ": [" + paramType(p.Type) + "]"
	}
	if function, ok := strings.CutSuffix(operator, "("); ok {
		return fmt.Sprintf("%s(%s, %s)", function, place, name), param
	}
	return place + " " + operator + " " + name, param
}

// Usual returns the operator that a reader most likely wants for a property, or "" if it takes
// none.
func Usual(t value.Type) string {
	ops := Operators(t)
	if len(ops) == 0 {
		return ""
	}
	if isOrdered(t) {
		return plan.Ge.String()
	}
	return ops[0]
}
