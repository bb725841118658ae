package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/bench/social"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// opens are the figures of opens with an empty cache up to the first answer.
type opens struct {
	times    []time.Duration
	requests int64 // reads and lists of the last open
	bytes    int64 // read by the last open
}

// measureOpen opens a graph o.runs times, each time with an empty cache, and makes one read.
func measureOpen(ctx context.Context, o options, s *storage, c *compiled, id string, rows *social.Graph, r read) (*opens, error) {
	all := &opens{}
	for n := range o.runs {
		cache, err := os.MkdirTemp(o.dir, "cache-")
		if err != nil {
			return nil, err
		}
		err = all.open(ctx, s, c, id, cache, rows, r, n)
		if err = errors.Join(err, os.RemoveAll(cache)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// open measures one open. The connection to the storage is new.
func (all *opens) open(ctx context.Context, s *storage, c *compiled, id, cache string, rows *social.Graph, r read, n int) error {
	at, done, err := place(ctx, s.delayed, id, cache)
	if err != nil {
		return err
	}
	defer done()
	at.Poll = -1
	counted := counting(&at)
	begin := clock.Now()
	f, err := embedded.Follow(ctx, at, embedded.Options{})
	if err != nil {
		return err
	}
	count, err := r.do(ctx, f, c, rows, n)
	all.times = append(all.times, clock.Since(begin))
	all.requests, all.bytes = counted.requests.Load(), counted.bytes.Load()
	if err == nil && count == 0 {
		err = fmt.Errorf("%s found no row", r.what)
	}
	return errors.Join(err, f.Close())
}

// loadShared makes a graph of the given rows in storage, without the delays of the proxy.
func loadShared(ctx context.Context, o options, s *storage, c *compiled, id string, rows *social.Graph) error {
	cache := filepath.Join(o.dir, id+"-writer")
	err := create(ctx, s.direct, id, cache, c, func(g *embedded.Graph) error { return load(ctx, g, rows) })
	return errors.Join(err, os.RemoveAll(cache))
}
