// Package planner arranges the clauses of a bound read into the steps that cost least. A read that only counts rows loses parts
// of its pattern, which the steps count by node (factor.go, factor_terms.go).
package planner

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Bind binds a read to the snapshot's schema. It uses the snapshot's sizes to choose the
// order of the steps. The error is a *engine.SchemaMismatch, a *engine.Unsupported, a
// *engine.TooLarge, or the context's error soon after the context ends.
func Bind(ctx context.Context, q *plan.Query, snap *version.Snapshot) (_ *exec.Program, err error) {
	defer ir.CatchEnd(&err)
	if err := ir.CheckUses(q, snap.Schema); err != nil {
		return nil, err
	}
	work := ir.NewMeter(ctx)
	bound, err := ir.BindRead(q, snap.Schema, work)
	if err != nil {
		return nil, err
	}
	p := exec.NewProgram(bound, snap)
	if err := newPlanner(p, snap, work).plan(); err != nil {
		return nil, err
	}
	return p, nil
}
