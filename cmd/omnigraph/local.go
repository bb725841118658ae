package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/parquet"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// local is the graph of a store. Every operation goes through the served graph, which checks the
// policy.
type local struct {
	*embedded.Graph
	served *servedgraph.Graph
	actor  *access.Actor
}

// operation is a call that stores its result in variables of its caller.
type operation struct {
	grants []tool.Grant
	run    func(ctx context.Context, env *tool.Env) error
}

func (o *operation) Grants() []tool.Grant { return o.grants }

func (o *operation) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	return &tool.Outcome{}, o.run(ctx, env)
}

// do runs f if the actor has the grant.
func (l *local) do(ctx context.Context, grant tool.Grant, f func(ctx context.Context) error) error {
	return l.doAll(ctx, []tool.Grant{grant}, f)
}

// doAll runs f if the actor has all of the grants. There must be at least one.
func (l *local) doAll(ctx context.Context, grants []tool.Grant, f func(ctx context.Context) error) error {
	run := func(ctx context.Context, _ *tool.Env) error { return f(ctx) }
	_, err := l.served.Do(ctx, l.actor, string(grants[0].Action), &operation{grants, run}, encoding.Options{})
	return err
}

// call runs a call that servers also run, and decodes its answer into answer, a pointer.
func (l *local) call(ctx context.Context, name string, call tool.Call, answer any) error {
	a, err := l.served.Do(ctx, l.actor, name, call, encoding.Options{})
	if err != nil {
		return err
	}
	return json.Unmarshal(a.JSON, answer)
}

// targetGrant returns the grant to read a target. For a commit, the served graph checks the grant
// on the branch where the commit was made. It does not show that branch's name to an actor without
// the grant.
func targetGrant(at engine.Target, a tool.Action) tool.Grant {
	g := tool.Grant{Action: a, Branch: at.Branch, Commit: at.Commit}
	if a == tool.Read {
		g.Via = tool.AdHoc
	}
	return g
}

// statementCall runs a statement that is given as a text.
type statementCall struct {
	*statement
	grants []tool.Grant
	write  bool
	opts   engine.WriteOptions
}

func (c *statementCall) Grants() []tool.Grant { return c.grants }

func (c *statementCall) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	schema, err := env.Graph.Schema(ctx, c.at)
	if err != nil {
		return nil, err
	}
	queries, found := gq.CompileQueries(schema.Catalog, gq.Source{Name: c.file, Text: c.text})
	if found.HasErrors() {
		src := gq.Source{Name: c.file, Text: c.text}
		return nil, &wireerror.Rejected{Diagnostics: found, Sources: map[string]string{c.file: c.text}, Right: gq.RightQueries(src, found)}
	}
	q, err := c.choose(queries)
	if err != nil {
		return nil, err
	}
	args, err := arguments.Decode(c.params, q.Plan.Params)
	if err != nil {
		var a *tool.ArgumentError
		if errors.As(err, &a) {
			return nil, a.Under("params")
		}
		return nil, err
	}
	if c.write {
		k := runOptions(c.opts)
		return operations.MutateAdHoc(ctx, env, q.Plan, args, c.opts.Branch, &k)
	}
	result, err := env.Graph.Query(ctx, q.Plan, args, c.at)
	return &tool.Outcome{Read: &tool.ReadOutcome{Query: q.Plan.Name, Target: c.at, Result: result, Plan: q.Plan, Args: args}}, err
}

// choose returns the query of the text that is to run.
func (c *statementCall) choose(queries []*gq.Query) (*gq.Query, error) {
	list := make([]candidate, len(queries))
	for i, q := range queries {
		list[i] = candidate{q.Plan.Name, q.Plan.Mutation != nil}
	}
	chosen, err := c.statement.choose(list, c.write)
	if err != nil {
		return nil, err
	}
	return queries[chosen], nil
}

func (l *local) Query(ctx context.Context, s *statement) (*client.ReadAnswer, error) {
	grant := targetGrant(s.at, tool.Read)
	run := *s
	if run.at.Branch == "" && run.at.Commit == "" {
		run.at.Branch = engine.MainBranch
	}
	answer, err := l.served.Do(ctx, l.actor, "query", &statementCall{statement: &run, grants: []tool.Grant{grant}}, encoding.Options{MaxRows: s.rows})
	if err != nil {
		return nil, err
	}
	a := &client.ReadAnswer{}
	return a, json.Unmarshal(answer.JSON, a)
}

func (l *local) Mutate(ctx context.Context, s *statement, opts engine.WriteOptions) (*client.MutationAnswer, error) {
	opts.Branch = orMain(opts.Branch)
	run := *s
	run.at = engine.Target{Branch: opts.Branch}
	grants := (&operations.AdHoc{Branch: opts.Branch, Write: true, Options: runOptions(opts)}).Grants()
	answer, err := l.served.Do(ctx, l.actor, "mutate", &statementCall{statement: &run, grants: grants, write: true, opts: opts}, encoding.Options{})
	if err != nil {
		return nil, err
	}
	a := &client.MutationAnswer{}
	return a, json.Unmarshal(answer.JSON, a)
}

func (l *local) Queries(context.Context) ([]client.QueryEntry, error) {
	queries, err := l.served.Queries(l.actor)
	if err != nil {
		return nil, err
	}
	list := make([]client.QueryEntry, len(queries))
	for i, q := range queries {
		info := q.Info()
		list[i] = client.QueryEntry{Name: info.Name, ToolName: q.Descriptor().Name, Description: info.Description, Instruction: info.Instruction, Mutation: info.Mutation, Params: []client.ParamEntry{}}
		for k, p := range q.Plan().Params {
			entry := client.ParamEntry{Name: p.Name, Kind: client.ParamKind(p.Type.Kind.WireName()), VectorDim: p.Type.Dim, Nullable: p.Type.Nullable}
			if p.Type.List {
				entry.Kind, entry.ItemKind = "list", string(entry.Kind)
			}
			if k < len(info.ParamDocs) {
				entry.Description = info.ParamDocs[k]
			}
			list[i].Params = append(list[i].Params, entry)
		}
	}
	return list, nil
}

