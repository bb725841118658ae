package main

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/relational"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		n    int
		q    float64
		want int // expected rank, from 1
	}{
		{1, 0.5, 1}, {1, 0.99, 1}, {2, 0.5, 1}, {3, 0.5, 2}, {100, 0.5, 50}, {100, 0.99, 99}, {100, 1, 100},
		{200, 0.99, 198}, {1000, 0.99, 990},
	} {
		s := &series{}
		for _, i := range rand.New(rand.NewPCG(1, uint64(c.n))).Perm(c.n) {
			s.add(time.Duration(i + 1))
		}
		if got := s.quantile(c.q); got != time.Duration(c.want) {
			t.Errorf("quantile %v of 1 to %d is %d, want %d", c.q, c.n, got, c.want)
		}
	}
}

func TestRatio(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		figures []float64
		goal    float64
		want    string
	}{
		{[]float64{1, 10, 20}, 0.2, "0.1 (≤ 0.2, met)"},
		{[]float64{1, 20, 4}, 0.2, "0.25 (≤ 0.2, missed)"},
		{[]float64{1, nan, 10}, 0.2, "0.1 (≤ 0.2, met)"},
		{[]float64{nan, 1, 2}, 0.2, "– (≤ 0.2)"},
		{[]float64{1, nan, nan}, 0.2, "– (≤ 0.2)"},
		{[]float64{1}, 0.2, "– (≤ 0.2)"},
	} {
		if got := ratio(c.figures, c.goal); got != c.want {
			t.Errorf("%v: %s, want %s", c.figures, got, c.want)
		}
	}
}

// answer returns a statement that always returns the same rows.
func answer(rows ...[]any) statement {
	return func(_ context.Context, _ []any, keep *[][]any) (int, error) {
		if keep != nil {
			*keep = append(*keep, rows...)
		}
		return len(rows), nil
	}
}

func testBench(t *testing.T) *bench {
	t.Helper()
	g, err := social.New(0.005, 3)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{graph: g, peers: []peer{omnigraph{}, sqlite{}}}
}

func TestOtherAnswersFail(t *testing.T) {
	b, w := testBench(t), works[0]
	args := workArgs(w, b.graph, comparing)
	row := []any{"name", int64(30), "city", "bio"}
	for _, c := range []struct {
		name string
		two  []statement
		want string // part of the error; empty for no error
	}{
		{"the same", []statement{answer(row), answer(row)}, ""},
		{"one absent", []statement{answer(row), nil}, ""},
		{"another value", []statement{answer(row), answer([]any{"name", int64(31), "city", "bio"})}, "row 0"},
		{"another type", []statement{answer(row), answer([]any{"name", "30", "city", "bio"})}, "row 0"},
		{"a row less", []statement{answer(row), answer()}, "1 rows and 0"},
		{"nothing at all", []statement{answer(), answer()}, "its time would mean nothing"},
	} {
		err := b.agree(t.Context(), w, c.two, args)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: the error is %v, want one with %q", c.name, err, c.want)
		}
	}
}

func TestTopOf(t *testing.T) {
	scores := map[string]float64{"a": 3, "b": 2, "c": 2, "d": 1}
	rows := func(slugs string) (out [][]any) {
		for _, s := range strings.Split(slugs, "") {
			out = append(out, []any{s, 0.0})
		}
		return out
	}
	for slugs, good := range map[string]bool{
		"abcd": true, "acbd": true, // a tie
		"bacd": false, "abc": false, "abbd": false, "abcx": false,
	} {
		if err := topOf(scores, rows(slugs)); (err == nil) != good {
			t.Errorf("%s: %v", slugs, err)
		}
	}
}

// TestDatabasesAgree loads small graphs, with serial and with scattered keys, into the databases that are
// compiled in, and compares the answers to every work that they support.
func TestDatabasesAgree(t *testing.T) {
	for _, keys := range []social.Keys{social.Serial, social.Scattered} {
		t.Run(keys.String(), func(t *testing.T) { databasesAgree(t, keys) })
	}
}

func databasesAgree(t *testing.T, keys social.Keys) {
	b, ctx := testBench(t), t.Context()
	b.graph.Keys = keys
	b.dir = t.TempDir()
	b.file = b.dir + "/graph.ndjson"
	if err := b.writeFile(); err != nil {
		t.Fatal(err)
	}
	duck, err := newDuckDB()
	if err := b.join(duck, err, "DuckDB"); err != nil {
		t.Fatal(err)
	}
	var sessions []session
	for _, p := range b.peers {
		dir := t.TempDir()
		if err := p.load(ctx, dir, source{graph: b.graph, file: b.file}); err != nil {
			t.Fatalf("%s: %v", p.name(), err)
		}
		s, err := p.open(ctx, dir)
		if err != nil {
			t.Fatalf("%s: %v", p.name(), err)
		}
		defer func() {
			if err := s.close(); err != nil {
				t.Errorf("%s: %v", p.name(), err)
			}
		}()
		sessions = append(sessions, s)
	}
	for _, w := range works {
		statements := make([]statement, len(sessions))
		for i, s := range sessions {
			var why *absentError
			run, err := s.prepare(ctx, w)
			if asAbsent(err, &why) {
				t.Logf("%s, %s: %s", b.peers[i].name(), w.id, why.reason)
				continue
			} else if err != nil {
				t.Fatalf("%s, %s: %v", b.peers[i].name(), w.id, err)
			}
			statements[i] = run
		}
		if err := b.agree(ctx, w, statements, workArgs(w, b.graph, comparing)); err != nil {
			t.Error(err)
		}
	}
}

// TestReadsInCypher checks that each read with an SQL statement also has statements for Neo4j and for LadybugDB.
func TestReadsInCypher(t *testing.T) {
	for _, file := range []string{"neo4j/reads.cypher", "ladybug/reads.cypher"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name := range relational.Reads {
			if !strings.Contains(string(text), "\n//: "+name+"\n") {
				t.Errorf("%s has no read %s", file, name)
			}
		}
	}
}

// TestTablesOfLadybug compares the tables that the Python program makes with those whose rows it gets.
func TestTablesOfLadybug(t *testing.T) {
	text, err := os.ReadFile("ladybug/network.py")
	if err != nil {
		t.Fatal(err)
	}
	data, err := snb.Generate(0.005, 1)
	if err != nil {
		t.Fatal(err)
	}
	tables := ladybugTables(data)
	for _, m := range regexp.MustCompile(`(?m)^    "(\w+)": "(.*?)"?,?$`).FindAllStringSubmatch(string(text), -1) {
		fill := tables[m[1]]
		if fill == nil {
			t.Errorf("table %s gets no rows", m[1])
			continue
		}
		delete(tables, m[1])
		rows, empty := 0, 0
		fill(func(values ...any) {
			rows++
			for _, v := range values {
				if v == nil {
					empty++
				}
			}
		})
		if rows == 0 || empty > 0 {
			t.Errorf("table %s gets %d rows with %d nulls", m[1], rows, empty)
		}
	}
	for name := range tables {
		t.Errorf("the table %s is missing", name)
	}
}
