package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// commits are the figures of writers that commit without pauses.
type commits struct {
	elapsed time.Duration
	times   []time.Duration // of each commit, from its call to its acknowledgement
}

// measureCommits lets `writers` goroutines add persons to a new graph for o.time; each adds at least one,
// however late it starts. It then compares the number of persons that another server sees with the number
// of acknowledged commits.
func measureCommits(ctx context.Context, o options, s *storage, c *compiled, writers int) (*commits, error) {
	id := fmt.Sprintf("commits-%d", writers)
	at, done, err := place(ctx, s.delayed, id, filepath.Join(o.dir, id))
	if err != nil {
		return nil, err
	}
	defer done()
	var failed atomic.Pointer[error] // of background checkpoints
	g, err := embedded.CreateShared(ctx, at, social.Schema, c.schema, embedded.Options{Failed: func(err error) { failed.Store(&err) }})
	if err != nil {
		return nil, err
	}
	all := &commits{}
	times, errs := make([][]time.Duration, writers), make([]error, writers)
	begin := clock.Now()
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			for n := 0; n == 0 || clock.Since(begin) < o.time; n++ {
				args := engine.Args{value.OfString(fmt.Sprintf("added-%d-%d", w, n))}
				start := clock.Now()
				if _, err := g.Mutate(ctx, c.plans["add"], args, engine.WriteOptions{}); err != nil {
					errs[w] = err
					return
				}
				times[w] = append(times[w], clock.Since(start))
			}
		})
	}
	running.Wait()
	all.elapsed = clock.Since(begin)
	for _, t := range times {
		all.times = append(all.times, t...)
	}
	err = errors.Join(errors.Join(errs...), g.Close())
	if background := failed.Load(); background != nil {
		err = errors.Join(err, *background)
	}
	if err != nil {
		return nil, err
	}
	at.Cache += "-again"
	at.Poll = -1
	f, err := embedded.Follow(ctx, at, embedded.Options{})
	if err != nil {
		return nil, err
	}
	found, err := persons(ctx, f)
	if err = errors.Join(err, f.Close()); err == nil && found != int64(len(all.times)) {
		err = fmt.Errorf("%s: another server finds %d persons after %d acknowledged commits", id, found, len(all.times))
	}
	return all, err
}
