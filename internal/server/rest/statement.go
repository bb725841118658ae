package rest

import (
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

type queryBody struct {
	Query string  `json:"query" jsonschema_description:"The GQ text; it may hold several queries."`
	Name  *string `json:"name,omitempty" jsonschema_description:"Which query to run, when the text holds several."`
	readOptions
}

// readOptions are the members of a read's body in addition to its text.
type readOptions struct {
	Params    map[string]any `json:"params,omitempty" jsonschema_description:"The query's parameters by name, without the $."`
	Branch    *string        `json:"branch,omitempty" jsonschema_description:"The branch to read; main when it is left out."`
	Snapshot  *string        `json:"snapshot,omitempty" jsonschema_description:"The commit to read, instead of a branch."`
	MaxRows   *int32         `json:"max_rows,omitempty" jsonschema:"minimum=1" jsonschema_description:"The most rows; all when it is left out, as far as one answer has room for them."`
	PageToken *string        `json:"page_token,omitempty" jsonschema_description:"next_page_token of the page before."`
}

// readBody is queryBody with the member names of the deprecated route, which has other names
// for the text and for the choice of the query.
type readBody struct {
	statementNames
	readOptions
}

type mutateBody struct {
	statementNames
	Params map[string]any `json:"params,omitempty" jsonschema_description:"The query's parameters by name, without the $."`
	Branch *string        `json:"branch,omitempty" jsonschema_description:"The branch to write to; main when it is left out."`
	DryRun *bool          `json:"dry_run,omitempty" jsonschema_description:"Commit nothing; say what would be affected."`
}

// statementNames holds the text and the choice of a query, each under its two names.
type statementNames struct {
	Query       *string `json:"query,omitempty" jsonschema:"oneof_required=query" jsonschema_description:"The GQ text; it may hold several queries. Either this or query_source."`
	QuerySource *string `json:"query_source,omitempty" jsonschema:"oneof_required=query_source" jsonschema_description:"Another name of query."`
	Name        *string `json:"name,omitempty" jsonschema_description:"Which query to run, when the text holds several."`
	QueryName   *string `json:"query_name,omitempty" jsonschema_description:"Another name of name."`
}

type invokeBody struct {
	Params         map[string]any `json:"params,omitempty" jsonschema_description:"The query's parameters by name, without the $."`
	Branch         *string        `json:"branch,omitempty" jsonschema_description:"The branch to use; main when it is left out."`
	Snapshot       *string        `json:"snapshot,omitempty" jsonschema_description:"Of a read, the commit to read, instead of a branch."`
	ExpectMutation *bool          `json:"expect_mutation,omitempty" jsonschema_description:"Fail unless the query is a mutation, or with false a read."`
	MaxRows        *int32         `json:"max_rows,omitempty" jsonschema:"minimum=1" jsonschema_description:"Of a read, the most rows; all when it is left out, as far as one answer has room for them."`
	PageToken      *string        `json:"page_token,omitempty" jsonschema_description:"Of a read, next_page_token of the page before."`
	DryRun         *bool          `json:"dry_run,omitempty" jsonschema_description:"Of a mutation: commit nothing; say what would be affected."`
}

// runQuery runs an ad-hoc read.
func (x *exchange) runQuery() error {
	var b queryBody
	o, err := x.textBody(&b)
	if err != nil {
		return err
	}
	call := &operations.AdHoc{
		Source: b.Query, Name: orEmpty(b.Name), Params: o.Raw("params"), Branch: orEmpty(b.Branch),
		Options: queryrun.Options{Snapshot: orEmpty(b.Snapshot), PageToken: orEmpty(b.PageToken)},
	}
	oneTarget(o, b.Branch, b.Snapshot)
	if err := o.Done(); err != nil {
		return err
	}
	return x.answer(call, rowsAtMost(b.MaxRows))
}

// runRead is runQuery for the deprecated route.
func (x *exchange) runRead() error {
	var b readBody
	o, err := x.textBody(&b)
	if err != nil {
		return err
	}
	call := b.adHoc(o)
	call.Branch = orEmpty(b.Branch)
	call.Options = queryrun.Options{Snapshot: orEmpty(b.Snapshot), PageToken: orEmpty(b.PageToken)}
	oneTarget(o, b.Branch, b.Snapshot)
	if err := o.Done(); err != nil {
		return err
	}
	enc := rowsAtMost(b.MaxRows)
	enc.NoCommit = true
	return x.answer(call, enc)
}

// runMutate runs an ad-hoc mutation.
func (x *exchange) runMutate() error {
	var b mutateBody
	o, err := x.textBody(&b)
	if err != nil {
		return err
	}
	call := b.adHoc(o)
	call.Branch, call.Write, call.Options = orEmpty(b.Branch), true, x.runOptions()
	call.Options.DryRun = isTrue(b.DryRun)
	if err := o.Done(); err != nil {
		return err
	}
	return x.answer(call, encoding.Options{})
}

// runStored runs a stored query by its name.
func (x *exchange) runStored() error {
	var b invokeBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	in := servedgraph.Invocation{Params: o.Raw("params"), Branch: orEmpty(b.Branch), ExpectMutation: b.ExpectMutation, Options: x.runOptions()}
	in.Options.Snapshot, in.Options.PageToken, in.Options.DryRun = orEmpty(b.Snapshot), orEmpty(b.PageToken), isTrue(b.DryRun)
	// Check first whether the caller may know of the query, and only then report faults in the
	// body: a fault that only existing queries cause would reveal that the query exists.
	name := x.r.PathValue("name")
	if err := x.g.Invocable(x.actor(), name); err != nil {
		return err
	}
	if err := o.Done(); err != nil {
		return err
	}
	answer, err := x.g.InvokeQuery(x.ctx(), x.actor(), name, in, rowsAtMost(b.MaxRows))
	if err != nil {
		return err
	}
	x.send(answer)
	return nil
}

// adHoc returns the call for a text that is given under either of its names.
func (b *statementNames) adHoc(o *arguments.Object) *operations.AdHoc {
	source, name := one(o, "query", b.Query, "query_source", b.QuerySource), one(o, "name", b.Name, "query_name", b.QueryName)
	if source == nil {
		o.String("query") // records that it is missing
	}
	call := &operations.AdHoc{Source: orEmpty(source), Name: orEmpty(name), Params: o.Raw("params")}
	if b.Query == nil {
		call.Argument = "query_source"
	}
	return call
}

// one returns a member that has two names. It records a fault if both are present, because the
// server would have to ignore one of the values.
func one(o *arguments.Object, name string, a *string, other string, b *string) *string {
	switch {
	case a != nil && b != nil:
		o.Fail(other, "found beside "+name+", wanted one of the two", "they are two names of one member")
	case a == nil:
		return b
	}
	return a
}

// oneTarget records a fault if a read names both a branch and a commit.
func oneTarget(o *arguments.Object, branch, snapshot *string) {
	if branch != nil && snapshot != nil {
		o.Fail("snapshot", "found beside branch, wanted one of the two", "a snapshot is a commit, whichever branch it is on")
	}
}

// rowsAtMost returns the encoding for the row limit, which is the only limit that a caller may
// set.
func rowsAtMost(n *int32) encoding.Options {
	if n == nil {
		return encoding.Options{Parts: true}
	}
	return encoding.Options{MaxRows: int(*n), Parts: true}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func isTrue(b *bool) bool { return b != nil && *b }
