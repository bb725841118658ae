package golang

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

func catalogFile(p *model.Package) *jen.File {
	f := newFile(p)
	f.PackageComment(fmt.Sprintf("// Package %s holds the stored queries of the graph %s, as typed Go functions and as tools.", p.GoName, p.Graph))
	reads := false
	var queries []jen.Code
	for _, q := range p.Queries() {
		queries = append(queries, jen.Id(q.GoLower+"Tool").Values())
		reads = reads || !q.Mutation()
	}
	list := jen.Values()
	if len(queries) > 0 {
		list = multi(queries...)
	}
	f.Line()
	f.Comment("// Catalog returns the stored queries of the graph as tools, in source order.")
	f.Func().Id("Catalog").Params().Op("*").Qual(toolPath, "Catalog").Block(
		jen.Return(jen.Op("&").Qual(toolPath, "Catalog").Add(multi(
			key("Graph", jen.Lit(p.Graph)),
			key("Queries", jen.Index().Qual(toolPath, "StoredQuery").Add(list)),
			key("SchemaDigest", jen.Lit(p.SchemaDigest)),
			key("SourceDigest", jen.Lit(p.SourceDigest)),
		))),
	)
	if reads {
		readFunc(f)
	}
	return f
}

// multi returns a list in braces with one item a line.
func multi(items ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, items...)
}

func key(name string, v jen.Code) jen.Code { return jen.Id(name).Op(":").Add(v) }

// readFunc writes the function that the typed reads of a package share.
func readFunc(f *jen.File) {
	f.Line()
	f.Comment("// read runs a query and keeps its rows, copied out of the engine's memory.")
	f.Func().Id("read").Types(jen.Id("R").Any()).Params(
		jen.Id("ctx").Qual("context", "Context"), jen.Id("g").Qual(enginePath, "Graph"), jen.Id("q").Op("*").Qual(planPath, "Query"),
		jen.Id("args").Qual(enginePath, "Args"), jen.Id("at").Qual(enginePath, "Target"),
		jen.Id("scan").Func().Params(jen.Op("*").Id("R"), jen.Op("*").Qual(enginePath, "Batch"), jen.Int()),
	).Params(jen.Id("rows").Index().Id("R"), jen.Err().Error()).Block(
		jen.List(jen.Id("res"), jen.Err()).Op(":=").Id("g").Dot("Query").Call(jen.Id("ctx"), jen.Id("q"), jen.Id("args"), jen.Id("at")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Defer().Func().Params().Block(
			jen.If(jen.Id("closing").Op(":=").Id("res").Dot("Close").Call(), jen.Err().Op("==").Nil()).Block(
				jen.Err().Op("=").Id("closing"),
			),
		).Call(),
		jen.For().Block(
			jen.List(jen.Id("b"), jen.Err()).Op(":=").Id("res").Dot("Next").Call(jen.Id("ctx")),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
			jen.If(jen.Id("b").Op("==").Nil()).Block(jen.Return(jen.Id("rows"), jen.Nil())),
			jen.For(jen.Id("i").Op(":=").Range().Id("b").Dot("Len")).Block(
				jen.Var().Id("r").Id("R"),
				jen.Id("scan").Call(jen.Op("&").Id("r"), jen.Id("b"), jen.Id("i")),
				jen.Id("rows").Op("=").Append(jen.Id("rows"), jen.Id("r")),
			),
		),
	)
}

func enumFile(p *model.Package) *jen.File {
	f := newFile(p)
	for _, e := range p.Enums {
		kind := "node"
		if e.Entity == plan.Edge {
			kind = "edge"
		}
		f.Line()
		comment(f, fmt.Sprintf("%s is a value of the property %s of the %s type %s.", e.GoName, e.Property, kind, e.Type))
		f.Type().Id(e.GoName).String()
		f.Line()
		f.Comment("// The values of " + e.GoName + ".")
		f.Const().DefsFunc(func(g *jen.Group) {
			for _, v := range e.Values {
				g.Id(v.GoName).Id(e.GoName).Op("=").Lit(v.Value)
			}
		})
		f.Line()
		f.Var().Id(e.ValuesName()).Op("=").Index().String().ValuesFunc(func(g *jen.Group) {
			for _, v := range e.Values {
				g.Lit(v.Value)
			}
		})
	}
	return f
}
