package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
)

const (
	devLook = 150 * time.Millisecond // between two looks at the files
	devStop = 20 * time.Second       // how long the server may take to stop
)

// dev serves the graphs of a cluster.yaml, and applies each save.
type dev struct {
	dir    string // folder of cluster.yaml
	bind   string // the address to listen on
	server string // program of the server; "" means that dev finds or builds one
	seed   string // NDJSON to load into a new graph, or ""

	out, err io.Writer
	temp     string        // folder of the server that dev built, and of the faults for the studio
	studio   *server.Dev   // where the studio finds the faults of the last save
	unfilled []string      // the folders of new graphs that lack the seed
	child    *exec.Cmd     // the running server, or nil
	ended    chan struct{} // closed when the child has ended
	faulty   bool          // the last save could not be applied
}

// devCommand makes the command gq dev.
func devCommand() *cobra.Command {
	var d dev
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Serve the graphs of a cluster.yaml, and apply each save",
		Long: `Serve the graphs of a cluster.yaml while you write their schemas, queries and policies.

The command applies cluster.yaml, starts omnigraph-server with a token for you, and watches
the files. On each save it prints the faults with their places, which the studio shows too,
or applies the files to the running server and prints what changed: the tools are callable
then. A change that removes values from a graph must be approved with omnigraph cluster
apply. If the folder is a Go module, the command builds the server of cmd/omnigraph-server
in it, and runs go generate after each apply that changes schemas or queries; what Go code
changes takes effect when you start gq dev again. Ctrl-C stops the server and the command.`,
		Example: "  gq dev\n  gq dev --cluster . --bind 127.0.0.1:8080 --seed seed.jsonl",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{cmd, fmt.Errorf("unexpected argument %q; the command takes only flags", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.out, d.err = cmd.OutOrStdout(), cmd.ErrOrStderr()
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return d.run(ctx)
		},
	}
	cmd.Flags().StringVar(&d.dir, "cluster", ".", "the `DIR` that holds cluster.yaml")
	cmd.Flags().StringVar(&d.bind, "bind", "127.0.0.1:8080", "the `ADDRESS` to listen on")
	cmd.Flags().StringVar(&d.server, "server", "", "the `PROGRAM` that serves (default: the server of the Go module, or omnigraph-server beside gq or in PATH)")
	cmd.Flags().StringVar(&d.seed, "seed", "", "an NDJSON `FILE` to load into the graph if it is new")
	return cmd
}

