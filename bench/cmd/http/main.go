// Command http compares the built server over HTTP with another build of the server, or with a bare
// net/http server that sends answers of the same size. Then it compares durable writes with those of
// the other build, or of PostgreSQL. With -applied it compares the queries of an applied revision with the compiled ones instead. The servers run as separate processes, and this process is their client.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/codegraph"
	"github.com/omnigraph-go/omnigraph/internal/bench/serverproc"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "http:", err)
		os.Exit(1)
	}
}

// options are the settings of a run.
type options struct {
	bin     string        // folder of the built commands
	other   string        // folder of another build to compare with instead; "" means none
	policy  string        // policy of the graph; "" means the one of the repository
	repo    string        // folder of the cluster.yaml and queries to serve
	writes  bool          // measure only durable writes
	applied bool          // compare applied queries with compiled ones
	rounds  int           // rounds of each server
	round   time.Duration // length of a round
	seed    uint64        // seed of the graph and of the keys
}

// run runs the command with the given arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("http", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o options
	bare := flags.Bool("bare", false, "run only the bare server, and measure nothing")
	flags.StringVar(&o.bin, "bin", "bin", "folder with the built commands omnigraph and omnigraph-server")
	flags.StringVar(&o.other, "other", "", "folder with another build of omnigraph-server, to measure instead of the bare server")
	flags.StringVar(&o.policy, "policy", "", "policy file of the graph, instead of the repository's policy")
	flags.StringVar(&o.repo, "repo", ".", "folder with the repository's cluster.yaml and queries")
	flags.BoolVar(&o.applied, "applied", false, "compare the queries of an applied revision with the same queries compiled into the server, and measure nothing else")
	flags.BoolVar(&o.writes, "writes", false, "measure only durable writes")
	flags.IntVar(&o.rounds, "rounds", 20, "number of rounds of each server for each row of the table")
	flags.DurationVar(&o.round, "round", 200*time.Millisecond, "length of a round")
	flags.Uint64Var(&o.seed, "seed", 42, "seed of the graph and of the keys")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; the command takes only flags", flags.Arg(0))
	case *bare:
		return serveBare(ctx, stdout)
	case o.applied && (o.other != "" || o.writes):
		return errors.New("-applied compares one build with itself; leave out -other and -writes")
	case o.rounds < 1 || o.round <= 0:
		return errors.New("-rounds and -round must be above 0")
	}
	dir, err := os.MkdirTemp("", "bench-http-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := load(ctx, filepath.Join(dir, "ours"), o); err != nil {
		return err
	}
	ours, err := serve(ctx, filepath.Join(dir, "ours"), o.bin)
	if err != nil {
		return err
	}
	defer ours.Kill()
	other, err := startOther(ctx, dir, o)
	if err != nil {
		return err
	}
	defer other.Kill()
	if !o.writes {
		if err := compare(ctx, stdout, ours, other, o); err != nil {
			return err
		}
	}
	if o.applied {
		return nil
	}
	return durable(ctx, stdout, ours, other, o)
}

// startOther starts the server to compare with: the bare server, another build, or the same build with its compiled queries.
func startOther(ctx context.Context, dir string, o options) (*serverproc.Server, error) {
	var args []string
	switch {
	case o.applied:
		o.other, args = o.bin, []string{"--compiled-only"}
	case o.other == "":
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return serverproc.Start(ctx, exec.Command(self, "-bare"), nil)
	}
	if err := load(ctx, filepath.Join(dir, "other"), o); err != nil {
		return nil, err
	}
	return serve(ctx, filepath.Join(dir, "other"), o.other, args...)
}

const (
	graphID = "code"        // id of the served graph
	actor   = "act-dev"     // the repository's policy allows this actor every query
	token   = "bench-token" // token of the actor
)

// load makes a folder to serve, with a generated code graph of about 356,000 entities.
func load(ctx context.Context, dir string, o options) error {
	if err := os.CopyFS(filepath.Join(dir, "queries"), os.DirFS(filepath.Join(o.repo, "queries"))); err != nil {
		return err
	}
	for from, to := range map[string]string{
		filepath.Join(o.repo, "cluster.yaml"): "cluster.yaml",
		o.policy:                              "queries/" + graphID + "/policy.yaml",
	} {
		if from == "" {
			continue
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o644); err != nil {
			return err
		}
	}
	data := filepath.Join(dir, "graph.ndjson")
	if err := os.WriteFile(data, codegraph.Medium.NDJSON(o.seed), 0o644); err != nil {
		return err
	}
	store := filepath.Join(dir, "data", graphID)
	create := []string{"init", "--schema", filepath.Join(dir, "queries", graphID, "schema.pg"), "--store", store}
	if o.applied {
		create = []string{"cluster", "apply", "--cluster", dir}
	}
	for _, args := range [][]string{
		create,
		{"load", "--store", store, "--data", data, "--mode", "overwrite"},
	} {
		if out, err := exec.CommandContext(ctx, filepath.Join(o.bin, "omnigraph"), args...).CombinedOutput(); err != nil {
			return fmt.Errorf("omnigraph %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// serve starts a built server on a folder, with the graph as the load left it.
func serve(ctx context.Context, dir, bin string, args ...string) (*serverproc.Server, error) {
	cmd := exec.Command(filepath.Join(bin, "omnigraph-server"), append([]string{"--cluster", dir, "--bind", "127.0.0.1:0"}, args...)...)
	cmd.Env = serverproc.Environ(map[string]string{actor: token})
	return serverproc.Start(ctx, cmd, nil)
}
