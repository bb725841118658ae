package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TypedGraph lets the functions of a generated package call the stored queries of a graph on a
// server. It sends only the name and the arguments of a query; the server has its own compiled form
// of the query, and knows from the token who calls. It repeats requests as other methods of this package do, and it returns the same
// errors.
type TypedGraph struct{ graph *Graph }

var _ tool.Graph = (*TypedGraph)(nil)

// Typed returns the graph in the form that the functions of a generated package take.
func (g *Graph) Typed() *TypedGraph { return &TypedGraph{graph: g} }

// Query runs a stored read. The result receives its rows in batches while the caller reads it. The
// target must have neither AtLeast nor Now, because a server does not accept them.
func (g *TypedGraph) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	if at.AtLeast != "" || !at.Now.IsZero() {
		return nil, errors.New("a server reads a branch or a commit; leave AtLeast and Now out of the target")
	}
	snapshot := at.Commit
	if !at.AsOf.IsZero() {
		if snapshot != "" {
			return nil, errors.New("a server reads a commit, or a branch as of an instant; leave Commit or AsOf out of the target")
		}
		snapshot = at.AsOf.UTC().Format(time.RFC3339Nano)
	}
	params, err := parameters(q.Declared(), args[:min(len(args), len(q.Declared()))])
	if err != nil {
		return nil, err
	}
	// The request ends when the caller closes the result, or when the context of a call of Next
	// ends.
	ctx, cancel := context.WithCancel(ctx)
	stream, err := g.graph.InvokeArrow(ctx, q.Name, InvokeBody{Params: params, Branch: at.Branch, Snapshot: snapshot})
	if err != nil {
		cancel()
		return nil, err
	}
	r := &result{columns: q.Read.Columns, stream: stream, cancel: cancel}
	if r.reader, err = ipc.NewReader(stream); err != nil {
		return nil, errors.Join(fmt.Errorf("read the answer of the stored query %s: %w", q.Name, err), r.Close())
	}
	return r, nil
}

// Mutate runs a stored mutation. The token of the client determines the actor, so the options must
// not contain an actor. In the answer, Head is empty if the mutation made no commit. Effects has the numbers of
// changes by kind, and is nil without the right to read the branch: the server writes the replaced nodes as a note, and the changes that a
// dry run shows without the types of their values. [Graph.Invoke] returns both.
func (g *TypedGraph) Mutate(ctx context.Context, q *plan.Query, args engine.Args, opts engine.WriteOptions) (engine.Change, error) {
	if opts.Actor != "" {
		return engine.Change{}, errors.New("the token of the client determines the actor of a write; leave Actor out of the options")
	}
	params, err := parameters(q.Declared(), args[:min(len(args), len(q.Declared()))])
	if err != nil {
		return engine.Change{}, err
	}
	var options []WriteOption
	if opts.Message != "" {
		options = append(options, Message(opts.Message))
	}
	if opts.IdempotencyKey != "" {
		options = append(options, IdempotencyKey(opts.IdempotencyKey))
	}
	if opts.IfCommit != "" {
		options = append(options, IfCommit(opts.IfCommit))
	}
	a, err := g.graph.Invoke(ctx, q.Name, InvokeBody{
		Params: params, Branch: opts.Branch, DryRun: opts.DryRun, ExpectMutation: new(true),
	}, options...)
	if err != nil {
		return engine.Change{}, err
	}
	if a.Mutation == nil {
		return engine.Change{}, fmt.Errorf("the server answered the mutation %s with rows; generate the package again from the server's queries", q.Name)
	}
	change := engine.Change{Nodes: a.Mutation.AffectedNodes, Edges: a.Mutation.AffectedEdges}
	if nodes, edges := a.Mutation.NodeChanges, a.Mutation.EdgeChanges; nodes != nil && edges != nil {
		change.Effects = &engine.WriteEffects{Nodes: engine.ChangeCounts(*nodes), Edges: engine.ChangeCounts(*edges)}
	}
	if c := a.Mutation.Commit; c != nil {
		change.Head = commitOf(c)
		change.Commit = &change.Head
	}
	if change.Row, err = returned(q.Mutation.Returns, a.Mutation.Rows); err != nil {
		return engine.Change{}, fmt.Errorf("the answer does not fit the generated function: %w; generate the package again from the server's queries", err)
	}
	return change, nil
}

