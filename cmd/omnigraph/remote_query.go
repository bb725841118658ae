package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/encoding"
)

type statementBody struct {
	Query     string          `json:"query"`
	Name      string          `json:"name,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Branch    string          `json:"branch,omitempty"`
	Snapshot  string          `json:"snapshot,omitempty"`
	MaxRows   int             `json:"max_rows,omitempty"`
	PageToken string          `json:"page_token,omitempty"`
	DryRun    bool            `json:"dry_run,omitempty"`
}

func (r *remote) Query(ctx context.Context, s *statement) (*rowsAnswer, error) {
	if err := s.check(false); err != nil {
		return nil, err
	}
	return pages(s.rows, func(rows int, token string) (*rowsAnswer, error) {
		q, err := posting("/query", statementBody{
			Query: s.text, Name: s.name, Params: s.params, Branch: s.at.Branch, Snapshot: s.at.Commit, MaxRows: rows, PageToken: token,
		})
		if err != nil {
			return nil, err
		}
		q.repeats = true
		b, err := r.ask(ctx, q)
		if err != nil {
			return nil, atFile(err, s.file, s.text)
		}
		return readRows(b)
	})
}

// pageRows is the number of rows in the first page if all rows are too large for one answer.
const pageRows = 10_000

// pages fetches all rows, or the first most rows, in as many answers as needed. All pages are of
// one commit, which their tokens name.
func pages(most int, ask func(rows int, token string) (*rowsAnswer, error)) (*rowsAnswer, error) {
	var whole *rowsAnswer
	var large error      // set if the first answer was too large
	size, token := 0, "" // size is the number of rows of a page; 0 means all
	for {
		rows := size
		if most > 0 {
			left := most
			if whole != nil {
				left -= len(whole.Rows)
			}
			if rows == 0 || rows > left {
				rows = left
			}
		}
		page, err := ask(min(rows, math.MaxInt32), token)
		if tooLarge(err) && rows != 1 {
			large = err
			if size = pageRows; rows > 0 {
				size = min(size, max(rows/10, 1))
			}
			continue
		}
		if err != nil {
			if whole == nil && large != nil {
				err = large // the request has no pages; for example, it is a mutation
			}
			return nil, err
		}
		if whole == nil {
			whole = page
		} else {
			whole.take(page)
		}
		next := page.NextPageToken
		if !page.Truncated || next == "" || most > 0 && len(whole.Rows) >= most {
			break
		}
		if next == token || len(page.Rows) == 0 {
			return nil, errNoProgress
		}
		token = next
	}
	if whole.RowCount == int64(len(whole.Rows)) {
		return whole, nil
	}
	var err error
	whole.RowCount = int64(len(whole.Rows))
	whole.raw, err = encoding.JSON(whole)
	return whole, err
}

// errNoProgress prevents a list that grows without end.
var errNoProgress = errors.New("the server answers one page again and again; is something on the way that keeps answers?")

// take appends the next page.
func (a *rowsAnswer) take(page *rowsAnswer) {
	a.Rows = append(a.Rows, page.Rows...)
	a.Truncated, a.TruncatedBy, a.NextPageToken = page.Truncated, page.TruncatedBy, page.NextPageToken
}

// tooLarge reports whether a server refused to send an answer because of its size.
func tooLarge(err error) bool {
	var refused *serverError
	return errors.As(err, &refused) && refused.Status == http.StatusRequestEntityTooLarge &&
		refused.Body.ResourceLimit != nil && refused.Body.ResourceLimit.Resource == "bytes"
}

// conditional returns the path of a route that exists with and without a condition. With a
// condition it is a different path, so that a server without conditional writes refuses the request
// instead of ignoring the condition.
func conditional(path string, opts engine.WriteOptions) string {
	if opts.IfCommit != "" {
		return path + "/if-graph-commit"
	}
	return path
}

func (r *remote) Mutate(ctx context.Context, s *statement, opts engine.WriteOptions) (*changeAnswer, error) {
	if err := s.check(true); err != nil {
		return nil, err
	}
	q, err := posting(conditional("/mutate", opts), statementBody{Query: s.text, Name: s.name, Params: s.params, Branch: opts.Branch, DryRun: opts.DryRun})
	if err != nil {
		return nil, err
	}
	a := &changeAnswer{}
	return a, atFile(r.into(ctx, q.under(opts), a), s.file, s.text)
}

func (r *remote) Queries(ctx context.Context) ([]queryAnswer, error) {
	var list struct {
		Queries []queryAnswer `json:"queries"`
	}
	err := r.into(ctx, reading("/queries", nil), &list)
	return list.Queries, err
}

type invokeBody struct {
	Params    json.RawMessage `json:"params,omitempty"`
	Branch    string          `json:"branch,omitempty"`
	Snapshot  string          `json:"snapshot,omitempty"`
	MaxRows   int             `json:"max_rows,omitempty"`
	PageToken string          `json:"page_token,omitempty"`
	DryRun    bool            `json:"dry_run,omitempty"`
}

func (r *remote) Invoke(ctx context.Context, s *statement, opts engine.WriteOptions) (rows *rowsAnswer, change *changeAnswer, err error) {
	rows, err = pages(s.rows, func(most int, token string) (*rowsAnswer, error) {
		q, err := posting(conditional("/queries/"+segment(s.name), opts), invokeBody{
			Params: s.params, Branch: s.at.Branch, Snapshot: s.at.Commit, MaxRows: most, PageToken: token, DryRun: opts.DryRun,
		})
		if err != nil {
			return nil, err
		}
		q.under(opts)
		q.repeats = q.repeats || token != "" // only reads have pages
		b, err := r.ask(ctx, q)
		if err != nil {
			return nil, err
		}
		a, c, err := readEither(b)
		if c != nil {
			change, a = c, &rowsAnswer{}
		}
		return a, err
	})
	if err != nil || change != nil {
		return nil, change, err
	}
	return rows, nil, nil
}
