package main

import (
	"context"
	"fmt"

	"github.com/omnigraph-go/omnigraph/bench/social"
)

// peer is a database that is measured: this engine is one of them.
type peer interface {
	name() string
	// searches reports whether what load leaves behind can rank posts by words or,
	// where the ranking is not BM25, has a text index all the same.
	searches(ctx context.Context, dir string) (bool, error)
	// load fills the empty directory from the source. It ends when all is durable,
	// indexed and analyzed.
	load(ctx context.Context, dir string, from source) error
	// open opens what load left in the directory.
	open(ctx context.Context, dir string) (session, error)
}

// source is where the rows of the graph come from. The engine reads the file, as its
// users do; the peers are given the rows, which saves them from parsing JSON.
type source struct {
	graph *social.Graph
	file  string // the same rows as NDJSON
}

// session is an open database, used by one goroutine.
type session interface {
	version(ctx context.Context) (string, error)
	// prepare makes a statement. The error is an *absentError when the database
	// has nothing to do the work with.
	prepare(ctx context.Context, w *work) (statement, error)
	// writers returns functions for n concurrent writers.
	writers(ctx context.Context, n int) ([]commitFunc, error)
	close() error
}

// statement runs a prepared read until every value of every row was read. Rows are
// kept when keep is not nil: the integers as int64, the floats as float64.
type statement func(ctx context.Context, args []any, keep *[][]any) (rows int, err error)

// commitFunc commits, durably, one person and whom that person knows.
type commitFunc func(ctx context.Context, person, friend, day int) error

// absentError says why a database takes no part in a work, or at all.
type absentError struct{ reason string }

func (e *absentError) Error() string { return e.reason }

func absent(format string, args ...any) error {
	return &absentError{reason: fmt.Sprintf(format, args...)}
}
