package servedgraph_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// lostPast is a graph whose past states cannot be read in the limits of a call.
type lostPast struct {
	engine.Graph
	late bool // the reads of past states take too long; else they have too many rows
}

func (g *lostPast) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	switch {
	case at.Commit == "":
		return g.Graph.Query(ctx, q, args, at)
	case g.late:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, &engine.TooLarge{Resource: "rows", Limit: 1}
}

// TestWatchLostPast evaluates a watch whose answer at the cursor exceeds the limits of the call. The consumer goes on with the answer now.
func TestWatchLostPast(t *testing.T) {
	for _, late := range []bool{false, true} {
		g := newWatchedGraph(t)
		g.mutate("", "put", "ann", 30, "a")
		id := g.watch(servedtest.Writer, "people", "", "")
		first, err := g.read(servedtest.Writer, id, "")
		if err != nil {
			t.Fatal(err)
		}
		g.mutate("", "grow", "ann", 31)
		whole := g.engine
		g.Graph = servedtest.Graph(t, servedgraph.Config{
			ID: "people", Graph: &lostPast{whole, late}, Authorizer: watchPolicy{denied: &g.denied}, Limits: servedgraph.Limits{Timeout: 3 * time.Second},
			Catalog: &tool.Catalog{Graph: "people", Queries: servedtest.QueriesOf(t, servedtest.SchemaOf(t, watchedSource), watchedQueries)},
		})
		e, err := g.read(servedtest.Writer, id, first.Cursor)
		if err != nil || e.Reset == nil || *e.Reset != client.ResetHistory || len(e.Rows) != 1 {
			t.Errorf("late: %t: the event is %+v, %v, want a reset with the answer now", late, e, err)
		}
	}
}

// lagging is a graph that does not know its watches before the server has read the log to its end.
type lagging struct {
	engine.Graph
	caughtUp atomic.Bool
}

func (g *lagging) Watches(ctx context.Context, r engine.WatchRange) ([]engine.Watch, error) {
	if !g.caughtUp.Load() {
		return nil, nil
	}
	return g.Graph.Watches(ctx, r)
}

// TestWatchOnFollower reads a watch on a server that has not read the record of it yet.
func TestWatchOnFollower(t *testing.T) {
	g := newWatchedGraph(t)
	id := g.watch(servedtest.Writer, "people", "", "")
	behind := &lagging{Graph: g.engine}
	g.Graph = servedtest.Graph(t, servedgraph.Config{
		ID: "people", Graph: behind, Authorizer: watchPolicy{denied: &g.denied},
		CatchUp: func(context.Context) error { behind.caughtUp.Store(true); return nil },
		Catalog: &tool.Catalog{Graph: "people", Queries: servedtest.QueriesOf(t, servedtest.SchemaOf(t, watchedSource), watchedQueries)},
	})
	if _, err := g.read(servedtest.Writer, id, ""); err != nil {
		t.Errorf("a watch that another server made: %v", err)
	}
}

// TestWatchGroups reads a watch of a query with actor().groups with tokens whose groups have different orders. Only another set of groups
// is a reset.
func TestWatchGroups(t *testing.T) {
	g := newWatchedGraph(t)
	g.serve(g.engine, watchedQueries+`query mine() { match { $p: Person $p.team in actor().groups } return { $p.name } }`)
	g.mutate("", "put", "ann", 30, "a")
	as := func(groups ...string) *access.Actor {
		a := *servedtest.Writer
		a.Groups = groups
		return &a
	}
	id := g.watch(as("b", "a"), "mine", "", "")
	e, err := g.read(as("b", "a"), id, "")
	if err != nil || len(e.Rows) != 1 {
		t.Fatalf("the first event is %+v, %v", e, err)
	}
	if e, err = g.read(as("a", "b"), id, e.Cursor); err != nil || e.News() {
		t.Errorf("with the groups in another order the event is %+v, %v", e, err)
	}
	if e, err = g.read(as("b", "c"), id, e.Cursor); err != nil || e.Reset == nil || *e.Reset != client.ResetRights || len(e.Rows) != 0 {
		t.Errorf("with other groups the event is %+v, %v", e, err)
	}
}

