package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/social"
)

// Loading and opening are measured in child processes, so that the memory and the caches of one
// database do not affect the figures of another.

// childArg is the first argument of a child process.
const childArg = "child"

// outcome is the result that a child process prints, as JSON.
type outcome struct {
	Seconds float64 // time of the task
	Memory  memory  // memory that the task used
}

// child describes the task of a child process.
type child struct {
	task    string // load or open; import; index or load-code
	peer    string // name of the database
	dir     string // folder of the database
	profile string // file for a CPU profile; may be empty
}

// child runs a task in a child process and returns what the child printed.
func (b *bench) child(ctx context.Context, c child) (o outcome, err error) {
	self, err := os.Executable()
	if err != nil {
		return o, err
	}
	cmd := exec.CommandContext(ctx, self, childArg, "-task", c.task, "-peer", c.peer, "-dir", c.dir, "-file", b.file,
		"-size", strconv.FormatFloat(b.scale, 'g', -1, 64), "-seed", strconv.FormatUint(b.seed, 10), "-keys", b.keys.String(), "-profile", c.profile,
		"-root", b.root, "-deps="+strconv.FormatBool(b.deps()))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return o, fmt.Errorf("%s of %s: %w", c.task, c.peer, err)
	}
	return o, json.Unmarshal(out, &o)
}

// runChild runs the task of a child process and prints its outcome.
func runChild(ctx context.Context, args []string) (err error) {
	var c child
	var from source
	flags := flag.NewFlagSet(childArg, flag.ContinueOnError)
	flags.StringVar(&c.task, "task", "", "")
	flags.StringVar(&c.peer, "peer", "", "")
	flags.StringVar(&c.dir, "dir", "", "")
	flags.StringVar(&c.profile, "profile", "", "")
	flags.StringVar(&from.file, "file", "", "")
	size := flags.Float64("size", 1, "")
	seed := flags.Uint64("seed", 42, "")
	var keys social.Keys
	flags.Var(&keys, "keys", "")
	format := flags.String("format", "", "")
	root, deps := flags.String("root", "", ""), flags.Bool("deps", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if from.graph, err = social.New(*size, *seed); err != nil {
		return err
	}
	from.graph.Keys = keys
	if c.task == "import" { // the process that started this one measures it
		return importDuckDB(ctx, c.dir, from.file, *format)
	}
	p, err := peerNamed(c.peer)
	if err != nil {
		return err
	}
	if c.profile != "" {
		stop, err := startProfile(c.profile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	var o outcome
	switch c.task {
	case "load":
		stop := watchMemory(ownMemory)
		start := time.Now()
		err = p.load(ctx, c.dir, from)
		o.Seconds, o.Memory = time.Since(start).Seconds(), stop()
	case "open":
		o.Seconds, err = openAndAnswer(ctx, p, c.dir, from.graph.PersonSlug(7))
	case "index":
		stop := watchMemory(ownMemory)
		start := time.Now()
		err = indexCode(ctx, *root, c.dir, *deps)
		o.Seconds, o.Memory = time.Since(start).Seconds(), stop()
	case "load-code":
		stop := watchMemory(ownMemory)
		start := time.Now()
		err = loadCode(ctx, *root, c.dir)
		o.Seconds, o.Memory = time.Since(start).Seconds(), stop()
	default:
		err = fmt.Errorf("the task is %q, expected load, open, import, index or load-code", c.task)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(o)
}

// peerNamed returns the database with the given name.
func peerNamed(name string) (peer, error) {
	peers := []peer{omnigraph{}, sqlite{}, postgres{}}
	if duck, err := newDuckDB(); err == nil {
		peers = append(peers, duck)
	}
	for _, p := range peers {
		if p.name() == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no database %q", name)
}

// openAndAnswer measures the time of opening a database and answering one lookup of the person with
// the given key.
func openAndAnswer(ctx context.Context, p peer, dir, slug string) (seconds float64, err error) {
	if _, err := compiled(); err != nil { // a program contains compiled plans: do not time this
		return 0, err
	}
	start := time.Now()
	s, err := p.open(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	run, err := s.prepare(ctx, works[0])
	if err != nil {
		return 0, err
	}
	n, err := run(ctx, []any{slug}, nil)
	seconds = time.Since(start).Seconds()
	if err == nil && n != 1 {
		err = fmt.Errorf("the first lookup found %d rows, expected 1", n)
	}
	return seconds, err
}

// startProfile starts a CPU profile and returns the function that ends it.
func startProfile(file string) (stop func() error, err error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
