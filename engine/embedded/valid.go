package embedded

import (
	"context"
	"slices"
	"sync"

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
	mu   sync.Mutex
	kept []keptValid // the last used last
}

// keptValid is a part of a state, or of what a caller with rights sees of it.
type keptValid struct {
	of     *version.Snapshot // the state
	rights string            // the digest of the rights; "" for none
	part   *version.ValidPart
}

// The parts that are kept have at most this number and, apart from the last one, need at most this memory in bytes.
const (
	maxValidParts      = 8
	maxValidPartsBytes = 128 << 20
)

// at returns the part of a state for a period, and the one of an earlier state from which it can be derived. Each may be nil.
func (v *validParts) at(of *version.Snapshot, digest string, first, last int64) (found, earlier *version.ValidPart) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, k := range slices.Backward(v.kept) {
		switch {
		case k.rights != digest || !k.part.Fits(first, last):
		case k.of == of:
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
	for i, k := range slices.Backward(v.kept) {
		if sum += k.part.Bytes(); i < len(v.kept)-1 && (sum > maxValidPartsBytes || len(v.kept)-i > maxValidParts) {
			v.kept = slices.Delete(v.kept, 0, i+1)
			return
		}
	}
}

// validPart returns the part of a state that a read sees, and the target with the instant of now(), which is then the same for all of the read. The
// state is what the rights of the target allow.
func (g *Graph) validPart(ctx context.Context, snap *version.Snapshot, q *plan.Query, args engine.Args, at engine.Target) (*version.Snapshot, engine.Target, error) {
	if q.Read == nil || q.Read.Valid == nil {
		return snap, at, nil
	}
	if _, err := g.programs.Get(ctx, q, snap); err != nil { // so that the error says that the plan does not fit, whatever the arguments are
		return nil, at, err
	}
	args, err := ir.CheckArgs(q.Params, args)
	if err != nil {
		return nil, at, err
	}
	now := value.Null
	if q.Read.Valid.UsesNow() {
		if at.Now.IsZero() {
			at.Now = value.DateTimeValue(g.opts.now().Int()).Time()
		}
		now = value.OfDateTime(value.DateTimeOf(at.Now))
	}
	first, last, err := q.Read.Valid.Interval(args, now)
	if err != nil {
		return nil, at, &engine.BadArgument{Param: "valid", Detail: err.Error()}
	}
	digest := ""
	if at.Rights != nil {
		digest = at.Rights.Digest
	}
	part, earlier := g.valid.at(snap, digest, first, last)
	if part == nil {
		ignored := func(t *schema.Type) bool { return rights.HidesValidity(at.Rights, t) }
		if part, err = snap.ValidPart(ctx, first, last, ignored, earlier); err != nil {
			return nil, at, err
		}
		g.valid.keep(keptValid{snap, digest, part})
	}
	return part.Snapshot, at, nil
}
