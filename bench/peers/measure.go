package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
)

// series holds the times of one repeated operation.
type series struct {
	times  []time.Duration // time of each run
	sorted bool            // whether times is in ascending order
}

// add adds a time.
func (s *series) add(d time.Duration) { s.times, s.sorted = append(s.times, d), false }

// quantile returns the smallest time t such that the fraction q of all times is t or less.
func (s *series) quantile(q float64) time.Duration {
	if !s.sorted {
		slices.Sort(s.times)
		s.sorted = true
	}
	return measure.Quantile(s.times, q)
}

// at returns quantile q of the times.
func (s *series) at(q float64) string {
	if s == nil || len(s.times) == 0 {
		return "–"
	}
	return brief(s.quantile(q))
}

const (
	argumentSets = 500   // number of different arguments of a work
	mostRuns     = 2_000 // runs of a work end at this number
	leastRuns    = 20    // a work runs at least this often
	// Each database runs for blockTime before the next database runs. The time is short enough that
	// all see the same load of the machine, and long enough that most runs find the processor's
	// caches as the same database left them.
	blockTime             = 2 * time.Millisecond
	leastBlock, mostBlock = 10, 100 // limits of the runs in a block
	comparing             = 25      // the answers for this number of argument sets are compared
)

// reads checks that all databases return the same answers, measures them, and prints W1 to W9.
func (b *bench) reads(ctx context.Context, sessions []session) error {
	head := []string{"work"}
	for _, p := range b.peers {
		head = append(head, p.name()+" p50", "p99")
	}
	t := &table{head: append(head, "p50 ratio (goal)", "p99 ratio (goal)")}
	var notes []string
	for _, w := range works {
		args := workArgs(w, b.graph, argumentSets)
		statements := make([]statement, len(sessions))
		for i, s := range sessions {
			var why *absentError
			run, err := s.prepare(ctx, w)
			if asAbsent(err, &why) {
				notes = append(notes, fmt.Sprintf("%s, %s: %s.", b.peers[i].name(), w.id, why.reason))
				continue
			} else if err != nil {
				return fmt.Errorf("%s, %s: %w", b.peers[i].name(), w.id, err)
			}
			statements[i] = run
		}
		if err := b.agree(ctx, w, statements, args); err != nil {
			return err
		}
		figures, err := b.time(ctx, statements, args)
		if err != nil {
			return fmt.Errorf("%s: %w", w.id, err)
		}
		row := []string{w.id + " " + w.label}
		var p50, p99 []float64
		for i := range statements {
			row = append(row, figures[i].at(0.5), figures[i].at(0.99))
			p50, p99 = append(p50, seconds(figures[i], 0.5)), append(p99, seconds(figures[i], 0.99))
		}
		goal99 := w.goal99
		if goal99 == 0 {
			goal99 = w.goal
		}
		t.add(append(row, ratio(p50, w.goal), ratio(p99, goal99))...)
		if b.profile != "" && statements[0] != nil {
			if err := b.profileWork(ctx, w, statements[0], args); err != nil {
				return err
			}
		}
	}
	t.print()
	for _, n := range notes {
		fmt.Println("-", n)
	}
	fmt.Println()
	return nil
}

// time measures every statement in blocks, in random order.
func (b *bench) time(ctx context.Context, statements []statement, args [][]any) ([]*series, error) {
	figures, blocks := make([]*series, len(statements)), make([]int, len(statements))
	var order []int // index of the database for each block
	for i, run := range statements {
		if run == nil {
			continue
		}
		figures[i] = &series{}
		each, err := b.warmUp(ctx, run, args)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.peers[i].name(), err)
		}
		runs := min(max(int(b.budget/each), leastRuns), mostRuns)
		blocks[i] = min(max(int(blockTime/each), leastBlock), mostBlock)
		order = append(order, slices.Repeat([]int{i}, (runs+blocks[i]-1)/blocks[i])...)
	}
	b.rng.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	for n, i := range order {
		// The previous database has filled the processor's caches. One run without measurement
		// warms them.
		if _, err := statements[i](ctx, args[n%len(args)], nil); err != nil {
			return nil, fmt.Errorf("%s: %w", b.peers[i].name(), err)
		}
		for range blocks[i] {
			s := figures[i]
			a := args[len(s.times)%len(args)]
			start := time.Now()
			if _, err := statements[i](ctx, a, nil); err != nil {
				return nil, fmt.Errorf("%s: %w", b.peers[i].name(), err)
			}
			s.add(time.Since(start))
		}
	}
	return figures, nil
}

// warmUp runs a statement for a while and returns the mean time of a run, at least 1 ns.
func (b *bench) warmUp(ctx context.Context, run statement, args [][]any) (time.Duration, error) {
	start, n := time.Now(), 0
	for n < leastRuns || time.Since(start) < b.budget/10 && n < mostRuns {
		if _, err := run(ctx, args[n%len(args)], nil); err != nil {
			return 0, err
		}
		n++
	}
	return max(time.Since(start)/time.Duration(n), 1), nil
}

// profileWork runs only the engine, under the profiler.
func (b *bench) profileWork(ctx context.Context, w *work, run statement, args [][]any) error {
	stop, err := startProfile(filepath.Join(b.profile, w.id+".pprof"))
	if err != nil {
		return err
	}
	for start, n := time.Now(), 0; time.Since(start) < 2*time.Second; n++ {
		if _, err := run(ctx, args[n%len(args)], nil); err != nil {
			return err
		}
	}
	return stop()
}
