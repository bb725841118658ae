package rest

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/tool"
	"github.com/omnigraph-go/omnigraph/server/wireerror"
)

// health answers that the server is alive. It needs no actor.
func (x *exchange) health() error {
	return x.reply(client.Health{Status: "ok", Graphs: len(x.graphs)})
}

// listGraphs lists all graphs, including those on which the caller has no rights.
func (x *exchange) listGraphs() error {
	actor := x.actor()
	if actor == nil || x.opts.Server == nil || !x.opts.Server.Allowed(actor, tool.Grant{Action: tool.GraphList}) {
		return &wireerror.Forbidden{Action: tool.GraphList}
	}
	list := client.GraphList{Graphs: []client.GraphEntry{}}
	for _, id := range slices.Sorted(maps.Keys(x.graphs)) {
		list.Graphs = append(list.Graphs, client.GraphEntry{GraphID: id, URI: "omnigraph://" + id})
	}
	return x.reply(list)
}

func (x *exchange) listQueries() error {
	queries, err := x.g.Queries(x.actor())
	if err != nil {
		return err
	}
	list := client.QueryList{Queries: make([]client.QueryEntry, len(queries))}
	for i, q := range queries {
		list.Queries[i] = entry(q)
	}
	return x.reply(list)
}

func entry(q tool.StoredQuery) client.QueryEntry {
	info := q.Info()
	e := client.QueryEntry{
		Name: info.Name, ToolName: q.Descriptor().Name, Description: info.Description, Instruction: info.Instruction,
		Mutation: info.Mutation, Params: []client.ParamEntry{},
	}
	for i, p := range q.Plan().Params {
		pe := param(p)
		if i < len(info.ParamDocs) {
			pe.Description = info.ParamDocs[i]
		}
		e.Params = append(e.Params, pe)
	}
	return e
}

func param(p plan.Param) client.ParamEntry {
	e := client.ParamEntry{Name: p.Name, Kind: kindName(p.Type.Kind), VectorDim: p.Type.Dim, Nullable: p.Type.Nullable}
	if p.Type.List {
		e.Kind, e.ItemKind = "list", e.Kind
	}
	return e
}

// kindName returns the name of a kind on the wire, which does not distinguish widths below 64
// bits.
func kindName(k value.Kind) string {
	switch k {
	case value.String:
		return "string"
	case value.Bool:
		return "bool"
	case value.I32, value.U32:
		return "int"
	case value.I64, value.U64:
		return "bigint"
	case value.F32, value.F64:
		return "float"
	case value.Date:
		return "date"
	case value.DateTime:
		return "datetime"
	case value.Blob:
		return "blob"
	case value.Vector:
		return "vector"
	case value.Invalid:
	}
	panic("rest: parameter of kind " + k.String())
}
