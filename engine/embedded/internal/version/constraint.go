package version

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Violation is a violation of a rule by a transaction. Ord is the ordinal of the entity that
// violates a unique rule. For a cardinality rule, Ord is the ordinal of a live edge of the source
// node that violates the rule, or NoOrd if that node has no live edge.
type Violation struct {
	Type *schema.Type                // type with the rule
	Ord  uint32                      // see above
	Err  *engine.ConstraintViolation // the error for the caller
}

// NoOrd is a value that no entity has as its ordinal.
const NoOrd = ^uint32(0)

// Check checks the rules that concern more than one value, valid, unique and cardinality, for the changes
// that the transaction made. The error is a *engine.ConstraintViolation.
func (tx *Txn) Check() error {
	if v := tx.Violations(1); len(v) > 0 {
		return v[0].Err
	}
	return nil
}

// Violations lists violations by the transaction, at most `limit` of them; see [Txn.Check].
func (tx *Txn) Violations(limit int) []Violation {
	var out []Violation
	if tx.deferred {
		return nil
	}
	for _, list := range [][]*edit{tx.nodes, tx.edges} {
		for _, e := range list {
			if e == nil {
				continue
			}
			if e.Type.Valid != nil && !fault.On(fault.ValidUnchecked) {
				if out = append(out, e.violations(limit-len(out), func(ord uint32) *engine.ConstraintViolation { return unordered(e.Table, ord) })...); len(out) == limit {
					return out
				}
			}
			for i := range e.Type.Unique {
				if out = append(out, e.violations(limit-len(out), func(ord uint32) *engine.ConstraintViolation { return sameTuple(e.Table, i, ord) })...); len(out) == limit {
					return out
				}
			}
		}
	}
	for _, e := range tx.edges {
		if e == nil || e.Type.Card == nil {
			continue
		}
		nodes := tx.Table(tx.base.Schema.Nodes[e.Type.From])
		sources := tx.sources(e)
		for _, src := range sortedKeys(sources) {
			if len(out) == limit {
				return out
			}
			if nodes.Alive(src) {
				if err := checkDegree(e.Table, nodes, src); err != nil {
					out = append(out, Violation{e.Type, sources[src], err})
				}
			}
		}
	}
	return out
}

// violations lists the entities that were put and for which the function `bad` returns a violation, at most `limit` of them.
func (e *edit) violations(limit int, bad func(ord uint32) *engine.ConstraintViolation) []Violation {
	check := func(out []Violation, ord uint32) []Violation {
		if !e.Alive(ord) {
			return out
		}
		if err := bad(ord); err != nil {
			out = append(out, Violation{e.Type, ord, err})
		}
		return out
	}
	if !e.reset {
		var out []Violation
		for ord := range e.eachTouched {
			if out = check(out, ord); len(out) >= limit {
				break
			}
		}
		return out[:min(len(out), limit)]
	}
	found := make([][]Violation, parallel.Processors())
	parallel.Ranges(int(e.next), len(found), parallelFrom, func(k, from, to int) {
		for ord := from; ord < to && len(found[k]) < limit; ord++ {
			found[k] = check(found[k], uint32(ord))
		}
	})
	out := slices.Concat(found...)
	return out[:min(len(out), limit)]
}

// sameTuple returns the violation of an entity if another one has the same values in unique rule i, or nil.
func sameTuple(t *Table, i int, ord uint32) *engine.ConstraintViolation {
	if other, ok := t.twin(i, ord); ok {
		return uniqueViolation(t, i, ord, other)
	}
	return nil
}

// unordered returns the violation of a live entity that ends before it begins to be valid, or nil.
func unordered(t *Table, ord uint32) *engine.ConstraintViolation {
	v := t.Type.CheckValid(func(p int) value.Value { return t.Value(ord, p) })
	if v != nil {
		v.ID = strings.Clone(t.ID(ord))
	}
	return v
}

// sources returns the source nodes of the edges that were put or deleted. For each source it
// returns the ordinal of one such edge that is alive, or NoOrd.
func (tx *Txn) sources(e *edit) map[uint32]uint32 {
	out := map[uint32]uint32{}
	from := tx.base.Schema.Nodes[e.Type.From]
	renumbered := tx.nodes[from.Index] != nil && tx.nodes[from.Index].reset
	for ord := range e.eachTouched {
		if e.before.Alive(ord) {
			src, _ := e.before.Ends(ord)
			// A source that the write deletes and inserts again has another ordinal.
			if renumbered || !tx.Table(from).Alive(src) {
				now, ok := tx.LookupEnd(from, tx.base.Table(plan.Node, from.Index).ID(src))
				if !ok {
					continue
				}
				src = now
			}
			if _, ok := out[src]; !ok {
				out[src] = NoOrd
			}
		}
	}
	for ord := range e.eachTouched {
		if e.Alive(ord) {
			src, _ := e.Ends(ord)
			out[src] = ord
		}
	}
	return out
}

// twin finds another live entity with the same values in tuple i.
func (t *Table) twin(i int, ord uint32) (uint32, bool) {
	var src, dst uint32
	if t.Type.Entity == plan.Edge {
		src, dst = t.Ends(ord)
	}
	return findTuple(t, i, src, dst, func(p int) value.Value { return t.Value(ord, p) }, ord)
}

// uniqueViolation returns the error of entity `ord` that has the same values as entity `other` in
// unique rule i.
func uniqueViolation(t *Table, i int, ord, other uint32) *engine.ConstraintViolation {
	return &engine.ConstraintViolation{Entity: t.Type.Entity.String(), Type: t.Type.Name, ID: strings.Clone(t.ID(ord)), Property: t.Type.UniqueNames(i),
		Rule: "unique", Detail: fmt.Sprintf("%q already has the same values", t.ID(other))}
}

// checkDegree returns the violation of a node with too few or too many edges, or nil.
func checkDegree(edges, nodes *Table, src uint32) *engine.ConstraintViolation {
	n, card := Degree(edges, edges.Out(), src), edges.Type.Card
	if n < card.Min || card.Max >= 0 && n > card.Max {
		most := "any number"
		if card.Max >= 0 {
			most = fmt.Sprint(card.Max)
		}
		_, id := nodes.Type.Label(nodes.ID(src))
		return &engine.ConstraintViolation{Entity: "edge", Type: edges.Type.Name, Rule: "cardinality",
			Detail: fmt.Sprintf("node %q would have %d edges of this type, expected %d to %s", id, n, card.Min, most)}
	}
	return nil
}

// Degree returns the number of live edges at a node.
func Degree(edges *Table, a *index.Adjacency, node uint32) int {
	base, _ := a.Base(node)
	n := 0
	if edges.AllLive() {
		n = len(base)
	} else {
		for _, e := range base {
			if edges.Alive(e) {
				n++
			}
		}
	}
	for h := a.Later(node); h.Next(); {
		if edges.Alive(h.Edge) {
			n++
		}
	}
	return n
}
