package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/source/gocode"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

const (
	// wholeCode is the minimum size of a run that also reads the dependencies and the standard
	// library. A smaller run has no time for them.
	wholeCode = 0.5
	codeRuns  = 1_000 // maximum number of runs of each stored query
)

// realGraph indexes the code of this repository, loads it, runs the stored queries of queries/code,
// and prints their times. It has no peers. It complements the generated graph because its degrees,
// texts and names are real.
func (b *bench) realGraph(ctx context.Context) (err error) {
	if b.root == "" {
		fmt.Print("The code of this repository is not measured, because -root is not set.\n\n")
		return nil
	}
	dir := filepath.Join(b.dir, "code")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	index, err := b.child(ctx, child{task: "index", peer: omnigraph{}.name(), dir: dir})
	if err != nil {
		return err
	}
	load, err := b.child(ctx, child{task: "load-code", peer: omnigraph{}.name(), dir: dir})
	if err != nil {
		return err
	}
	size, err := diskBytes(graphDir(dir))
	if err != nil {
		return err
	}
	names, err := readNames(codeFile(dir))
	if err != nil {
		return err
	}
	what := "this module without its dependencies"
	if b.deps() {
		what = "this module, its dependencies and the standard library"
	}
	fmt.Printf("The code of %s: %d symbols, %d packages, %d calls; %d lines, %s.\n\n", what,
		names.lines["Symbol"], names.lines["Package"], names.lines["Calls"], names.all, megaOf(codeFile(dir)))
	t := &table{head: []string{"real graph", "time", "disk", "peak memory", "of it without mapped files"}}
	t.add("index", fmt.Sprintf("%.2f s", index.Seconds), "", mega(index.Memory.RSS), mega(index.Memory.Anon))
	t.add("load", fmt.Sprintf("%.2f s", load.Seconds), mega(size), mega(load.Memory.RSS), mega(load.Memory.Anon))
	t.print()

	g, err := embedded.Open(ctx, fs.OS(), graphDir(dir), embedded.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	return b.storedQueries(ctx, g, names)
}

// deps reports whether to read the dependencies.
func (b *bench) deps() bool { return b.scale >= wholeCode }

// codeFile returns the path of the NDJSON file with the indexed code.
func codeFile(dir string) string { return filepath.Join(dir, "code.ndjson") }

// indexCode is the task of a child process that writes the code below root as NDJSON.
func indexCode(ctx context.Context, root, dir string, deps bool) error {
	g, err := gocode.Read(ctx, gocode.Options{Dir: root, Deps: deps})
	if err != nil {
		return err
	}
	f, err := os.Create(codeFile(dir))
	if err != nil {
		return err
	}
	_, err = g.WriteNDJSON(f)
	return errors.Join(err, f.Close())
}

// loadCode is the task of a child process that loads the output of indexCode.
func loadCode(ctx context.Context, root, dir string) error {
	text, err := os.ReadFile(filepath.Join(root, "queries", "code", "schema.pg"))
	if err != nil {
		return err
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: string(text)})
	if err := faults.Err(); err != nil {
		return err
	}
	g, err := embedded.Create(ctx, fs.OS(), graphDir(dir), string(text), schema, embedded.Options{})
	if err != nil {
		return err
	}
	file, err := os.Open(codeFile(dir))
	if err != nil {
		return errors.Join(err, g.Close())
	}
	defer file.Close()
	_, err = g.Load(ctx, file, engine.LoadOptions{Mode: engine.Append})
	return errors.Join(err, g.Close())
}

// codeNames holds the values for drawn arguments, and the size of the indexed code.
type codeNames struct {
	of    map[string][]string // values by the name of the parameter
	lines map[string]int      // number of NDJSON lines by type
	all   int                 // number of all NDJSON lines
}

