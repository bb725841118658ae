package servedgraph_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/audit"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// told records the calls that an observer is notified of.
type told []audit.Called

func (o *told) Called(c audit.Called) { *o = append(*o, c) }

// TestObserver checks that each call is reported once, and the calls of a batch one by one.
func TestObserver(t *testing.T) {
	var got told
	c := servedtest.Config(t, builtin.All("1")...)
	c.Observer = &got
	g := servedtest.Graph(t, c)
	call := func(actor *access.Actor, name, args string) {
		t.Helper()
		_, _ = g.Call(t.Context(), actor, name, json.RawMessage(args), g.ForModel())
	}
	const read = `query q() { match { $p: Person } return { $p.name } limit 2 }`
	call(servedtest.Reader, "graph_query", `{"query":"`+read+`"}`)
	call(servedtest.Reader, "graph_query", `{"quarry":1}`)
	call(servedtest.Reader, "no_such_tool", `{}`)
	call(servedtest.Drafter, "graph_mutate", `{"query":"query m() { insert Person { name: \"zoe\" } }"}`)
	want := []struct {
		tool    string
		outcome wireerror.Outcome
		denied  tool.Action
		rows    int
	}{
		{"graph_query", wireerror.Done, "", 2}, {"graph_query", wireerror.OfRequest, "", 0}, {"", wireerror.Missing, "", 0},
		{"graph_mutate", wireerror.OfPolicy, tool.Change, 0},
	}
	if len(got) != len(want) {
		t.Fatalf("told of %+v", got)
	}
	for i, w := range want {
		if c := got[i]; c.Graph != g.ID() || c.Tool != w.tool || c.Outcome != w.outcome || c.Denied != w.denied || c.Rows != w.rows || (c.Bytes > 0) != (w.outcome == wireerror.Done) {
			t.Errorf("call %d: told of %+v, want %+v", i, c, w)
		}
	}
}

// TestDigests checks the digests in the log. Different arguments must have different digests. After
// a restart with the same key, the digests must be the same. With another key, they must differ.
func TestDigests(t *testing.T) {
	digests := func(key byte, names ...string) (found []string) {
		var log strings.Builder
		c := servedtest.Config(t, builtin.All("1")...)
		c.PageKeys.List = [][]byte{bytes.Repeat([]byte{key}, 32)}
		c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		g := servedtest.Graph(t, c)
		for _, name := range names {
			call := &operations.AdHoc{Source: `query q($n: String) { match { $p: Person { name: $n } } return { $p.name } }`,
				Params: json.RawMessage(fmt.Sprintf(` { "n" : %q } `, name))}
			if _, err := g.Do(t.Context(), servedtest.Reader, "query", call, encoding.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(log.String(), names[0]) {
			t.Errorf("the log tells an argument: %s", log.String())
		}
		for _, field := range strings.Fields(log.String()) {
			if d, ok := strings.CutPrefix(field, "args="); ok {
				found = append(found, d)
			}
		}
		return found
	}
	a, b, other := digests(1, "ada the first", "bob", "ada the first"), digests(1, "ada the first"), digests(2, "ada the first")
	if len(a) != 3 || a[0] == a[1] || a[0] != a[2] || len(b) != 1 || a[0] != b[0] || a[0] == other[0] {
		t.Errorf("the digests are %v, %v and %v", a, b, other)
	}
}

// TestRefusedWrites checks the log line of a write that failed. It must contain the digest of the
// idempotency key, and not the data of the write.
func TestRefusedWrites(t *testing.T) {
	var log strings.Builder
	c := servedtest.Config(t, builtin.All("1")...)
	c.Logger = textLogger(&log)
	g := servedtest.Graph(t, c)
	const key = "low-entropy-key"
	for _, tt := range []struct {
		actor        *access.Actor
		source, want string
	}{
		{servedtest.Reader, `query m() { insert Person { name: "hush" } }`, "outcome=forbidden"},
		{servedtest.Writer, `query m() { insert Persona { name: "hush" } }`, "outcome=bad_request"},
	} {
		log.Reset()
		_, err := g.Do(t.Context(), tt.actor, "mutate", &operations.AdHoc{Source: tt.source, Write: true, Options: queryrun.Options{IdempotencyKey: key}}, encoding.Options{})
		if err == nil {
			t.Fatalf("%s was made", tt.source)
		}
		line := log.String()
		for _, want := range []string{`msg="write refused"`, "tool=mutate", "actor=" + tt.actor.ID, "branch=main", tt.want, "idempotency_key=" + g.LogDigest([]byte(key))} {
			if !strings.Contains(line, want) {
				t.Errorf("%s is not in %s", want, line)
			}
		}
		if strings.Contains(line, "hush") || strings.Contains(line, key) || strings.Count(line, "\n") != 1 {
			t.Errorf("the log is %s", line)
		}
	}
}
