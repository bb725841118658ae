package golang

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// rowStructs writes the struct of a row, and one for each whole node in it.
func rowStructs(f *jen.File, q *model.Query) {
	name := q.GoName + "Row"
	f.Line()
	comment(f, fmt.Sprintf("%s is a row of %s.", name, named(q)))
	rowStruct(f, name, q.Columns)
	for _, c := range q.Columns {
		if c.Node != nil {
			f.Line()
			comment(f, fmt.Sprintf("%s is the node %s, a %s, in a row of %s.", c.Node.GoName, c.Name, c.Node.NodeType, named(q)))
			rowStruct(f, c.Node.GoName, c.Node.Fields)
		}
	}
}

func rowStruct(f *jen.File, name string, fields []model.Field) {
	f.Type().Id(name).StructFunc(func(g *jen.Group) {
		for _, c := range fields {
			comment(g, c.Doc)
			var t *jen.Statement
			if c.Node != nil {
				t = jen.Id(c.Node.GoName)
			} else {
				t = fieldType(c.Type, c.Enum)
			}
			g.Id(c.GoName).Add(t).Add(rawString(c.Tag()))
		}
	})
}

// scanMethod writes the method that fills a row from a batch.
func scanMethod(f *jen.File, q *model.Query) {
	f.Line()
	f.Func().Params(jen.Id("r").Op("*").Id(q.GoName+"Row")).Id("scan").Params(
		jen.Id("b").Op("*").Qual(enginePath, "Batch"), jen.Id("i").Int(),
	).BlockFunc(func(g *jen.Group) {
		for i, c := range q.Columns {
			column := jen.Id("b").Dot("Columns").Index(jen.Lit(i))
			field := jen.Id("r").Dot(c.GoName)
			if c.Node == nil {
				scan(g, &c, field, column)
				continue
			}
			for j, nf := range c.Node.Fields {
				scan(g, &nf, field.Clone().Dot(nf.GoName), column.Clone().Dot("Fields").Index(jen.Lit(j)))
			}
		}
	})
}

// scan writes the statements that copy row i of a column to a field. What the engine
// lends for the life of a batch is cloned.
func scan(g *jen.Group, f *model.Field, field, column *jen.Statement) {
	if f.Type.Nullable {
		g.If(jen.Id("c").Op(":=").Op("&").Add(column), jen.Op("!").Id("c").Dot("IsNull").Call(jen.Id("i"))).BlockFunc(func(g *jen.Group) {
			if f.Type.List {
				scanList(g, f, field, jen.Id("c"))
				return
			}
			g.Id("v").Op(":=").Add(cell(f, jen.Id("c")))
			g.Add(field).Op("=").Op("&").Id("v")
		})
		return
	}
	if f.Type.List {
		g.BlockFunc(func(g *jen.Group) { scanList(g, f, field, column) })
		return
	}
	g.Add(field).Op("=").Add(cell(f, column))
}

func scanList(g *jen.Group, f *model.Field, field, column *jen.Statement) {
	elem, t := element(f.Type.Kind), scalarType(f.Type.Kind)
	g.Id("elems").Op(":=").Add(column).Dot("Lists").Index(jen.Id("i")).Dot("Elems").Call()
	g.Add(field.Clone()).Op("=").Make(jen.Index().Add(t), jen.Len(jen.Id("elems")))
	g.For(jen.List(jen.Id("j"), jen.Id("e")).Op(":=").Range().Id("elems")).Block(
		field.Clone().Index(jen.Id("j")).Op("=").Add(elem))
}

// cell returns row i of a scalar or vector column as its Go type.
func cell(f *model.Field, column *jen.Statement) *jen.Statement {
	at := func(slice string) *jen.Statement { return column.Clone().Dot(slice).Index(jen.Id("i")) }
	switch k := f.Type.Kind; k {
	case value.String:
		s := jen.Qual("strings", "Clone").Call(at("Strings"))
		if f.Enum != nil {
			return jen.Id(f.Enum.GoName).Parens(s)
		}
		return s
	case value.Bool:
		return at("Ints").Op("!=").Lit(0)
	case value.I32, value.I64, value.U32, value.U64, value.Date, value.DateTime:
		return scalarType(k).Parens(at("Ints"))
	case value.F32:
		return jen.Float32().Parens(at("Floats"))
	case value.F64:
		return at("Floats")
	case value.Blob:
		return scalarType(k).Parens(at("Strings"))
	case value.Vector:
		return jen.Index(jen.Lit(f.Type.Dim)).Float32().Parens(at("Vectors"))
	}
	panic("codegen: no column of type " + f.Type.String())
}

// element returns the list element e as its Go type.
func element(k value.Kind) *jen.Statement {
	e := func(accessor string) *jen.Statement { return jen.Id("e").Dot(accessor).Call() }
	switch k {
	case value.String:
		return jen.Qual("strings", "Clone").Call(e("Str"))
	case value.Bool:
		return e("Bool")
	case value.I32, value.I64, value.Date, value.DateTime:
		return scalarType(k).Parens(e("Int"))
	case value.U32, value.U64:
		return scalarType(k).Parens(e("Uint"))
	case value.F32:
		return jen.Float32().Parens(e("Float"))
	case value.F64:
		return e("Float")
	case value.Blob:
		return scalarType(k).Parens(e("Bytes"))
	}
	panic("codegen: no list of " + k.String())
}
