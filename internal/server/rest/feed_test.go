package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// widePG is zooPG with one more property.
const widePG = "node Zebra { name: String @key  stripes: I32?  weight: F64? }\nnode Ape { name: String @key }\nedge Sees: Ape -> Zebra { note: String? }\n"

func (z *zoo) feed(query string) (a client.ChangeFeed) {
	z.Helper()
	get(z.T, z.h, "/changes?"+query, &a)
	return a
}

// feedRefused returns the envelope of a request for a feed that the server refuses.
func (z *zoo) feedRefused(query string, status int) (e client.Envelope) {
	z.Helper()
	w := do(z.h, servedtest.Writer, "GET", "/graphs/people/changes?"+query, "")
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != status {
		z.Fatalf("%q: got %d %s, want %d", query, w.Code, w.Body, status)
	}
	return e
}

// mutate runs a mutation from text on a branch, and reports whether it committed something.
func (z *zoo) mutate(branch, text string) bool {
	z.Helper()
	w := do(z.h, servedtest.Writer, "POST", "/graphs/people/mutate", fmt.Sprintf(`{"query":%q,"branch":%q}`, "query m() { "+text+" }", branch))
	var a client.MutationAnswer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != 200 {
		z.Fatalf("%s: %d %s", text, w.Code, w.Body)
	}
	return a.Commit != nil
}

// replica is the state of a subscriber that applies a change feed.
type replica struct {
	entities map[string]map[string]any // by kind, type and id
	schema   string                    // digest of the schema
	commit   string                    // the last commit that the replica has, perhaps in part
	partial  bool                      // the replica has only a part of the last commit
}

// apply applies a page. It returns an error if the page does not follow the pages before it.
func (r *replica) apply(page *client.ChangeFeed) error {
	for i := range page.Blocks {
		b := &page.Blocks[i]
		switch parent := b.Cause.ParentCommitID; {
		case r.partial && b.Cause.GraphCommitID != r.commit:
			return fmt.Errorf("block %s came before the rest of %s", b.Cause.GraphCommitID, r.commit)
		case r.partial:
		case parent == nil && r.commit != "", parent != nil && *parent != r.commit:
			return fmt.Errorf("block %s follows %s, want its parent", b.Cause.GraphCommitID, r.commit)
		}
		r.commit = b.Cause.GraphCommitID
		r.partial = page.NextPageToken != nil && i == len(page.Blocks)-1
		if s := b.SchemaChange; s != nil {
			if was := r.schema; s.ParentSchemaDigest == nil && was != "" || s.ParentSchemaDigest != nil && *s.ParentSchemaDigest != was {
				return fmt.Errorf("block %s changes the schema from %v, want from %s", r.commit, s.ParentSchemaDigest, was)
			}
			r.schema = s.SchemaDigest
		}
		for j := range b.Changes {
			if err := r.change(&b.Changes[j]); err != nil {
				return fmt.Errorf("block %s: %w", r.commit, err)
			}
		}
	}
	return nil
}

// change applies one change. It returns an error if the replica is not in the state before the change.
func (r *replica) change(c *client.EntityChange) error {
	key := c.Kind + " " + c.Type.Name + " " + c.ID
	was, there := r.entities[key]
	before, after := properties(c.Before, c.ID), properties(c.After, c.ID)
	switch {
	case there != (c.Before != nil), c.Op == client.OpInsert && there, c.Op == client.OpUpdate && !(there && c.After != nil), c.Op == client.OpDelete && c.After != nil:
		return fmt.Errorf("%s %s, which is there: %v", c.Op, key, there)
	case there && !reflect.DeepEqual(was, before):
		return fmt.Errorf("%s was %v, and the image before is %v", key, was, before)
	}
	delete(r.entities, key)
	if c.After != nil {
		r.entities[key] = after
	}
	return nil
}

// properties returns the values of an image that an export has.
func properties(i *client.EntityImage, id string) map[string]any {
	if i == nil {
		return nil
	}
	all := map[string]any{"id": id}
	for name, v := range i.Properties {
		if string(v) != "null" {
			all[name] = decoded(v)
		}
	}
	if i.Endpoints != nil {
		all["from"], all["to"] = i.Endpoints.From.String(), i.Endpoints.To.String()
	}
	return all
}

func decoded(v json.RawMessage) (out any) {
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		return err
	}
	return out
}

