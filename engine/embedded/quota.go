package embedded

import (
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// checkBytes returns a *engine.TooLarge if the stored data of the graph exceeds Options.MaxBytes. The
// segments that the present write has made count too.
func (r *writer) checkBytes() error {
	most := r.opts.MaxBytes
	if most <= 0 {
		return nil
	}
	stored := max(0, r.checkpoints.logged.Load())
	for _, size := range r.store.Sizes() {
		stored += size
	}
	if stored <= most {
		return nil
	}
	return r.refused(&engine.TooLarge{
		Resource: "stored bytes of the graph", Limit: most, Actual: stored,
		Hint: "delete data or branches and run a cleanup, or ask the operator to raise the quota of the graph",
	})
}

// refused counts a write that one of the two quotas refused, and returns the error.
func (r *writer) refused(err error) error {
	var full *engine.TooLarge
	if errors.As(err, &full) {
		r.refusals.Add(1)
	}
	return err
}

// onlyDeletes reports whether the statements of a mutation delete entities and do nothing else.
func onlyDeletes(statements []plan.Statement) bool {
	return len(statements) > 0 && !slices.ContainsFunc(statements, func(s plan.Statement) bool {
		switch s := s.(type) {
		case plan.Delete:
			return false
		case plan.ForEach:
			return !onlyDeletes(s.Statements)
		}
		return true
	})
}
