package infer

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
)

// Table says what was found in a table.
type Table struct {
	Source  string // name in the map
	Type    string // name of the proposed type
	Rows    int64
	Columns []Column
	Key     []string // names of the columns that identify the rows; nil for none
	Why     string   // evidence of the key, on one line
	columns []*column
}

// Column says what was found in a column.
type Column struct {
	Name     string // in the file
	Property string // name of the property
	Type     string // as a schema writes it, without a question mark
	Optional bool   // some row has no value
	Values   int64  // rows with a value
	Distinct int64  // different values; 0 if they are too long or too many to count
	Samples  []string
	Note     string
	Reads    map[string]any // what a map sets a property to: the column, and how its values are written
}

// The samples of a column: their number, and the bytes of each.
const (
	maxShown      = 3
	maxShownBytes = 80
)

// describe returns what was found in the table.
func (t *table) describe() Table {
	d := Table{Source: t.source, Type: t.typ, Rows: t.rows, Why: t.keyText}
	for _, c := range t.key {
		d.Key = append(d.Key, c.name)
	}
	for _, c := range t.columns {
		if c.omit != "" {
			continue
		}
		note := c.doubt
		if note == "" {
			note = c.note
		}
		shown := Column{Name: c.name, Property: c.prop, Type: c.schemaType(), Optional: c.isOptional(), Values: c.values, Distinct: c.distinct, Note: oneLine(note), Reads: c.reads()}
		for _, text := range c.samples {
			if len(text) <= maxShownBytes && len(shown.Samples) < maxShown {
				shown.Samples = append(shown.Samples, text)
			}
		}
		d.Columns = append(d.Columns, shown)
		d.columns = append(d.columns, c)
	}
	return d
}

// reads returns what a map sets a property to that has the values of the column.
func (c *column) reads() map[string]any {
	all := map[string]any{"column": c.name}
	for key, text := range c.options() {
		all[key] = text
	}
	if len(c.tokens) > 0 && c.typ != nil {
		all["null"] = c.nulls()
	}
	return all
}

// Mapping is a mapping of a map, in the form of import.yaml as JSON.
type Mapping struct {
	Node string                    `json:"node,omitempty"`
	Edge string                    `json:"edge,omitempty"`
	Set  map[string]map[string]any `json:"set,omitempty"`
	From End                       `json:"from,omitempty"`
	To   End                       `json:"to,omitempty"`
}

// End says which node is at an end of an edge: by the name of its type, the properties of its key.
type End map[string]map[string]map[string]any

// Fit returns the text of a map of the table to types that a schema has, as JSON, or "" if no type has the name or most properties
// of the table. It maps the columns that have the names of properties, and as ends of edges those that name an edge type, or a node type.
func (t *Table) Fit(s *catalog.Schema) string {
	var all []Mapping
	if e := t.edgeType(s); e != nil {
		all = t.joins(s, e)
	} else if n := t.nodeType(s); n != nil {
		set := t.sets(n.Properties)
		by, _ := t.key(n)
		maps.Copy(set, by)
		all = append([]Mapping{{Node: n.Name, Set: set}}, t.edges(s, n)...)
	}
	if all == nil {
		return ""
	}
	text, err := json.Marshal(map[string]any{"sources": map[string]any{t.Source: all}})
	if err != nil {
		panic("infer: encode a map: " + err.Error())
	}
	return string(text)
}

// edgeType returns the edge type with the name of the table, which then is a join table, or nil.
func (t *Table) edgeType(s *catalog.Schema) *catalog.Edge {
	if s.Node(t.Type) != nil {
		return nil
	}
	return s.Edge(t.Type)
}

// nodeType returns the node type with the name of the table, or the first one that has the most properties that the columns name,
// at least half of them; or nil.
func (t *Table) nodeType(s *catalog.Schema) *catalog.Node {
	var best *catalog.Node
	most := 0
	for _, n := range s.Nodes {
		if strings.EqualFold(n.Name, t.Type) {
			return n
		}
		if found := len(t.sets(n.Properties)); found > most && 2*found >= len(t.columns) {
			best, most = n, found
		}
	}
	return best
}

// sets returns the properties that columns name, and those columns.
func (t *Table) sets(props []*catalog.Property) map[string]map[string]any {
	set := map[string]map[string]any{}
	for _, p := range props {
		if i := t.named(wordsOf(p.Name)); i >= 0 {
			set[p.Name] = t.Columns[i].Reads
		}
	}
	return set
}

// named returns the index of the column with a name of some words, or -1.
func (t *Table) named(words []string) int {
	return slices.IndexFunc(t.columns, func(c *column) bool { return len(words) > 0 && slices.Equal(wordsOf(c.name), words) })
}