// readNames reads the keys of the indexed code. A symbol without callers would give an empty
// answer. So the values for the parameter `callee` are the ends of calls, those for `referred` the ends
// of references, and those for `interface` are interfaces that some type satisfies, and methods of these.
func readNames(file string) (*codeNames, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n := &codeNames{of: map[string][]string{}, lines: map[string]int{}}
	add := func(param, v string) { n.of[param] = append(n.of[param], v) }
	for r := bufio.NewReader(f); ; {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(bytes.TrimSpace(text)) == 0 {
			return n, nil
		} else if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		var line struct {
			Type, Edge, From, To string
			Data                 struct{ Path, Name, Words string }
		}
		if err := json.Unmarshal(text, &line); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		n.all++
		n.lines[line.Type+line.Edge]++
		switch line.Type + line.Edge {
		case "Symbol":
			add("symbol", line.Data.Path)
			add("name", line.Data.Name)
			words := strings.Fields(line.Data.Words)
			add("words", strings.Join(words[max(0, len(words)-2):], " "))
		case "Package":
			add("package", line.Data.Path)
		case "File":
			add("file", line.Data.Path)
		case "Calls":
			add("caller", line.From)
			add("callee", line.To)
		case "Refers":
			add("referred", line.To)
		case "Satisfies":
			add("type", line.From)
			add("interface", line.To)
		}
	}
}

// pathsOf maps a query to the kind of key that its parameter `path` expects.
var pathsOf = map[string]string{
	"callers": "callee", "users_of": "referred", "callees": "caller", "affected_by": "callee", "reaches": "caller",
	"tests_reaching": "callee", "implementations": "interface", "get_symbol": "symbol", "get_package": "package",
}

// args draws arguments for a query. A parameter with a default keeps it.
func (n *codeNames) args(q *plan.Query, rng *rand.Rand) (engine.Args, error) {
	var args engine.Args
	for _, p := range q.Params {
		if p.Optional() {
			args = append(args, value.Value{})
			continue
		}
		from := p.Name
		if from == "path" {
			from = pathsOf[q.Name]
		}
		values := n.of[from]
		if len(values) == 0 {
			return nil, fmt.Errorf("query %s: there are no values to draw for its parameter %s", q.Name, p.Name)
		}
		args = append(args, value.OfString(values[rng.IntN(len(values))]))
	}
	return args, nil
}

// storedQueries measures the stored reads and prints a row for each.
func (b *bench) storedQueries(ctx context.Context, g engine.Graph, names *codeNames) error {
	t := &table{head: []string{"stored query", "p50", "p99", "worst", "rows, median", "rows, most", "runs"}}
	var empty []string
	for _, q := range code.Catalog().Queries {
		p := q.Plan()
		if p.Read == nil {
			continue
		}
		times, rows, err := b.timeStored(ctx, g, p, names)
		if err != nil {
			return fmt.Errorf("query %s: %w", p.Name, err)
		}
		slices.Sort(rows)
		if rows[len(rows)-1] == 0 {
			empty = append(empty, p.Name)
			continue
		}
		t.add(p.Name, times.at(0.5), times.at(0.99), times.at(1), fmt.Sprint(rows[len(rows)/2]), fmt.Sprint(rows[len(rows)-1]), fmt.Sprint(len(rows)))
	}
	t.print()
	if len(empty) > 0 {
		fmt.Printf("Not in the table, because they returned no rows here: %s.\n\n", strings.Join(empty, ", "))
	}
	return nil
}

// timeStored runs one query repeatedly with drawn arguments and reads every value of every row.
func (b *bench) timeStored(ctx context.Context, g engine.Graph, p *plan.Query, names *codeNames) (*series, []int, error) {
	rng := rand.New(rand.NewPCG(b.seed, 7))
	times, rows := &series{}, []int(nil)
	for begin, n := time.Now(), -leastRuns; n < leastRuns || n < codeRuns && time.Since(begin) < b.budget/3; n++ {
		args, err := names.args(p, rng)
		if err != nil {
			return nil, nil, err
		}
		start := time.Now()
		got, err := readAll(ctx, g, p, args)
		if err != nil {
			return nil, nil, err
		}
		if n >= 0 { // the runs with negative n are a warm-up
			times.add(time.Since(start))
			rows = append(rows, got)
		}
	}
	return times, rows, nil
}

// readAll runs a query, reads every value of its result, and returns the number of rows.
func readAll(ctx context.Context, g engine.Graph, p *plan.Query, args engine.Args) (rows int, err error) {
	res, err := g.Query(ctx, p, args, engine.Target{})
	if err != nil {
		return 0, err
	}
	defer res.Close()
	for {
		batch, err := res.Next(ctx)
		if err != nil || batch == nil {
			return rows, err
		}
		rows += batch.Len
		for i := range batch.Columns {
			readColumn(&batch.Columns[i], batch.Len)
		}
	}
}
