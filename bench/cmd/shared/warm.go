package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
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

// warmReads are the reads of the comparison.
var warmReads = []read{lookup, hop, hops, search}

// measureWarm makes o.rounds rounds of each of warmReads. The two graphs take turns, and begin in turns.
// Before that, they make rounds for the time o.warmup that are not timed. Lookups are then frequent, so the
// engine copies what they read. It does that in the background, which takes much longer than a round.
func measureWarm(ctx context.Context, o options, s *storage, dir, id string) (results []*warm, err error) {
	folder, err := startReader(ctx, dir, "", "", o.rows[0], o.seed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.end()) }()
	shared, err := startReader(ctx, s.direct, id, filepath.Join(o.dir, id+"-reader"), o.rows[0], o.seed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, shared.end()) }()
	begin := clock.Now()
	for round := o.rounds; round == o.rounds || clock.Since(begin) < o.warmup; round++ {
		for number := range warmReads {
			for _, r := range []*reader{folder, shared} {
				if _, err := r.turn(number, round); err != nil {
					return nil, err
				}
			}
		}
	}
	results = make([]*warm, len(warmReads))
	for number := range results {
		results[number] = &warm{}
	}
	for round := range o.rounds {
		for number, w := range results { // other work on the machine then rarely disturbs most rounds of a read
			turn := func(r *reader, to *[]time.Duration) error {
				d, err := r.turn(number, round)
				*to = append(*to, d)
				return err
			}
			first := func() error { return turn(folder, &w.folder) }
			second := func() error { return turn(shared, &w.shared) }
			if round%2 == 1 {
				first, second = second, first
			}
			if err := errors.Join(first(), second()); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}
