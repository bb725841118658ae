package snb_test

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/plain"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/relational"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/stored"
)

var (
	scale        = flag.Float64("snb.scale", 0.02, "scale of the network whose answers are compared")
	withPostgres = flag.Bool("snb.postgres", false, "compare with a PostgreSQL server that the test starts, too")
)

const (
	draws    = 100 // sets of arguments of each read
	withRows = 80  // so many of them have rows at least
	seed     = 42
)

// TestAnswers loads most of a network, adds the rest with the stored updates, and compares the answers of
// all stored reads and counts with those of plain Go. With -snb.postgres it also compares them with those
// of PostgreSQL, which loads the same part and runs the same updates.
func TestAnswers(t *testing.T) {
	n := generate(t, *scale, seed)
	t.Log(n)
	base, updates := n.Split(n.Until(0.8))
	schema, plans, err := stored.Compile()
	if err != nil {
		t.Fatal(err)
	}
	g, err := stored.Create(t.Context(), filepath.Join(t.TempDir(), "graph"), schema, base)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	update(t, g, plans, updates)
	x := plain.NewIndex(n)
	var database *pgx.Conn
	if *withPostgres {
		database = fillPostgres(t, base)
		updatePostgres(t, database, updates)
		compareTables(t, database, n)
	}
	for _, r := range plain.Reads {
		t.Run(r.Name, func(t *testing.T) {
			found := 0
			for _, args := range r.Draw(x, seed, draws) {
				want := texts(r.Answer(x, args))
				if len(want) > 0 {
					found++
				}
				got, err := stored.Rows(t.Context(), g, plans[r.Name], stored.Args(plans[r.Name], args))
				if err != nil {
					t.Fatal(err)
				}
				compare(t, "the stored query", args, got, want)
				if database != nil {
					compare(t, "PostgreSQL", args, sqlRows(t, database, r.Name, args), want)
				}
			}
			if found < withRows {
				t.Errorf("%d of %d sets of arguments have rows, expected at least %d", found, draws, withRows)
			}
		})
	}
	for _, c := range plain.Counts {
		t.Run(c.Name, func(t *testing.T) {
			want := [][]string{{fmt.Sprint(c.Count(x))}}
			if want[0][0] == "0" {
				t.Error("the count is 0, so the comparison means little")
			}
			got, err := stored.Rows(t.Context(), g, plans[c.Name], nil)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, "the stored query", nil, got, want)
			if database != nil {
				compare(t, "PostgreSQL", nil, sqlRows(t, database, c.Name, nil), want)
			}
		})
	}
}

// TestStatements checks that the stored queries and the SQL statements are those of the reads, the counts
// and the updates.
func TestStatements(t *testing.T) {
	var reads, all []string
	for _, r := range plain.Reads {
		reads = append(reads, r.Name)
	}
	for _, c := range plain.Counts {
		reads = append(reads, c.Name)
	}
	all = append(all, reads...)
	for i := range 8 {
		all = append(all, fmt.Sprintf("iu%d", i+1))
	}
	_, plans, err := stored.Compile()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(reads)
	slices.Sort(all)
	if got := slices.Sorted(maps.Keys(relational.Reads)); !slices.Equal(got, reads) {
		t.Errorf("there is SQL for %v, expected %v", got, reads)
	}
	for name := range relational.Updates {
		if !strings.HasPrefix(name, "iu") || plans[name] == nil {
			t.Errorf("there is SQL for the update %s, which is no stored query", name)
		}
	}
	if got := len(relational.Updates); got != 8 {
		t.Errorf("there is SQL for %d updates, expected 8", got)
	}
	if got := slices.Sorted(maps.Keys(plans)); !slices.Equal(got, all) {
		t.Errorf("the stored queries are %v, expected %v", got, all)
	}
}

// update runs updates.
func update(t *testing.T, g engine.Graph, plans map[string]*plan.Query, updates []snb.Update) {
	t.Helper()
	count := map[string]int{}
	for _, u := range updates {
		q := plans[u.Query]
		if _, err := g.Mutate(t.Context(), q, stored.Args(q, u.Args), engine.WriteOptions{}); err != nil {
			t.Fatalf("%s%v: %v", u.Query, u.Args, err)
		}
		count[u.Query]++
	}
	for i := range 8 {
		if name := fmt.Sprintf("iu%d", i+1); count[name] == 0 {
			t.Errorf("no update is %s", name)
		}
	}
	t.Logf("updates: %v", count)
}

// texts returns rows in the form in which they are compared.
func texts(rows [][]any) [][]string {
	var out [][]string
	for _, r := range rows {
		row := make([]string, len(r))
		for i, v := range r {
			row[i] = plain.Text(v)
		}
		out = append(out, row)
	}
	return out
}

// compare compares an answer with the expected one. The rows may have further columns.
func compare(t *testing.T, who string, args []any, got, want [][]string) {
	t.Helper()
	for i, row := range got {
		if i < len(want) && len(row) > len(want[i]) {
			got[i] = row[:len(want[i])]
		}
	}
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Fatalf("with %v, %s answers\n%s\nexpected\n%s", args, who, table(got), table(want))
	}
}

// table prints rows.
func table(rows [][]string) string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = strings.Join(r, ", ")
	}
	return strings.Join(lines, "\n")
}
