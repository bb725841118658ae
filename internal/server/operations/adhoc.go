// Package operations holds the operations on a graph that every transport offers, one file for
// each. An operation is a tool.Call: it says which grants it needs, takes the graph and the caller
// from a tool.Env, and knows neither transports nor the served graph.
package operations

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/compile"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// AdHoc is the call of a query given as text. When the call runs, the policy first grants the read
// or the change. Then the text is compiled against the schema of the branch.
type AdHoc struct {
	Source   string // text of the query
	Argument string // the name of the argument that holds Source; query if empty
	// File is the name of the file that the command line gave for Source. It is empty if a client
	// sent the text. A text from a file has no size limits, and all of its faults are reported.
	File    string
	Name    string          // the query of the text to run; may be empty if there is only one
	Params  json.RawMessage // nil, null or an object
	Branch  tool.BranchName
	Write   bool             // the query must be a mutation; otherwise it must be a read
	Options queryrun.Options // such as the page token or a dry run
}

// Needs returns the permission to read or change the branch; a dry run requires both.
func (c *AdHoc) Needs() []tool.Need {
	if c.Write {
		return append([]tool.Need{{Action: tool.Change, Branch: c.Branch, Via: tool.AdHoc}}, access.WantsRead(c.Branch, c.Options.DryRun)...)
	}
	return []tool.Need{c.Options.Need(c.Branch, tool.AdHoc)}
}

// RunOptions returns the options of the call.
func (c *AdHoc) RunOptions() *queryrun.Options { return &c.Options }

// Run compiles the text and executes the query. Faults in the text give a *wireerror.Rejected.
// Faults in the name of the query, its parameters or its run options give a *tool.ArgumentError. A
// mutation that updates, deletes, upserts or has a match also requires permission to read; without it
// the error is a *wireerror.Forbidden.
func (c *AdHoc) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	if err := c.Options.Check(c.Write, c.Branch); err != nil {
		return nil, err
	}
	if c.Write {
		branch := env.Branch(c.Branch)
		q, args, _, err := c.compile(ctx, env, branch.At())
		if err != nil {
			return nil, err
		}
		return mutateAdHoc(ctx, env, q.Plan, args, branch, &c.Options)
	}
	r, err := c.Options.Reading(ctx, env, c.Branch)
	if err != nil {
		return nil, err
	}
	q, args, findings, err := c.compile(ctx, env, r.At)
	if err != nil {
		return nil, r.Lost(err)
	}
	if q.Plan.AsOf != nil { // compile against the schema of that time, as the caller may see it
		if err := r.AsOf(ctx, env, q.Plan, args); err != nil {
			return nil, r.Lost(err)
		}
		if q, args, findings, err = c.compile(ctx, env, r.At); err != nil {
			return nil, r.Lost(err)
		}
	}
	out, err := r.Run(ctx, env, q.Plan, args)
	if err != nil {
		return nil, err
	}
	out.Read.Findings = findings
	return out, nil
}

// compile returns the query to run and its arguments, compiled against the schema at a
// target, and the findings about the rows of the query.
func (c *AdHoc) compile(ctx context.Context, env *tool.Env, at engine.Target) (*compile.Query, engine.Args, []string, error) {
	schema, err := env.Graph.Schema(ctx, at)
	var closed *engine.DraftClosed
	if c.Options.IdempotencyKey != "" && errors.As(err, &closed) {
		// The write may repeat one that was made before the draft ended. If it does not, the engine
		// returns this error again.
		schema, err = env.Graph.Schema(ctx, engine.Target{})
	}
	if err != nil {
		return nil, nil, nil, err
	}
	var queries []*compile.Query
	var found, findings diag.List
	if c.File != "" {
		options := compile.Options{Claims: env.Claims}
		queries, found = options.CompileQueries(schema.Catalog, compile.Source{Name: c.File, Text: c.Source})
		if !found.HasErrors() {
			if _, _, findings, err = linted(ctx, work.Limits{}, options, schema.Catalog, compile.Source{Name: c.File, Text: c.Source}); err != nil {
				return nil, nil, nil, err
			}
		}
	} else if queries, found, findings, err = compileLinted(ctx, env, c.argument(), schema.Catalog, c.Source); err != nil {
		return nil, nil, nil, err
	}
	switch {
	case !found.HasErrors():
	case c.File != "":
		return nil, nil, nil, &wireerror.Rejected{Diagnostics: found, Sources: map[string]string{c.File: c.Source}, Valid: compile.RightQueries(compile.Source{Name: c.File, Text: c.Source}, found)}
	default:
		r := &wireerror.Rejected{Diagnostics: found.Cut(maxFaults), Sources: map[string]string{sourceName: c.Source}, Example: exampleRead, Valid: queryNames(queries)}
		if c.Write {
			r.Example = exampleMutation
		}
		return nil, nil, nil, r
	}
	q, err := c.choose(queries, env.Branch(c.Branch))
	if err != nil {
		return nil, nil, nil, err
	}
	args, err := arguments.Decode(c.Params, q.Plan.Declared())
	if err != nil {
		var a *tool.ArgumentError
		if errors.As(err, &a) {
			return nil, nil, nil, a.Under("params")
		}
		return nil, nil, nil, err
	}
	args = env.Caller.With(q.Plan.Params, args)
	return q, args, findingsOn(q, args, findings), nil
}

