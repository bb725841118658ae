package client

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
)

// QueryBody is the body of a read that is given as GQ text. Params, here and in the other bodies, is
// a value that encodes to a JSON object: a map, a struct, or a [json.RawMessage].
type QueryBody struct {
	Query     string `json:"query" jsonschema_description:"The GQ text; it may contain several queries."`
	Name      string `json:"name,omitempty" jsonschema_description:"The name of the query to run, if the text contains several."`
	Params    any    `json:"params,omitempty" jsonschema:"type=object" jsonschema_description:"The query's parameters by name, without the $."`
	Branch    string `json:"branch,omitempty" jsonschema_description:"The branch to read; the default is main."`
	Snapshot  string `json:"snapshot,omitempty" jsonschema_description:"The commit to read, instead of a branch; or an instant such as 2026-05-01T12:00:00Z: the last commit of the branch at or before it."`
	MaxRows   int32  `json:"max_rows,omitempty" jsonschema:"minimum=1" jsonschema_description:"The maximum number of rows; the default is as many as fit in one answer. With it the answer also says when the query's own limit left rows out."`
	PageToken string `json:"page_token,omitempty" jsonschema_description:"The next_page_token of the previous page."`
}

// MutateBody is the body of a mutation that is given as GQ text.
type MutateBody struct {
	Query       string `json:"query,omitempty" jsonschema:"oneof_required=query" jsonschema_description:"The GQ text; it may contain several queries. Send either query or query_source."`
	QuerySource string `json:"query_source,omitempty" jsonschema:"oneof_required=query_source" jsonschema_description:"Another name for query."`
	Name        string `json:"name,omitempty" jsonschema_description:"The name of the query to run, if the text contains several."`
	QueryName   string `json:"query_name,omitempty" jsonschema_description:"Another name for name."`
	Params      any    `json:"params,omitempty" jsonschema:"type=object" jsonschema_description:"The query's parameters by name, without the $."`
	Branch      string `json:"branch,omitempty" jsonschema_description:"The branch to write to; the default is main."`
	DryRun      bool   `json:"dry_run,omitempty" jsonschema_description:"Commit nothing; report what the mutation would change."`
}

// InvokeBody is the body of a request to run a stored query.
type InvokeBody struct {
	Params         any    `json:"params,omitempty" jsonschema:"type=object" jsonschema_description:"The query's parameters by name, without the $."`
	Branch         string `json:"branch,omitempty" jsonschema_description:"The branch to use; the default is main."`
	Snapshot       string `json:"snapshot,omitempty" jsonschema_description:"For a read, the commit to read, instead of a branch; or an instant, as in a query."`
	ExpectMutation *bool  `json:"expect_mutation,omitempty" jsonschema_description:"With true, fail unless the query is a mutation; with false, fail unless it is a read."`
	MaxRows        int32  `json:"max_rows,omitempty" jsonschema:"minimum=1" jsonschema_description:"For a read, the maximum number of rows; the default is as many as fit in one answer. With it the answer also says when the query's own limit left rows out."`
	PageToken      string `json:"page_token,omitempty" jsonschema_description:"For a read, the next_page_token of the previous page."`
	DryRun         bool   `json:"dry_run,omitempty" jsonschema_description:"For a mutation, commit nothing and report what it would change."`
}

// ReadAnswer is the answer to a read. Its members are in the order in which the server sends them.
type ReadAnswer struct {
	ReadRows
	GraphCommitID string `json:"graph_commit_id" jsonschema_description:"The commit that was read."`
	ReadMore
}

// ReadRows is the first part of the answer to a read.
type ReadRows struct {
	QueryName string     `json:"query_name"` // name of the query that ran
	Target    ReadTarget `json:"target" jsonschema_description:"The branch or the commit that the request named."`
	Columns   []string   `json:"columns" jsonschema_description:"The columns' names in order."`
	Rows      []Row      `json:"rows" jsonschema_description:"Each row with its columns by name."`
	RowCount  int64      `json:"row_count" jsonschema_description:"The number of rows in this answer."`
}

// ReadMore is the last part of the answer to a read. It says why there are no rows, and whether there are more.
type ReadMore struct {
	Source        *SourceState `json:"source,omitempty" jsonschema_description:"For a graph of source code, whether the code has changed since the graph was read from it."`
	Notes         []string     `json:"notes,omitempty" jsonschema_description:"Findings on the text of the query, such as a multiplied count. Why a read has no rows: the key or enum value in the query that does not exist, and keys that are similar."`
	Truncated     bool         `json:"truncated,omitempty" jsonschema_description:"There are more rows."`
	TruncatedBy   string       `json:"truncated_by,omitempty" jsonschema:"enum=rows,enum=bytes,enum=limit" jsonschema_description:"The limit that left rows out: the maximum number of rows or bytes of an answer, or the query's own limit, after which there is no next page."`
	NextPageToken string       `json:"next_page_token,omitempty" jsonschema_description:"Send it as page_token, with the other members unchanged, to get the next rows."`
}