// TestWatchDuringApply reads a watch after an apply has renamed the property that its query reads, and before the revision is served.
func TestWatchDuringApply(t *testing.T) {
	g := newWatchedGraph(t)
	const query = "query ages() { match { $p: Person } return { $p.name, $p.age as age } }"
	renamed := strings.Replace(watchedSource, "age: I32?", `years: I32? @rename_from("age")`, 1)
	after := servedtest.QueriesOf(t, servedtest.SchemaOf(t, renamed), strings.Replace(query, "$p.age", "$p.years", 1))
	before, err := g.engine.Schema(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	g.Graph = servedtest.Graph(t, servedgraph.Config{
		ID: "people", Graph: g.engine, Authorizer: watchPolicy{denied: &g.denied}, AppliedSchema: before,
		Catalog: &tool.Catalog{Graph: "people", Queries: servedtest.QueriesOf(t, servedtest.SchemaOf(t, watchedSource), query)},
		Plans: func(_ context.Context, digest string, _ tool.StoredQuery) (tool.StoredQuery, bool) {
			return after[0], true
		},
	})
	g.mutate("", "put", "ann", 30, "a")
	id := g.watch(servedtest.Writer, "ages", "", "")
	e, err := g.read(servedtest.Writer, id, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.engine.ApplySchema(t.Context(), renamed, servedtest.SchemaOf(t, renamed), engine.SchemaOptions{}); err != nil {
		t.Fatal(err)
	}
	e, err = g.read(servedtest.Writer, id, e.Cursor)
	if err != nil || e.Reset == nil || len(e.Rows) != 1 || string(e.Rows[0]) != `{"p.name":"ann","age":30}` {
		t.Fatalf("after the apply the event is %+v, %v", e, err)
	}
	if e, err = g.read(servedtest.Writer, id, e.Cursor); err != nil || e.News() {
		t.Errorf("the next event is %+v, %v", e, err)
	}
}

// TestWatchCheck watches a check. It tells which violations come and go.
func TestWatchCheck(t *testing.T) {
	g := newWatchedGraph(t)
	g.serve(g.engine, watchedQueries+`query nobody_is_old() @must_be_empty("Nobody is old.") { match { $p: Person $p.age > 60 } return { $p.name } }`)
	id := g.watch(servedtest.Writer, "nobody_is_old", "", "")
	e, err := g.read(servedtest.Writer, id, "")
	if err != nil || len(e.Rows) != 0 {
		t.Fatalf("the first event is %+v, %v", e, err)
	}
	g.mutate("", "put", "ann", 61, nil)
	if e, err = g.read(servedtest.Writer, id, e.Cursor); err != nil || len(e.Came) != 1 {
		t.Errorf("with a violation the event is %+v, %v", e, err)
	}
	g.mutate("", "grow", "ann", 30)
	if e, err = g.read(servedtest.Writer, id, e.Cursor); err != nil || len(e.Went) != 1 {
		t.Errorf("without the violation the event is %+v, %v", e, err)
	}
}

// partPolicy lets everyone see the persons of the team a only.
type partPolicy struct {
	servedtest.Policy
	rights *engine.Rights
}

func (partPolicy) Allowed(*access.Actor, tool.Grant) bool { return true }
func (partPolicy) Restricts() bool                        { return true }
func (p partPolicy) Rights(*access.Actor, tool.Grant, *engine.Schema) *engine.Rights {
	return p.rights
}

// serveTeam serves the graph to callers who see the persons of the team a only.
func (g *watchedGraph) serveTeam(change func(*servedgraph.Config)) {
	g.Helper()
	schema := servedtest.SchemaOf(g.T, watchedSource)
	filters := servedtest.QueriesOf(g.T, schema, `
query all() { match { $it: Person $it.team = "a" } return { $it.id as id } }
query among($among: [String]) { match { $it: Person $it.team = "a" $it.id in $among } return { $it.id as id } }`)
	filter := &engine.RowFilter{Name: "team", Entities: filters[0].Plan(), Among: filters[1].Plan()}
	c := servedgraph.Config{
		ID: "people", Graph: g.engine,
		Authorizer: partPolicy{rights: &engine.Rights{Digest: "team a", Nodes: map[string]*engine.TypeRights{"Person": {Any: [][]*engine.RowFilter{{filter}}}}}},
		Catalog:    &tool.Catalog{Graph: "people", Queries: servedtest.QueriesOf(g.T, schema, watchedQueries)},
	}
	if change != nil {
		change(&c)
	}
	g.Graph = servedtest.Graph(g.T, c)
}

// TestWatchPartOfMain watches main under an applied revision with rights to a part of it. Persons come and go with their team, which the
// query does not read, and a change of a hidden person tells nothing.
func TestWatchPartOfMain(t *testing.T) {
	g := newWatchedGraph(t)
	g.mutate("", "put", "ann", 30, "a")
	applied, err := g.engine.Schema(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	revision := func(c *servedgraph.Config) {
		c.AppliedSchema = applied
		c.Plans = func(_ context.Context, _ string, q tool.StoredQuery) (tool.StoredQuery, bool) { return q, false }
	}
	g.serveTeam(revision)
	id := g.watch(servedtest.Writer, "people", "", "")
	first, err := g.read(servedtest.Writer, id, "")
	if err != nil || len(first.Rows) != 1 {
		t.Fatalf("the first event is %+v, %v", first, err)
	}
	g.mutate("", "put", "ann", 30, "b")
	e, err := g.read(servedtest.Writer, id, first.Cursor)
	if err != nil || len(e.Went) != 1 && (e.Reset == nil || *e.Reset != client.ResetRights) || len(e.Rows) != 0 {
		t.Errorf("after ann has left the team the event is %+v, %v", e, err)
	}
	g.mutate("", "put", "bob", 1, "b")
	g.mutate("", "grow", "ann", 31)
	if e, err = g.read(servedtest.Writer, id, e.Cursor); err != nil || e.News() {
		t.Errorf("after changes of hidden persons the event is %+v, %v", e, err)
	}
	// All rights, without a commit.
	whole := servedgraph.Config{
		ID: "people", Graph: g.engine, Authorizer: watchPolicy{denied: &g.denied},
		Catalog: &tool.Catalog{Graph: "people", Queries: servedtest.QueriesOf(t, servedtest.SchemaOf(t, watchedSource), watchedQueries)},
	}
	revision(&whole)
	g.Graph = servedtest.Graph(t, whole)
	if e, err = g.read(servedtest.Writer, id, e.Cursor); err != nil || e.Reset == nil || *e.Reset != client.ResetRights || len(e.Rows) != 2 {
		t.Errorf("with all rights the event is %+v, %v", e, err)
	}
}

// TestWatchWakesForMain moves a person on main out of sight of the owner of a watch on another branch. That wakes the watch, and the person
// goes.
func TestWatchWakesForMain(t *testing.T) {
	g := newWatchedGraph(t)
	g.mutate("", "put", "ann", 30, "a")
	if _, err := g.engine.CreateBranch(t.Context(), "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	g.serveTeam(nil)
	id := g.watch(servedtest.Writer, "people", "", "side")
	answer, state, err := g.ReadWatch(t.Context(), servedtest.Writer, "test", id, "", g.ForModel())
	if err != nil {
		t.Fatal(err)
	}
	answer.Release()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	woken := make(chan error, 1)
	go func() { woken <- g.AwaitNews(ctx, state.Branch, state.Commit, state.Main) }()
	g.mutate("", "put", "ann", 30, "b")
	if err := <-woken; err != nil {
		t.Fatalf("the change of main wakes nothing: %v", err)
	}
	e, err := g.read(servedtest.Writer, id, state.Cursor)
	if err != nil || e.Reset == nil || *e.Reset != client.ResetRights || len(e.Rows) != 0 {
		t.Errorf("the event is %+v, %v", e, err)
	}
}

// TestWatchQuota evaluates a watch while two evaluations of the actor run. It waits, and that of another actor does not.
func TestWatchQuota(t *testing.T) {
	g := newWatchedGraph(t)
	mine, others := g.watch(servedtest.Writer, "people", "", ""), g.watch(servedtest.Reader, "people", "", "")
	var done []func()
	for range 2 {
		end, err := g.TakeWatchTurn(t.Context(), servedtest.Writer.ID)
		if err != nil {
			t.Fatal(err)
		}
		done = append(done, end)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := g.ReadWatch(ctx, servedtest.Writer, "test", mine, "", g.ForModel()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third evaluation of the actor: %v, want it to wait", err)
	}
	if _, err := g.read(servedtest.Reader, others, ""); err != nil {
		t.Errorf("an evaluation for another actor: %v", err)
	}
	done[0]()
	if _, err := g.read(servedtest.Writer, mine, ""); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
	done[1]()
}

// TestWatchUncounted checks that the comparison of a commit with a footprint does not count all changes of the commit.
func TestWatchUncounted(t *testing.T) {
	g := newWatchedGraph(t)
	e, err := embedded.Create(t.Context(), fs.NewMem(), "graph", watchedSource, servedtest.SchemaOf(t, watchedSource), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	counting := &countedChanges{Graph: e}
	g.serve(counting, watchedQueries)
	g.mutate("", "put", "ann", 30, "a")
	id := g.watch(servedtest.Writer, "people", "", "")
	first, err := g.read(servedtest.Writer, id, "")
	if err != nil {
		t.Fatal(err)
	}
	g.mutate("", "put", "bob", 30, "a")
	if _, err := g.read(servedtest.Writer, id, first.Cursor); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(counting.uncounted, []bool{true}) {
		t.Errorf("the commits were compared with uncounted %v", counting.uncounted)
	}
}

// countedChanges notes how the changes of commits are asked for.
type countedChanges struct {
	engine.Graph
	uncounted []bool
}

func (g *countedChanges) Changes(ctx context.Context, commit string, r engine.ChangeRange) (*engine.Changes, error) {
	g.uncounted = append(g.uncounted, r.Uncounted)
	all, err := g.Graph.Changes(ctx, commit, r)
	if err == nil && r.Uncounted && (all.Nodes != engine.ChangeCounts{}) {
		g.uncounted = append(g.uncounted, false)
	}
	return all, err
}

// TestWatchTurnIsNotTimed evaluates a watch while two evaluations of the actor run. The wait does not count against the time limit of a call.
func TestWatchTurnIsNotTimed(t *testing.T) {
	g := newWatchedGraph(t)
	id := g.watch(servedtest.Writer, "people", "", "")
	g.Graph = servedtest.Graph(t, servedgraph.Config{
		ID: "people", Graph: g.engine, Authorizer: watchPolicy{denied: &g.denied}, Limits: servedgraph.Limits{Timeout: time.Nanosecond},
		Catalog: &tool.Catalog{Graph: "people", Queries: servedtest.QueriesOf(t, servedtest.SchemaOf(t, watchedSource), watchedQueries)},
	})
	for range 2 {
		end, err := g.TakeWatchTurn(t.Context(), servedtest.Writer.ID)
		if err != nil {
			t.Fatal(err)
		}
		defer end()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var late *wireerror.Overdue
	if _, _, err := g.ReadWatch(ctx, servedtest.Writer, "test", id, "", g.ForModel()); !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late) {
		t.Errorf("the wait ends with %v, want the end of the caller's context", err)
	}
}

// lostMain is a graph whose main cannot be read.
type lostMain struct {
	engine.Graph
	lost atomic.Bool
}

func (g *lostMain) Commits(ctx context.Context, branch string, r engine.CommitRange) ([]engine.Commit, error) {
	if g.lost.Load() && (branch == "" || branch == engine.MainBranch) {
		return nil, &engine.Unavailable{Reason: "it is lost"}
	}
	return g.Graph.Commits(ctx, branch, r)
}

// TestWatchLosesMain waits for news of another branch and of main, which cannot be read any more. The error says that.
func TestWatchLosesMain(t *testing.T) {
	g := newWatchedGraph(t)
	if _, err := g.engine.CreateBranch(t.Context(), "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	head, err := g.Head(t.Context(), tool.Branch{})
	if err != nil {
		t.Fatal(err)
	}
	broken := &lostMain{Graph: g.engine}
	broken.lost.Store(true)
	g.Graph = servedtest.Graph(t, servedgraph.Config{
		ID: "people", Graph: broken, Authorizer: watchPolicy{denied: &g.denied},
		Catalog: &tool.Catalog{Graph: "people", Queries: servedtest.QueriesOf(t, servedtest.SchemaOf(t, watchedSource), watchedQueries)},
	})
	var lost *engine.Unavailable
	if err := g.AwaitNews(t.Context(), tool.BranchNamed("side"), head, head); !errors.As(err, &lost) {
		t.Errorf("the wait ends with %v", err)
	}
}
