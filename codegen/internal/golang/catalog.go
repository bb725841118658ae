package golang

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

// catalogFile returns the file that declares the catalog and the common parts of the schemas.
func catalogFile(p *model.Package) *jen.File {
	f := newFile(p)
	f.PackageComment(fmt.Sprintf("// Package %s holds the stored queries of the graph %s, as typed Go functions and as tools.", p.GoName, p.Graph))
	reads, writes := false, false
	var tools []jen.Code
	for _, q := range p.Queries() {
		tools = append(tools, jen.Op("&").Id(toolName(q)))
		reads, writes = reads || !q.Mutation(), writes || q.Mutation()
	}
	list := jen.Values()
	if len(tools) > 0 {
		list = multiLineList(tools...)
	}
	f.Line()
	f.Comment("// Catalog returns the stored queries of the graph as tools, in source order.")
	f.Func().Id("Catalog").Params().Op("*").Qual(toolPath, "Catalog").Block(
		jen.Return(jen.Op("&").Qual(toolPath, "Catalog").Add(multiLineList(
			keyValue("Graph", jen.Lit(p.Graph)),
			keyValue("Queries", jen.Qual("slices", "Clone").Call(jen.Id("queries"))),
			keyValue("SchemaDigest", jen.Lit(p.SchemaDigest)),
			keyValue("SourceDigest", jen.Lit(p.SourceDigest)),
		))),
	)
	f.Line()
	f.Var().Id("queries").Op("=").Index().Qual(toolPath, "StoredQuery").Add(list)
	frames(f, &p.Frames, reads, writes)
	return f
}

// enumFile returns the file that declares the enum types.
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
	}
	return f
}
