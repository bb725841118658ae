package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// modes lists the ways that a server can offer the stored queries.
var modes = []struct {
	name      string
	threshold int // number of exposed queries at or above which the meta tools replace them
}{{"a tool for each query", 10_000}, {"the meta tools", 24}}

// loop is an author's module and its measurements.
type loop struct {
	root, dir string // folders of this repository and of the module

	generates, builds map[string][]sample // keyed by the name of an edit
	boots             map[string][]sample // keyed by the name of a mode
}

// sample holds the time and memory of a process and its children.
type sample struct {
	wall, cpu time.Duration // elapsed time and processor time
	peak      float64       // peak resident memory of the largest process, in MB of a million bytes
}

// prepare makes the module, and generates and builds it once, so that the build cache holds
// everything that an edit does not change.
func prepare(ctx context.Context, root, dir string) (*loop, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	l := &loop{root: root, dir: dir, generates: map[string][]sample{}, builds: map[string][]sample{}, boots: map[string][]sample{}}
	if err := writeModule(dir, root); err != nil {
		return nil, err
	}
	if err := write(dir, "cluster.yaml", fmt.Sprintf(clusterText, modes[0].threshold)); err != nil {
		return nil, err
	}
	if _, err := l.run(ctx, root, "go", "build", "-o", filepath.Join(dir, "bin")+"/", "./cmd/gq", "./cmd/omnigraph"); err != nil {
		return nil, err
	}
	if _, err := l.generate(ctx); err != nil {
		return nil, err
	}
	if _, err := l.build(ctx); err != nil {
		return nil, err
	}
	_, err = l.run(ctx, dir, "bin/omnigraph", "cluster", "apply")
	return l, err
}

// generate runs gq generate.
func (l *loop) generate(ctx context.Context) (sample, error) {
	return l.run(ctx, l.dir, "bin/gq", "generate")
}

// build builds the server with the flags of make build in the module of gq init.
func (l *loop) build(ctx context.Context) (sample, error) {
	return l.run(ctx, l.dir, "go", "build", "-ldflags=-w", "-o", "bin/server", "./cmd/server")
}

// edit makes one edit in the file of a table, and measures gq generate and go build.
func (l *loop) edit(ctx context.Context, e edit, table int) error {
	unique := "x" + strconv.FormatInt(clock.Now().UnixNano(), 36)
	if err := write(l.dir, queryFile(table), e.apply(queryText(table), unique)); err != nil {
		return err
	}
	g, err := l.generate(ctx)
	if err != nil {
		return err
	}
	b, err := l.build(ctx)
	if err != nil {
		return err
	}
	l.generates[e.name], l.builds[e.name] = append(l.generates[e.name], g), append(l.builds[e.name], b)
	return nil
}

// boot measures the time until the server has opened the graph and listens.
func (l *loop) boot(ctx context.Context, m struct {
	name      string
	threshold int
}) (err error) {
	if err := write(l.dir, "cluster.yaml", fmt.Sprintf(clusterText, m.threshold)); err != nil {
		return err
	}
	if _, err := l.run(ctx, l.dir, "bin/omnigraph", "cluster", "apply"); err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(l.dir, "bin", "server"), "--cluster", ".", "--bind", "127.0.0.1:0", "--unauthenticated")
	cmd.Dir, cmd.Stderr = l.dir, &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	start := clock.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	wall := clock.Since(start)
	if err == nil && !strings.HasPrefix(line, "OMNIGRAPH_LISTEN_ADDR=") {
		err = fmt.Errorf("the server printed %q first, expected its address", line)
	}
	err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM))
	go io.Copy(io.Discard, stdout)
	if waitErr := cmd.Wait(); err != nil || waitErr != nil {
		return fmt.Errorf("%w\n%s", errors.Join(err, waitErr), &stderr)
	}
	s, err := sampleOf(cmd, wall)
	l.boots[m.name] = append(l.boots[m.name], s)
	return err
}

// run runs a process and measures it.
func (l *loop) run(ctx context.Context, dir, program string, args ...string) (sample, error) {
	if strings.HasPrefix(program, "bin/") {
		program = filepath.Join(l.dir, program)
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	start := clock.Now()
	if err := cmd.Run(); err != nil {
		return sample{}, fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, &out)
	}
	return sampleOf(cmd, clock.Since(start))
}

// sampleOf returns the time and memory of a process that has ended. `wall` is its elapsed time.
func sampleOf(cmd *exec.Cmd, wall time.Duration) (sample, error) {
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return sample{}, errors.New("the peak memory of a process cannot be measured on " + runtime.GOOS)
	}
	unit := 1024.0 // Linux reports kilobytes
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return sample{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), float64(usage.Maxrss) * unit / 1e6}, nil
}

// report prints the medians as a table.
func (l *loop) report(w io.Writer) {
	fmt.Fprintf(w, "\n%s\n\n", l.root)
	fmt.Fprintln(w, "| edited | gq generate | peak MB | go build | peak MB | both | processor |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- |")
	for _, e := range edits {
		g, b := l.generates[e.name], l.builds[e.name]
		both := make([]sample, len(g))
		for i := range g {
			both[i] = sample{wall: g[i].wall + b[i].wall, cpu: g[i].cpu + b[i].cpu}
		}
		fmt.Fprintf(w, "| %s | %s | %.0f | %s | %.0f | %s | %s |\n", e.name,
			seconds(g, wall), median(g, peak), seconds(b, wall), median(b, peak), seconds(both, wall), seconds(both, cpu))
	}
	fmt.Fprintln(w, "\n| start of the server | until it serves | processor | peak MB |")
	fmt.Fprintln(w, "| --- | --- | --- | --- |")
	for _, m := range modes {
		s := l.boots[m.name]
		fmt.Fprintf(w, "| %s | %s | %s | %.0f |\n", m.name, seconds(s, wall), seconds(s, cpu), median(s, peak))
	}
	fmt.Fprintf(w, "\nThe server's binary has %.1f MB, the generated Go %.1f MB.\n",
		l.size("bin", "server"), l.size("generated", "big", "*.go"))
}

// size returns the total size in MB of the files that match a pattern.
func (l *loop) size(pattern ...string) float64 {
	files, err := filepath.Glob(filepath.Join(append([]string{l.dir}, pattern...)...))
	if err != nil {
		panic(err) // the patterns are constants
	}
	total := int64(0)
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			total += info.Size()
		}
	}
	return float64(total) / 1e6
}

// wall, cpu and peak return a field of a sample.
func wall(s sample) time.Duration { return s.wall }
func cpu(s sample) time.Duration  { return s.cpu }
func peak(s sample) float64       { return s.peak }

// seconds returns the median of a time of the samples, in seconds.
func seconds(samples []sample, of func(sample) time.Duration) string {
	return fmt.Sprintf("%.2f s", median(samples, of).Seconds())
}

// median returns the median of a field of the samples.
func median[T cmp.Ordered](samples []sample, of func(sample) T) T {
	values := make([]T, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
