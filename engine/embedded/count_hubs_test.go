package embedded_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

const countrySchema = `node Person { n: I64 @key }
node City { n: I64 @key }
node Country { n: I64 @key }
edge Knows: Person -> Person
edge LivesIn: Person -> City
edge CityOf: City -> Country`

// countryQueries count patterns with cycles, and change the graph.
const countryQueries = `
query triangles() { match { $a <knows> $b $b <knows> $c $c <knows> $a $a livesIn $x $b livesIn $y $c livesIn $z
  $x cityOf $country $y cityOf $country $z cityOf $country } return { count($country) as n } }
query arrows() { match { $a knows $b $b knows $c $a knows $c } return { count($b) as n } }
query neighbours() { match { $a knows $b $a livesIn $x $b livesIn $x } return { count($a) as n } }
query of_hub($hub: I64) { match { $h: Person { n: $hub } $a livesIn $x $h <knows> $a $h livesIn $x } return { count($a) as n } }
query meet($a: String, $b: String) { insert Knows { from: $a, to: $b } }
query part($a: String, $b: String) { delete Knows where from = $a and to = $b }`

const (
	countryPersons = 300
	countryHubs    = 3 // persons who know most others
	countryCities  = 4 // in two countries
)

// country is the graph of the test in memory.
type country struct {
	knows [countryPersons][countryPersons]bool
}

// city returns the city in which a person lives: almost half of them in the same.
func (*country) city(person int) int { return [...]int{0, 0, 0, 1, 1, 2, 3}[person%7] }

// both reports whether one of two persons knows the other.
func (c *country) both(a, b int) bool { return c.knows[a][b] || c.knows[b][a] }

// counts returns the answers of the counting queries, by name.
func (c *country) counts(hub int) map[string]int64 {
	n := map[string]int64{}
	for a := range countryPersons {
		if c.both(hub, a) && c.city(a) == c.city(hub) {
			n["of_hub"]++
		}
		for b := range countryPersons {
			if c.knows[a][b] && c.city(a) == c.city(b) {
				n["neighbours"]++
			}
			if !c.both(a, b) {
				continue
			}
			for d := range countryPersons {
				if c.both(b, d) && c.both(d, a) && c.city(a)%2 == c.city(b)%2 && c.city(b)%2 == c.city(d)%2 {
					n["triangles"]++
				}
				if c.knows[a][b] && c.knows[b][d] && c.knows[a][d] {
					n["arrows"]++
				}
			}
		}
	}
	return n
}

// TestCountAroundHubs counts patterns with cycles around nodes with many edges, right after a load and after many changes,
// and compares the numbers with those of loops over an array.
func TestCountAroundHubs(t *testing.T) {
	t.Run("one processor", func(t *testing.T) { testCountAroundHubs(t, embedded.Options{}) })
	t.Run("several processors", func(t *testing.T) { testCountAroundHubs(t, embedded.Options{}.SplitAll()) })
}

func testCountAroundHubs(t *testing.T, opts embedded.Options) {
	schema, faults := gq.CompileSchema(gq.Source{Name: "country.pg", Text: countrySchema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	queries, faults := gq.CompileQueries(schema, gq.Source{Name: "country.gq", Text: countryQueries})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	plans := map[string]*plan.Query{}
	for _, q := range queries {
		plans[q.Plan.Name] = q.Plan
	}
	rng := rand.New(rand.NewPCG(5, 6))
	c := &country{}
	var lines strings.Builder
	for i := range countryCities {
		fmt.Fprintf(&lines, "{\"type\":\"City\",\"data\":{\"n\":%d}}\n", i)
	}
	fmt.Fprint(&lines, "{\"type\":\"Country\",\"data\":{\"n\":0}}\n{\"type\":\"Country\",\"data\":{\"n\":1}}\n")
	for i := range countryCities {
		fmt.Fprintf(&lines, "{\"edge\":\"CityOf\",\"from\":\"%d\",\"to\":\"%d\"}\n", i, i%2)
	}
	for i := range countryPersons {
		fmt.Fprintf(&lines, "{\"type\":\"Person\",\"data\":{\"n\":%d}}\n{\"edge\":\"LivesIn\",\"from\":\"%d\",\"to\":\"%d\"}\n", i, i, c.city(i))
		for k := range countryPersons {
			hub := i < countryHubs || k < countryHubs
			if i != k && (hub && rng.IntN(3) > 0 || rng.IntN(40) == 0) {
				c.knows[i][k] = true
				fmt.Fprintf(&lines, "{\"edge\":\"Knows\",\"from\":\"%d\",\"to\":\"%d\"}\n", i, k)
			}
		}
	}
	g, err := embedded.OpenMemory(t.Context(), countrySchema, schema, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Load(t.Context(), strings.NewReader(lines.String()), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	compare := func(state string) {
		t.Helper()
		for hub := range countryHubs + 1 {
			for name, want := range c.counts(hub) {
				var args engine.Args
				if name == "of_hub" {
					args = engine.Args{value.OfI64(int64(hub))}
				} else if hub > 0 {
					continue
				}
				res, err := g.Query(t.Context(), plans[name], args, engine.Target{})
				if err != nil {
					t.Fatal(err)
				}
				if b, err := res.Next(t.Context()); err != nil || b.Columns[0].Ints[0] != want {
					t.Errorf("%s, %s: %+v, %v, want %d", state, name, b, err, want)
				}
				res.Close()
			}
		}
	}
	compare("after the load")
	e, err := g.Explain(t.Context(), plans["triangles"], nil, engine.Target{}, false)
	if err != nil || !strings.Contains(fmt.Sprint(e), "expand $a -[Knows]- $b") && !strings.Contains(fmt.Sprint(e), "multiply") {
		t.Errorf("the persons of a country are combined with each other: %v, %v", e, err)
	}
	for range 400 {
		a, b := rng.IntN(countryPersons), rng.IntN(countryPersons)
		if rng.IntN(2) == 0 {
			a = rng.IntN(countryHubs)
		}
		if a == b {
			continue
		}
		name := "meet"
		if c.knows[a][b] {
			name = "part"
		}
		c.knows[a][b] = !c.knows[a][b]
		if _, err := g.Mutate(t.Context(), plans[name], engine.Args{value.OfString(strconv.Itoa(a)), value.OfString(strconv.Itoa(b))}, engine.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	compare("after changes")
}
