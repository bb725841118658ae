// Command sizes loads graphs of several sizes with the built command, each from the pipe of a
// generator, and measures the first answers of the built command and the built server afterwards.
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
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/bench/social"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
}

// options are the settings of a run.
type options struct {
	bin  string // folder of the built commands
	dir  string // folder of the graphs, which exists
	runs int    // timed opens of each kind
	seed uint64 // seed of the random graph
}

// fullRows is the number of rows of a graph of size 1.
const fullRows = 1_620_000

// run runs the command with the given arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("sizes", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o options
	sizes := flags.String("rows", "1000000,10000000", "approximate numbers of rows of the graphs, separated by commas")
	flags.StringVar(&o.bin, "bin", "bin", "folder with the built commands omnigraph, omnigraph-server and bench-graph")
	flags.StringVar(&o.dir, "dir", "", "folder for the graphs; the default is a temporary folder")
	flags.IntVar(&o.runs, "runs", 9, "timed opens of each kind; the table has their median")
	flags.Uint64Var(&o.seed, "seed", 42, "seed of the graphs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; the command takes only flags", flags.Arg(0))
	}
	if o.runs < 1 {
		return errors.New("-runs must be above 0")
	}
	var graphs []*social.Graph
	var factors []float64
	for text := range strings.SplitSeq(*sizes, ",") {
		rows, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return fmt.Errorf("-rows %q: %w", *sizes, err)
		}
		factor := float64(rows) / fullRows
		g, err := social.New(factor, o.seed)
		if err != nil {
			return fmt.Errorf("-rows %q: %w", *sizes, err)
		}
		graphs, factors = append(graphs, g), append(factors, factor)
	}
	dir, err := os.MkdirTemp(o.dir, "bench-sizes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	o.dir = dir
	fmt.Fprintln(stdout, "| rows | load | processor | per row | peak memory | swap | peak disk | disk |")
	fmt.Fprintln(stdout, "| --- | --- | --- | --- | --- | --- | --- | --- |")
	for i, g := range graphs {
		l, err := load(ctx, o, g, factors[i])
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout, l)
	}
	fmt.Fprintln(stdout)
	fmt.Fprintf(stdout, "Medians of %d, then the slowest. A cold graph has no page in the page cache.\n\n", o.runs)
	fmt.Fprintln(stdout, "| rows | call | command, warm | command, cold | server, warm | server, cold |")
	fmt.Fprintln(stdout, "| --- | --- | --- | --- | --- | --- |")
	for _, g := range graphs {
		for _, call := range calls(g) {
			times, err := open(ctx, o, g, call)
			if err != nil {
				return err
			}
			fmt.Fprintf(stdout, "| %d | %s | %s |\n", g.Rows(), call.name, strings.Join(times, " | "))
		}
	}
	return nil
}

// graphID is the name of the only graph of each cluster.
const graphID = "social"

// folder returns the folder of a graph's cluster.
func (o options) folder(g *social.Graph) string {
	return filepath.Join(o.dir, strconv.Itoa(g.Rows()))
}

// store returns the folder with a graph's data.
func (o options) store(g *social.Graph) string { return filepath.Join(o.folder(g), "data", graphID) }

// command returns the path of a built command.
func (o options) command(name string) string { return filepath.Join(o.bin, name) }
