// Package metatools implements the two tools that find and run stored queries. They are used when
// there are too many queries for one tool each.
package metatools

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/toolsearch"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The names of the two meta tools that replace the tools for stored queries when there are
// many.
const (
	ListQueries = "stored_query_list"
	RunQuery    = "stored_query_run"
)

// PerCaller is a tool with a visibility and a descriptor that depend on the grants of the caller.
// The gates of the tool are not used.
type PerCaller interface {
	tool.Tool

	// VisibleTo reports whether the actor may see the tool.
	VisibleTo(ctx context.Context, actor *access.Actor) bool

	// DescriptorFor returns the descriptor that the actor sees.
	DescriptorFor(ctx context.Context, actor *access.Actor) *tool.Descriptor

	// DecodeFor decodes a call by the actor.
	DecodeFor(ctx context.Context, actor *access.Actor, args json.RawMessage) (tool.Call, error)
}

// Tools holds the two meta tools, which find and run the exposed stored queries of a
// graph.
type Tools struct {
	// allowed returns a function that reports whether the actor may run a query on some branch.
	allowed func(ctx context.Context, actor *access.Actor) func(tool.StoredQuery) bool

	// Queries are in source order. They do not change after the first call.
	Queries []tool.StoredQuery

	index func() *toolsearch.Index // returns the index of Queries, which the first call makes

	// LeftOut returns the reason why a query is not served, or nil. It also returns nil if the
	// actor is not allowed to know that the query exists. If the field LeftOut is nil, no query is
	// left out.
	LeftOut func(actor *access.Actor, toolName string) error

	list *tool.Descriptor         // descriptor of the tool that finds queries
	runs [1 << 3]*tool.Descriptor // the descriptors of the tool that runs queries, by hints
}

// The hints of queries as bits. The hints of several queries are the bits that any of them has.
const (
	changes  = 1 << iota // not read-only
	destroys             // destructive
	repeats              // not idempotent
)

// hints returns the hints of a query as bits.
func hints(d *tool.Descriptor) (bits int) {
	if !d.ReadOnly {
		bits |= changes
	}
	if d.Destructive {
		bits |= destroys
	}
	if !d.Idempotent {
		bits |= repeats
	}
	return bits
}

// runArgs are the arguments of stored_query_run.
type runArgs struct {
	Name           string         `json:"name" jsonschema_description:"Name from stored_query_list."`
	Params         map[string]any `json:"params,omitempty" jsonschema_description:"The query's parameters by name."`
	Branch         *string        `json:"branch,omitempty" jsonschema_description:"Default main."`
	Snapshot       *string        `json:"snapshot,omitempty" jsonschema_description:"Of a read: commit or instant to read."`
	PageToken      *string        `json:"page_token,omitempty" jsonschema_description:"Of a read: next_page_token of the last page."`
	DryRun         *bool          `json:"dry_run,omitempty" jsonschema_description:"Of a mutation: report the effect, commit nothing."`
	IdempotencyKey *string        `json:"idempotency_key,omitempty" jsonschema_description:"Of a mutation: a repeat with this key within a day changes nothing."`
	IfCommit       *string        `json:"if_commit,omitempty" jsonschema_description:"Of a mutation: fail unless this is the branch's head."`
	Message        *string        `json:"message,omitempty" jsonschema_description:"Of a mutation: why."`
}

// runAnswer is the answer of either a read or a mutation.
type runAnswer struct {
	QueryName     string           `json:"query_name"` // name of the query that ran
	Target        map[string]any   `json:"target,omitempty" jsonschema_description:"Of a read, what was read."`
	Columns       []string         `json:"columns,omitempty" jsonschema_description:"The columns' names in order."`
	Rows          []map[string]any `json:"rows,omitempty" jsonschema_description:"Each row with its columns by name."`
	RowCount      int64            `json:"row_count,omitempty" jsonschema_description:"The number of rows in this answer."`
	GraphCommitID any              `json:"graph_commit_id,omitempty" jsonschema_description:"The commit that was read or made; null when nothing changed."`
	client.ReadMore
	Branch        string `json:"branch,omitempty" jsonschema_description:"Of a mutation, the branch that was written to."`
	AffectedNodes int64  `json:"affected_nodes,omitempty"` // of a mutation
	AffectedEdges int64  `json:"affected_edges,omitempty"` // of a mutation
	ActorID       any    `json:"actor_id,omitempty" jsonschema_description:"Of a mutation, the actor; null if the call has none."`
	DryRun        bool   `json:"dry_run,omitempty" jsonschema_description:"Nothing was committed: this is what would be."`

	// Of a mutation, the members of client.WriteEffects; client.ReadMore has the notes.
	NodeChanges map[string]int64 `json:"node_changes,omitempty" jsonschema_description:"Of a mutation: inserted, updated and deleted nodes."`
	EdgeChanges map[string]int64 `json:"edge_changes,omitempty" jsonschema_description:"The same for edges."`
	Changes     []map[string]any `json:"changes,omitempty" jsonschema_description:"Of a dry run: the first ten changes, before and after."`
	MoreChanges bool             `json:"more_changes,omitempty"`
}

