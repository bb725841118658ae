package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/textlimit"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// maxBatch is the maximum number of queries in one call of graph_query.
const maxBatch = 16

// queryArgs are the arguments of graph_query.
type queryArgs struct {
	Query  *string        `json:"query,omitempty" jsonschema_description:"One read in GQ."`
	Name   *string        `json:"name,omitempty" jsonschema_description:"Which, if several."`
	Params map[string]any `json:"params,omitempty" jsonschema_description:"Its parameters, without $."`
	Branch *string        `json:"branch,omitempty" jsonschema_description:"Default main."`
	readOptions
	Queries []batchArgs `json:"queries,omitempty" jsonschema:"maxItems=16" jsonschema_description:"Or several reads, answered at their index."`
}

// batchArgs is one element of the argument `queries`. Its members have no descriptions of their
// own, because each means the same as the argument of graph_query with the same name.
type batchArgs struct {
	Query     string         `json:"query"`
	Name      *string        `json:"name,omitempty"`
	Params    map[string]any `json:"params,omitempty"`
	Branch    *string        `json:"branch,omitempty"`
	Snapshot  *string        `json:"snapshot,omitempty"`
	PageToken *string        `json:"page_token,omitempty"`
}

// readOptions are the run options of a read, except the branch.
type readOptions struct {
	Snapshot  *string `json:"snapshot,omitempty" jsonschema_description:"Or a commit."`
	PageToken *string `json:"page_token,omitempty" jsonschema_description:"The last next_page_token."`
}

// writeOptions are the run options of a write, except the branch.
type writeOptions struct {
	DryRun         *bool   `json:"dry_run,omitempty" jsonschema_description:"Commit nothing."`
	IdempotencyKey *string `json:"idempotency_key,omitempty" jsonschema_description:"A repeat within a day changes nothing."`
	IfCommit       *string `json:"if_commit,omitempty" jsonschema_description:"Fail unless it is the head."`
	Message        *string `json:"message,omitempty"`
}

// mutateArgs are the arguments of graph_mutate.
type mutateArgs struct {
	Query  string         `json:"query" jsonschema_description:"One mutation in GQ."`
	Name   *string        `json:"name,omitempty" jsonschema_description:"Which, if several."`
	Params map[string]any `json:"params,omitempty" jsonschema_description:"Its parameters, without $."`
	Branch *string        `json:"branch,omitempty" jsonschema_description:"Default main."`
	writeOptions
}

// queryResult is the answer of either one read or a batch.
type queryResult struct {
	QueryName     string           `json:"query_name,omitempty"` // name of the query that was run
	Target        map[string]any   `json:"target,omitempty" jsonschema_description:"The branch that was read."`
	Columns       []string         `json:"columns,omitempty" jsonschema_description:"The columns' names in order."`
	Rows          []map[string]any `json:"rows,omitempty" jsonschema_description:"Each row with its columns by name."`
	RowCount      int64            `json:"row_count,omitempty" jsonschema_description:"The number of rows in this answer."`
	GraphCommitID string           `json:"graph_commit_id,omitempty" jsonschema_description:"The commit that was read."`
	client.ReadMore
	Results []map[string]any `json:"results,omitempty" jsonschema_description:"Of a batch: for each query its answer, or an object with the member error."`
}

// query returns the tool graph_query.
func query() tool.Tool {
	return &builtin{
		desc: reader[queryArgs, queryResult](tool.Descriptor{
			Name:  "graph_query",
			Title: "Query the graph",
			Description: "Runs your own query, a read in GQ, such as a count of nodes with a condition, and returns its rows. Use it when no stored query answers the question. An example, with nodes Person and edges Knows:\n\n" +
				"query friends($name: String, $min: I32?) {\n" +
				"  match { $p: Person { name: $name } $p knows $q $q.age >= $min? not { $q knows $p } }\n" +
				"  return { $q.name, count($q) as paths }\n" +
				"  order { $q.name } limit 20\n" +
				"}\n\n" +
				"All clauses in match must hold: there is no and, no or, no where; write alternatives as any { … }. Strings take double quotes. " +
				"Write an edge with a lower-case first letter. " +
				"Pass values as params, and set a limit.",
		}),
		gates:  gate(tool.Read),
		decode: decodeQuery,
	}
}

