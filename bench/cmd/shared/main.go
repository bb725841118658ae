// Command shared measures graphs in storage that several servers share: in versitygw, an S3 server,
// behind a proxy that delays each request as a remote storage does, and in PostgreSQL.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) > 1 && os.Args[1] == readCommand {
		err = serveTurns(ctx, os.Args[2:], os.Stdin, os.Stdout, os.Stderr)
	} else {
		err = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "shared:", err)
		os.Exit(1)
	}
}

// options are the settings of a run.
type options struct {
	gateway  string        // path of versitygw
	dir      string        // folder for all files, which exists
	delays   delays        // of the proxy before versitygw
	storages []string      // kinds of storage
	tables   []string      // tables to measure, some of allTables
	writers  []int         // numbers of writers, each for a row
	rows     []int         // approximate numbers of entities of the graphs
	time     time.Duration // of each row of commits
	samples  int           // commits whose lag is measured
	runs     int           // timed opens of each kind
	warmup   time.Duration // before the comparison with the folder
	rounds   int           // of the comparison with the folder
	seed     uint64        // of the random choices
}

// allTables are the names of the tables.
var allTables = []string{"commits", "lag", "open", "warm"}

// measures reports whether a table is to be measured.
func (o *options) measures(table string) bool { return slices.Contains(o.tables, table) }

// fullRows is the number of rows of a social graph of size 1.
const fullRows = 1_620_000

// numbers parses a list of numbers above 0, separated by commas.
func numbers(name, text string) (all []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s %q: write numbers above 0, separated by commas", name, text)
		}
		all = append(all, n)
	}
	return all, nil
}

// parse returns the options of the given arguments.
func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("shared", flag.ContinueOnError)
	flags.SetOutput(stderr)
	storages := flags.String("storages", "s3,postgres", "kinds of storage: s3, postgres, folder")
	tables := flags.String("tables", strings.Join(allTables, ","), "tables to measure")
	writers := flags.String("writers", "1,16,256", "numbers of writers")
	rows := flags.String("rows", "1000000,10000000", "approximate numbers of entities of the graphs to open")
	flags.StringVar(&o.gateway, "gateway", "bin/versitygw", "the program versitygw")
	flags.StringVar(&o.dir, "dir", "", "folder for temporary files; the default is the system's folder")
	flags.DurationVar(&o.delays.read, "get", 60*time.Millisecond, "delay of each GET and HEAD")
	flags.DurationVar(&o.delays.write, "put", 100*time.Millisecond, "delay of each other request")
	flags.DurationVar(&o.time, "time", 20*time.Second, "time for each number of writers")
	flags.IntVar(&o.samples, "samples", 100, "commits whose lag is measured")
	flags.IntVar(&o.runs, "runs", 5, "timed opens of each kind")
	flags.DurationVar(&o.warmup, "warmup", 10*time.Second, "time of the reads before the comparison with the folder")
	flags.IntVar(&o.rounds, "rounds", 20, "rounds of the comparison with the folder")
	flags.Uint64Var(&o.seed, "seed", 42, "seed of the graphs")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; the command takes only flags", flags.Arg(0))
	}
	if o.time <= 0 || o.samples < 1 || o.runs < 1 || o.rounds < 1 || o.warmup < 0 || o.delays.read < 0 || o.delays.write < 0 {
		return o, errors.New("-time, -samples, -runs and -rounds must be above 0, and -warmup, -get and -put not below 0")
	}
	o.storages, o.tables = strings.Split(*storages, ","), strings.Split(*tables, ",")
	for _, table := range o.tables {
		if !slices.Contains(allTables, table) {
			return o, fmt.Errorf("-tables has %q; write some of %s, separated by commas", table, strings.Join(allTables, ", "))
		}
	}
	if o.writers, err = numbers("-writers", *writers); err != nil {
		return o, err
	}
	o.rows, err = numbers("-rows", *rows)
	return o, err
}

