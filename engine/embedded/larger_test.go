package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const largerSchema = `
node Person {
  slug: String @key
  age: I32? @index
  score: F64? @index
  nick: String? @index
  city: String
  tall: Bool
  born: Date?
  place: Vector(40)?
}

node Company {
  slug: String @key
  town: String
}

edge WorksAt: Person -> Company
`

const largerQueries = `
query ages($low: I32, $high: I32) {
  match { $p: Person  $p.age >= $low  $p.age < $high }
  return { $p.slug as slug, $p.age as age }
}
query agesOptional($low: I32?, $high: I32?) {
  match { $p: Person  $p.age >= $low  $p.age <= $high  $p.city = "c3" }
  return { $p.slug as slug }
}
query scores($low: F64, $high: F64) {
  match { $p: Person  $p.score > $low  $p.score <= $high  $p.tall = true }
  return { $p.slug as slug, $p.score as score }
}
query unequal($age: I32, $city: String) {
  match { $p: Person  $p.age != $age  $p.city != $city  $p.born >= date("1990-02-01") }
  return { $p.slug as slug }
}
query plain($score: F64, $city: String) {
  match { $p: Person  $p.city > $city  $p.nick contains "1"  $p.tall != false }
  return { $p.slug as slug, $p.nick as nick }
  order { $p.born desc }
}
query nicks($prefix: String) {
  match { $p: Person  $p.nick starts_with $prefix }
  return { $p.slug as slug, $p.nick as nick }
}
query youngest($limit: I32) {
  match { $p: Person }
  return { $p.slug as slug, $p.age as age }
  order { $p.age }
  limit 9
}
query oldest($low: I32) {
  match { $p: Person  $p.age >= $low  $p.tall = true }
  return { $p.slug as slug, $p.age as age }
  order { $p.age desc, $p.nick }
  limit 7
}
query lastNicks($city: String) {
  match { $p: Person  $p.city = $city }
  return { $p.nick as nick, $p.slug as slug }
  order { $p.nick desc }
  limit 12
}
query lowest($low: F64) {
  match { $p: Person  $p worksAt $c  $p.score >= $low }
  return { $p.slug as slug, $c.slug as company, $p.score as score }
  order { $p.score }
  limit 5
}
query employers($n: I32) {
  match { $p worksAt $c }
  return { $c.slug as company, count($p) as employees }
  order { employees desc }
  limit 20
}
query fewest($n: I32) {
  match { $p worksAt $c }
  return { $c.slug as company, $c.town as town, count($p) as employees }
  order { employees, $c.town desc }
  limit 3
}
query towns($n: I32) {
  match { $p worksAt $c }
  return { $c.town as town, count($p) as employees }
}
query jobs($n: I32) {
  match { $p worksAt $c }
  return { $p.slug as person, count($c) as jobs }
  order { jobs desc }
  limit 15
}
query all($n: I32) {
  match { $p worksAt $c }
  return { count($p) as n }
}
query pay($n: I32) {
  match { $p worksAt $c  $p.tall = true }
  return { $c.slug as company, sum($p.score) as total, min($p.age) as youngest, count($p) as n }
  order { n desc }
  limit 10
}
query cities($n: I32) {
  match { $p: Person  $p.age > 3 }
  return { $p.city as city, avg($p.score) as mean, count($p) as n }
}
query near($q: Vector(40)) {
  match { $p: Person }
  return { $p.slug as slug, nearest($p.place, $q) as distance }
  order { nearest($p.place, $q) }
  limit 11
}
query setAge($slug: String, $age: I32?, $score: F64?) { update Person set { age: $age, score: $score } where slug = $slug }
query leave($slug: String) { delete Person where slug = $slug }
query hire($person: String, $company: String) { insert WorksAt { from: $person, to: $company } }
query fire($company: String) { delete WorksAt where to = $company }
`

// larger consists of two graphs. The same writes go to both, and both must return the same answers.
type larger struct {
	t       *testing.T
	rng     *rand.Rand
	queries map[string]*plan.Query
	graphs  [2]engine.Graph
}

