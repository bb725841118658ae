package enginetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// cell is a value of a row, or the fields of a whole node.
type cell struct {
	value  value.Value   // the value; null for a whole node
	whole  bool          // the cell is a whole node
	fields []value.Value // the fields of a whole node
}

// cells copies the rows of a batch out of the engine's memory. It fails if the layout of the batch
// does not match the plan's columns.
func cells(columns []plan.Column, b *engine.Batch) ([][]cell, error) {
	if len(b.Columns) != len(columns) {
		return nil, fmt.Errorf("a batch has %d columns, not %d", len(b.Columns), len(columns))
	}
	rows := make([][]cell, b.Len)
	for i := range rows {
		rows[i] = make([]cell, len(columns))
		for c, col := range columns {
			got := &b.Columns[c]
			if col.Fields == nil {
				v, err := at(got, i, col.Type)
				if err != nil {
					return nil, fmt.Errorf("column %s: %w", col.Name, err)
				}
				rows[i][c] = cell{value: v}
				continue
			}
			if len(got.Fields) != len(col.Fields) {
				return nil, fmt.Errorf("column %s has %d fields, not %d", col.Name, len(got.Fields), len(col.Fields))
			}
			whole := cell{whole: true, fields: make([]value.Value, len(col.Fields))}
			for f, field := range col.Fields {
				v, err := at(&got.Fields[f], i, field.Type)
				if err != nil {
					return nil, fmt.Errorf("column %s.%s: %w", col.Name, field.Name, err)
				}
				whole.fields[f] = v
			}
			if null := whole.fields[0].IsNull(); null != got.IsNull(i) {
				return nil, fmt.Errorf("column %s: null is %t in a row in which the id is null: %t", col.Name, got.IsNull(i), null)
			}
			rows[i][c] = whole
		}
	}
	return rows, nil
}

// at returns a copy of row i of a column. It fails if the type of the column is not t.
func at(c *engine.Column, i int, t value.Type) (value.Value, error) {
	if c.Type.Kind != t.Kind || c.Type.List != t.List || c.Type.Dim != t.Dim {
		return value.Null, fmt.Errorf("the column is %s, the plan says %s", c.Type, t)
	}
	return own(c.Value(i)), nil
}

// own returns a value that shares no memory with v.
func own(v value.Value) value.Value {
	switch {
	case v.IsNull():
		return v
	case v.IsList():
		elems := make([]value.Value, len(v.Elems()))
		for i, e := range v.Elems() {
			elems[i] = own(e)
		}
		return value.OfList(v.Kind(), elems)
	case v.Kind() == value.String:
		return value.OfString(strings.Clone(v.Str()))
	case v.Kind() == value.Vector:
		return value.OfVector(slices.Clone(v.Vector()))
	}
	return v
}

// equalRows reports whether two results have equal rows in the same order.
func equalRows(a, b [][]cell) bool {
	return slices.EqualFunc(a, b, func(a, b []cell) bool { return slices.EqualFunc(a, b, equalCells) })
}

// equalCells reports whether two cells hold the same values.
func equalCells(a, b cell) bool {
	return a.whole == b.whole && value.Equal(a.value, b.value) && slices.EqualFunc(a.fields, b.fields, value.Equal)
}

// formatRows returns one line per row.
func formatRows(rows [][]cell) []string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		texts := make([]string, len(r))
		for j, c := range r {
			texts[j] = c.String()
		}
		lines[i] = strings.Join(texts, " | ")
	}
	return lines
}

func (c cell) String() string {
	if !c.whole {
		return valueText(c.value)
	}
	texts := make([]string, len(c.fields))
	for i, f := range c.fields {
		texts[i] = valueText(f)
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

// valueText formats a value for people, without its kind.
func valueText(v value.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.IsList():
		texts := make([]string, len(v.Elems()))
		for i, e := range v.Elems() {
			texts[i] = valueText(e)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	case v.Kind() == value.Vector:
		return fmt.Sprint(v.Vector())
	}
	return value.Text(v)
}
