package rights

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Type returns what the rights say of a type, or nil if they do not restrict its rows.
func Type(r *engine.Rights, t *schema.Type) *engine.TypeRights {
	of := r.Nodes[t.Name]
	if t.Entity == plan.Edge {
		of = r.Edges[t.Name]
	}
	if of == nil || !of.None && len(of.Any) == 0 && len(of.All) == 0 {
		return nil
	}
	return of
}

// filterer finds the entities of one state that are not allowed there.
type filterer struct {
	parts *Parts
	state *version.Snapshot
	last  *selection // of an earlier state, or nil
}

// maxAmong is the maximum number of changed entities that are filtered by themselves. With more of them, all are filtered.
const maxAmong = 4096

// hidden returns the entities of a type that are not allowed.
func (f *filterer) hidden(ctx context.Context, t *schema.Type, of *engine.TypeRights) (engine.Bitmap, error) {
	table := f.state.Table(t.Entity, t.Index)
	if of.None {
		return live(table), nil
	}
	if f.last != nil {
		set, ok, err := f.update(ctx, t, of)
		if ok || err != nil {
			return set, err
		}
	}
	passed, err := f.passed(ctx, t, of, nil)
	if err != nil {
		return nil, err
	}
	set := live(table)
	for i := range set {
		set[i] &^= passed[i]
	}
	return set, nil
}

// live returns the live entities of a table.
func live(table *version.Table) engine.Bitmap {
	set := engine.NewBitmap(int(table.Ordinals()))
	for ord := range table.Ordinals() {
		if table.Alive(ord) {
			set.Set(int(ord))
		}
	}
	return set
}

// update derives the set of a type from that of the earlier state. It reports false if all entities must be filtered.
func (f *filterer) update(ctx context.Context, t *schema.Type, of *engine.TypeRights) (set engine.Bitmap, ok bool, err error) {
	table, was := f.state.Table(t.Entity, t.Index), f.last.of.Table(t.Entity, t.Index)
	before := *f.last.hidden.Set(t)
	var others bool // whether the filters read more than the entity itself, in a table that has changed
	for filter := range filters(of) {
		if len(filter.Entities.Read.Vars) > 1 && table != was {
			others = true // another variable may stand for another entity of the type
		}
		for _, u := range filter.Entities.Uses {
			if u.Entity == t.Entity && u.Type == t.Name {
				continue
			}
			used := f.state.Schema.Type(u.Entity, u.Type)
			others = others || used == nil || f.state.Table(used.Entity, used.Index) != f.last.of.Table(used.Entity, used.Index)
		}
	}
	switch {
	case others:
		return nil, false, nil
	case table == was, fault.On(fault.PartKept) && table.Ordinals() == was.Ordinals():
		return before, true, nil
	}
	var changed []uint32
	err = f.state.Changed(ctx, f.last.of, t, func(ord uint32) {
		if len(changed) <= maxAmong {
			changed = append(changed, ord)
		}
	})
	if err != nil || len(changed) > maxAmong {
		return nil, false, err
	}
	set = engine.NewBitmap(int(table.Ordinals()))
	copy(set, before)
	ids := make([]value.Value, len(changed))
	for i, ord := range changed {
		set.Set(int(ord))
		ids[i] = value.OfString(table.ID(ord))
	}
	passed, err := f.passed(ctx, t, of, ids)
	if err != nil {
		return nil, false, err
	}
	for i := range set {
		set[i] &^= passed[i]
	}
	return set, true, nil
}

// filters yields the filters of a type.
func filters(of *engine.TypeRights) func(yield func(*engine.RowFilter) bool) {
	return func(yield func(*engine.RowFilter) bool) {
		for _, list := range append(of.Any[:len(of.Any):len(of.Any)], of.All) {
			for _, filter := range list {
				if !yield(filter) {
					return
				}
			}
		}
	}
}

