package rest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/rest/resttest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// The schemas of a graph before and after a rename of its types. The second schema declares the
// node types in another order.
const (
	zooPG     = "node Zebra { name: String @key  stripes: I32? }\nnode Ape { name: String @key }\nedge Sees: Ape -> Zebra { note: String? }\n"
	renamedPG = "node Ape { name: String @key }\nnode Horse @rename_from(\"Zebra\") { name: String @key  stripes: I32? }\nedge Spots: Ape -> Horse @rename_from(\"Sees\") { note: String? }\n"
)

// zoo is a graph with its REST API.
type zoo struct {
	*testing.T
	g engine.Graph
	h http.Handler
}

func overZoos(t *testing.T, test func(z *zoo)) {
	schema := servedtest.SchemaOf(t, zooPG)
	stored, err := embedded.Create(t.Context(), fs.NewMem(), "graph", zooPG, schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stored.Close() })
	for name, g := range map[string]engine.Graph{"naive": naive.New(zooPG, schema, naive.Sound), "embedded": stored} {
		t.Run(name, func(t *testing.T) {
			c := servedtest.Config(t)
			c.Graph = g
			test(&zoo{t, g, resttest.Wrap(t, rest.Handler(map[string]*servedgraph.Graph{"people": servedtest.Graph(t, c)}, rest.Options{}))})
		})
	}
}

// load loads lines as one commit.
func (z *zoo) load(lines ...string) (commit string) {
	z.Helper()
	r, err := z.g.Load(z.Context(), strings.NewReader(strings.Join(lines, "\n")), engine.LoadOptions{Mode: engine.Merge, NewEdges: true})
	if err != nil {
		z.Fatal(err)
	}
	return r.Head.ID
}

func (z *zoo) apply(source string) (commit string) {
	z.Helper()
	r, err := z.g.ApplySchema(z.Context(), source, servedtest.SchemaOf(z.T, source), engine.SchemaOptions{})
	if err != nil {
		z.Fatal(err)
	}
	return r.Head.ID
}

func (z *zoo) changes(commit, query string) (a client.ChangesAnswer) {
	z.Helper()
	get(z.T, z.h, "/commits/"+commit+"/changes?"+query, &a)
	return a
}

// refused returns the envelope of a list of changes that is refused with a status.
func (z *zoo) refused(commit, query string, status int) (e client.Envelope) {
	z.Helper()
	w := do(z.h, servedtest.Writer, "GET", "/graphs/people/commits/"+commit+"/changes?"+query, "")
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != status {
		z.Fatalf("got %d %s, want %d", w.Code, w.Body, status)
	}
	return e
}

// places returns the kinds, types, ids and operations of changes.
func places(list []client.EntityChange) (all []string) {
	for _, c := range list {
		all = append(all, c.Kind+" "+c.Type.Name+" "+c.ID+" "+c.Op)
	}
	return all
}

// TestChangesInOrder checks the order, the filters and the pages of a list of changes. The schema
// declares Zebra before Ape.
func TestChangesInOrder(t *testing.T) {
	overZoos(t, func(z *zoo) {
		z.load(`{"type":"Ape","data":{"name":"b"}}`, `{"type":"Zebra","data":{"name":"z"}}`, `{"edge":"Sees","from":"b","to":"z","data":{"id":"s1"}}`)
		commit := z.load(`{"type":"Zebra","data":{"name":"z","stripes":9}}`, `{"type":"Zebra","data":{"name":"a"}}`, `{"type":"Ape","data":{"name":"c"}}`,
			`{"type":"Ape","data":{"name":"a"}}`, `{"edge":"Sees","from":"b","to":"z","data":{"id":"s1","note":"n"}}`, `{"edge":"Sees","from":"a","to":"z","data":{"id":"s0"}}`)
		all := []string{"node Ape a insert", "node Ape c insert", "node Zebra a insert", "node Zebra z update", "edge Sees s0 insert", "edge Sees s1 update"}
		for _, tt := range []struct {
			query string
			want  []string
		}{
			{"", all},
			{"kind=node&kind=edge&op=insert&op=update&op=delete", all},
			{"kind=edge", all[4:]},
			{"type=Zebra", all[2:4]},
			{"type=sees&type=Ape", []string{all[0], all[1], all[4], all[5]}},
			{"op=update", []string{all[3], all[5]}},
			{"kind=node&op=update&type=Zebra&type=Sees", all[3:4]},
			{"kind=node&type=Sees", nil},
		} {
			if got := places(z.changes(commit, tt.query).Changes); !slices.Equal(got, tt.want) {
				z.Errorf("%q lists %q, want %q", tt.query, got, tt.want)
			}
			var got []string
			for token := ""; ; {
				page := z.changes(commit, tt.query+"&limit=1&page_token="+url.QueryEscape(token))
				got = append(got, places(page.Changes)...)
				if page.NextPageToken == nil {
					break
				}
				token = *page.NextPageToken
			}
			if !slices.Equal(got, tt.want) {
				z.Errorf("%q lists %q page by page, want %q", tt.query, got, tt.want)
			}
		}
		update := z.changes(commit, "type=Sees&op=update").Changes[0]
		if string(update.Before.Properties["note"]) != "null" || string(update.After.Properties["note"]) != `"n"` || *update.After.Endpoints != (client.EdgeEndpoints{From: client.EdgeEnd{ID: "b"}, To: client.EdgeEnd{ID: "z"}}) {
			z.Errorf("the images of an edge are %+v and %+v", update.Before, update.After)
		}
	})
}

