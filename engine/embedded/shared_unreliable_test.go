package embedded_test

import (
	"context"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/enginetest"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

func init() {
	installed = append(installed, storageKind{"unreliable", func(t *testing.T) object.Bucket {
		b := newUnreliable(1)
		t.Cleanup(func() { b.report(t) })
		return b
	}})
}

// TestRandomUnreliable compares two servers with the model, as TestRandomShared does, while the storage
// refuses some requests and loses some others or their replies.
func TestRandomUnreliable(t *testing.T) {
	o := half()
	o.Seed += 8 * reopenedSeeds
	var mu sync.Mutex
	var buckets []*unreliable
	enginetest.RunRandom(t, func(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
		h := fnv.New64a()
		_, _ = io.WriteString(h, source) // so that the seed of a graph also determines its faults
		b := newUnreliable(h.Sum64())
		mu.Lock()
		buckets = append(buckets, b)
		mu.Unlock()
		return openServersIn(t, b, "graph/1/", source, schema)
	}, o)
	all := &unreliable{}
	for _, b := range buckets {
		all.add(b)
	}
	all.report(t)
}

// unreliable is a bucket in memory that refuses about one request in 300, loses one in 300 before it is
// carried out, and loses the reply of one in 300 after it.
type unreliable struct {
	object.Memory

	mu  sync.Mutex
	rng *rand.Rand

	requests, refused, lost, unanswered int
}

func newUnreliable(seed uint64) *unreliable { return &unreliable{rng: rand.New(rand.NewPCG(seed, 0))} }

// send carries out a request, or not.
func (b *unreliable) send(request func() error) error {
	b.mu.Lock()
	b.requests++
	fate := b.rng.IntN(300)
	switch fate {
	case 0:
		b.refused++
	case 1:
		b.lost++
	case 2:
		b.unanswered++
	}
	b.mu.Unlock()
	switch fate {
	case 0:
		return object.ErrBusy
	case 1:
		return object.ErrUnknown
	case 2:
		_ = request() // the caller does not learn the result
		return object.ErrUnknown
	}
	return request()
}

// add adds the counts of another bucket.
func (b *unreliable) add(other *unreliable) {
	other.mu.Lock()
	defer other.mu.Unlock()
	b.requests += other.requests
	b.refused += other.refused
	b.lost += other.lost
	b.unanswered += other.unanswered
}

// report logs the counts, and fails the test if it sent many requests and one kind of fault never happened.
func (b *unreliable) report(t *testing.T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.Logf("of %d requests the storage refused %d, lost %d, and lost the replies of %d", b.requests, b.refused, b.lost, b.unanswered)
	if b.requests > 10_000 && min(b.refused, b.lost, b.unanswered) == 0 {
		t.Error("some kind of fault never happened")
	}
}

func (b *unreliable) Create(ctx context.Context, name string, data []byte) error {
	return b.send(func() error { return b.Memory.Create(ctx, name, data) })
}

func (b *unreliable) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	return b.send(func() error { return b.Memory.Upload(ctx, name, r, size) })
}

func (b *unreliable) Read(ctx context.Context, name string, offset, length int64) (data []byte, err error) {
	err = b.send(func() error {
		data, err = b.Memory.Read(ctx, name, offset, length)
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

func (b *unreliable) List(ctx context.Context, prefix, after string, limit int) (entries []object.Entry, err error) {
	err = b.send(func() error {
		entries, err = b.Memory.List(ctx, prefix, after, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

func (b *unreliable) Put(ctx context.Context, name string, data []byte) error {
	return b.send(func() error { return b.Memory.Put(ctx, name, data) })
}

func (b *unreliable) Delete(ctx context.Context, name string) error {
	return b.send(func() error { return b.Memory.Delete(ctx, name) })
}
