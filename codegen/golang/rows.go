package golang

import (
	"strconv"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// rowStructs writes the struct of a row, and one for each whole node in it.
func (w *writer) rowStructs(q *model.Query) {
	name := q.GoName + "Row"
	w.line()
	w.comment("", name+" is a row of "+named(q)+".")
	w.rowStruct(name, q.Columns)
	for _, c := range q.Columns {
		if c.Node != nil {
			w.line()
			w.comment("", c.Node.GoName+" is the node "+c.Name+", a "+c.Node.NodeType+", in a row of "+named(q)+".")
			w.rowStruct(c.Node.GoName, c.Node.Fields)
		}
	}
}

func (w *writer) rowStruct(name string, fields []model.Field) {
	members := make([]member, len(fields))
	for i := range fields {
		c := &fields[i]
		members[i] = member{c.Doc, c.GoName, "", c.Tag()}
		if c.Node != nil {
			members[i].typ = c.Node.GoName
		} else {
			members[i].typ = w.fieldType(c.Type, c.Enum)
		}
	}
	w.text("type ", name, " ")
	w.structType(members)
}

// scanMethod writes the method that fills a row from a batch.
func (w *writer) scanMethod(q *model.Query) {
	w.line()
	w.line("func (r *", q.GoName, "Row) scan(b *engine.Batch, i int) {")
	for i := range q.Columns {
		c := &q.Columns[i]
		column, field := "b.Columns["+strconv.Itoa(i)+"]", "r."+c.GoName
		if c.Node == nil {
			w.scan(c, field, column)
			continue
		}
		for j := range c.Node.Fields {
			nf := &c.Node.Fields[j]
			w.scan(nf, field+"."+nf.GoName, column+".Fields["+strconv.Itoa(j)+"]")
		}
	}
	w.line("}")
}

// scan writes the statements that copy row i of a column to a field. What the engine
// lends for the life of a batch is cloned.
func (w *writer) scan(f *model.Field, field, column string) {
	switch {
	case f.Type.Nullable:
		w.line("\tif c := &", column, "; !c.IsNull(i) {")
		if f.Type.List {
			w.scanList(f, field, "c")
		} else {
			w.line("\t\tv := ", w.cell(f, "c"))
			w.line("\t\t", field, " = &v")
		}
		w.line("\t}")
	case f.Type.List:
		w.line("\t{")
		w.scanList(f, field, column)
		w.line("\t}")
	default:
		w.line("\t", field, " = ", w.cell(f, column))
	}
}

func (w *writer) scanList(f *model.Field, field, column string) {
	w.line("\t\telems := ", column, ".Lists[i].Elems()")
	w.line("\t\t", field, " = make([]", w.scalarType(f.Type.Kind), ", len(elems))")
	w.line("\t\tfor j, e := range elems {")
	w.line("\t\t\t", field, "[j] = ", w.element(f.Type.Kind))
	w.line("\t\t}")
}

// cell returns row i of a scalar or vector column as its Go type.
func (w *writer) cell(f *model.Field, column string) string {
	switch k := f.Type.Kind; k {
	case value.String:
		w.use("strings")
		s := "strings.Clone(" + column + ".Strings[i])"
		if f.Enum != nil {
			return f.Enum.GoName + "(" + s + ")"
		}
		return s
	case value.Bool:
		return column + ".Ints[i] != 0"
	case value.I32, value.I64, value.U32, value.U64, value.Date, value.DateTime:
		return w.scalarType(k) + "(" + column + ".Ints[i])"
	case value.F32:
		return "float32(" + column + ".Floats[i])"
	case value.F64:
		return column + ".Floats[i]"
	case value.Blob:
		return w.scalarType(k) + "(" + column + ".Strings[i])"
	case value.Vector:
		return "[" + strconv.Itoa(f.Type.Dim) + "]float32(" + column + ".Vectors[i])"
	}
	panic("codegen: no column of type " + f.Type.String())
}

// element returns the list element e as its Go type.
func (w *writer) element(k value.Kind) string {
	switch k {
	case value.String:
		w.use("strings")
		return "strings.Clone(e.Str())"
	case value.Bool:
		return "e.Bool()"
	case value.I32, value.I64, value.Date, value.DateTime:
		return w.scalarType(k) + "(e.Int())"
	case value.U32, value.U64:
		return w.scalarType(k) + "(e.Uint())"
	case value.F32:
		return "float32(e.Float())"
	case value.F64:
		return "e.Float()"
	case value.Blob:
		return w.scalarType(k) + "(e.Bytes())"
	}
	panic("codegen: no list of " + k.String())
}
