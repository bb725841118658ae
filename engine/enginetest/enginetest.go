// Package enginetest holds the tests that every engine must pass: a suite of named cases, and a
// randomized comparison with the reference model of package naive.
//
// Most cases are texts, which the suite compiles, because an engine sees no query text; see texts/README.md. A case
// without a text builds plans as Go values. Call both from a test of the engine:
//
//	func TestConformance(t *testing.T) { enginetest.Run(t, open) }
//	func TestRandom(t *testing.T)      { enginetest.RunRandom(t, open, enginetest.FromFlags()) }
package enginetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Opener makes an empty graph with a schema. The argument `source` is an arbitrary text that stands
// for the schema's text. The caller closes the graph, after a few statements or a few thousand. An
// Opener is called very often, so it must not register a cleanup on t for each call.
type Opener func(t testing.TB, source string, schema *catalog.Schema) engine.Graph

// Run runs every case of the suite as a subtest.
func Run(t *testing.T, open Opener) {
	for _, c := range suite() {
		t.Run(c.name, func(t *testing.T) {
			runCase(t, c, func(source string, schema *catalog.Schema) engine.Graph { return open(t, source, schema) })
		})
	}
}

// sourceText is the schema source of the graphs of cases without a text.
const sourceText = "// built as a Go value\n"

// reporter is the part of testing.TB that a case needs. When a case runs against a faulty model,
// the reporter records the failures without failing the test.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// testCase is one named case: it runs statements on a new graph with a schema.
type testCase struct {
	name   string                 // name of the subtest
	source func() string          // returns the text of the schema; nil for sourceText
	schema func() *catalog.Schema // makes the schema of the graph
	large  bool                   // the case is too large for the model
	run    func(s *session)       // runs and checks the statements
}

// suite returns the cases of all groups.
func suite() []testCase {
	var all []testCase
	for _, part := range [][]testCase{
		casesOfTexts(), conditionCases(), truthCases(), textCases(), rankCases(), walkCases(), boundWalkCases(), alternativeCases(), interfaceCases(), endCases(), distinctCases(), havingCases(),
		columnCases(), kindCases(), insertCases(), namedCases(), blockCases(), constraintCases(), loadCases(), sourceCases(), loadFaultCases(), versionCases(), branchCases(), historyCases(), writeOptionCases(), mergeCases(), keptCases(), proposalCases(), eventCases(), draftCases(), watchCases(), schemaCases(), schemaMergeCases(), exportCases(), rightsCases(), validCases(), originCases(), callCases(), healthCases(), largeCases(),
	} {
		all = append(all, part...)
	}
	return all
}

