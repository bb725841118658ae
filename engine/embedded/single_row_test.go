package embedded

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestSingleRow looks rows with and without nulls up by key, before and after the rows of their segment are
// copied, and after some of them were changed and deleted.
func TestSingleRow(t *testing.T) {
	const text = `
node Item {
  slug: String @key
  name: String?
  big: I64?
  small: I32?
  real: F64?
  half: F32?
  flag: Bool?
  day: Date?
  tags: [String]?
}`
	const queries = `
query scalars($slug: String) {
  match { $i: Item { slug: $slug } }
  return { $i.slug as slug, $i.name as name, $i.big as big, $i.small as small, $i.real as real, $i.half as half,
    $i.flag as flag, $i.day as day, $i.name as again }
}
query lists($slug: String) {
  match { $i: Item { slug: $slug } }
  return { $i.slug as slug, $i.tags as tags }
}
query change($slug: String) { update Item set { name: "changed" } where slug = $slug }
query remove($slug: String) { delete Item where slug = $slug }
`
	const rows = 64
	ctx := context.Background()
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	compiled, faults := gq.CompileQueries(schema, gq.Source{Name: "queries.gq", Text: queries})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	plans := map[string]*plan.Query{}
	for _, q := range compiled {
		plans[q.Plan.Name] = q.Plan
	}
	g, err := Create(ctx, fs.NewMem(), "g", text, schema, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var lines strings.Builder
	wanted := map[string]string{}
	for i := range rows {
		slug := fmt.Sprintf("i%04d", i)
		if i%4 == 3 { // only nulls
			fmt.Fprintf(&lines, `{"type":"Item","data":{"slug":%q}}`+"\n", slug)
			wanted[slug] = fmt.Sprintf("%s null null null null null null null null; %[1]s null", slug)
			continue
		}
		name := strings.Repeat("name", i)
		fmt.Fprintf(&lines, `{"type":"Item","data":{"slug":%q,"name":%q,"big":"%d","small":%d,"real":%d.5,"half":%d.25,"flag":%t,"day":"2026-01-%02d","tags":["a","t%d"]}}`+"\n",
			slug, name, i<<40, -i, i, i, i%2 == 0, 1+i%28, i)
		wanted[slug] = fmt.Sprintf("%s %s %d %d %d.5 %d.25 %t 2026-01-%02d %[2]s; %[1]s [a t%[9]d]", slug, name, i<<40, -i, i, i, i%2 == 0, 1+i%28, i)
	}
	if err := loadText(g, engine.Append, lines.String()); err != nil {
		t.Fatal(err)
	}
	if err := g.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		for slug, want := range wanted {
			got := singleRow(ctx, t, g, plans["scalars"], slug)
			if list := singleRow(ctx, t, g, plans["lists"], slug); list != "" {
				got += "; " + list
			}
			if got != want {
				t.Fatalf("%s: %s has\n%s\nwant\n%s", when, slug, got, want)
			}
		}
	}
	copied := func() bool {
		snap, err := g.snapshot(ctx, engine.Target{})
		if err != nil {
			t.Fatal(err)
		}
		of, _ := snap.Nodes(0).Copied(0)
		return of != nil
	}
	check("after the load")
	for waits := 0; !copied(); waits++ {
		if waits == 30_000 {
			t.Fatal("the rows are not copied")
		}
		check("before the copies")
		time.Sleep(time.Millisecond)
	}
	check("with copies")
	for i := range rows {
		slug, name := fmt.Sprintf("i%04d", i), "change"
		switch i % 8 {
		case 0:
			wanted[slug] = strings.ReplaceAll(wanted[slug], " "+strings.Repeat("name", i)+" ", " changed ")
			wanted[slug] = strings.ReplaceAll(wanted[slug], " "+strings.Repeat("name", i)+";", " changed;")
		case 1:
			name, wanted[slug] = "remove", ""
		default:
			continue
		}
		if _, err := g.Mutate(ctx, plans[name], engine.Args{value.OfString(slug)}, engine.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	check("after changes")
	wanted["i0064"], wanted["i00001"], wanted["x"] = "", "", ""
	check("other ids")
}

// singleRow returns the values of the only row of a read by key, or "" if there is no row.
func singleRow(ctx context.Context, t *testing.T, g *Graph, q *plan.Query, slug string) (out string) {
	t.Helper()
	r, err := g.Query(ctx, q, engine.Args{value.OfString(slug)}, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return out
		}
		if b.Len != 1 || out != "" {
			t.Fatalf("%s: a second row", slug)
		}
		var texts []string
		for i := range b.Columns {
			texts = append(texts, valueText(b.Columns[i].Value(0)))
		}
		out = strings.Join(texts, " ")
	}
}

// valueText returns a value as a text.
func valueText(v value.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.IsList():
		var texts []string
		for _, e := range v.Elems() {
			texts = append(texts, valueText(e))
		}
		return fmt.Sprint(texts)
	}
	switch v.Kind() {
	case value.String:
		return v.Str()
	case value.Bool:
		return fmt.Sprint(v.Bool())
	case value.Date:
		return value.DateValue(v.Int()).String()
	}
	if v.Kind().IsFloat() {
		return fmt.Sprint(v.Float())
	}
	return fmt.Sprint(v.Int())
}
