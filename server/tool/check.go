package tool

import (
	"context"
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Checks runs the checks of a graph: the stored queries that must return no row.
type Checks interface {
	// Run runs all checks on a state, within limits of time and rows, and returns their outcomes in the
	// order of the queries. It runs them with the rights of the server.
	Run(ctx context.Context, s CheckedState) []CheckOutcome

	// Unrun returns the outcomes of checks that cannot run: all are unfinished, for the given reason.
	Unrun(reason string) []CheckOutcome
}

// CheckedState is a state of a graph that checks run on.
type CheckedState struct {
	// Key identifies the state, so that Run can remember outcomes. Two different states of a graph
	// must have different keys.
	Key string

	// Open returns the function that runs a read on the state. If Run remembers all outcomes, it does
	// not call Open.
	Open func(ctx context.Context) (func(ctx context.Context, q *plan.Query) (engine.Result, error), error)
}

// CheckResult says how a check ended.
type CheckResult uint8

// The results of checks. Only CheckPassed counts as passed.
const (
	CheckPassed     CheckResult = iota + 1 // the query returned no row
	CheckFailed                            // the query returned rows
	CheckUnfinished                        // the query reached a limit, or could not run
)

// CheckOutcome is the outcome of one check.
type CheckOutcome struct {
	Query  StoredQuery
	Result CheckResult
	Reason string            // for CheckUnfinished: why, for every caller
	Detail string            // for CheckUnfinished: more about the reason, for callers that may invoke the query; may be empty
	Rows   []json.RawMessage // for CheckFailed: the first rows, as JSON objects
	// Safe and Exact are the same rows with the 64-bit integers beyond ±(2^53−1), or all 64-bit integers, as strings.
	Safe, Exact []json.RawMessage
	More        bool // for CheckFailed: the query returned more rows
}
