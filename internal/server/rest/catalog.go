package rest

import (
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// health answers that the server is alive. It needs no actor.
func (x *exchange) health() error {
	return x.reply(health{Status: "ok", Graphs: len(x.graphs)})
}

// listGraphs lists all graphs, including those on which the caller has no rights.
func (x *exchange) listGraphs() error {
	actor := x.actor()
	if actor == nil || x.opts.Server == nil || !x.opts.Server.Allowed(actor, tool.Grant{Action: tool.GraphList}) {
		return &wireerror.Forbidden{Action: tool.GraphList}
	}
	list := graphList{Graphs: []graphEntry{}}
	for _, id := range slices.Sorted(maps.Keys(x.graphs)) {
		list.Graphs = append(list.Graphs, graphEntry{GraphID: id, URI: "omnigraph://" + id})
	}
	return x.reply(list)
}

func (x *exchange) listQueries() error {
	queries, err := x.g.Queries(x.actor())
	if err != nil {
		return err
	}
	list := queryList{Queries: make([]queryEntry, len(queries))}
	for i, q := range queries {
		list.Queries[i] = entry(q)
	}
	return x.reply(list)
}

func entry(q tool.StoredQuery) queryEntry {
	info := q.Info()
	e := queryEntry{
		Name: info.Name, ToolName: q.Descriptor().Name, Description: info.Description, Instruction: info.Instruction,
		Mutation: info.Mutation, Params: []paramEntry{},
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

func param(p plan.Param) paramEntry {
	e := paramEntry{Name: p.Name, Kind: client.ParamKind(p.Type.Kind.WireName()), VectorDim: p.Type.Dim, Nullable: p.Type.Nullable}
	if p.Type.List {
		e.Kind, e.ItemKind = listKind, string(e.Kind)
	}
	return e
}

const listKind client.ParamKind = "list"

// kindNames lists the names of the kinds of parameters, each once.
func kindNames() []any {
	var names []any
	for _, k := range value.Kinds() {
		if name := any(client.ParamKind(k.WireName())); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return append(names, listKind)
}
