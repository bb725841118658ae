// Command ann measures approximate searches for vectors in the engine, its exact scan, and other
// databases, over the same vectors and queries: recall, times, memory, disk, and the cost of loads
// and indexes. Each database runs in processes of its own. The others run in a Python program.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "ann:", err)
		os.Exit(1)
	}
}

// options are the settings of a run.
type options struct {
	rows, dim int       // number of vectors, and of the components of each
	seed      uint64    // seed of the vectors
	queries   int       // number of timed searches of each kind
	recall    float64   // recall that the searches of a database must reach
	dir       string    // folder of the run's folder; of the database, for the process of one
	keep      bool      // keep the databases, and search the kept ones of an earlier run
	progress  io.Writer // gets a line for each step
}

const (
	exact      = "exact"       // name of the engine without @ann
	ann        = "ann"         // name of the engine with @ann
	queriesIn  = "queries.f32" // file of the queries; the first half warm up
	vectorsIn  = "vectors.f32" // file of the vectors, for the peers
	leastRows  = 5000          // with fewer rows the engine builds no index
	floatBytes = 4             // size of a component in those files
)

// peers are the other databases.
var peers = []string{"pgvector", "lancedb", "sqlite-vec"}

// run runs the command with the given arguments.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("ann", flag.ContinueOnError)
	flags.SetOutput(stderr)
	o := options{progress: stderr}
	flags.IntVar(&o.rows, "rows", 100_000, "number of vectors")
	flags.IntVar(&o.dim, "dim", 768, "components of a vector")
	flags.Uint64Var(&o.seed, "seed", 42, "seed of the vectors")
	flags.IntVar(&o.queries, "queries", 1000, "timed searches of each kind; as many before them warm up")
	flags.Float64Var(&o.recall, "recall", 0.97, "recall that each database must reach; its setting is raised until it does")
	flags.StringVar(&o.dir, "dir", "", "folder for the databases; the default is a temporary folder")
	flags.BoolVar(&o.keep, "keep", false, "keep the databases, and search the kept ones of an earlier run without loading them again")
	python := flags.String("python", "", "two paths separated by a comma: a Python with the packages of peers/requirements.txt, and the program peers.py; without it the peers are left out")
	only := flags.String("only", strings.Join(append([]string{exact, ann}, peers...), ","), "the databases to measure, separated by commas")
	generate := flags.Bool("generate", false, "only write the lines of a load; the benchmark starts itself with this flag")
	served := flags.String("serve", "", "only answer requests with the engine, exact or ann; the benchmark starts itself with this flag")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; the command takes only flags", flags.Arg(0))
	case o.rows < leastRows:
		return fmt.Errorf("-rows %d: an index needs at least %d vectors", o.rows, leastRows)
	case o.dim < 16 || o.dim > 4096:
		return fmt.Errorf("-dim %d: expected 16 to 4096", o.dim)
	case o.queries < 1:
		return errors.New("-queries must be above 0")
	}
	switch {
	case *generate:
		return newSpace(o.dim, o.seed).writeNDJSON(stdout, o.rows)
	case *served != "":
		return serveOurs(ctx, o, *served, stdin, stdout)
	}
	names := strings.Split(*only, ",")
	for _, name := range names {
		if name != exact && name != ann && !slices.Contains(peers, name) {
			return fmt.Errorf("-only: unknown database %q; known are %s, %s, %s", name, exact, ann, strings.Join(peers, ", "))
		}
	}
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "bench-ann-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	return compare(ctx, o, names, *python, stdout)
}

// compare measures the databases with the given names, one after another, and prints the tables.
func compare(ctx context.Context, o options, names []string, python string, stdout io.Writer) error {
	b := &bench{options: o, folder: filepath.Join(o.dir, fmt.Sprintf("%dx%d-%d", o.rows, o.dim, o.seed))}
	if err := os.MkdirAll(b.folder, 0o755); err != nil {
		return err
	}
	s := newSpace(o.dim, o.seed)
	if err := b.writeVectors(s, queriesIn, o.rows, o.rows+2*o.queries); err != nil {
		return err
	}
	if !slices.Contains(names, exact) {
		b.truth = &answers{}
		if err := readJSON(b.truthFile(), b.truth); err != nil || len(b.truth.All) != o.queries {
			return fmt.Errorf("%s does not have the answers of the exact scan to %d queries; measure %s first", b.truthFile(), o.queries, exact)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var results []*result
	for _, name := range append([]string{exact, ann}, peers...) { // the exact scan first: its answers are the measure
		if !slices.Contains(names, name) {
			continue
		}
		dir := filepath.Join(b.folder, name)
		c := contender{name: name}
		program, script, ok := strings.Cut(python, ",")
		switch {
		case name == exact || name == ann:
			c.command = []string{self, "-serve", name, "-dir", dir, "-rows", strconv.Itoa(o.rows), "-dim", strconv.Itoa(o.dim),
				"-seed", strconv.FormatUint(o.seed, 10), "-queries", strconv.Itoa(o.queries)}
		case !ok:
			results = append(results, &result{Name: name, Absent: "-python does not name a Python and peers.py"})
			continue
		default:
			if err := b.writeVectors(s, vectorsIn, 0, o.rows); err != nil {
				return err
			}
			c.command = []string{program, script, name, dir, filepath.Join(b.folder, vectorsIn), filepath.Join(b.folder, queriesIn),
				strconv.Itoa(o.dim), strconv.Itoa(parts), strconv.Itoa(filterPart)}
		}
		r, err := b.measure(ctx, c)
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	report(stdout, o, results)
	if o.keep {
		return nil
	}
	return os.RemoveAll(b.folder)
}

// writeVectors writes the vectors of the rows [from, end) to a file of the run, unless a complete
// one is there.
func (b *bench) writeVectors(s *space, name string, from, end int) error {
	file := filepath.Join(b.folder, name)
	if info, err := os.Stat(file); err == nil && info.Size() == int64(end-from)*int64(s.dim)*floatBytes {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(s.writeFloats(f, from, end), f.Close())
}

// serveOurs answers requests with the engine. The database is in the folder o.dir, and the queries
// are in the folder above.
func serveOurs(ctx context.Context, o options, name string, stdin io.Reader, stdout io.Writer) error {
	if name != exact && name != ann {
		return fmt.Errorf("-serve %q: expected %s or %s", name, exact, ann)
	}
	queries, err := readVectors(filepath.Join(filepath.Dir(o.dir), queriesIn), o.dim)
	if err != nil {
		return err
	}
	db, err := newOurs(ctx, o, name == ann)
	if err != nil {
		return err
	}
	return serve(ctx, db, queries, stdin, stdout)
}

// readVectors reads a file that [space.writeFloats] wrote.
func readVectors(file string, dim int) (all [][]float32, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for part := range slices.Chunk(text, dim*floatBytes) {
		v := make([]float32, dim)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(part[i*floatBytes:]))
		}
		all = append(all, v)
	}
	return all, nil
}