// commitOf converts a commit to the engine's type. The schema stays empty, because the server does
// not send it.
func commitOf(c *CommitAnswer) engine.Commit {
	out := engine.Commit{ID: c.GraphCommitID, Branch: c.GraphBranch, Seq: c.GraphManifestVersion, Time: time.UnixMicro(c.CreatedAt).UTC(), Message: c.Message}
	for _, parent := range []*string{c.ParentCommitID, c.MergedParentCommitID} {
		if parent != nil {
			out.Parents = append(out.Parents, *parent)
		}
	}
	if c.ActorID != nil {
		out.Actor = engine.JoinActor(*c.ActorID, c.Agents...)
	}
	return out
}

// parameters returns the arguments as the value of the member `params` of a request. It leaves out
// null arguments, so that the server uses the defaults.
func parameters(params []plan.Param, args engine.Args) (map[string]any, error) {
	if len(args) != len(params) {
		return nil, fmt.Errorf("found %d arguments, expected %d", len(args), len(params))
	}
	out := map[string]any{}
	for i, p := range params {
		switch {
		case args[i].IsNull():
		case p.Interface != "":
			out[p.Name] = record(p.Type.Fields, args[i])
		case p.Type.Fields != nil:
			out[p.Name] = records(p.Type.Fields, args[i])
		default:
			out[p.Name] = argument(args[i])
		}
	}
	return out, nil
}

// records converts a list of records to JSON objects.
func records(fields []value.Field, list value.Value) []map[string]any {
	out := make([]map[string]any, len(list.Elems()))
	for i, r := range list.Elems() {
		out[i] = record(fields, r)
	}
	return out
}

// record converts a record to a JSON object. It leaves out null fields.
func record(fields []value.Field, r value.Value) map[string]any {
	out := map[string]any{}
	for i, v := range r.Elems() {
		if !v.IsNull() {
			out[fields[i].Name] = argument(v)
		}
	}
	return out
}

// argument converts a value to a Go value that encoding/json writes in the form that the server
// expects.
func argument(v value.Value) any {
	if v.IsList() {
		elems := make([]any, len(v.Elems()))
		for i, e := range v.Elems() {
			elems[i] = argument(e)
		}
		return elems
	}
	k := v.Kind()
	switch {
	case k == value.Bool:
		return v.Bool()
	case k == value.Vector:
		return v.Vector()
	case k.IsFloat() && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)):
		return string(value.AppendText(nil, v)) // JSON cannot express this number
	case k.IsNumeric():
		return json.Number(value.AppendText(nil, v))
	}
	return string(value.AppendText(nil, v))
}

// result is an [engine.Result] that reads its rows from the server's answer to a stored read.
type result struct {
	columns []plan.Column
	stream  *Stream
	reader  *ipc.Reader
	cancel  context.CancelFunc // ends the request
	more    bool               // the server reported that the query's own limit left rows out
}

// Columns implements [engine.Result].
func (r *result) Columns() []plan.Column { return r.columns }

// Commit implements [engine.Result].
func (r *result) Commit() string { return r.stream.Commit }

// More implements [engine.Result].
func (r *result) More() bool { return r.more }

// Next implements [engine.Result].
func (r *result) Next(ctx context.Context) (*engine.Batch, error) {
	defer context.AfterFunc(ctx, r.cancel)()
	for r.reader.Next() {
		rows := r.reader.RecordBatch()
		if m, ok := rows.(arrow.RecordBatchWithMetadata); ok {
			if by, ok := m.Metadata().GetValue(ArrowTruncatedBy); ok && by == "limit" {
				r.more = true
			}
		}
		if rows.NumRows() == 0 {
			continue
		}
		b, err := engine.BatchOfArrow(r.columns, rows)
		if err != nil {
			return nil, fmt.Errorf("the answer does not fit the generated function: %w; generate the package again from the server's queries", err)
		}
		return b, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, r.reader.Err()
}

// Close implements [engine.Result].
func (r *result) Close() error {
	r.cancel()
	if r.reader != nil {
		r.reader.Release()
		r.reader = nil
	}
	return r.stream.Close()
}
