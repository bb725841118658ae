package golang

import (
	"strconv"

	"github.com/omnigraph-go/omnigraph/codegen/model"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

func catalogFile(p *model.Package) []byte {
	var w writer
	w.use(toolPath)
	queries, reads := p.Queries(), false
	w.line()
	w.line("// Catalog returns the stored queries of the graph as tools, in source order.")
	w.line("func Catalog() *tool.Catalog {")
	w.line("\treturn &tool.Catalog{")
	if len(queries) == 0 { // all members are of one line, and stand in columns
		w.line("\t\tGraph:        ", strconv.Quote(p.Graph), ",")
		w.line("\t\tQueries:      []tool.StoredQuery{},")
	} else {
		w.line("\t\tGraph: ", strconv.Quote(p.Graph), ",")
		w.line("\t\tQueries: []tool.StoredQuery{")
		for _, q := range queries {
			w.line("\t\t\t", q.GoLower, "Tool{},")
			reads = reads || !q.Mutation()
		}
		w.line("\t\t},")
	}
	w.line("\t\tSchemaDigest: ", strconv.Quote(p.SchemaDigest), ",")
	w.line("\t\tSourceDigest: ", strconv.Quote(p.SourceDigest), ",")
	w.line("\t}")
	w.line("}")
	if reads {
		for _, path := range []string{"context", enginePath, planPath} {
			w.use(path)
		}
		w.text(readFunc)
	}
	return w.file(p, "Package "+p.GoName+" holds the stored queries of the graph "+p.Graph+", as typed Go functions and as tools.")
}

// readFunc is the function that the typed reads of a package share.
const readFunc = `
// read runs a query and keeps its rows, copied out of the engine's memory.
func read[R any](ctx context.Context, g engine.Graph, q *plan.Query, args engine.Args, at engine.Target, scan func(*R, *engine.Batch, int)) (rows []R, err error) {
	res, err := g.Query(ctx, q, args, at)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closing := res.Close(); err == nil {
			err = closing
		}
	}()
	for {
		b, err := res.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			return rows, nil
		}
		for i := range b.Len {
			var r R
			scan(&r, b, i)
			rows = append(rows, r)
		}
	}
}
`

func enumFile(p *model.Package) []byte {
	var w writer
	for _, e := range p.Enums {
		kind := "node"
		if e.Entity == plan.Edge {
			kind = "edge"
		}
		w.line()
		w.comment("", e.GoName+" is a value of the property "+e.Property+" of the "+kind+" type "+e.Type+".")
		w.line("type ", e.GoName, " string")
		w.line()
		w.line("// The values of ", e.GoName, ".")
		w.line("const (")
		names := 0
		for _, v := range e.Values {
			names = max(names, width(v.GoName))
		}
		for _, v := range e.Values {
			w.line("\t", v.GoName, pad(v.GoName, names), e.GoName, " = ", strconv.Quote(v.Value))
		}
		w.line(")")
		w.line()
		w.line("var ", e.ValuesName(), " = ", quotedList(e.Names()))
	}
	return w.file(p, "")
}
