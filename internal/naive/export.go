package naive

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Export writes one line per entity.
func (g *Graph) Export(ctx context.Context, w io.Writer, at engine.Target, opts engine.ExportOptions) (engine.Commit, error) {
	s, head, err := g.at(ctx, at)
	if err != nil {
		return engine.Commit{}, err
	}
	known := map[string]bool{}
	for _, n := range s.schema.Nodes {
		known[n.Name] = true
	}
	for _, e := range s.schema.Edges {
		known[e.Name] = true
	}
	for _, name := range opts.Types {
		if !known[name] {
			return engine.Commit{}, &engine.BadArgument{Param: "types", Detail: "there is no type " + name}
		}
	}
	wanted := func(typ string) bool { return len(opts.Types) == 0 || slices.Contains(opts.Types, typ) }
	for _, n := range s.schema.Nodes {
		for _, e := range s.sorted(plan.Node, n.Name) {
			if wanted(n.Name) {
				g.export(w, e, shown(n.Properties, at.Rights, plan.Node, n.Name), n.Key == nil, opts.StringIntegers)
			}
		}
	}
	for _, t := range s.schema.Edges {
		for _, e := range s.sorted(plan.Edge, t.Name) {
			if wanted(t.Name) {
				g.export(w, e, shown(t.Properties, at.Rights, plan.Edge, t.Name), true, opts.StringIntegers)
			}
		}
	}
	return head, nil
}

// export writes the line of an entity. The argument `unnamed` is true if the entity's id does not
// come from a key. If quoted is true, integers of 64 bits become strings.
func (g *Graph) export(w io.Writer, e *entity, props []*catalog.Property, unnamed, quoted bool) {
	var data []string
	if e.props["id"].IsNull() && !(unnamed && g.fault == ExportWithoutID) {
		data = append(data, `"id":`+quote(e.id))
	}
	for _, p := range props {
		if v := e.props[p.Name]; !v.IsNull() {
			data = append(data, quote(p.Name)+":"+exportText(v, quoted))
		} else if p.Default != nil {
			data = append(data, quote(p.Name)+":null")
		}
	}
	head := `"type":` + quote(e.typ)
	if e.kind == plan.Edge {
		from, to := exportEnd(e.part("from")), exportEnd(e.part("to"))
		if g.fault == ExportEdgesFlip {
			from, to = to, from
		}
		head = fmt.Sprintf(`"edge":%s,"from":%s,"to":%s`, quote(e.typ), from, to)
	}
	sources := ""
	if text := e.claims.text(); text != "" && g.fault != ExportForgetsSources {
		sources = `,"sources":` + quote(text)
	}
	fmt.Fprintf(w, "{%s,\"data\":{%s}%s}\n", head, strings.Join(data, ","), sources)
}

// exportEnd formats an end of an edge as JSON.
func exportEnd(end value.Value) string {
	typ, id := splitEnd(end)
	if typ == "" {
		return quote(id)
	}
	return fmt.Sprintf(`{"type":%s,"id":%s}`, quote(typ), quote(id))
}

// quote returns s as a JSON string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// exportText formats a value as JSON. The value must not be null. If quoted is true, integers of 64 bits
// become strings.
func exportText(v value.Value, quoted bool) string {
	var elems []string
	switch {
	case v.IsList():
		for _, e := range v.Elems() {
			elems = append(elems, exportText(e, quoted))
		}
		return "[" + strings.Join(elems, ",") + "]"
	case v.Kind() == value.Vector:
		for _, f := range v.Vector() {
			elems = append(elems, exportText(value.OfF32(f), quoted))
		}
		return "[" + strings.Join(elems, ",") + "]"
	case v.Kind().IsFloat() && v.Float() == 0 && math.Signbit(v.Float()):
		return "-0"
	case quoted && (v.Kind() == value.I64 || v.Kind() == value.U64):
		return quote(value.Text(v))
	case v.Kind().IsNumeric() || v.Kind() == value.Bool:
		return value.Text(v)
	}
	return quote(value.Text(v))
}
