package audittrail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// Filter selects records about calls. An empty field selects all.
type Filter struct {
	Graph    string    // the id of the graph
	Actor    string    // the actor, or an agent of it
	Tool     string    // the tool or the operation
	Except   string    // no calls of this tool or operation
	Entity   string    // the id of an entity that the answer had, or may have had
	Decision string    // Allowed or Denied
	Outcome  string    // how the call ended, or Failed for each outcome but ok
	From, To time.Time // the calls that ended at From or later, and before To

	Before Position // only records that come before this one in time, for the next page
	Limit  int      // maximum number of records

	most int // the number of records that may be read, whether the filter selects them or not; 0 for no bound
}

// errMost is the error of a walk that has read the records that it may read.
var errMost = errors.New("the filter would read too many records")

// The decisions.
const (
	Allowed = "allowed"
	Denied  = "denied"
)

// Failed is the value of Filter.Outcome that selects each call that did not succeed.
const (
	Failed    = "failed"
	succeeded = "ok"
)

// Position is the place of a record among those of all chains. The zero value is after all records.
type Position struct {
	micros int64
	server string
	number uint64
}

// Position returns the position of a record.
func (r *Record) Position() Position { return Position{r.Time.UnixMicro(), r.Server, r.Number} }

// String returns the text of a position.
func (p Position) String() string { return fmt.Sprintf("%d/%d/%s", p.micros, p.number, p.server) }

// ParsePosition returns the position of a text.
func ParsePosition(text string) (p Position, err error) {
	fields := strings.SplitN(text, "/", 3)
	if len(fields) != 3 {
		return p, fmt.Errorf("%q is not a position in an audit trail", text)
	}
	p.server = fields[2]
	if p.micros, err = strconv.ParseInt(fields[0], 10, 64); err == nil {
		p.number, err = strconv.ParseUint(fields[1], 10, 64)
	}
	return p, err
}

// compare orders positions by time.
func (p Position) compare(q Position) int {
	return cmp.Or(cmp.Compare(p.micros, q.micros), cmp.Compare(p.server, q.server), cmp.Compare(p.number, q.number))
}

// Found is a record with what a filter knows of it.
type Found struct {
	*Record
	Possibly bool // the record may be about the entity of the filter: it has a hash like that of its id, or the answer was a whole branch
}

// Query returns the records that a filter selects, the latest first. If there are more, the position is that of the last one.
func (s *Store) Query(ctx context.Context, f Filter) (list []Found, next *Position, err error) {
	for range attempts { // a writer may merge a part before the query reads it
		if list, next, err = s.query(ctx, f); !errors.Is(err, object.ErrNotFound) {
			break
		}
	}
	return list, next, err
}

// query is like Query. The error matches object.ErrNotFound if a part that the query needs was merged or removed meanwhile.
func (s *Store) query(ctx context.Context, f Filter) (list []Found, next *Position, err error) {
	err = s.each(ctx, f, func(r Found) bool {
		if len(list) == f.Limit {
			at := list[len(list)-1].Position()
			next = &at
			return false
		}
		list = append(list, r)
		return true
	})
	return list, next, err
}

// each calls the function for the records that a filter selects, the latest first, until it returns false. It does not use f.Limit.
// The error is like that of query, or errMost.
func (s *Store) each(ctx context.Context, f Filter, found func(Found) bool) error {
	chains, err := s.chains(ctx, "")
	if err != nil {
		return err
	}
	var walks []*walk
	read := 0
	for _, c := range chains {
		strays, err := s.strays(ctx, c)
		if err != nil {
			return err
		}
		for _, p := range strays {
			chains = append(chains, &chain{server: c.server, parts: []partName{p}})
		}
	}
	for _, c := range chains {
		w, err := s.walk(ctx, c, &f)
		if err != nil {
			return err
		}
		if w != nil {
			w.read = &read
			walks = append(walks, w)
		}
	}
	for {
		var latest *walk
		for _, w := range walks {
			if err := w.fill(ctx); err != nil {
				return err
			}
			if len(w.found) > 0 && (latest == nil || w.found[0].Position().compare(latest.found[0].Position()) > 0) {
				latest = w
			}
		}
		if latest == nil || !found(latest.found[0]) {
			return nil
		}
		latest.found = latest.found[1:]
	}
}

// walk goes through a chain from its end.
type walk struct {
	*chain
	s        *Store
	f        *Filter
	read     *int            // the number of records that all walks of the filter have read
	from, to uint64          // bounds on the time of records, both inclusive, in Unix microseconds
	any      []uint64        // a block is read only if it has one of these keys, unless there are none
	all      []uint64        // a block is read only if it has all of these keys
	actors   map[uint64]bool // the numbers of the actor of the filter
	hash     uint64          // of the entity of the filter

	part  partName
	head  *header // of part; nil before the first part
	block int     // the number of blocks of the part that are not read yet
	found []Found // the records that were read and not returned, the latest first
}