// argument returns the name of the argument that holds the text.
func (c *AdHoc) argument() string { return cmp.Or(c.Argument, "query") }

// maxFaults is the maximum number of faults in one answer. A reader, often a model,
// corrects the first faults and tries again.
const maxFaults = 20

// Examples that are shown to callers that write another language, such as Cypher or a bare
// match.
const (
	exampleRead     = "query name($age: I32) { match { $p: Person { age: $age } $p knows $q $q.name != \"ada\" } return { $p.name, count($q) as n } order { n desc } limit 20 }"
	exampleMutation = "query name($name: String) { insert Person { name: $name } insert Knows { from: \"ada\", to: $name } }"
)

// sourceName is the file name of ad-hoc text in the spans of diagnostics.
const sourceName = "query"

// queryNames returns the names of queries.
func queryNames(queries []*compile.Query) []string {
	names := make([]string, len(queries))
	for i, q := range queries {
		names[i] = q.Plan.Name
	}
	return names
}

// choose returns the query to run among the queries of the text. The branch is the one that the query would run on.
func (c *AdHoc) choose(queries []*compile.Query, branch tool.Branch) (*compile.Query, error) {
	var chosen *compile.Query
	names := queryNames(queries)
	for i, q := range queries {
		if c.Name == "" && len(queries) == 1 || names[i] == c.Name {
			chosen = q
		}
	}
	switch {
	case len(queries) == 0:
		return nil, &tool.ArgumentError{Path: "query", Detail: "the text contains no query", Help: "write query name() { … }"}
	case chosen == nil && c.Name == "":
		return nil, &tool.ArgumentError{Path: "name", Detail: "the name is missing, but the text has several queries", Help: "choose one of " + listNames(names)}
	case chosen == nil:
		e := &tool.ArgumentError{Path: "name", Detail: "the text does not contain the query " + c.Name, Help: "it contains " + listNames(names)}
		if near := diag.DidYouMean(c.Name, names); near != "" {
			e.Help = near
		}
		return nil, e
	case chosen.Plan.Mutation != nil && !c.Write:
		return nil, &tool.ArgumentError{Path: "query", Detail: chosen.Plan.Name + " is a mutation, expected a read", Help: "run it with graph_mutate", Route: "POST …/mutate",
			HelpFor: &tool.Grant{Action: tool.Change, Branch: branch, Via: tool.AdHoc}}
	case chosen.Plan.Mutation == nil && c.Write:
		return nil, &tool.ArgumentError{Path: "query", Detail: chosen.Plan.Name + " is a read, expected a mutation", Help: "run it with graph_query", Route: "POST …/query",
			HelpFor: new(access.ReadOn(branch))}
	}
	return chosen, nil
}

// listNames lists the names, at most maxFaults of them.
func listNames(names []string) string {
	if len(names) <= maxFaults {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxFaults], ", "), len(names)-maxFaults)
}

// readsStored reports whether the answer of a mutation may depend on stored data. That is so if the
// mutation finds entities by a condition, or matches or returns stored data. Plain inserts do none
// of this. An upsert counts, because the mutation may return the values that the entity had before.
func readsStored(m *plan.Mutation) bool {
	reads := false
	m.Walk(func(s plan.Statement) {
		switch s := s.(type) {
		case plan.Update, plan.Delete:
			reads = true
		case plan.Insert:
			reads = reads || s.Upsert
		case plan.ForEach:
			reads = reads || s.Read != nil
		}
	})
	return reads
}

// mutateAdHoc runs a mutation that the caller wrote. A mutation that reads stored data requires
// permission to read the branch as well as to change it; without it the error is a
// *wireerror.Forbidden.
func mutateAdHoc(ctx context.Context, env *tool.Env, q *plan.Query, args engine.Args, branch tool.Branch, k *queryrun.Options) (*tool.Outcome, error) {
	if readsStored(q.Mutation) {
		if err := env.Require(access.ReadOn(branch)); err != nil {
			return nil, err
		}
	}
	return queryrun.Mutation(ctx, env, q, args, branch, k)
}

// LogArguments returns the arguments of the call for the log.
func (c *AdHoc) LogArguments() [][]byte {
	params := jsontext.Value(bytes.Clone(c.Params))
	if len(params) > 0 {
		_ = params.Canonicalize() // if it is not valid JSON, the digest covers the original bytes
	}
	return [][]byte{[]byte(c.Source), []byte(c.Name), params}
}

// LogKey returns the idempotency key for the log.
func (c *AdHoc) LogKey() string { return c.Options.IdempotencyKey }
