package golang

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/codegen/model"
)

// query writes the declarations of one query.
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
func named(q *model.Query) string { return fmt.Sprintf("the query %s in %s", q.Name, q.File) }

// function writes the typed function that runs a query.
func function(f *jen.File, q *model.Query) {
	f.Line()
	comment(f, fmt.Sprintf("%s runs %s.", q.GoName, named(q)))
	if q.Description != "" {
		f.Comment("//")
		comment(f, q.Description)
	}
	ctx := jen.Id("ctx").Qual("context", "Context")
	g := jen.Id("g").Qual(enginePath, "Graph")
	p := jen.Id("p").Id(q.GoName + "Params")
	planName, args := jen.Id(q.GoLower+"Plan"), jen.Id("p").Dot("args").Call()
	if q.Mutation() {
		f.Func().Id(q.GoName).Params(ctx, g, p, jen.Id("opts").Qual(enginePath, "WriteOptions")).
			Params(jen.Qual(enginePath, "Change"), jen.Error()).Block(
			jen.Return(jen.Id("g").Dot("Mutate").Call(jen.Id("ctx"), planName, args, jen.Id("opts"))),
		)
		return
	}
	row := q.GoName + "Row"
	f.Func().Id(q.GoName).Params(ctx, g, p, jen.Id("at").Qual(enginePath, "Target")).
		Params(jen.Index().Id(row), jen.Error()).Block(
		jen.Return(jen.Id("read").Call(jen.Id("ctx"), jen.Id("g"), planName, args, jen.Id("at"),
			jen.Parens(jen.Op("*").Id(row)).Dot("scan"))),
	)
}

// handler writes the struct that serves a query as a tool.
func handler(f *jen.File, q *model.Query) {
	name, descriptor, info := q.GoLower+"Tool", q.GoLower+"Descriptor", q.GoLower+"Info"
	f.Line()
	comment(f, fmt.Sprintf("%s serves %s as a tool.", name, named(q)))
	f.Type().Id(name).Struct()

	method := func(receiver, method string) *jen.Statement {
		f.Line()
		if receiver == "" {
			return f.Func().Params(jen.Id(name)).Id(method)
		}
		return f.Func().Params(jen.Id(receiver).Id(name)).Id(method)
	}
	method("", "Descriptor").Params().Op("*").Qual(toolPath, "Descriptor").Block(jen.Return(jen.Id(descriptor)))
	method("t", "Gates").Params().Index().Qual(toolPath, "Grant").Block(
		jen.Return(jen.Qual(toolPath, "Gates").Call(jen.Id("t"))))
	method("t", "Decode").Params(jen.Id("args").Qual("encoding/json", "RawMessage")).
		Params(jen.Qual(toolPath, "Call"), jen.Error()).Block(
		jen.Return(jen.Qual(toolPath, "DecodeStored").Call(jen.Id("t"), jen.Id("args"))))
	method("", "Info").Params().Op("*").Qual(toolPath, "QueryInfo").Block(jen.Return(jen.Id(info)))
	method("", "Plan").Params().Op("*").Qual(planPath, "Query").Block(jen.Return(jen.Id(q.GoLower + "Plan")))
	method("", "DecodeParams").Params(jen.Id("params").Qual("encoding/json", "RawMessage")).
		Params(jen.Qual(enginePath, "Args"), jen.Error()).Block(
		jen.Var().Id("p").Id(q.GoName+"Params"),
		jen.If(jen.Err().Op(":=").Id("p").Dot("decode").Call(jen.Id("params")), jen.Err().Op("!=").Nil()).Block(
			jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Id("p").Dot("args").Call(), jen.Nil()),
	)
	descriptorVar(f, q, descriptor)
	infoVar(f, q, info)
}

func descriptorVar(f *jen.File, q *model.Query, name string) {
	raw := func(b []byte) jen.Code { return jen.Qual("encoding/json", "RawMessage").Call(rawString(string(b))) }
	t := q.Tool
	items := []jen.Code{
		key("Name", jen.Lit(t.Name)),
		key("Title", jen.Lit(t.Title)),
		key("Description", jen.Lit(t.Description)),
		key("InputSchema", raw(t.InputSchema)),
		key("OutputSchema", raw(t.OutputSchema)),
	}
	for _, hint := range []struct {
		name string
		set  bool
	}{{"ReadOnly", t.ReadOnly}, {"Destructive", t.Destructive}, {"Idempotent", t.Idempotent}} {
		if hint.set {
			items = append(items, key(hint.name, jen.True()))
		}
	}
	f.Line()
	f.Var().Id(name).Op("=").Op("&").Qual(toolPath, "Descriptor").Add(multi(items...))
}

func infoVar(f *jen.File, q *model.Query, name string) {
	items := []jen.Code{key("Name", jen.Lit(q.Name))}
	if q.Exposed {
		items = append(items, key("Exposed", jen.True()))
	}
	if q.Description != "" {
		items = append(items, key("Description", jen.Lit(q.Description)))
	}
	if q.Instruction != "" {
		items = append(items, key("Instruction", jen.Lit(q.Instruction)))
	}
	if q.Mutation() {
		items = append(items, key("Mutation", jen.True()))
	}
	if len(q.Params) > 0 {
		items = append(items, key("ParamDocs", jen.Index().String().ValuesFunc(func(g *jen.Group) {
			for _, p := range q.Params {
				g.Lit(p.Doc)
			}
		})))
	}
	items = append(items, key("File", jen.Lit(q.File)))
	f.Line()
	f.Var().Id(name).Op("=").Op("&").Qual(toolPath, "QueryInfo").Add(multi(items...))
}
