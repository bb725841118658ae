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
)

// Proposal is a schema and a map that fits it.
type Proposal struct {
	Schema string // text of schema.pg, not formatted
	Map    string // text of import.yaml
	// Keyless says that nothing identifies the nodes or the edges of some type, so that the import needs the mode append.
	Keyless bool
	Tables  []Table
}

// Propose reads tables and proposes a schema and a map. The map names `database`, the URL of the database of the tables, unless it
// is empty. The function `progress` is called with numbers of bytes read; it may be nil.
func Propose(ctx context.Context, inputs []Input, database string, progress func(n int)) (*Proposal, error) {
	var tables []*table
	types := map[string]bool{}
	inputs = splitGraphML(inputs)
	for i := range inputs {
		in := &inputs[i]
		t, err := profile(ctx, in, progress)
		if err != nil {
			return nil, err
		}
		if t.kind != "" && t.rows == 0 {
			continue
		}
		if t.catalog != nil {
			t.typ = unique(typeOfTable(in.Source), types)
			t.declaredKey()
		} else {
			name := typeName(in.File.Name)
			if t.kind == edgeKind {
				name += "Edge"
			}
			t.typ = unique(name, types)
		}
		if len(t.key) == 0 && t.noKey == "" {
			t.findKey()
		}
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
	p.Map = "# Proposed by omnigraph import infer. The comments give the evidence in the files.\n"
	if database != "" {
		p.Map = "# Proposed by omnigraph import infer. The comments give the evidence in the tables and their constraints.\n" +
			"database: " + strconv.Quote(database) + "\n"
	}
	p.Map += "sources:\n"
	for _, t := range tables {
		p.Map += w.maps[t]
		p.Tables = append(p.Tables, t.describe())
		p.Keyless = p.Keyless || t.join == nil && len(t.key) == 0 || t.join != nil && !t.distinct
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
		name := c.name
		if t.kind != "" {
			name = strings.TrimPrefix(name, "data.")
		}
		name = propertyName(name)
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
	switch {
	case c.omit != "":
		return false
	case t.join != nil:
		return !slices.Contains(t.join[0].columns, c) && !slices.Contains(t.join[1].columns, c)
	}
	return c.ref == nil || slices.Contains(t.key, c) || len(t.key) == 0
}

// node writes the node type of a table.
func (w *writer) node(t *table) {
	fmt.Fprintf(&w.schema, "// %s: %s.", oneLine(path.Base(t.source)), rows(t.rows))
	if len(t.key) == 0 {
		why := "no column identifies a row"
		if t.noKey != "" {
			why = t.noKey
		}
		fmt.Fprintf(&w.schema, " The nodes have no key, because %s; import it with --mode append.", why)
	}
	fmt.Fprintf(&w.schema, "\nnode %s {\n", t.typ)
	for _, c := range t.columns {
		if c.omit != "" {
			fmt.Fprintf(&w.schema, "  // %s: no property, because %s\n", oneLine(c.name), oneLine(c.omit))
		}
		if t.isProperty(c) {
			w.property(t, c)
		}
	}
	if len(t.key) > 1 {
		fmt.Fprintf(&w.schema, "  // %s\n  @key(%s)\n", t.keyText, props(t.key))
	}
	w.constraints(t)
	w.schema.WriteString("}\n\n")
}

// property writes a property with its evidence.
func (w *writer) property(t *table, c *column) {
	for _, remark := range []string{c.doubt, c.note} {
		if remark != "" {
			fmt.Fprintf(&w.schema, "  // %s: %s\n", c.prop, oneLine(remark))
		}
	}
	typ, why := c.schemaType(), ""
	switch {
	case !c.isEnum():
	case c.declared != nil && c.declared.Enum != nil:
		why = c.declared.Why
	default:
		why = fmt.Sprintf("%d texts in %s values", len(c.texts), count(c.values))
	}
	isKey := len(t.key) == 1 && t.key[0] == c
	switch {
	case isKey:
		typ += " @key"
		why = t.keyText
	case c.isOptional():
		typ += "?"
		if c.values > 0 && c.values < t.rows {
			why = strings.TrimPrefix(why+fmt.Sprintf("; %s of %s have no value", count(t.rows-c.values), count(t.rows)), "; ")
		}
	}
	if !isKey && t.join == nil && t.isDeclaredUnique(c) {
		typ += " @unique"
		why = strings.TrimPrefix(why+"; a unique constraint", "; ")
	} else if c.declared == nil && !isKey && t.join == nil && c.values > 2 && c.distinct == c.values && !c.overflow && keyName(c.name, t.typ) > 0 && (c.typ == nil && c.doubt == "" || c.typ != nil && !c.typ.typ.List && c.typ.typ.Kind == value.I64) {
		typ += " @unique"
		why = strings.TrimPrefix(why+fmt.Sprintf("; %s of %s distinct", count(c.distinct), count(c.values)), "; ")
	}
	if why != "" {
		why = " // " + why
	}
	fmt.Fprintf(&w.schema, "  %s: %s%s\n", c.prop, typ, why)
}

// schemaType returns the type of the values, as a schema writes it.
func (c *column) schemaType() string {
	switch {
	case c.isEnum() && c.declared != nil && c.declared.Enum != nil:
		return "enum(" + strings.Join(c.declared.Enum, ", ") + ")"
	case c.isEnum():
		return "enum(" + strings.Join(slices.Sorted(maps.Keys(c.texts)), ", ") + ")"
	case c.typ != nil:
		return c.typ.typ.String()
	}
	return "String"
}

// constraints writes the constraints of a database that are about properties of a node type.
func (w *writer) constraints(t *table) {
	if t.catalog == nil {
		return
	}
	for _, names := range t.catalog.Unique {
		columns := t.named(names)
		if len(columns) > 1 && !sameColumns(columns, t.key) && !slices.ContainsFunc(columns, func(c *column) bool { return !t.isProperty(c) }) {
			fmt.Fprintf(&w.schema, "  @unique(%s)\n", props(columns))
		}
	}
	for _, c := range t.columns {
		switch d := c.declared; {
		case !t.isProperty(c) || c.typ == nil:
		case d.Range != "":
			fmt.Fprintf(&w.schema, "  @range(%s, %s) // %s\n", c.prop, d.Range, oneLine(d.Why))
		}
	}
}

// props lists the properties of columns.
func props(columns []*column) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.prop)
	}
	return strings.Join(all, ", ")
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
		fmt.Fprintf(&b, "    edge: %s\n", name)
		fmt.Fprintf(&b, "    from: %s\n    to: %s\n", end(t.join[0]), end(t.join[1]))
		set(&b, "    ", t)
		if t.kind != "" { // an entry of the list that the nodes begin
			w.maps[t] = "    - " + strings.ReplaceAll(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), "    "), "\n", "\n  ") + "\n      where: { kind: edge }\n"
			return
		}
		w.maps[t] = fmt.Sprintf("  # A join table: %s.\n", t.keyText) + t.entry(b.String())
		return
	}
	fmt.Fprintf(&b, "    - node: %s", t.typ)
	if len(t.key) > 0 {
		fmt.Fprintf(&b, " # key: %s", t.keyText)
	}
	b.WriteString("\n")
	set(&b, "      ", t)
	if t.kind != "" {
		b.WriteString("      where: { kind: node }\n")
	}
	for _, ref := range t.refs {
		if len(t.key) == 0 {
			fmt.Fprintf(&b, "    # %s, but without a key the nodes cannot be the ends of edges\n", ref.why)
			continue
		}
		name := unique(t.typ+ref.name(), w.types)
		why := ref.why
		if n := t.rows - ref.columns[0].values; n > 0 {
			why += fmt.Sprintf("; %s of %s have none", count(n), count(t.rows))
		}
		fmt.Fprintf(&w.schema, "// %s\nedge %s: %s -> %s {\n  @unique(src, dst)\n}\n\n", why, name, t.typ, ref.to.typ)
		fmt.Fprintf(&b, "    - edge: %s # %s\n      from: { %s: { %s } }\n      to: %s\n", name, why, t.typ, keyColumns(t), end(ref))
	}
	w.maps[t] = t.entry(b.String())
}

// entry returns the entry of a table in the map. The mappings are indented by four blanks.
func (t *table) entry(mappings string) string {
	head := "  " + dataimport.Quote(t.source) + ":\n"
	if t.section == "" {
		return head + mappings
	}
	return head + "    read: " + t.section + "\n    maps:\n  " + strings.ReplaceAll(strings.TrimSuffix(mappings, "\n"), "\n", "\n  ") + "\n"
}

// name names a reference in the name of an edge type.
func (r *reference) name() string {
	if len(r.columns) > 1 {
		return r.to.typ
	}
	return pascal(stem(r.columns[0], r.by[0], r.to))
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
	var all []string
	for i, key := range r.by {
		as := *r.columns[i]
		as.typ = key.typ // the values are converted to the type of the key
		if own := r.columns[i].typ; own != nil && key.typ != nil && own.typ.Kind == key.typ.typ.Kind {
			as.typ = own
		}
		all = append(all, key.prop+": "+source(&as))
	}
	return fmt.Sprintf("{ %s: { %s } }", r.to.typ, strings.Join(all, ", "))
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
