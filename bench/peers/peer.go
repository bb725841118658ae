package main

import (
	"context"
	"fmt"

	"github.com/omnigraph-go/omnigraph/internal/bench/social"
)

// peer is a database to measure. This engine is one of them.
type peer interface {
	name() string
	// searches reports whether a loaded database has a text index for posts. The ranking need not
	// be BM25.
	searches(ctx context.Context, dir string) (bool, error)
	// load fills the empty directory from the source. It returns when all data is durable, indexed
	// and analyzed.
	load(ctx context.Context, dir string, from source) error
	// open opens the database that load left in the directory.
	open(ctx context.Context, dir string) (session, error)
}

// source provides the rows of the graph. The engine reads the file, as its users do. The peers get
// the rows directly, which saves them the parsing of JSON.
type source struct {
	graph *social.Graph // the generated rows
	file  string        // the same rows as NDJSON
}

// session is an open database. Only one goroutine may use it at a time.
type session interface {
	version(ctx context.Context) (string, error)
	// prepare makes a statement. The error is an *absentError if the database lacks the feature
	// that the work needs.
	prepare(ctx context.Context, w *work) (statement, error)
	// writers returns n commit functions, which may run concurrently.
	writers(ctx context.Context, n int) ([]commitFunc, error)
	close() error
}

// statement runs a prepared read and reads every value of every row. If `keep` is not nil,
// statement appends the rows to it, with integers as int64 and floats as float64.
type statement func(ctx context.Context, args []any, keep *[][]any) (rows int, err error)

// commitFunc durably commits one person with the given integer and key, and the fact that this person
// knows the person with the key `friend` since the given day.
type commitFunc func(ctx context.Context, person int, slug, friend string, day int) error

// absentError says why a database cannot be measured, for one work or for the whole run.
type absentError struct{ reason string }

func (e *absentError) Error() string { return e.reason }

// absent returns an absentError with a formatted reason.
func absent(format string, args ...any) error {
	return &absentError{reason: fmt.Sprintf(format, args...)}
}
