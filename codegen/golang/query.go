package golang

import (
	"strconv"

	"github.com/omnigraph-go/omnigraph/codegen/model"
)

// query writes the declarations of one query.
func (w *writer) query(q *model.Query) {
	for _, path := range []string{"context", "encoding/json", enginePath, planPath, toolPath} {
		w.use(path)
	}
	w.paramsStruct(q)
	if !q.Mutation() {
		w.rowStructs(q)
	}
	w.function(q)
	w.paramsMethods(q)
	if !q.Mutation() {
		w.scanMethod(q)
	}
	w.handler(q)
	w.planVar(q)
}

// named says which query a declaration comes from, without lines: they would change
// with the queries before it.
func named(q *model.Query) string { return "the query " + q.Name + " in " + q.File }

// function writes the typed function that runs a query.
func (w *writer) function(q *model.Query) {
	w.line()
	w.doc(q.GoName+" runs "+named(q)+".", q.Description)
	if q.Mutation() {
		w.line("func ", q.GoName, "(ctx context.Context, g engine.Graph, p ", q.GoName, "Params, opts engine.WriteOptions) (engine.Change, error) {")
		w.line("\treturn g.Mutate(ctx, ", q.GoLower, "Plan, p.args(), opts)")
	} else {
		w.line("func ", q.GoName, "(ctx context.Context, g engine.Graph, p ", q.GoName, "Params, at engine.Target) ([]", q.GoName, "Row, error) {")
		w.line("\treturn read(ctx, g, ", q.GoLower, "Plan, p.args(), at, (*", q.GoName, "Row).scan)")
	}
	w.line("}")
}

// handler writes the struct that serves a query as a tool.
func (w *writer) handler(q *model.Query) {
	name := q.GoLower + "Tool"
	w.line()
	w.comment("", name+" serves "+named(q)+" as a tool.")
	w.line("type ", name, " struct{}")
	method := func(receiver, signature string, body ...string) {
		w.line()
		w.line("func (", receiver, name, ") ", signature, " {")
		for _, line := range body {
			w.line("\t", line)
		}
		w.line("}")
	}
	method("", "Descriptor() *tool.Descriptor", "return "+q.GoLower+"Descriptor")
	method("t ", "Gates() []tool.Grant", "return tool.Gates(t)")
	method("t ", "Decode(args json.RawMessage) (tool.Call, error)", "return tool.DecodeStored(t, args)")
	method("", "Info() *tool.QueryInfo", "return "+q.GoLower+"Info")
	method("", "Plan() *plan.Query", "return "+q.GoLower+"Plan")
	method("", "DecodeParams(params json.RawMessage) (engine.Args, error)",
		"var p "+q.GoName+"Params",
		"if err := p.decode(params); err != nil {",
		"\treturn nil, err",
		"}",
		"return p.args(), nil")
	w.descriptorVar(q)
	w.infoVar(q)
}

func (w *writer) descriptorVar(q *model.Query) {
	t := q.Tool
	raw := func(b []byte) string { return "json.RawMessage(" + quoted(string(b)) + ")" }
	pairs := []pair{
		{"Name", strconv.Quote(t.Name)},
		{"Title", strconv.Quote(t.Title)},
		{"Description", strconv.Quote(t.Description)},
		{"InputSchema", raw(t.InputSchema)},
		{"OutputSchema", raw(t.OutputSchema)},
	}
	for _, hint := range []struct {
		name string
		set  bool
	}{{"ReadOnly", t.ReadOnly}, {"Destructive", t.Destructive}, {"Idempotent", t.Idempotent}} {
		if hint.set {
			pairs = append(pairs, pair{hint.name, "true"})
		}
	}
	w.literalVar(q.GoLower+"Descriptor", "tool.Descriptor", pairs)
}

func (w *writer) infoVar(q *model.Query) {
	pairs := []pair{{"Name", strconv.Quote(q.Name)}}
	if q.Exposed {
		pairs = append(pairs, pair{"Exposed", "true"})
	}
	if q.Description != "" {
		pairs = append(pairs, pair{"Description", strconv.Quote(q.Description)})
	}
	if q.Instruction != "" {
		pairs = append(pairs, pair{"Instruction", strconv.Quote(q.Instruction)})
	}
	if q.Mutation() {
		pairs = append(pairs, pair{"Mutation", "true"})
	}
	if len(q.Params) > 0 {
		docs := make([]string, len(q.Params))
		for i, p := range q.Params {
			docs[i] = p.Doc
		}
		pairs = append(pairs, pair{"ParamDocs", quotedList(docs)})
	}
	w.literalVar(q.GoLower+"Info", "tool.QueryInfo", append(pairs, pair{"File", strconv.Quote(q.File)}))
}
