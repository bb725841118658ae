// Package stock keeps what is for sale.
package stock

import (
	"errors"
	"fmt"

	"example.com/money"
)

// Item is one thing for sale.
type Item struct {
	Name  string
	Price money.Cents
}

// Shelf finds items.
type Shelf interface {
	// Find returns the item called name.
	Find(name string) (Item, error)
}

// Empty is an interface that everything satisfies.
type Empty interface{}

// ErrMissing says that there is no such item.
var ErrMissing = errors.New("missing")

// Limits of a shelf.
const (
	MaxItems  = 100
	minHTTPID = iota
	_
)

type memoryShelf map[string]Item

var _ Shelf = memoryShelf(nil)

// Standard is the shelf of the house.
var Standard Shelf = newShelf()

func newShelf() memoryShelf { return memoryShelf{} }

func init() { newShelf() }

// Find looks the name up.
func (m memoryShelf) Find(name string) (Item, error) {
	item, ok := m[name]
	if !ok {
		return Item{}, fmt.Errorf("%s: %w", name, ErrMissing)
	}
	return item, nil
}

// Pair holds two of a kind.
type Pair[T any] struct{ A, B T }

// Swap exchanges them.
func (p *Pair[T]) Swap() { p.A, p.B = p.B, p.A }

// Twice finds a name twice.
func Twice(s Shelf, name string) Pair[Item] {
	local := func() Item { i, _ := s.Find(name); return i }
	a, _ := s.Find(name)
	p := Pair[Item]{a, local()}
	p.Swap()
	return p
}