// exported returns the entities of an export or a baseline, by kind, type and id, and the last line of
// a baseline.
func exported(t *testing.T, text string) (all map[string]map[string]any, end *client.BaselineEnd) {
	t.Helper()
	all = map[string]map[string]any{}
	for line := range strings.Lines(text) {
		var l struct {
			Type, Edge, From, To string
			Data                 map[string]json.RawMessage
			Baseline             *client.BaselineEnd
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if end = l.Baseline; end != nil {
			continue
		}
		values := map[string]any{}
		for name, v := range l.Data {
			values[name] = decoded(v)
		}
		key := "node " + l.Type
		if l.Edge != "" {
			key = "edge " + l.Edge
			values["from"], values["to"] = l.From, l.To
		}
		all[key+" "+fmt.Sprint(values["id"])] = values
	}
	return all, end
}

// sameEntities compares the entities of a replica with those of a graph.
func sameEntities(t *testing.T, what string, got, want map[string]map[string]any) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(got[key], want[key]) {
			t.Errorf("%s: %s is %v, want %v", what, key, got[key], want[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			t.Errorf("%s: %s is there, and should not be", what, key)
		}
	}
}

// TestFeedReplay makes random commits: loads of each mode, deletions with cascades, merges of branches
// and changes of the schema. A subscriber reads the feed in pages of random sizes and applies it. Its
// state must equal an export at every cursor, and a second subscriber that starts with a baseline must
// get the same state.
func TestFeedReplay(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			overZoos(t, func(z *zoo) { z.replay(rand.New(rand.NewPCG(seed, 18)), 60) })
		})
	}
}

func (z *zoo) replay(random *rand.Rand, steps int) {
	first := &replica{entities: map[string]map[string]any{}}
	cursor, pages := "", 0
	late, lateCursor := (*replica)(nil), ""
	schemas := []string{zooPG, widePG, strings.Replace(renamedPG, "stripes: I32?", "stripes: I32?  weight: F64?", 1)}
	current, kinds := 0, map[string]int{}
	catchUp := func(r *replica, cursor string) string {
		for query, done := (url.Values{}), false; !done; pages++ {
			query.Set("limit", fmt.Sprint(1+random.IntN(7)))
			if query.Get("page_token") == "" && cursor != "" {
				query.Set("cursor", cursor)
			}
			page := z.feed(query.Encode())
			if err := r.apply(&page); err != nil {
				z.Fatal(err)
			}
			for i := range page.Blocks {
				if page.Blocks[i].Cause.MergedParentCommitID != nil {
					kinds["merge"]++
				}
				if page.Blocks[i].SchemaChange != nil {
					kinds["schema"]++
				}
				for _, c := range page.Blocks[i].Changes {
					kinds[c.Kind+" "+c.Op]++
				}
			}
			query.Del("page_token")
			if page.NextPageToken != nil {
				kinds["partial"]++
				query.Set("page_token", *page.NextPageToken)
			} else {
				cursor = *page.Cursor
			}
			done = page.CaughtUp
		}
		return cursor
	}
	compare := func(r *replica, what string) {
		z.Helper()
		want, _ := exported(z.T, do(z.h, servedtest.Writer, "POST", "/graphs/people/export", "{}").Body.String())
		sameEntities(z.T, what, r.entities, want)
	}
	for step := range steps {
		z.randomCommit(random, schemas, &current, step)
		if random.IntN(3) == 0 {
			cursor = catchUp(first, cursor)
			compare(first, fmt.Sprintf("step %d", step))
		}
		if step == steps/2 {
			text := do(z.h, servedtest.Writer, "POST", "/graphs/people/changes/baseline", "{}").Body.String()
			entities, end := exported(z.T, text)
			if end == nil || end.SnapshotCommitID != end.ResumeCursor {
				z.Fatalf("the baseline ends with %+v", end)
			}
			schema, err := z.g.Schema(z.Context(), engine.Target{Commit: end.SnapshotCommitID})
			if err != nil {
				z.Fatal(err)
			}
			late, lateCursor = &replica{entities: entities, schema: schema.Digest, commit: end.SnapshotCommitID}, end.ResumeCursor
		}
	}
	catchUp(first, cursor)
	compare(first, "at the end")
	catchUp(late, lateCursor)
	compare(late, "after a baseline")
	for _, want := range []string{"merge", "schema", "partial", "node insert", "node update", "node delete", "edge insert", "edge delete"} {
		if kinds[want] == 0 {
			z.Errorf("the feed had no %s, so the test does not check it: %v", want, kinds)
		}
	}
}