// passed returns the entities of a type that pass the filters; if `among` is not nil, only those with one of these ids.
func (f *filterer) passed(ctx context.Context, t *schema.Type, of *engine.TypeRights, among []value.Value) (all engine.Bitmap, err error) {
	n := int(f.state.Table(t.Entity, t.Index).Ordinals())
	confine := func(set engine.Bitmap) {
		if all == nil {
			all = set
			return
		}
		for i := range all {
			if fault.On(fault.OneFilterIsEnough) {
				all[i] |= set[i]
				continue
			}
			all[i] &= set[i]
		}
	}
	for _, list := range of.Any {
		union := engine.NewBitmap(n)
		for _, filter := range list {
			if err := f.run(ctx, filter, among, union); err != nil {
				return nil, err
			}
		}
		confine(union)
	}
	for _, filter := range of.All {
		set := engine.NewBitmap(n)
		if err := f.run(ctx, filter, among, set); err != nil {
			return nil, err
		}
		confine(set)
	}
	return all, nil
}

// run adds the entities that pass a filter to a set. None passes a filter that does not fit the schema.
func (f *filterer) run(ctx context.Context, filter *engine.RowFilter, among []value.Value, set engine.Bitmap) error {
	q, args := filter.Entities, filter.Args
	if among != nil {
		q, args = filter.Among, append(args[:len(args):len(args)], value.OfList(value.String, among))
	}
	prog, err := f.parts.Programs.Get(ctx, q, f.state)
	var misfit *engine.SchemaMismatch
	switch {
	case errors.As(err, &misfit):
		return nil
	case err != nil:
		return err
	}
	if args, err = ir.CheckArgs(q.Params, args); err != nil {
		return err
	}
	return prog.Bound(ctx, f.state, args, f.parts.Options(), func(ords []uint32) {
		for _, ord := range ords {
			set.Set(int(ord))
		}
	})
}

// CheckPlan returns a *engine.SchemaMismatch if a plan names a property that may not be read.
func CheckPlan(q *plan.Query, r *engine.Rights) error {
	if r == nil {
		return nil
	}
	for _, u := range q.Uses {
		types := r.Nodes
		if u.Entity == plan.Edge {
			types = r.Edges
		}
		if u.Property != "" && types[u.Type].Hides(u.Property) {
			return &engine.SchemaMismatch{Detail: fmt.Sprintf("%s %s has no property %s", u.Entity, u.Type, u.Property)}
		}
	}
	return nil
}

// CheckOrigins returns a *engine.SchemaMismatch if a plan reads an origin that may tell of something hidden. A row has one origin for all
// of its properties, so with a hidden one, its origin would tell when and by whom that was changed. The tool may be a stored query
// that the caller may not know.
func CheckOrigins(q *plan.Query, r *engine.Rights, s *schema.Schema) (err error) {
	if r == nil {
		return nil
	}
	q.WalkOrigins(func(v *plan.Var, o plan.Origin) {
		types, names := r.Nodes, []string{v.Type}
		switch v.Entity {
		case plan.Edge:
			types = r.Edges
		case plan.Interface:
			names = nil
			if i := s.Interface(v.Type); i != nil {
				for _, m := range i.Members {
					names = append(names, m.Type.Name)
				}
			}
		case plan.Node, plan.Walk:
		}
		hides := func(name string) bool { return types[name] != nil && len(types[name].Properties) > 0 }
		switch {
		case o.Fact == plan.OriginTool:
			err = &engine.SchemaMismatch{Detail: fmt.Sprintf("you may read a part of the graph, so you may not read origin($%s).tool; leave it out", v.Name)}
		case slices.ContainsFunc(names, hides):
			err = &engine.SchemaMismatch{Detail: fmt.Sprintf("you may not read all properties of %s %s, so you may not read its origin; leave out origin($%s)", v.Entity, v.Type, v.Name)}
		}
	})
	return err
}
