package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
	expected "github.com/omnigraph-go/omnigraph/internal/bench/snb/plain"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/stored"
)

// network is a run of the Social Network Benchmark and of the Labelled Subgraph Query Benchmark.
type network struct {
	scale  float64       // 1 means 10,000 persons
	seed   uint64        // of the network and of the arguments
	dir    string        // folder for temporary files
	budget time.Duration // time for each database and each read

	server  string // the command snb, which serves a graph; "" leaves the server out
	root    string // folder of this repository, with the program for LadybugDB
	python  string // the Python that has LadybugDB; "" leaves it out
	classes string // folder with the classes of the program for Neo4j; "" leaves Neo4j out
}

// networkDatabase is a database that has the network.
type networkDatabase struct {
	// prepare returns the statement of a read. The statement takes the arguments in the form that
	// convert returns.
	prepare func(ctx context.Context, read string) (statement, error)
	convert func(read string, args []any) []any // for the statement
	// countsOnly is true if only the number of rows of an answer can be compared.
	countsOnly bool
	took       func() time.Duration // the time of the last run, if the database measures it; else nil
	close      func() error         // ends the database
}

// networkRead is a read or a count, with its arguments and the expected rows of the first ones.
type networkRead struct {
	name, label string
	goal        float64      // maximum ratio of this engine's p50 to that of each other database
	args        [][]any      // sets of arguments
	want        [][][]string // rows of the first sets, as texts
}

const (
	networkGraph   = "snb" // id of the graph, and name of its folder
	networkDraws   = 100   // sets of arguments of a read
	networkCompare = 20    // so many answers are compared before the read is measured
	networkRuns    = 2000  // runs of a read end at this number, or when the time is over
)

// run measures all databases, one at a time, and prints the table.
func (n *network) run(ctx context.Context) error {
	data, err := snb.Generate(n.scale, n.seed)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s, %d processors, load averages at the start %s.\n%s; seed %d.\n\n", time.Now().UTC().Format("2006-01-02 15:04 MST"),
		runtime.Version(), runtime.NumCPU(), measure.LoadAverages(), data, n.seed)
	reads := n.readings(data)
	figures := map[string][]time.Duration{} // by the name of the database
	for _, d := range []networkPeer{
		{inProcess, n.openEngine}, {"DuckDB", n.openDuckDB}, {"LadybugDB", n.openLadybug}, {asServer, n.openServer}, {"PostgreSQL", n.openPostgres},
		{"Neo4j", n.openNeo4j},
	} {
		if figures[d.name], err = n.measureAll(ctx, d, reads); err != nil {
			err = fmt.Errorf("%s: %w", d.name, err)
			break // the table still has the figures of the databases before
		}
	}
	fmt.Println()
	networkTable(reads, figures)
	fmt.Printf("Load averages at the end: %s.\n", measure.LoadAverages())
	return err
}

// networkPeer is a database that a run can open.
type networkPeer struct {
	name string
	open func(context.Context, *snb.Network) (*networkDatabase, error) // loads the network
}