// TestChangesOfARenamedType checks that the ids of types survive a rename, and that the server
// refuses to list the changes of the commit that renames.
func TestChangesOfARenamedType(t *testing.T) {
	overZoos(t, func(z *zoo) {
		ids := func(commit string) (all []string) {
			z.Helper()
			for _, c := range z.changes(commit, "").Changes {
				all = append(all, c.Type.ID)
			}
			return all
		}
		before := ids(z.load(`{"type":"Ape","data":{"name":"b"}}`, `{"type":"Zebra","data":{"name":"z"}}`, `{"edge":"Sees","from":"b","to":"z"}`))
		renamed := z.apply(renamedPG)
		after := ids(z.load(`{"type":"Ape","data":{"name":"c"}}`, `{"type":"Horse","data":{"name":"h"}}`, `{"edge":"Spots","from":"c","to":"h"}`))
		if len(before) != 3 || !slices.Equal(before, after) || before[0] == before[1] || before[1] == before[2] {
			z.Errorf("the types have the ids %q before the rename and %q after it", before, after)
		}
		if r := z.refused(renamed, "", 409).ChangeDiffRefusal; r == nil || r.GraphCommitID != renamed || r.Reason != client.ReasonSchemaBoundary || r.TypeName == nil || *r.TypeName != "Horse" {
			z.Errorf("the rename is refused with %+v", r)
		}
		commented := z.apply("// A comment.\n" + renamedPG)
		if a := z.changes(commented, ""); len(a.Changes) != 0 || a.Cause.GraphCommitID != commented {
			z.Errorf("a comment in the schema makes the changes %+v", a)
		}
	})
}

// TestChangesRefused requests the changes of commits that have no list of changes, and checks the
// answers.
func TestChangesRefused(t *testing.T) {
	overZoos(t, func(z *zoo) {
		first, err := z.g.Commits(z.Context(), "", engine.CommitRange{})
		if err != nil {
			z.Fatal(err)
		}
		if e := z.refused(first[0].ID, "", 409); e.Code != client.CodeConflict || e.ChangeDiffRefusal == nil || e.ChangeDiffRefusal.Reason != client.ReasonParentless || e.ChangeDiffRefusal.TypeName != nil {
			z.Errorf("the first commit is refused with %+v", e)
		}
		var commits []string
		for _, name := range []string{"a", "b", "c", "d"} {
			commits = append(commits, z.load(`{"type":"Ape","data":{"name":"`+name+`"}}`, `{"type":"Ape","data":{"name":"`+name+`2"}}`))
		}
		token := z.changes(commits[1], "limit=1").NextPageToken
		if token == nil {
			z.Fatal("there is no second page")
		}
		if _, err := z.g.Cleanup(z.Context(), engine.CleanupOptions{KeepCommits: 2}); err != nil {
			z.Fatal(err)
		}
		// Commits c and d stay readable; the changes of c need b too.
		for _, tt := range []struct{ commit, query, first string }{
			{commits[2], "", commits[1]}, {commits[2], "type=Ape", commits[1]}, {commits[1], "", commits[0]},
			{commits[1], "page_token=" + url.QueryEscape(*token), commits[0]},
		} {
			if e := z.refused(tt.commit, tt.query, 410); e.ChangeFeedGap == nil || e.ChangeFeedGap.FirstUnreadableCommitID != tt.first || e.ChangeFeedGap.Cursor != nil {
				z.Errorf("%q: the gap is %+v, want the first unreadable commit %s", tt.query, e.ChangeFeedGap, tt.first)
			}
		}
		if got := places(z.changes(commits[3], "").Changes); len(got) != 2 {
			z.Errorf("the changes of the head are %q", got)
		}
		if e := z.refused(commits[3], "type=Bear", 404); !strings.Contains(e.Message, "Bear") {
			z.Errorf("a type that the schema lacks: %+v", e)
		}
		if e := z.refused(commits[3], "limit=10001", 413); e.ResourceLimit == nil || e.ResourceLimit.Limit != 10_000 || e.ResourceLimit.Actual != 10_001 {
			z.Errorf("a limit over the largest: %+v", e)
		}
	})
}
