package audittrail

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// Copy copies the chains of all servers to another store, with the names of the actors, and returns the number of their records. A server
// may record calls meanwhile: later records may be missing. The target may have an earlier copy, whose chains continue. If it has
// other records, the error is a *engine.Conflict, and nothing is copied. Copy does not check the chains; see [Store.Verify].
func (s *Store) Copy(ctx context.Context, to *Store) (records uint64, err error) {
	for range attempts { // a writer may merge a part before it is read
		if records, err = s.copyOnce(ctx, to); !errors.Is(err, object.ErrNotFound) {
			break
		}
	}
	return records, err
}

// copyOnce is like Copy. The error matches object.ErrNotFound if a part was merged or removed meanwhile.
func (s *Store) copyOnce(ctx context.Context, to *Store) (records uint64, err error) {
	chains, err := s.chains(ctx, "")
	if err != nil {
		return 0, err
	}
	for _, c := range chains {
		if err := s.continues(ctx, c, to); err != nil {
			return 0, err
		}
	}
	for _, c := range chains {
		parts, err := s.strays(ctx, c)
		if err != nil {
			return 0, err
		}
		names, err := s.bucket.Read(ctx, s.namesObject(c.server), 0, object.Whole)
		switch {
		case err == nil:
			err = to.bucket.Put(ctx, to.namesObject(c.server), names)
		case errors.Is(err, object.ErrNotFound):
			err = nil
		}
		if err != nil {
			return 0, err
		}
		for _, p := range append(parts, c.parts...) {
			if err := s.copyPart(ctx, c.server, p, to); err != nil {
				return 0, err
			}
		}
		for _, p := range c.parts {
			records += p.last - p.first + 1
		}
	}
	return records, nil
}

// continues checks that the records that another store has of a chain are the first ones of the chain.
func (s *Store) continues(ctx context.Context, c *chain, to *Store) error {
	list, err := to.chains(ctx, c.server)
	if err != nil || len(list) == 0 || len(list[0].parts) == 0 {
		return err
	}
	has := list[0].parts[len(list[0].parts)-1]
	h, err := to.header(ctx, c.server, has)
	if err != nil {
		return err
	}
	for _, p := range c.parts {
		if p.first > has.last || has.last > p.last {
			continue
		}
		heads, err := s.heads(ctx, s.object(c.server, p))
		if err != nil {
			return err
		}
		if heads[has.last] == h.head {
			return nil
		}
	}
	return &engine.Conflict{Reason: fmt.Sprintf("the target has an audit trail of the server %s with other records, up to number %d; copy to a storage without it", c.server, has.last)}
}

// copyPart copies a part, unless the other store has it.
func (s *Store) copyPart(ctx context.Context, server string, p partName, to *Store) error {
	data, err := s.bucket.Read(ctx, s.object(server, p), 0, object.Whole)
	if err != nil {
		return err
	}
	name := to.object(server, p)
	err = to.bucket.Create(ctx, name, data)
	if errors.Is(err, object.ErrExists) {
		var found []byte
		if found, err = to.bucket.Read(ctx, name, 0, object.Whole); err == nil && !bytes.Equal(found, data) {
			err = &engine.Conflict{Reason: "it is there with other bytes"}
		}
	}
	if err != nil {
		return fmt.Errorf("the part %s of the copy of the audit trail: %w", name, err)
	}
	return nil
}
