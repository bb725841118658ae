package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// establishPause is the time between two attempts of [Establish].
const establishPause = 200 * time.Millisecond

// Establish creates an object and finds out whether this call made it, even if the storage does not
// answer some of the requests. It repeats its requests until the context ends. It returns nil if the
// object exists with exactly the bytes in `data`. The error matches [ErrExists] if the object exists
// with other bytes.
func Establish(ctx context.Context, b Bucket, name string, data []byte) error {
	for {
		err := b.Create(ctx, name, data)
		if errors.Is(err, ErrExists) {
			var found []byte
			if found, err = b.Read(ctx, name, 0, Whole); err == nil {
				if bytes.Equal(found, data) {
					return nil
				}
				return fmt.Errorf("creating %s: %w", name, ErrExists)
			}
		}
		// ErrNotFound means that the object was deleted between the two requests.
		if !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrBusy) && !errors.Is(err, ErrNotFound) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(establishPause):
		}
	}
}

// ListAll returns all objects whose names start with `prefix`, ordered by the bytes of their names.
func ListAll(ctx context.Context, b Bucket, prefix string) ([]Entry, error) {
	var all []Entry
	after := ""
	for {
		page, err := b.List(ctx, prefix, after, MaxList)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < MaxList {
			return all, nil
		}
		after = page[len(page)-1].Name
	}
}
