package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// lags are the delays between an acknowledged commit and its reads on another server.
type lags struct {
	seen   []time.Duration // until a server that polls the log shows the commit
	latest []time.Duration // of a wait for the end of the log, begun after the acknowledgement
}

// measureLag makes o.samples commits at random times. One server polls the log as a server does, and
// another one reads only when it must know the latest commit.
func measureLag(ctx context.Context, o options, s *storage, c *compiled) (l *lags, err error) {
	const id = "lag"
	at, done, err := place(ctx, s.delayed, id, filepath.Join(o.dir, id+"-writer"))
	if err != nil {
		return nil, err
	}
	defer done()
	g, err := embedded.CreateShared(ctx, at, social.Schema, c.schema, embedded.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	at.Cache = filepath.Join(o.dir, id+"-polling")
	polling, err := embedded.Follow(ctx, at, embedded.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, polling.Close()) }()
	at.Cache, at.Poll = filepath.Join(o.dir, id+"-asking"), -1
	asking, err := embedded.Follow(ctx, at, embedded.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, asking.Close()) }()
	rng := rand.New(rand.NewPCG(o.seed, 1))
	l = &lags{}
	for n := range o.samples {
		pause(ctx, time.Duration(rng.Int64N(int64(embedded.DefaultPoll))))
		change, err := g.Mutate(ctx, c.plans["add"], engine.Args{value.OfString(fmt.Sprint("added-", n))}, engine.WriteOptions{})
		if err != nil {
			return nil, err
		}
		acknowledged := clock.Now()
		waited := make(chan error, 1)
		go func() {
			err := asking.CatchUp(ctx)
			if err == nil {
				l.latest = append(l.latest, clock.Since(acknowledged))
				_, err = asking.Commit(ctx, change.Head.ID)
			}
			waited <- err
		}()
		err = until(ctx, func() error { _, err := polling.Commit(ctx, change.Head.ID); return err })
		l.seen = append(l.seen, clock.Since(acknowledged))
		if err = errors.Join(err, <-waited); err != nil {
			return nil, fmt.Errorf("commit %d: %w", n, err)
		}
	}
	return l, nil
}

// until repeats a call every millisecond, until the call succeeds.
func until(ctx context.Context, find func() error) error {
	for {
		err := find()
		var missing *engine.NotFound
		if !errors.As(err, &missing) || ctx.Err() != nil {
			return err
		}
		pause(ctx, time.Millisecond)
	}
}
