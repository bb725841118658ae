package embedded

import (
	"context"
	"io"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// request is one request to a bucket: its method, and the part of the object's name before the
// first number, for example "log".
type request struct{ method, kind string }

// hookedBucket calls a function around each request to another bucket.
type hookedBucket struct {
	object.Bucket
	// around carries out the request by calling `send`, or does not, and returns the error that the
	// caller gets.
	around func(r request, send func() error) error
}

func (b hookedBucket) do(method, name string, send func() error) error {
	kind, _, _ := strings.Cut(strings.TrimPrefix(name, sharedPrefix), "/")
	return b.around(request{method, kind}, send)
}

func (b hookedBucket) Create(ctx context.Context, name string, data []byte) error {
	return b.do("create", name, func() error { return b.Bucket.Create(ctx, name, data) })
}

func (b hookedBucket) Upload(ctx context.Context, name string, r io.Reader, size int64) error {
	return b.do("upload", name, func() error { return b.Bucket.Upload(ctx, name, r, size) })
}

func (b hookedBucket) Read(ctx context.Context, name string, offset, length int64) (data []byte, err error) {
	err = b.do("read", name, func() error {
		data, err = b.Bucket.Read(ctx, name, offset, length)
		return err
	})
	return data, err
}

func (b hookedBucket) List(ctx context.Context, prefix, after string, limit int) (entries []object.Entry, err error) {
	err = b.do("list", prefix, func() error {
		entries, err = b.Bucket.List(ctx, prefix, after, limit)
		return err
	})
	return entries, err
}

func (b hookedBucket) Delete(ctx context.Context, name string) error {
	return b.do("delete", name, func() error { return b.Bucket.Delete(ctx, name) })
}

// countedBucket counts the requests to another bucket.
type countedBucket struct {
	hookedBucket
	mu     sync.Mutex
	counts map[request]int
}

// counted returns a bucket that counts its requests to b.
func counted(b object.Bucket) *countedBucket {
	c := &countedBucket{counts: map[request]int{}}
	c.hookedBucket = hookedBucket{Bucket: b, around: func(r request, send func() error) error {
		c.mu.Lock()
		c.counts[r]++
		c.mu.Unlock()
		return send()
	}}
	return c
}

// count returns the number of requests of a kind since the last call of take.
func (c *countedBucket) count(r request) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[r]
}

// take returns the counts since the last call.
func (c *countedBucket) take() map[request]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := c.counts
	c.counts = map[request]int{}
	return counts
}
