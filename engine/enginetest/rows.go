package enginetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// cell is a value, a record or a list of records.
type cell struct {
	value  value.Value // the value; null for records
	form   cellForm
	null   bool   // a record is null
	fields []cell // the fields of a record
	list   []cell // the records of a list
}

// cellForm says what a cell is.
type cellForm uint8

// The forms of cells.
const (
	scalarCell cellForm = iota
	recordCell
	listCell
)

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
			var err error
			if rows[i][c], err = cellOf(&b.Columns[c], i, col.Type, col.Fields); err != nil {
				return nil, fmt.Errorf("column %s: %w", col.Name, err)
			}
			switch col.Expr.(type) {
			case plan.Whole, plan.EndNode:
			default:
				continue
			}
			if cell := rows[i][c]; cell.null != cell.fields[0].value.IsNull() {
				return nil, fmt.Errorf("column %s: null is %t in a row in which the id is null: %t", col.Name, cell.null, !cell.null)
			}
		}
	}
	return rows, nil
}

// cellOf copies row i of a column. The type of the column must be t. If `fields` is not nil, the
// column holds records with these fields.
func cellOf(got *engine.Column, i int, t value.Type, fields []plan.Field) (cell, error) {
	switch {
	case fields == nil:
		v, err := at(got, i, t)
		return cell{value: v}, err
	case len(got.Fields) != len(fields):
		return cell{}, fmt.Errorf("%d fields, not %d", len(got.Fields), len(fields))
	case !t.List:
		return recordOf(got, i, got.IsNull(i), fields)
	case i+1 >= len(got.Offsets) || got.Offsets[0] != 0 || got.Offsets[i] > got.Offsets[i+1]:
		return cell{}, fmt.Errorf("the offsets of row %d are not ascending from 0: %v", i, got.Offsets)
	}
	out := cell{form: listCell}
	for k := got.Offsets[i]; k < got.Offsets[i+1]; k++ {
		record, err := recordOf(got, int(k), false, fields)
		if err != nil {
			return out, err
		}
		out.list = append(out.list, record)
	}
	return out, nil
}

// recordOf copies row i of the fields of a column. The fields of a record that is null must be null or
// empty.
func recordOf(got *engine.Column, i int, null bool, fields []plan.Field) (cell, error) {
	out := cell{form: recordCell, null: null}
	for f, field := range fields {
		c, err := cellOf(&got.Fields[f], i, field.Type, field.Fields)
		if err != nil {
			return out, fmt.Errorf("%s: %w", field.Name, err)
		}
		if null && (c.form == scalarCell && !c.value.IsNull() || c.form == recordCell && !c.null || len(c.list) > 0) {
			return out, fmt.Errorf("the record is null, but its field %s is not", field.Name)
		}
		out.fields = append(out.fields, c)
	}
	return out, nil
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
	return a.form == b.form && a.null == b.null && equalValues(a.value, b.value) &&
		slices.EqualFunc(a.fields, b.fields, equalCells) && slices.EqualFunc(a.list, b.list, equalCells)
}

// equalValues reports whether two values are identical, except that 0 and -0 are equal: which of the two a group, min
// or max has depends on the order in which the rows arrive.
func equalValues(a, b value.Value) bool {
	if a.Kind() != b.Kind() || a.IsList() != b.IsList() {
		return false
	}
	if a.IsList() {
		return slices.EqualFunc(a.Elems(), b.Elems(), equalValues)
	}
	return value.Equal(a, b) || a.Kind().IsFloat() && a.Float() == 0 && b.Float() == 0
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
	parts, left, right := c.fields, "{", "}"
	switch c.form {
	case scalarCell:
		return valueText(c.value)
	case listCell:
		parts, left, right = c.list, "[", "]"
	case recordCell:
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.String()
	}
	return left + strings.Join(texts, ", ") + right
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
