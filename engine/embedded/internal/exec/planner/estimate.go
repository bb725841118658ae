package planner

import (
	"math"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// estimator estimates numbers of rows from the sizes of a snapshot. No histogram exists: the
// shares that conditions keep are constants.
type estimator struct {
	of   []*schema.Type      // by variable: its type
	over []*schema.Interface // by variable: see ir.Query.Over
	snap *version.Snapshot   // the state whose sizes are used
}

// live returns the number of entities that a variable can stand for.
func (e *estimator) live(v plan.VarID) uint32 {
	if i := e.over[v]; i != nil {
		n := uint32(0)
		for _, m := range i.Members {
			n += e.snap.Nodes(m.Type.Index).Live()
		}
		return n
	}
	return e.snap.Table(e.of[v].Entity, e.of[v].Index).Live()
}

// fanout estimates the number of nodes that a traversal reaches from one node.
func (e *estimator) fanout(l *ir.Link, back bool) float64 {
	from, to := l.From, l.To
	if back {
		from, to = to, from
	}
	if l.Same {
		if back {
			return 1
		}
		return min(1, float64(e.live(l.To))/max(1, float64(e.live(l.From))))
	}
	n := float64(e.snap.Edges(l.EdgeType).Live())
	for _, edge := range l.OrTypes {
		n += float64(e.snap.Edges(edge).Live())
	}
	n /= max(1, float64(e.live(from)))
	if l.Undirected {
		n *= 2
	}
	most := float64(e.live(to))
	total := n
	for d := 1; d < l.Max && total < most; d++ {
		total += math.Pow(n, float64(d+1))
	}
	if l.Walk || l.EdgeVar == plan.NoVar {
		total = min(total, most)
	}
	return total
}

// passing estimates the share of a first step's rows that the later steps keep. It does not
// count filters that are bounds of the first step.
func (e *estimator) passing(first *exec.Sorted, later []exec.Step) float64 {
	bounded := len(first.Lower)+len(first.Upper) > 0
	share := 1.0
	for _, s := range later {
		switch s := s.(type) {
		case *exec.Filter:
			for _, c := range s.Conds {
				switch {
				case c.Text >= 0:
					share *= ir.TextShare
				case bounded && c.Left.Kind == ir.ExprProp && c.Left.Prop == first.Prop:
				default:
					share *= c.Share()
				}
			}
		case *exec.Expand, *exec.Reach, *exec.Explore, *exec.OptionalStep:
		default:
			share *= ir.OtherShare
		}
	}
	return share
}