// edges returns the mappings of the edges between the nodes of the table and those that columns refer to. A column that could be the
// end of several edge types, by the name of their node type alone, is none.
func (t *Table) edges(s *catalog.Schema, n *catalog.Node) []Mapping {
	own, members := t.key(n)
	if own == nil {
		return nil
	}
	var all []Mapping
	var found []*referral
	for _, e := range s.Edges {
		out := s.AtEnd(e, false, n.Name, false)
		if !out && !s.AtEnd(e, true, n.Name, false) {
			continue
		}
		r := t.refers(s, e, out, members)
		switch {
		case r == nil:
			continue
		case out:
			all = append(all, Mapping{Edge: e.Name, From: End{n.Name: own}, To: r.end})
		default:
			all = append(all, Mapping{Edge: e.Name, From: r.end, To: End{n.Name: own}})
		}
		found = append(found, r)
	}
	var kept []Mapping
	for i, r := range found {
		others := slices.ContainsFunc(found, func(o *referral) bool { return o != r && o.column == r.column })
		if r.byEdge || !others {
			kept = append(kept, all[i])
		}
	}
	return kept
}

// joins returns the mapping of a join table, or nil if the columns do not name both ends.
func (t *Table) joins(s *catalog.Schema, e *catalog.Edge) []Mapping {
	from := t.refers(s, e, false, nil)
	if from == nil {
		return nil
	}
	to := t.refers(s, e, true, []int{from.column})
	if to == nil {
		return nil
	}
	return []Mapping{{Edge: e.Name, Set: t.sets(e.Properties), From: from.end, To: to.end}}
}

// key returns the columns of the key of a node type, with their indexes, or nil if some member has none. The column that identifies the
// rows is the key of one property whose name no column has.
func (t *Table) key(n *catalog.Node) (by map[string]map[string]any, members []int) {
	by = map[string]map[string]any{}
	for _, p := range n.Key {
		i := t.named(wordsOf(p))
		if i < 0 && len(n.Key) == 1 && len(t.Key) == 1 {
			i = slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == t.Key[0] })
		}
		if i < 0 {
			return nil, nil
		}
		by[p] = t.Columns[i].Reads
		members = append(members, i)
	}
	if len(by) == 0 {
		return nil, nil
	}
	return by, members
}

// referral is an end of an edge whose node a column names.
type referral struct {
	end    End
	column int  // index of the column
	byEdge bool // the column has the name of the edge type
}

// refers returns an end of an edge whose node a column names, other than some columns: by the name of the edge type, or by that of the node
// type, as port, port_id or home_port_code for a Port. The node type has a key of one property.
func (t *Table) refers(s *catalog.Schema, e *catalog.Edge, to bool, except []int) *referral {
	var best *referral
	for _, n := range s.EndsAt(e, to) {
		if len(n.Key) != 1 {
			continue
		}
		edge, own := wordsOf(e.Name), wordsOf(n.Name)
		for i, c := range t.columns {
			words := refWords(c.name, n.Key[0])
			byEdge := slices.Equal(words, edge)
			if n := len(words); n > 0 {
				words[n-1] = singular(words[n-1])
			}
			byNode := len(words) >= len(own) && slices.Equal(words[len(words)-len(own):], own)
			if (!byEdge && !byNode) || slices.Contains(except, i) || best != nil && (best.byEdge || !byEdge) {
				continue
			}
			best = &referral{End{n.Name: {n.Key[0]: t.Columns[i].Reads}}, i, byEdge}
		}
	}
	return best
}

// refWords returns the words of the name of a reference without those of the key: home, port for home_port_code.
func refWords(name, key string) []string {
	words, by := wordsOf(name), wordsOf(key)
	if n := len(words) - len(by); n > 0 && slices.Equal(words[n:], by) {
		words = words[:n]
	}
	for len(words) > 1 && slices.Contains(idWords, words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return words
}

// options returns how the texts of the column are written, by the keys of a map.
func (c *column) options() map[string]string {
	all := map[string]string{}
	if c.typ == nil {
		return all
	}
	o := &c.typ.column
	for key, text := range map[string]string{"date": o.Date, "time": o.Time, "zone": o.Zone, "round": o.Round, "number": o.Number} {
		if text != "" {
			all[key] = text
		}
	}
	return all
}

// source returns what a property is set to, as a map writes it.
func source(c *column) string {
	name := dataimport.Quote(c.name)
	var opts []string
	options := c.options()
	for _, key := range []string{"date", "time", "zone", "round", "number"} {
		if text := options[key]; text != "" {
			opts = append(opts, key+": "+dataimport.Quote(text))
		}
	}
	if c.typ != nil && len(c.tokens) > 0 {
		opts = append(opts, "null: ["+strings.Join(quoted(c.nulls()), ", ")+"]")
	}
	if opts == nil {
		return name
	}
	return "{ column: " + name + ", " + strings.Join(opts, ", ") + " }"
}

// nulls lists the texts that stand for null.
func (c *column) nulls() []string { return slices.Sorted(maps.Keys(c.tokens)) }

// quoted returns texts in quotes.
func quoted(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = strconv.Quote(text)
	}
	return all
}
