package golang

import (
	"strconv"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

func (w *writer) paramsStruct(q *model.Query) {
	name := q.GoName + "Params"
	w.line()
	w.comment("", name+" are the parameters of "+named(q)+".")
	members := make([]member, len(q.Params))
	for i := range q.Params {
		p := &q.Params[i]
		members[i] = member{p.Doc, p.GoName, w.fieldType(p.Type, p.Enum), p.Tag()}
	}
	w.text("type ", name, " ")
	w.structType(members)
}

func (w *writer) paramsMethods(q *model.Query) {
	receiver := "p *" + q.GoName + "Params"
	if len(q.Params) == 0 {
		receiver = "*" + q.GoName + "Params"
	}
	w.line()
	w.line("func (", receiver, ") args() engine.Args {")
	w.line("\targs := make(engine.Args, ", strconv.Itoa(len(q.Params)), ")")
	for i := range q.Params {
		w.arg(i, &q.Params[i])
	}
	w.line("\treturn args")
	w.line("}")
	w.line()
	w.line("func (", receiver, ") decode(raw json.RawMessage) error {")
	w.line("\to := tool.Params(raw)")
	for i := range q.Params {
		w.decode(&q.Params[i])
	}
	w.line("\treturn o.Done()")
	w.line("}")
}

// arg writes the statements that turn a field into the argument at an index. An
// optional parameter that is absent leaves its argument null.
func (w *writer) arg(i int, p *model.Param) {
	field, indent := "p."+p.GoName, "\t"
	if p.Type.Nullable {
		w.line("\tif ", field, " != nil {")
		indent = "\t\t"
	}
	slot := indent + "args[" + strconv.Itoa(i) + "] = "
	switch k := p.Type.Kind; {
	case p.Type.List:
		elems := "list" + strconv.Itoa(i)
		w.line(indent, elems, " := make([]", w.value("Value"), ", len(", field, "))")
		w.line(indent, "for i, e := range ", field, " {")
		w.line(indent, "\t", elems, "[i] = ", w.ofScalar(k, nil, "e"))
		w.line(indent, "}")
		w.line(slot, w.value("OfList("), w.value(k.String()), ", ", elems, ")")
	case k == value.Vector:
		w.use("slices")
		w.line(slot, w.value("OfVector"), "(slices.Clone(", field, "[:]))")
	case p.Type.Nullable:
		w.line(slot, w.ofScalar(k, p.Enum, "*"+field))
	default:
		w.line(slot, w.ofScalar(k, p.Enum, field))
	}
	if p.Type.Nullable {
		w.line("\t}")
	}
}

// ofScalar returns the value of a scalar whose Go value is v.
func (w *writer) ofScalar(k value.Kind, enum *model.Enum, v string) string {
	switch {
	case enum != nil:
		v = "string(" + v + ")"
	case k == value.I64:
		v = "int64(" + v + ")"
	case k == value.U64:
		v = "uint64(" + v + ")"
	}
	return w.value("Of"+k.String()) + "(" + v + ")"
}

// decode writes the statements that read a field from the object of parameters.
func (w *writer) decode(p *model.Param) {
	field, name, opt := "p."+p.GoName, strconv.Quote(p.Name), ""
	if p.Type.Nullable {
		opt = "Opt"
	}
	dim := strconv.Itoa(p.Type.Dim)
	switch k := p.Type.Kind; {
	case p.Type.List:
		w.line("\t", field, " = tool.", opt, "ListOf[", w.scalarType(k), "](o, ", name, ", ", w.value(k.String()), ")")
	case k == value.Vector && p.Type.Nullable:
		w.line("\tif v := o.OptVector(", name, ", ", dim, "); v != nil {")
		w.line("\t\t", field, " = (*[", dim, "]float32)(v)")
		w.line("\t}")
	case k == value.Vector:
		w.line("\tcopy(", field, "[:], o.Vector(", name, ", ", dim, "))")
	case p.Enum != nil:
		typ := p.Enum.GoName
		if p.Type.Nullable {
			typ = "(*" + typ + ")"
		}
		w.line("\t", field, " = ", typ, "(o.", opt, "Enum(", name, ", ", p.Enum.ValuesName(), "...))")
	default:
		w.line("\t", field, " = o.", opt, k.String(), "(", name, ")")
	}
}

// fieldType returns the type of a field: of an optional or nullable one a pointer,
// but a list is nil when it is null.
func (w *writer) fieldType(t value.Type, enum *model.Enum) string {
	var s string
	switch {
	case t.List:
		return "[]" + w.scalarType(t.Kind)
	case t.Kind == value.Vector:
		s = "[" + strconv.Itoa(t.Dim) + "]float32"
	case enum != nil:
		s = enum.GoName
	default:
		s = w.scalarType(t.Kind)
	}
	if t.Nullable {
		return "*" + s
	}
	return s
}

func (w *writer) scalarType(k value.Kind) string {
	switch k {
	case value.String:
		return "string"
	case value.Bool:
		return "bool"
	case value.I32:
		return "int32"
	case value.U32:
		return "uint32"
	case value.F32:
		return "float32"
	case value.F64:
		return "float64"
	case value.I64:
		return w.value("BigInt")
	case value.U64:
		return w.value("BigUint")
	case value.Date, value.DateTime, value.Blob:
		return w.value(k.String() + "Value")
	}
	panic("codegen: no Go type for " + k.String())
}
