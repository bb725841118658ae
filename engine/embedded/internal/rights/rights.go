// Package rights makes the part of a state that a caller may see.
package rights

import (
	"cmp"
	"context"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/planner"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Parts makes the excerpts of states that callers with rights see. It keeps the latest ones of each Rights, and derives those of a new
// state from them.
type Parts struct {
	Programs *planner.Programs
	Options  func() eval.Options // the options for the runs of filters
	Now      func() time.Time
	MaxBytes int64 // memory that the excerpts may keep, in bytes; those of the latest rights are kept in any case

	holders atomic.Pointer[map[string]*holder] // by digest; a stored map does not change
	mu      sync.Mutex                         // held while holders are added or dropped
}

// States are the states in which an entity must be allowed: the one that the caller reads, and those to which the entity could
// have belonged before. In the others, only entities that exist there count.
type States struct {
	Of     *version.Snapshot
	Others []*version.Snapshot // the head of main and the merge base with main, as far as they differ from Of
}

// equal reports whether two lists of states are the same.
func (s *States) equal(o *States) bool { return s.Of == o.Of && slices.Equal(s.Others, o.Others) }

// holder keeps what was made for one Rights. Whoever holds the lock may use the fields after it.
type holder struct {
	latest atomic.Pointer[Part] // the excerpt that a call used last
	called atomic.Bool          // whether a call used it since Parts.drop looked; a call would wait too long for the clock
	used   time.Time            // when Parts.drop last saw that a call had used it; Parts.mu guards it
	uses   uint64               // whether a call had used it, a bit for each of the last 64 times that Parts.drop looked; Parts.mu guards it
	bytes  atomic.Int64         // memory of the excerpts

	lock       chan struct{} // a mutex (capacity 1)
	excerpts   []*Part       // the latest last
	selections []*selection  // the latest last
}

// The numbers of results that a holder keeps.
const (
	maxExcerpts   = 3 // states that readers use at the same time
	maxSelections = 6 // those states, with the heads of main and the merge bases
)

// Part is the part of a state that some Rights allow.
type Part struct {
	*version.Excerpt
	states States
	rights *engine.Rights
	hides  bool // the rights hide properties
}

// CheckPlan returns a *engine.SchemaMismatch if a plan reads a hidden property, or an origin that may tell of something hidden.
func (p *Part) CheckPlan(q *plan.Query) error {
	if p.hides {
		if err := CheckPlan(q, p.rights); err != nil {
			return err
		}
	}
	return CheckOrigins(q, p.rights, p.Snapshot.Schema)
}

// selection has the entities of a state that the filters do not pass.
type selection struct {
	of     *version.Snapshot
	hidden *version.Selection
}

// Of returns the part of a state that the rights allow. It has the ordinals of the state.
func (p *Parts) Of(ctx context.Context, s States, r *engine.Rights) (*Part, error) {
	h := p.holder(r.Digest)
	if e := h.latest.Load(); e != nil && e.states.equal(&s) {
		return e, nil
	}
	select {
	case h.lock <- struct{}{}:
		defer func() { <-h.lock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var last *version.Excerpt
	for _, e := range slices.Backward(h.excerpts) {
		if e.states.equal(&s) {
			h.latest.Store(e)
			return e, nil
		}
		if last == nil && e.states.Of.Commit.Branch == s.Of.Commit.Branch {
			last = e.Excerpt
		}
	}
	made, err := p.make(ctx, h, s, r, last)
	if err != nil {
		return nil, err
	}
	e := &Part{Excerpt: made, states: s, rights: r}
	for _, types := range []map[string]*engine.TypeRights{r.Nodes, r.Edges} {
		for _, of := range types {
			e.hides = e.hides || len(of.Properties) > 0
		}
	}
	h.excerpts = append(h.excerpts, e)
	h.excerpts = h.excerpts[max(0, len(h.excerpts)-maxExcerpts):]
	h.latest.Store(e)
	var bytes int64
	var before []*version.Excerpt
	for _, e := range h.excerpts {
		bytes += e.Bytes(before)
		before = append(before, e.Excerpt)
	}
	h.bytes.Store(bytes)
	p.drop(h)
	return e, nil
}

// holder returns the holder for a digest.
func (p *Parts) holder(digest string) *holder {
	var h *holder
	if all := p.holders.Load(); all != nil {
		h = (*all)[digest]
	}
	if h == nil {
		h = p.addHolder(digest)
	}
	if !h.called.Load() {
		h.called.Store(true)
	}
	return h
}

// addHolder adds the holder for a digest, unless another call has.
func (p *Parts) addHolder(digest string) *holder {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]*holder{}
	if was := p.holders.Load(); was != nil {
		all = maps.Clone(*was)
	}
	if all[digest] == nil {
		all[digest] = &holder{lock: make(chan struct{}, 1)}
		p.holders.Store(&all)
	}
	return all[digest]
}

// Excerpts keep old states of the graph in memory, so they are kept for a few Rights only, and for a short time.
const (
	maxHolders = 256              // however small they are
	maxIdle    = 10 * time.Minute // since their last use
)

// drop drops the holders that do not fit or were not used for maxIdle, but not the one that has just made an excerpt. The first to go are those
// that were not used for longest, as far as earlier calls of drop saw it. Of those that were all used since the last call of drop, the first to go
// are those that were used between fewer of the 64 calls before. A call that uses a holder still has it.
func (p *Parts) drop(made *holder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	type kept struct {
		digest string
		*holder
	}
	var others []kept
	now, sum := p.Now(), made.bytes.Load()
	left := maps.Clone(*p.holders.Load())
	for digest, h := range left {
		h.uses <<= 1
		if h.called.Swap(false) {
			h.used = now
			h.uses |= 1
		}
		if h != made {
			others, sum = append(others, kept{digest, h}), sum+h.bytes.Load()
		}
	}
	slices.SortFunc(others, func(a, b kept) int {
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(bits.OnesCount64(a.uses), bits.OnesCount64(b.uses)))
	})
	for _, k := range others {
		if now.Sub(k.used) <= maxIdle && sum <= p.MaxBytes && len(left) <= maxHolders {
			break
		}
		delete(left, k.digest)
		sum -= k.bytes.Load()
	}
	p.holders.Store(&left)
}

// make makes an excerpt. The argument `last` is one of an earlier state, or nil. REQUIRES: the caller has the lock of h.
func (p *Parts) make(ctx context.Context, h *holder, s States, r *engine.Rights, last *version.Excerpt) (*version.Excerpt, error) {
	hidden, err := p.hidden(ctx, h, s.Of, r)
	if err != nil {
		return nil, err
	}
	for _, other := range s.Others {
		if fault.On(fault.MainIgnored) {
			break
		}
		there, err := p.hidden(ctx, h, other, r)
		if err != nil {
			return nil, err
		}
		hidden = joined(s.Of, hidden, other, there)
	}
	return s.Of.Excerpt(ctx, hidden, last)
}

// hidden returns the entities of a state that the rights do not allow in that state.
func (p *Parts) hidden(ctx context.Context, h *holder, s *version.Snapshot, r *engine.Rights) (*version.Selection, error) {
	var last *selection
	for _, k := range slices.Backward(h.selections) {
		if k.of == s {
			return k.hidden, nil
		}
		if last == nil && k.of.Schema == s.Schema {
			last = k
		}
	}
	f := &filterer{parts: p, state: s, last: last}
	hidden := version.NewSelection(s)
	for _, types := range [][]*schema.Type{s.Schema.NodeTypes(), s.Schema.Edges} {
		for _, t := range types {
			of := Type(r, t)
			if of == nil {
				continue
			}
			set, err := f.hidden(ctx, t, of)
			if err != nil {
				return nil, err
			}
			*hidden.Set(t) = set
		}
	}
	h.selections = append(h.selections, &selection{s, hidden})
	h.selections = h.selections[max(0, len(h.selections)-maxSelections):]
	return hidden, nil
}

// joined returns the union of `hidden` and of the entities of s that have the type and the id of one that is hidden in another state.
func joined(s *version.Snapshot, hidden *version.Selection, other *version.Snapshot, there *version.Selection) *version.Selection {
	union := version.NewSelection(s)
	for _, types := range [][]*schema.Type{s.Schema.NodeTypes(), s.Schema.Edges} {
		for _, t := range types {
			here := *hidden.Set(t)
			*union.Set(t) = here
			was := other.Schema.Type(t.Entity, t.Name)
			if was == nil || *there.Set(was) == nil {
				continue
			}
			table, before := s.Table(t.Entity, t.Index), other.Table(was.Entity, was.Index)
			set := engine.NewBitmap(int(table.Ordinals()))
			copy(set, here)
			for ord := range version.Ordinals(*there.Set(was)) {
				switch {
				case table == before:
					set.Set(int(ord))
				case !before.Alive(ord): // deleted after it was hidden
				default:
					if now, ok := table.Lookup(before.ID(ord)); ok {
						set.Set(int(now))
					}
				}
			}
			*union.Set(t) = set
		}
	}
	return union
}
