package version

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// stricterRules returns the rules of type t that the transaction's schema change makes stricter for
// the entities that the change takes over.
func (tx *Txn) stricterRules(t *Type) stricterRules {
	if tx.change == nil {
		return stricterRules{}
	}
	carries, olds := tx.change.Carry.Nodes, tx.from.Nodes
	if t.Entity == plan.Edge {
		carries, olds = tx.change.Carry.Edges, tx.from.Edges
	}
	tc := carries[t.Index]
	if tc.From < 0 {
		return stricterRules{}
	}
	s := t.stricter(olds[tc.From], tc.Props)
	s.card = s.card || t.Card != nil && len(tx.lost[t]) > 0
	return s
}

// Broken lists violations of the transaction's new schema by entities that the transaction takes
// over from the old schema. It lists at most `limit` violations. The only possible error is that of
// the context.
func (tx *Txn) Broken(ctx context.Context, limit int) (out []*engine.ConstraintViolation, err error) {
	for _, t := range tx.base.Tables() {
		s := tx.stricterRules(t.Type)
		if s.props == nil && s.tuples == nil && !s.card {
			continue
		}
		for ord := range t.next {
			if err := ctx.Err(); ord%4096 == 0 && err != nil {
				return nil, err
			}
			if !t.Alive(ord) {
				continue
			}
			for _, p := range s.props {
				if err := t.Type.CheckValue(p, t.Value(ord, p)); err != nil {
					v := err.(*engine.ConstraintViolation)
					v.ID = strings.Clone(t.ID(ord))
					out = append(out, v)
				}
			}
			for _, i := range s.tuples {
				if other, ok := t.twin(i, ord); ok {
					out = append(out, t.uniqueViolation(i, ord, other))
				}
			}
			if len(out) >= limit {
				return out[:limit], nil
			}
		}
		if s.card {
			nodes := tx.base.nodes[t.Type.From]
			sources := sourcesOf(t, nodes)
			for _, src := range tx.lost[t.Type] {
				if nodes.Alive(src) {
					sources = append(sources, src)
				}
			}
			slices.Sort(sources)
			for _, src := range slices.Compact(sources) {
				if v := checkDegree(t, nodes, src); v != nil {
					if out = append(out, v); len(out) == limit {
						return out, nil
					}
				}
			}
		}
	}
	return out, nil
}

// sourcesOf lists, in order, the live nodes that have live outgoing edges.
func sourcesOf(t, nodes *Table) (out []uint32) {
	for src := range nodes.next {
		if nodes.Alive(src) && Degree(t, t.Out(), src) > 0 {
			out = append(out, src)
		}
	}
	return out
}

// stricterRules says which rules of a type may be violated by entities of a previous schema.
type stricterRules struct {
	props  []int // positions of the properties with a stricter rule
	tuples []int // positions of the unique tuples with a stricter rule
	card   bool  // whether the cardinality is stricter
}

// stricter returns the rules of t that are stricter than the rules of its previous type `old`. The
// slice `props` contains the previous position of each property.
func (t *Type) stricter(old *Type, props []int) (s stricterRules) {
	for p, q := range props {
		if q < 0 {
			if !t.Props[p].Type.Nullable {
				s.props = append(s.props, p)
			}
			continue
		}
		was, is := old.Props[q].Type, t.Props[p].Type
		narrower := is.Enum != nil && (was.Enum == nil || slices.ContainsFunc(was.Enum, func(v string) bool { return !slices.Contains(is.Enum, v) }))
		if was.Nullable && !is.Nullable || was.Kind != is.Kind || narrower || t.rulesOf(p) != "" && t.rulesOf(p) != old.rulesOf(q) {
			s.props = append(s.props, p)
		}
	}
	for i, tuple := range t.Tuples[:t.Unique] {
		if j := old.sameTuple(t, tuple, props); j < 0 || j >= old.Unique {
			s.tuples = append(s.tuples, i)
		}
	}
	s.card = t.Card != nil && (old.Card == nil || *t.Card != *old.Card)
	return s
}

// rulesOf returns the ranges and checks of a property as text, for comparison.
func (t *Type) rulesOf(p int) string {
	var b strings.Builder
	for _, r := range t.ranges[p] {
		b.WriteString("range")
		for _, end := range []*value.Value{r.Min, r.Max} {
			b.WriteByte(' ')
			if end != nil {
				b.WriteString(value.Text(*end))
			}
		}
		b.WriteByte('\n')
	}
	for _, c := range t.checks[p] {
		fmt.Fprintf(&b, "check %q\n", c.String())
	}
	return b.String()
}
