package golang

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/contract"
)

// catalogFile returns the file that embeds the contract and declares the catalog.
func catalogFile(p *model.Package) *jen.File {
	f := newFile(p)
	f.PackageComment(fmt.Sprintf("// Package %s holds the stored queries of the graph %s, as typed Go functions and as tools.", p.GoName, p.Graph))
	f.Anon("embed")
	f.Comment("//go:embed " + contract.File)
	f.Var().Id("contract").String()
	f.Line()
	f.Comment("// stored has the plans and the tools of the contract.")
	f.Var().Id("stored").Op("=").Qual(toolPath, "NewPackage").Call(jen.Id("contract"))
	f.Line()
	f.Comment("// Catalog returns the stored queries of the graph as tools, in source order.")
	f.Func().Id("Catalog").Params().Op("*").Qual(toolPath, "Catalog").Block(jen.Return(jen.Id("stored").Dot("Catalog").Call()))
	return f
}

// typesFile returns the file that declares the types that queries share: those of enums and of ids.
func typesFile(p *model.Package) *jen.File {
	f := newFile(p)
	for _, e := range p.Enums {
		enumType(f, e)
	}
	idTypes(f, p.IDs)
	return f
}

// enumType declares the type and the constants of an enum.
func enumType(f *jen.File, e *model.Enum) {
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

// idTypes declares the types of the ids of nodes.
func idTypes(f *jen.File, ids []*model.ID) {
	var strings []jen.Code
	for _, id := range ids {
		if id.Record == nil {
			strings = append(strings, jen.Id(id.GoName).String())
		}
	}
	if strings != nil {
		f.Line()
		f.Comment("// The ids of nodes, by the type of the node.")
		f.Type().Defs(strings...)
	}
	for _, id := range ids {
		if id.Record != nil {
			f.Line()
			comment(f, id.GoName+" is the type and the id of a node of the interface "+id.Of+".")
			paramRecord(f, id.Record)
		}
	}
}
