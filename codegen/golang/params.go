package golang

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

func paramsStruct(f *jen.File, q *model.Query) {
	name := q.GoName + "Params"
	f.Line()
	comment(f, fmt.Sprintf("%s are the parameters of %s.", name, named(q)))
	f.Type().Id(name).StructFunc(func(g *jen.Group) {
		for _, p := range q.Params {
			comment(g, p.Doc)
			g.Id(p.GoName).Add(fieldType(p.Type, p.Enum)).Add(rawString(p.Tag()))
		}
	})
}

func paramsMethods(f *jen.File, q *model.Query) {
	receiver := jen.Id("p").Op("*").Id(q.GoName + "Params")
	if len(q.Params) == 0 {
		receiver = jen.Op("*").Id(q.GoName + "Params")
	}
	f.Line()
	f.Func().Params(receiver).Id("args").Params().Qual(enginePath, "Args").BlockFunc(func(g *jen.Group) {
		g.Id("args").Op(":=").Make(jen.Qual(enginePath, "Args"), jen.Lit(len(q.Params)))
		for i, p := range q.Params {
			arg(g, i, &p)
		}
		g.Return(jen.Id("args"))
	})
	f.Line()
	f.Func().Params(receiver.Clone()).Id("decode").Params(jen.Id("raw").Qual("encoding/json", "RawMessage")).Error().BlockFunc(func(g *jen.Group) {
		g.Id("o").Op(":=").Qual(toolPath, "Params").Call(jen.Id("raw"))
		for _, p := range q.Params {
			decode(g, &p)
		}
		g.Return(jen.Id("o").Dot("Done").Call())
	})
}

// arg writes the statements that turn a field into the argument at an index. An
// optional parameter that is absent leaves its argument null.
func arg(g *jen.Group, i int, p *model.Param) {
	field := jen.Id("p").Dot(p.GoName)
	set := func(g *jen.Group) {
		slot := jen.Id("args").Index(jen.Lit(i))
		switch {
		case p.Type.List:
			elems := fmt.Sprintf("list%d", i)
			g.Id(elems).Op(":=").Make(jen.Index().Qual(valuePath, "Value"), jen.Len(field.Clone()))
			g.For(jen.List(jen.Id("i"), jen.Id("e")).Op(":=").Range().Add(field.Clone())).Block(
				jen.Id(elems).Index(jen.Id("i")).Op("=").Add(ofScalar(p.Type.Kind, nil, jen.Id("e"))))
			g.Add(slot).Op("=").Qual(valuePath, "OfList").Call(jen.Qual(valuePath, p.Type.Kind.String()), jen.Id(elems))
		case p.Type.Kind == value.Vector:
			g.Add(slot).Op("=").Qual(valuePath, "OfVector").Call(jen.Qual("slices", "Clone").Call(field.Clone().Index(jen.Op(":"))))
		case p.Type.Nullable:
			g.Add(slot).Op("=").Add(ofScalar(p.Type.Kind, p.Enum, jen.Op("*").Add(field.Clone())))
		default:
			g.Add(slot).Op("=").Add(ofScalar(p.Type.Kind, p.Enum, field.Clone()))
		}
	}
	if p.Type.Nullable {
		g.If(field.Clone().Op("!=").Nil()).BlockFunc(set)
	} else {
		set(g)
	}
}

// ofScalar returns the value of a scalar whose Go value is v.
func ofScalar(k value.Kind, enum *model.Enum, v *jen.Statement) *jen.Statement {
	switch {
	case enum != nil:
		v = jen.String().Parens(v)
	case k == value.I64:
		v = jen.Int64().Parens(v)
	case k == value.U64:
		v = jen.Uint64().Parens(v)
	}
	return jen.Qual(valuePath, "Of"+k.String()).Call(v)
}

// decode writes the statements that read a field from the object of parameters.
func decode(g *jen.Group, p *model.Param) {
	field, name := jen.Id("p").Dot(p.GoName), jen.Lit(p.Name)
	opt := ""
	if p.Type.Nullable {
		opt = "Opt"
	}
	switch {
	case p.Type.List:
		g.Add(field).Op("=").Qual(toolPath, opt+"ListOf").Types(scalarType(p.Type.Kind)).
			Call(jen.Id("o"), name, jen.Qual(valuePath, p.Type.Kind.String()))
	case p.Type.Kind == value.Vector && p.Type.Nullable:
		v := jen.Id("o").Dot("OptVector").Call(name, jen.Lit(p.Type.Dim))
		g.If(jen.Id("v").Op(":=").Add(v), jen.Id("v").Op("!=").Nil()).Block(
			field.Op("=").Parens(jen.Op("*").Index(jen.Lit(p.Type.Dim)).Float32()).Parens(jen.Id("v")))
	case p.Type.Kind == value.Vector:
		g.Copy(field.Index(jen.Op(":")), jen.Id("o").Dot("Vector").Call(name, jen.Lit(p.Type.Dim)))
	case p.Enum != nil:
		t := jen.Id(p.Enum.GoName)
		if p.Type.Nullable {
			t = jen.Parens(jen.Op("*").Id(p.Enum.GoName))
		}
		g.Add(field).Op("=").Add(t).Parens(jen.Id("o").Dot(opt+"Enum").Call(name, jen.Id(p.Enum.ValuesName()).Op("...")))
	default:
		g.Add(field).Op("=").Id("o").Dot(opt + p.Type.Kind.String()).Call(name)
	}
}

// fieldType returns the type of a field: of an optional or nullable one a pointer,
// but a list is nil when it is null.
func fieldType(t value.Type, enum *model.Enum) *jen.Statement {
	var s *jen.Statement
	switch {
	case t.List:
		return jen.Index().Add(scalarType(t.Kind))
	case t.Kind == value.Vector:
		s = jen.Index(jen.Lit(t.Dim)).Float32()
	case enum != nil:
		s = jen.Id(enum.GoName)
	default:
		s = scalarType(t.Kind)
	}
	if t.Nullable {
		return jen.Op("*").Add(s)
	}
	return s
}

func scalarType(k value.Kind) *jen.Statement {
	switch k {
	case value.String:
		return jen.String()
	case value.Bool:
		return jen.Bool()
	case value.I32:
		return jen.Int32()
	case value.U32:
		return jen.Uint32()
	case value.F32:
		return jen.Float32()
	case value.F64:
		return jen.Float64()
	case value.I64:
		return jen.Qual(valuePath, "BigInt")
	case value.U64:
		return jen.Qual(valuePath, "BigUint")
	case value.Date, value.DateTime, value.Blob:
		return jen.Qual(valuePath, k.String()+"Value")
	}
	panic("codegen: no Go type for " + k.String())
}
