// Command authorloop measures how long an author waits after editing one query among a thousand:
// for gq generate, and for go build of the server.
//
// It makes a module with a thousand queries. In each turn it edits the body of a query, a
// parameter, a column and a description, and adds a query. Each edit is in another file and is
// followed by gq generate and go build. Then it starts the server, once with a tool for each query
// and once with the meta tools, and waits until the server is ready. With -beside it measures
// another checkout of the repository in the same turns.
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
	"runtime"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "authorloop:", err)
		os.Exit(1)
	}
}

// run runs the command with the given arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("authorloop", flag.ContinueOnError)
	flags.SetOutput(stderr)
	turns := flags.Int("turns", 5, "number of times to make and measure each edit")
	root := flags.String("root", ".", "the checkout to measure")
	beside := flags.String("beside", "", "second checkout, to measure alternately with the first")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; the command takes only flags", flags.Arg(0))
	}
	if *turns < 1 || *turns*len(edits) > tables {
		return fmt.Errorf("-turns must be from 1 to %d", tables/len(edits))
	}
	work, err := os.MkdirTemp("", "authorloop-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	var loops []*loop
	for i, dir := range []string{*root, *beside} {
		if dir == "" {
			continue
		}
		fmt.Fprintf(stderr, "preparing a module with the code of %s\n", dir)
		l, err := prepare(ctx, dir, filepath.Join(work, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		loops = append(loops, l)
	}
	for turn := range *turns {
		for i, e := range edits {
			for _, l := range loops {
				if err := l.edit(ctx, e, turn*len(edits)+i); err != nil {
					return fmt.Errorf("edit %s: %w", e.name, err)
				}
			}
		}
		for _, m := range modes {
			for _, l := range loops {
				if err := l.boot(ctx, m); err != nil {
					return fmt.Errorf("start the server, %s: %w", m.name, err)
				}
			}
		}
		fmt.Fprintf(stderr, "turn %d of %d\n", turn+1, *turns)
	}
	fmt.Fprintf(stdout, "%d queries over %d types, medians of %d turns, %s on %s/%s, %d processors\n",
		tables*len(shapes), tables, *turns, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	for _, l := range loops {
		l.report(stdout)
	}
	return nil
}
