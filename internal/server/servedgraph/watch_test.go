package servedgraph_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

var (
	watchedCommits = flag.Int("watch.commits", 0, "the number of random commits that TestWatchOracle makes; 0 for a short run")
	watchedSeed    = flag.Uint64("watch.seed", 1, "the seed of TestWatchOracle")
)

// watchedSource and watchedQueries are the schema and the stored queries of the tests of watches. Each query is another form
// of row: of one node, of walks, of edges, of groups, of optional parts and blocks, with a limit, with an order, whole nodes.
const (
	watchedSource = `node Person {
  name: String @key
  age: I32?
  team: String?
}
node Note {
  slug: String @key
  text: String
}
edge Knows: Person -> Person { weight: I32? }
edge About: Note -> Person
`
	watchedQueries = `
query people() { match { $p: Person } return { $p.name, $p.age } }
query older($min: I32) { match { $p: Person $p.age >= $min } return { $p.name, $p.team } order { $p.age desc } limit 4 }
query ages() { match { $p: Person } return { $p.age } }
query friends() { match { $p: Person $p <knows> $q $q.age >= 10 } return { $p.name, $q.name as friend, $q.age } }
query bonds() { match { $p: Person $p $k:knows $q } return { $p.name, $q.name as friend, $k.weight } }
query near($name: String) { match { $p: Person { name: $name } $p knows{1,3} $q } return { $q.name } }
query teams() { match { $p: Person } return { $p.team, count($p) as n, max($p.age) as oldest } }
query total() { match { $p: Person $p.age > 5 } return { count($p) as n } }
query names_of_teams() { match { $p: Person } return distinct { $p.team } }
query noted() { match { $p: Person optional { $n about $p } } return { $p.name, $n.slug } }
query loners() { match { $p: Person not { $p <knows> $q } } return { $p.name } }
query whole() { match { $p: Person $p.team = "a" } return { $p } }
query known() { match { $p: Person } return { $p.name, count { $_ knows $p } as known } order { known desc } limit 5 }
query found() { match { $n: Note search($n.text, "hello") } return { $n.slug, bm25($n.text, "hello") as score } order { score desc } limit 3 }
`
	watchedWrites = `
query put($name: String, $age: I32?, $team: String?) { upsert Person { name: $name, age: $age, team: $team } }
query grow($name: String, $age: I32?) { update Person set { age: $age } where name = $name }
query drop($name: String) { delete Person where name = $name }
query unnote($slug: String) { delete Note where slug = $slug }
query forget($name: String) { delete Knows where from = $name }
`
)

// watchPolicy lets everyone do everything, and denies what a test tells it to deny.
type watchPolicy struct {
	servedtest.Policy
	denied *atomic.Pointer[tool.Action]
}

func (p watchPolicy) Allowed(_ *access.Actor, g tool.Grant) bool {
	denied := p.denied.Load()
	return denied == nil || *denied != g.Action
}

// watchedGraph is a served graph in memory that a test can restart.
type watchedGraph struct {
	*testing.T
	disk   *fs.Mem
	engine engine.Graph
	*servedgraph.Graph
	denied atomic.Pointer[tool.Action]
	writes map[string]*plan.Query
}

