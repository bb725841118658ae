package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// firstAdded is the number of the first added person. No graph contains that number.
	firstAdded   = 5_000_000
	commitRounds = 5  // rounds of each database
	manyWriters  = 16 // number of concurrent writers
)

// commits measures durable commits with one writer and with many, and prints W10. The databases
// take turns in random order.
func (b *bench) commits(ctx context.Context, sessions []session) error {
	var err error
	sync := &series{}
	var next atomic.Int64
	next.Store(firstAdded)
	t := &table{head: []string{"W10, durable commit of a node and an edge", "1 writer p50", "p99", "worst", "a second", "16 writers p50", "p99", "worst", "a second"}}
	cells := make([][]string, len(sessions))
	medians := make([]float64, len(sessions))
	rates := make([]float64, len(sessions))
	for _, writers := range []int{1, manyWriters} {
		commits := make([][]commitFunc, len(sessions))
		figures := make([]*series, len(sessions))
		elapsed := make([]time.Duration, len(sessions))
		for i, s := range sessions {
			if commits[i], err = s.writers(ctx, writers); err != nil {
				return fmt.Errorf("%s: %w", b.peers[i].name(), err)
			}
			figures[i] = &series{}
		}
		for range commitRounds {
			for _, i := range b.rng.Perm(len(sessions)) {
				took, err := b.commitFor(ctx, b.budget/(2*commitRounds), commits[i], &next, figures[i])
				if err != nil {
					return fmt.Errorf("%s, w10: %w", b.peers[i].name(), err)
				}
				elapsed[i] += took
			}
			if writers == 1 {
				if err := b.timeSync(sync); err != nil {
					return err
				}
			}
		}
		for i, f := range figures {
			rate := float64(len(f.times)) / elapsed[i].Seconds()
			cells[i] = append(cells[i], f.at(0.5), f.at(0.99), f.at(1), fmt.Sprintf("%.0f", rate))
			if writers == 1 {
				medians[i] = seconds(f, 0.5)
			} else {
				rates[i] = rate
			}
		}
	}
	for i, p := range b.peers {
		t.add(append([]string{p.name()}, cells[i]...)...)
	}
	if len(sessions) > 1 {
		t.add("ratio (goal)", ratio(medians, 0.8), "", "", "", "", "", "", fmt.Sprintf("%.1f × SQLite (≥ 5)", rates[0]/rates[1]))
	}
	t.print()
	fmt.Printf("Between those rounds, writing 4 KiB of a file in place and waiting for fdatasync took %s (median of %d):\n"+
		"this engine's commit with one writer takes %s more.\n\n",
		sync.at(0.5), len(sync.times), brief(time.Duration(medians[0]*float64(time.Second))-sync.quantile(0.5)))
	if b.profile == "" {
		return nil
	}
	commit, err := sessions[0].writers(ctx, 1)
	if err != nil {
		return err
	}
	stop, err := startProfile(filepath.Join(b.profile, "w10.pprof"))
	if err != nil {
		return err
	}
	if _, err := b.commitFor(ctx, 2*time.Second, commit, &next, &series{}); err != nil {
		return err
	}
	return stop()
}

// commitFor lets all writers commit for the duration d, and returns the elapsed time.
func (b *bench) commitFor(ctx context.Context, d time.Duration, writers []commitFunc, next *atomic.Int64, into *series) (time.Duration, error) {
	var wg sync.WaitGroup
	times, errs := make([]series, len(writers)), make([]error, len(writers))
	start := time.Now()
	for w, commit := range writers {
		rng := rand.New(rand.NewPCG(b.seed, uint64(next.Load())+uint64(w)))
		wg.Go(func() {
			for time.Since(start) < d {
				person, known, day := int(next.Add(1)), rng.IntN(b.graph.Persons), 15_000+rng.IntN(1_000)
				slug, friend := b.graph.PersonSlug(person), b.graph.PersonSlug(known)
				begin := time.Now()
				if errs[w] = commit(ctx, person, slug, friend, day); errs[w] != nil {
					return
				}
				times[w].add(time.Since(begin))
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	for w := range times {
		if errs[w] != nil {
			return 0, errs[w]
		}
		into.times = append(into.times, times[w].times...)
	}
	into.sorted = false
	return took, nil
}

// timeSync measures a file sync. Every durable commit must wait for one.
func (b *bench) timeSync(into *series) error {
	f, err := os.Create(filepath.Join(b.dir, "sync"))
	if err != nil {
		return err
	}
	defer f.Close()
	page := make([]byte, 4096)
	const pages = 256
	for i := range int64(pages) {
		if _, err := f.WriteAt(page, i*int64(len(page))); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	for i := range 200 {
		start := time.Now()
		if _, err := f.WriteAt(page, int64(i%pages)*int64(len(page))); err != nil {
			return err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return err
		}
		into.add(time.Since(start))
	}
	return nil
}
