package golang

import (
	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

// query adds the declarations of one query.
func query(f *jen.File, q *model.Query) {
	paramsStruct(f, q)
	if q.Returns() {
		rowStructs(f, q)
	}
	queryFunction(f, q)
}

// queryPhrase returns a phrase that identifies the query of a declaration. It omits the line
// number, which would change when earlier queries change.
func queryPhrase(q *model.Query) string { return "the query " + q.Name + " in " + q.File }

// queryFunction adds the typed function that runs a query.
func queryFunction(f *jen.File, q *model.Query) {
	f.Line()
	doc(f, q.GoName+" runs "+queryPhrase(q)+".", q.Description)
	params := []jen.Code{
		jen.Id("ctx").Qual("context", "Context"), jen.Id("g").Qual(toolPath, "Graph"), jen.Id("p").Id(q.GoName + "Params"),
	}
	self, p := jen.Id("stored").Dot("Query").Call(jen.Lit(q.Name)), jen.Id("p")
	if q.Mutation() && q.Returns() {
		f.Func().Id(q.GoName).Params(append(params, jen.Id("opts").Qual(enginePath, "WriteOptions"))...).
			Params(jen.Id("row").Id(q.GoName+"Row"), jen.Id("change").Qual(enginePath, "Change"), jen.Err().Error()).
			Block(
				jen.List(jen.Id("change"), jen.Err()).Op("=").Add(self).Dot("WriteRow").Call(jen.Id("ctx"), jen.Id("g"), p, jen.Id("opts"), jen.Op("&").Id("row")),
				jen.Return(jen.Id("row"), jen.Id("change"), jen.Err()),
			)
		return
	}
	if q.Mutation() {
		f.Func().Id(q.GoName).Params(append(params, jen.Id("opts").Qual(enginePath, "WriteOptions"))...).
			Params(jen.Qual(enginePath, "Change"), jen.Error()).
			Block(jen.Return(self.Dot("Write").Call(jen.Id("ctx"), jen.Id("g"), p, jen.Id("opts"))))
		return
	}
	f.Func().Id(q.GoName).Params(append(params, jen.Id("at").Qual(enginePath, "Target"))...).
		Params(jen.Id("rows").Index().Id(q.GoName+"Row"), jen.Err().Error()).
		Block(
			jen.Err().Op("=").Add(self).Dot("Read").Call(jen.Id("ctx"), jen.Id("g"), p, jen.Id("at"), jen.Op("&").Id("rows")),
			jen.Return(jen.Id("rows"), jen.Err()),
		)
}
