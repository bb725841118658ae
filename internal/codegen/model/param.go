package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// annotate adds the default and the examples of a parameter. It reports a default that the schema
// of the graph does not allow. The argument `bounds` combines the bounds of the parameter and of
// the properties that the query uses it with.
func (b *builder) annotate(p *Param, own *plan.Param, bounds interval, at diag.Span) {
	for _, e := range own.Examples {
		p.Examples = append(p.Examples, jsonOf(e))
	}
	def := own.Default
	if def.IsNull() {
		return
	}
	p.Default = jsonOf(def)
	if def.IsList() {
		return
	}
	if p.Enum != nil && !slices.Contains(p.Enum.Names(), def.Str()) {
		help := cmp.Or(diag.DidYouMean(def.Str(), p.Enum.Names()), "write one of "+strings.Join(p.Enum.Names(), ", "))
		b.fail(BadDefault, at, help, "the @default %q of $%s is not a value of the enum of %s.%s", def.Str(), p.Name, p.Enum.Type, p.Enum.Property)
	}
	if def.Kind().IsNumeric() || def.Kind() == value.Decimal {
		if err := (value.Bounds{Min: bounds.lo, Max: bounds.hi}).Check(def); err != nil {
			b.fail(BadDefault, at, "write another @default", "the schema does not allow the @default of $%s: %v", p.Name, err)
		}
	}
}

// jsonOf returns a value as JSON, in the form that the JSON Schema of its type requires. The value
// must not be null.
func jsonOf(v value.Value) string {
	switch k := v.Kind(); {
	case v.IsList():
		elems := make([]json.RawMessage, len(v.Elems()))
		for i, e := range v.Elems() {
			elems[i] = json.RawMessage(jsonOf(e))
		}
		return plainJSON(elems)
	case k == value.Vector:
		return plainJSON(v.Vector())
	case k.JSON() == value.JSONNum || k.JSON() == value.JSONBool:
		return value.Text(v)
	}
	return plainJSON(value.Text(v))
}

// plainJSON encodes v as JSON. It does not escape the characters <, > and &. It panics if v cannot
// be encoded.
func plainJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("codegen: encode a value: " + err.Error())
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