// SourceState says whether source code has changed since a graph was read from it. What is not known is left out.
type SourceState struct {
	Indexed string `json:"indexed,omitempty" jsonschema_description:"The Git commit that was read, shortened."`
	Head    string `json:"head,omitempty" jsonschema_description:"The Git commit that is checked out, shortened."`
	Behind  *bool  `json:"behind,omitempty" jsonschema_description:"Whether another commit is checked out than the one that was read."`
	Dirty   *int   `json:"dirty,omitempty" jsonschema_description:"The number of files that were changed, added or removed since they were read."`
	Unknown string `json:"unknown,omitempty" jsonschema_description:"Why something is not known."`
}

// ReadTarget is the branch or the commit that a read asked for.
type ReadTarget struct {
	Branch   *string `json:"branch"`   // null for a read of a commit
	Snapshot *string `json:"snapshot"` // id of the commit; null for a read of a branch

	// The members below are present only if the branch is a draft.
	GraphCommitID string  `json:"graph_commit_id,omitempty" jsonschema_description:"The commit at the head of the draft."`
	MainAhead     *uint64 `json:"main_ahead,omitempty" jsonschema_description:"The number of commits of main that the draft does not contain."`
	ExpiresAt     int64   `json:"expires_at,omitempty" jsonschema_description:"When the draft is deleted if nobody writes to it, in Unix microseconds."`
}

// MutationAnswer is the answer to a mutation.
type MutationAnswer struct {
	Branch        string        `json:"branch"`         // the branch that was written to
	QueryName     string        `json:"query_name"`     // name of the query that ran
	AffectedNodes int64         `json:"affected_nodes"` // number of changed nodes
	AffectedEdges int64         `json:"affected_edges"` // number of changed edges
	ActorID       *string       `json:"actor_id"`       // who ran the query; null if not known
	Commit        *CommitAnswer `json:"commit" jsonschema_description:"The commit; null if nothing changed, and in a dry run."`
	DryRun        bool          `json:"dry_run,omitempty" jsonschema_description:"Nothing was committed; the answer says what the write would do."`
	Target        *WriteTarget  `json:"target,omitempty" jsonschema_description:"The draft that was written to; only for a draft."`
	Rows          []Row         `json:"rows,omitempty" jsonschema_description:"The one row that the mutation returns; absent if it returns none."`
	WriteEffects
}

// InvokeAnswer is the answer to a request to run a stored query. Exactly one of its fields is set.
type InvokeAnswer struct {
	Read     *ReadAnswer     // set if the query is a read
	Mutation *MutationAnswer // set if the query is a mutation
}

// UnmarshalJSON decodes the answer to a read or to a mutation. Only the answer to a read has a list
// of columns.
func (a *InvokeAnswer) UnmarshalJSON(b []byte) error {
	var read ReadAnswer
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	if read.Columns != nil {
		a.Read = &read
		return nil
	}
	a.Mutation = &MutationAnswer{}
	return json.Unmarshal(b, a.Mutation)
}

// MarshalJSON encodes the field that is set.
func (a InvokeAnswer) MarshalJSON() ([]byte, error) {
	if a.Read != nil {
		return json.Marshal(a.Read)
	}
	return json.Marshal(a.Mutation)
}

// QueryList lists the stored queries of a graph.
type QueryList struct {
	Queries []QueryEntry `json:"queries"` // every query that the caller may run
}

// QueryEntry is a stored query.
type QueryEntry struct {
	Name        string       `json:"name"`                  // name of the query
	ToolName    string       `json:"tool_name"`             // name of its MCP tool
	Description string       `json:"description,omitempty"` // what the query does
	Instruction string       `json:"instruction,omitempty"` // when to call it
	Questions   []string     `json:"questions,omitempty"`   // questions that the query answers
	Mutation    bool         `json:"mutation"`              // the query writes
	Caller      []string     `json:"caller,omitempty" jsonschema_description:"What the query uses of its caller, such as actor().id. The rows are those of the caller."`
	Params      []ParamEntry `json:"params"` // parameters in the query's order
}