func (l *local) Invoke(ctx context.Context, s *statement, opts engine.WriteOptions) (*client.InvokeAnswer, error) {
	in := servedgraph.Invocation{Params: s.params, Branch: s.at.Branch, Options: runOptions(opts)}
	in.Options.Snapshot = s.at.Commit
	answer, err := l.served.InvokeQuery(ctx, l.actor, s.name, in, encoding.Options{MaxRows: s.rows})
	if err != nil {
		return nil, err
	}
	a := &client.InvokeAnswer{}
	return a, json.Unmarshal(answer.JSON, a)
}

func runOptions(opts engine.WriteOptions) queryrun.Options {
	return queryrun.Options{DryRun: opts.DryRun, IdempotencyKey: opts.IdempotencyKey, IfCommit: opts.IfCommit}
}

func (l *local) Load(ctx context.Context, data *loadData, opts engine.LoadOptions) (*client.LoadAnswer, error) {
	load := &operations.Load{Data: data, Mode: opts.Mode, Branch: opts.Branch, Options: runOptions(opts.WriteOptions)}
	a := &client.LoadAnswer{}
	if data.from != "" {
		return a, l.call(ctx, "load", &operations.LoadFrom{Load: load, From: data.from}, a)
	}
	return a, l.call(ctx, "load", load, a)
}

func (l *local) Export(ctx context.Context, e *export) (string, error) {
	grant := targetGrant(e.at, tool.Export)
	var commit engine.Commit
	err := l.do(ctx, grant, func(ctx context.Context) (err error) {
		if e.format == "parquet" {
			commit, err = parquet.Export(ctx, l.Graph, e.at, parquet.Options{Types: e.types}, e.create)
		} else {
			commit, err = l.Graph.Export(ctx, e.w, e.at, engine.ExportOptions{Types: e.types})
		}
		return err
	})
	return commit.ID, err
}

func (l *local) Blob(ctx context.Context, p operations.BlobPlace, at engine.Target) (b []byte, err error) {
	_, err = l.served.Do(ctx, l.actor, "blob", &operations.Look{At: at, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (_ any, err error) {
		b, err = p.Read(ctx, env.Graph, engine.Target{Commit: c.ID})
		return nil, err
	}}, encoding.Options{})
	return b, err
}

func (l *local) Schema(ctx context.Context, at engine.Target) (*client.SchemaAnswer, error) {
	grant := targetGrant(at, tool.Read)
	a := &client.SchemaAnswer{}
	return a, l.do(ctx, grant, func(ctx context.Context) error {
		s, err := l.Graph.Schema(ctx, at)
		if err == nil {
			a.SchemaSource = s.Source
		}
		return err
	})
}

func (l *local) ApplySchema(ctx context.Context, s *schemaFile, opts engine.SchemaOptions) (*client.SchemaApplied, error) {
	catalog, found := gq.CompileSchema(gq.Source{Name: s.name, Text: s.text})
	if found.HasErrors() {
		return nil, &wireerror.Rejected{Diagnostics: found, Sources: map[string]string{s.name: s.text}}
	}
	opts.Branch, opts.Actor = orMain(opts.Branch), l.actor.ID
	answer := &client.SchemaApplied{}
	return answer, l.doAll(ctx, (&operations.ApplySchema{Options: opts}).Grants(), func(ctx context.Context) error {
		c, err := l.Graph.ApplySchema(ctx, s.text, catalog, opts)
		if err != nil {
			return err
		}
		*answer = client.SchemaApplied{Supported: c.Supported, Applied: c.Commit != nil, Destructive: c.Destructive, StepCount: len(c.Steps),
			Steps: make([]client.SchemaStep, len(c.Steps)), Digest: c.Digest(), Commit: commitID(c.Commit)}
		for i, step := range c.Steps {
			answer.Steps[i] = client.SchemaStep{Code: string(step.Code), Step: step.String(), Destructive: step.Destructive(), Reason: step.Reason}
		}
		return nil
	})
}

func (l *local) Snapshot(ctx context.Context, at engine.Target) (*client.SnapshotAnswer, error) {
	grant := targetGrant(at, tool.Read)
	a := &client.SnapshotAnswer{}
	return a, l.do(ctx, grant, func(ctx context.Context) error {
		s, err := l.Graph.Snapshot(ctx, at)
		if err != nil {
			return err
		}
		*a = client.SnapshotAnswer{GraphBranch: s.Commit.Branch, GraphCommitID: s.Commit.ID, SchemaDigest: s.Commit.Schema}
		if at.Branch != "" {
			a.GraphBranch = at.Branch // a new branch's head was made on another branch
		}
		for _, c := range s.Nodes {
			a.Datasets = append(a.Datasets, client.Dataset{TypeName: c.Type, EntityKind: "node", EntityCount: c.Count})
		}
		for _, c := range s.Edges {
			a.Datasets = append(a.Datasets, client.Dataset{TypeName: c.Type, EntityKind: "edge", EntityCount: c.Count})
		}
		return nil
	})
}

func orMain(branch string) string {
	if branch == "" {
		return engine.MainBranch
	}
	return branch
}

func commitID(c *engine.Commit) *string {
	if c == nil {
		return nil
	}
	return &c.ID
}
