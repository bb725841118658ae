package rest

import (
	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// runQuery runs an ad-hoc read.
func (x *exchange) runQuery() error {
	var b client.QueryBody
	o, err := x.textBody(&b)
	if err != nil {
		return err
	}
	call := &operations.AdHoc{
		Source: b.Query, File: x.file(), Name: b.Name, Params: o.Raw("params"), Branch: tool.BranchName(b.Branch),
		Options: queryrun.Options{Snapshot: b.Snapshot, PageToken: b.PageToken},
	}
	oneTarget(o, b.Snapshot)
	if err := o.Done(); err != nil {
		return err
	}
	return x.answerRows(rowsAtMost(b.MaxRows), func(enc encoding.Options) (*encoding.Answer, error) { return x.do(call, enc) })
}

// explain shows the plan of a query.
func (x *exchange) explain() error {
	var b client.ExplainBody
	o, err := x.textBody(&b)
	if err != nil {
		return err
	}
	call := &operations.ExplainQuery{
		AdHoc:   operations.AdHoc{Source: b.Query, Name: b.Name, Params: o.Raw("params"), Branch: tool.BranchName(b.Branch)},
		Analyze: b.Analyze,
	}
	if err := o.Done(); err != nil {
		return err
	}
	return x.answer(call, encoding.Options{})
}

// assist helps the author of a query.
func (x *exchange) assist() error {
	var b client.AssistBody
	o, err := x.textBody(&b)
	if err != nil {
		return err
	}
	oneTarget(o, b.Snapshot)
	if err := o.Done(); err != nil {
		return err
	}
	return x.answer(&operations.Assist{
		Text: b.Text, Ask: b.Ask, At: int(b.Position), Branch: tool.BranchName(b.Branch), Options: queryrun.Options{Snapshot: b.Snapshot},
	}, encoding.Options{})
}

// runMutate runs an ad-hoc mutation.
func (x *exchange) runMutate() error {
	var b client.MutateBody
	o, err := x.textBody(&b)
	if err != nil {
		return err
	}
	call := adHoc(o, b.Query, b.QuerySource, b.Name, b.QueryName)
	call.File, call.Branch, call.Write, call.Options = x.file(), tool.BranchName(b.Branch), true, x.runOptions()
	call.Options.DryRun = b.DryRun
	if err := o.Done(); err != nil {
		return err
	}
	return x.answer(call, encoding.Options{})
}

// runStored runs a stored query by its name.
func (x *exchange) runStored() error {
	var b client.InvokeBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	in := servedgraph.Invocation{Params: o.Raw("params"), Branch: tool.BranchName(b.Branch), ExpectMutation: b.ExpectMutation, Options: x.runOptions()}
	in.Options.Snapshot, in.Options.PageToken, in.Options.DryRun = b.Snapshot, b.PageToken, b.DryRun
	// Check first whether the caller may know of the query, and only then report faults in the
	// body: a fault that only existing queries cause would reveal that the query exists.
	name := x.r.PathValue("name")
	if err := x.g.Invocable(x.ctx(), x.actor(), name); err != nil {
		return err
	}
	if err := o.Done(); err != nil {
		return err
	}
	return x.answerRows(rowsAtMost(b.MaxRows), func(enc encoding.Options) (*encoding.Answer, error) {
		enc.StringIntegers = x.stringIntegers()
		return x.g.InvokeQuery(x.ctx(), x.actor(), name, in, enc)
	})
}

// adHoc returns the call for a text and the name of a query in that text. A body may give both
// under either of two member names.
func adHoc(o *arguments.Object, query, querySource, name, queryName string) *operations.AdHoc {
	call := &operations.AdHoc{
		Source: eitherName(o, "query", query, "query_source", querySource), Name: eitherName(o, "name", name, "query_name", queryName),
		Params: o.Raw("params"),
	}
	switch {
	case o.Gives("query"):
	case o.Gives("query_source"):
		call.Argument = "query_source"
	default:
		o.String("query") // notes that the text is missing
	}
	return call
}

// eitherName returns a member that has two names. It records a fault if both are present, because
// the server would have to ignore one of the values.
func eitherName(o *arguments.Object, name, a, other, b string) string {
	switch {
	case o.Gives(name) && o.Gives(other):
		o.Fail(other, "found together with "+name+", expected only one of them", "both are names of the same member")
	case !o.Gives(name):
		return b
	}
	return a
}

// oneTarget records a fault if a read names both a branch and a commit.
func oneTarget(o *arguments.Object, snapshot string) {
	if o.Gives("branch") && o.Gives("snapshot") && !tool.IsInstant(snapshot) {
		o.Fail("snapshot", "found together with branch, expected only one of them", "a snapshot names a commit, so it needs no branch; an instant may have one")
	}
}

// rowsAtMost returns the encoding for a row limit; 0 means no limit. A caller may set no other
// limit.
func rowsAtMost(n int32) encoding.Options { return encoding.Options{MaxRows: int(n), Parts: true} }
