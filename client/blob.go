package client

import (
	"context"
	"fmt"
	"strconv"
)

// BlobPlace is a property of one node or edge that holds a Blob.
type BlobPlace struct {
	Entity   string // node or edge
	Type     string // the name of the type
	ID       string
	Property string // name of the Blob property
}

// Blob returns the bytes of a Blob. [ByteRange] selects a part of them.
func (g *Graph) Blob(ctx context.Context, place BlobPlace, options ...ReadOption) (*Stream, error) {
	q := g.get("/blob", options)
	for name, v := range map[string]string{"entity": place.Entity, "type": place.Type, "id": place.ID, "property": place.Property} {
		q.query.Set(name, v)
	}
	return g.stream(ctx, q, "the Blob")
}

// ByteRange reads the bytes of a Blob from `first` to `last`, both included. If `last` is negative,
// it reads to the end.
func ByteRange(first, last int64) ReadOption {
	return func(q *request) {
		if last < 0 {
			q.header.Set("Range", fmt.Sprintf("bytes=%d-", first))
			return
		}
		q.header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, last))
	}
}

// IfUnchanged reads a Blob only if the state to read is still the given commit. A caller usually
// gives the [Stream].Commit of an earlier read. Otherwise the error matches [ErrPrecondition].
func IfUnchanged(commit string) ReadOption {
	return func(q *request) { q.header.Set("If-Match", strconv.Quote(commit)) }
}
