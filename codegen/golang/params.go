package golang

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

func paramsStruct(f *jen.File, q *model.Query) {
	name := q.GoName + "Params"
	f.Add(blank)
	comment(f, name+" are the parameters of "+named(q)+".")
	members := make([]member, len(q.Params))
	for i := range q.Params {
		p := &q.Params[i]
		members[i] = member{p.Doc, p.GoName, fieldType(p.Type, p.Enum), p.Tags()}
	}
	structType(f, name, members)
}

// What the methods of all parameters share.
var (
	pVar       jen.Code = jen.Id("p")
	eVar       jen.Code = jen.Id("e")
	args       jen.Code = jen.Id("args")
	argsMethod jen.Code = jen.Add(call(jen.Id("args")), engineArgs)
	returnIt   jen.Code = jen.Return(args)

	decodeMethodRest jen.Code = jen.Add(call(jen.Id("decode"), jen.Id("raw").Add(rawMessage)), jen.Error())
	openParams       jen.Code = define(jen.Id("o"), call(jen.Qual(toolPath, "Params"), jen.Id("raw")))
	returnDone       jen.Code = jen.Return(call(dot(jen.Id("o"), "Done")))

	oVar       jen.Code = jen.Id("o")
	notNil     jen.Code = jen.Op("!=").Nil()
	wholeSlice jen.Code = jen.Op("[:]")
	lenName    jen.Code = jen.Id("len")
	valueSlice jen.Code = slice(jen.Qual(valuePath, "Value"))
	ofList     jen.Code = jen.Qual(valuePath, "OfList")
	ofVector   jen.Code = jen.Qual(valuePath, "OfVector")
	cloneSlice jen.Code = jen.Qual("slices", "Clone")
	eachValue  jen.Code = commas(jen.Id("i"), eVar).Op(":=").Range()
	copyName   jen.Code = jen.Id("copy")
	stringName jen.Code = jen.String()
	int64Name  jen.Code = jen.Int64()
	uint64Name jen.Code = jen.Uint64()
	spread     jen.Code = jen.Op("...")
	vNotNil    jen.Code = jen.Id("v").Op("!=").Nil()
)

func paramsMethods(f *jen.File, q *model.Query) {
	receiver := jen.Func().Params(jen.Id("p").Add(pointer(jen.Id(q.GoName + "Params"))))
	if len(q.Params) == 0 {
		receiver = jen.Func().Params(pointer(jen.Id(q.GoName + "Params")))
	}
	body := make([]jen.Code, 0, len(q.Params)+4)
	body = append(body, define(args, call(makeName, engineArgs, ordinal(len(q.Params)))))
	for i := range q.Params {
		p := &q.Params[i]
		field := dot(pVar, p.GoName)
		if p.Type.Nullable { // an argument that is absent stays null
			body = append(body, when(1, []jen.Code{jen.Add(field, notNil)}, arg(2, i, p, field)...))
			continue
		}
		body = append(body, arg(1, i, p, field)...)
	}
	f.Add(blank)
	f.Add(receiver, argsMethod, block(0, append(body, returnIt)...))

	body = make([]jen.Code, 0, len(q.Params)+2)
	body = append(body, openParams)
	for i := range q.Params {
		body = append(body, decode(&q.Params[i]))
	}
	f.Add(blank)
	f.Add(receiver, decodeMethodRest, block(0, append(body, returnDone)...))
}

// arg returns the statements, indented by depth tabs, that turn a field into the
// argument at an index.
func arg(depth, i int, p *model.Param, field jen.Code) []jen.Code {
	slot := index(args, ordinal(i))
	switch k := p.Type.Kind; {
	case p.Type.List:
		elems := jen.Id("list" + strconv.Itoa(i))
		return []jen.Code{
			define(elems, call(makeName, valueSlice, call(lenName, field))),
			jen.For(jen.Add(eachValue, field)).Add(block(depth, assign(tight(elems, rowIndex), ofScalar(k, nil, eVar)))),
			assign(slot, call(ofList, jen.Qual(valuePath, k.String()), elems)),
		}
	case k == value.Vector:
		return []jen.Code{assign(slot, call(ofVector, call(cloneSlice, tight(field, wholeSlice))))}
	case p.Type.Nullable:
		return []jen.Code{assign(slot, ofScalar(k, p.Enum, pointer(field)))}
	default:
		return []jen.Code{assign(slot, ofScalar(k, p.Enum, field))}
	}
}

// ofScalar returns the value of a scalar whose Go value is v.
func ofScalar(k value.Kind, enum *model.Enum, v jen.Code) jen.Code {
	switch {
	case enum != nil:
		v = call(stringName, v)
	case k == value.I64:
		v = call(int64Name, v)
	case k == value.U64:
		v = call(uint64Name, v)
	}
	return call(jen.Qual(valuePath, "Of"+k.String()), v)
}

// decode returns the statement that reads a field from the object of parameters.
func decode(p *model.Param) jen.Code {
	field, name, opt := dot(pVar, p.GoName), jen.Lit(p.Name), ""
	if p.Type.Nullable {
		opt = "Opt"
	}
	switch k := p.Type.Kind; {
	case p.Type.List:
		of := jen.Qual(toolPath, opt+"ListOf")
		return assign(field, call(index(of, scalarType(k).code), oVar, name, jen.Qual(valuePath, k.String())))
	case k == value.Vector:
		vector := call(dot(oVar, opt+"Vector"), name, ordinal(p.Type.Dim))
		if !p.Type.Nullable {
			return call(copyName, tight(field, wholeSlice), vector)
		}
		return when(1, []jen.Code{define(vVar, vector), vNotNil},
			assign(field, call(jen.Parens(pointer(vectorType(p.Type.Dim).code)), vVar)))
	case p.Enum != nil:
		var typ jen.Code = jen.Id(p.Enum.GoName)
		if p.Type.Nullable {
			typ = jen.Parens(pointer(typ))
		}
		return assign(field, call(typ, call(dot(oVar, opt+"Enum"), name, tight(jen.Id(p.Enum.ValuesName()), spread))))
	default:
		return assign(field, call(dot(oVar, opt+k.String()), name))
	}
}