// New returns meta tools without queries. The function `allowed` returns a function that reports whether an
// actor may run a query on some branch.
func New(allowed func(ctx context.Context, actor *access.Actor) func(tool.StoredQuery) bool) *Tools {
	p := &Tools{allowed: allowed, list: &tool.Descriptor{
		Name: ListQueries, Title: "Find stored queries",
		Description: "Lists this graph's stored queries, the best match first: each with its name, what it does, its parameters as a JSON Schema and its columns. " +
			"They are ready-made reads and mutations; prefer them to GQ that you write, and run one with " + RunQuery + ". " +
			"As filter, send a question or words in any form; synonyms match too.",
		InputSchema:  jsonschema.Input(reflect.TypeFor[listArgs]()),
		OutputSchema: jsonschema.Output(reflect.TypeFor[QueryListAnswer]()),
		ReadOnly:     true, Idempotent: true,
	}}
	p.index = sync.OnceValue(p.newIndex)
	run := tool.Descriptor{
		Name: RunQuery, Title: "Run a stored query",
		Description: "Runs a stored query, with its parameters in params. " +
			"A read returns rows; a mutation makes one commit or none.",
		InputSchema:  jsonschema.Input(reflect.TypeFor[runArgs]()),
		OutputSchema: jsonschema.Output(reflect.TypeFor[runAnswer]()),
	}
	for bits := range p.runs {
		d := run
		d.ReadOnly, d.Destructive, d.Idempotent = bits&changes == 0, bits&destroys != 0, bits&repeats == 0
		p.runs[bits] = &d
	}
	return p
}

// Variants lists the possible descriptors of the tool that runs queries.
func (p *Tools) Variants() []*tool.Descriptor { return p.runs[:] }

// Tools returns the meta tools in listing order.
func (p *Tools) Tools() []tool.Tool { return []tool.Tool{&lister{p}, &runner{p}} }

// seen yields the queries that the actor may run.
func (p *Tools) seen(ctx context.Context, actor *access.Actor) func(yield func(tool.StoredQuery) bool) {
	return func(yield func(tool.StoredQuery) bool) {
		allowed := p.allowed(ctx, actor)
		for _, q := range p.Queries {
			if allowed(q) && !yield(q) {
				return
			}
		}
	}
}

// VisibleTo reports whether the actor may invoke at least one of the queries.
func (p *Tools) VisibleTo(ctx context.Context, actor *access.Actor) bool {
	for range p.seen(ctx, actor) {
		return true
	}
	return false
}

// unknownQuery returns the error for a name that fits no query that the actor may invoke. It
// suggests only queries that the actor may run, and one that writes only for a name that surely means it.
func (p *Tools) unknownQuery(ctx context.Context, actor *access.Actor, name string) error {
	var names []string
	for q := range p.seen(ctx, actor) {
		if d := q.Descriptor(); d.ReadOnly || OnlyMisspelt(name, d.Name) {
			names = append(names, d.Name)
		}
	}
	var near []string
	if n := diag.Closest(name, names); n != "" {
		near = append(near, n)
	}
	for _, i := range toolsearch.Similar(name, names) {
		if len(near) < maxNear && (len(near) == 0 || near[0] != names[i]) {
			near = append(near, names[i])
		}
	}
	if p.LeftOut != nil {
		if err := p.LeftOut(actor, name); err != nil {
			return err
		}
	}
	e := &tool.ArgumentError{Path: "name", Detail: "there is no stored query " + quoted(name), Help: "find one with " + ListQueries}
	if len(near) > 0 {
		e.Help = "did you mean " + orList(near) + "? " + ListQueries + " finds others"
	}
	return e
}

// maxNear is the maximum number of names that an error suggests.
const maxNear = 3

// runner is the meta tool that runs a stored query.
type runner struct{ *Tools }

func (t *runner) Descriptor() *tool.Descriptor { return t.descriptorOf(t.all) }
func (t *runner) Gates() []tool.Grant          { return nil }

// Decode gets no caller, so it decodes for a nil actor and finds no query.
func (t *runner) Decode(args json.RawMessage) (tool.Call, error) {
	return t.DecodeFor(context.Background(), nil, args)
}

// all yields all queries.
func (t *runner) all(yield func(tool.StoredQuery) bool) {
	for _, q := range t.Queries {
		if !yield(q) {
			return
		}
	}
}

// DescriptorFor returns the descriptor with the hints of the queries that the actor may invoke.
func (t *runner) DescriptorFor(ctx context.Context, actor *access.Actor) *tool.Descriptor {
	return t.descriptorOf(t.seen(ctx, actor))
}

// descriptorOf returns the descriptor with the hints of all the queries combined.
func (t *runner) descriptorOf(queries func(func(tool.StoredQuery) bool)) *tool.Descriptor {
	bits := 0
	for q := range queries {
		bits |= hints(q.Descriptor())
	}
	return t.runs[bits]
}

// DecodeFor finds the query among those that the actor may invoke, and decodes its arguments.
func (t *runner) DecodeFor(ctx context.Context, actor *access.Actor, args json.RawMessage) (tool.Call, error) {
	o := arguments.Members(args)
	name := o.String("name")
	for q := range t.seen(ctx, actor) {
		if name != "" && q.Descriptor().Name == name {
			return queryrun.DecodeMembers(q, o)
		}
	}
	if name != "" {
		return nil, t.unknownQuery(ctx, actor, name)
	}
	for _, known := range []string{"params", "branch", "snapshot", "page_token", "dry_run", "idempotency_key", "if_commit"} {
		o.Raw(known)
	}
	if err := o.Done(); err != nil {
		return nil, err
	}
	return nil, t.unknownQuery(ctx, actor, name)
}
