package servedgraph_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// confined is a policy that confines all actors to their drafts. If reads is true, they may read main too.
type confined struct {
	servedtest.Policy
	reads bool
}

// Allowed implements access.Authorizer.
func (p confined) Allowed(_ *access.Actor, g tool.Grant) bool {
	return g.OwnDraft || p.reads && g.Action == tool.Read
}

// addEve is a mutation that inserts a person.
const addEve = `query m() { insert Person { name: "eve" } }`

// run calls a tool as an actor, and returns the error.
func run(g *servedgraph.Graph, name string, args map[string]any) error {
	raw, err := json.Marshal(args)
	if err == nil {
		_, err = g.Call(context.Background(), servedtest.Writer, name, raw, encoding.Options{})
	}
	return err
}

// openDrafts returns the open drafts of an actor.
func openDrafts(t *testing.T, c servedgraph.Config, actor *access.Actor) []engine.Draft {
	t.Helper()
	list, err := c.Graph.Drafts(t.Context(), engine.DraftRange{Owner: actor.ID, State: engine.DraftOpen})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestConfinedSchema applies a schema without a branch under a policy that confines the actor to drafts.
// The schema of main must not change, and a dry run must open no draft.
func TestConfinedSchema(t *testing.T) {
	c := servedtest.Config(t, builtin.Local("1.2.3", nil)...)
	c.Authorizer = confined{reads: true}
	g := servedtest.Graph(t, c)
	before, err := c.Graph.Schema(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	args := map[string]any{"schema": servedtest.Source + "node Extra {}\n", "dry_run": true}
	if err := run(g, "schema_apply", args); err != nil || len(openDrafts(t, c, servedtest.Writer)) > 0 {
		t.Errorf("a dry run: %v, %d drafts", err, len(openDrafts(t, c, servedtest.Writer)))
	}
	delete(args, "dry_run")
	if err := run(g, "schema_apply", args); err != nil {
		t.Fatal(err)
	}
	after, err := c.Graph.Schema(t.Context(), engine.Target{})
	if err != nil || after.Digest != before.Digest {
		t.Errorf("main has another schema, %v", err)
	}
	if drafts := openDrafts(t, c, servedtest.Writer); len(drafts) != 1 {
		t.Errorf("there are %d drafts", len(drafts))
	} else if s, err := c.Graph.Schema(t.Context(), engine.Target{Branch: drafts[0].Branch()}); err != nil || s.Digest == before.Digest {
		t.Errorf("the draft has the schema of main, %v", err)
	}
}

// TestDraftShowsNoMain refuses to open a draft for an actor that may read drafts but not main, because the
// draft contains main.
func TestDraftShowsNoMain(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1.2.3")...)
	c.Authorizer = confined{}
	g := servedtest.Graph(t, c)
	for _, args := range []map[string]any{{"query": addEve}, {"query": addEve, "branch": "draft"}, {"query": addEve, "branch": "draft/x"}, {"query": addEve, "dry_run": true}} {
		if err := run(g, "graph_mutate", args); err == nil || !strings.Contains(err.Error(), "does not allow read on branch main") {
			t.Errorf("%v: %v", args, err)
		}
	}
	if n := len(openDrafts(t, c, servedtest.Writer)); n > 0 {
		t.Errorf("%d drafts are open", n)
	}
}

// TestDraftLimits opens drafts up to the limit, and lets them expire by the clock.
func TestDraftLimits(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1.2.3")...)
	now := clock.Now()
	c.Authorizer, c.Drafts, c.Now = confined{reads: true}, servedgraph.DraftLimits{Max: 2, Keep: time.Hour}, func() time.Time { return now }
	g := servedtest.Graph(t, c)
	write := func(branch string) error {
		return run(g, "graph_mutate", map[string]any{"query": addEve, "branch": branch})
	}
	if err := errors.Join(write("draft"), write("draft/second")); err != nil {
		t.Fatal(err)
	}
	if err := write("draft/third"); err == nil || len(openDrafts(t, c, servedtest.Writer)) != 2 {
		t.Errorf("a third draft: %v", err)
	}
	first := openDrafts(t, c, servedtest.Writer)[0]
	now = now.Add(2 * time.Hour)
	var closed *engine.DraftClosed
	if err := write(first.Branch()); !errors.As(err, &closed) || closed.Draft.State != engine.DraftExpired {
		t.Errorf("a write to an expired draft: %v", err)
	}
	if err := write("draft/third"); err != nil {
		t.Error(err)
	}
	if drafts := openDrafts(t, c, servedtest.Writer); len(drafts) != 1 || drafts[0].Name != "third" {
		t.Errorf("after the expiry, these are open: %+v", drafts)
	}
}

// reader is a graph that cannot be written, like that of a server that only reads it.
type reader struct{ engine.Graph }

// EndDraft implements engine.Graph.
func (reader) EndDraft(context.Context, string, engine.DraftEnd) error {
	return &engine.Unavailable{Reason: "this server only reads the graph"}
}

// TestExpiredDraftListed lists branches after a draft has expired. The lists leave out the draft, because a
// call about it would be refused. A server that only reads the graph cannot end the draft, and still reads it.
func TestExpiredDraftListed(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1.2.3")...)
	now := clock.Now()
	c.Authorizer, c.Drafts, c.Now = confined{reads: true}, servedgraph.DraftLimits{Keep: time.Hour}, func() time.Time { return now }
	g := servedtest.Graph(t, c)
	if err := run(g, "graph_mutate", map[string]any{"query": addEve}); err != nil {
		t.Fatal(err)
	}
	draft := openDrafts(t, c, servedtest.Writer)[0].Branch()
	listed := func(g *servedgraph.Graph) (described, called bool) {
		t.Helper()
		branches, err := g.Branches(t.Context(), servedtest.Writer)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := g.Call(t.Context(), servedtest.Writer, "branch_list", []byte("{}"), encoding.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(branches, func(b engine.Branch) bool { return b.Name == draft }), strings.Contains(string(answer.JSON), draft)
	}
	if described, called := listed(g); !described || !called {
		t.Errorf("an open draft is described: %t, listed: %t", described, called)
	}

	now = now.Add(2 * time.Hour)
	read := map[string]any{"query": `query q() { match { $p: Person } return { $p.name } }`, "branch": draft}
	follower := c
	follower.Graph = reader{c.Graph}
	f := servedtest.Graph(t, follower)
	described, called := listed(f)
	if err := run(f, "graph_query", read); err != nil || !described || !called {
		t.Errorf("on a server that only reads, the draft is described: %t, listed: %t, read: %v", described, called, err)
	}
	if described, called := listed(g); described || called {
		t.Errorf("an expired draft is described: %t, listed: %t", described, called)
	}
	var closed *engine.DraftClosed
	if err := run(g, "graph_query", read); !errors.As(err, &closed) || closed.Draft.State != engine.DraftExpired {
		t.Errorf("a read of an expired draft: %v", err)
	}
}

// TestDraftOpenedTwice writes to the same draft in several calls at once. They open one draft, and each is
// in it.
func TestDraftOpenedTwice(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1.2.3")...)
	c.Authorizer = confined{reads: true}
	g := servedtest.Graph(t, c)
	var calls sync.WaitGroup
	for _, name := range []string{"dan", "eve", "fay", "gus"} {
		calls.Go(func() {
			args := map[string]any{"query": strings.Replace(addEve, "eve", name, 1)}
			if err := run(g, "graph_mutate", args); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	drafts := openDrafts(t, c, servedtest.Writer)
	if len(drafts) != 1 {
		t.Fatalf("%d drafts are open", len(drafts))
	}
	commits, err := c.Graph.Commits(t.Context(), drafts[0].Branch(), engine.CommitRange{Limit: 100})
	made := 0
	for _, commit := range commits {
		if commit.Branch == drafts[0].Branch() {
			made++
		}
	}
	if err != nil || made != 4 {
		t.Errorf("the draft has %d commits of its own, %v", made, err)
	}
}

// TestDraftConfirmed asks for the same confirmation in each try, although each try that is refused forgets
// the draft that it opened.
func TestDraftConfirmed(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1.2.3")...)
	c.Authorizer, c.Confirm = confined{reads: true}, []tool.Action{tool.Change}
	g := servedtest.Graph(t, c)
	var digests [][32]byte
	ctx := servedgraph.WithConfirmer(t.Context(), func(s tool.Step, digest [32]byte) (bool, error) {
		if !strings.HasSuffix(s.What, "from the branch draft") {
			t.Errorf("the question is %q", s.What)
		}
		digests = append(digests, digest)
		return false, &wireerror.Unconfirmed{What: s.What}
	})
	for range 2 {
		_, err := g.Call(ctx, servedtest.Writer, "graph_mutate", []byte(`{"query":"query m() { delete Person where name = \"cyd\" }"}`), encoding.Options{})
		var need *wireerror.Unconfirmed
		if !errors.As(err, &need) {
			t.Errorf("a delete without a confirmation: %v", err)
		}
	}
	if len(digests) != 2 || digests[0] != digests[1] || len(openDrafts(t, c, servedtest.Writer)) > 0 {
		t.Errorf("the digests are %x", digests)
	}
}

// TestReservedNames serves a graph in which branches have the names of drafts from earlier.
func TestReservedNames(t *testing.T) {
	c := servedtest.Config(t)
	for _, name := range []string{"draft", "draft/old", "drafty"} {
		if _, err := c.Graph.CreateBranch(t.Context(), name, engine.Target{}); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	servedtest.Graph(t, c)
	if said := log.String(); strings.Count(said, "reserved for drafts") != 2 || !strings.Contains(said, "branch=draft\n") || !strings.Contains(said, "branch=draft/old\n") {
		t.Errorf("the log has %q", said)
	}
}