// randomCommit changes the graph in a random way. The number `current` is that of the schema in force.
func (z *zoo) randomCommit(random *rand.Rand, schemas []string, current *int, step int) {
	name := func() string { return fmt.Sprintf("n%d", random.IntN(12)) }
	zebra, sees := "Zebra", "Sees"
	if *current == 2 {
		zebra, sees = "Horse", "Spots"
	}
	lines := func() string {
		var all []string
		used := map[string]bool{} // a load with the mode overwrite takes each id once
		for range 1 + random.IntN(5) {
			a, b := name(), name()
			if used[a] || used[b] {
				continue
			}
			used[a], used[b] = true, true
			all = append(all, fmt.Sprintf(`{"type":"Ape","data":{"name":%q}}`, a), fmt.Sprintf(`{"type":%q,"data":{"name":%q,"stripes":%d}}`, zebra, b, random.IntN(3)),
				fmt.Sprintf(`{"edge":%q,"from":%q,"to":%q,"data":{"id":"%s-%s","note":"%d"}}`, sees, a, b, a, b, random.IntN(3)))
		}
		return strings.Join(all, "\n")
	}
	load := func(branch string, mode engine.LoadMode) {
		if _, err := z.g.Load(z.Context(), strings.NewReader(lines()), engine.LoadOptions{WriteOptions: engine.WriteOptions{Branch: branch}, Mode: mode}); err != nil {
			z.Fatal(err)
		}
	}
	switch n := random.IntN(10); {
	case step%20 == 19 && *current < 2:
		*current++
		z.apply(schemas[*current])
	case n < 4:
		load("", engine.Merge)
	case n < 5:
		load("", engine.Overwrite)
	case n < 8:
		z.mutate("main", fmt.Sprintf("delete %s where name = %q", []string{"Ape", zebra}[random.IntN(2)], name()))
	default:
		branch := fmt.Sprintf("b%d", step)
		if _, err := z.g.CreateBranch(z.Context(), branch, engine.Target{}); err != nil {
			z.Fatal(err)
		}
		z.mutate(branch, fmt.Sprintf("insert Ape { name: %q }", fmt.Sprintf("only-%d", step)))
		z.mutate("main", fmt.Sprintf("insert Ape { name: %q }", fmt.Sprintf("main-%d", step)))
		if _, err := z.g.Merge(z.Context(), branch, "main", engine.MergeOptions{}); err != nil {
			z.Fatal(err)
		}
	}
}

