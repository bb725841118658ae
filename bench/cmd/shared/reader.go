package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// Each graph of the comparison with the folder is open in a process of its own, as in a server. So the graphs
// share neither the limit for copies of what lookups read, nor the goroutine that makes the copies.
//
// The process reads a line for each turn: the number of the read in warmReads, and the number of the round. It
// answers with a line: the median of the times of the reads, in nanoseconds.

// readCommand is the first argument of such a process.
const readCommand = "-read"

// reader is a process that reads a graph.
type reader struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

// startReader starts a process that reads the graph at a place: the folder of a graph, or the URL of
// storage. The cache is for a graph in storage.
func startReader(ctx context.Context, at, id, cache string, rows int, seed uint64) (*reader, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := &reader{process: exec.CommandContext(ctx, self, readCommand, "-at", at, "-id", id, "-cache", cache, "-rows", strconv.Itoa(rows), "-seed", strconv.FormatUint(seed, 10))}
	r.process.Stderr = os.Stderr
	if r.in, err = r.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewScanner(out)
	return r, r.process.Start()
}

// turn lets the process make the reads of a round, and returns the median of their times.
func (r *reader) turn(read, round int) (time.Duration, error) {
	if _, err := fmt.Fprintln(r.in, read, round); err != nil {
		return 0, err
	}
	if !r.out.Scan() {
		return 0, errors.Join(errors.New("a process that reads a graph has ended"), r.out.Err())
	}
	ns, err := strconv.ParseInt(r.out.Text(), 10, 64)
	return time.Duration(ns), err
}

// end ends the process.
func (r *reader) end() error { return errors.Join(r.in.Close(), r.process.Wait()) }

// serveTurns is the main function of a process that startReader starts.
func serveTurns(ctx context.Context, args []string, in io.Reader, out, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("shared "+readCommand, flag.ContinueOnError)
	flags.SetOutput(stderr)
	at := flags.String("at", "", "folder of the graph, or URL of the storage")
	id := flags.String("id", "", "id of the graph in the storage")
	cache := flags.String("cache", "", "folder for the cache")
	n := flags.Int("rows", 0, "approximate number of entities of the graph")
	seed := flags.Uint64("seed", 0, "seed of the graph")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, err := compile()
	if err != nil {
		return err
	}
	rows, err := graphOf(options{seed: *seed}, *n)
	if err != nil {
		return err
	}
	g, done, err := openToRead(ctx, *at, *id, *cache)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var number, round int
		if _, err := fmt.Sscan(lines.Text(), &number, &round); err != nil || number < 0 || number >= len(warmReads) {
			return fmt.Errorf("the turn %q is not known; expected the number of a read and of a round", lines.Text())
		}
		d, err := medianRead(ctx, g, c, rows, warmReads[number], round)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, d.Nanoseconds()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// openToRead opens the graph in a folder, or follows the graph in storage, as a server that only reads does.
func openToRead(ctx context.Context, at, id, cache string) (engine.Graph, func() error, error) {
	if !strings.Contains(at, "://") {
		g, err := embedded.Open(ctx, fs.OS(), at, embedded.Options{})
		if err != nil {
			return nil, nil, err
		}
		return g, g.Close, nil
	}
	p, done, err := place(ctx, at, id, cache)
	if err != nil {
		return nil, nil, err
	}
	g, err := embedded.Follow(ctx, p, embedded.Options{}) // polls the log meanwhile, as a server does
	if err != nil {
		done()
		return nil, nil, err
	}
	return g, func() error {
		defer done()
		return g.Close()
	}, nil
}

// medianRead makes the reads of a round and returns the median of their times.
func medianRead(ctx context.Context, g engine.Graph, c *compiled, rows *social.Graph, r read, round int) (time.Duration, error) {
	times := make([]time.Duration, readsPerRound)
	for i := range times {
		start := clock.Now()
		if _, err := r.do(ctx, g, c, rows, round*readsPerRound+i); err != nil {
			return 0, err
		}
		times[i] = clock.Since(start)
	}
	slices.Sort(times)
	return measure.Quantile(times, 0.5), nil
}
