package rights

import (
	"context"
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// of returns what the rights say of a type, or nil if they do not restrict it.
func of(r *engine.Rights, t *schema.Type) *engine.TypeRights {
	switch {
	case r == nil:
		return nil
	case t.Entity == plan.Edge:
		return r.Edges[t.Name]
	}
	return r.Nodes[t.Name]
}

// Hidden returns the positions of the properties of a type that are not allowed.
func Hidden(r *engine.Rights, t *schema.Type) map[int]bool {
	may := of(r, t)
	if may == nil || len(may.Properties) == 0 {
		return nil
	}
	hidden := map[int]bool{}
	for _, name := range may.Properties {
		if p, ok := t.Prop(name); ok {
			hidden[p] = true
		}
	}
	return hidden
}

// Hides returns a function that reports whether the rights hide a type, or the property of a type at a position that is not
// negative. It is nil if there are no rights.
func Hides(s *schema.Schema, r *engine.Rights) func(t *schema.Type, property int) bool {
	if r == nil {
		return nil
	}
	none := func(t *schema.Type) bool {
		may := of(r, t)
		return may != nil && may.None
	}
	return func(t *schema.Type, property int) bool {
		if property >= 0 {
			return of(r, t).Hides(t.Props[property].Name)
		}
		return none(t) || t.Entity == plan.Edge && (none(s.EndType(t, false)) || none(s.EndType(t, true)))
	}
}

// Restricts reports whether the rights restrict a type.
func Restricts(r *engine.Rights, t *schema.Type) bool { return of(r, t) != nil }

// HidesValidity reports whether the rights hide a property that says when entities of a type are valid. To the caller, they then are always valid.
func HidesValidity(r *engine.Rights, t *schema.Type) bool {
	if r == nil {
		return false
	}
	hides := func(p int) bool { return of(r, t).Hides(t.Props[p].Name) && !slices.Contains(t.Key, p) }
	return hides(t.Valid.Since) || hides(t.Valid.Until)
}

// Withheld removes from a broken rule of the graph what the caller may not see: which other entity breaks it, and how many edges
// a node has, and values that the caller did not write.
func Withheld(err error) error {
	var broken *engine.ConstraintViolation
	if !errors.As(err, &broken) {
		return err
	}
	switch broken.Rule {
	case "unique":
		broken.Detail = "another entity already has the same values"
	case "valid": // one of the two properties may be hidden
		broken.Detail = "the entity would end before it begins to be valid"
	case "cardinality":
		broken.Detail = "a node would have too few or too many edges of this type"
	}
	return broken
}

// CheckTimes returns an *engine.NotAllowed if the transaction changes when an entity that existed begins or ends to be valid, and the rights to read hide
// the other one of the two. Otherwise a caller could find that one by trying times: the rule `valid` refuses those on the wrong side of it.
func CheckTimes(tx *version.Txn, reads *engine.Rights) error {
	return tx.EachChanged(func(t *schema.Type, ord uint32, was, is bool) error {
		if !is || t.Valid == nil || !HidesValidity(reads, t) {
			return nil
		}
		table, before := tx.Table(t), tx.Base().Table(t.Entity, t.Index)
		old, existed := before.Lookup(table.ID(ord))
		for _, p := range []int{t.Valid.Since, t.Valid.Until} {
			if existed && !value.Equal(before.Value(old, p), table.Value(ord, p)) {
				denied := notAllowed(t, table.ID(ord))
				denied.Property, denied.Reason = t.Props[p].Name, "it says when the entity is valid together with a property that you may not read"
				return denied
			}
		}
		return nil
	})
}

// CheckWrite returns an *engine.NotAllowed unless the rights allow each entity that the transaction changes, as it was and as it becomes.
// The states are those of the base of the transaction.
func (p *Parts) CheckWrite(ctx context.Context, s States, tx *version.Txn, r *engine.Rights) error {
	before, err := p.Of(ctx, s, r)
	if err != nil {
		return err
	}
	becoming := map[*schema.Type][]uint32{}
	err = tx.EachChanged(func(t *schema.Type, ord uint32, was, is bool) error {
		may := of(r, t)
		switch {
		case may == nil:
			return nil
		case may.None:
			return &engine.NotAllowed{Entity: t.Entity.String(), Type: t.Name}
		case was && has(*before.Hidden().Set(t), ord):
			return notAllowed(t, s.Of.Table(t.Entity, t.Index).ID(ord))
		case is:
			becoming[t] = append(becoming[t], ord)
			return checkProperties(tx, t, ord, may)
		}
		return nil
	})
	if err != nil || len(becoming) == 0 || fault.On(fault.BecomesUnchecked) {
		return err
	}
	after := &filterer{parts: p, state: tx.View()}
	for t, ords := range becoming {
		if Type(r, t) == nil {
			continue
		}
		if err := p.checkBecoming(ctx, after, s, r, t, ords); err != nil {
			return err
		}
	}
	return nil
}

// checkBecoming checks entities of one type as they become.
func (p *Parts) checkBecoming(ctx context.Context, after *filterer, s States, r *engine.Rights, t *schema.Type, ords []uint32) error {
	table := after.state.Table(t.Entity, t.Index)
	ids := make([]value.Value, 0, len(ords))
	if len(ords) > maxAmong {
		ids = nil
	}
	for _, ord := range ords {
		if ids != nil {
			ids = append(ids, value.OfString(table.ID(ord)))
		}
	}
	passed, err := after.passed(ctx, t, Type(r, t), ids)
	if err != nil {
		return err
	}
	for _, ord := range ords {
		hidden, err := p.hiddenElsewhere(ctx, s, r, t, table.ID(ord))
		if err != nil {
			return err
		}
		if hidden || !has(passed, ord) {
			return notAllowed(t, table.ID(ord))
		}
	}
	return nil
}

// hiddenElsewhere reports whether an entity exists in another state and is not allowed there.
func (p *Parts) hiddenElsewhere(ctx context.Context, s States, r *engine.Rights, t *schema.Type, id string) (bool, error) {
	for _, other := range s.Others {
		there := other.Schema.Type(t.Entity, t.Name)
		if there == nil {
			continue
		}
		ord, ok := other.Table(there.Entity, there.Index).Lookup(id)
		if !ok {
			continue
		}
		part, err := p.Of(ctx, States{Of: other}, r)
		if err != nil {
			return false, err
		}
		if has(*part.Hidden().Set(there), ord) {
			return true, nil
		}
	}
	return false, nil
}

// checkProperties checks that the transaction gives an entity no other values of the properties that are not allowed. A new entity may
// have their defaults.
func checkProperties(tx *version.Txn, t *schema.Type, ord uint32, may *engine.TypeRights) error {
	if len(may.Properties) == 0 {
		return nil
	}
	table, before := tx.Table(t), tx.Base().Table(t.Entity, t.Index)
	was, existed := before.Lookup(table.ID(ord))
	for _, name := range may.Properties {
		p, ok := t.Prop(name)
		if !ok {
			continue
		}
		is := table.Value(ord, p)
		switch {
		case existed && value.Equal(before.Value(was, p), is):
		case !existed && (is.IsNull() || t.Props[p].Default != nil && value.Equal(t.Props[p].Default.Value, is)):
		default:
			denied := notAllowed(t, table.ID(ord))
			denied.Property = name
			return denied
		}
	}
	return nil
}

// has reports whether a set, which may be shorter, contains an ordinal.
func has(set engine.Bitmap, ord uint32) bool { return int(ord>>6) < len(set) && set.Get(int(ord)) }

// notAllowed returns the error for an entity.
func notAllowed(t *schema.Type, id string) *engine.NotAllowed {
	return &engine.NotAllowed{Entity: t.Entity.String(), Type: t.Name, ID: id}
}
