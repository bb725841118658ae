package servedgraph

import (
	"cmp"
	"context"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ListedTools returns the tools that a graph lists on MCP by default to an actor who may use all of them: the
// built-in tools, and then a tool for each exposed query, or the two meta tools. The argument
// `threshold` is the value of [Config.MetaThreshold]. The result `meta` reports whether the list
// has the meta tools.
func ListedTools(builtins []tool.Tool, queries []tool.StoredQuery, threshold int) (listed []*tool.Descriptor, meta bool) {
	for _, t := range builtins {
		if d := t.Descriptor(); InToolsets(d, nil) {
			listed = append(listed, d)
		}
	}
	p := metatools.New(func(context.Context, *access.Actor) func(tool.StoredQuery) bool {
		return func(tool.StoredQuery) bool { return true }
	})
	for _, q := range queries {
		if q.Info().Exposed {
			p.Queries = append(p.Queries, q)
		}
	}
	if !needsMeta(len(p.Queries), cmp.Or(threshold, DefaultMetaThreshold)) {
		for _, q := range p.Queries {
			listed = append(listed, q.Descriptor())
		}
		return listed, false
	}
	for _, t := range p.Tools() {
		listed = append(listed, t.Descriptor())
	}
	return listed, true
}

// needsMeta reports whether a graph with the given number of exposed queries runs them through the
// meta tools.
func needsMeta(exposed, threshold int) bool { return exposed >= threshold }