// run runs the command with the given arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	c, err := compile()
	if err != nil {
		return err
	}
	if o.dir, err = os.MkdirTemp(o.dir, "bench-shared-"); err != nil {
		return err
	}
	defer os.RemoveAll(o.dir)
	if err := os.Chmod(o.dir, 0o755); err != nil { // the user postgres passes through it
		return err
	}
	for _, kind := range o.storages {
		if err := measureStorage(ctx, o, c, kind, stdout); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// measureStorage prints the tables of one kind of storage.
func measureStorage(ctx context.Context, o options, c *compiled, kind string, out io.Writer) error {
	s, err := startStorage(ctx, kind, filepath.Join(o.dir, kind), o)
	if err != nil {
		return err
	}
	defer s.stop()
	o.dir = filepath.Join(o.dir, kind+"-local")
	if err := os.Mkdir(o.dir, 0o755); err != nil {
		return err
	}
	fmt.Fprintf(out, "## %s\n\nLoad averages at the start: %s.\n", s.label, measure.LoadAverages())
	for _, table := range []struct {
		name  string
		print func(context.Context, options, *storage, *compiled, io.Writer) error
	}{{"commits", printCommits}, {"lag", printLag}, {"open", printOpens}, {"warm", compareWarm}} {
		if !o.measures(table.name) {
			continue
		}
		fmt.Fprintln(out)
		if err := table.print(ctx, o, s, c, out); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nLoad averages at the end: %s.\n\n", measure.LoadAverages())
	return nil
}

// printCommits prints the table of the commits of some writers.
func printCommits(ctx context.Context, o options, s *storage, c *compiled, out io.Writer) error {
	fmt.Fprintln(out, "| writers | commits | commits a second | p50 | p99 | worst |\n| --- | --- | --- | --- | --- | --- |")
	for _, n := range o.writers {
		m, err := measureCommits(ctx, o, s, c, n)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %d | %d | %.1f | %s |\n", n, len(m.times), float64(len(m.times))/m.elapsed.Seconds(), quantiles(m.times, 0.5, 0.99, 1))
	}
	return nil
}

// printLag prints the table of the lag of a reader.
func printLag(ctx context.Context, o options, s *storage, c *compiled, out io.Writer) error {
	l, err := measureLag(ctx, o, s, c)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "| read on another server after a commit | p50 | p99 | worst |\n| --- | --- | --- | --- |")
	fmt.Fprintf(out, "| the server polls the log | %s |\n| the read asks for the latest commit | %s |\n", quantiles(l.seen, 0.5, 0.99, 1), quantiles(l.latest, 0.5, 0.99, 1))
	return nil
}

// printOpens prints the table of the opens with an empty cache.
func printOpens(ctx context.Context, o options, s *storage, c *compiled, out io.Writer) error {
	fmt.Fprintln(out, "| entities | load, without delays | read | open and first answer, p50 | worst | requests | bytes read |\n| --- | --- | --- | --- | --- | --- | --- |")
	for _, n := range o.rows {
		rows, err := graphOf(o, n)
		if err != nil {
			return err
		}
		begin := clock.Now()
		if err := loadShared(ctx, o, s, c, graphID(rows), rows); err != nil {
			return err
		}
		took := clock.Since(begin)
		for _, r := range []read{lookup, search} {
			m, err := measureOpen(ctx, o, s, c, graphID(rows), rows, r)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "| %d | %.1f s | %s | %s | %d | %.1f MB |\n", rows.Rows(), took.Seconds(), r.what, quantiles(m.times, 0.5, 1), m.requests, float64(m.bytes)/1e6)
		}
	}
	return nil
}

// graphOf returns a social graph of about n entities.
func graphOf(o options, n int) (*social.Graph, error) {
	rows, err := social.New(float64(n)/fullRows, o.seed)
	if err != nil {
		return nil, fmt.Errorf("-rows: %w", err)
	}
	return rows, nil
}

// compareWarm prints the table of the reads from a warm cache, of a graph with the first of the sizes.
func compareWarm(ctx context.Context, o options, s *storage, c *compiled, out io.Writer) error {
	rows, err := graphOf(o, o.rows[0])
	if err != nil {
		return err
	}
	if !o.measures("open") { // which loads the graph too
		if err := loadShared(ctx, o, s, c, graphID(rows), rows); err != nil {
			return err
		}
	}
	dir, err := loadFolder(ctx, o, c, graphID(rows), rows)
	if err != nil {
		return err
	}
	results, err := measureWarm(ctx, o, s, dir, graphID(rows))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d entities, %d rounds of %d reads.\n\n", rows.Rows(), o.rounds, readsPerRound)
	fmt.Fprintln(out, "| warm read | folder, median | shared, median | median ratio of the rounds | least | greatest |\n| --- | --- | --- | --- | --- | --- |")
	for i, w := range results {
		median, least, greatest := w.ratio()
		fmt.Fprintf(out, "| %s | %s | %s | %.3f | %.3f | %.3f |\n", warmReads[i].what, quantiles(w.folder, 0.5), quantiles(w.shared, 0.5), median, least, greatest)
	}
	return nil
}

// graphID returns the id of a graph in the storage.
func graphID(rows *social.Graph) string { return fmt.Sprint("social-", rows.Rows()) }

// quantiles returns quantiles of some times as cells of a table.
func quantiles(times []time.Duration, qs ...float64) string {
	times = slices.Sorted(slices.Values(times))
	var cells []string
	for _, q := range qs {
		d := measure.Quantile(times, q)
		switch {
		case d < time.Millisecond:
			cells = append(cells, fmt.Sprintf("%.1f µs", float64(d)/1e3))
		case d < 10*time.Second:
			cells = append(cells, fmt.Sprintf("%.1f ms", float64(d)/1e6))
		default:
			cells = append(cells, fmt.Sprintf("%.1f s", d.Seconds()))
		}
	}
	return strings.Join(cells, " | ")
}
