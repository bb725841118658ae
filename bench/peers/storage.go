package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
)

// loads fills every database in a separate process, and prints W11.
func (b *bench) loads(ctx context.Context) error {
	start := time.Now()
	rows := 0
	for range b.graph.AllPersons() {
		rows++
	}
	for range b.graph.AllCompanies() {
		rows++
	}
	for range b.graph.AllPosts() {
		rows++
	}
	for range b.graph.Acquaintances() {
		rows++
	}
	for range b.graph.AllWorksAt() {
		rows++
	}
	for range b.graph.AllAuthored() {
		rows++
	}
	making := time.Since(start)
	if rows != b.graph.Rows() {
		return fmt.Errorf("the graph lists %d rows, but reports %d", rows, b.graph.Rows())
	}
	t := &table{head: []string{"W11, load", "time", "disk", "peak memory", "of it without mapped files"}}
	// The goals compare loading with a text index, so peers without one are compared separately.
	var all, indexed costs
	for _, p := range b.peers {
		dir := b.dirOf(p)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		profile := ""
		if _, ours := p.(omnigraph); ours && b.profile != "" {
			profile = filepath.Join(b.profile, "w11.pprof")
		}
		watch := func() memory { return memory{} }
		_, served := p.(postgres)
		if served {
			watch = watchMemory(func() (memory, error) { return treeMemory(b.server.PID()) })
		}
		o, err := b.child(ctx, child{task: "load", peer: p.name(), dir: dir, profile: profile})
		if m := watch(); served {
			o.Memory = m
		}
		if err != nil {
			return err
		}
		data := dir
		if served { // the server keeps its log for reuse; the log is not data
			data = filepath.Join(dir, "data", "base")
		}
		size, err := diskBytes(data)
		if err != nil {
			return err
		}
		name := p.name()
		searches, err := p.searches(ctx, dir)
		if err != nil {
			return err
		}
		if !searches {
			name += " (no text index)"
		}
		t.add(name, fmt.Sprintf("%.2f s", o.Seconds), mega(size), mega(o.Memory.RSS), mega(o.Memory.Anon))
		held := float64(o.Memory.RSS)
		if p == (omnigraph{}) {
			held = float64(o.Memory.Anon)
		}
		all.add(o.Seconds, float64(size), held)
		switch {
		case searches:
			indexed.add(o.Seconds, float64(size), held)
		case len(indexed.time) == 0: // this engine comes first: nothing to compare
			indexed.add(math.NaN(), math.NaN(), math.NaN())
		}
	}
	indexed.ratios(t, "ratio to the best peer with a text index (goal)")
	all.ratios(t, "ratio to the best peer (goal)")
	t.print()
	fmt.Printf("The file has %s and %d lines; this engine reads it. The peers get the rows while\nthey are generated. Their times include the generation, which takes %.2f s. The memory of PostgreSQL is that of its server.\n\n",
		megaOf(b.file), b.graph.Rows(), making.Seconds())
	return nil
}

// costs are the costs of loading, with this engine first: seconds, bytes on disk, and peak bytes of
// memory. The memory of this engine excludes mapped files.
type costs struct{ time, disk, memory []float64 }

// add adds the costs of one database.
func (c *costs) add(seconds, disk, memory float64) {
	c.time = append(c.time, seconds)
	c.disk = append(c.disk, disk)
	c.memory = append(c.memory, memory)
}

// ratios adds a row with the ratios of this engine's costs to those of the best peer.
func (c *costs) ratios(t *table, label string) {
	t.add(label, ratio(c.time, 0.3), ratio(c.disk, 1.5), "", ratio(c.memory, 1))
}

const (
	warmOpens = 15 // opens with the file in the page cache
	coldOpens = 7  // opens after the page cache was dropped
)

// opens measures the time from opening to the first answer, in new processes, and prints W12.
func (b *bench) opens(ctx context.Context) error {
	warm, cold := make(map[string]*series), make(map[string]*series)
	for _, p := range b.peers {
		warm[p.name()], cold[p.name()] = &series{}, &series{}
	}
	for n := range warmOpens + coldOpens {
		for _, i := range b.rng.Perm(len(b.peers)) {
			p, into := b.peers[i], warm
			if n >= warmOpens {
				if _, served := p.(postgres); served {
					continue // the server keeps the files open and caches their contents
				}
				into = cold
				if err := measure.DropCached(b.dirOf(p)); err != nil {
					return err
				}
			}
			o, err := b.child(ctx, child{task: "open", peer: p.name(), dir: b.dirOf(p)})
			if err != nil {
				return err
			}
			into[p.name()].add(time.Duration(o.Seconds * float64(time.Second)))
		}
	}
	t := &table{head: []string{"W12, open to first answer", "warm p50", "warm worst", "cold p50", "cold worst"}}
	for _, p := range b.peers {
		w, c := warm[p.name()], cold[p.name()]
		name := p.name()
		if _, served := p.(postgres); served {
			name += " (connecting to a server that runs)"
		}
		t.add(name, w.at(0.5), w.at(1), c.at(0.5), c.at(1))
	}
	t.add("goal", "29 ms", "", "100 ms", "")
	t.print()
	if b.profile == "" {
		return nil
	}
	_, err := b.child(ctx, child{task: "open", peer: omnigraph{}.name(), dir: b.dirOf(omnigraph{}), profile: filepath.Join(b.profile, "w12.pprof")})
	return err
}
