package audittrail

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

const (
	// Folder is the folder of the audit trail in a storage folder. No graph has such a name.
	Folder = ".audit"

	// Prefix begins the names of the objects of the audit trail in shared storage.
	Prefix = "audit/"
)

// Store reads the audit trail of a cluster. It is safe for concurrent use.
type Store struct {
	bucket object.Bucket
	prefix string // of the names of all objects

	mu      sync.Mutex
	headers map[string]*header // of parts, by the name of the object; guarded by mu
	bytes   int                // the sizes of the headers; guarded by mu
	stray   map[string]bool    // which covered parts are strays, by the name of the object; guarded by mu
}

// maxHeaders is the number of bytes of the headers that a Store keeps. With them, a query need not read a part to know that it has
// nothing to do with it.
const maxHeaders = 64 << 20

// NewStore returns the store in a bucket. The prefix is empty or ends in a slash.
func NewStore(bucket object.Bucket, prefix string) *Store {
	return &Store{bucket: bucket, prefix: prefix, headers: map[string]*header{}, stray: map[string]bool{}}
}

// chain is the chain of one server as it is stored.
type chain struct {
	server  string
	parts   []partName        // in the order of their records; none contains another
	covered []covered         // parts whose numbers another one contains
	names   map[uint64]string // the actors, by number
}

// covered is a part whose numbers another one contains.
type covered struct {
	partName
	by partName
}

// object returns the name of the object of a part.
func (s *Store) object(server string, p partName) string { return s.prefix + server + "/" + p.String() }

// namesObject is the name of the table of actors of a server.
func (s *Store) namesObject(server string) string { return s.prefix + server + "/names" }

// chains returns the chains of all servers, ordered by the names of the servers; or that of one server, if it is not "". A writer
// may merge parts while they are listed, so a list with a hole is made again.
func (s *Store) chains(ctx context.Context, server string) (all []*chain, err error) {
	for range attempts {
		if all, err = s.list(ctx, server); err != nil || !slices.ContainsFunc(all, (*chain).hasHole) {
			break
		}
	}
	return all, err
}

// attempts is how often a Store reads what a writer may change at the same time.
const attempts = 3

// hasHole reports whether the parts do not have all records from their first to their last one.
func (c *chain) hasHole() bool {
	for i := 1; i < len(c.parts); i++ {
		if c.parts[i].first > c.parts[i-1].last+1 {
			return true
		}
	}
	return false
}

// list is like chains, but does not look for holes.
func (s *Store) list(ctx context.Context, server string) ([]*chain, error) {
	byServer := map[string]*chain{}
	prefix := s.prefix
	if server != "" {
		prefix += server + "/"
	}
	for after := ""; ; {
		list, err := s.bucket.List(ctx, prefix, after, object.MaxList)
		if err != nil {
			return nil, fmt.Errorf("the audit trail: %w", err)
		}
		for _, e := range list {
			after = e.Name
			name, at, ok := strings.Cut(strings.TrimPrefix(e.Name, s.prefix), "/")
			if !ok {
				continue
			}
			c := byServer[name]
			if c == nil {
				c = &chain{server: name}
				byServer[name] = c
			}
			if p, ok := parsePart(at); ok {
				p.size = e.Size
				c.parts = append(c.parts, p)
			}
		}
		if len(list) < object.MaxList {
			break
		}
	}
	all := slices.SortedFunc(maps.Values(byServer), func(a, b *chain) int { return cmp.Compare(a.server, b.server) })
	for _, c := range all {
		c.resolve()
	}
	return all, nil
}

// resolve orders the parts, and moves those that another one contains to covered.
func (c *chain) resolve() {
	slices.SortFunc(c.parts, func(a, b partName) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.last, a.last), cmp.Compare(b.String(), a.String()))
	})
	end, kept := uint64(0), c.parts[:0:0]
	for _, p := range c.parts {
		if p.last <= end {
			c.covered = append(c.covered, covered{p, kept[len(kept)-1]})
			continue
		}
		kept, end = append(kept, p), p.last
	}
	c.parts = kept
}