// mutate returns the tool graph_mutate.
func mutate() tool.Tool {
	return &builtin{
		desc: &tool.Descriptor{
			Name:  "graph_mutate",
			Title: "Change the graph",
			Description: "Runs a mutation that you write in GQ, to insert nodes, to change a property of some nodes or to delete, as one commit or not at all. Examples, with nodes Person and edges Knows:\n\n" +
				"query add($name: String) { insert Person { name: $name } insert Knows { from: \"ada\", to: $name } }\n" +
				"query birthday($name: String, $age: I32) { update Person set { age: $age } where name = $name }\n" +
				"query remove($name: String) { delete Person where name = $name }\n\n" +
				"If the key of a node exists, insert replaces the row, insert new fails, and upsert keeps what it leaves out. Deleting a node deletes its edges. " +
				"Statements run in order; match { … } { … } and for $x in $list { … } run some for each match or element.",
			InputSchema:  jsonschema.Input(reflect.TypeFor[mutateArgs]()),
			OutputSchema: jsonschema.AnyMutationOutput(),
			Destructive:  true,
		},
		gates: gate(tool.Change),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			c := adHoc(o)
			c.Write, c.Options = true, queryrun.WriteOptions(o)
			return c, o.Done()
		},
	}
}

// decodeQuery returns the call for one read, or for a batch if the member `queries` is present.
func decodeQuery(args json.RawMessage) (tool.Call, error) {
	o := arguments.Members(args)
	if !o.Gives("queries") && (o.Gives("query") || !o.Has("queries")) {
		o.Raw("queries") // declares the member `queries`, which is absent or null
		c := adHoc(o)
		c.Options = queryrun.ReadOptions(o)
		return c, o.Done()
	}
	items, err := elements(o)
	o.Merge("queries", err)
	for _, alone := range []string{"query", "name", "params", "branch", "snapshot", "page_token"} {
		o.Refuse(alone, "found outside queries, expected inside the elements of queries", "")
		o.Raw(alone)
	}
	if err := o.Done(); err != nil {
		return nil, err
	}
	batch := &batch{calls: make([]tool.Call, len(items))}
	for i, item := range items {
		o := arguments.Members(item)
		c := adHoc(o)
		c.Options = queryrun.ReadOptions(o)
		if err := o.Done(); err != nil {
			batch.calls[i] = &failed{err}
			continue
		}
		batch.calls[i] = c
		batch.text += len(c.Source)
	}
	return batch, nil
}

// adHoc reads the members that all tools for a text in GQ have in common.
func adHoc(o *arguments.Object) *operations.AdHoc {
	c := &operations.AdHoc{
		Source: o.String("query"),
		Name:   orEmpty(o.OptString("name")),
		Params: o.Raw("params"),
		Branch: named(o, "branch"),
	}
	o.Inside("params", func(member string) bool { return names(c.Source, member) })
	return c
}

// names reports whether a text in GQ has a variable or a parameter with the given name.
func names(source, name string) bool {
	for at := 0; ; {
		i := strings.Index(source[at:], "$"+name)
		if i < 0 || name == "" {
			return false
		}
		at += i + 1 + len(name)
		if at == len(source) || !strings.ContainsRune("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", rune(source[at])) {
			return true
		}
	}
}

// elements splits a JSON array of queries.
func elements(o *arguments.Object) ([]json.RawMessage, error) {
	items, ok := o.Items("queries")
	if !ok {
		return nil, &tool.ArgumentError{Detail: "the value is not an array, expected an array of objects", Help: `such as [{"query": "…", "params": {…}}]`}
	}
	if len(items) == 0 || len(items) > maxBatch {
		return nil, &tool.ArgumentError{Detail: fmt.Sprintf("found %d queries, expected 1 to %d", len(items), maxBatch)}
	}
	return items, nil
}

// batch is a call that consists of several. It needs no permissions itself. Each of its calls
// is authorized separately, so that one denial does not hide the other answers.
type batch struct {
	calls []tool.Call // one for each element
	text  int         // total size of the texts in bytes
}

// Needs implements [tool.Call].
func (b *batch) Needs() []tool.Need { return nil }

// Run implements [tool.Call].
func (b *batch) Run(context.Context, *tool.Env) (*tool.Outcome, error) {
	if err := textlimit.Check("queries", b.text); err != nil {
		return nil, err
	}
	return &tool.Outcome{Calls: b.calls}, nil
}

// failed stands for an element of a batch whose arguments are invalid.
type failed struct{ err error }

// Needs implements [tool.Call].
func (f *failed) Needs() []tool.Need { return nil }

// Run implements [tool.Call]. It fails.
func (f *failed) Run(context.Context, *tool.Env) (*tool.Outcome, error) { return nil, f.err }