// QueryDescription describes one stored query: how to call it, and how the server would run it.
type QueryDescription struct {
	QueryEntry
	RunTool     string `json:"run_tool" jsonschema_description:"The MCP tool that runs the query: its own tool or, on a graph with many queries, a tool that takes the name in tool_name as its argument name."`
	InputSchema any    `json:"input_schema" jsonschema:"type=object" jsonschema_description:"A JSON Schema of the arguments of the query's own tool; its property params describes the parameters."`
	Plan        string `json:"plan,omitempty" jsonschema_description:"The plan as an indented tree, with the number of rows that the engine expects from each step. Only for a caller that may read the branch via adhoc."`
}

// ParamEntry is a parameter of a stored query.
type ParamEntry struct {
	Name        string    `json:"name"`                  // name without the $
	Kind        ParamKind `json:"kind"`                  // see ParamKind
	ItemKind    string    `json:"item_kind,omitempty"`   // the kind of the items, for a list
	VectorDim   int       `json:"vector_dim,omitempty"`  // length of a vector; 0 for other kinds
	Nullable    bool      `json:"nullable"`              // the parameter is optional
	Node        string    `json:"node,omitempty"`        // the node type that the argument is an id of
	Interface   string    `json:"interface,omitempty"`   // the interface of the node that the argument names by its type and id
	Description string    `json:"description,omitempty"` // what the parameter means

	Default json.RawMessage `json:"default,omitempty"` // replaces an argument that a call leaves out
	Minimum json.RawMessage `json:"minimum,omitempty"` // least value of the argument or, for a list, of each element
	Maximum json.RawMessage `json:"maximum,omitempty"` // greatest value of the argument or, for a list, of each element
}

// ParamKind is the kind of a parameter: string, bool, int, bigint, float, date, datetime, duration,
// decimal, blob, vector, list or record. A record is an object, and the input schema of the query says which members it
// has. The kinds do not distinguish widths below 64 bits.
type ParamKind string

// Query runs a read that is given as GQ text, and returns one page of its rows.
func (g *Graph) Query(ctx context.Context, body QueryBody) (*ReadAnswer, error) {
	return repeatable[ReadAnswer](ctx, g, "/query", body)
}

// QueryPages runs a read and returns all its pages, or at most body.MaxRows rows. All pages are of
// one commit. pageSize is the maximum number of rows of a page. With 0, QueryPages requests all
// rows at once; if the server refuses to send so many, it requests pages.
func (g *Graph) QueryPages(ctx context.Context, body QueryBody, pageSize int) iter.Seq2[*ReadAnswer, error] {
	return rowPages(int(body.MaxRows), pageSize, body.PageToken, func(rows int32, token string) (*ReadAnswer, error) {
		body := body
		body.MaxRows, body.PageToken = rows, token
		return g.Query(ctx, body)
	})
}

// QueryRows returns the rows of [Graph.QueryPages] one at a time.
func (g *Graph) QueryRows(ctx context.Context, body QueryBody, pageSize int) iter.Seq2[Row, error] {
	return items(g.QueryPages(ctx, body, pageSize), func(a *ReadAnswer) []Row { return a.Rows })
}

// QueryAll runs a read and returns all its rows, or at most body.MaxRows rows, as one answer. It
// asks for as many pages as needed.
func (g *Graph) QueryAll(ctx context.Context, body QueryBody) (*ReadAnswer, error) {
	return collect(g.QueryPages(ctx, body, 0))
}

// collect joins all pages.
func collect(pages iter.Seq2[*ReadAnswer, error]) (*ReadAnswer, error) {
	var whole *ReadAnswer
	for page, err := range pages {
		switch {
		case err != nil:
			return nil, err
		case whole == nil:
			whole = page
		default:
			whole.Rows = append(whole.Rows, page.Rows...)
			whole.RowCount, whole.ReadMore = int64(len(whole.Rows)), page.ReadMore
		}
	}
	return whole, nil
}

// Mutate runs a mutation that is given as GQ text, as one commit.
func (g *Graph) Mutate(ctx context.Context, body MutateBody, options ...WriteOption) (*MutationAnswer, error) {
	q, err := posting(g.path+"/mutate", body)
	if err != nil {
		return nil, err
	}
	q.under(body.DryRun, options)
	q.conditional()
	return ask[MutationAnswer](ctx, g.c, q)
}

// Queries lists the stored queries that the caller may invoke.
func (g *Graph) Queries(ctx context.Context) (*QueryList, error) {
	return ask[QueryList](ctx, g.c, reading(g.path+"/queries", nil))
}

// DescribeQuery describes a stored query. The plan in the answer is for the head of the branch that
// the options select.
func (g *Graph) DescribeQuery(ctx context.Context, name string, options ...ReadOption) (*QueryDescription, error) {
	return ask[QueryDescription](ctx, g.c, g.get("/queries/"+segment(name), options))
}

