package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestReversedMerge compares merges whose sides are exchanged with merges in the usual direction, for random
// changes on a large and a small branch.
func TestReversedMerge(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(3, 4))
	seen := map[string]int{}
	for round := range 300 {
		schema := people()
		schema.Edges[0].Card = &catalog.Cardinality{Min: round % 2, Max: 2}
		schema.Index()
		g, err := Create(ctx, fs.NewMem(), dir, "// people", schema, Options{quiet: true})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for i := range 10 {
			fmt.Fprintf(&text, `{"type":"Person","data":{"name":"p%d","age":1,"city":"c"}}`+"\n", i)
			fmt.Fprintf(&text, `{"type":"Note","data":{"id":"n%d","text":"t%d"}}`+"\n", i, i)
			fmt.Fprintf(&text, `{"edge":"Knows","from":"p%d","to":"p%d","data":{"id":"k%d"}}`+"\n", i, (i+1)%10, i)
		}
		if err := loadText(g, engine.Merge, text.String()); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"large", "small"} {
			if _, err := g.CreateBranch(ctx, name, engine.Target{}); err != nil {
				t.Fatal(err)
			}
		}
		for range 12 {
			changeAtRandom(ctx, g, rng, "large")
		}
		for range 3 {
			changeAtRandom(ctx, g, rng, "small")
		}
		base, theirs, ours := g.branches.main.head.Load().snap, branchState(t, g, "large"), branchState(t, g, "small")
		opts := version.MergeOptions{Resolutions: resolveAtRandom(rng)}
		back, reversed, err := mergeReversed(ctx, base, theirs, ours, opts)
		if err != nil {
			t.Fatal(err)
		}
		if reversed == nil {
			seen["not reversed"]++
			g.Close()
			continue
		}
		tx := version.Begin(ours.Fork())
		forward, err := mergeInto(ctx, tx, "large", "small", base, theirs, opts)
		if err != nil {
			t.Fatal(err)
		}
		d := version.Compare(base, theirs)
		if _, err := d.Counts(ctx); err != nil {
			t.Fatal(err)
		}
		switch {
		case (reversed.ConflictCount == 0) != (forward.ConflictCount == 0):
			t.Fatalf("round %d: the reversed merge has the conflicts %+v, the other %+v", round, reversed.Conflicts, forward.Conflicts)
		case reversed.ConflictCount == 0:
			seen["no conflicts"]++
			totals, err := version.Compare(tx.Commit(ours.Commit), back.Commit(ours.Commit)).Counts(ctx)
			if err != nil || totals.Total() != 0 {
				t.Fatalf("round %d: the result of the reversed merge differs: %+v, %v", round, totals, err)
			}
			if !tx.Changed() && d.Known().Total() > reversed.Changed {
				t.Fatalf("round %d: the merge changes nothing", round)
			}
		case reversed.RuleConflicts == 0 && d.Separate():
			seen["diverging changes"]++
			if diff := cmp.Diff(placesOf(forward.Conflicts), placesOf(reversed.Conflicts)); diff != "" || !reflect.DeepEqual(forward.Conflicts, reversed.Conflicts) {
				t.Fatalf("round %d: conflicts (-forward +reversed):\n%s\n%+v\n%+v", round, diff, forward.Conflicts, reversed.Conflicts)
			}
		default:
			seen["conflicts about rules"]++
		}
		g.Close()
	}
	t.Log(seen)
	for _, want := range []string{"no conflicts", "diverging changes", "conflicts about rules"} {
		if seen[want] < 5 {
			t.Errorf("%d merges with %s", seen[want], want)
		}
	}
}

