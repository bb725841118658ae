package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

var flipOptions = Options{Now: testClock, LogSize: 8192, InlineBytes: 700, quiet: true, indexed: 1, vectorLimits: smallVectors}

// lived makes a graph with everything that a head may refer to: rows in segments and in the
// log, indexes with several levels, a text index, a sorted index, an approximate index of vectors,
// branches, a merge and receipts.
func lived(t testing.TB, mem *fs.Mem, persons int) {
	t.Helper()
	defer func(full int) { index.FullLevel = full }(index.FullLevel)
	index.FullLevel = 1 // so that the first level stays
	ctx := context.Background()
	g, err := Create(ctx, mem, dir, "// people", placed(), flipOptions)
	must(t, err)
	must(t, loadText(g, engine.Merge, manyPeople(0, persons)))
	must(t, loadText(g, engine.Merge, placedPeople(0, min(persons, 40), "")))
	must(t, loadText(g, engine.Merge, `{"type":"Note","data":{"id":"n1","text":"hello world"}}`+"\n"+`{"type":"Note","data":{"id":"n2","text":"hello again"}}`+"\n"+
		`{"edge":"About","from":"n1","to":"p000001","data":{"id":"a1"}}`))
	_, err = search(g, "hello")
	must(t, err)
	_, err = firstByName(g) // builds the sorted index
	must(t, err)
	must(t, building.do(g))
	must(t, g.checkpoints.make(ctx))
	_, err = g.CreateBranch(ctx, "side", engine.Target{})
	must(t, err)
	_, err = g.Mutate(ctx, insertPerson, engine.Args{str("zoe"), num(1)}, engine.WriteOptions{Branch: "side", IdempotencyKey: "k", Actor: "ann"})
	must(t, err)
	_, err = g.Mutate(ctx, birthday, engine.Args{num(77), num(21)}, engine.WriteOptions{})
	must(t, err)
	_, err = g.Merge(ctx, "side", "main", engine.MergeOptions{})
	must(t, err)
	for _, name := range []string{"newcomer1", "newcomer2", "newcomer3"} {
		_, err = g.Mutate(ctx, addTwo, engine.Args{str(name), str("p000001"), str("k " + name)}, engine.WriteOptions{})
		must(t, err)
	}
	_, err = firstByName(g) // adds a level to the sorted index
	must(t, err)
	must(t, g.checkpoints.make(ctx))
	head := g.branches.main.head.Load().snap
	for _, table := range []*version.Table{head.Nodes(0), head.Edges(0)} {
		if n := table.Levels(); n < 2 {
			t.Fatalf("the indexes of %s have %d levels, expected 2 or more", table.Type.Name, n)
		}
	}
	if n := nodesOfPlaces(g, engine.MainBranch); n < 3 {
		t.Fatalf("the approximate index has %d nodes", n)
	}
	_, err = g.Mutate(ctx, deletePerson, engine.Args{str("p000002")}, engine.WriteOptions{})
	must(t, err)
	_, err = g.Mutate(ctx, insertPerson, engine.Args{str("last"), num(1)}, engine.WriteOptions{Branch: "side"})
	must(t, err)
	must(t, g.Close())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// search returns the notes that contain a word.
func search(g *Graph, word string) (string, error) {
	text := plan.Prop{Var: 0, Name: "text", Type: value.Of(value.String).Optional()}
	return answer(g, &plan.Query{Read: &plan.Read{
		Vars:    []plan.Var{{Name: "n", Type: "Note"}},
		Match:   []plan.Clause{plan.Bind{Var: 0}, plan.Filter{Cond: plan.TextMatch{Prop: text, Query: plan.Lit{Value: str(word)}}}},
		Columns: []plan.Column{{Name: "text", Expr: text, Type: text.Type}}, Ties: []plan.VarID{0}, Limit: plan.NoLimit,
	}}, nil, "")
}

// firstByName returns the first persons in the order of names. It uses the sorted index of the
// names.
func firstByName(g *Graph) (string, error) {
	name := plan.Prop{Var: 0, Name: "name", Type: value.Of(value.String)}
	return answer(g, &plan.Query{Read: &plan.Read{
		Vars: []plan.Var{{Name: "p", Type: "Person"}}, Match: []plan.Clause{plan.Bind{Var: 0}},
		Columns: []plan.Column{{Name: "name", Expr: name, Type: name.Type}}, Order: []plan.Order{{Expr: name}}, Ties: []plan.VarID{0}, Limit: 3,
	}}, nil, "")
}

// answer runs a query and returns its rows as text.
func answer(g *Graph, q *plan.Query, args engine.Args, branch string) (string, error) {
	ctx := context.Background()
	res, err := g.Query(ctx, q, args, engine.Target{Branch: branch})
	if err != nil {
		return "", err
	}
	defer res.Close()
	var out strings.Builder
	for {
		b, err := res.Next(ctx)
		if err != nil || b == nil {
			return out.String(), err
		}
		for i := range b.Len {
			for k := range b.Columns {
				if v := b.Columns[k].Value(i); v.IsNull() {
					out.WriteString("null ")
				} else {
					out.WriteString(value.Text(v) + " ")
				}
			}
			out.WriteString("\n")
		}
	}
}

// probes returns calls that together read all parts of the graph. Each returns its answer as
// text.
func probes(persons int) []func(g *Graph) (string, error) {
	ctx := context.Background()
	all := []func(g *Graph) (string, error){
		func(g *Graph) (string, error) { return search(g, "hello") },
		func(g *Graph) (string, error) { return search(g, "again") },
		firstByName,
		func(g *Graph) (string, error) {
			return answer(g, nearestPersons(true), engine.Args{value.OfVector(vectorFor("x"))}, "")
		},
		func(g *Graph) (string, error) {
			table, place := placedTable(g, engine.MainBranch)
			return "", walkAll(table, place)
		},
		func(g *Graph) (s string, err error) {
			defer corruption.Catch(corruption.Watch(), &err)
			return dumpGraph(g)
		},
		func(g *Graph) (string, error) {
			_, err := g.Load(ctx, strings.NewReader(`{"type":"Note","data":{"id":"n3","text":"hello world"}}`), engine.LoadOptions{WriteOptions: engine.WriteOptions{DryRun: true}})
			var lines *engine.LoadErrors
			if errors.As(err, &lines) {
				return lines.Error(), nil
			}
			return "", err
		},
		func(g *Graph) (string, error) {
			c, err := g.Mutate(ctx, deletePerson, engine.Args{str("p000001")}, engine.WriteOptions{DryRun: true})
			return fmt.Sprint(c.Nodes, c.Edges), err
		},
	}
	for _, branch := range []string{"main", "side"} {
		all = append(all, func(g *Graph) (string, error) {
			var b strings.Builder
			c, err := g.Export(ctx, &b, engine.Target{Branch: branch}, engine.ExportOptions{})
			return b.String() + c.ID, err
		}, func(g *Graph) (string, error) {
			cs, err := g.Commits(ctx, branch, engine.CommitRange{})
			return fmt.Sprint(cs), err
		})
		for _, i := range []int{0, 1, persons - 1} {
			args := engine.Args{str(fmt.Sprintf("p%06d", i))}
			all = append(all, func(g *Graph) (string, error) { return answer(g, personByName, args, branch) },
				func(g *Graph) (string, error) { return answer(g, walkFrom(2), args, branch) })
		}
	}
	return all
}

// askAll calls the probes, and returns their answers and errors.
func askAll(g *Graph, probes []func(g *Graph) (string, error)) (answers []string, errs []error) {
	for _, p := range probes {
		s, err := p(g)
		answers, errs = append(answers, s), append(errs, err)
	}
	return answers, errs
}

// TestFlippedByte flips a bit of every fifth byte of a small graph, or of every byte with
// -embedded.long, and of some bytes of each block of a larger one. It opens the graph again and
// runs all probes. Each answer must be the original one or a *engine.Corrupt that contains the name
// of the file, and Verify must find the corruption. This applies to the last record too, because the
// graph was closed. The rest of a log file is not tested, because it has no content.
func TestFlippedByte(t *testing.T) {
	slow.Test(t)
	for _, c := range []struct {
		name          string
		persons, step int
	}{{"every byte", 4, 1}, {"a larger graph", 600, 997}} {
		t.Run(c.name, func(t *testing.T) {
			mem := fs.NewMem()
			lived(t, mem, c.persons)
			step := c.step
			switch {
			case raced:
				step *= 17
			case step == 1 && !*longForms:
				step = 5
			}
			flips := 0
			names, err := mem.List(dir)
			must(t, err)
			probes := probes(c.persons)
			want := undamaged(t, mem, probes)
			for _, name := range names {
				name := filepath.Join(dir, name)
				data, err := fs.ReadFile(mem, name)
				must(t, err)
				if len(data) == 0 {
					continue
				}
				for off := rand.IntN(min(step, len(data))); off < len(data); off += step {
					if strings.HasSuffix(name, ".free") {
						break // a prepared log file without content
					}
					flips++
					flipped(t, mem.Crash(0), name, off, probes, want)
					if t.Failed() {
						return
					}
				}
			}
			t.Logf("%d bytes flipped, each %dth of a file", flips, step)
		})
	}
}

func undamaged(t *testing.T, mem *fs.Mem, probes []func(g *Graph) (string, error)) []string {
	t.Helper()
	g, err := Open(context.Background(), mem.Crash(0), dir, flipOptions)
	must(t, err)
	defer g.Close()
	answers, errs := askAll(g, probes)
	must(t, errors.Join(errs...))
	must(t, g.Verify(context.Background()))
	return answers
}

func flipped(t *testing.T, bad *fs.Mem, name string, off int, probes []func(g *Graph) (string, error), want []string) {
	t.Helper()
	ctx := context.Background()
	f, err := bad.OpenWrite(name)
	must(t, err)
	var b [1]byte
	_, err = f.ReadAt(b[:], int64(off))
	must(t, err)
	b[0] ^= 1 << (off % 8)
	_, err = f.WriteAt(b[:], int64(off))
	must(t, err)
	must(t, f.Close())

	named := func(err error) bool { return isCorrupt(err, filepath.Base(name)) }
	g, err := Open(ctx, bad, dir, flipOptions)
	if err != nil {
		if !named(err) {
			t.Errorf("%s, offset %d: open: %v, expected a *engine.Corrupt that names it", name, off, err)
		}
		return
	}
	defer g.Close()
	answers, errs := askAll(g, probes)
	for i := range probes {
		switch {
		case errs[i] != nil && !named(errs[i]):
			t.Errorf("%s, offset %d: probe %d: %v, expected a *engine.Corrupt that names it", name, off, i, errs[i])
		case errs[i] == nil && answers[i] != want[i]:
			t.Errorf("%s, offset %d: probe %d is answered\n%s\nwanted\n%s", name, off, i, answers[i], want[i])
		}
	}
	if strings.HasSuffix(name, ".log") {
		// The graph opens, so the byte is after the last record.
		must(t, g.Verify(ctx))
		return
	}
	if err := g.Verify(ctx); !named(err) {
		t.Errorf("%s, offset %d: verify: %v, expected a *engine.Corrupt that names it", name, off, err)
	}
}

// isCorrupt reports whether an error is a *engine.Corrupt whose field Object contains `name`.
func isCorrupt(err error, name string) bool {
	var c *engine.Corrupt
	return errors.As(err, &c) && strings.Contains(c.Object, name)
}