// Invoke runs a stored query, which is a read or a mutation. For a read, it returns one page of the
// rows. The options apply to a mutation only; [IfCommit] makes the server refuse a read.
func (g *Graph) Invoke(ctx context.Context, name string, body InvokeBody, options ...WriteOption) (*InvokeAnswer, error) {
	q, err := posting(g.path+"/queries/"+segment(name), body)
	if err != nil {
		return nil, err
	}
	q.under(body.DryRun, options)
	q.conditional()
	return ask[InvokeAnswer](ctx, g.c, q)
}

// InvokeAll runs a stored query. For a read it returns all rows, or at most body.MaxRows rows, and
// requests as many pages as needed.
func (g *Graph) InvokeAll(ctx context.Context, name string, body InvokeBody, options ...WriteOption) (*InvokeAnswer, error) {
	var mutation *MutationAnswer
	read, err := collect(rowPages(int(body.MaxRows), 0, body.PageToken, func(rows int32, token string) (*ReadAnswer, error) {
		body := body
		body.MaxRows, body.PageToken = rows, token
		a, err := g.Invoke(ctx, name, body, options...)
		switch {
		case err != nil:
			return nil, err
		case a.Read != nil:
			return a.Read, nil
		}
		mutation = a.Mutation
		return &ReadAnswer{}, nil // an empty answer ends the pages
	}))
	switch {
	case err != nil:
		return nil, err
	case mutation != nil:
		return &InvokeAnswer{Mutation: mutation}, nil
	}
	return &InvokeAnswer{Read: read}, nil
}

// InvokePages runs a stored read and returns its pages, like [Graph.QueryPages]. The server refuses
// to run a mutation.
func (g *Graph) InvokePages(ctx context.Context, name string, body InvokeBody, pageSize int) iter.Seq2[*ReadAnswer, error] {
	body.ExpectMutation = new(false)
	return rowPages(int(body.MaxRows), pageSize, body.PageToken, func(rows int32, token string) (*ReadAnswer, error) {
		body := body
		body.MaxRows, body.PageToken = rows, token
		a, err := g.Invoke(ctx, name, body)
		switch {
		case err != nil:
			return nil, err
		case a.Read == nil:
			return nil, errNoRows
		}
		return a.Read, nil
	})
}

// InvokeRows returns the rows of [Graph.InvokePages] one at a time.
func (g *Graph) InvokeRows(ctx context.Context, name string, body InvokeBody, pageSize int) iter.Seq2[Row, error] {
	return items(g.InvokePages(ctx, name, body, pageSize), func(a *ReadAnswer) []Row { return a.Rows })
}

// errNoRows reports an answer to a stored query that is not the answer to a read.
var errNoRows = errors.New("the server's answer has no rows; check that the URL is that of an omnigraph-server")

// fallbackPage is the number of rows per page after the server has refused to send all rows at
// once.
const fallbackPage = 10_000

// rowPages requests pages until there are no more rows, or until the total of rows reaches the
// limit `most`; if that is 0, the total is not limited. If an answer would be too large for the
// server, rowPages requests smaller pages.
func rowPages(most, size int, token string, ask func(rows int32, token string) (*ReadAnswer, error)) iter.Seq2[*ReadAnswer, error] {
	return func(yield func(*ReadAnswer, error) bool) {
		size, token, got, pages := size, token, 0, 0
		var large error // error of an answer that was too large
		for {
			rows := size
			if left := most - got; most > 0 && (rows == 0 || rows > left) {
				rows = left
			}
			page, err := ask(int32(min(rows, math.MaxInt32)), token)
			if answerTooLarge(err) && rows != 1 {
				large = err
				if size = fallbackPage; rows > 0 {
					size = min(size, max(rows/10, 1))
				}
				continue
			}
			if err != nil {
				if pages == 0 && large != nil {
					err = large // the smaller page failed for another reason; report the first one
				}
				yield(nil, err)
				return
			}
			pages++
			got += len(page.Rows)
			if !yield(page, nil) {
				return
			}
			next := page.NextPageToken
			if !page.Truncated || next == "" || most > 0 && got >= most {
				return
			}
			if next == token || len(page.Rows) == 0 {
				yield(nil, ErrNoProgress)
				return
			}
			token = next
		}
	}
}

// answerTooLarge reports whether the server refused to send an answer because of its size.
func answerTooLarge(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && errors.Is(err, ErrTooLarge) && refused.ResourceLimit != nil && refused.ResourceLimit.Resource == "bytes"
}
