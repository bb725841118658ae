package lsp

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/internal/codegen/breaking"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/gq/xref"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// queryFacts has the texts of the lenses over a stored query.
type queryFacts struct {
	file    string // the name of its source
	tool    string // its tool and the size of the tool
	callers string // who may call it; "" outside of a cluster
	changes string // how it differs from the version at the git ref; "" if there is no such version
}

// codeLenses returns the lenses over the queries of a document.
func (s *server) codeLenses(p *documentParams) ([]codeLens, error) {
	lenses := []codeLens{}
	d := s.document(p.TextDocument.URI)
	g := s.graphOf(d)
	if g == nil {
		return lenses, nil
	}
	src, t := s.names(g, d.path)
	file := g.project.name(d.path)
	for i := range src.Names {
		n := &src.Names[i]
		facts, ok := g.tools[n.Text()]
		if n.Kind != xref.Query || !n.Decl || !ok || facts.file != file {
			continue
		}
		for _, title := range []string{facts.tool, facts.callers, facts.changes} {
			if title != "" {
				// A lens without a command only shows its title.
				lenses = append(lenses, codeLens{rangeOf(t, n), command{Title: title}})
			}
		}
	}
	return lenses, nil
}

// factsOf returns the facts about the stored queries of a graph. REQUIRES: s.mu.
func (s *server) factsOf(g *graph, pkg *model.Package, sizes *lint.ToolList, now *codegen.Contract) map[string]queryFacts {
	facts := map[string]queryFacts{}
	authority := s.policyOf(g)
	changes := s.changesOf(g, now)
	for _, q := range pkg.Queries() {
		f := queryFacts{file: q.File, tool: toolText(q, sizes)}
		if g.policy != "" {
			f.callers = callersText(authority, q)
		} else if g.project.cluster && g.whole {
			f.callers = "no policy of cluster.yaml applies to this graph"
		}
		if changes != nil {
			f.changes = changes(q.Name)
		}
		facts[q.Name] = f
	}
	return facts
}

// toolText returns the name of a query's tool and its size in the answer to tools/list.
func toolText(q *model.Query, sizes *lint.ToolList) string {
	size, listed := 0, false
	if sizes != nil {
		size, listed = sizes.Queries[q.Name]
	}
	switch {
	case !q.Exposed:
		return "no tool: @mcp(expose: false) hides the query from MCP"
	case listed:
		return fmt.Sprintf("tool %s: about %d tokens in tools/list", q.Tool.Name, lint.Tokens(size))
	}
	return fmt.Sprintf("tool %s: stored_query_run runs it, because the graph has many queries", q.Tool.Name)
}

// policyOf compiles the policy of a graph. It returns nil if there is none, or if it has errors.
// REQUIRES: s.mu.
func (s *server) policyOf(g *graph) *policy.Policy {
	if g.policy == "" {
		return nil
	}
	t, err := s.read(g.policy)
	if err != nil {
		return nil
	}
	o := policy.Options{Graph: g.id, Graphs: g.shares, AnyQuery: true, TokenGroups: g.project.policyGroups, LooseGroups: true, Protected: g.protected}
	compile := policy.Compile
	if strings.HasSuffix(g.policy, ".cedar") {
		compile = policy.CompileCedar
	}
	p, err := compile(g.policy, []byte(t.content), o)
	if err != nil {
		return nil
	}
	return p
}

// callersText says who may call a stored query on the branch main.
func callersText(p *policy.Policy, q *model.Query) string {
	if p == nil {
		return "the policy has errors, so it is not known who may call the query"
	}
	inner := tool.Grant{Action: tool.Read, Query: q.Name, Via: tool.Stored}
	if q.Mutation() {
		inner.Action = tool.Change
	}
	c := p.Callers(tool.Grant{Action: tool.InvokeQuery, Query: q.Name}, inner)
	switch {
	case c.Any && len(c.Except) > 0:
		return "every actor may call it, except " + strings.Join(c.Except, ", ")
	case c.Any:
		return "every actor may call it"
	case len(c.Groups)+len(c.Actors) == 0:
		return "no actor may call it"
	}
	var who []string
	for _, group := range c.Groups {
		who = append(who, "group "+group)
	}
	return strings.Join(append(who, c.Actors...), ", ") + " may call it"
}

// changesOf returns a function that says how a query differs from the earlier version of the graph. It
// returns nil if there is no earlier version. REQUIRES: s.mu.
func (s *server) changesOf(g *graph, now *codegen.Contract) func(query string) string {
	var before *codegen.Contract
	for _, c := range g.project.earlier {
		if c.Graph == g.id {
			before = c
		}
	}
	if before == nil || now == nil {
		return nil
	}
	byQuery := map[string][]breaking.Change{}
	for _, c := range breaking.Compare(before, now) {
		byQuery[c.Query] = append(byQuery[c.Query], c)
	}
	is := g.meta
	was := cmp.Or(g.project.earlierAt[g.id], is)
	mode := breaking.CompareMode(before, now, was, is, clusterFile)
	ref := s.ref
	return func(query string) string {
		list := append(append([]breaking.Change(nil), mode...), byQuery[query]...)
		var broken []string
		for _, c := range list {
			if c.Breaking {
				broken = append(broken, c.Message)
			}
		}
		switch {
		case len(broken) > 0:
			return "breaking against " + ref + ": " + strings.Join(broken, "; ")
		case len(list) > 0:
			return "not breaking against " + ref + ": " + list[0].Message
		}
		return "unchanged since " + ref
	}
}