// strays returns the covered parts whose records are others than those that the covering part has in their places. Two servers with
// one name can leave such parts.
func (s *Store) strays(ctx context.Context, c *chain) (list []partName, err error) {
	heads := map[string]map[uint64]Hash{} // by the name of the covering part: the hashes after its records
	for _, p := range c.covered {
		name := s.object(c.server, p.partName)
		s.mu.Lock()
		stray, known := s.stray[name]
		s.mu.Unlock()
		if !known {
			h, err := s.header(ctx, c.server, p.partName)
			switch {
			case errors.Is(err, object.ErrNotFound): // who removed it has looked
				continue
			case isDamage(err):
				stray = true
			case err != nil:
				return nil, err
			default:
				by := s.object(c.server, p.by)
				if heads[by] == nil {
					if heads[by], err = s.heads(ctx, by); err != nil {
						return nil, err
					}
				}
				head, ok := heads[by][p.last]
				stray = !ok || head != h.head
			}
			s.setStray(name, stray)
		}
		if stray {
			list = append(list, p.partName)
		}
	}
	return list, nil
}

// setStray keeps whether a covered part is a stray one.
func (s *Store) setStray(name string, stray bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.stray) > 1<<14 {
		clear(s.stray)
	}
	s.stray[name] = stray
}

// heads returns the hashes after the records of a part; none if it is damaged.
func (s *Store) heads(ctx context.Context, name string) (map[uint64]Hash, error) {
	data, err := s.bucket.Read(ctx, name, 0, object.Whole)
	if err != nil {
		return nil, err
	}
	heads := map[uint64]Hash{}
	h, frames, err := framesOf(data)
	if err != nil {
		return heads, nil
	}
	at := h.before
	for number := h.first; len(frames) > 0; number++ {
		text, _, rest, err := frame(frames)
		if err != nil {
			return heads, nil
		}
		at = next(&at, text)
		heads[number], frames = at, rest
	}
	return heads, nil
}

// table is the content of the object of names.
type table struct {
	Actors map[uint64]string `json:"actors"`
}

// readNames reads the table of actors of a chain.
func (s *Store) readNames(ctx context.Context, c *chain) error {
	if c.names != nil {
		return nil
	}
	data, err := s.bucket.Read(ctx, s.namesObject(c.server), 0, object.Whole)
	t := table{}
	if err == nil {
		if err = json.Unmarshal(data, &t); err != nil {
			err = damage{err}
		}
	}
	if err != nil && !errors.Is(err, object.ErrNotFound) {
		return fmt.Errorf("the table of actors %s of the audit trail: %w", s.namesObject(c.server), err)
	}
	if c.names = t.Actors; c.names == nil {
		c.names = map[uint64]string{}
	}
	return nil
}

// firstRead is the number of bytes that header reads at first.
const firstRead = 32 << 10

// header returns the header of a part.
func (s *Store) header(ctx context.Context, server string, p partName) (*header, error) {
	name := s.object(server, p)
	s.mu.Lock()
	h := s.headers[name]
	s.mu.Unlock()
	if h != nil {
		return h, nil
	}
	data, err := s.bucket.Read(ctx, name, 0, firstRead)
	if err != nil {
		return nil, err
	}
	size, err := headerSize(data)
	if err == nil && size > len(data) {
		if data, err = s.bucket.Read(ctx, name, 0, int64(size)); err != nil {
			return nil, err
		}
	}
	if err == nil {
		h, err = decodeHeader(data)
	}
	if err != nil {
		return nil, damage{fmt.Errorf("the part %s of the audit trail: %w", name, err)}
	}
	if p.merged {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.bytes += h.size; s.bytes > maxHeaders {
			s.headers, s.bytes = map[string]*header{}, h.size
		}
		s.headers[name] = h
	}
	return h, nil
}

// frames reads the frames of the i-th block of a part.
func (s *Store) frames(ctx context.Context, server string, p partName, h *header, i int) ([]byte, error) {
	at := h.size
	for j := range i {
		at += h.blocks[j].size
	}
	name := s.object(server, p)
	data, err := s.bucket.Read(ctx, name, int64(at), int64(h.blocks[i].size))
	if err != nil {
		return nil, err
	}
	frames, err := h.blocks[i].frames(data)
	if err != nil {
		return nil, damage{fmt.Errorf("the part %s of the audit trail: %w", name, err)}
	}
	return frames, nil
}

// records decodes frames. It gives each record the name of its actor.
func (c *chain) records(frames []byte) ([]*Record, error) {
	var list []*Record
	for len(frames) > 0 {
		text, _, rest, err := frame(frames)
		if err != nil {
			return nil, err
		}
		r, err := decodeRecord(text)
		if err != nil {
			return nil, err
		}
		r.Server, r.Actor = c.server, c.names[r.actor]
		list, frames = append(list, r), rest
	}
	return list, nil
}
