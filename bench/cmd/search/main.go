// Command search compares BM25 searches of the engine with those of Lucene, through the full-text
// index of Neo4j. Each database runs within a program: the engine in this one, Neo4j in a Java program
// that measures its own searches, so that the pipe between the programs costs Neo4j nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

// options are the settings of a run.
type options struct {
	classes string // folder with the compiled Java program and its libraries
	dir     string // folder for the databases, which exists
	rounds  int    // number of timed rounds
	repeat  int    // how often a database answers a search in a row; the shortest time counts
	seed    uint64 // seed of the graph and of the words
}

// searches is the number of timed searches of each database in a round.
const searches = 50

// run runs the command with the given arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("search", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o options
	size := flags.Float64("size", 1, "size of the graph as a multiple of 1,620,000 rows; 200,000 of these are posts")
	flags.StringVar(&o.classes, "classes", "", "folder with the compiled Java program, and its libraries in the folder lib")
	flags.StringVar(&o.dir, "dir", "", "folder for the databases; the default is a temporary folder")
	flags.IntVar(&o.rounds, "rounds", 40, "number of rounds; in each, either database answers 50 searches")
	flags.IntVar(&o.repeat, "repeat", 1, "how often a database answers each search in a row; the shortest time counts, so that other work on the machine matters less")
	flags.Uint64Var(&o.seed, "seed", 42, "seed of the graph and the words")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; the command takes only flags", flags.Arg(0))
	case o.classes == "":
		return fmt.Errorf("-classes is missing; `make bench-search` compiles the program and sets it")
	case o.rounds < 1 || o.repeat < 1:
		return fmt.Errorf("-rounds and -repeat must be above 0")
	}
	g, err := social.New(*size, o.seed)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.dir, "bench-search-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	o.dir = dir
	ours, err := openEngine(ctx, o, g)
	if err != nil {
		return err
	}
	defer ours.close()
	lucene, err := startNeo4j(ctx, o, g)
	if err != nil {
		return err
	}
	defer lucene.stop()
	return compare(ctx, stdout, o, g, ours, lucene)
}

// searcher is a database with the posts.
type searcher interface {
	// search returns the keys of the best ten posts for the words, and the time that the search took.
	search(ctx context.Context, words string) (keys []string, took time.Duration, err error)
}

// compare lets both databases answer the same searches in turns, and prints the times and the share of
// the keys that both found.
func compare(ctx context.Context, stdout io.Writer, o options, g *social.Graph, ours, lucene searcher) error {
	if err := touch(ctx, ours, lucene); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(o.seed, 7))
	var times [2][]time.Duration
	found, both := 0, 0
	for round := range o.rounds + 5 { // the first five rounds let the Java compiler warm up
		texts := make([]string, searches)
		for i := range texts {
			first, second := firstRank+rng.IntN(ranks), firstRank+rng.IntN(ranks-1)
			if second >= first {
				second++
			}
			texts[i] = social.Word(first) + " " + social.Word(second)
		}
		var answers [2][][]string
		for _, who := range rng.Perm(2) {
			for _, text := range texts {
				keys, took, err := shortest(ctx, []searcher{ours, lucene}[who], text, o.repeat)
				if err != nil {
					return err
				}
				answers[who] = append(answers[who], keys)
				if round >= 5 {
					times[who] = append(times[who], took)
				}
			}
		}
		for i, keys := range answers[0] {
			for _, key := range keys {
				found++
				if slices.Contains(answers[1][i], key) {
					both++
				}
			}
		}
	}
	if found == 0 {
		return fmt.Errorf("no search found a post")
	}
	fmt.Fprintln(stdout, "| posts | database | p50 | p99 | worst |")
	fmt.Fprintln(stdout, "| --- | --- | --- | --- | --- |")
	for who, name := range []string{"omnigraph", "Lucene in Neo4j"} {
		slices.Sort(times[who])
		fmt.Fprintf(stdout, "| %d | %s | %v | %v | %v |\n", g.Posts, name,
			quantile(times[who], 0.5), quantile(times[who], 0.99), quantile(times[who], 1))
	}
	fmt.Fprintf(stdout, "\nRatios: p50 %.3f, p99 %.3f. Lucene also found %.1f %% of the posts that the engine found.\n",
		ratio(times, 0.5), ratio(times, 0.99), 100*float64(both)/float64(found))
	return nil
}

// The searches use the words that are on the ranks [firstRank, firstRank+ranks) when all words are
// sorted by frequency.
const (
	firstRank = 20
	ranks     = 480
)

// touch searches each word once in every database. Without touch, a twelfth of the timed searches
// would be the first search for a word. Then p99 would measure how fast a database reads and
// verifies its files.
func touch(ctx context.Context, in ...searcher) error {
	for _, db := range in {
		for rank := firstRank; rank < firstRank+ranks; rank += 2 {
			if _, _, err := db.search(ctx, social.Word(rank)+" "+social.Word(rank+1)); err != nil {
				return err
			}
		}
	}
	return nil
}

// shortest searches several times in a row. It returns the keys found and the shortest time.
func shortest(ctx context.Context, in searcher, words string, repeat int) (keys []string, least time.Duration, err error) {
	for i := range repeat {
		var took time.Duration
		if keys, took, err = in.search(ctx, words); err != nil {
			return nil, 0, err
		}
		if i == 0 || took < least {
			least = took
		}
	}
	return keys, least, nil
}

// quantile returns a quantile of the sorted times, in microseconds.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return measure.Quantile(sorted, q).Round(time.Microsecond)
}

// ratio returns quantile q of the engine's times divided by that of Lucene's times.
func ratio(sorted [2][]time.Duration, q float64) float64 {
	return float64(quantile(sorted[0], q)) / float64(quantile(sorted[1], q))
}
