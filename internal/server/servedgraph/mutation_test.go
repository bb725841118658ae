package servedgraph_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestMutationWithoutRead runs mutations of an actor that may change the graph and not read it. A rule that denies to read a property
// hides it from their conditions and from their answers, as from an actor that may read.
func TestMutationWithoutRead(t *testing.T) {
	c := servedtest.Config(t)
	c.Catalog = &tool.Catalog{Queries: servedtest.QueriesOf(t, servedtest.Schema(t), `
query older($than: I32) { update Person set { score: 1.0 } where age > $than }
query scored($name: String) { update Person set { score: 1.0 } where name = $name }
`)}
	for name, read := range map[string]string{"without read": "", "with read": ", read"} {
		p, err := policy.Compile("p.yaml", []byte(`version: 1
rules:
  - { id: writes, allow: { actors: {ids: [act-bot]}, actions: [invoke_query, change`+read+`] } }
  - { id: ages, deny: { actors: any, actions: [read], properties: [Person.age] } }
`), policy.Options{Graph: c.ID})
		if err != nil {
			t.Fatal(err)
		}
		c.Authorizer = p
		g := servedtest.Graph(t, c)
		invoke := func(query, params string) error {
			_, err := g.InvokeQuery(t.Context(), servedtest.Bot, query, servedgraph.Invocation{Params: json.RawMessage(params)}, encoding.Options{})
			return err
		}
		if err := invoke("older", `{"than": 40}`); err == nil || !strings.Contains(err.Error(), `"older" not found`) {
			t.Errorf("%s: a condition on a hidden property: %v", name, err)
		}
		if err := invoke("scored", `{"name": "bob"}`); err != nil {
			t.Errorf("%s: a mutation of what is shown: %v", name, err)
		}
	}
}

// TestExplainToViewer explains the access of an actor to a viewer who does not see all types. The explanation is about the whole graph,
// and leaves out what the viewer does not see.
func TestExplainToViewer(t *testing.T) {
	c := servedtest.Config(t)
	p, err := policy.Compile("p.yaml", []byte(`version: 1
rules:
  - { id: all, allow: { actors: {ids: [act-writer, act-reader]}, actions: [read, policy_read] } }
  - { id: few, allow: { actors: {ids: [act-bot]}, actions: [read], properties: [Person.age] } }
  - { id: ages, deny: { actors: {ids: [act-reader]}, actions: [read], properties: [Person.age, Person.big], types: [Knows] } }
`), policy.Options{Graph: c.ID})
	if err != nil {
		t.Fatal(err)
	}
	c.Authorizer = p
	g := servedtest.Graph(t, c)
	for viewer, want := range map[*access.Actor]string{
		servedtest.Writer: "Person false [big born score seen tags] Knows true []",
		servedtest.Reader: "Person false [born score seen tags]",
	} {
		a, err := g.Do(t.Context(), viewer, "access_explain", g.ExplainAccess(servedtest.Bot, ""), encoding.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var answer client.AccessAnswer
		if err := json.Unmarshal(a.JSON, &answer); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, d := range answer.Decisions {
			if d.Action == "read" && d.Via == "adhoc" {
				for _, part := range d.Parts {
					got += fmt.Sprint(" ", part.Type, " ", part.Hidden, " ", part.Without)
				}
			}
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%s: got %q, want %q", viewer.ID, got, want)
		}
	}
}

// TestUnknownPartsAreLogged starts with a policy that denies a property that the schema lacks.
func TestUnknownPartsAreLogged(t *testing.T) {
	c := servedtest.Config(t)
	var log bytes.Buffer
	c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	p, err := policy.Compile("p.yaml", []byte("version: 1\nrules: [{ id: ages, deny: { actors: any, actions: [read], properties: [Person.agee] } }]"), policy.Options{Graph: c.ID})
	if err != nil {
		t.Fatal(err)
	}
	c.Authorizer = p
	servedtest.Graph(t, c)
	if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "did you mean Person.age?") {
		t.Errorf("the log is %q", text)
	}
}

// BenchmarkToolsOfPart lists the tools of three actors, who may invoke 1,000 stored queries and read a part of the graph.
func BenchmarkToolsOfPart(b *testing.B) {
	c := servedtest.Config(b)
	var queries strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&queries, "query q%d() { match { $p: Person { name: \"%d\" } } return { $p.name } }\n", i, i)
	}
	c.Catalog = &tool.Catalog{Queries: servedtest.QueriesOf(b, servedtest.Schema(b), queries.String())}
	for name, more := range map[string]string{"classed": "", "named": "  - { id: one, deny: { actors: any, actions: [read], via: stored, queries: [q1, q2], properties: [Person.big] } }\n"} {
		p, err := policy.Compile("p.yaml", []byte(`version: 1
rules:
  - { id: reads, allow: { actors: any, actions: [invoke_query, read] } }
  - { id: ages, deny: { actors: any, actions: [read], properties: [Person.age] } }
`+more), policy.Options{Graph: c.ID, AnyQuery: true})
		if err != nil {
			b.Fatal(err)
		}
		c.Authorizer = p
		g := servedtest.Graph(b, c)
		b.Run(name, func(b *testing.B) {
			for range b.N {
				for _, actor := range []*access.Actor{servedtest.Writer, servedtest.Reader, servedtest.Bot} {
					if _, err := g.Tools(b.Context(), actor); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
