package embedded

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/rights"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// validParts keeps the latest parts of states that are valid at some time. Reads run on such a part as they run on a whole state, so
// no operator knows of valid time.
type validParts struct {
	mu     sync.Mutex
	kept   []keptValid              // the last used last
	making map[string]chan struct{} // a mutex (capacity 1) for each digest of rights
}

// keptValid is a part of a state, or of what a caller with rights sees of it.
type keptValid struct {
	of     *version.Snapshot // the state
	rights string            // the digest of the rights; "" for none
	part   *version.ValidPart
	used   time.Time // when a read used it last
}

// Parts keep old states of the graph in memory, so they are kept for some rights only, and for a short time. The parts that are kept have at most
// these numbers and, apart from the last one, need at most the memory maxPartBytes.
const (
	maxValidParts  = 64               // of all rights
	maxValidRights = 8                // of one
	maxValidIdle   = 10 * time.Minute // since their last use
)

// at returns the part of a state for a period, and the one of an earlier state from which it can be derived. Each may be nil.
func (v *validParts) at(of *version.Snapshot, digest string, first, last int64, now time.Time) (found, earlier *version.ValidPart) {
	v.mu.Lock()
	defer v.mu.Unlock()
	idle := slices.IndexFunc(v.kept, func(k keptValid) bool { return now.Sub(k.used) <= maxValidIdle })
	if idle < 0 {
		idle = len(v.kept)
	}
	v.kept = slices.Delete(v.kept, 0, idle)
	for i, k := range slices.Backward(v.kept) {
		switch {
		case k.rights != digest || !k.part.Fits(first, last):
		case k.of == of:
			k.used = now
			v.kept = append(slices.Delete(v.kept, i, i+1), k)
			return k.part, nil
		case earlier == nil && digest == "" && k.of.Schema == of.Schema && k.of.Commit.Branch == of.Commit.Branch:
			earlier = k.part
		}
	}
	return nil, earlier
}

// keep adds a part, and removes those that were not used for longest if there are too many.
func (v *validParts) keep(k keptValid) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept = append(v.kept, k)
	var sum int64
	all, of := 0, map[string][]*version.Excerpt{} // by rights, because only parts of the same rights share memory
	for i, k := range slices.Backward(v.kept) {
		bytes := k.part.Bytes(of[k.rights])
		if all > 0 && (all == maxValidParts || len(of[k.rights]) == maxValidRights || sum+bytes > maxPartBytes) {
			v.kept = slices.Delete(v.kept, i, i+1)
			continue
		}
		all, of[k.rights], sum = all+1, append(of[k.rights], k.part.Excerpt), sum+bytes
	}
	for digest, turn := range v.making {
		if len(of[digest]) == 0 && len(turn) == 0 {
			delete(v.making, digest)
		}
	}
}

// turn returns the mutex for the parts of some rights.
func (v *validParts) turn(digest string) chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.making[digest] == nil {
		if v.making == nil {
			v.making = map[string]chan struct{}{}
		}
		v.making[digest] = make(chan struct{}, 1)
	}
	return v.making[digest]
}

// validPart returns the part of a state that a read sees, and the target with the instant of now(), which is then the same for all of the read. The
// state is what the rights of the target allow.
func (g *Graph) validPart(ctx context.Context, snap *version.Snapshot, q *plan.Query, args engine.Args, at engine.Target) (*version.Snapshot, engine.Target, error) {
	if q.Read == nil || q.Read.Valid == nil {
		return snap, at, nil
	}
	if q.Read.Valid.UsesNow() && at.Now.IsZero() {
		at.Now = value.DateTimeValue(g.opts.now().Int()).Time()
	}
	first, last, err := interval(q, args, at.Now, snap.Schema)
	if err != nil {
		if _, unfit := g.programs.Get(ctx, q, snap); unfit != nil { // the error is then the same, whatever the arguments are
			err = unfit
		}
		return nil, at, err
	}
	digest := ""
	if at.Rights != nil {
		digest = at.Rights.Digest
	}
	part, _ := g.valid.at(snap, digest, first, last, g.opts.time())
	if part == nil {
		if part, err = g.makeValid(ctx, snap, at.Rights, digest, first, last); err != nil {
			return nil, at, err
		}
	}
	return part.Snapshot, at, nil
}

// makeValid makes a part, unless another read makes it. The parts of the same rights are made one after the other, because readers of now() want
// the same one at different instants.
func (g *Graph) makeValid(ctx context.Context, snap *version.Snapshot, r *engine.Rights, digest string, first, last int64) (*version.ValidPart, error) {
	turn := g.valid.turn(digest)
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	part, earlier := g.valid.at(snap, digest, first, last, g.opts.time())
	if part != nil {
		return part, nil
	}
	part, err := snap.ValidPart(ctx, first, last, func(t *schema.Type) bool { return rights.HidesValidity(r, t) }, earlier)
	if err != nil {
		return nil, err
	}
	g.valid.keep(keptValid{snap, digest, part, g.opts.time()})
	return part, nil
}

// interval returns the first and the last microsecond since 1970 at which an entity must be valid for a read to see it.
func interval(q *plan.Query, args engine.Args, now time.Time, s *schema.Schema) (first, last int64, err error) {
	v := q.Read.Valid
	if err := ir.CheckValid(v, q.Params, s); err != nil {
		return 0, 0, err
	}
	if args, err = ir.CheckArgs(q.Params, args); err != nil {
		return 0, 0, err
	}
	first, last, err = v.Interval(args, value.OfDateTime(value.DateTimeOf(now)))
	if err != nil {
		bad := &engine.BadArgument{Param: "query", Detail: err.Error()}
		for _, e := range []plan.Expr{v.From, v.To} {
			if ref, ok := e.(plan.ParamRef); ok {
				bad.Param = q.Params[ref.Index].Name
			}
		}
		err = bad
	}
	return first, last, err
}
