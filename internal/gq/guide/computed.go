package guide

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// computedColumn returns a read with a column that is computed from a number or, if the schema has
// none, from a text.
func computedColumn(s *catalog.Schema) string {
	if n, p := find(s, isNumber); n != nil {
		v := variable(n)
		place := v + "." + p.Name
		return query("", []string{v + ": " + n.Name}, returns(v+".id", place+" / 2 as half", "coalesce("+place+", 0) as known"), "order { half desc }", limit20)
	}
	n := firstNode(s)
	if n == nil {
		return ""
	}
	v := variable(n)
	return query("", []string{v + ": " + n.Name}, returns("string("+v+".id) + \"!\" as loud"), limit20)
}

// computedFilter returns a read that keeps entities with a time in the last days or, if the schema
// has no time, with a condition on a text.
func computedFilter(s *catalog.Schema) string {
	if n, p := find(s, func(t value.Type) bool { return t.Kind == value.DateTime && !t.List }); n != nil {
		v := variable(n)
		return query("$days: I32", []string{v + ": " + n.Name, v + "." + p.Name + " > now() - days($days)"}, returns(v+".id"), limit20)
	}
	n, p := find(s, isText)
	if n == nil {
		return ""
	}
	v := variable(n)
	return query("$text: String", []string{v + ": " + n.Name, "lower(" + v + "." + p.Name + ") = lower($text)"}, returns(v+".id"), limit20)
}

// truthColumns returns a read with a block as a column or, if the schema has no edge, with a test for
// null as a column.
func truthColumns(s *catalog.Schema) string {
	if e := anyEdge(s); e != nil {
		x := endsOf(s, e)
		return query("", []string{x.a + ": " + e.From}, returns(x.a+".id", "exists { "+x.a+" "+EdgeName(e)+" $_ } as linked"), "order { linked }", limit20)
	}
	n, p := find(s, func(t value.Type) bool { return t.Nullable && t.Kind != value.Blob })
	if n == nil {
		return ""
	}
	v := variable(n)
	return query("", []string{v + ": " + n.Name}, returns(v+".id", "("+v+"."+p.Name+" is null) as unknown"), "order { unknown }", limit20)
}