// run applies the files and serves them until ctx ends.
func (d *dev) run(ctx context.Context) (err error) {
	if _, err := os.Stat(filepath.Join(d.dir, "cluster.yaml")); err != nil {
		return fmt.Errorf("%w; name its folder with --cluster", err)
	}
	if err := d.alone(ctx); err != nil {
		return err
	}
	if d.temp, err = os.MkdirTemp("", "gq-dev-"); err != nil {
		return err
	}
	d.studio = &server.Dev{Faults: filepath.Join(d.temp, "faults.json")}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.findServer(ctx); err != nil {
		return err
	}
	look := time.NewTicker(devLook)
	defer look.Stop()
	for last := ""; ; {
		if now := d.state(); now != last {
			last = now
			d.save(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-d.ended:
			d.child, d.ended = nil, nil
			fmt.Fprintln(d.err, "gq dev: the server has ended; it starts again at the next save")
		case <-look.C:
		}
	}
}

// alone returns an error if an apply would reach servers of other people, because dev approves changes that break callers. A
// cluster.yaml with faults is none: dev prints them.
func (d *dev) alone(ctx context.Context) error {
	cfg, err := cluster.Read(filepath.Join(d.dir, "cluster.yaml"))
	if err != nil {
		return nil
	}
	if cfg.Shared != nil {
		return fmt.Errorf("%s has shared storage, which other servers may serve; name a folder as its storage while you write", cfg.File)
	}
	if url := server.Running(ctx, cfg); url != "" {
		return fmt.Errorf("a server at %s serves the storage folder already; stop it, or use omnigraph cluster apply", url)
	}
	return nil
}

// state returns a text that changes with each save of a file that cluster.yaml names.
func (d *dev) state() string {
	file := filepath.Join(d.dir, "cluster.yaml")
	files := []string{file, filepath.Join(d.dir, "gq.yaml"), d.seed}
	if cfg, err := cluster.Read(file); err == nil {
		for _, g := range cfg.Graphs {
			files = append(append(files, g.Schema, g.Policy), g.QueryFiles...)
		}
		files = append(files, cfg.ServerPolicy)
	}
	var b strings.Builder
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// tell lets the studio show the faults of the last save; there are none if err is nil. Warnings are not among them.
func (d *dev) tell(err error) error {
	var faults []server.DevFault
	var list diag.List
	switch {
	case errors.As(err, &list):
		for _, f := range list.Cut(diag.Most) {
			if f.Severity == diag.Error {
				faults = append(faults, server.DevFault{File: f.Span.File, Line: f.Span.Start.Line, Column: f.Span.Start.Column, Message: f.Message, Help: f.Help})
			}
		}
	case err != nil:
		faults = append(faults, server.DevFault{Message: err.Error()})
	}
	return d.studio.Write(faults)
}

// save applies the files, or prints their faults.
func (d *dev) save(ctx context.Context) {
	begun := clock.Now()
	cfg, out, err := d.apply(ctx)
	if err := d.tell(err); err != nil {
		fmt.Fprintf(d.err, "gq dev: telling the studio: %v\n", err)
	}
	var faults diag.List
	switch {
	case errors.As(err, &faults):
		texts := map[string]string{}
		for _, f := range faults {
			if b, err := os.ReadFile(f.Span.File); err == nil {
				texts[f.Span.File] = string(b)
			}
		}
		_ = diag.Render(d.err, faults, texts, false)
	case err != nil && ctx.Err() == nil:
		fmt.Fprintf(d.err, "gq dev: %v\n", err)
	}
	if out != nil && out.Recorded {
		fmt.Fprintf(d.out, "revision %d after %v\n", out.Revision.Number, clock.Now().Sub(begun).Round(time.Millisecond))
		d.report(out.Plan)
	}
	if err != nil || ctx.Err() != nil {
		d.faulty = true
		return
	}
	if d.faulty && !out.Recorded {
		fmt.Fprintln(d.out, "no faults; the files are those of the last revision")
	}
	d.faulty = false
	if d.child == nil {
		if err := d.start(ctx, cfg); err != nil {
			fmt.Fprintf(d.err, "gq dev: %v\n", err)
			return
		}
	}
	if out.Recorded && d.inModule() && changesGo(out.Plan) {
		d.generate(ctx)
	}
}

// apply compiles the files and applies them. The error is a diag.List if they have faults.
func (d *dev) apply(ctx context.Context) (cfg *cluster.Config, out *reconcile.Outcome, err error) {
	if cfg, err = cluster.Read(filepath.Join(d.dir, "cluster.yaml")); err != nil {
		return nil, nil, err
	}
	c, done, err := server.CommandStorage(ctx, cfg, embedded.Engine{})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if cfg.Shared != nil {
		return nil, nil, errors.New("cluster.yaml has shared storage; name a folder as its storage while you write")
	}
	recorded, err := c.Revision(ctx)
	if err != nil {
		return nil, nil, err
	}
	sources, found, err := reconcile.CompileWith(cfg, recorded)
	if err == nil && found.HasErrors() {
		err = found
	}
	if err != nil {
		return nil, nil, err
	}
	out, err = c.Apply(ctx, sources, reconcile.Options{Actor: "local", AllowBreaking: true})
	if out != nil && d.seed != "" && d.child == nil {
		for _, a := range out.Applied {
			if a.Created {
				d.unfilled = append(d.unfilled, c.Place(a.ID))
			}
		}
	}
	for err == nil && len(d.unfilled) > 0 {
		if err = d.fill(ctx, d.unfilled[0]); err == nil {
			d.unfilled = d.unfilled[1:]
		}
	}
	return cfg, out, err
}

// fill loads the seed into a new graph.
func (d *dev) fill(ctx context.Context, place string) (err error) {
	f, err := os.Open(d.seed)
	if err != nil {
		return err
	}
	defer f.Close()
	g, err := embedded.OpenDir(ctx, place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if _, err := g.Load(ctx, f, engine.LoadOptions{Mode: engine.Overwrite, WriteOptions: engine.WriteOptions{Actor: "local"}}); err != nil {
		return fmt.Errorf("loading %s: %w", d.seed, err)
	}
	return nil
}

// report prints the changes of an apply, one a line.
func (d *dev) report(p *reconcile.Plan) {
	for _, g := range p.Graphs {
		if g.Change != nil {
			for _, s := range g.Change.Steps {
				fmt.Fprintf(d.out, "  %s  schema  %s\n", g.ID, s.String())
			}
		}
		for _, q := range g.Changed {
			fmt.Fprintf(d.out, "  %s  query   %s\n", g.ID, q.String())
		}
		if g.NewPolicy {
			fmt.Fprintf(d.out, "  %s  policy  %s\n", g.ID, g.PolicyFile())
		}
	}
}

// changesGo reports whether generated Go code differs after an apply.
func changesGo(p *reconcile.Plan) bool {
	for _, g := range p.Graphs {
		if g.Create || g.Change != nil || g.Changed != nil {
			return true
		}
	}
	return false
}

// inModule reports whether the folder is a Go module.
func (d *dev) inModule() bool {
	_, err := os.Stat(filepath.Join(d.dir, "go.mod"))
	return err == nil
}

// generate runs go generate in the module.
func (d *dev) generate(ctx context.Context) {
	cmd := exec.CommandContext(ctx, "go", "generate", "./...")
	cmd.Dir, cmd.Stdout, cmd.Stderr = d.dir, d.err, d.err
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		fmt.Fprintf(d.err, "gq dev: go generate: %v\n", err)
	}
}

// findServer sets the program of the server.
func (d *dev) findServer(ctx context.Context) error {
	const name = "omnigraph-server"
	if d.server != "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(d.dir, "cmd", name)); err == nil && d.inModule() {
		d.server = filepath.Join(d.temp, executable(name))
		d.generate(ctx)
		cmd := exec.CommandContext(ctx, "go", "build", "-o", d.server, "./cmd/"+name)
		cmd.Dir, cmd.Stdout, cmd.Stderr = d.dir, d.err, d.err
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("building ./cmd/%s: %w", name, err)
		}
		return nil
	}
	if own, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(own), executable(name))
		if _, err := os.Stat(beside); err == nil {
			d.server = beside
			return nil
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("there is no %s beside gq or in PATH; name the program with --server", name)
	}
	d.server = found
	return nil
}

// executable returns the name of the file of a program.
func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// start starts the server and waits until it listens.
func (d *dev) start(ctx context.Context, cfg *cluster.Config) error {
	cmd := exec.Command(d.server, "--cluster", filepath.Dir(cfg.File), "--bind", d.bind, "--dev", "--log-level", "warn")
	cmd.Stderr, cmd.Env = d.err, append(os.Environ(), server.DevFaultsVar+"="+d.studio.Faults)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	listens, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(out)
		for said := false; lines.Scan(); {
			fmt.Fprintln(d.out, lines.Text())
			if !said && strings.HasPrefix(lines.Text(), "OMNIGRAPH_LISTEN_ADDR=") {
				said = true
				close(listens)
			}
		}
		_ = cmd.Wait()
	}()
	d.child, d.ended = cmd, ended
	select {
	case <-listens:
	case <-ended:
	case <-ctx.Done():
	}
	return nil
}

// stop stops the server and removes the folder temp.
func (d *dev) stop() error {
	if d.child != nil {
		_ = d.child.Process.Signal(stopSignal)
		select {
		case <-d.ended:
		case <-time.After(devStop):
			_ = d.child.Process.Kill()
			<-d.ended
		}
	}
	return os.RemoveAll(d.temp)
}
