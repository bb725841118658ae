// Command peers compares the engine with SQLite, DuckDB and PostgreSQL in one run, on the same
// graph and the same machine, and prints the figures as Markdown. With -snb it runs the Social Network
// Benchmark instead, on the engine, DuckDB, LadybugDB, PostgreSQL and Neo4j. With -import it measures imports of CSV and Parquet.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/pgserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) > 1 && os.Args[1] == childArg {
		err = runChild(ctx, os.Args[2:])
	} else {
		err = run(ctx, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// options are the command's flags.
type options struct {
	scale   float64       // factor: 1 means 1,620,000 rows
	seed    uint64        // seed of the random graph
	keys    social.Keys   // keys of the graph
	dir     string        // folder in which the bench makes its temporary files
	budget  time.Duration // time for each database and each task
	profile string        // folder for CPU profiles; "" for none
	root    string        // folder of this repository; "" for none
	code    bool          // measure only the code of this repository
	snb     float64       // scale of the Social Network Benchmark, to measure only that; 0 for not
	server  string        // the command snb, for that benchmark; "" for none
	ladybug string        // the Python that has LadybugDB, for that benchmark; "" for none
	imports string        // folder for the files to import, to measure only imports; "" for not
	command string        // the command omnigraph, for imports
	rounds  int           // rounds of imports
	neo4j   string        // folder with the classes of the program for Neo4j, for that benchmark; "" for none
}

// run runs the command with the given arguments.
func run(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.Float64Var(&o.scale, "size", 1, "size of the graph as a multiple of 1,620,000 rows")
	flags.Uint64Var(&o.seed, "seed", 42, "seed of the random rows")
	flags.Var(&o.keys, "keys", "keys of the graph: serial, or scattered for keys without order or common parts")
	flags.StringVar(&o.dir, "dir", "", "folder for temporary files; the default is the system's folder")
	flags.DurationVar(&o.budget, "budget", 3*time.Second, "time for each database and each task")
	flags.StringVar(&o.profile, "profile", "", "folder for CPU profiles of this engine, one for each task")
	flags.StringVar(&o.root, "root", "", "folder of this repository, to index and query its code; without it, the code is not measured")
	flags.BoolVar(&o.code, "code", false, "measure only the code of this repository")
	flags.StringVar(&o.server, "snb-server", "", "the command bench/cmd/snb, which serves the graph of -snb; without it, the server is not measured")
	flags.StringVar(&o.imports, "import", "", "measure only imports of CSV and Parquet; the folder keeps the files")
	flags.StringVar(&o.command, "import-command", "omnigraph", "the built command omnigraph, for -import")
	flags.IntVar(&o.rounds, "import-rounds", 3, "rounds of -import")
	flags.StringVar(&o.neo4j, "snb-neo4j", "", "the folder with the classes of the program for Neo4j; without it, Neo4j is not measured")
	flags.StringVar(&o.ladybug, "snb-ladybug", "", "the Python that has LadybugDB, for -snb and -import; without it, LadybugDB is not measured")
	flags.Float64Var(&o.snb, "snb", 0, "measure only the Social Network Benchmark; 1 has 10,000 persons")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.dir, "peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// The user that runs the PostgreSQL server needs access to its folder.
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	if o.profile != "" {
		if err := os.MkdirAll(o.profile, 0o755); err != nil {
			return err
		}
	}
	if o.snb > 0 {
		return (&network{scale: o.snb, seed: o.seed, dir: dir, budget: o.budget, server: o.server, root: o.root, python: o.ladybug, classes: o.neo4j}).run(ctx)
	}
	g, err := social.New(o.scale, o.seed)
	if err != nil {
		return err
	}
	g.Keys = o.keys
	if o.imports != "" {
		files := filepath.Join(o.imports, fmt.Sprintf("%d-rows-%s-keys-seed-%d", g.Rows(), &g.Keys, g.Seed))
		return (&imports{graph: g, data: files, dir: dir, command: o.command, root: o.root, python: o.ladybug, rounds: o.rounds}).run(ctx)
	}
	r := &bench{options: o, graph: g, dir: dir, rng: rand.New(rand.NewPCG(o.seed, 99))}
	return r.run(ctx)
}

// bench is one run.
type bench struct {
	options
	graph *social.Graph // the generated social graph
	dir   string        // folder for temporary files
	file  string        // the graph as an NDJSON file
	rng   *rand.Rand    // draws the arguments

	peers  []peer           // the engine comes first
	server *pgserver.Server // the server, if PostgreSQL is measured
}

// run measures the databases, or only the code of this repository, and prints the report.
func (b *bench) run(ctx context.Context) (err error) {
	if b.code {
		if err := b.head(ctx); err != nil {
			return err
		}
		return b.realGraph(ctx)
	}
	b.file = filepath.Join(b.dir, "graph.ndjson")
	if err := b.writeFile(); err != nil {
		return err
	}
	b.peers = []peer{omnigraph{}, sqlite{}}
	duck, err := newDuckDB()
	if err := b.join(duck, err, "DuckDB"); err != nil {
		return err
	}
	if err := os.Mkdir(b.dirOf(postgres{}), 0o755); err != nil {
		return err
	}
	b.server, err = startPostgres(ctx, b.dirOf(postgres{}))
	if err := b.join(postgres{}, err, "PostgreSQL"); err != nil {
		return err
	}
	if b.server != nil {
		defer func() { err = errors.Join(err, b.server.Stop(os.Interrupt)) }()
	}
	if err := b.head(ctx); err != nil {
		return err
	}
	if err := b.loads(ctx); err != nil {
		return err
	}
	if err := b.opens(ctx); err != nil {
		return err
	}
	sessions, err := b.openAll(ctx)
	if err != nil {
		return err
	}
	defer func() {
		for _, s := range sessions {
			err = errors.Join(err, s.close())
		}
	}()
	if err := b.versions(ctx, sessions); err != nil {
		return err
	}
	if err := b.reads(ctx, sessions); err != nil {
		return err
	}
	if err := b.commits(ctx, sessions); err != nil {
		return err
	}
	if err := b.realGraph(ctx); err != nil {
		return err
	}
	fmt.Printf("Load averages at the end: %s.\n", measure.LoadAverages())
	return nil
}

// join adds a peer. If err is an *absentError, it prints why the peer is left out.
func (b *bench) join(p peer, err error, name string) error {
	var why *absentError
	switch {
	case errors.As(err, &why):
		fmt.Printf("%s is left out: %s\n\n", name, why.reason)
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	b.peers = append(b.peers, p)
	return nil
}

// dirOf returns the folder of a database.
func (b *bench) dirOf(p peer) string { return filepath.Join(b.dir, p.name()) }

// writeFile writes the graph as NDJSON, for the engine.
func (b *bench) writeFile() error {
	f, err := os.Create(b.file)
	if err != nil {
		return err
	}
	return errors.Join(b.graph.WriteNDJSON(f), f.Close())
}

// openAll opens every database in this process.
func (b *bench) openAll(ctx context.Context) ([]session, error) {
	var out []session
	for _, p := range b.peers {
		s, err := p.open(ctx, b.dirOf(p))
		if err != nil {
			for _, s := range out {
				err = errors.Join(err, s.close())
			}
			return nil, fmt.Errorf("%s: %w", p.name(), err)
		}
		out = append(out, s)
	}
	return out, nil
}
