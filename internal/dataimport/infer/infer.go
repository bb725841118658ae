package infer

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// Proposal is a schema and a map that fits it.
type Proposal struct {
	Schema string // text of schema.pg, not formatted
	Map    string // text of import.yaml
	// Keyless says that some node type has no key, so that the import needs the mode append.
	Keyless bool
}

// Propose reads files, one table each, and proposes a schema and a map. The list `sources` has the names of the files in the
// map. The function `progress` is called with numbers of bytes read; it may be nil.
func Propose(ctx context.Context, files []record.File, sources []string, progress func(n int)) (*Proposal, error) {
	var tables []*table
	types := map[string]bool{}
	for i, f := range files {
		t, err := profile(ctx, f, sources[i], progress)
		if err != nil {
			return nil, err
		}
		t.typ = unique(typeName(f.Name), types)
		t.findKey()
		tables = append(tables, t)
	}
	findReferences(tables)
	if err := findCompositeKeys(ctx, tables); err != nil {
		return nil, err
	}
	for _, t := range tables {
		t.nameProperties()
	}
	w := &writer{types: types}
	for _, t := range tables {
		if t.join == nil {
			w.node(t)
		}
	}
	for _, t := range tables {
		w.edges(t)
	}
	p := &Proposal{Schema: w.schema.String()}
	p.Map = "# Proposed by omnigraph import infer. The comments give the evidence in the files.\nsources:\n"
	for _, t := range tables {
		p.Map += w.maps[t]
		p.Keyless = p.Keyless || t.join == nil && len(t.key) == 0
	}
	return p, nil
}

// nameProperties names the properties of a table.
func (t *table) nameProperties() {
	taken := map[string]bool{}
	reserved := []string{"id"}
	if t.join != nil {
		reserved = append(reserved, "from", "to", "src", "dst")
	}
	for _, c := range t.columns {
		name := propertyName(c.name)
		isKey := len(t.key) == 1 && t.key[0] == c
		if slices.Contains(reserved, name) && !isKey {
			name = strings.ToLower(t.typ) + "_" + name
		}
		c.prop = unique(name, taken)
	}
}

// writer writes both files.
type writer struct {
	types  map[string]bool // lower-case names of types
	schema strings.Builder
	maps   map[*table]string
}

// isProperty reports whether a column is a property: a reference that is no member of the key is an edge instead.
func (t *table) isProperty(c *column) bool {
	return c.ref == nil && t.join == nil || slices.Contains(t.key, c) || t.join != nil && c != t.join[0].column && c != t.join[1].column || len(t.key) == 0 && t.join == nil
}

// node writes the node type of a table.
func (w *writer) node(t *table) {
	fmt.Fprintf(&w.schema, "// %s: %s.", oneLine(path.Base(t.source)), rows(t.rows))
	if len(t.key) == 0 {
		w.schema.WriteString(" No column identifies a row, so the nodes have no key; import it with --mode append.")
	}
	fmt.Fprintf(&w.schema, "\nnode %s {\n", t.typ)
	for _, c := range t.columns {
		if !t.isProperty(c) {
			continue
		}
		w.property(t, c)
	}
	if len(t.key) > 1 {
		fmt.Fprintf(&w.schema, "  // %s\n  @key(%s)\n", t.keyText, t.key[0].prop+", "+t.key[1].prop)
	}
	w.schema.WriteString("}\n\n")
}

// property writes a property with its evidence.
func (w *writer) property(t *table, c *column) {
	for _, remark := range []string{c.doubt, c.note} {
		if remark != "" {
			fmt.Fprintf(&w.schema, "  // %s: %s\n", c.prop, oneLine(remark))
		}
	}
	typ, why := "String", ""
	switch {
	case c.isEnum():
		names := slices.Sorted(maps.Keys(c.texts))
		typ = "enum(" + strings.Join(names, ", ") + ")"
		why = fmt.Sprintf("%d texts in %s values", len(names), count(c.values))
	case c.typ != nil:
		typ = c.typ.typ.String()
	}
	isKey := len(t.key) == 1 && t.key[0] == c
	switch {
	case isKey:
		typ += " @key"
		why = t.keyText
	case !c.complete():
		typ += "?"
		if c.values > 0 {
			why = strings.TrimPrefix(why+fmt.Sprintf("; %s of %s have no value", count(t.rows-c.values), count(t.rows)), "; ")
		}
	}
	if !isKey && t.join == nil && c.values > 2 && c.distinct == c.values && !c.overflow && keyName(c.name, t.typ) > 0 && (c.typ == nil && c.doubt == "" || c.typ != nil && !c.typ.typ.List && c.typ.typ.Kind == value.I64) {
		typ += " @unique"
		why = strings.TrimPrefix(why+fmt.Sprintf("; %s of %s distinct", count(c.distinct), count(c.values)), "; ")
	}
	if why != "" {
		why = " // " + why
	}
	fmt.Fprintf(&w.schema, "  %s: %s%s\n", c.prop, typ, why)
}

