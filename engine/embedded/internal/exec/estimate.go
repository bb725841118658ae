package exec

import (
	"math"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// estimator estimates numbers of rows from the sizes of a snapshot. No histogram exists: the
// shares that conditions keep are constants.
type estimator struct {
	of   []*version.Type      // by variable: its type
	over []*version.Interface // by variable: see query.over
	snap *version.Snapshot    // the state whose sizes are used
}

// The estimated shares of rows that conditions keep.
const (
	textShare  = 0.05 // of entities whose text matches
	equalShare = 0.05 // of rows where one value equals another
	otherShare = 0.3  // of rows where another comparison is true
	nullShare  = 0.1  // of rows with a null
	blockShare = 0.5  // of rows that a block keeps
)

// The estimated shares of entities that the bounds of a sorted index keep.
const (
	rangeShare  = 0.1  // two bounds, a lower and an upper one
	halfShare   = 0.3  // one bound
	prefixShare = 0.03 // an equality or a prefix
)

// orderShare is the largest estimated share of the entities that a read in the order of an
// index may examine.
const orderShare = 0.25

// groupShare is the estimated number of groups per row.
const groupShare = 0.1

// share estimates the share of rows that a condition keeps.
func (c *cond) share() float64 {
	switch {
	case c.text >= 0:
		return otherShare
	case c.right == nil && c.notNull:
		return 1 - nullShare
	case c.right == nil:
		return nullShare
	case c.op == plan.Eq:
		return equalShare
	case c.list >= 0:
		return min(otherShare, equalShare*listLength(c.right))
	}
	return otherShare
}

// usualLength is the estimated length of a list in a parameter.
const usualLength = 8

// listLength estimates the length of a constant list.
func listLength(list *expr) float64 {
	if lit, ok := list.src.(plan.Lit); ok && lit.Value.IsList() {
		return float64(len(lit.Value.Elems()))
	}
	return usualLength
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
func (e *estimator) fanout(l *link, back bool) float64 {
	from, to := l.From, l.To
	if back {
		from, to = to, from
	}
	if l.same {
		if back {
			return 1
		}
		return min(1, float64(e.live(l.To))/max(1, float64(e.live(l.From))))
	}
	n := float64(e.snap.Edges(l.edge).Live())
	for _, edge := range l.or {
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
func (e *estimator) passing(first *sorted, later []step) float64 {
	bounded := len(first.lower)+len(first.upper) > 0
	share := 1.0
	for _, s := range later {
		switch s := s.(type) {
		case *filter:
			for _, c := range s.conds {
				switch {
				case c.text >= 0:
					share *= textShare
				case bounded && c.left.kind == exprProp && c.left.prop == first.prop:
				default:
					share *= c.share()
				}
			}
		case *expand, *reach, *explore, *optionalStep:
		default:
			share *= otherShare
		}
	}
	return share
}