func newWatchedGraph(t *testing.T) *watchedGraph {
	t.Helper()
	g := &watchedGraph{T: t, disk: fs.NewMem(), writes: map[string]*plan.Query{}}
	schema := servedtest.SchemaOf(t, watchedSource)
	made, err := embedded.Create(t.Context(), g.disk, "graph", watchedSource, schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range servedtest.QueriesOf(t, schema, watchedWrites) {
		g.writes[q.Info().Name] = q.Plan()
	}
	g.serve(made, watchedQueries)
	t.Cleanup(func() { g.engine.Close() })
	return g
}

// serve serves a graph with the given queries.
func (g *watchedGraph) serve(e engine.Graph, queries string) {
	g.Helper()
	g.engine = e
	g.Graph = servedtest.Graph(g.T, servedgraph.Config{
		ID: "people", Graph: e, Authorizer: watchPolicy{denied: &g.denied},
		Catalog: &tool.Catalog{Graph: "people", Queries: servedtest.QueriesOf(g.T, servedtest.SchemaOf(g.T, watchedSource), queries)},
	})
}

// restart closes the graph and opens it again.
func (g *watchedGraph) restart() {
	g.Helper()
	if err := g.engine.Close(); err != nil {
		g.Fatal(err)
	}
	e, err := embedded.Open(context.Background(), g.disk, "graph", embedded.Options{})
	if err != nil {
		g.Fatal(err)
	}
	g.serve(e, watchedQueries)
}

// call makes a call about watches and decodes the answer.
func (g *watchedGraph) call(actor *access.Actor, r operations.WatchRequest, into any) error {
	g.Helper()
	call, err := g.WatchCall(context.Background(), actor, "test", &r)
	if err != nil {
		return err
	}
	a, err := g.Do(context.Background(), actor, "test", call, encoding.Options{})
	if err != nil {
		return err
	}
	defer a.Release()
	return json.Unmarshal(a.JSON, into)
}

// watch makes a watch and returns its id.
func (g *watchedGraph) watch(actor *access.Actor, query, params, branch string) string {
	g.Helper()
	var w client.Watch
	if err := g.call(actor, operations.WatchRequest{New: &operations.NewWatch{Query: query, Params: json.RawMessage(params), Branch: tool.BranchName(branch)}}, &w); err != nil {
		g.Fatalf("watch %s: %v", query, err)
	}
	return w.ID
}

// read reads a watch after a cursor.
func (g *watchedGraph) read(actor *access.Actor, id, cursor string) (*client.WatchEvent, error) {
	g.Helper()
	e := &client.WatchEvent{}
	return e, g.call(actor, operations.WatchRequest{ID: id, Cursor: cursor}, e)
}

// mutate runs one of the mutations.
func (g *watchedGraph) mutate(branch, name string, args ...any) {
	g.Helper()
	var values engine.Args
	for _, a := range args {
		switch a := a.(type) {
		case string:
			values = append(values, value.OfString(a))
		case int:
			values = append(values, value.OfI32(int32(a)))
		default:
			values = append(values, value.Null)
		}
	}
	if _, err := g.engine.Mutate(context.Background(), g.writes[name], values, engine.WriteOptions{Branch: branch}); err != nil {
		g.Fatalf("%s %v: %v", name, args, err)
	}
}

// load merges lines into a branch.
func (g *watchedGraph) load(branch, lines string) {
	g.Helper()
	if _, err := g.engine.Load(context.Background(), strings.NewReader(lines), engine.LoadOptions{Mode: engine.Merge, NewEdges: true, WriteOptions: engine.WriteOptions{Branch: branch}}); err != nil {
		g.Fatal(err)
	}
}

// consumer is a client of a watch that stores the rows and the cursor.
type consumer struct {
	query, params, branch, id string
	rows                      []string
	cursor                    string
	resets, events            int
}

// apply applies an event to the rows.
func (c *consumer) apply(e *client.WatchEvent) error {
	take := func(row client.Row) error {
		i := slices.Index(c.rows, string(row))
		if i < 0 {
			return fmt.Errorf("the row %s went, but the consumer does not have it", row)
		}
		c.rows = slices.Delete(c.rows, i, i+1)
		return nil
	}
	if e.Reset != nil {
		c.resets++
		c.rows = nil
		e.Came = append(e.Came, e.Rows...)
	}
	for _, row := range e.Went {
		if err := take(row); err != nil {
			return err
		}
	}
	for _, change := range e.Changed {
		if err := take(change.Before); err != nil {
			return err
		}
		c.rows = append(c.rows, string(change.After))
	}
	for _, row := range e.Came {
		c.rows = append(c.rows, string(row))
	}
	if e.News() {
		c.events++
	}
	c.cursor = e.Cursor
	return nil
}

// answer runs the query of a consumer.
func (g *watchedGraph) answer(actor *access.Actor, c *consumer) []string {
	g.Helper()
	a, err := g.InvokeQuery(context.Background(), actor, c.query, servedgraph.Invocation{Params: json.RawMessage(c.params), Branch: tool.BranchName(c.branch)}, encoding.Options{})
	if err != nil {
		g.Fatal(err)
	}
	defer a.Release()
	var doc struct{ Rows []client.Row }
	if err := json.Unmarshal(a.JSON, &doc); err != nil {
		g.Fatal(err)
	}
	var rows []string
	for _, row := range doc.Rows {
		rows = append(rows, string(row))
	}
	slices.Sort(rows)
	return rows
}

// step makes a random commit, or sometimes none.
func (g *watchedGraph) step(r *rand.Rand, branch string) {
	g.Helper()
	person := func() string { return fmt.Sprint("p", r.IntN(12)) }
	age := func() any {
		if r.IntN(6) == 0 {
			return nil
		}
		return r.IntN(30)
	}
	team := func() any {
		if r.IntN(4) == 0 {
			return nil
		}
		return string(rune('a' + r.IntN(3)))
	}
	exists := func(names ...string) bool {
		for _, name := range names {
			q := servedtest.QueriesOf(g.T, servedtest.SchemaOf(g.T, watchedSource), `query one($name: String) { match { $p: Person { name: $name } } return { $p.name } }`)
			res, err := g.engine.Query(context.Background(), q[0].Plan(), engine.Args{value.OfString(name)}, engine.Target{Branch: branch})
			if err != nil {
				g.Fatal(err)
			}
			b, err := res.Next(context.Background())
			if err != nil {
				g.Fatal(err)
			}
			found := b != nil && b.Len > 0
			res.Close()
			if !found {
				return false
			}
		}
		return true
	}
	switch a, b := person(), person(); r.IntN(10) {
	case 0, 1, 2:
		g.mutate(branch, "put", a, age(), team())
	case 3, 4:
		g.mutate(branch, "grow", a, age())
	case 5:
		g.mutate(branch, "drop", a)
	case 6, 7:
		if exists(a, b) {
			g.load(branch, fmt.Sprintf(`{"edge":"Knows","from":%q,"to":%q,"data":{"weight":%d}}`, a, b, r.IntN(5)))
		}
	case 8:
		slug := fmt.Sprint("n", r.IntN(6))
		lines := fmt.Sprintf(`{"type":"Note","data":{"slug":%q,"text":%q}}`+"\n", slug, []string{"hello", "hello hello world", "nothing"}[r.IntN(3)])
		if exists(a) {
			lines += fmt.Sprintf(`{"edge":"About","from":%q,"to":%q}`+"\n", slug, a)
		}
		g.load(branch, lines)
	case 9:
		if r.IntN(2) == 0 {
			g.mutate(branch, "unnote", fmt.Sprint("n", r.IntN(6)))
		} else {
			g.mutate(branch, "forget", a)
		}
	}
}

// TestWatchOracle makes random commits. After each, the events of each watch, replayed over its first answer, must equal the query run
// again. A consumer may miss commits, and the graph is closed and opened again from time to time.
func TestWatchOracle(t *testing.T) {
	commits := cmp.Or(*watchedCommits, 3000)
	if testing.Short() && *watchedCommits == 0 {
		commits = 200
	}
	g := newWatchedGraph(t)
	if _, err := g.engine.CreateBranch(t.Context(), "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	params := map[string]string{"older": `{"min":10}`, "near": `{"name":"p1"}`}
	var all []*consumer
	for _, q := range servedtest.QueriesOf(t, servedtest.SchemaOf(t, watchedSource), watchedQueries) {
		for _, branch := range []string{"", "side"} {
			c := &consumer{query: q.Info().Name, params: params[q.Info().Name], branch: branch}
			c.id = g.watch(servedtest.Writer, c.query, c.params, branch)
			all = append(all, c)
		}
	}
	r := rand.New(rand.NewPCG(*watchedSeed, 0))
	for n := range commits {
		branch := ""
		if r.IntN(3) == 0 {
			branch = "side"
		}
		g.step(r, branch)
		switch {
		case r.IntN(200) == 0:
			g.restart()
		case r.IntN(150) == 0:
			from, to := "side", "main"
			if r.IntN(2) == 0 {
				from, to = to, from
			}
			var conflicts *engine.MergeConflicts
			if _, err := g.engine.Merge(t.Context(), from, to, engine.MergeOptions{}); err != nil && !errors.As(err, &conflicts) {
				var broken *engine.ConstraintViolations
				if !errors.As(err, &broken) {
					t.Fatal(err)
				}
			}
		}
		for _, c := range all {
			if n%3 != 0 && r.IntN(3) != 0 {
				continue // this consumer reads the commit together with the next ones
			}
			e, err := g.read(servedtest.Writer, c.id, c.cursor)
			if err != nil {
				t.Fatalf("seed %d, commit %d, %s on %q: %v", *watchedSeed, n, c.query, c.branch, err)
			}
			if err := c.apply(e); err != nil {
				t.Fatalf("seed %d, commit %d, %s on %q: %v", *watchedSeed, n, c.query, c.branch, err)
			}
			rows := slices.Sorted(slices.Values(c.rows))
			if want := g.answer(servedtest.Writer, c); !slices.Equal(rows, want) {
				t.Fatalf("seed %d, commit %d, %s on %q: the events give\n%s\nwant\n%s", *watchedSeed, n, c.query, c.branch, strings.Join(rows, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	events := 0
	for _, c := range all {
		if c.resets != 1 {
			t.Errorf("%s on %q got %d resets, want only the first answer", c.query, c.branch, c.resets)
		}
		events += c.events
	}
	t.Logf("%d commits, %d watches, %d events with news", commits, len(all), events)
}

// TestWatchRights takes the rights away that an evaluation asks for. Then nothing more is sent; with the rights back, the cursor goes on.
func TestWatchRights(t *testing.T) {
	g := newWatchedGraph(t)
	c := &consumer{query: "people", id: g.watch(servedtest.Writer, "people", "", "")}
	follow := func() error {
		t.Helper()
		e, err := g.read(servedtest.Writer, c.id, c.cursor)
		if err != nil {
			return err
		}
		return c.apply(e)
	}
	if err := follow(); err != nil {
		t.Fatal(err)
	}
	for i, action := range []tool.Action{tool.Watch, tool.Read, tool.InvokeQuery} {
		g.mutate("", "put", fmt.Sprint("p", i), i, nil)
		g.denied.Store(&action)
		if err := follow(); err == nil {
			t.Errorf("without %s the watch answers", action)
		}
		g.denied.Store(nil)
		if err := follow(); err != nil || len(c.rows) != i+1 || c.resets != 1 {
			t.Errorf("after %s came back: %v, rows %q, %d resets", action, err, c.rows, c.resets)
		}
	}
	// Another actor can neither read nor list nor delete the watch.
	var missing *engine.NotFound
	if _, err := g.read(servedtest.Reader, c.id, ""); !errors.As(err, &missing) {
		t.Errorf("another actor reads the watch: %v", err)
	}
	var gone client.WatchDeleted
	if err := g.call(servedtest.Reader, operations.WatchRequest{ID: c.id, Delete: true}, &gone); !errors.As(err, &missing) {
		t.Errorf("another actor deletes the watch: %v", err)
	}
	for actor, want := range map[*access.Actor]int{servedtest.Writer: 1, servedtest.Reader: 0} {
		var list client.WatchList
		if err := g.call(actor, operations.WatchRequest{}, &list); err != nil || len(list.Watches) != want {
			t.Errorf("%s lists %+v, %v", actor.ID, list, err)
		}
	}
	if err := g.call(servedtest.Writer, operations.WatchRequest{ID: c.id, Delete: true}, &gone); err != nil || gone.Deleted != c.id {
		t.Errorf("delete: %+v, %v", gone, err)
	}
	if _, err := g.read(servedtest.Writer, c.id, c.cursor); !errors.As(err, &missing) {
		t.Errorf("a deleted watch: %v", err)
	}
}

// TestWatchResets changes what a cursor depends on. Each event is a reset with the reason.
func TestWatchResets(t *testing.T) {
	g := newWatchedGraph(t)
	g.mutate("", "put", "ann", 30, "a")
	id := g.watch(servedtest.Writer, "people", "", "")
	read := func(cursor, want string) string {
		t.Helper()
		e, err := g.read(servedtest.Writer, id, cursor)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if e.Reset != nil {
			got = *e.Reset
		}
		if got != want || (want != "") != (e.From == nil) || want != "" && len(e.Rows) != 1 {
			t.Errorf("the event is %+v, want a reset because of %q", e, want)
		}
		return e.Cursor
	}
	cursor := read("", client.ResetFirst)
	read(cursor, "")
	g.serve(g.engine, strings.Replace(watchedQueries, "return { $p.name, $p.age }", "return { $p.name }", 1))
	read(cursor, client.ResetQuery)
	g.serve(g.engine, watchedQueries)
	read(cursor, "")
	// A commit after the cursor, so that a cleanup can take the state of the cursor away.
	g.mutate("", "grow", "ann", 31)
	if _, err := g.engine.Cleanup(t.Context(), engine.CleanupOptions{}); err != nil {
		t.Fatal(err)
	}
	cursor = read(cursor, client.ResetHistory)
	wider := strings.Replace(watchedSource, "team: String?", "team: String?\n  height: F64?", 1)
	if _, err := g.engine.ApplySchema(t.Context(), wider, servedtest.SchemaOf(t, wider), engine.SchemaOptions{}); err != nil {
		t.Fatal(err)
	}
	cursor = read(cursor, client.ResetSchema)
	// The cursor of another consumer, with another answer.
	other := g.watch(servedtest.Writer, "teams", "", "")
	e, err := g.read(servedtest.Writer, other, "")
	if err != nil {
		t.Fatal(err)
	}
	read(e.Cursor, client.ResetQuery)
	var bad *tool.ArgumentError
	for _, wrong := range []string{"x", cursor + "AAAA", strings.Repeat("A", 10)} {
		if _, err := g.read(servedtest.Writer, id, wrong); !errors.As(err, &bad) || bad.Path != "cursor" {
			t.Errorf("the cursor %q: %v", wrong, err)
		}
	}
}

// TestWatchRefuses makes watches of queries whose answers depend on more than the graph. The error names the query and the fix.
func TestWatchRefuses(t *testing.T) {
	g := newWatchedGraph(t)
	const source = `node Doc { slug: String @key  seen: DateTime?  near: Vector(3)? @ann  far: Vector(3)? }`
	schema := servedtest.SchemaOf(t, source)
	made, err := embedded.Create(t.Context(), fs.NewMem(), "graph", source, schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	g.Graph = servedtest.Graph(t, servedgraph.Config{ID: "docs", Graph: made, Authorizer: watchPolicy{denied: &g.denied}, Catalog: &tool.Catalog{Graph: "docs", Queries: servedtest.QueriesOf(t, schema, `
query recent() { match { $d: Doc $d.seen < now() } return { $d.slug } }
query age() { match { $d: Doc } return { $d.slug, now() as at } }
query past() as of datetime("2020-01-01T00:00:00Z") { match { $d: Doc } return { $d.slug } }
query likely($v: Vector(3)) { match { $d: Doc } return { $d.slug } order { nearest($d.near, $v) } limit 3 }
query exact($v: Vector(3)) { match { $d: Doc } return { $d.slug } order { nearest($d.far, $v) } limit 3 }
query put($slug: String) { insert Doc { slug: $slug } }
`)}})
	watch := func(query, params string) error {
		var w client.Watch
		return g.call(servedtest.Writer, operations.WatchRequest{New: &operations.NewWatch{Query: query, Params: json.RawMessage(params)}}, &w)
	}
	for query, want := range map[string]string{
		"recent": "uses now()", "age": "uses now()", "past": "reads as of an instant", "likely": "@ann", "put": "is a mutation", "exact": "",
	} {
		params := ""
		if query == "likely" || query == "exact" {
			params = `{"v":[1,0,0]}`
		} else if query == "put" {
			params = `{"slug":"a"}`
		}
		err := watch(query, params)
		var bad *tool.ArgumentError
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", query, err)
		case want != "" && (!errors.As(err, &bad) || bad.Path != "query" || !strings.Contains(bad.Detail, want) || bad.Help == ""):
			t.Errorf("%s: %v, want an error with %q and a fix", query, err, want)
		}
	}
	if err := watch("exact", `{"v":[1,0]}`); err == nil {
		t.Error("a watch has arguments that do not fit the query")
	}
	var large *engine.TooLarge
	for n := 0; ; n++ {
		if err := watch("exact", `{"v":[1,0,0]}`); err != nil {
			if !errors.As(err, &large) || n != operations.MaxWatches-1 {
				t.Errorf("watch %d: %v", n+2, err)
			}
			break
		}
	}
}

// TestWatchFootprint checks that a commit that touches nothing of a query does not run it: the query at the head is never asked.
func TestWatchFootprint(t *testing.T) {
	g := newWatchedGraph(t)
	g.mutate("", "put", "ann", 30, "a")
	counted := &countedQueries{Graph: g.engine}
	g.serve(counted, watchedQueries)
	id := g.watch(servedtest.Writer, "people", "", "")
	e, err := g.read(servedtest.Writer, id, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what  string
		write func()
		runs  int64
	}{
		{"nothing", func() {}, 0},
		{"another type", func() { g.load("", `{"type":"Note","data":{"slug":"n","text":"t"}}`) }, 0},
		{"another property", func() { g.mutate("", "put", "ann", 30, "b") }, 0},
		{"a property", func() { g.mutate("", "grow", "ann", 31) }, 2},
		{"a node", func() { g.mutate("", "put", "bob", 1, nil) }, 2},
	} {
		tt.write()
		before := counted.n.Load()
		if e, err = g.read(servedtest.Writer, id, e.Cursor); err != nil {
			t.Fatal(err)
		}
		if got := counted.n.Load() - before; got != tt.runs || e.News() != (tt.runs > 0) {
			t.Errorf("after a change of %s the query ran %d times, want %d; news: %t", tt.what, got, tt.runs, e.News())
		}
	}
}

// countedQueries counts the reads.
type countedQueries struct {
	engine.Graph
	n atomic.Int64
}

func (g *countedQueries) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	g.n.Add(1)
	return g.Graph.Query(ctx, q, args, at)
}
