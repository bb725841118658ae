package version

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// StricterRules returns the rules of type t that the transaction's schema change makes stricter for
// the entities that the change takes over.
func (tx *Txn) stricterRules(t *schema.Type) schema.StricterRules {
	tc := tx.carryOf(t)
	if tc.From < 0 {
		return schema.StricterRules{}
	}
	s := t.Stricter(tx.before.Table(t.Entity, tc.From).Type, tc)
	s.Card = s.Card || t.Card != nil && len(tx.lost[t]) > 0
	return s
}

// Inexact lists the values and the ends of edges of the transaction's state that a schema change cannot cast, in the order of types
// and rows, as violations of the new types. It lists at most `limit` violations. The only possible error is that of the context.
// Inexact precedes Migrate.
func (tx *Txn) Inexact(ctx context.Context, ch schema.Change, limit int) (out []*engine.ConstraintViolation, err error) {
	s, examined := tx.base, tx.examined.of(tx.base, ch)
	for _, part := range []struct {
		carries []schema.TypeCarry
		olds    []*Table
		news    []*schema.Type
	}{{ch.Carry.Nodes, s.nodes, ch.Schema.Nodes}, {ch.Carry.Edges, s.edges, ch.Schema.Edges}} {
		for i, tc := range part.carries {
			if tc.From < 0 {
				continue
			}
			t, typ := part.olds[tc.From], part.news[i]
			cast := tc.Checked(t.Type, typ)
			ends := s.unfitEnds(ch, t.Type, typ)
			if cast == nil && ends == nil {
				continue
			}
			err := eachUnexamined(ctx, examined.table(typ.Entity, tc.From), t, func(ord uint32) bool {
				for _, bad := range ends {
					if v := bad(ord); v != nil {
						v.ID = strings.Clone(t.ID(ord))
						out = append(out, v)
					}
				}
				for _, p := range cast {
					v := t.Value(ord, tc.Props[p])
					if _, ok := tc.Cast(typ, p, v); ok {
						continue
					}
					prop := typ.Props[p]
					out = append(out, &engine.ConstraintViolation{Entity: typ.Entity.String(), Type: typ.Name, ID: strings.Clone(t.ID(ord)), Property: prop.Name,
						Rule: "type", Detail: fmt.Sprintf("%s is not exactly a value of type %s; change it first, or keep the type", describe(v), prop.Type.Required())})
				}
				return len(out) < limit
			})
			if err != nil {
				return nil, err
			}
			if len(out) >= limit {
				return out[:limit], nil
			}
		}
	}
	return out, nil
}

// unfitEnds returns functions that return the violation of an edge of type `old` whose node cannot be at an end that the schema
// change gave another type. It returns nil if all nodes can.
func (s *Snapshot) unfitEnds(ch schema.Change, old, now *schema.Type) (ends []func(ord uint32) *engine.ConstraintViolation) {
	if old.Entity != plan.Edge {
		return nil
	}
	for _, target := range []bool{false, true} {
		was, is := s.Schema.EndType(old, target), ch.Schema.EndType(now, target)
		names := ch.Carry.AtEnd(s.Schema, ch.Schema, was, is)
		if ch.Carry.SameEnd(was, is) || len(names) == was.Ends() {
			continue
		}
		property := "from"
		if target {
			property = "to"
		}
		ends = append(ends, func(ord uint32) *engine.ConstraintViolation {
			node, dst := s.edges[old.Index].Ends(ord)
			if target {
				node = dst
			}
			name, id := was.Label(s.nodes[was.Index].ID(node))
			if names[name] != "" {
				return nil
			}
			return &engine.ConstraintViolation{Entity: "edge", Type: now.Name, Property: property, Rule: "endpoint",
				Detail: fmt.Sprintf("%s %q cannot be at this end any more, which is %s; remove the edge first, or keep the end", name, id, ch.Schema.EndName(now, target))}
		})
	}
	return ends
}

// Adds reports whether the transaction's schema change adds property p of type t to entities that it takes over.
func (tx *Txn) Adds(t *schema.Type, p int) bool {
	tc := tx.carryOf(t)
	return tc.From >= 0 && tc.Props[p] < 0
}

// carryOf returns what the transaction's schema change takes over for type t; From is -1 for nothing.
func (tx *Txn) carryOf(t *schema.Type) schema.TypeCarry {
	if tx.change == nil {
		return schema.TypeCarry{From: -1}
	}
	if t.Entity == plan.Edge {
		return tx.change.Carry.Edges[t.Index]
	}
	return tx.change.Carry.Nodes[t.Index]
}

// Broken lists violations of the transaction's new schema by entities that the transaction takes
// over from the old schema. It leaves out the properties that a @backfill gives their values, and the unique rules and the @valid with
// such a property, which Violations checks. It lists at most `limit`
// violations. The only possible error is that of the context.
func (tx *Txn) Broken(ctx context.Context, limit int) (out []*engine.ConstraintViolation, err error) {
	if tx.change == nil {
		return nil, nil
	}
	examined := tx.examined.of(tx.before, *tx.change)
	for _, t := range tx.base.Tables() {
		s := tx.stricterRules(t.Type)
		filled := func(p int) bool { return p >= 0 && t.Type.Props[p].Backfill != nil && tx.Adds(t.Type, p) }
		s.Props = slices.DeleteFunc(s.Props, filled)
		s.Tuples = slices.DeleteFunc(s.Tuples, func(i int) bool { return slices.ContainsFunc(t.Type.Tuples[i], filled) })
		s.Valid = s.Valid && !filled(t.Type.Valid.Since) && !filled(t.Type.Valid.Until)
		if !s.Any() {
			continue
		}
		was := tx.carryOf(t.Type).From
		err := eachUnexamined(ctx, examined.table(t.Type.Entity, was), tx.before.Table(t.Type.Entity, was), func(ord uint32) bool {
			if !t.Alive(ord) { // an edge that the change has removed
				return true
			}
			for _, p := range s.Props {
				if err := t.Type.CheckValue(p, t.Value(ord, p)); err != nil {
					v := err.(*engine.ConstraintViolation)
					v.ID = strings.Clone(t.ID(ord))
					out = append(out, v)
				}
			}
			if s.Valid {
				if v := unordered(t, ord); v != nil {
					out = append(out, v)
				}
			}
			for _, i := range s.Tuples {
				if v := sameTuple(t, i, ord); v != nil {
					out = append(out, v)
				}
			}
			return len(out) < limit
		})
		if err != nil {
			return nil, err
		}
		if len(out) >= limit {
			return out[:limit], nil
		}
		if s.Card {
			nodes := tx.base.nodes[t.Type.From]
			sources, err := tx.unexaminedSources(ctx, examined, t)
			if err != nil {
				return nil, err
			}
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
