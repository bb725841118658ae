// Command soak sends calls to the built server. Many clients read, write, load, branch and merge
// over REST and MCP. It stops the server under that load and checks the answers and the
// stored data.
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
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// options are the settings of a run.
type options struct {
	bin      string        // folder of the built commands
	repo     string        // folder with the cluster.yaml and queries to serve
	clients  int           // number of clients
	duration time.Duration // time after which the command stops the server
	think    time.Duration // average pause of a client between two operations
	seed     uint64        // seed of the clients' random choices
	log      string        // file for the server's log; may be empty
}

// run runs the command with the given arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o options
	flags.StringVar(&o.bin, "bin", "bin", "folder with the built commands omnigraph and omnigraph-server")
	flags.StringVar(&o.repo, "repo", ".", "folder with the repository's cluster.yaml and queries")
	flags.IntVar(&o.clients, "clients", 16, "number of clients, 4 or more")
	flags.DurationVar(&o.duration, "time", 3*time.Minute, "time after which the command stops the server, 5s or more")
	flags.DurationVar(&o.think, "think", 0, "average pause of a client between two operations")
	flags.Uint64Var(&o.seed, "seed", 42, "seed of the clients' random choices")
	flags.StringVar(&o.log, "log", "", "file for the server's log")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; the command takes only flags", flags.Arg(0))
	}
	if o.clients < 4 || o.duration < 5*time.Second {
		return errors.New("-clients must be 4 or more, and -time 5s or more")
	}
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := soak(ctx, dir, o)
	if err != nil {
		return err
	}
	s.print(stdout)
	return s.verdict()
}

// ending describes how the server ended after SIGTERM.
type ending struct {
	took time.Duration // time from SIGTERM to the exit
	err  error         // nil if it ended with status 0 within the limit
}

// result holds the data that verdict examines.
type result struct {
	book    *book    // the outcomes of the calls
	samples []sample // measurements of the server, in order
	end     ending   // how the server ended
	lost    []string // differences between the store and the acknowledged writes
	checked int      // number of keys compared
}

// soak starts a server, runs the clients against it, stops the server under that load, and opens
// its store again.
func soak(ctx context.Context, dir string, o options) (*result, error) {
	p, err := startServer(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	defer p.Kill()
	r := &result{book: newBook()}
	l := newLedger()
	if err := prepare(ctx, p, l); err != nil {
		return nil, fmt.Errorf("creating the notes that all clients write to: %w", err)
	}
	begun := clock.Now()
	crowd := startCrowd(ctx, p, r.book, l, o)
	defer crowd.stop()

	watching := time.NewTicker(time.Second)
	defer watching.Stop()
	for clock.Since(begun) < o.duration {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case err := <-p.Exited():
			return nil, fmt.Errorf("the server exited during the run: %v\n%s", err, p.Log())
		case <-watching.C:
			s, err := take(p, clock.Since(begun))
			if err != nil {
				return nil, err
			}
			s.commits = l.commits.Load()
			r.samples = append(r.samples, s)
		}
	}
	r.book.stop()
	r.end.took, r.end.err = p.Terminate(drainLimit)
	crowd.wait()
	if r.lost, r.checked, err = compare(ctx, filepath.Join(dir, "data", graphID), l); err != nil {
		return nil, fmt.Errorf("comparing the store after the run: %w", err)
	}
	return r, nil
}
