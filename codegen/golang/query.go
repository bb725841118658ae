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
	engineArgs = qual(enginePath, "Args")
	planQuery  = pointer(qual(planPath, "Query"))
	rawMessage = qual(jsonPath, "RawMessage")

	ctxParam  = words(ctxVar, qual("context", "Context"))
	gParam    = fixed(words(gVar, qual(enginePath, "Graph")))
	optsParam = fixed(words(optsVar, qual(enginePath, "WriteOptions")))
	atParam   = fixed(words(atVar, qual(enginePath, "Target")))

	ctxVar       = id("ctx")
	gVar         = id("g")
	atVar        = id("at")
	optsVar      = id("opts")
	readName     = id("read")
	mutate       = fixed(dot(gVar, "Mutate"))
	pArgs        = fixed(call(dot(pVar, "args")))
	changeResult = fixed(params(qual(enginePath, "Change"), errorName))
)

// function adds the typed function that runs a query.
func function(f *jen.File, q *model.Query) {
	f.Add(blank)
	doc(f, q.GoName+" runs "+named(q)+".", q.Description)
	name, p, planName := id(q.GoName), words(pVar, id(q.GoName+"Params")), id(q.GoLower+"Plan")
	if q.Mutation() {
		f.Func().Add(call(name, ctxParam, gParam, p, optsParam), changeResult,
			block(0, returns(call(mutate, ctxVar, planName, pArgs, optsVar))))
		return
	}
	row := id(q.GoName + "Row")
	f.Func().Add(call(name, ctxParam, gParam, p, atParam), params(slice(row), errorName),
		block(0, returns(call(readName, ctxVar, gVar, planName, pArgs, atVar, dot(parens(pointer(row)), "scan")))))
}

// The methods of all handlers, as far as they are the same.
var (
	descriptorMethod = fixed(words(call(id("Descriptor")), pointer(qual(toolPath, "Descriptor"))))
	gatesMethod      = fixed(words(call(id("Gates")), slice(qual(toolPath, "Grant")),
		block(0, returns(call(qual(toolPath, "Gates"), id("t"))))))
	decodeMethod = fixed(words(call(id("Decode"), words(id("args"), rawMessage)), params(qual(toolPath, "Call"), errorName),
		block(0, returns(call(qual(toolPath, "DecodeStored"), id("t"), id("args"))))))
	infoMethod         = fixed(words(call(id("Info")), pointer(qual(toolPath, "QueryInfo"))))
	planMethod         = fixed(words(call(id("Plan")), planQuery))
	decodeParamsMethod = fixed(words(call(id("DecodeParams"), words(id("params"), rawMessage)), params(engineArgs, errorName)))

	decodeParams = fixed(when(1,
		[]jen.Code{define(jen.Err(), call(dot(pVar, "decode"), id("params"))), words(jen.Err(), notNil)},
		returns(commas(jen.Nil(), jen.Err()))))
	returnArgs = fixed(returns(commas(pArgs, jen.Nil())))
)

// handler adds the struct that serves a query as a tool.
func handler(f *jen.File, q *model.Query) {
	name := q.GoLower + "Tool"
	f.Add(blank)
	comment(f, name+" serves "+named(q)+" as a tool.")
	f.Type().Id(name).Struct()

	receiver := id(name)
	self := words(id("t"), receiver)
	method := func(receiver jen.Code, parts ...jen.Code) {
		f.Add(blank)
		f.Func().Params(receiver).Add(parts...)
	}
	descriptor, info := q.GoLower+"Descriptor", q.GoLower+"Info"
	method(receiver, descriptorMethod, block(0, returns(id(descriptor))))
	method(self, gatesMethod)
	method(self, decodeMethod)
	method(receiver, infoMethod, block(0, returns(id(info))))
	method(receiver, planMethod, block(0, returns(id(q.GoLower+"Plan"))))
	method(receiver, decodeParamsMethod, block(0, jen.Var().Add(pVar, id(q.GoName+"Params")), decodeParams, returnArgs))
	literalVar(f, descriptor, toolDescriptor, descriptorPairs(q))
	literalVar(f, info, toolQueryInfo, infoPairs(q))
}

var (
	toolDescriptor = qual(toolPath, "Descriptor")
	toolQueryInfo  = qual(toolPath, "QueryInfo")
	yes            = id("true")
)

func descriptorPairs(q *model.Query) []pair {
	t := q.Tool
	pairs := []pair{
		{"Name", text(t.Name)},
		{"Title", text(t.Title)},
		{"Description", text(t.Description)},
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
	pairs := []pair{{"Name", text(q.Name)}}
	if q.Exposed {
		pairs = append(pairs, pair{"Exposed", yes})
	}
	if q.Description != "" {
		pairs = append(pairs, pair{"Description", text(q.Description)})
	}
	if q.Instruction != "" {
		pairs = append(pairs, pair{"Instruction", text(q.Instruction)})
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
	return append(pairs, pair{"File", text(q.File)})
}
