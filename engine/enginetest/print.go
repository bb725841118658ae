package enginetest

import (
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// planText prints a plan without its Uses.
func planText(q *plan.Query) string {
	short := *q
	short.Uses = nil
	return plan.Format(&short)
}

// schemaText prints a schema as .pg source.
func schemaText(s *catalog.Schema) string {
	var b strings.Builder
	for _, i := range s.Interfaces {
		fmt.Fprintf(&b, "interface %s {\n", i.Name)
		propertiesText(&b, i.Properties)
		b.WriteString("}\n")
	}
	for _, n := range s.Nodes {
		fmt.Fprintf(&b, "node %s ", n.Name)
		if len(n.Implements) > 0 {
			fmt.Fprintf(&b, "implements %s ", strings.Join(n.Implements, ", "))
		}
		validText(&b, n.Valid)
		b.WriteString("{\n")
		propertiesText(&b, n.Properties)
		if n.Key != nil {
			fmt.Fprintf(&b, "  @key(%s)\n", strings.Join(n.Key, ", "))
		}
		uniqueText(&b, n.Unique)
		for _, x := range n.Index {
			fmt.Fprintf(&b, "  @index(%s)\n", strings.Join(x, ", "))
		}
		for _, r := range n.Ranges {
			fmt.Fprintf(&b, "  @range(%s, %s..%s)\n", r.Property, endText(r.Min), endText(r.Max))
		}
		for _, c := range n.Checks {
			fmt.Fprintf(&b, "  @check(%s, %q)\n", c.Property, c.Pattern)
		}
		b.WriteString("}\n")
	}
	for _, e := range s.Edges {
		fmt.Fprintf(&b, "edge %s: %s -> %s", e.Name, e.From, e.To)
		if e.Card != nil {
			fmt.Fprintf(&b, " @card(%d..", e.Card.Min)
			if e.Card.Max >= 0 {
				fmt.Fprint(&b, e.Card.Max)
			}
			b.WriteString(")")
		}
		b.WriteString(" ")
		validText(&b, e.Valid)
		b.WriteString("{\n")
		propertiesText(&b, e.Properties)
		uniqueText(&b, e.Unique)
		b.WriteString("}\n")
	}
	return b.String()
}

// validText writes the @valid of a type, with a space after it.
func validText(b *strings.Builder, v *catalog.Validity) {
	if v != nil {
		fmt.Fprintf(b, "@valid(%s, %s) ", v.Since, v.Until)
	}
}

// propertiesText writes one line for each property.
func propertiesText(b *strings.Builder, props []*catalog.Property) {
	for _, p := range props {
		fmt.Fprintf(b, "  %s: %s", p.Name, p.Type)
		if p.Default != nil {
			fmt.Fprintf(b, " @default(%s)", p.Default)
		}
		if p.Backfill != nil {
			fmt.Fprintf(b, " @backfill(%q)", p.Backfill.Text)
		}
		b.WriteString("\n")
	}
}

// uniqueText writes one line for each unique rule.
func uniqueText(b *strings.Builder, unique [][]string) {
	for _, u := range unique {
		fmt.Fprintf(b, "  @unique(%s)\n", strings.Join(u, ", "))
	}
}

// endText returns one end of a range as text; it is empty for an open end.
func endText(v *value.Value) string {
	if v == nil {
		return ""
	}
	return value.Text(*v)
}

// argsText returns the arguments of a query as text.
func argsText(args engine.Args) string {
	texts := make([]string, len(args))
	for i, a := range args {
		switch {
		case a.IsNull():
			texts[i] = "null"
		case a.Kind() == value.String && !a.IsList():
			texts[i] = fmt.Sprintf("%q", a.Str())
		default:
			texts[i] = valueText(a) + ":" + a.Type().String()
		}
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

// scriptText returns the numbered steps of a script as text.
func scriptText(script []step) string {
	var b strings.Builder
	for i, s := range script {
		fmt.Fprintf(&b, "--- %d\n%s", i+1, s)
	}
	return b.String()
}
