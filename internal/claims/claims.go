// Package claims reads the claims of callers that queries use as actor().NAME: their types in configurations, and their values
// in tokens.
package claims

import (
	"fmt"
	"math"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// Names are the limits of the names of claims, for the reference of a setting.
const Names = "names that queries use after actor(); not id and groups"

const kinds = "String, Bool, I32, I64, F64, Date or DateTime"

// TypeForms describe the type of a claim in a configuration.
var TypeForms = []*strictyaml.Setting{
	{Example: "String", Limits: kinds, Text: "The claim has this type."},
	{Type: strictyaml.List, NotEmpty: true, Example: "[String]", Limits: "one type", Text: "The claim is a list.",
		Each: &strictyaml.Setting{Example: "String", Limits: kinds, Text: "This is the type of the elements."}},
}

// Declare reads the type of a claim from a configuration and adds it to claims. The argument `what` names the setting in faults.
func Declare(claims *plan.Claims, name string, n *strictyaml.Node, what string) {
	text, ok := "", false
	if n.IsList() {
		list, read := n.Texts(what)
		var texts []string
		for _, e := range list {
			texts = append(texts, e.Key)
		}
		text, ok = "["+strings.Join(texts, ", ")+"]", read
	} else {
		text, ok = n.Text(what)
	}
	if !ok {
		return
	}
	if err := claims.Declare(name, text); err != nil {
		n.AtKey().Fault(strictyaml.BadValue, err.Error(), "")
	}
}

// FromJSON returns the value that a decoded claim of a token has as a type. One value counts as a list of it. It reports
// false if the claim has another type.
func FromJSON(v any, t value.Type) (value.Value, bool) {
	if !t.List {
		return scalar(v, t.Kind)
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	elems := make([]value.Value, len(list))
	for i, e := range list {
		if elems[i], ok = scalar(e, t.Kind); !ok {
			return value.Null, false
		}
	}
	return value.OfList(t.Kind, elems), true
}

// scalar returns the value that a decoded claim, or an element of one, has as a kind.
func scalar(v any, k value.Kind) (value.Value, bool) {
	switch v := v.(type) {
	case string:
		return text(v, k)
	case bool:
		return value.OfBool(v), k == value.Bool
	case float64:
		const exact = 1 << 53 // a larger number may have been rounded
		switch {
		case k == value.F64:
			return value.OfF64(v), !math.IsNaN(v) && !math.IsInf(v, 0)
		case k.IsInteger() && v == math.Trunc(v) && math.Abs(v) < exact:
			return value.ParseNumber(fmt.Sprintf("%.0f", v), k)
		}
	}
	return value.Null, false
}

// text returns the value that a text has as a kind.
func text(s string, k value.Kind) (value.Value, bool) {
	switch k {
	case value.String:
		return value.OfString(s), true
	case value.Date:
		d, err := value.ParseDate(s)
		return value.OfDate(d), err == nil
	case value.DateTime:
		d, err := value.ParseDateTime(s)
		return value.OfDateTime(d), err == nil
	}
	return value.Null, false
}

// FromYAML reads the value of a claim with a type from a configuration. The argument `what` names the claim in faults.
func FromYAML(n *strictyaml.Node, what string, t value.Type) (value.Value, bool) {
	if !t.List {
		return fromYAML(n, what, t.Kind)
	}
	nodes, ok := n.List(what)
	elems := make([]value.Value, len(nodes))
	for i, e := range nodes {
		var read bool
		elems[i], read = fromYAML(e, what, t.Kind)
		ok = ok && read
	}
	return value.OfList(t.Kind, elems), ok
}

// fromYAML reads a claim that is no list, or an element of one.
func fromYAML(n *strictyaml.Node, what string, k value.Kind) (value.Value, bool) {
	switch {
	case k == value.Bool:
		b, ok := n.Bool(what)
		return value.OfBool(b), ok
	case k.IsInteger():
		lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
		if k == value.I32 {
			lo, hi = math.MinInt32, math.MaxInt32
		}
		i, ok := n.Int(what, lo, hi)
		return value.OfBits(k, uint64(i)), ok
	}
	s, ok := n.AnyText(what)
	if !ok {
		return value.Null, false
	}
	v, ok := text(s, k)
	if k == value.F64 {
		v, ok = value.ParseNumber(s, k)
	}
	if !ok {
		n.Fault(strictyaml.BadValue, fmt.Sprintf("%s is not a %s", what, k), "write "+map[value.Kind]string{
			value.F64: "a number in quotes, such as \"1.5\"", value.Date: "a date, such as \"2024-05-01\"", value.DateTime: "an instant, such as \"2024-05-01T12:00:00Z\"",
		}[k])
	}
	return v, ok
}
