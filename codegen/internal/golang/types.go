package golang

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

// paramsStruct adds the struct for the parameters of a query.
func paramsStruct(f *jen.File, q *model.Query) {
	name := q.GoName + "Params"
	f.Line()
	comment(f, name+" are the parameters of "+queryPhrase(q)+".")
	f.Type().Id(name).StructFunc(func(g *jen.Group) {
		for i := range q.Params {
			p := &q.Params[i]
			typ := fieldType(p.Type, p.Enum, p.ID)
			switch {
			case p.Record == nil:
			case p.Type.List:
				typ = jen.Index().Id(p.Record.GoName)
			case p.Type.Nullable:
				typ = jen.Op("*").Id(p.Record.GoName)
			default:
				typ = jen.Id(p.Record.GoName)
			}
			tags := p.Tags()
			delete(tags, model.DescriptionTag) // the comment has it
			member(g, p.Doc, p.GoName, typ, tags)
		}
	})
	for i := range q.Params {
		p := &q.Params[i]
		if p.Record == nil || p.Interface != "" { // the type for an interface is in the file of the types
			continue
		}
		f.Line()
		comment(f, p.Record.GoName+" is a record of the parameter $"+p.Name+" of "+queryPhrase(q)+".")
		paramRecord(f, p.Record)
	}
}

// paramRecord declares the struct type of a record in a parameter.
func paramRecord(f *jen.File, s *model.Struct) {
	f.Type().Id(s.GoName).StructFunc(func(g *jen.Group) {
		for i := range s.Fields {
			c := &s.Fields[i]
			member(g, "", c.GoName, fieldType(c.Type, nil, nil), c.ParamTags())
		}
	})
}

// rowStructs adds the struct for a row, and one for each record in it.
func rowStructs(f *jen.File, q *model.Query) {
	name := q.GoName + "Row"
	f.Line()
	comment(f, name+" is a row of "+queryPhrase(q)+".")
	rowStruct(f, name, q.Columns)
	recordStructs(f, q, q.Columns)
}

// recordStructs adds a struct for each record among the fields, and for the records in them.
func recordStructs(f *jen.File, q *model.Query, fields []model.Field) {
	for _, c := range fields {
		if c.Record == nil {
			continue
		}
		is := "the record " + c.Name
		switch {
		case c.Record.NodeType != "" && c.Type.List:
			is = "a node of the list " + c.Name + ", a " + c.Record.NodeType + ","
		case c.Record.NodeType != "":
			is = "the node " + c.Name + ", a " + c.Record.NodeType + ","
		case c.Type.List:
			is = "a record of the list " + c.Name
		case c.Record.EndOf != "":
			is = "the type and the id of the " + c.Record.EndOf + " " + c.Name
		}
		f.Line()
		comment(f, c.Record.GoName+" is "+is+" in a row of "+queryPhrase(q)+".")
		rowStruct(f, c.Record.GoName, c.Record.Fields)
		recordStructs(f, q, c.Record.Fields)
	}
}

// rowStruct declares a struct type with a member for each field.
func rowStruct(f *jen.File, name string, fields []model.Field) {
	f.Type().Id(name).StructFunc(func(g *jen.Group) {
		for i := range fields {
			c := &fields[i]
			if c.Record != nil {
				typ := jen.Id(c.Record.GoName)
				switch {
				case c.Type.List:
					typ = jen.Index().Id(c.Record.GoName)
				case c.Type.Nullable:
					typ = jen.Op("*").Id(c.Record.GoName)
				}
				member(g, c.Doc, c.GoName, typ, c.Tags())
			} else {
				member(g, c.Doc, c.GoName, fieldType(c.Type, c.Enum, c.ID), c.Tags())
			}
		}
	})
}

// member adds a member to a struct type.
func member(g *jen.Group, doc, name string, typ *jen.Statement, tags map[string]string) {
	if strings.TrimSpace(doc) != "" {
		comment(g, doc)
	}
	g.Id(name).Add(typ).Tag(tags)
}

// fieldType returns the type of a field. An optional or nullable one is a pointer, except that a
// list is nil when it is null.
func fieldType(t value.Type, enum *model.Enum, id *model.ID) *jen.Statement {
	var typ *jen.Statement
	switch {
	case t.Fields != nil:
		return nil // the caller knows the name of the struct
	case t.List:
		return jen.Index().Add(scalarType(t.Kind))
	case id != nil:
		typ = jen.Id(id.GoName)
	case t.Kind == value.Vector:
		typ = jen.Index(jen.Lit(t.Dim)).Float32()
	case enum != nil:
		typ = jen.Id(enum.GoName)
	default:
		typ = scalarType(t.Kind)
	}
	if t.Nullable {
		return jen.Op("*").Add(typ)
	}
	return typ
}

// scalarType returns the Go type of a kind: a basic type, or a type of package time or value.
func scalarType(k value.Kind) *jen.Statement {
	t := k.GoType()
	if t.PkgPath() == "" {
		return jen.Id(t.Name())
	}
	return jen.Qual(t.PkgPath(), t.Name())
}
