package golang

import (
	"strings"

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

// queryFunction adds the typed functions that run a query.
func queryFunction(f *jen.File, q *model.Query) {
	row := q.GoName + "Row"
	f.Line()
	first := q.GoName + " runs " + queryPhrase(q) + "."
	if members := q.Plan.Members(); len(members) > 0 {
		first += " The query uses " + strings.Join(members, " and ") + ": pass a context of tool.WithCaller, unless the graph is on a server."
	}
	doc(f, first, q.Description)
	switch {
	case q.Mutation() && q.Returns():
		call(f, q, q.GoName, "WriteRow", row, jen.Id(row), jen.Qual(enginePath, "Change"), jen.Error())
	case q.Mutation():
		call(f, q, q.GoName, "Write", "", jen.Qual(enginePath, "Change"), jen.Error())
	default:
		call(f, q, q.GoName, "Rows", row, jen.Index().Id(row), jen.Error())
	}
	if q.One {
		f.Line()
		comment(f, q.OneName()+" runs "+queryPhrase(q)+". It returns the row, or an *engine.NotFound.")
		call(f, q, q.OneName(), "OneRow", row, jen.Id(row), jen.Error())
	}
}

// call adds a function that calls a function of package tool. The type argument of the call is `row`, unless it is
// empty.
func call(f *jen.File, q *model.Query, name, run, row string, results ...jen.Code) {
	options := "ReadOption"
	if q.Mutation() {
		options = "WriteOption"
	}
	of := jen.Qual(toolPath, run)
	if row != "" {
		of.Types(jen.Id(row))
	}
	f.Func().Id(name).Params(
		jen.Id("ctx").Qual("context", "Context"), jen.Id("g").Qual(toolPath, "Graph"), jen.Id("p").Id(q.GoName+"Params"),
		jen.Id("opts").Op("...").Qual(toolPath, options),
	).Params(results...).Block(jen.Return(of.Call(
		jen.Id("ctx"), jen.Id("g"), jen.Id("stored").Dot("Query").Call(jen.Lit(q.Name)), jen.Id("p"), jen.Id("opts").Op("..."),
	)))
}
