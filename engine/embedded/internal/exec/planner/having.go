package planner

import (
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
)

// arrangedHaving returns a test without blocks in the form that runs use.
func arrangedHaving(t *ir.Test) *exec.ArrangedTest {
	out := &exec.ArrangedTest{Test: t}
	for _, inner := range t.Of {
		out.Members = append(out.Members, arrangedHaving(inner))
	}
	return out
}
