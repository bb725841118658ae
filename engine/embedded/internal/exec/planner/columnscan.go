package planner

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// If a filter follows a scan, columnScans replaces the scan with a column scan. If the first step is a sorted
// step, the column scan becomes its fallback.
func (pl *planner) columnScans(p *exec.Pipe) {
	if len(p.Steps) < 2 || p.Inner {
		return
	}
	var v plan.VarID
	var id int
	var bounded *exec.Sorted
	switch first := p.Steps[0].(type) {
	case *exec.Scan:
		v, id = first.Var, first.ID
		if len(first.Vars) > 0 {
			return
		}
	case *exec.Sorted:
		v, id, bounded = first.Var, first.ID, first
		if len(first.Vars) > 0 {
			return
		}
	default:
		return
	}
	f, ok := p.Steps[1].(*exec.Filter)
	if !ok {
		return
	}
	s := &exec.ColumnScan{Var: v, ID: id, Slow: exec.Filter{Vars: f.Vars}}
	var left []*ir.Cond
	for _, c := range f.Conds {
		if t, ok := exec.NewColumnTest(c, v); ok {
			s.Tests = append(s.Tests, t)
			s.Slow.Conds = append(s.Slow.Conds, c)
		} else {
			left = append(left, c)
		}
	}
	if len(s.Tests) == 0 {
		return
	}
	if bounded != nil {
		// The entities that the index finds must still be filtered.
		bounded.Instead = s
		return
	}
	p.Steps[0] = s
	if left == nil {
		p.Steps = append(p.Steps[:1], p.Steps[2:]...)
		p.Estimates = p.Estimates[1:]
	} else {
		p.Estimates[0] = p.Estimates[1]
		p.Steps[1] = &exec.Filter{Conds: left, Vars: f.Vars}
	}
}
