// Command snb makes networks of the Social Network Benchmark: it generates one or reads its CSV files,
// and writes it as CSV files, as NDJSON, or as a graph of the engine. It can also serve such a graph.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
	"github.com/omnigraph-go/omnigraph/internal/bench/snb/stored"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "snb:", err)
		os.Exit(1)
	}
}

// run runs the command with the given arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("snb", flag.ContinueOnError)
	flags.SetOutput(stderr)
	scale := flags.Float64("scale", 0.1, "size of the generated network as a multiple of 10,000 persons, at most 10")
	seed := flags.Uint64("seed", 42, "seed of the generated network")
	from := flags.String("from", "", "folder of CSV files to read, with the folders static and dynamic; without it, a network is generated")
	csv := flags.String("csv", "", "folder to write CSV files into")
	ndjson := flags.String("ndjson", "", "file to write NDJSON into")
	graph := flags.String("graph", "", "new folder for a graph with the network")
	addr := flags.String("serve", "", "host and port at which to serve the existing graph that -graph names, instead of making a network")
	token := flags.String("token", "", "bearer token of -serve")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; the command takes only flags", flags.Arg(0))
	}
	if *csv == "" && *ndjson == "" && *graph == "" {
		return errors.New("nothing to write; name a folder with -csv or -graph, or a file with -ndjson")
	}
	if *addr != "" {
		return serve(ctx, *graph, *addr, *token, stdout)
	}
	var n *snb.Network
	var err error
	if *from != "" {
		n, err = snb.ReadCSV(*from)
	} else {
		n, err = snb.Generate(*scale, *seed)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, n)
	if *csv != "" {
		if err := n.WriteCSV(*csv); err != nil {
			return err
		}
	}
	if *ndjson != "" {
		f, err := os.Create(*ndjson)
		if err != nil {
			return err
		}
		if err := errors.Join(n.WriteNDJSON(f), f.Close()); err != nil {
			return err
		}
	}
	if *graph != "" {
		schema, _, err := stored.Compile()
		if err != nil {
			return err
		}
		g, err := stored.Create(ctx, *graph, schema, n)
		if err != nil {
			return err
		}
		return g.Close()
	}
	return nil
}
