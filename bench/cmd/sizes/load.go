package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/serverproc"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// costs are what a load took.
type costs struct {
	rows      int           // number of rows loaded
	wall      time.Duration // elapsed time
	processor time.Duration // user and system time of the load, without the generator
	memory    int64         // highest RssAnon of the load, in bytes
	swap      int64         // highest VmSwap of the load, in bytes
	peak      int64         // highest size of the graph's files, in bytes
	disk      int64         // size of the graph's files at the end, in bytes
}

// String returns a row of the table.
func (c costs) String() string {
	return fmt.Sprintf("| %d | %.2f s | %.2f s | %.2f µs | %d MB | %d MB | %d MB | %d MB |", c.rows,
		c.wall.Seconds(), c.processor.Seconds(), float64(c.wall.Microseconds())/float64(c.rows),
		c.memory/1e6, c.swap/1e6, c.peak/1e6, c.disk/1e6)
}

const (
	memoryInterval = 50 * time.Millisecond  // time between two readings of the memory
	diskInterval   = 500 * time.Millisecond // time between two readings of the disk
)

// cluster is the configuration of a server with the graph. The policy allows the actor reads.
const (
	cluster = `version: 1
metadata: { name: sizes }
storage: ./data
graphs:
  social:
    schema: queries/social/schema.pg
    queries: queries/social/
policies:
  base: { file: queries/policy.yaml, applies_to: [social] }
`
	policy = `version: 1
rules:
  - id: reader
    allow: { actors: { ids: [act-dev] }, actions: [read] }
`
)

// load makes the cluster's folder of a graph, and loads the graph from the pipe of a generator. The
// size of the graph is the factor times the full size.
func load(ctx context.Context, o options, g *social.Graph, factor float64) (costs, error) {
	dir := o.folder(g)
	schema := filepath.Join(dir, "queries", graphID, "schema.pg")
	if err := os.MkdirAll(filepath.Dir(schema), 0o755); err != nil {
		return costs{}, err
	}
	for name, text := range map[string]string{
		schema:                             social.Schema,
		filepath.Join(dir, "cluster.yaml"): cluster,
		filepath.Join(dir, "queries/policy.yaml"): policy,
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return costs{}, err
		}
	}
	init := exec.CommandContext(ctx, o.command("omnigraph"), "init", "--schema", schema, "--store", o.store(g))
	if out, err := init.CombinedOutput(); err != nil {
		return costs{}, fmt.Errorf("omnigraph init: %w\n%s", err, out)
	}
	generator := exec.CommandContext(ctx, o.command("bench-graph"),
		"-size", strconv.FormatFloat(factor, 'g', -1, 64), "-seed", strconv.FormatUint(o.seed, 10))
	loader := exec.CommandContext(ctx, o.command("omnigraph"), "load", "--store", o.store(g), "--data", "-", "--mode", "overwrite")
	var out bytes.Buffer
	loader.Stdout, loader.Stderr, generator.Stderr = &out, &out, os.Stderr
	r, w, err := os.Pipe()
	if err != nil {
		return costs{}, err
	}
	generator.Stdout, loader.Stdin = w, r
	c := costs{rows: g.Rows()}
	begin := clock.Now()
	err = loader.Start()
	r.Close()
	if err == nil {
		if err = generator.Start(); err != nil {
			_ = loader.Process.Kill() // fails if the process has ended
			_ = loader.Wait()         // the error of the generator is the one to report
		}
	}
	w.Close()
	if err != nil {
		return costs{}, err
	}
	done := make(chan error, 1)
	go func() { done <- loader.Wait() }()
	err = watch(&c, o.store(g), loader.Process.Pid, done)
	c.wall = clock.Since(begin)
	generated := generator.Wait() // if the loader has failed, the generator ends when it writes to the closed pipe
	if err != nil {
		return costs{}, fmt.Errorf("omnigraph load of %d rows: %w\n%s", c.rows, err, out.Bytes())
	}
	if generated != nil {
		return costs{}, fmt.Errorf("the generator: %w", generated)
	}
	c.processor = loader.ProcessState.UserTime() + loader.ProcessState.SystemTime()
	c.disk = diskBytes(o.store(g))
	c.peak = max(c.peak, c.disk)
	return c, nil
}

// watch samples the memory of a process and the size of a folder until the channel delivers the
// result of the process, and returns that result.
func watch(c *costs, dir string, pid int, done <-chan error) error {
	memory, disk := time.NewTicker(memoryInterval), time.NewTicker(diskInterval)
	defer memory.Stop()
	defer disk.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-memory.C:
			// A process that has ended has no such lines; the loop ends then.
			if status, err := serverproc.Status(pid); err == nil {
				anon, _ := serverproc.KiB(status, "RssAnon")
				swap, _ := serverproc.KiB(status, "VmSwap")
				c.memory, c.swap = max(c.memory, anon<<10), max(c.swap, swap<<10)
			}
		case <-disk.C:
			c.peak = max(c.peak, diskBytes(dir))
		}
	}
}

// diskBytes returns the size of the files in a folder. A load removes files meanwhile, so files that
// have gone count as empty.
func diskBytes(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
