package golang

import (
	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// rowStructs adds the struct of a row, and one for each whole node in it.
func rowStructs(f *jen.File, q *model.Query) {
	name := q.GoName + "Row"
	f.Add(blank)
	comment(f, name+" is a row of "+named(q)+".")
	rowStruct(f, name, q.Columns)
	for _, c := range q.Columns {
		if c.Node != nil {
			f.Add(blank)
			comment(f, c.Node.GoName+" is the node "+c.Name+", a "+c.Node.NodeType+", in a row of "+named(q)+".")
			rowStruct(f, c.Node.GoName, c.Node.Fields)
		}
	}
}

func rowStruct(f *jen.File, name string, fields []model.Field) {
	members := make([]member, len(fields))
	for i := range fields {
		c := &fields[i]
		members[i] = member{doc: c.Doc, name: c.GoName, tag: c.Tags()}
		if c.Node != nil {
			members[i].typ = localType(c.Node.GoName)
		} else {
			members[i].typ = fieldType(c.Type, c.Enum)
		}
	}
	structType(f, name, members)
}

// What the methods of all rows share.
var (
	scanMethodRest = fixed(call(id("scan"), words(id("b"), pointer(qual(enginePath, "Batch"))), words(id("i"), jen.Int())))

	rVar       = id("r")
	cVar       = id("c")
	vVar       = id("v")
	elemsVar   = id("elems")
	columns    = fixed(dot(id("b"), "Columns"))
	rowIndex   = fixed(subscript(id("i")))
	elemIndex  = fixed(subscript(id("j")))
	cNotNull   = fixed(tight(only(jen.Op("!")), call(dot(cVar, "IsNull"), id("i"))))
	addressOfV = fixed(address(vVar))
	eachElem   = fixed(only(jen.For(words(commas(id("j"), id("e")), colonEquals, jen.Range(), elemsVar))))
	lenElems   = fixed(call(id("len"), elemsVar))
	makeName   = id("make")
	clone      = qual("strings", "Clone")
	notZero    = fixed(words(only(jen.Op("!=")), number(0)))
	listsElems = fixed(tight(dotToken, id("Lists"), rowIndex, dotToken, call(id("Elems"))))

	intsAtRow    = atRow("Ints")
	floatsAtRow  = atRow("Floats")
	stringsAtRow = atRow("Strings")
	vectorsAtRow = atRow("Vectors")
)

// atRow selects row i of a column.
func atRow(slice string) jen.Code { return fixed(tight(dotToken, id(slice), rowIndex)) }

// scanMethod adds the method that fills a row from a batch.
func scanMethod(f *jen.File, q *model.Query) {
	body := make([]jen.Code, 0, len(q.Columns))
	for i := range q.Columns {
		c := &q.Columns[i]
		column, field := index(columns, number(i)), dot(rVar, c.GoName)
		if c.Node == nil {
			body = append(body, scan(c, field, column))
			continue
		}
		for j := range c.Node.Fields {
			nf := &c.Node.Fields[j]
			body = append(body, scan(nf, dot(field, nf.GoName), index(dot(column, "Fields"), number(j))))
		}
	}
	f.Add(blank)
	f.Func().Params(words(id("r"), pointer(id(q.GoName+"Row")))).Add(scanMethodRest, block(0, body...))
}

// scan returns the statement that copies row i of a column to a field. What the engine
// lends for the life of a batch is cloned.
func scan(f *model.Field, field, column jen.Code) jen.Code {
	switch {
	case f.Type.Nullable:
		condition := []jen.Code{define(cVar, address(column)), cNotNull}
		if f.Type.List {
			return when(1, condition, scanList(f, field, cVar)...)
		}
		return when(1, condition, define(vVar, cell(f, cVar)), assign(field, addressOfV))
	case f.Type.List:
		return block(1, scanList(f, field, column)...)
	}
	return assign(field, cell(f, column))
}

func scanList(f *model.Field, field, column jen.Code) []jen.Code {
	typ := scalarType(f.Type.Kind).code
	return []jen.Code{
		define(elemsVar, tight(column, listsElems)),
		assign(field, call(makeName, slice(typ), lenElems)),
		words(eachElem, block(2, assign(tight(field, elemIndex), element(f.Type.Kind)))),
	}
}

// cell returns row i of a scalar or vector column as its Go type.
func cell(f *model.Field, column jen.Code) jen.Code {
	switch k := f.Type.Kind; k {
	case value.String:
		s := call(clone, tight(column, stringsAtRow))
		if f.Enum != nil {
			return call(id(f.Enum.GoName), s)
		}
		return s
	case value.Bool:
		return words(tight(column, intsAtRow), notZero)
	case value.I32, value.I64, value.U32, value.U64, value.Date, value.DateTime:
		return call(scalarType(k).code, tight(column, intsAtRow))
	case value.F32:
		return call(scalarType(k).code, tight(column, floatsAtRow))
	case value.F64:
		return tight(column, floatsAtRow)
	case value.Blob:
		return call(scalarType(k).code, tight(column, stringsAtRow))
	case value.Vector:
		return call(vectorType(f.Type.Dim).code, tight(column, vectorsAtRow))
	}
	panic("codegen: no column of type " + f.Type.String())
}

// element returns the list element e as its Go type.
func element(k value.Kind) jen.Code {
	e := func(accessor string) jen.Code { return call(dot(id("e"), accessor)) }
	switch k {
	case value.String:
		return call(clone, e("Str"))
	case value.Bool:
		return e("Bool")
	case value.I32, value.I64, value.Date, value.DateTime:
		return call(scalarType(k).code, e("Int"))
	case value.U32, value.U64:
		return call(scalarType(k).code, e("Uint"))
	case value.F32:
		return call(scalarType(k).code, e("Float"))
	case value.F64:
		return e("Float")
	case value.Blob:
		return call(scalarType(k).code, e("Bytes"))
	}
	panic("codegen: no list of " + k.String())
}
