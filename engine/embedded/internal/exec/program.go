// Package exec runs the steps of a read on a snapshot. It is one of the packages that execute plans; each imports only those
// before it:
//
//   - package scalar computes operators, functions and comparisons of single values
//   - package ir resolves the names of a plan in the schema: plan → [ir.Query]
//   - package eval evaluates expressions over frames of rows; it reads properties only when a step needs them
//   - package sink keeps the rows of a match or their groups, and makes batches of the result
//   - package exec has a type and a method `run` for each kind of step (step.go, lookup.go, traverse.go, …). A [Program] has
//     the steps of a read, and a [run] is the memory of one run: its [matcher] pushes frames of ordinals through the steps.
//     The [explainer] describes the steps, with their rows and times if the run had a [profile]
//   - package planner arranges the clauses of a query into steps by estimates of their cost: ir.Query → [Arrangement]. Its
//     files have the names of those with the steps that they choose
//   - package mutate checks mutations and runs them in a transaction
package exec

import (
	"math/bits"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Program is a read bound to a schema, with its clauses arranged into steps. Any number of
// goroutines may run it concurrently.
type Program struct {
	ir.Query
	Arrangement
	pool sync.Pool // holds *run
}

// Arrangement is the steps of a program. It depends on the sizes of the snapshot that the
// planner saw.
type Arrangement struct {
	Body        *Pipe               // the steps that find the rows
	HeldTests   []*ArrangedTest     // the blocks whose truth is a value, by position in ir.Query.Holdings
	HavingTests []*ArrangedTest     // by position in ir.Query.Havings
	Frames      int                 // number of frames that the steps own
	Optionals   int                 // number of `optional` blocks and subqueries, which have a marker each
	Arranged    []*ArrangedSubquery // by position in ir.Query.Subqueries
	plannedSize int                 // binary magnitude of the graph's size at the time of planning
	CountsOnly  bool                // the read returns only counts of all its rows
	First       FirstLookup         // the lookup that the read begins with
	SearchSteps int                 // number of steps of type explore
	Weighed     int                 // number of variables whose weights are kept
}

// NewProgram returns a program without steps for a bound read. The size of the snapshot is the one that [Program.Fits]
// compares others with.
func NewProgram(bound *ir.Query, snap *version.Snapshot) *Program {
	p := &Program{Query: *bound, Arrangement: Arrangement{plannedSize: magnitude(snap)}}
	p.pool.New = func() any { return newRun(p) }
	return p
}

// slots returns the number of columns of the frames of steps.
func (p *Program) slots() int {
	if p.Optionals == 0 {
		return len(p.Types)
	}
	return p.Width() + p.Optionals
}

// Fits reports whether the program may run on a snapshot. The snapshot must have the same
// schema, and a size similar enough that the order of the steps need not be chosen again.
func (p *Program) Fits(snap *version.Snapshot) bool {
	d := magnitude(snap) - p.plannedSize
	return p.Schema == snap.Schema && d >= -3 && d <= 3
}

// Parts returns roughly the number of parts of the program, as a measure of its size.
func (p *Program) Parts() int { return p.Frames + p.Vecs + len(p.Texts) + len(p.Columns) }

// magnitude returns the binary magnitude of the number of entities.
func magnitude(s *version.Snapshot) int { return bits.Len64(s.Size()) }

// Embeds reports whether a run of the program may need an embedding provider.
func (p *Program) Embeds() bool {
	for _, d := range p.Distances {
		if d.Operand.Type.Kind == value.String {
			return true
		}
	}
	return false
}