// walk returns a walk through a chain, or nil if the chain has no record of the actor.
func (s *Store) walk(ctx context.Context, c *chain, f *Filter) (*walk, error) {
	if err := s.readNames(ctx, c); err != nil {
		return nil, err
	}
	w := &walk{chain: c, s: s, f: f, to: math.MaxInt64}
	if !f.From.IsZero() {
		w.from = uint64(max(0, f.From.Add(time.Microsecond-1).UnixMicro()))
	}
	if !f.To.IsZero() {
		w.to = uint64(max(0, f.To.Add(time.Microsecond-1).UnixMicro()-1))
	}
	if f.Before.micros != 0 {
		w.to = min(w.to, uint64(f.Before.micros))
	}
	if f.Graph != "" {
		w.all = append(w.all, keyOf(ofGraph, f.Graph))
	}
	if f.Tool != "" {
		w.all = append(w.all, keyOf(ofTool, f.Tool))
	}
	if f.Decision == Denied {
		w.all = append(w.all, keyDenied)
	}
	if f.Entity != "" {
		w.hash = HashOf(f.Entity)
		w.any = []uint64{w.hash, keyWhole}
	}
	if f.Actor != "" {
		w.actors = map[uint64]bool{}
		for number, name := range c.names {
			if actor, agents := engine.SplitActor(name); name == f.Actor || actor == f.Actor || slices.Contains(agents, f.Actor) {
				w.actors[number] = true
			}
		}
		if len(w.actors) == 0 {
			return nil, nil
		}
	}
	c.parts = slices.DeleteFunc(c.parts, func(p partName) bool { return uint64(p.time) < w.from })
	return w, s.readAhead(ctx, c)
}

// readAhead reads the headers of the parts of a chain, so that a walk does not wait for each of them.
func (s *Store) readAhead(ctx context.Context, c *chain) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for _, p := range c.parts {
		if p.merged {
			group.Go(func() error {
				_, err := s.header(ctx, c.server, p)
				return err
			})
		}
	}
	return group.Wait()
}

// fill reads blocks until there is a record to return, or none is left.
func (w *walk) fill(ctx context.Context) error {
	for len(w.found) == 0 {
		if w.f.most > 0 && *w.read >= w.f.most {
			return errMost
		}
		if w.block == 0 {
			if len(w.parts) == 0 {
				return nil
			}
			w.part = w.parts[len(w.parts)-1]
			w.parts = w.parts[:len(w.parts)-1]
			h, err := w.s.header(ctx, w.server, w.part)
			if err != nil {
				return err
			}
			w.head, w.block = h, len(h.blocks)
			continue
		}
		w.block--
		b := &w.head.blocks[w.block]
		if b.last < w.from || b.first > w.to || w.part.merged && !w.mayHave(b.keys) {
			continue
		}
		frames, err := w.s.frames(ctx, w.server, w.part, w.head, w.block)
		if err != nil {
			return err
		}
		records, err := w.records(frames)
		if err != nil {
			return fmt.Errorf("the part %s of the audit trail: %w", w.s.object(w.server, w.part), err)
		}
		*w.read += len(records)
		for _, r := range slices.Backward(records) {
			if ok, possibly := w.selects(r); ok {
				w.found = append(w.found, Found{r, possibly})
			}
		}
	}
	return nil
}

// mayHave reports whether a block with these keys may have a record that the filter selects.
func (w *walk) mayHave(keys bloom) bool {
	if slices.ContainsFunc(w.all, func(k uint64) bool { return !keys.has(k) }) || len(w.any) > 0 && !slices.ContainsFunc(w.any, keys.has) {
		return false
	}
	if w.actors == nil {
		return true
	}
	for number := range w.actors {
		if keys.has(number * ofActor) {
			return true
		}
	}
	return false
}

// selects reports whether the filter selects a record, and whether it may only be about the entity.
func (w *walk) selects(r *Record) (ok, possibly bool) {
	f, micros := w.f, uint64(r.Time.UnixMicro())
	switch {
	case r.Kind != Called, micros < w.from, micros > w.to,
		f.Before != Position{} && r.Position().compare(f.Before) >= 0,
		f.Graph != "" && r.Graph != f.Graph,
		f.Tool != "" && r.Tool != f.Tool, f.Except != "" && r.Tool == f.Except,
		f.Decision == Denied && r.Denied == "", f.Decision == Allowed && r.Denied != "",
		f.Outcome == Failed && r.Outcome == succeeded, f.Outcome != "" && f.Outcome != Failed && r.Outcome != f.Outcome,
		w.actors != nil && !w.actors[r.actor]:
		return false, false
	case f.Entity == "" || slices.Contains(r.IDs, f.Entity):
		return true, false
	}
	// A text with the hash of an id may have kept that id out of the set, whose members are told apart by their hashes.
	possibly = r.Whole || slices.Contains(r.Hashes, w.hash) || slices.ContainsFunc(r.IDs, func(id string) bool { return HashOf(id) == w.hash })
	return possibly, possibly
}
