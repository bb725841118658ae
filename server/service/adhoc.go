package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// AdHoc is the call of a query given as text. It is compiled against the schema of the
// branch when it runs, after the caller was granted the read or the change.
type AdHoc struct {
	Source string
	Name   string          // which query of the text; may be empty when there is one
	Params json.RawMessage // nil, null or an object
	Branch string          // empty for main
	Write  bool            // the query must be a mutation; otherwise it must be a read
}

// Grants returns the permission to read or change the branch.
func (c *AdHoc) Grants() []tool.Grant {
	g := tool.Grant{Action: tool.Read, Branch: c.Branch, Via: tool.AdHoc}
	if c.Write {
		g.Action = tool.Change
	}
	return []tool.Grant{g}
}

// Run compiles the text and executes the query. Faults of the text are a *Rejected,
// those of the choice of a query and of its parameters a *tool.ArgumentError.
func (c *AdHoc) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	schema, err := env.Graph.Schema(ctx, engine.Target{Branch: c.Branch})
	if err != nil {
		return nil, err
	}
	queries, found := gq.CompileQueries(schema.Catalog, gq.Source{Name: sourceName, Text: c.Source})
	if found.HasErrors() {
		r := &Rejected{Diagnostics: found.Cut(maxFaults), Sources: map[string]string{sourceName: c.Source}, Example: exampleRead}
		if c.Write {
			r.Example = exampleMutation
		}
		return nil, r
	}
	q, err := c.choose(queries)
	if err != nil {
		return nil, err
	}
	args, err := tool.DecodeArgs(c.Params, q.Plan.Params)
	if err != nil {
		var a *tool.ArgumentError
		if errors.As(err, &a) {
			return nil, a.Under("params")
		}
		return nil, err
	}
	return tool.RunPlan(ctx, env, q.Plan, args, c.Branch)
}

// maxFaults bounds the faults that an answer lists: whoever reads them, a model above
// all, mends the first ones and asks again.
const maxFaults = 20

// The forms that are shown to whoever writes something else, Cypher or a bare match.
const (
	exampleRead     = "query name($age: I32) { match { $p: Person { age: $age } $p knows $q $q.name != \"ada\" } return { $p.name, count($q) as n } order { n desc } limit 20 }"
	exampleMutation = "query name($name: String) { insert Person { name: $name } insert Knows { from: \"ada\", to: $name } }"
)

// sourceName stands for ad-hoc text in the spans of diagnostics.
const sourceName = "query"

// choose returns the query to run out of those that the text holds.
func (c *AdHoc) choose(queries []*gq.Query) (*gq.Query, error) {
	names := make([]string, len(queries))
	var chosen *gq.Query
	for i, q := range queries {
		names[i] = q.Plan.Name
		if c.Name == "" && len(queries) == 1 || names[i] == c.Name {
			chosen = q
		}
	}
	switch {
	case len(queries) == 0:
		return nil, &tool.ArgumentError{Path: "query", Detail: "found no query in the text", Help: "write query name() { … }"}
	case chosen == nil && c.Name == "":
		return nil, &tool.ArgumentError{Path: "name", Detail: "missing, but the text holds several queries", Help: "choose one of " + some(names)}
	case chosen == nil:
		e := &tool.ArgumentError{Path: "name", Detail: "the text holds no query " + c.Name, Help: "it holds " + some(names)}
		if near := diag.DidYouMean(c.Name, names); near != "" {
			e.Help = near
		}
		return nil, e
	case chosen.Plan.Mutation != nil && !c.Write:
		return nil, &tool.ArgumentError{Path: "query", Detail: chosen.Plan.Name + " is a mutation, wanted a read", Help: "run it with graph_mutate, or POST …/mutate"}
	case chosen.Plan.Mutation == nil && c.Write:
		return nil, &tool.ArgumentError{Path: "query", Detail: chosen.Plan.Name + " is a read, wanted a mutation", Help: "run it with graph_query, or POST …/query"}
	}
	return chosen, nil
}

// some lists names, the first of them when they are many.
func some(names []string) string {
	if len(names) <= maxFaults {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxFaults], ", "), len(names)-maxFaults)
}

// Load is the call that loads NDJSON.
type Load struct {
	Data   io.Reader
	Mode   engine.LoadMode
	Branch string // empty for main
}

// Grants returns the permission to change the branch.
func (c *Load) Grants() []tool.Grant {
	return []tool.Grant{{Action: tool.Change, Branch: c.Branch, Via: tool.AdHoc}}
}

// Run loads the data as one commit.
func (c *Load) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	branch := c.Branch
	if branch == "" {
		branch = engine.MainBranch
	}
	res, err := env.Graph.Load(ctx, c.Data, engine.LoadOptions{
		WriteOptions: engine.WriteOptions{Branch: branch, Actor: env.Actor}, Mode: c.Mode,
	})
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Load: &tool.LoadOutcome{Branch: branch, Mode: c.Mode, Result: res}}, nil
}
