package dataimport

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// rowID makes the id of an edge from the row of a table that the edge is made of, so that a change of the row finds the edge
// although its ends may have changed.
type rowID struct {
	table   string
	mapping int   // position among the mappings of the source
	key     []int // the columns that identify the row
}

// of returns the id of the edge of a row.
func (k *rowID) of(typ string, r *record.Record) string {
	texts := make([]string, 0, 4)
	for _, c := range k.key {
		texts = append(texts, r.Values[c].String())
	}
	return engine.DerivedEdgeID(typ, joinTexts(texts), k.table, strconv.Itoa(k.mapping))
}

// Rows makes the lines of single rows of the tables of a plan, for a follower of their database.
type Rows struct{ pass }

// NewRows returns the maker of lines for a plan whose sources all are tables, with the columns that identify the rows of each
// table. Edges without an id in the map get one from these columns, also in an [Import] with the plan.
func NewRows(p *Plan, tables []string, keys [][]string) (*Rows, error) {
	in := &Import{plan: p, files: make([][]record.File, len(p.sources))}
	for i, s := range p.sources {
		in.files[i] = []record.File{{Name: "table " + tables[i]}}
		var key []int
		for _, name := range keys[i] {
			key = append(key, s.column(name))
		}
		for k, m := range s.maps {
			for _, e := range []*plannedEnd{m.from, m.to} {
				if e != nil && e.lookup != nil {
					return nil, fmt.Errorf("the map finds %s by %s, and a follower finds the ends of edges by the key of their type, or by id", e.typ.Name, joined(e.lookup.props))
				}
			}
			if m.IsEdge && !slices.ContainsFunc(m.Set, func(a Assign) bool { return a.Property == "id" }) {
				m.row = &rowID{tables[i], k, key}
			}
		}
	}
	return &Rows{pass{in: in}}, nil
}

// Columns returns the columns of a source that a record must have.
func (w *Rows) Columns(source int) []string { return w.in.plan.sources[source].columns }

// Mappings returns the number of mappings of a source.
func (w *Rows) Mappings(source int) int { return len(w.in.plan.sources[source].maps) }

// IDColumns returns the columns that the id of a mapping's entity depends on, and whether it is a node.
func (w *Rows) IDColumns(source, mapping int) (columns []string, isNode bool) {
	s := w.in.plan.sources[source]
	m := s.maps[mapping]
	if m.row != nil {
		for _, c := range m.row.key {
			columns = append(columns, s.columns[c])
		}
		return columns, false
	}
	for i := range m.props {
		if pp := &m.props[i]; pp.column >= 0 && slices.Contains(m.idProps(), pp.name) {
			columns = append(columns, s.columns[pp.column])
		}
	}
	return columns, m.node != nil
}

// idProps returns the properties that the id of a mapping's entity consists of.
func (m *plannedMapping) idProps() []string {
	if m.node != nil && len(m.node.Key) > 0 {
		return m.node.Key
	}
	return []string{"id"}
}

// ID returns the id of the entity that a mapping makes of a row. It reports false if a value of it is null.
func (w *Rows) ID(source, mapping int, r *record.Record) (string, bool, *record.Fault) {
	m := w.in.plan.sources[source].maps[mapping]
	if m.row != nil {
		return m.row.of(m.Type, r), true, nil
	}
	var by []plannedProperty
	for _, name := range m.idProps() {
		for i := range m.props {
			if m.props[i].name == name {
				by = append(by, m.props[i])
			}
		}
	}
	w.source = source
	id, ok, fault := w.tuple(by, r)
	return strings.Clone(id), ok, fault
}

// Make appends the line of a row to dst. It reports false if the mapping makes nothing of the row. The list `unchanged` says by
// column which values are not known, because they did not change; it may be nil. `was` is the former id, "" if it is the same.
func (w *Rows) Make(dst []byte, source, mapping int, r *record.Record, unchanged []bool, was string) ([]byte, bool, *record.Fault) {
	s := w.in.plan.sources[source]
	m := s.maps[mapping]
	if fault := w.needed(s, m, r, unchanged); fault != nil {
		return dst, false, fault
	}
	if !m.matches(r) {
		return dst, false, nil
	}
	w.source, w.buf, w.unchanged = source, dst, unchanged
	made, fault := w.make(m, r)
	out := w.buf
	if w.buf = nil; !made || fault != nil {
		return dst, false, fault
	}
	if was != "" {
		out = quote(append(out[:len(out)-2], `,"was":`...), was)
		out = append(out, "}\n"...)
	}
	return out, true, nil
}

// needed returns a fault if a mapping needs a value that is not known.
func (w *Rows) needed(s *plannedSource, m *plannedMapping, r *record.Record, unchanged []bool) *record.Fault {
	if !slices.Contains(unchanged, true) {
		return nil
	}
	var columns []int
	for _, c := range m.where {
		columns = append(columns, c.column)
	}
	for _, e := range []*plannedEnd{m.from, m.to} {
		for i := range e.properties() {
			columns = append(columns, e.by[i].column)
		}
	}
	if len(m.where) > 0 || m.IsEdge { // the entity may be new
		for i := range m.props {
			columns = append(columns, m.props[i].column)
		}
	}
	for _, c := range columns {
		if c >= 0 && unchanged[c] {
			f := r.Fault(w.in.files[slices.Index(w.in.plan.sources, s)][0].Name, fmt.Errorf("PostgreSQL does not send large values that did not change, and %s depends on this one; run ALTER TABLE … REPLICA IDENTITY FULL, and copy anew", m.Type))
			f.Column = s.columns[c]
			return f
		}
	}
	return nil
}

// properties returns the properties that identify the node, none for a nil end.
func (e *plannedEnd) properties() []plannedProperty {
	if e == nil {
		return nil
	}
	return e.by
}

// Delete appends the line that deletes an entity to dst.
func (w *Rows) Delete(dst []byte, source, mapping int, id string) []byte {
	m := w.in.plan.sources[source].maps[mapping]
	kind := `{"type":`
	if m.IsEdge {
		kind = `{"edge":`
	}
	dst = quote(append(dst, kind...), m.Type)
	return append(quote(append(dst, `,"delete":`...), id), "}\n"...)
}
