package corpus_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// runCallers runs the queries that use their caller. A graph in this program learns from the context who that is, and a server
// from the request.
func runCallers(s *session) {
	caller := tool.Caller{ID: "act-test", Groups: []string{"on-leave"}}
	s.ctx = tool.WithCaller(s.ctx, caller)
	rows, err := corpus.MyFriends(s.ctx, s.g, corpus.MyFriendsParams{})
	found[corpus.MyFriendsRow](s, "my_friends", `{"slug":"ada","me":"act-test"}`+"\n"+`{"slug":"bob","me":"act-test"}`)(rows, err)
	s.wrote("greet", 1, 0)(corpus.Greet(s.ctx, s.g, corpus.GreetParams{Slug: "bob"}))
}

// TestWithoutCaller calls a query that uses its caller on a graph in this program, without a caller.
func TestWithoutCaller(t *testing.T) {
	g := openGraph(t)
	var bad *engine.BadArgument
	if _, err := corpus.MyFriends(t.Context(), g, corpus.MyFriendsParams{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "tool.WithCaller") {
		t.Errorf("a read: %v", err)
	}
	if _, err := corpus.Greet(t.Context(), g, corpus.GreetParams{Slug: "bob"}); !errors.As(err, &bad) {
		t.Errorf("a mutation: %v", err)
	}
}

// TestServerIgnoresCaller checks that a client cannot say who it is.
func TestServerIgnoresCaller(t *testing.T) {
	g := openGraph(t)
	if _, err := corpus.PutPerson(t.Context(), g, corpus.PutPersonParams{Slug: "bob", Name: "Bob", Status: corpus.PersonStatusOnLeave, Age: 25}); err != nil {
		t.Fatal(err)
	}
	var remote *client.TypedGraph = overNetwork(t, g)
	rows, err := corpus.MyFriends(tool.WithCaller(t.Context(), tool.Caller{ID: "root", Groups: []string{"active"}}), remote, corpus.MyFriendsParams{})
	if err != nil || len(rows) != 1 || rows[0].Me != "act-test" {
		t.Errorf("found %v, %v", rows, err)
	}
}
