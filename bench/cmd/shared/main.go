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
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
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
	writers  []int         // numbers of writers, each for a row
	rows     []int         // approximate numbers of entities of the graphs
	time     time.Duration // of each row of commits
	samples  int           // commits whose lag is measured
	runs     int           // timed opens of each kind
	rounds   int           // of the comparison with the folder
	seed     uint64        // of the random choices
}

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
	writers := flags.String("writers", "1,16,256", "numbers of writers")
	rows := flags.String("rows", "1000000,10000000", "approximate numbers of entities of the graphs to open")
	flags.StringVar(&o.gateway, "gateway", "bin/versitygw", "the program versitygw")
	flags.StringVar(&o.dir, "dir", "", "folder for temporary files; the default is the system's folder")
	flags.DurationVar(&o.delays.read, "get", 60*time.Millisecond, "delay of each GET and HEAD")
	flags.DurationVar(&o.delays.write, "put", 100*time.Millisecond, "delay of each other request")
	flags.DurationVar(&o.time, "time", 20*time.Second, "time for each number of writers")
	flags.IntVar(&o.samples, "samples", 100, "commits whose lag is measured")
	flags.IntVar(&o.runs, "runs", 5, "timed opens of each kind")
	flags.IntVar(&o.rounds, "rounds", 20, "rounds of the comparison with the folder")
	flags.Uint64Var(&o.seed, "seed", 42, "seed of the graphs")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; the command takes only flags", flags.Arg(0))
	}
	if o.time <= 0 || o.samples < 1 || o.runs < 1 || o.rounds < 1 || o.delays.read < 0 || o.delays.write < 0 {
		return o, errors.New("-time, -samples, -runs and -rounds must be above 0, and -get and -put not below 0")
	}
	o.storages = strings.Split(*storages, ",")
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
	fmt.Fprintf(out, "## %s\n\nLoad averages at the start: %s.\n\n", s.label, measure.LoadAverages())
	fmt.Fprintln(out, "| writers | commits | commits a second | p50 | p99 | worst |\n| --- | --- | --- | --- | --- | --- |")
	for _, n := range o.writers {
		m, err := measureCommits(ctx, o, s, c, n)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %d | %d | %.1f | %s |\n", n, len(m.times), float64(len(m.times))/m.elapsed.Seconds(), quantiles(m.times, 0.5, 0.99, 1))
	}
	l, err := measureLag(ctx, o, s, c)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\n| read on another server after a commit | p50 | p99 | worst |\n| --- | --- | --- | --- |")
	fmt.Fprintf(out, "| the server polls the log | %s |\n| the read asks for the latest commit | %s |\n", quantiles(l.seen, 0.5, 0.99, 1), quantiles(l.latest, 0.5, 0.99, 1))
	fmt.Fprintln(out, "\n| entities | load, without delays | read | open and first answer, p50 | worst | requests | bytes read |\n| --- | --- | --- | --- | --- | --- | --- |")
	var graphs []*social.Graph
	for _, n := range o.rows {
		rows, err := social.New(float64(n)/fullRows, o.seed)
		if err != nil {
			return fmt.Errorf("-rows: %w", err)
		}
		graphs = append(graphs, rows)
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
	if err := compareWarm(ctx, o, s, c, graphs[0], out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nLoad averages at the end: %s.\n\n", measure.LoadAverages())
	return nil
}

// compareWarm prints the table of the reads from a warm cache.
func compareWarm(ctx context.Context, o options, s *storage, c *compiled, rows *social.Graph, out io.Writer) error {
	dir, err := loadFolder(ctx, o, c, graphID(rows), rows)
	if err != nil {
		return err
	}
	reads := []read{lookup, hop, hops, search}
	results, err := measureWarm(ctx, o, s, c, dir, graphID(rows), rows, reads)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d entities, %d rounds of %d reads.\n\n", rows.Rows(), o.rounds, readsPerRound)
	fmt.Fprintln(out, "| warm read | folder, median | shared, median | median ratio of the rounds | least | greatest |\n| --- | --- | --- | --- | --- | --- |")
	for i, w := range results {
		median, least, greatest := w.ratio()
		fmt.Fprintf(out, "| %s | %s | %s | %.3f | %.3f | %.3f |\n", reads[i].what, quantiles(w.folder, 0.5), quantiles(w.shared, 0.5), median, least, greatest)
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
