package catalog

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Literal is a value that a schema writes down: a scalar, or a list of scalars. It is never null.
type Literal struct{ value.Value }

// Backfill is an expression over the properties of a row. It is evaluated once, when a schema change adds the property
// that has it.
type Backfill struct {
	Text string `json:"text"` // the expression, as the schema writes it
	// Plan is an encoded plan with one update, which assigns the expression to the property and has no predicate. The
	// digest of a schema leaves it out.
	Plan []byte `json:"plan,omitempty"`
}

// literalJSON is the JSON form of a Literal.
type literalJSON struct {
	Kind string   `json:"kind"`           // name of the kind
	Text *string  `json:"text,omitempty"` // the text of a scalar
	List []string `json:"list,omitempty"` // the texts of the elements of a list
}

// MarshalJSON writes the value as text, so that no precision is lost.
func (l Literal) MarshalJSON() ([]byte, error) {
	j := literalJSON{Kind: l.Kind().String()}
	if l.IsList() {
		for _, e := range l.Elems() {
			j.List = append(j.List, literalText(e))
		}
		return json.Marshal(j)
	}
	text := literalText(l.Value)
	j.Text = &text
	return json.Marshal(j)
}

// literalText returns the text of a scalar. Unlike [value.Text] it keeps the sign of a zero, which a write of the default
// stores.
func literalText(v value.Value) string {
	if v.Kind().IsFloat() && v.Float() == 0 && math.Signbit(v.Float()) {
		return "-0.0"
	}
	return value.Text(v)
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (l *Literal) UnmarshalJSON(b []byte) error {
	var j literalJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	kind, ok := value.KindOf(j.Kind)
	if j.Kind == value.Decimal.String() { // a type by itself only with its digits, which the text has here
		kind, ok = value.Decimal, true
	}
	parse := func(text string) value.Value {
		v, valid := parseText(text, kind)
		ok = ok && valid
		return v
	}
	if j.Text != nil && ok {
		l.Value = parse(*j.Text)
	} else if ok {
		elems := make([]value.Value, len(j.List))
		for i, text := range j.List {
			elems[i] = parse(text)
		}
		l.Value = value.OfList(kind, elems)
	}
	if !ok {
		return fmt.Errorf("the default %s is not a valid value of the kind %q", b, j.Kind)
	}
	return nil
}

// parseText parses a text that literalText wrote.
func parseText(text string, kind value.Kind) (value.Value, bool) {
	switch {
	case kind == value.String:
		return value.OfString(text), true
	case kind == value.Bool:
		return value.OfBool(text == "true"), text == "true" || text == "false"
	case kind == value.Decimal:
		_, fraction, _ := strings.Cut(text, ".")
		v, err := value.ParseDecimal(text, value.DecimalOf(value.MaxDigits, min(len(fraction), value.MaxDigits)))
		return v, err == nil
	case kind.IsNumeric():
		return value.ParseNumber(text, kind)
	case kind.HasText():
		v, err := kind.Parse(text)
		return v, err == nil
	}
	return value.Null, false
}

// String writes the value as @default does.
func (l Literal) String() string {
	if l.IsList() {
		words := make([]string, len(l.Elems()))
		for i, e := range l.Elems() {
			words[i] = Literal{e}.String()
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	text := literalText(l.Value)
	switch name := l.Kind().Literal(); {
	case name != "":
		return name + "(" + quote(text) + ")"
	case l.Kind() == value.String:
		return quote(text)
	}
	return text
}

// Filling is what an added property gets in the rows that lack it. It is the Element of a step.
type Filling struct {
	Default  *Literal  `json:"default,omitempty"`
	Backfill *Backfill `json:"backfill,omitempty"`
}

// element implements Element.
func (Filling) element() {}

// Declaration returns the name, the type, and the annotations @default and @backfill of the property, as a schema writes
// them.
func (p *Property) Declaration() string { return p.Name + ": " + spell(p) }

// filling returns what the property gets in rows that lack it.
func (p *Property) filling() Filling { return Filling{p.Default, p.Backfill} }

// String writes the annotations as a schema does. It returns "" if there are none.
func (f Filling) String() string {
	var words []string
	if f.Default != nil {
		words = append(words, "@default("+f.Default.String()+")")
	}
	if f.Backfill != nil {
		words = append(words, "@backfill("+quote(f.Backfill.Text)+")")
	}
	return strings.Join(words, " ")
}

// SameFilling reports whether two properties have equal annotations @default and @backfill.
func SameFilling(a, b *Property) bool {
	sameDefault := a.Default == b.Default || a.Default != nil && b.Default != nil && value.Equal(a.Default.Value, b.Default.Value)
	return sameDefault && (a.Backfill == b.Backfill || a.Backfill != nil && b.Backfill != nil && a.Backfill.Text == b.Backfill.Text)
}

// fills reports whether a property gets a value in rows that lack it.
func fills(p *Property) bool { return p.Default != nil || p.Backfill != nil }

// withoutPlans returns the schema without the plans of @backfill. It shares what it can with s.
func (s *Schema) withoutPlans() *Schema {
	out := &Schema{Interfaces: slices.Clone(s.Interfaces), Nodes: slices.Clone(s.Nodes), Edges: slices.Clone(s.Edges)}
	planned := func(p *Property) bool { return p.Backfill != nil && p.Backfill.Plan != nil }
	plain := func(props []*Property) []*Property {
		props = slices.Clone(props)
		for i, p := range props {
			if planned(p) {
				c := *p
				c.Backfill, props[i] = &Backfill{Text: p.Backfill.Text}, &c
			}
		}
		return props
	}
	for i, n := range out.Nodes {
		if slices.ContainsFunc(n.Properties, planned) {
			c := *n
			c.Properties, out.Nodes[i] = plain(n.Properties), &c
		}
	}
	for i, e := range out.Edges {
		if slices.ContainsFunc(e.Properties, planned) {
			c := *e
			c.Properties, out.Edges[i] = plain(e.Properties), &c
		}
	}
	return out
}
