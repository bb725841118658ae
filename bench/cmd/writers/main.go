// Command writers measures many concurrent writers and readers of one graph on disk, and checks
// that no acknowledged write is lost and no read is torn.
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
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/bench/contention"
	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "writers:", err)
		os.Exit(1)
	}
}

// scenarios lists the measurements. They run in sequence, each on its own graph.
var scenarios = []struct {
	label string
	contention.Options
}{
	{"one branch", contention.Options{Counters: 256}},
	{"one branch", contention.Options{Counters: 256, Readers: 16}},
	{"one branch, each write names the head that it read", contention.Options{Counters: 256, Readers: 16, IfCommit: true}},
	{"a branch a writer", contention.Options{Counters: 16, Branches: 64}},
	{"a branch a writer", contention.Options{Counters: 16, Branches: 64, Readers: 16}},
}

// run runs the command with the given arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("writers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", "", "folder on the disk to measure, for temporary files; the default is the system's folder")
	writers := flags.Int("writers", 64, "number of writers")
	each := flags.Duration("time", 5*time.Second, "longest time for each row of the table")
	most := flags.Int64("most", 200_000, "largest number of acknowledged writes for each row of the table")
	seed := flags.Uint64("seed", 42, "seed of the random writes and reads")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; the command takes only flags", flags.Arg(0))
	}
	if *writers < 1 || *each <= 0 || *most < 1 {
		return errors.New("-writers, -time and -most must be above 0")
	}
	work, err := os.MkdirTemp(*dir, "writers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	fmt.Fprintln(stdout, "| writers | readers | commits a second | refused, tried again | write p50 | p99 | worst | reads a second | read p50 | p99 |")
	fmt.Fprintln(stdout, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for i, s := range scenarios {
		s.Writers, s.Duration, s.Most, s.Seed = *writers, *each, *most, *seed
		if s.Branches > 0 {
			s.Branches = *writers
		}
		rep, err := contend(ctx, filepath.Join(work, fmt.Sprint(i)), s.Options)
		if err != nil {
			return fmt.Errorf("%s, %d readers: %w", s.label, s.Readers, err)
		}
		seconds := rep.Elapsed.Seconds()
		fmt.Fprintf(stdout, "| %d, %s | %d | %.0f | %d | %s | %s | %s | %.0f | %s | %s |\n", s.Writers, s.label, s.Readers,
			float64(rep.Raises)/seconds, rep.Refused, quantile(rep.Writes, 0.5), quantile(rep.Writes, 0.99), quantile(rep.Writes, 1),
			float64(len(rep.Reads))/seconds, quantile(rep.Reads, 0.5), quantile(rep.Reads, 0.99))
	}
	return nil
}

// contend runs a scenario on a new graph. After the run it reopens the graph and compares it again.
func contend(ctx context.Context, dir string, o contention.Options) (rep *contention.Report, err error) {
	var failed error // errors of background checkpoints; Close waits for these
	opts := embedded.Options{Failed: func(err error) { failed = errors.Join(failed, err) }}
	g, err := embedded.Create(ctx, fs.OS(), dir, contention.Source, contention.Schema(), opts)
	if err != nil {
		return nil, err
	}
	rep, err = contention.Run(ctx, g, o)
	if err = errors.Join(err, g.Close(), failed); err != nil {
		return nil, err
	}
	if g, err = embedded.Open(ctx, fs.OS(), dir, opts); err != nil {
		return nil, err
	}
	return rep, errors.Join(g.Verify(ctx), rep.Compare(ctx, g), g.Close())
}

// quantile returns the smallest time t such that the fraction q of all times is t or less.
func quantile(times []time.Duration, q float64) string {
	if len(times) == 0 {
		return "–"
	}
	slices.Sort(times)
	d := measure.Quantile(times, q)
	if d < time.Millisecond {
		return fmt.Sprintf("%.0f µs", float64(d)/1e3)
	}
	return fmt.Sprintf("%.2f ms", float64(d)/1e6)
}
