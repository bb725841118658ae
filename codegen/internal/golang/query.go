package golang

import (
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

// query adds the declarations of one query.
func query(f *jen.File, q *model.Query) {
	paramsStruct(f, q)
	if q.Returns() {
		rowStructs(f, q)
	}
	queryFunction(f, q)
	handler(f, q)
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
	self, p := jen.Id(toolName(q)), jen.Id("p")
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

// toolName returns the name of the variable that serves a query as a tool.
func toolName(q *model.Query) string { return q.GoLower + "Tool" }

// handler adds the variable that serves a query as a tool.
func handler(f *jen.File, q *model.Query) {
	f.Line()
	comment(f, toolName(q)+" serves "+queryPhrase(q)+" as a tool.")
	members := []jen.Code{
		keyValue("Query", jen.Qual(toolPath, "QueryInfo").Add(multiLineList(infoMembers(q)...))),
		keyValue("Tool", jen.Qual(toolPath, "Descriptor").Add(multiLineList(descriptorMembers(q)...))),
	}
	if enums := enums(q.Params); len(enums) > 0 {
		members = append(members, keyValue("Enums", jen.Index().Index().String().Values(enums...)))
	}
	members = append(members, keyValue("Encoded", bytesLiteral(plan.Encode(q.Plan))))
	f.Var().Id(toolName(q)).Op("=").Qual(toolPath, "Compiled").Add(multiLineList(members...))
}

// infoMembers returns the members of the QueryInfo literal of a query.
func infoMembers(q *model.Query) []jen.Code {
	members := []jen.Code{keyValue("Name", jen.Lit(q.Name))}
	if q.Exposed {
		members = append(members, keyValue("Exposed", jen.True()))
	}
	if q.Description != "" {
		members = append(members, keyValue("Description", jen.Lit(q.Description)))
	}
	if q.Instruction != "" {
		members = append(members, keyValue("Instruction", jen.Lit(q.Instruction)))
	}
	if len(q.Questions) > 0 {
		members = append(members, keyValue("Questions", jen.Index().String().Values(stringLiterals(q.Questions)...)))
	}
	if q.MustBeEmpty != "" {
		members = append(members, keyValue("MustBeEmpty", jen.Lit(q.MustBeEmpty)))
	}
	if q.Mutation() {
		members = append(members, keyValue("Mutation", jen.True()))
	}
	if len(q.Params) > 0 {
		docs := make([]string, len(q.Params))
		for i, p := range q.Params {
			docs[i] = p.Doc
		}
		members = append(members, keyValue("ParamDocs", jen.Index().String().Values(stringLiterals(docs)...)))
	}
	return append(members, keyValue("File", jen.Lit(q.File)))
}

// descriptorMembers returns the members of the Descriptor literal of a query's tool.
func descriptorMembers(q *model.Query) []jen.Code {
	t := q.Tool
	members := []jen.Code{
		keyValue("Name", jen.Lit(t.Name)),
		keyValue("Title", jen.Lit(t.Title)),
		keyValue("Description", jen.Lit(t.Description)),
		keyValue("InputSchema", jen.Qual(jsonPath, "RawMessage").Call(inputSchema(q))),
		keyValue("OutputSchema", jen.Qual(jsonPath, "RawMessage").Call(outputSchema(q))),
	}
	for _, hint := range []struct {
		name string
		set  bool
	}{{"ReadOnly", t.ReadOnly}, {"Destructive", t.Destructive}, {"Idempotent", t.Idempotent}} {
		if hint.set {
			members = append(members, keyValue(hint.name, jen.True()))
		}
	}
	return members
}

// enums returns the values of each parameter that is an enum, up to the last such parameter.
func enums(params []model.Param) []jen.Code {
	var all []jen.Code
	last := 0
	for i, p := range params {
		if p.Enum == nil {
			all = append(all, jen.Nil())
			continue
		}
		all, last = append(all, jen.Values(stringLiterals(p.Enum.Names())...)), i+1
	}
	return all[:last]
}

// stringLiterals returns a Go string literal for each text.
func stringLiterals(texts []string) []jen.Code {
	all := make([]jen.Code, len(texts))
	for i, t := range texts {
		all[i] = jen.Lit(t)
	}
	return all
}

// multiLineList returns a list in braces with one item per line.
func multiLineList(items ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, items...)
}

// keyValue returns a member of a composite literal.
func keyValue(name string, v jen.Code) jen.Code { return jen.Id(name).Op(":").Add(v) }

// rawString returns a string literal, as a raw string if Go allows it.
func rawString(s string) *jen.Statement {
	if strconv.CanBackquote(s) {
		return jen.Id("`" + s + "`")
	}
	return jen.Lit(s)
}

// lineWidth is the number of plan bytes per line of source. Escapes make the line longer.
const lineWidth = 80

// bytesLiteral returns a string of bytes as a literal of several lines.
func bytesLiteral(s string) *jen.Statement {
	lines := []string{`""`}
	for len(s) > 0 {
		n := min(lineWidth, len(s))
		lines, s = append(lines, strconv.QuoteToASCII(s[:n])), s[n:]
	}
	return jen.Id(strings.Join(lines, " +\n"))
}
