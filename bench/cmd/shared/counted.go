package main

import (
	"context"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// countedBucket counts the reads and lists of another bucket. Followers send no other requests.
type countedBucket struct {
	object.Bucket
	requests, bytes atomic.Int64
}

// Read implements object.Bucket.
func (b *countedBucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	data, err := b.Bucket.Read(ctx, name, offset, length)
	b.requests.Add(1)
	b.bytes.Add(int64(len(data)))
	return data, err
}

// List implements object.Bucket.
func (b *countedBucket) List(ctx context.Context, prefix, after string, limit int) ([]object.Entry, error) {
	b.requests.Add(1)
	return b.Bucket.List(ctx, prefix, after, limit)
}
