package client

import (
	"errors"
	"iter"
)

// ErrNoProgress ends an iterator if the server sends the same page again. Otherwise the iterator
// would never end.
var ErrNoProgress = errors.New("the server returns the same page again and again; check whether a proxy between the client and the server caches answers")

// items returns the items of all pages. After an error it stops.
func items[P, T any](pages iter.Seq2[P, error], of func(P) []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, err := range pages {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range of(page) {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}