// measureAll opens a database and returns the median time of each read, or nil if the database is
// absent.
func (n *network) measureAll(ctx context.Context, p networkPeer, reads []*networkRead) (figures []time.Duration, err error) {
	// Each database gets a network of its own, so that the collector need not scan one while the reads
	// are measured.
	data, err := snb.Generate(n.scale, n.seed)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	d, err := p.open(ctx, data)
	var why *absentError
	if asAbsent(err, &why) {
		fmt.Printf("%s is left out: %s\n", p.name, why.reason)
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	fmt.Printf("%s: ready in %.1f s; load average %s.\n", p.name, time.Since(start).Seconds(), measure.LoadAverages())
	runtime.GC()
	for _, r := range reads {
		p50, err := n.measure(ctx, d, r)
		if asAbsent(err, &why) {
			fmt.Printf("%s has no figure for %s: %s\n", p.name, r.name, why.reason)
			p50, err = absentTime, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		figures = append(figures, p50)
	}
	return figures, nil
}

// absentTime is the time of a read that a database cannot answer.
const absentTime = time.Duration(-1)

// The engine takes part twice: called in this process, and as a server that this process calls.
const (
	inProcess = "omnigraph"
	asServer  = "omnigraph server"
)

// networkTable prints the medians. The engine in this process is compared with the faster of DuckDB and LadybugDB, and the
// server with PostgreSQL and with Neo4j.
func networkTable(reads []*networkRead, figures map[string][]time.Duration) {
	t := &table{head: []string{"read"}}
	rows := make([][]string, len(reads))
	for i, r := range reads {
		rows[i] = []string{r.name + " " + r.label}
	}
	column := func(name string) {
		t.head = append(t.head, name+" p50")
		for i := range reads {
			rows[i] = append(rows[i], cellAt(figures[name], i))
		}
	}
	compare := func(ours string, theirs ...string) {
		for _, name := range theirs {
			column(name)
		}
		t.head = append(t.head, "ratio (goal)")
		for i, r := range reads {
			times := []float64{secondsAt(figures[ours], i)}
			for _, name := range theirs {
				times = append(times, secondsAt(figures[name], i))
			}
			rows[i] = append(rows[i], ratio(times, r.goal))
		}
	}
	column(inProcess)
	compare(inProcess, "DuckDB", "LadybugDB")
	column(asServer)
	compare(asServer, "PostgreSQL")
	compare(asServer, "Neo4j")
	for _, row := range rows {
		t.add(row...)
	}
	t.print()
}

// secondsAt returns time i in seconds, or NaN if there is none.
func secondsAt(times []time.Duration, i int) float64 {
	if times == nil || times[i] == absentTime {
		return math.NaN()
	}
	return times[i].Seconds()
}

// cellAt returns the cell for time i, or a dash if there is none.
func cellAt(times []time.Duration, i int) string {
	if times == nil || times[i] == absentTime {
		return "–"
	}
	return brief(times[i])
}

// readings draws the arguments of all reads and computes the expected rows.
func (n *network) readings(data *snb.Network) []*networkRead {
	x := expected.NewIndex(data)
	var out []*networkRead
	for _, r := range expected.Reads {
		read := &networkRead{name: r.Name, label: r.Label, goal: 0.3, args: r.Draw(x, n.seed, networkDraws)}
		if strings.HasPrefix(r.Name, "is") {
			read.goal = 1
		}
		for _, args := range read.args[:networkCompare] {
			read.want = append(read.want, cellTexts(r.Answer(x, args)))
		}
		out = append(out, read)
	}
	for _, c := range expected.Counts {
		out = append(out, &networkRead{name: c.Name, label: c.Label, goal: 1, args: [][]any{nil}, want: [][][]string{{{fmt.Sprint(c.Count(x))}}}})
	}
	return out
}

// measure compares answers of a database with the expected ones, and returns the median time of a run.
func (n *network) measure(ctx context.Context, d *networkDatabase, r *networkRead) (time.Duration, error) {
	run, err := d.prepare(ctx, r.name)
	if err != nil {
		return 0, err
	}
	args := make([][]any, len(r.args))
	for i, a := range r.args {
		args[i] = d.convert(r.name, a)
	}
	for i, want := range r.want {
		var rows [][]any
		if _, err := run(ctx, args[i], &rows); err != nil {
			return 0, err
		}
		if d.countsOnly {
			if len(rows) != len(want) {
				return 0, fmt.Errorf("with %v it answers %d rows, expected %d", r.args[i], len(rows), len(want))
			}
			continue
		}
		got := cellTexts(rows)
		for k := range got {
			if k < len(want) {
				got[k] = got[k][:min(len(got[k]), len(want[k]))] // a stored query may return more columns
			}
		}
		if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
			return 0, fmt.Errorf("with %v it answers %v, expected %v", r.args[i], got, want)
		}
	}
	var times series
	for start := time.Now(); len(times.times) < 5 || len(times.times) < networkRuns && time.Since(start) < n.budget; {
		began := time.Now()
		if _, err := run(ctx, args[len(times.times)%len(args)], nil); err != nil {
			return 0, err
		}
		if d.took != nil {
			times.add(d.took())
		} else {
			times.add(time.Since(began))
		}
	}
	return times.quantile(0.5), nil
}

// cellTexts returns rows in the form in which they are compared.
func cellTexts(rows [][]any) [][]string {
	out := make([][]string, len(rows))
	for i, r := range rows {
		for _, v := range r {
			out[i] = append(out[i], expected.Text(v))
		}
	}
	return out
}

// sqlArgs returns arguments for an SQL statement.
func sqlArgs(_ string, args []any) []any {
	out := slices.Clone(args)
	for i, a := range out {
		if m, ok := a.(snb.Millis); ok {
			out[i] = int64(m)
		}
	}
	return out
}

// openEngine loads the network into this engine.
func (n *network) openEngine(ctx context.Context, data *snb.Network) (*networkDatabase, error) {
	schema, plans, err := stored.Compile()
	if err != nil {
		return nil, err
	}
	g, err := stored.Create(ctx, filepath.Join(n.dir, networkGraph), schema, data)
	if err != nil {
		return nil, err
	}
	return &networkDatabase{
		prepare: func(_ context.Context, read string) (statement, error) {
			q := plans[read]
			return func(ctx context.Context, args []any, keep *[][]any) (int, error) {
				given := args[0].(engine.Args)
				if keep == nil {
					return stored.Read(ctx, g, q, given)
				}
				rows, err := stored.Rows(ctx, g, q, given)
				for _, r := range rows {
					values := make([]any, len(r))
					for i, cell := range r {
						values[i] = cell
					}
					*keep = append(*keep, values)
				}
				return len(rows), err
			}, nil
		},
		convert: func(read string, args []any) []any { return []any{stored.Args(plans[read], args)} },
		close:   g.Close,
	}, nil
}

// folder makes a folder for the files of a database.
func (n *network) folder(name string) (string, error) {
	dir := filepath.Join(n.dir, name)
	return dir, os.Mkdir(dir, 0o755)
}
