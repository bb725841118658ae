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
	argsMethod = fixed(words(call(id("args")), engineArgs))
	argsVar    = id("args")
	returnIt   = fixed(returns(argsVar))

	decodeMethodRest = fixed(words(call(id("decode"), words(id("raw"), rawMessage)), errorName))
	openParams       = fixed(define(oVar, call(qual(toolPath, "Params"), id("raw"))))
	returnDone       = fixed(returns(call(dot(oVar, "Done"))))

	oVar       = id("o")
	pVar       = id("p")
	eVar       = id("e")
	notNil     = fixed(words(only(jen.Op("!=")), jen.Nil()))
	vNotNil    = fixed(words(vVar, notNil))
	wholeSlice = only(jen.Op("[:]"))
	spread     = only(jen.Op("..."))
	lenName    = id("len")
	copyName   = id("copy")
	int64Name  = id("int64")
	uint64Name = id("uint64")
	valueSlice = slice(qual(valuePath, "Value"))
	ofList     = qual(valuePath, "OfList")
	ofVector   = qual(valuePath, "OfVector")
	cloneSlice = qual("slices", "Clone")
	eachValue  = fixed(words(commas(id("i"), eVar), colonEquals, jen.Range()))
)

func paramsMethods(f *jen.File, q *model.Query) {
	receiver := pointer(id(q.GoName + "Params"))
	if len(q.Params) > 0 {
		receiver = words(pVar, receiver)
	}
	body := make([]jen.Code, 0, len(q.Params)+4)
	body = append(body, define(argsVar, call(makeName, engineArgs, number(len(q.Params)))))
	for i := range q.Params {
		p := &q.Params[i]
		field := dot(pVar, p.GoName)
		if p.Type.Nullable { // an argument that is absent stays null
			body = append(body, when(1, []jen.Code{words(field, notNil)}, arg(2, i, p, field)...))
			continue
		}
		body = append(body, arg(1, i, p, field)...)
	}
	f.Add(blank)
	f.Func().Params(receiver).Add(argsMethod, block(0, append(body, returnIt)...))

	body = make([]jen.Code, 0, len(q.Params)+2)
	body = append(body, openParams)
	for i := range q.Params {
		body = append(body, decode(&q.Params[i]))
	}
	f.Add(blank)
	f.Func().Params(receiver).Add(decodeMethodRest, block(0, append(body, returnDone)...))
}

// arg returns the statements, indented by depth tabs, that turn a field into the
// argument at an index.
func arg(depth, i int, p *model.Param, field jen.Code) []jen.Code {
	slot := index(argsVar, number(i))
	switch k := p.Type.Kind; {
	case p.Type.List:
		elems := id("list" + strconv.Itoa(i))
		return []jen.Code{
			define(elems, call(makeName, valueSlice, call(lenName, field))),
			words(only(jen.For(words(eachValue, field))), block(depth, assign(tight(elems, rowIndex), ofScalar(k, nil, eVar)))),
			assign(slot, call(ofList, qual(valuePath, k.String()), elems)),
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
	return call(qual(valuePath, "Of"+k.String()), v)
}

// decode returns the statement that reads a field from the object of parameters.
func decode(p *model.Param) jen.Code {
	field, name, opt := dot(pVar, p.GoName), text(p.Name), ""
	if p.Type.Nullable {
		opt = "Opt"
	}
	switch k := p.Type.Kind; {
	case p.Type.List:
		of := qual(toolPath, opt+"ListOf")
		return assign(field, call(index(of, scalarType(k).code), oVar, name, qual(valuePath, k.String())))
	case k == value.Vector:
		vector := call(dot(oVar, opt+"Vector"), name, number(p.Type.Dim))
		if !p.Type.Nullable {
			return call(copyName, tight(field, wholeSlice), vector)
		}
		return when(1, []jen.Code{define(vVar, vector), vNotNil},
			assign(field, call(parens(pointer(vectorType(p.Type.Dim).code)), vVar)))
	case p.Enum != nil:
		var typ = id(p.Enum.GoName)
		if p.Type.Nullable {
			typ = parens(pointer(typ))
		}
		return assign(field, call(typ, call(dot(oVar, opt+"Enum"), name, tight(id(p.Enum.ValuesName()), spread))))
	default:
		return assign(field, call(dot(oVar, opt+k.String()), name))
	}
}
