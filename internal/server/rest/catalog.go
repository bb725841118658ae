package rest

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// health answers that the server is alive. The request needs no actor.
func (x *exchange) health() error {
	return x.reply(client.Health{
		Status: "ok", Version: x.opts.Version, SourceVersion: encoding.OrNil(x.opts.SourceVersion),
		InternalSchemaVersion: operations.InternalSchemaVersion, Graphs: len(x.graphs),
	})
}

// whoami answers with the caller.
func (x *exchange) whoami() error {
	actor := x.actor()
	if actor == nil {
		return &httpError{envelope.New(wireerror.NotIdentified, client.CodeUnauthorized, "the request has no actor")}
	}
	return x.reply(client.ActorAnswer{ActorID: actor.ID, Agents: actor.AgentIDs(), Groups: append([]string{}, actor.Groups...)})
}

// listGraphs lists all graphs. The caller may have no rights on some of them.
func (x *exchange) listGraphs() error {
	if err := access.RequireServer(x.opts.Server, x.actor(), tool.GraphList); err != nil {
		return err
	}
	list := client.GraphList{Graphs: []client.GraphEntry{}}
	for _, id := range slices.Sorted(maps.Keys(x.graphs)) {
		list.Graphs = append(list.Graphs, client.GraphEntry{GraphID: id, URI: "omnigraph://" + id})
	}
	return x.reply(list)
}

// listQueries answers with the stored queries that the caller may run.
func (x *exchange) listQueries() error {
	queries, err := x.g.Queries(x.ctx(), x.actor())
	if err != nil {
		return err
	}
	list := client.QueryList{Queries: make([]client.QueryEntry, len(queries))}
	for i, q := range queries {
		list.Queries[i] = operations.StoredQuery(q)
	}
	return x.reply(list)
}

// describeQuery describes a stored query. If the caller may not invoke the query, the status is
// 404.
func (x *exchange) describeQuery() error {
	call, err := x.g.DescribeQuery(x.ctx(), x.actor(), x.r.PathValue("name"), x.branch())
	if err != nil {
		return err
	}
	return x.answer(call, encoding.Options{})
}

// explainAccess says what an actor may do on the graph.
func (x *exchange) explainAccess() error {
	for _, name := range append([]string{x.query.Get("actor")}, x.query["group"]...) {
		if strings.ContainsFunc(name, unicode.IsControl) {
			return &tool.ArgumentError{Path: "group", Detail: "found a control character in an actor or a group, expected a name"}
		}
	}
	if x.query.Get("actor") == "" {
		if len(x.query["group"]) > 0 {
			return &tool.ArgumentError{Path: "group", Detail: "found a group without an actor", Help: "give the actor too; without it the answer is about the caller"}
		}
		call := x.g.ExplainAccess(x.actor(), x.branch())
		call.Own = true
		return x.answer(call, encoding.Options{})
	}
	about := access.Named(x.query.Get("actor"), x.query["group"])
	about.Source = "explained"
	return x.answer(x.g.ExplainAccess(about, x.branch()), encoding.Options{})
}

// kindNames lists the names of the kinds of parameters, each once.
func kindNames() []any {
	var names []any
	for _, k := range value.Kinds() {
		if name := any(client.ParamKind(k.WireName())); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return append(names, client.ParamKind("list"), client.ParamKind("record"))
}
