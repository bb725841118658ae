// Command graph writes the benchmark graph as NDJSON.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/omnigraph-go/omnigraph/internal/bench/social"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "graph:", err)
		os.Exit(1)
	}
}

// run runs the command with the given arguments.
func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("graph", flag.ContinueOnError)
	flags.SetOutput(stderr)
	size := flags.Float64("size", 1, "size of the graph as a multiple of 1,620,000 rows, at most 100")
	seed := flags.Uint64("seed", 42, "seed of the random rows")
	var keys social.Keys
	flags.Var(&keys, "keys", "keys of the nodes: serial, or scattered for keys without order or common parts")
	out := flags.String("out", "", "file to write; the default is standard output")
	schema := flags.Bool("schema", false, "print the schema instead of the rows")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; the command takes only flags", flags.Arg(0))
	}
	g, err := social.New(*size, *seed)
	if err != nil {
		return err
	}
	g.Keys = keys
	write := g.WriteNDJSON
	if *schema {
		write = func(w io.Writer) error {
			_, err := io.WriteString(w, social.Schema)
			return err
		}
	}
	if *out == "" {
		return write(stdout)
	}
	f, err := os.Create(*out)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
