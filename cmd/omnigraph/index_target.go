package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/index"
)

// indexTarget is the graph that omnigraph index go --watch writes to.
type indexTarget struct{ endpoint }

// Flags implements [index.Target].
func (t *indexTarget) Flags(cmd *cobra.Command) { t.endpoint.flags(cmd) }

// Open implements [index.Target].
func (t *indexTarget) Open(cmd *cobra.Command) (index.LoadFunc, func() error, error) {
	s, err := t.open(cmd)
	if err != nil {
		return nil, nil, err
	}
	load := func(ctx context.Context, data io.Reader, q client.LoadQuery) (*client.LoadAnswer, error) {
		a, err := s.graph.Load(ctx, data, q)
		if errors.Is(err, client.ErrTooLarge) {
			err = fmt.Errorf("%w\n%s", err, tooLargeToLoad)
		}
		return a, err
	}
	return load, s.Close, nil
}
