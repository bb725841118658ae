// Package storedtest has a storage in memory for the tests of stored data.
package storedtest

import (
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
)

// Blocks is a source of blocks in memory.
type Blocks map[string][]byte

// Name returns the name of the source in errors.
func (Blocks) Name() string { return "file" }

// Add stores a copy of a block.
func (m Blocks) Add(name string, data []byte) error {
	m[name] = slices.Clone(data)
	return nil
}

// Block returns a block. It returns an *engine.NotFound if there is none.
func (m Blocks) Block(name string) ([]byte, error) {
	if b, ok := m[name]; ok {
		return b, nil
	}
	return nil, &engine.NotFound{What: "block", Name: name}
}

// Pieces returns a block for reading in parts.
func (m Blocks) Pieces(name string) (column.Pieces, error) {
	b, err := m.Block(name)
	return whole(b), err
}

// whole is a block whose parts are in memory.
type whole []byte

func (b whole) Len() int { return len(b) }

func (b whole) Range(from, to int) ([]byte, error) { return b[from:to:to], nil }

func (whole) Prefetch(int, int) {}

func (whole) WorthWhole() bool { return true }

func (b whole) Append(dst []byte, from, to int) ([]byte, error) {
	return append(dst, b[from:to]...), nil
}

// IsBadData reports whether an error is that of corrupt data, or of data in a newer or an older format.
func IsBadData(err error) bool {
	return errors.As(err, new(*engine.Corrupt)) || errors.As(err, new(*engine.NewerFormat)) || errors.As(err, new(*engine.OlderFormat))
}