// runCase runs a case on a graph that `open` returns, and closes the graph.
func runCase(t reporter, c testCase, open func(source string, schema *catalog.Schema) engine.Graph) {
	schema, source := c.schema(), sourceText
	if c.source != nil {
		source = c.source()
	}
	g := open(source, schema)
	defer func() {
		if err := g.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	c.run(&session{reporter: t, ctx: context.Background(), schema: schema, graph: g, marks: map[string]engine.Commit{}})
}

// session is one run of a case.
type session struct {
	reporter
	ctx    context.Context // passed to each call of the graph
	schema *catalog.Schema // schema of the graph
	graph  engine.Graph    // the tested graph
	branch string          // the branch on which statements of texts run; "" for main
	// The following is for statements of texts.
	marks   map[string]engine.Commit // the commits that a text has marked, by name
	past    engine.Commit            // the commit that statements read; none for the head of the branch
	written engine.Commit            // the commit with whose schema queries are compiled; none for that of the state that they read
	made    []string                 // the ids of the commits of writes
	err     error                    // of the last statement
}

// read starts a read plan for the session's schema.
func (s *session) read() *readPlan { return newRead(s.schema) }

// rows runs a read and returns its rows as text.
func (s *session) rows(q *plan.Query, args ...any) []string {
	s.Helper()
	return s.rowsOf(q, arguments(args))
}

// target returns the commit that statements of texts read, by default the head of the session's branch.
func (s *session) target() engine.Target { return engine.Target{Branch: s.branch, Commit: s.past.ID} }

// rowsOf is rows with converted arguments.
func (s *session) rowsOf(q *plan.Query, args engine.Args) []string {
	s.Helper()
	rows, more, err := queryMore(s.ctx, s.graph, q, args, s.target())
	if err != nil {
		s.Fatalf("query: %v\n%s", err, planText(q))
	}
	s.cut(q, args, more)
	s.explain(q, args, len(rows))
	return formatRows(rows)
}

// cut checks `more`, the result of [engine.Result.More], which reports whether the limit of a read
// cut rows off. It counts the rows of the same read without the limit.
func (s *session) cut(q *plan.Query, args engine.Args, more bool) {
	s.Helper()
	limit, all := q.Read.LimitOf(plan.WithDefaults(q.Params, args)), 0
	if limit > 0 {
		whole, read := *q, *q.Read
		read.Limit, read.LimitBy, whole.Read = plan.NoLimit, nil, &read
		rows, err := queryAt(s.ctx, s.graph, &whole, args, s.target())
		if err != nil {
			s.Fatalf("running the query without its limit: %v\n%s", err, planText(q))
		}
		all = len(rows)
	}
	if want := int64(all) > limit && limit > 0; more != want {
		s.Errorf("More of the result is %t, expected %t: there are %d rows without the limit %d\n%s", more, want, all, limit, planText(q))
	}
}

// explain checks the properties that every engine's explanation must have. With analyze, the root
// operator, which yields the result, must have the number of rows of the result. Without analyze,
// no operator may have a number of rows.
func (s *session) explain(q *plan.Query, args engine.Args, rows int) {
	s.Helper()
	for _, analyze := range []bool{false, true} {
		e, err := s.graph.Explain(s.ctx, q, args, s.target(), analyze)
		if err != nil {
			s.Fatalf("explain, analyze %t: %v\n%s", analyze, err, planText(q))
		}
		if len(e.Plan) != 1 || e.Analyzed != analyze || e.Commit != s.head().ID {
			s.Fatalf("explain, analyze %t: %d operators at the root, analyzed %t, commit %s\n%s", analyze, len(e.Plan), e.Analyzed, e.Commit, planText(q))
		}
		if got := e.Plan[0].Rows; analyze && (got == nil || *got != int64(rows)) {
			s.Errorf("explain: the root operator does not report %d rows\n%s\n%s", rows, e, planText(q))
		}
		s.operators(e.Plan, analyze)
	}
}

// operators checks a list of operators and their children.
func (s *session) operators(list []*engine.Operator, analyzed bool) {
	s.Helper()
	for _, o := range list {
		if o.Name == "" || !(o.Estimate >= 0) || (o.Rows != nil) != analyzed || o.Rows != nil && *o.Rows < 0 || o.Time < 0 {
			s.Errorf("explain: with analyze %t, an operator has wrong members: %+v", analyzed, *o)
		}
		s.operators(o.Children, analyzed)
	}
}

// expect runs a read plan and compares its rows, in order, with the text `want`. This text has one
// line per row and separates cells with " | ". Blank lines and indentation do not count.
func (s *session) expect(p *readPlan, want string, args ...any) {
	s.Helper()
	q := p.query()
	got := strings.Join(s.rows(q, args...), "\n")
	if want := unindent(want); got != want {
		s.Errorf("wrong rows\ngot:\n%s\nwant:\n%s\nquery:\n%s", got, want, planText(q))
	}
}

// unindent returns the lines without blank lines and without white space at their ends.
func unindent(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// load loads lines in the given mode. It fails the case on an error.
func (s *session) load(mode engine.LoadMode, lines string) *engine.LoadResult {
	s.Helper()
	res, err := s.tryLoad(mode, lines)
	if err != nil {
		s.Fatalf("load: %v\n%s", err, lines)
	}
	return res
}

// tryLoad loads NDJSON lines, and returns the error of the load.
func (s *session) tryLoad(mode engine.LoadMode, lines string) (*engine.LoadResult, error) {
	return s.graph.Load(s.ctx, strings.NewReader(lines), engine.LoadOptions{Mode: mode})
}

// mutate runs a mutation. It fails the case on an error.
func (s *session) mutate(m *mutationPlan, args ...any) engine.Change {
	s.Helper()
	change, err := s.tryMutate(m, args...)
	if err != nil {
		s.Fatalf("mutate: %v\n%s", err, planText(m.query()))
	}
	return change
}

// tryMutate runs a mutation, and returns its error.
func (s *session) tryMutate(m *mutationPlan, args ...any) (engine.Change, error) {
	return s.graph.Mutate(s.ctx, m.query(), arguments(args), engine.WriteOptions{})
}

// expectChange runs a mutation and checks its counts and whether it committed.
func (s *session) expectChange(m *mutationPlan, nodes, edges int64, commits bool, args ...any) {
	s.Helper()
	change := s.mutate(m, args...)
	if change.Nodes != nodes || change.Edges != edges || (change.Commit != nil) != commits {
		s.Errorf("changed %d nodes and %d edges, committed %t; want %d, %d, %t\n%s",
			change.Nodes, change.Edges, change.Commit != nil, nodes, edges, commits, planText(m.query()))
	}
}

// head returns the head of the session's branch.
func (s *session) head() engine.Commit {
	s.Helper()
	snap, err := s.graph.Snapshot(s.ctx, s.target())
	if err != nil {
		s.Fatalf("snapshot: %v", err)
	}
	return snap.Commit
}

// query runs a read of main to its end.
func query(ctx context.Context, g engine.Graph, q *plan.Query, args engine.Args) (rows [][]cell, err error) {
	return queryAt(ctx, g, q, args, engine.Target{})
}

// queryAt runs a read of a target to its end.
func queryAt(ctx context.Context, g engine.Graph, q *plan.Query, args engine.Args, at engine.Target) (rows [][]cell, err error) {
	rows, _, err = queryMore(ctx, g, q, args, at)
	return rows, err
}

// queryMore is queryAt, and also reports whether the limit of the read cut rows off.
func queryMore(ctx context.Context, g engine.Graph, q *plan.Query, args engine.Args, at engine.Target) (rows [][]cell, more bool, err error) {
	res, err := g.Query(ctx, q, args, at)
	if err != nil {
		return nil, false, err
	}
	rows, err = drain(ctx, q, res)
	return rows, err == nil && res.More(), err
}

// drain reads a result to its end and closes it.
func drain(ctx context.Context, q *plan.Query, res engine.Result) (rows [][]cell, err error) {
	defer func() {
		if closeErr := res.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("close the result: %w", closeErr)
		}
	}()
	for {
		batch, err := res.Next(ctx)
		if err != nil || batch == nil {
			return rows, err
		}
		more, err := cells(q.Read.Columns, batch)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
}