// TestFeedPages checks where pages end, and which commits a filter leaves out.
func TestFeedPages(t *testing.T) {
	overZoos(t, func(z *zoo) {
		start := z.feed("start=latest")
		if len(start.Blocks) != 0 || !start.CaughtUp || start.Cursor == nil {
			z.Fatalf("start=latest gives %+v", start)
		}
		one := z.load(`{"type":"Ape","data":{"name":"a"}}`, `{"type":"Zebra","data":{"name":"z"}}`, `{"edge":"Sees","from":"a","to":"z","data":{"id":"s"}}`)
		two := z.load(`{"type":"Ape","data":{"name":"b"}}`)
		z.mutate("main", `delete Zebra where name = "z"`)
		describe := func(a client.ChangeFeed) (all []string) {
			for _, b := range a.Blocks {
				all = append(all, strings.Join(places(b.Changes), ", "))
			}
			return append(all, fmt.Sprintf("caught up %v, cursor %v, token %v", a.CaughtUp, a.Cursor != nil, a.NextPageToken != nil))
		}
		const end = "caught up true, cursor true, token false"
		after := "cursor=" + *start.Cursor
		for _, tt := range []struct {
			query string
			want  []string
		}{
			{after, []string{"node Ape a insert, node Zebra z insert, edge Sees s insert", "node Ape b insert", "node Zebra z delete, edge Sees s delete", end}},
			{after + "&limit=4", []string{"node Ape a insert, node Zebra z insert, edge Sees s insert", "node Ape b insert", "caught up false, cursor true, token false"}},
			{after + "&limit=3", []string{"node Ape a insert, node Zebra z insert, edge Sees s insert", "caught up false, cursor true, token false"}},
			{after + "&limit=2", []string{"node Ape a insert, node Zebra z insert", "caught up false, cursor false, token true"}},
			{after + "&op=delete", []string{"node Zebra z delete, edge Sees s delete", end}},
			{after + "&kind=edge", []string{"edge Sees s insert", "edge Sees s delete", end}},
			{after + "&type=sees&op=insert", []string{"edge Sees s insert", end}},
			{after + "&type=Zebra&kind=edge", []string{end}},
			{"cursor=" + two, []string{"node Zebra z delete, edge Sees s delete", end}},
			{"start=earliest&kind=edge&op=delete", []string{"", "edge Sees s delete", end}}, // the first block changes the schema
		} {
			if got := describe(z.feed(tt.query)); !slices.Equal(got, tt.want) {
				z.Errorf("%q lists\n%s\nwant\n%s", tt.query, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		}
		part := z.feed(after + "&limit=2")
		rest := z.feed(after + "&limit=2&page_token=" + url.QueryEscape(*part.NextPageToken))
		if got := describe(rest); !slices.Equal(got, []string{"edge Sees s insert", "node Ape b insert", "caught up false, cursor true, token false"}) || rest.Blocks[0].Cause.GraphCommitID != one {
			z.Errorf("the rest of a commit is %q", got)
		}
		first := z.feed("limit=1").Blocks[0]
		if s := first.SchemaChange; s == nil || s.ParentSchemaDigest != nil || s.SchemaSource != zooPG || len(s.Steps) != 3 || first.Cause.ParentCommitID != nil {
			z.Errorf("the first block is %+v", first)
		}
		z.apply(renamedPG)
		renamed := z.feed("limit=9&cursor=" + *z.feed("start=latest").Cursor)
		if len(renamed.Blocks) != 0 {
			z.Errorf("after the head the feed has %+v", renamed.Blocks)
		}
		for query, status := range map[string]int{
			"cursor=nope": 404, "cursor=" + two + "&start=latest": 400, "start=now": 400, "page_token=x": 400, "type=Bear": 404, "type=Bear&start=latest": 404,
			"branch=nope": 404, "op=inserted": 400, "limit=0": 400, "limit=10001": 413, "limit=10001&start=latest": 413, "branch=main&page_token=" + url.QueryEscape(*z.feedToken()): 400,
		} {
			z.feedRefused(query, status)
		}
		if _, err := z.g.CreateBranch(z.Context(), "side", engine.Target{Commit: one}); err != nil {
			z.Fatal(err)
		}
		if e := z.feedRefused("branch=side&cursor="+two, 404); !strings.Contains(e.Message, "on branch side") {
			z.Errorf("a cursor of another branch: %s", e.Message)
		}
	})
}

// behind is a graph that does not know a commit until it catches up.
type behind struct {
	engine.Graph
	commit atomic.Pointer[string]
}

func (b *behind) Commit(ctx context.Context, id string) (engine.Commit, error) {
	if c := b.commit.Load(); c != nil && *c == id {
		return engine.Commit{}, &engine.NotFound{What: "commit", Name: id}
	}
	return b.Graph.Commit(ctx, id)
}

// TestFeedOnAnotherServer continues within a commit on a server that does not know the commit yet.
func TestFeedOnAnotherServer(t *testing.T) {
	b := broadcasting(t)
	g := &behind{Graph: b.g}
	c := servedtest.Config(t)
	c.Graph, c.CatchUp = g, func(context.Context) error { g.commit.Store(nil); return nil }
	b.h = rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{})
	commit := b.load(`{"type":"Ape","data":{"name":"a"}}`, `{"type":"Ape","data":{"name":"b"}}`)
	before := b.feed("start=earliest").Blocks[0].Cause.GraphCommitID
	token := *b.feed("limit=1&cursor=" + before).NextPageToken
	g.commit.Store(&commit)
	if page := b.feed("limit=1&page_token=" + url.QueryEscape(token)); len(page.Blocks) != 1 || !page.CaughtUp {
		t.Errorf("the rest of the commit is %+v", page)
	}
}

// feedToken returns a page token of a list that is not a feed.
func (z *zoo) feedToken() *string {
	z.Helper()
	return z.changes(z.load(`{"type":"Ape","data":{"name":"x"}}`, `{"type":"Ape","data":{"name":"y"}}`), "limit=1").NextPageToken
}

// TestFeedOfARename checks the block of a commit that renames types: the feed deletes the entities of
// the old name and inserts those of the new name, under the same id of the type.
func TestFeedOfARename(t *testing.T) {
	overZoos(t, func(z *zoo) {
		before := z.load(`{"type":"Ape","data":{"name":"a"}}`, `{"type":"Zebra","data":{"name":"z","stripes":3}}`)
		renamed := z.apply(renamedPG)
		a := z.feed("cursor=" + before)
		if len(a.Blocks) != 1 || a.Blocks[0].Cause.GraphCommitID != renamed || !slices.Equal(places(a.Blocks[0].Changes), []string{"node Horse z insert", "node Zebra z delete"}) {
			z.Fatalf("the blocks are %+v", a.Blocks)
		}
		if c := a.Blocks[0].Changes; c[0].Type.ID != c[1].Type.ID || string(c[0].After.Properties["stripes"]) != "3" {
			z.Errorf("the changes are %+v", c)
		}
		var steps []string
		for _, s := range a.Blocks[0].SchemaChange.Steps {
			steps = append(steps, s.Code)
		}
		if !slices.Contains(steps, "rename_node") || !slices.Contains(steps, "rename_edge") {
			z.Errorf("the steps are %q", steps)
		}
		// A subscriber to the old name gets the deletions, and then learns that the type is gone.
		if got := places(z.feed("type=Zebra&cursor=" + before).Blocks[0].Changes); !slices.Equal(got, []string{"node Zebra z delete"}) {
			z.Errorf("the old name selects %q", got)
		}
		z.feedRefused("type=Zebra&cursor="+renamed, 404)
	})
}

// TestFeedGap reads from a cursor that is older than the history that the server keeps.
func TestFeedGap(t *testing.T) {
	overZoos(t, func(z *zoo) {
		var commits []string
		for _, name := range []string{"a", "b", "c", "d"} {
			commits = append(commits, z.load(`{"type":"Ape","data":{"name":"`+name+`"}}`))
		}
		if _, err := z.g.Cleanup(z.Context(), engine.CleanupOptions{KeepCommits: 2}); err != nil {
			z.Fatal(err)
		}
		e := z.feedRefused("cursor="+commits[0], 410)
		if e.ChangeFeedGap == nil || e.ChangeFeedGap.FirstUnreadableCommitID != commits[0] || e.ChangeFeedGap.Cursor != nil || !strings.Contains(e.Message, "changes/baseline") {
			z.Errorf("the gap is %+v", e)
		}
		z.feedRefused("start=earliest", 410)
		z.feedRefused("type=Ape&cursor="+commits[0], 410)
		if a := z.feed("cursor=" + commits[2]); len(a.Blocks) != 1 || !a.CaughtUp {
			z.Errorf("after the gap the feed has %+v", a)
		}
	})
}

// TestBaseline checks the filters of a baseline and who may read it.
func TestBaseline(t *testing.T) {
	overZoos(t, func(z *zoo) {
		z.load(`{"type":"Ape","data":{"name":"a"}}`, `{"type":"Zebra","data":{"name":"z"}}`, `{"edge":"Sees","from":"a","to":"z","data":{"id":"s"}}`)
		for body, want := range map[string]string{
			`{}`: "edge Sees s, node Ape a, node Zebra z", `{"kind":["edge"]}`: "edge Sees s", `{"type":["sees","Ape"]}`: "edge Sees s, node Ape a",
			`{"kind":["node"],"type":["Sees"]}`: "", `{"op":["update","delete"]}`: "", `{"op":["insert"],"kind":["node"]}`: "node Ape a, node Zebra z",
		} {
			w := do(z.h, servedtest.Writer, "POST", "/graphs/people/changes/baseline", body)
			got, end := exported(z.T, w.Body.String())
			if list := strings.Join(slices.Sorted(maps.Keys(got)), ", "); list != want || end == nil || w.Header().Get("ETag") != `"`+end.ResumeCursor+`"` {
				z.Errorf("%s gives %q and %+v, want %q", body, list, end, want)
			}
		}
		for body, status := range map[string]int{`{"kind":["vertex"]}`: 400, `{"op":["inserted"]}`: 400, `{"type":["Bear"]}`: 404, `{"branch":"nope"}`: 404, `{"since":1}`: 400} {
			if w := do(z.h, servedtest.Writer, "POST", "/graphs/people/changes/baseline", body); w.Code != status {
				z.Errorf("%s: %d %s, want %d", body, w.Code, w.Body, status)
			}
		}
		if w := do(z.h, servedtest.Reader, "POST", "/graphs/people/changes/baseline", `{}`); w.Code != 403 {
			z.Errorf("an actor without export gets %d %s", w.Code, w.Body)
		}
	})
}
