package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// CheckProvider reports a query that cannot work fully because cluster.yaml configures no embedding
// provider for its graph. The parameter `at` is the place of the query's name. It returns false if
// the query needs no provider.
func CheckProvider(graph string, schema *catalog.Schema, q *plan.Query, at diag.Span) (diag.Diagnostic, bool) {
	effect := withoutProvider(schema, q)
	if effect == "" {
		return diag.Diagnostic{}, false
	}
	return diag.Diagnostic{
		Code: NoProvider, Severity: diag.Warning, Span: at,
		Message: fmt.Sprintf("graph %s has no embedding provider, so %s", graph, effect),
		Help:    fmt.Sprintf("set graphs.%s.embedding_provider in cluster.yaml to a name in providers.embedding", graph),
	}, true
}

// withoutProvider says what happens to a query if its graph has no embedding provider, or "" if the
// query needs none.
func withoutProvider(schema *catalog.Schema, q *plan.Query) string {
	if q.Read != nil {
		if slices.ContainsFunc(q.Read.Order, func(o plan.Order) bool { return embedsText(o.Expr, q.Params) }) ||
			slices.ContainsFunc(q.Read.Columns, func(c plan.Column) bool { return embedsText(c.Expr, q.Params) }) {
			return "a server does not offer query " + q.Name + ": nearest in the query must embed a text"
		}
		return ""
	}
	var null, fails []string
	q.Mutation.Walk(func(st plan.Statement) {
		entity, typ := plan.Target(st)
		set, _ := plan.Written(st)
		var properties []*catalog.Property
		switch {
		case set == nil:
		case entity == plan.Edge:
			properties = schema.Edge(typ).Properties
		default:
			properties = schema.Node(typ).Properties
		}
		for _, p := range properties {
			switch {
			case p.Embed == nil || assigns(set, p.Name) || !assigns(set, p.Embed.Source):
			case p.Type.Nullable:
				null = append(null, typ+"."+p.Name)
			default:
				fails = append(fails, typ+"."+p.Name)
			}
		}
	})
	switch {
	case len(fails) > 0:
		return fmt.Sprintf("every call of mutation %s fails: the server must compute %s", q.Name, strings.Join(fails, ", "))
	case len(null) > 0:
		return fmt.Sprintf("mutation %s leaves %s null", q.Name, strings.Join(null, ", "))
	}
	return ""
}

// embedsText reports whether an expression measures the distance to a text.
func embedsText(e plan.Expr, params []plan.Param) bool {
	switch e := e.(type) {
	case plan.Nearest:
		if p, ok := e.Vector.(plan.ParamRef); ok {
			return params[p.Index].Type.Kind == value.String
		}
		l, ok := e.Vector.(plan.Lit)
		return ok && l.Value.Kind() == value.String
	case plan.RRF:
		return embedsText(e.First, params) || embedsText(e.Second, params)
	case plan.Lit, plan.ParamRef, plan.Prop, plan.ID, plan.Endpoint, plan.EndNode, plan.Origin, plan.WalkPart, plan.Whole, plan.Now, plan.Agg, plan.Matched, plan.BM25, plan.Old, plan.KeyOf, plan.Cell, plan.NodeRef,
		plan.Apply, plan.Test, plan.Holds, plan.BlockAgg, plan.BlockRows, plan.Member: // the checker rejects a score inside such an expression
	}
	return false
}

// noProvider reports queries that need an embedding provider if the graph has none.
func noProvider(p *queryPass) {
	if p.in.NoProvider == "" || !p.Stored {
		return
	}
	if d, ok := CheckProvider(p.in.NoProvider, p.in.Schema, p.Plan, syntax.SpanOf(p.Syntax.Name)); ok {
		p.report(d.Span, d.Help, nil, "%s", d.Message)
	}
}