// rows returns a number of rows in words.
func rows(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return count(n) + " rows"
}

// oneLine makes a text fit a comment of one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// edges writes the edge types of a table, and its part of the map: its nodes and their edges, or the edges of a join table.
func (w *writer) edges(t *table) {
	if w.maps == nil {
		w.maps = map[*table]string{}
	}
	var b strings.Builder
	if t.join != nil {
		name := t.typ
		fmt.Fprintf(&w.schema, "// %s: %s. A join table: %s.\n// %s; %s.\n", oneLine(path.Base(t.source)), rows(t.rows), t.keyText, t.join[0].why, t.join[1].why)
		fmt.Fprintf(&w.schema, "edge %s: %s -> %s {\n", name, t.join[0].to.typ, t.join[1].to.typ)
		for _, c := range t.columns {
			if t.isProperty(c) {
				w.property(t, c)
			}
		}
		if t.distinct {
			w.schema.WriteString("  @unique(src, dst)\n")
		}
		w.schema.WriteString("}\n\n")
		fmt.Fprintf(&b, "  # A join table: %s.\n  %s:\n    edge: %s\n", t.keyText, dataimport.Quote(t.source), name)
		fmt.Fprintf(&b, "    from: %s\n    to: %s\n", end(t.join[0]), end(t.join[1]))
		set(&b, "    ", t)
		w.maps[t] = b.String()
		return
	}
	fmt.Fprintf(&b, "  %s:\n    - node: %s", dataimport.Quote(t.source), t.typ)
	if len(t.key) > 0 {
		fmt.Fprintf(&b, " # key: %s", t.keyText)
	}
	b.WriteString("\n")
	set(&b, "      ", t)
	for _, ref := range t.refs {
		if len(t.key) == 0 {
			fmt.Fprintf(&b, "    # %s, but without a key the nodes cannot be the ends of edges\n", ref.why)
			continue
		}
		name := unique(t.typ+pascal(stem(ref.column, ref.to)), w.types)
		why := ref.why
		if n := t.rows - ref.column.values; n > 0 {
			why += fmt.Sprintf("; %s of %s have none", count(n), count(t.rows))
		}
		fmt.Fprintf(&w.schema, "// %s\nedge %s: %s -> %s {\n  @unique(src, dst)\n}\n\n", why, name, t.typ, ref.to.typ)
		fmt.Fprintf(&b, "    - edge: %s # %s\n      from: { %s: { %s } }\n      to: %s\n", name, why, t.typ, keyColumns(t), end(ref))
	}
	w.maps[t] = b.String()
}

// keyColumns returns the members of the key with their columns.
func keyColumns(t *table) string {
	var all []string
	for _, c := range t.key {
		all = append(all, c.prop+": "+source(c))
	}
	return strings.Join(all, ", ")
}

// end returns an end of an edge.
func end(r *reference) string {
	key := r.to.key[0]
	as := *r.column
	as.typ = key.typ // the values are converted to the type of the key
	if r.column.typ != nil && key.typ != nil && r.column.typ.typ.Kind == key.typ.typ.Kind {
		as.typ = r.column.typ
	}
	return fmt.Sprintf("{ %s: { %s: %s } }", r.to.typ, key.prop, source(&as))
}

// set writes the properties of a mapping.
func set(b *strings.Builder, indent string, t *table) {
	head := false
	for _, c := range t.columns {
		if !t.isProperty(c) {
			continue
		}
		if !head {
			head = true
			fmt.Fprintf(b, "%sset:\n", indent)
		}
		fmt.Fprintf(b, "%s  %s: %s\n", indent, c.prop, source(c))
	}
}

// source returns what a property is set to.
func source(c *column) string {
	name := dataimport.Quote(c.name)
	var opts []string
	if c.typ != nil {
		o := c.typ.column
		for _, kv := range [][2]string{{"date", o.Date}, {"time", o.Time}, {"zone", o.Zone}, {"round", o.Round}, {"number", o.Number}} {
			if kv[1] != "" {
				opts = append(opts, kv[0]+": "+dataimport.Quote(kv[1]))
			}
		}
		if len(c.tokens) > 0 {
			var texts []string
			for _, text := range slices.Sorted(maps.Keys(c.tokens)) {
				texts = append(texts, strconv.Quote(text))
			}
			opts = append(opts, "null: ["+strings.Join(texts, ", ")+"]")
		}
	}
	if opts == nil {
		return name
	}
	return "{ column: " + name + ", " + strings.Join(opts, ", ") + " }"
}
