package servedgraph_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// unreadable is a policy that permits everything except read.
type unreadable struct{ servedtest.Policy }

func (unreadable) Allowed(_ *access.Actor, g tool.Grant) bool { return g.Action != tool.Read }

// TestSchemaWithheld applies a schema that stored data violates. For an actor that may not read,
// the error must name the rules but no data. A dry run must be denied.
func TestSchemaWithheld(t *testing.T) {
	c := servedtest.Config(t)
	narrow := strings.Replace(servedtest.Source, "age: I32?\n", "age: I32?\n  @range(age, 0..5)\n", 1)
	apply := func(dry bool) error {
		g := servedtest.Graph(t, c)
		_, err := g.Do(t.Context(), servedtest.Writer, "schema_apply", &operations.ApplySchema{Source: narrow, Options: engine.SchemaOptions{
			WriteOptions: engine.WriteOptions{DryRun: dry}, AllowDataLoss: true,
		}}, encoding.Options{})
		return err
	}
	if err := apply(false); err == nil || !strings.Contains(err.Error(), "ada") || !strings.Contains(err.Error(), "41") {
		t.Fatalf("an actor that may read gets %v", err)
	}
	c.Authorizer = unreadable{}
	err := apply(false)
	if err == nil || !strings.Contains(err.Error(), "stored data breaks the rule (range)") || strings.Contains(err.Error(), "ada") || strings.Contains(err.Error(), "41") {
		t.Errorf("an actor that may not read gets %v", err)
	}
	var denied *wireerror.Forbidden
	if err := apply(true); !errors.As(err, &denied) || denied.Action != tool.Read {
		t.Errorf("a dry run: %v", err)
	}
}

// TestParentsWithheld checks the commit in the answer to a write. It must name its parents only for
// an actor that may read the branch.
func TestParentsWithheld(t *testing.T) {
	load := func(c servedgraph.Config) (answer client.LoadAnswer) {
		t.Helper()
		a, err := servedtest.Graph(t, c).Do(t.Context(), servedtest.Writer, "load", &operations.Load{Data: strings.NewReader(`{"type":"Person","data":{"name":"` + t.Name() + head(t, c, "main") + `"}}`)}, encoding.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(a.JSON, &answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	c := servedtest.Config(t)
	before := head(t, c, "main")
	if a := load(c).Commit; a == nil || a.ParentCommitID == nil || *a.ParentCommitID != before {
		t.Errorf("an actor that may read gets the commit %+v, want the parent %s", a, before)
	}
	c.Authorizer = unreadable{}
	if a := load(c).Commit; a == nil || a.GraphCommitID == "" || a.ParentCommitID != nil || a.MergedParentCommitID != nil {
		t.Errorf("an actor that may not read gets the commit %+v, want no parents", a)
	}
}

// TestComputedWithheld runs stored mutations that compute with stored values and break a rule. Only an
// actor that may read may get an error with such a value.
func TestComputedWithheld(t *testing.T) {
	const schema = `node Person {
  name: String @key
  age: I32?
  @range(age, 0..150)
}
edge Knows: Person -> Person
`
	c := servedtest.Config(t)
	g := naive.New(schema, servedtest.SchemaOf(t, schema), naive.Sound)
	t.Cleanup(func() { g.Close() })
	lines := `{"type":"Person","data":{"name":"zelda","age":137}}
{"edge":"Knows","from":"zelda","to":"zelda","data":{"id":"zelda!"}}
`
	if _, err := g.Load(t.Context(), strings.NewReader(lines), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	queries := servedtest.Queries(t, `
query grow() { update Person set { age: age + 100 } where age > 0 }
query copy_age() { match { $p: Person } { insert Person { name: "new" age: $p.age + 100 } } }
query join() { match { $p: Person } { insert Knows { from: $p.name + "?" to: $p } } }
query repeat() { match { $p: Person } { insert Knows { id: $p.name + "!" from: $p to: $p } } }
`)
	c.Graph, c.Catalog = g, &tool.Catalog{Graph: "people", SchemaDigest: "sha256:test", Queries: queries}
	for i, want := range []struct{ stored, rule string }{{"237", "range"}, {"237", "range"}, {"zelda?", "endpoint"}, {"zelda!", "exists already"}} {
		run := func() error {
			_, err := servedtest.Graph(t, c).Do(t.Context(), servedtest.Writer, queries[i].Info().Name, &queryrun.Call{Query: queries[i]}, encoding.Options{})
			return err
		}
		name := queries[i].Info().Name
		c.Authorizer = servedtest.Policy{}
		if err := run(); err == nil || !strings.Contains(err.Error(), want.stored) {
			t.Errorf("%s: an actor that may read gets %v", name, err)
		}
		c.Authorizer = unreadable{}
		if err := run(); err == nil || !strings.Contains(err.Error(), want.rule) || strings.Contains(err.Error(), "zelda") || strings.Contains(err.Error(), "37") {
			t.Errorf("%s: an actor that may not read gets %v", name, err)
		}
	}
}
