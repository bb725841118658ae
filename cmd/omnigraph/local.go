package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/engine/parquet"
	"github.com/omnigraph-go/omnigraph/server/access"
	"github.com/omnigraph-go/omnigraph/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/operations"
	"github.com/omnigraph-go/omnigraph/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// local is the graph of a store. Every operation goes through the served graph, which checks the
// policy.
type local struct {
	*embedded.Graph
	served *servedgraph.Graph
	actor  *access.Actor
}

// operation is a call that only this command has.
type operation struct {
	grants []tool.Grant
	run    func(ctx context.Context, env *tool.Env) (answer any, err error)
}

func (o *operation) Grants() []tool.Grant { return o.grants }

func (o *operation) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	answer, err := o.run(ctx, env)
	return &tool.Outcome{Value: answer}, err
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

// adHoc returns the call that servers run for a statement.
func (s *statement) adHoc(write bool, branch string, opts queryrun.Options) *operations.AdHoc {
	return &operations.AdHoc{Source: s.text, File: s.file, Name: s.name, Params: s.params, Branch: branch, Write: write, Options: opts}
}

// chosen returns the error of a call of the statement. If the fault is the choice of the query, the
// message uses the terms of the command.
func (s *statement) chosen(write bool, err error) error {
	var a *tool.ArgumentError
	if errors.As(err, &a) && (a.Path == "query" || a.Path == "name") {
		return cmp.Or(s.check(write), err)
	}
	return err
}

func (l *local) Query(ctx context.Context, s *statement) (*client.ReadAnswer, error) {
	call := s.adHoc(false, s.at.Branch, queryrun.Options{Snapshot: s.at.Commit})
	answer, err := l.served.Do(ctx, l.actor, "query", call, encoding.Options{MaxRows: s.rows})
	if err != nil {
		return nil, s.chosen(false, err)
	}
	a := &client.ReadAnswer{}
	return a, json.Unmarshal(answer.JSON, a)
}

func (l *local) Mutate(ctx context.Context, s *statement, opts engine.WriteOptions) (*client.MutationAnswer, error) {
	a := &client.MutationAnswer{}
	return a, s.chosen(true, l.call(ctx, "mutate", s.adHoc(true, opts.Branch, runOptions(opts)), a))
}

func (l *local) Queries(context.Context) ([]client.QueryEntry, error) {
	queries, err := l.served.Queries(l.actor)
	if err != nil {
		return nil, err
	}
	list := make([]client.QueryEntry, len(queries))
	for i, q := range queries {
		list[i] = operations.StoredQuery(q)
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
	_, err := l.served.Do(ctx, l.actor, "export", &operation{[]tool.Grant{grant}, func(ctx context.Context, env *tool.Env) (_ any, err error) {
		if e.format == "parquet" {
			commit, err = parquet.Export(ctx, env.Graph, e.at, parquet.Options{Types: e.types}, e.create)
		} else {
			commit, err = env.Graph.Export(ctx, e.w, e.at, engine.ExportOptions{Types: e.types})
		}
		return nil, err
	}}, encoding.Options{})
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
	a := &client.SchemaAnswer{}
	return a, l.call(ctx, "schema", operations.LookSchema(at), a)
}

func (l *local) Snapshot(ctx context.Context, at engine.Target) (*client.SnapshotAnswer, error) {
	a := &client.SnapshotAnswer{}
	return a, l.call(ctx, "snapshot", operations.LookSnapshot(at), a)
}

func (l *local) ApplySchema(ctx context.Context, s *schemaFile, opts engine.SchemaOptions) (*client.SchemaApplied, error) {
	apply := &operations.ApplySchema{Source: s.text, File: s.name, Options: opts}
	a := &client.SchemaApplied{}
	return a, l.call(ctx, "apply_schema", &operation{apply.Grants(), func(ctx context.Context, env *tool.Env) (any, error) {
		change, err := apply.Apply(ctx, env)
		if err != nil {
			return nil, err
		}
		return apply.Applied(env, change), nil
	}}, a)
}
