package ir

import (
	"reflect"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// walkPart binds a fact about a walk. The length of a walk is in the column of its variable. The
// evaluation searches for the nodes only when an expression needs them.
func (b *binder) walkPart(e plan.WalkPart, out *Expr) error {
	l := b.walkLinks[e.Var]
	if l == nil {
		return Mismatch("no traversal binds a walk to $%s", b.Read.Vars[e.Var].Name)
	}
	back := e.From != l.src.From
	if from, to := ends(&l.src, back); e.From != from || e.To != to {
		return Mismatch("the ends of the walk $%s are not those of its traversal", b.Read.Vars[e.Var].Name)
	}
	out.Kind, out.Var, out.Type = ExprWalk, e.Var, e.Fact.Type()
	out.Walk = e
	if e.Fact != plan.WalkHops {
		out.Search = len(b.Routes)
		r := NewRoute(b.Query, l, back)
		out.Near, out.Far = r.end(b.Query, e.From, 0), r.end(b.Query, e.To, 1)
		b.Routes = append(b.Routes, r)
	}
	return nil
}

// ends returns the ends of a traversal in the order in which it is followed.
func ends(t *plan.Traverse, back bool) (from, to plan.VarID) {
	if back {
		return t.To, t.From
	}
	return t.From, t.To
}

// walkLink binds a traversal with a variable for its walk, so that expressions can refer to the
// variable before the traversal's block is bound.
func (b *binder) walkLink(c plan.Traverse) error {
	l, err := b.link(c)
	if err != nil {
		return err
	}
	// The clauses of a block whose truth is a value may be checked several times.
	if known := b.walkLinks[c.EdgeVar]; known != nil && !reflect.DeepEqual(known.src, c) {
		return Mismatch("two traversals bind the walk $%s", b.Read.Vars[c.EdgeVar].Name)
	}
	if b.walkLinks == nil {
		b.walkLinks = map[plan.VarID]*Link{}
	}
	b.walkLinks[c.EdgeVar] = l
	return nil
}

// checkWalkPart checks the fact that an expression states about a walk, and its variables.
func (b *binder) checkWalkPart(e plan.WalkPart) error {
	if !e.Fact.Valid() {
		return Mismatch("there is no fact %d about a walk", uint8(e.Fact))
	}
	if err := b.checkVariable(e.Var, plan.Walk); err != nil {
		return err
	}
	if err := b.checkVariable(e.From, plan.Node); err != nil {
		return err
	}
	return b.checkVariable(e.To, plan.Node)
}