// TestLargerGraph compares the engine with the model on a graph of many pages of rows. The
// states have rows that are updated or deleted, rows in segments and not, and a branch.
func TestLargerGraph(t *testing.T) {
	slow.Test(t)
	ctx := context.Background()
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: largerSchema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	queries, faults := gq.CompileQueries(schema, gq.Source{Name: "queries.gq", Text: largerQueries})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	l := &larger{t: t, rng: rand.New(rand.NewPCG(11, 12)), queries: map[string]*plan.Query{}}
	for _, q := range queries {
		l.queries[q.Plan.Name] = q.Plan
	}
	g, err := embedded.Create(ctx, fs.NewMem(), "graph", largerSchema, schema, embedded.Options{LogSize: 1 << 16, CheckpointBytes: 1 << 17})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	l.graphs = [2]engine.Graph{g, naive.New(largerSchema, schema, naive.Sound)}
	const people, companies = 420, 24
	l.load(l.people(0, people) + l.companies(companies) + l.jobs(people, companies, 420))
	l.compare("main")
	l.load(l.people(people-50, 100))
	l.compare("main")
	for range 40 {
		slug := value.OfString(fmt.Sprintf("p%05d", l.rng.IntN(people)))
		age, score := value.OfI32(int32(l.rng.IntN(90))), value.OfF64(float64(l.rng.IntN(100)))
		if l.rng.IntN(4) == 0 {
			age, score = value.Null, value.Null
		}
		l.mutate("setAge", "main", slug, age, score)
	}
	for range 15 {
		l.mutate("leave", "main", value.OfString(fmt.Sprintf("p%05d", l.rng.IntN(people))))
	}
	l.mutate("fire", "main", value.OfString("c00007"))
	for range 20 {
		// Some of the persons have that job already.
		person := value.OfString(fmt.Sprintf("p%05d", people+l.rng.IntN(3)))
		l.mutate("hire", "main", person, value.OfString(fmt.Sprintf("c%05d", l.rng.IntN(4))))
	}
	l.compare("main")
	for _, g := range l.graphs {
		if _, err := g.CreateBranch(ctx, "side", engine.Target{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, branch := range []string{"side", "main"} {
		for range 20 {
			slug := value.OfString(fmt.Sprintf("p%05d", l.rng.IntN(people)))
			l.mutate("setAge", branch, slug, value.OfI32(int32(l.rng.IntN(90))), value.OfF64(-1))
		}
	}
	l.compare("side")
	l.compare("main")
}

func (l *larger) people(first, n int) string {
	var s strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&s, `{"type":"Person","data":{"slug":"p%05d","city":"c%d","tall":%t`, i, l.rng.IntN(9), l.rng.IntN(2) == 0)
		if l.rng.IntN(9) > 0 {
			fmt.Fprintf(&s, `,"age":%d,"score":%d.5,"nick":"n%d"`, l.rng.IntN(90), l.rng.IntN(200)-100, l.rng.IntN(400))
		}
		if l.rng.IntN(9) > 0 {
			fmt.Fprintf(&s, `,"born":"19%02d-%02d-03"`, l.rng.IntN(100), 1+l.rng.IntN(12))
		}
		if kind := l.rng.IntN(10); kind < 4 {
			s.WriteString(`,"place":[`)
			for k := range 40 {
				if k > 0 {
					s.WriteByte(',')
				}
				switch kind {
				case 0:
					s.WriteByte('0') // gives a zero vector, which has no direction
				case 1:
					fmt.Fprintf(&s, "%d", (i/40+k)%3-1) // many vectors are alike
				default:
					fmt.Fprintf(&s, "%.4g", l.rng.NormFloat64()*[]float64{1e-30, 1, 1, 1e30}[i%4])
				}
			}
			s.WriteByte(']')
		}
		s.WriteString("}}\n")
	}
	return s.String()
}

func (l *larger) companies(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, `{"type":"Company","data":{"slug":"c%05d","town":"t%d"}}`+"\n", i, i%13)
	}
	return s.String()
}

func (l *larger) jobs(people, companies, n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, `{"edge":"WorksAt","from":"p%05d","to":"c%05d","data":{"id":"w%05d"}}`+"\n", l.rng.IntN(people), l.rng.IntN(companies)*l.rng.IntN(2), i)
	}
	return s.String()
}

func (l *larger) load(text string) {
	l.t.Helper()
	for _, g := range l.graphs {
		if _, err := g.Load(context.Background(), strings.NewReader(text), engine.LoadOptions{Mode: engine.Merge}); err != nil {
			l.t.Fatal(err)
		}
	}
}

func (l *larger) mutate(name, branch string, args ...value.Value) {
	l.t.Helper()
	for _, g := range l.graphs {
		if _, err := g.Mutate(context.Background(), l.queries[name], args, engine.WriteOptions{Branch: branch}); err != nil {
			l.t.Fatal(err)
		}
	}
}

// compare runs every read on both graphs and compares the rows.
func (l *larger) compare(branch string) {
	l.t.Helper()
	for name, q := range l.queries {
		if q.Read == nil {
			continue
		}
		for range 2 {
			args := make(engine.Args, len(q.Params))
			for i, p := range q.Params {
				args[i] = l.argument(p)
			}
			got, want := l.rows(l.graphs[0], q, args, branch), l.rows(l.graphs[1], q, args, branch)
			if !slices.Equal(got, want) {
				l.t.Fatalf("%s of %v on %s: %d rows, expected %d\n%s\nwanted\n%s", name, args, branch, len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

func (l *larger) argument(p plan.Param) value.Value {
	if p.Type.Nullable && l.rng.IntN(3) == 0 {
		return value.Null
	}
	switch p.Type.Kind {
	case value.I32:
		return value.OfI32(int32(l.rng.IntN(100) - 5))
	case value.F64:
		return value.OfF64(float64(l.rng.IntN(220)-110) / 2)
	case value.Vector:
		v := make([]float32, p.Type.Dim)
		for i := range v {
			v[i] = float32(l.rng.IntN(5) - 2)
		}
		return value.OfVector(v)
	}
	return value.OfString([]string{"n", "n1", "n12", "c3", "c7", "", "zz"}[l.rng.IntN(7)])
}

func (l *larger) rows(g engine.Graph, q *plan.Query, args engine.Args, branch string) []string {
	l.t.Helper()
	res, err := g.Query(context.Background(), q, args, engine.Target{Branch: branch})
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Close()
	var out []string
	for {
		b, err := res.Next(context.Background())
		if err != nil {
			l.t.Fatal(err)
		}
		if b == nil {
			return out
		}
		for i := range b.Len {
			var row []string
			for k := range b.Columns {
				if v := b.Columns[k].Value(i); v.IsNull() {
					row = append(row, "null")
				} else {
					row = append(row, value.Text(v))
				}
			}
			out = append(out, strings.Join(row, " | "))
		}
	}
}
