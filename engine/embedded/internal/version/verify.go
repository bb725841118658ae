package version

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Verifier reads whole states. It reads each table only once, even if several states share the
// table.
type Verifier struct {
	tables map[*Table]bool // tables that were verified
	// joined has the edge tables that were verified, with their two node tables. It also has the tables of references
	// that were verified, each with the table of a type whose nodes they stand for.
	joined map[[3]*Table]bool
}

// Verify reads and checks everything in a snapshot: the rows against the numbers of the
// table, edges against their ends, and the indexes against the rows. The error joins one
// *engine.Corrupt for each corrupt table, or it is the error of the context.
func (v *Verifier) Verify(ctx context.Context, s *Snapshot) error {
	if v.tables == nil {
		v.tables, v.joined = map[*Table]bool{}, map[[3]*Table]bool{}
	}
	var faults []error
	for _, t := range s.Tables() {
		if v.tables[t] {
			continue
		}
		v.tables[t] = true
		if err := verifyTable(ctx, t); err != nil {
			faults = append(faults, err)
		}
	}
	for _, t := range s.edges {
		joined := [3]*Table{t, s.nodes[t.Type.From], s.nodes[t.Type.To]}
		if v.joined[joined] || len(faults) > 0 {
			continue // the ends of a corrupt table mean nothing
		}
		v.joined[joined] = true
		if err := verifyEnds(ctx, t, s); err != nil {
			faults = append(faults, err)
		}
	}
	for _, refs := range s.nodes[s.Schema.Declared():] {
		if len(faults) > 0 {
			continue
		}
		if err := v.verifyReferences(ctx, s, refs); err != nil {
			faults = append(faults, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(faults...)
}

// verifyReferences checks that the nodes exist that the references of a table stand for.
func (v *Verifier) verifyReferences(ctx context.Context, s *Snapshot, refs *Table) (err error) {
	known := true
	for _, m := range refs.Type.Of.Members {
		joined := [3]*Table{refs, s.nodes[m.Type.Index]}
		known = known && v.joined[joined]
		v.joined[joined] = true
	}
	if known {
		return nil
	}
	defer corruption.Catch(corruption.Watch(), &err)
	for ref := range refs.next {
		if ref%verifyTick == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if refs.Alive(ref) {
			s.Referent(refs.Type, ref)
		}
	}
	return nil
}

// verifyTick is the number of entities between two checks of the context.
const verifyTick = 1 << 14

// verifyTable reads all rows and indexes of the table and compares them.
func verifyTable(ctx context.Context, t *Table) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	for _, s := range t.Segs {
		_, cols := s.Columns(t.Type)
		for _, c := range cols {
			c.Load()
		}
		s.Ends()
	}
	t.keys.Load()
	for i := range t.idx {
		t.idx[i].Load()
	}
	t.out.Load()
	t.in.Load()
	fail := func(format string, args ...any) error {
		return &engine.Corrupt{Object: t.object(), Detail: fmt.Sprintf("%s %s: ", t.Type.Entity, t.Type.Name) + fmt.Sprintf(format, args...)}
	}
	live, last := uint32(0), ""
	for ord := range t.next {
		if ord%verifyTick == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if !t.Alive(ord) {
			continue
		}
		live++
		id := t.ID(ord)
		if t.sorted && live > 1 && id <= last {
			return fail("id %q comes after %q, but ids must ascend", id, last)
		}
		last = id
		if found, ok := t.Lookup(id); !ok || found != ord {
			return indexFault(t, "the index of ids does not find %q", id)
		}
		if err := verifyTuples(t, ord); err != nil {
			return err
		}
	}
	if live != t.live {
		return fail("%d entities are alive, expected %d", live, t.live)
	}
	if t.sorted && last > t.last {
		return fail("the greatest id is %q, expected %q", last, t.last)
	}
	if err := verifyTexts(ctx, t); err != nil {
		return err
	}
	if err := verifyOrders(ctx, t); err != nil {
		return err
	}
	return verifyVectors(t)
}

// verifyTexts compares the existing text indexes with the texts of the rows.
func verifyTexts(ctx context.Context, t *Table) error {
	for _, p := range t.texts.known() {
		if err := ctx.Err(); err != nil {
			return err
		}
		part, err := t.Text(p).Verify(func(row uint32) (string, bool) { return t.textAt(row, p) })
		if err != nil {
			object := t.object()
			if part != "" {
				object = "segment " + part
			}
			return &engine.Corrupt{Object: object, Detail: fmt.Sprintf("%s %s: the text index of %s: %v", t.Type.Entity, t.Type.Name, t.Type.Props[p].Name, err)}
		}
	}
	return nil
}

// indexFault returns an *engine.Corrupt for the table's indexes.
func indexFault(t *Table, format string, args ...any) error {
	return &engine.Corrupt{Object: t.indexObject(), Detail: fmt.Sprintf("%s %s: ", t.Type.Entity, t.Type.Name) + fmt.Sprintf(format, args...)}
}

// verifyTuples checks that the tuple indexes find an entity.
func verifyTuples(t *Table, ord uint32) error {
	var src, dst uint32
	if t.Type.Entity == plan.Edge {
		src, dst = t.Ends(ord)
	}
	for i, tuple := range t.Type.Tuples {
		h, ok := tupleHash(tuple, func(p int) value.Value { return t.Value(ord, p) }, src, dst)
		if !ok {
			continue
		}
		found := false
		for c := t.idx[i].Find(h); !found && c.Next(); {
			found = c.Ord == ord
		}
		if !found {
			return indexFault(t, "tuple index %d does not find %q", i+1, t.ID(ord))
		}
	}
	return nil
}

// verifyEnds checks that live edges join live nodes, and that each live edge is listed
// exactly once at each end.
func verifyEnds(ctx context.Context, t *Table, s *Snapshot) (err error) {
	defer corruption.Catch(corruption.Watch(), &err)
	from, to := s.nodes[t.Type.From], s.nodes[t.Type.To]
	for ord := range t.next {
		if !t.Alive(ord) {
			continue
		}
		if src, dst := t.Ends(ord); !from.Alive(src) || !to.Alive(dst) {
			return &engine.Corrupt{Object: t.object(), Detail: fmt.Sprintf("edge %s %q joins a node that does not exist", t.Type.Name, t.ID(ord))}
		}
	}
	listed := func(a *index.Adjacency, here *Table, ends func(ord uint32) (src, dst uint32)) error {
		seen, count := engine.NewBitmap(int(t.next)), uint32(0)
		check := func(node, edge, other uint32) error {
			if !t.Alive(edge) {
				return nil
			}
			if src, dst := ends(edge); src != node || dst != other || seen.Get(int(edge)) {
				return indexFault(t, "edge %q is listed twice, or at a node that it does not join", t.ID(edge))
			}
			seen.Set(int(edge))
			count++
			return nil
		}
		for node := range here.next {
			if node%verifyTick == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			edges, others := a.Base(node)
			for i, e := range edges {
				if err := check(node, e, others[i]); err != nil {
					return err
				}
			}
			for h := a.Later(node); h.Next(); {
				if err := check(node, h.Edge, h.Other); err != nil {
					return err
				}
			}
		}
		if count != t.live {
			return indexFault(t, "%d edges are listed, expected %d", count, t.live)
		}
		return nil
	}
	if err := listed(&t.out, from, t.Ends); err != nil {
		return err
	}
	return listed(&t.in, to, func(ord uint32) (uint32, uint32) {
		src, dst := t.Ends(ord)
		return dst, src
	})
}