// TestKeptNodeLacksEdges merges a source that deleted a node with its edges into a target that changed the node, with
// a resolution that keeps the node. The node then has fewer edges than its type needs.
func TestKeptNodeLacksEdges(t *testing.T) {
	ctx := context.Background()
	g, load := acquainted(t, 2)
	var base, many strings.Builder
	for i := range 8 {
		fmt.Fprintf(&base, `{"type":"Person","data":{"name":"p%d","age":1}}`+"\n"+`{"edge":"Knows","from":"p%d","to":"p%d","data":{"id":"k%d"}}`+"\n", i, i, max(1, (i+1)%8), i)
		fmt.Fprintf(&many, `{"type":"Person","data":{"name":"p%d","age":2}}`+"\n", i)
	}
	load("", base.String())
	if _, err := g.CreateBranch(ctx, "side", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	load("side", many.String())
	load("side", `{"edge":"Knows","from":"p7","to":"p2","data":{"id":"k8"}}`+"\n")
	for _, name := range []string{"p0", "p1"} { // without its other end, the edge of p0 cannot stay
		if _, err := g.Mutate(ctx, deletePerson, engine.Args{str(name)}, engine.WriteOptions{Branch: "side"}); err != nil {
			t.Fatal(err)
		}
	}
	load("", `{"type":"Person","data":{"name":"p0","age":3}}`+"\n")
	keep := engine.Resolution{ConflictPlace: engine.ConflictPlace{Entity: "node", Type: "Person", ID: "p0"}, Take: engine.TakeOurs}
	c, err := g.Compare(ctx, engine.Target{Branch: "side"}, engine.Target{}, engine.CompareOptions{Resolutions: []engine.Resolution{keep}})
	if err != nil || len(c.Conflicts) != 1 || c.Conflicts[0].Kind != engine.CardinalityViolation {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestSourceLacksEdges compares a source in which an earlier merge kept a node without its edges, so that it has fewer
// edges than its type needs. A target that changed less than the source still has the edges.
func TestSourceLacksEdges(t *testing.T) {
	ctx := context.Background()
	g, load := acquainted(t, 4)
	load("", `{"type":"Person","data":{"name":"p0","age":1}}
{"type":"Person","data":{"name":"p1","age":1}}
{"type":"Person","data":{"name":"p2","age":1}}
{"type":"Person","data":{"name":"p4","age":1}}
{"edge":"Knows","from":"p0","to":"p1","data":{"id":"k0"}}
`)
	for _, name := range []string{"kept", "small"} {
		if _, err := g.CreateBranch(ctx, name, engine.Target{}); err != nil {
			t.Fatal(err)
		}
	}
	load("kept", `{"type":"Person","data":{"name":"p0","age":3}}`+"\n")
	load("small", `{"type":"Person","data":{"name":"p4","city":"c"}}`+"\n")
	for _, name := range []string{"p0", "p1"} { // without its other end, the edge of p0 cannot stay
		if _, err := g.Mutate(ctx, deletePerson, engine.Args{str(name)}, engine.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	keep := engine.Resolution{ConflictPlace: engine.ConflictPlace{Entity: "node", Type: "Person", ID: "p0"}, Take: engine.TakeTheirs}
	if _, err := g.Merge(ctx, "kept", "", engine.MergeOptions{Resolutions: []engine.Resolution{keep}}); err != nil {
		t.Fatal(err)
	}
	load("", `{"type":"Person","data":{"name":"p2","age":5}}`+"\n"+`{"type":"Person","data":{"name":"p3","age":5}}`+"\n")
	c, err := g.Compare(ctx, engine.Target{}, engine.Target{Branch: "small"}, engine.CompareOptions{})
	if err != nil || len(c.Conflicts) != 1 || c.Conflicts[0].Kind != engine.CardinalityViolation {
		t.Errorf("Compare: %+v, %v", c, err)
	}
	var refused *engine.MergeConflicts
	if _, err := g.Preview(ctx, engine.Target{}, engine.Target{Branch: "small"}, nil); !errors.As(err, &refused) {
		t.Errorf("Preview: %v, expected a *engine.MergeConflicts", err)
	}
}

// acquainted makes a graph in which each person knows one to `most` persons, and a function that loads lines into a
// branch.
func acquainted(t *testing.T, most int) (g *Graph, load func(branch, text string)) {
	t.Helper()
	ctx := context.Background()
	schema := people()
	schema.Edges[0].Card = &catalog.Cardinality{Min: 1, Max: most}
	schema.Index()
	g, err := Create(ctx, fs.NewMem(), dir, "// people", schema, Options{quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g, func(branch, text string) {
		t.Helper()
		if _, err := g.Load(ctx, strings.NewReader(text), engine.LoadOptions{Mode: engine.Merge, WriteOptions: engine.WriteOptions{Branch: branch}}); err != nil {
			t.Fatal(err)
		}
	}
}

// placesOf lists the kinds and places of conflicts.
func placesOf(all []engine.MergeConflict) (list []string) {
	for i := range all {
		list = append(list, fmt.Sprint(all[i].Kind, all[i].Place()))
	}
	return list
}

// branchState returns the state of a branch.
func branchState(t *testing.T, g *Graph, name string) *version.Snapshot {
	t.Helper()
	b, err := g.branches.find(name)
	if err != nil {
		t.Fatal(err)
	}
	return b.head.Load().snap
}

// changeAtRandom changes an entity of a branch. A change that violates a rule has no effect.
func changeAtRandom(ctx context.Context, g *Graph, rng *rand.Rand, branch string) {
	n := rng.IntN(14)
	line := ""
	switch rng.IntN(8) {
	case 0:
		line = fmt.Sprintf(`{"type":"Note","data":{"id":"n%d","text":"t%d"}}`, n, rng.IntN(14))
	case 1:
		line = fmt.Sprintf(`{"edge":"Knows","from":"p%d","to":"p%d","data":{"id":"k%d"}}`, n, rng.IntN(10), rng.IntN(14))
	case 2:
		_, _ = g.Mutate(ctx, deletePerson, engine.Args{str(fmt.Sprint("p", n))}, engine.WriteOptions{Branch: branch})
		return
	default:
		line = fmt.Sprintf(`{"type":"Person","data":{"name":"p%d","age":%d,"city":"c%d"}}`, n, rng.IntN(4), rng.IntN(3))
	}
	_, _ = g.Load(ctx, strings.NewReader(line+"\n"), engine.LoadOptions{Mode: engine.Merge, WriteOptions: engine.WriteOptions{Branch: branch}})
}

// resolveAtRandom makes resolutions of some conflicts that the changes of changeAtRandom may have.
func resolveAtRandom(rng *rand.Rand) (all []engine.Resolution) {
	for i := range 14 {
		for _, property := range []string{"age", "city", ""} {
			if rng.IntN(4) > 0 || property == "" && i > 0 {
				continue // one resolution about a whole entity makes a reversed merge impossible
			}
			r := engine.Resolution{ConflictPlace: engine.ConflictPlace{Entity: "node", Type: "Person", ID: fmt.Sprint("p", i), Property: property}, Take: engine.MergeSide(1 + rng.IntN(2))}
			if property == "age" && rng.IntN(3) == 0 {
				r.Take, r.Value = engine.TakeValue, num(rng.IntN(5))
			}
			all = append(all, r)
		}
	}
	return all
}

// TestComparisonsAreRemembered checks what a graph remembers of comparisons: results with conflicts too, within the
// bounds, until a branch is deleted.
func TestComparisonsAreRemembered(t *testing.T) {
	ctx := context.Background()
	g := create(t, fs.NewMem(), Options{})
	if err := loadText(g, engine.Merge, manyPeople(0, 50)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"side", "other"} {
		if _, err := g.CreateBranch(ctx, name, engine.Target{}); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(manyPeople(0, 50), `"city":"c`, `"city":"`+name)
		if _, err := g.Load(ctx, strings.NewReader(text), engine.LoadOptions{Mode: engine.Merge, WriteOptions: engine.WriteOptions{Branch: name}}); err != nil {
			t.Fatal(err)
		}
	}
	compare := func(most int) *engine.Comparison {
		t.Helper()
		c, err := g.Compare(ctx, engine.Target{Branch: "side"}, engine.Target{Branch: "other"}, engine.CompareOptions{MaxConflicts: most})
		if err != nil || c.ConflictCount != 50 || most > 0 && len(c.Conflicts) != most {
			t.Fatalf("%d of %d conflicts, %v", len(c.Conflicts), c.ConflictCount, err)
		}
		return c
	}
	result := func() any {
		g.compared.mu.Lock()
		defer g.compared.mu.Unlock()
		for _, c := range g.compared.kept {
			if m, ok := c.result.(*comparedMerge); ok {
				return m
			}
		}
		return nil
	}
	first := compare(10)
	ten := result()
	if again := compare(10); !reflect.DeepEqual(first, again) || result() != ten {
		t.Errorf("the result with 10 conflicts is computed again: %+v", again)
	}
	compare(5)
	if result() != ten {
		t.Error("the result with 10 conflicts does not serve a call that wants 5")
	}
	compare(20)
	if all := compare(0); len(all.Conflicts) != 50 || !reflect.DeepEqual(all.Conflicts[:10], first.Conflicts) {
		t.Errorf("all conflicts are %+v", all.Conflicts)
	}
	if len(g.compared.kept) != 2 || g.compared.bytes <= 0 {
		t.Errorf("%d results with %d bytes are remembered, want 2", len(g.compared.kept), g.compared.bytes)
	}
	if err := g.DeleteBranch(ctx, "other"); err != nil {
		t.Fatal(err)
	}
	if len(g.compared.kept) != 1 {
		t.Errorf("%d results are remembered after the deletion of the target, want that about the changes", len(g.compared.kept))
	}
	if err := g.DeleteBranch(ctx, "side"); err != nil {
		t.Fatal(err)
	}
	if len(g.compared.kept) != 0 || g.compared.bytes != 0 {
		t.Errorf("%d results with %d bytes are remembered after the deletion of the branches", len(g.compared.kept), g.compared.bytes)
	}
}

// weight is a result of a comparison of some bytes.
type weight int

func (w weight) size() int { return int(w) }

// TestComparisonsAreBounded fills the memory for results of comparisons.
func TestComparisonsAreBounded(t *testing.T) {
	var m comparisons
	accept := func(weight) bool { return true }
	get := func(key string, size int) (computed bool) {
		t.Helper()
		w, err := share(t.Context(), &m, key, nil, accept, func() (weight, error) { computed = true; return weight(size), nil })
		if err != nil || int(w) != size {
			t.Fatalf("%s: %d, %v", key, w, err)
		}
		sum := 0
		for _, c := range m.kept {
			sum += c.bytes
		}
		if sum != m.bytes || m.bytes > maxComparedBytes || len(m.kept) > maxCompared || len(m.running) > 0 {
			t.Fatalf("%d results with %d bytes, %d in the sum, %d in work", len(m.kept), sum, m.bytes, len(m.running))
		}
		return computed
	}
	for range 2 {
		if !get("too large", maxOneComparedBytes+1) {
			t.Error("a result that is too large is remembered")
		}
	}
	if !get("first", 10) || get("first", 10) {
		t.Error("a small result is not remembered")
	}
	for i := range 4 {
		get(fmt.Sprint("large ", i), maxOneComparedBytes-10)
		get("first", 10)
	}
	if get("first", 10) {
		t.Error("the result that was used last is forgotten")
	}
	for i := range 2 * maxCompared {
		get(fmt.Sprint("small ", i), 1)
	}
	if !get("first", 10) || len(m.kept) != maxCompared {
		t.Errorf("%d results are remembered", len(m.kept))
	}
}

// TestComparisonsAreShared asks for one result from several goroutines, of which the first gives up.
func TestComparisonsAreShared(t *testing.T) {
	var m comparisons
	accept := func(weight) bool { return true }
	started, end := make(chan struct{}), make(chan struct{})
	var calls sync.WaitGroup
	computed := 0
	calls.Go(func() {
		_, err := share(t.Context(), &m, "key", nil, accept, func() (weight, error) {
			close(started)
			<-end
			return 0, context.Canceled
		})
		if err != context.Canceled {
			t.Errorf("the first call: %v", err)
		}
	})
	<-started
	for range 5 {
		calls.Go(func() {
			// The result is too large to be remembered, but not to be shared.
			w, err := share(t.Context(), &m, "key", nil, accept, func() (weight, error) { computed++; return maxOneComparedBytes + 1, nil })
			if w != maxOneComparedBytes+1 || err != nil {
				t.Errorf("%d, %v", w, err)
			}
		})
	}
	for {
		m.mu.Lock()
		waiting := m.running["key"].waiting
		m.mu.Unlock()
		if waiting == 6 {
			break
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := share(gone, &m, "key", nil, accept, func() (weight, error) { return 0, nil }); err != context.Canceled {
		t.Errorf("a call whose context has ended: %v", err)
	}
	close(end)
	calls.Wait()
	if computed != 1 || len(m.running) > 0 || len(m.kept) > 0 {
		t.Errorf("the result was computed %d times; %d in work, %d remembered", computed, len(m.running), len(m.kept))
	}
}
