package golang

import (
	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/codegen/model"
)

// query adds the declarations of one query.
func query(f *jen.File, q *model.Query) {
	paramsStruct(f, q)
	if !q.Mutation() {
		rowStructs(f, q)
	}
	function(f, q)
	paramsMethods(f, q)
	if !q.Mutation() {
		scanMethod(f, q)
	}
	handler(f, q)
	planVar(f, q)
}

// named says which query a declaration comes from, without lines: they would change
// with the queries before it.
func named(q *model.Query) string { return "the query " + q.Name + " in " + q.File }

// What the declarations of all queries share.
var (
	engineArgs jen.Code = jen.Qual(enginePath, "Args")
	planQuery  jen.Code = pointer(jen.Qual(planPath, "Query"))
	rawMessage jen.Code = jen.Qual(jsonPath, "RawMessage")

	ctxParam  jen.Code = jen.Id("ctx").Qual("context", "Context")
	gParam    jen.Code = jen.Id("g").Qual(enginePath, "Graph")
	optsParam jen.Code = jen.Id("opts").Qual(enginePath, "WriteOptions")
	atParam   jen.Code = jen.Id("at").Qual(enginePath, "Target")

	ctx          jen.Code = jen.Id("ctx")
	g            jen.Code = jen.Id("g")
	at           jen.Code = jen.Id("at")
	opts         jen.Code = jen.Id("opts")
	read         jen.Code = jen.Id("read")
	mutate       jen.Code = dot(g, "Mutate")
	pArgs        jen.Code = call(dot(jen.Id("p"), "args"))
	changeResult jen.Code = params(jen.Qual(enginePath, "Change"), jen.Error())
)

// function adds the typed function that runs a query.
func function(f *jen.File, q *model.Query) {
	f.Add(blank)
	doc(f, q.GoName+" runs "+named(q)+".", q.Description)
	name, p, planName := jen.Id(q.GoName), jen.Id("p").Id(q.GoName+"Params"), jen.Id(q.GoLower+"Plan")
	if q.Mutation() {
		f.Func().Add(call(name, ctxParam, gParam, p, optsParam), changeResult,
			block(0, jen.Return(call(mutate, ctx, planName, pArgs, opts))))
		return
	}
	row := jen.Id(q.GoName + "Row")
	f.Func().Add(call(name, ctxParam, gParam, p, atParam), params(slice(row), jen.Error()),
		block(0, jen.Return(call(read, ctx, g, planName, pArgs, at, dot(jen.Parens(pointer(row)), "scan")))))
}

// The methods of all handlers, as far as they are the same.
var (
	descriptorMethod jen.Code = jen.Add(call(jen.Id("Descriptor")), pointer(jen.Qual(toolPath, "Descriptor")))
	gatesMethod      jen.Code = jen.Add(call(jen.Id("Gates")), slice(jen.Qual(toolPath, "Grant")),
		block(0, jen.Return(call(jen.Qual(toolPath, "Gates"), jen.Id("t")))))
	decodeMethod jen.Code = jen.Add(call(jen.Id("Decode"), jen.Id("args").Add(rawMessage)), params(jen.Qual(toolPath, "Call"), jen.Error()),
		block(0, jen.Return(call(jen.Qual(toolPath, "DecodeStored"), jen.Id("t"), jen.Id("args")))))
	infoMethod         jen.Code = jen.Add(call(jen.Id("Info")), pointer(jen.Qual(toolPath, "QueryInfo")))
	planMethod         jen.Code = jen.Add(call(jen.Id("Plan")), planQuery)
	decodeParamsMethod jen.Code = jen.Add(call(jen.Id("DecodeParams"), jen.Id("params").Add(rawMessage)), params(engineArgs, jen.Error()))

	decodeParams jen.Code = when(1,
		[]jen.Code{define(jen.Err(), call(dot(jen.Id("p"), "decode"), jen.Id("params"))), jen.Err().Op("!=").Nil()},
		jen.Return(commas(jen.Nil(), jen.Err())))
	returnArgs jen.Code = jen.Return(commas(pArgs, jen.Nil()))
)

// handler adds the struct that serves a query as a tool.
func handler(f *jen.File, q *model.Query) {
	name := q.GoLower + "Tool"
	f.Add(blank)
	comment(f, name+" serves "+named(q)+" as a tool.")
	f.Type().Id(name).Struct()

	receiver := jen.Func().Params(jen.Id(name))
	self := jen.Func().Params(jen.Id("t").Id(name))
	method := func(parts ...jen.Code) {
		f.Add(blank)
		f.Add(parts...)
	}
	descriptor, info := q.GoLower+"Descriptor", q.GoLower+"Info"
	method(receiver, descriptorMethod, block(0, jen.Return(jen.Id(descriptor))))
	method(self, gatesMethod)
	method(self, decodeMethod)
	method(receiver, infoMethod, block(0, jen.Return(jen.Id(info))))
	method(receiver, planMethod, block(0, jen.Return(jen.Id(q.GoLower+"Plan"))))
	method(receiver, decodeParamsMethod, block(0, jen.Var().Id("p").Id(q.GoName+"Params"), decodeParams, returnArgs))
	literalVar(f, descriptor, toolDescriptor, descriptorPairs(q))
	literalVar(f, info, toolQueryInfo, infoPairs(q))
}

var (
	toolDescriptor jen.Code = jen.Qual(toolPath, "Descriptor")
	toolQueryInfo  jen.Code = jen.Qual(toolPath, "QueryInfo")
	yes            jen.Code = jen.True()
)

func descriptorPairs(q *model.Query) []pair {
	t := q.Tool
	pairs := []pair{
		{"Name", jen.Lit(t.Name)},
		{"Title", jen.Lit(t.Title)},
		{"Description", jen.Lit(t.Description)},
		{"InputSchema", call(rawMessage, rawString(string(t.InputSchema)))},
		{"OutputSchema", call(rawMessage, rawString(string(t.OutputSchema)))},
	}
	for _, hint := range []struct {
		name string
		set  bool
	}{{"ReadOnly", t.ReadOnly}, {"Destructive", t.Destructive}, {"Idempotent", t.Idempotent}} {
		if hint.set {
			pairs = append(pairs, pair{hint.name, yes})
		}
	}
	return pairs
}

func infoPairs(q *model.Query) []pair {
	pairs := []pair{{"Name", jen.Lit(q.Name)}}
	if q.Exposed {
		pairs = append(pairs, pair{"Exposed", yes})
	}
	if q.Description != "" {
		pairs = append(pairs, pair{"Description", jen.Lit(q.Description)})
	}
	if q.Instruction != "" {
		pairs = append(pairs, pair{"Instruction", jen.Lit(q.Instruction)})
	}
	if q.Mutation() {
		pairs = append(pairs, pair{"Mutation", yes})
	}
	if len(q.Params) > 0 {
		docs := make([]string, len(q.Params))
		for i, p := range q.Params {
			docs[i] = p.Doc
		}
		pairs = append(pairs, pair{"ParamDocs", list(docs)})
	}
	return append(pairs, pair{"File", jen.Lit(q.File)})
}
