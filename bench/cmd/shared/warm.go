package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/bench/measure"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/fs"
)

// warm compares a read of a graph in a folder with the same read of a server that shares storage.
type warm struct {
	folder, shared []time.Duration // the median of each round
}

// ratio returns the median of the ratios of the rounds, and the least and the greatest ratio.
func (w *warm) ratio() (median, least, greatest float64) {
	var all []float64
	for i := range w.folder {
		all = append(all, float64(w.shared[i])/float64(w.folder[i]))
	}
	slices.Sort(all)
	return all[(len(all)-1)/2], all[0], all[len(all)-1]
}

// readsPerRound is the number of timed reads of each graph in a round.
const readsPerRound = 200

// loadFolder makes a graph of the given rows in a folder.
func loadFolder(ctx context.Context, o options, c *compiled, id string, rows *social.Graph) (dir string, err error) {
	dir = filepath.Join(o.dir, id+"-folder")
	g, err := embedded.Create(ctx, fs.OS(), dir, social.Schema, c.schema, embedded.Options{})
	if err != nil {
		return "", err
	}
	return dir, errors.Join(load(ctx, g, rows), g.Close())
}

// measureWarm makes o.rounds rounds of each read. The two graphs take turns, and begin in turns. Before
// the first round, each graph makes the reads of a round that is not timed.
func measureWarm(ctx context.Context, o options, s *storage, c *compiled, dir, id string, rows *social.Graph, reads []read) (results []*warm, err error) {
	at, done, err := place(ctx, s.direct, id, filepath.Join(o.dir, id+"-reader"))
	if err != nil {
		return nil, err
	}
	defer done()
	folder, err := embedded.Open(ctx, fs.OS(), dir, embedded.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	shared, err := embedded.Follow(ctx, at, embedded.Options{}) // polls the log meanwhile, as a server does
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, shared.Close()) }()
	for _, r := range reads {
		w := &warm{}
		turn := func(g engine.Graph, to *[]time.Duration, round int) error {
			times := make([]time.Duration, readsPerRound)
			for i := range times {
				start := clock.Now()
				if _, err := r.do(ctx, g, c, rows, round*readsPerRound+i); err != nil {
					return err
				}
				times[i] = clock.Since(start)
			}
			slices.Sort(times)
			*to = append(*to, measure.Quantile(times, 0.5))
			return nil
		}
		var untimed []time.Duration
		for round := range o.rounds + 1 {
			if round == 0 { // fills the caches
				if err := errors.Join(turn(folder, &untimed, 1), turn(shared, &untimed, 1)); err != nil {
					return nil, err
				}
				continue
			}
			first := func() error { return turn(folder, &w.folder, round) }
			second := func() error { return turn(shared, &w.shared, round) }
			if round%2 == 0 {
				first, second = second, first
			}
			if err := errors.Join(first(), second()); err != nil {
				return nil, err
			}
		}
		results = append(results, w)
	}
	return results, nil
}
