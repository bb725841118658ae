package load

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Apply puts an input into a transaction: row by row when its rows take at most inline
// bytes, as a commit like any other whose rows lie in its log record. Else it makes
// parts, in the order in which they were put, whose segments are in memory: the caller
// stores and names them. The error is a *engine.LoadErrors or, when no line is at
// fault, a *engine.ConstraintViolation.
func Apply(tx *version.Txn, in *Input, mode engine.LoadMode, inline int) ([]version.Part, error) {
	a := &applier{tx: tx, in: in, mode: mode, perms: map[*Rows][]uint32{}, bad: &engine.LoadErrors{}}
	size := 0
	for _, list := range [][]*Rows{in.Nodes, in.Edges} {
		for _, r := range list {
			if r != nil {
				size += r.bytes()
				a.perms[r] = a.order(r)
				r.entities = int64(len(a.perms[r]))
			}
		}
	}
	if err := a.err(); err != nil {
		return nil, err
	}
	var parts []version.Part
	var err error
	if size <= inline {
		err = a.putRows()
	} else {
		parts, err = a.putSegments()
	}
	if err != nil {
		return nil, err
	}
	if mode == engine.Overwrite {
		if err := a.orphans(); err != nil {
			return nil, err
		}
	}
	for _, v := range tx.Violations(maxErrors) {
		line, ok := a.lineOf(v)
		if !ok {
			return nil, v.Err
		}
		a.fail(line, v.Err.Property, v.Err)
	}
	return parts, a.err()
}

// Counts lists the number of entities of each type that occurs, after Apply.
func (in *Input) Counts() (nodes, edges []engine.TypeCount) {
	for _, r := range in.Nodes {
		if r != nil {
			nodes = append(nodes, engine.TypeCount{Type: r.Type.Name, Count: r.entities})
		}
	}
	for _, r := range in.Edges {
		if r != nil {
			edges = append(edges, engine.TypeCount{Type: r.Type.Name, Count: r.entities})
		}
	}
	return nodes, edges
}

type applier struct {
	tx    *version.Txn
	in    *Input
	mode  engine.LoadMode
	perms map[*Rows][]uint32 // the rows that stand, in id order
	bad   *engine.LoadErrors
}

func (a *applier) fail(line uint32, field string, err error) {
	if len(a.bad.Lines) == maxErrors {
		a.bad.More = true
		return
	}
	a.bad.Lines = append(a.bad.Lines, engine.LineError{Line: int64(line), Field: field, Err: err})
}

// err returns the faults so far in line order.
func (a *applier) err() error {
	if len(a.bad.Lines) == 0 {
		return nil
	}
	slices.SortStableFunc(a.bad.Lines, func(x, y engine.LineError) int { return cmp.Compare(x.Line, y.Line) })
	return a.bad
}

// order sorts rows by id and refuses ids that occur twice: of an edge in merge mode
// the last row stands.
func (a *applier) order(r *Rows) []uint32 {
	perm := make([]uint32, r.Len())
	sorted := true
	for i := range perm {
		perm[i] = uint32(i)
		sorted = sorted && (i == 0 || bytes.Compare(r.raw(i-1), r.raw(i)) < 0)
	}
	if sorted {
		return perm
	}
	slices.SortFunc(perm, func(x, y uint32) int {
		return cmp.Or(bytes.Compare(r.raw(int(x)), r.raw(int(y))), cmp.Compare(x, y))
	})
	out := perm[:0]
	for i, row := range perm {
		if i > 0 && bytes.Equal(r.raw(int(row)), r.raw(int(perm[i-1]))) {
			if r.Type.Entity == plan.Edge && a.mode == engine.Merge {
				out[len(out)-1] = row
				continue
			}
			a.fail(r.lines[row], "", &engine.KeyConflict{Entity: r.Type.Entity.String(), Type: r.Type.Name, ID: string(r.raw(int(row)))})
			continue
		}
		out = append(out, row)
	}
	return out
}

// each calls f with the rows that occur, nodes first.
func (a *applier) each(e plan.Entity, f func(r *Rows)) {
	list := a.in.Nodes
	if e == plan.Edge {
		list = a.in.Edges
	}
	for _, r := range list {
		if r != nil {
			f(r)
		}
	}
}

// strict refuses ids that exist, in append mode.
func (a *applier) strict(r *Rows) {
	if a.mode != engine.Append {
		return
	}
	table := a.tx.Table(r.Type)
	for _, row := range a.perms[r] {
		if _, ok := table.Lookup(r.id(int(row))); ok {
			a.fail(r.lines[row], "", &engine.KeyConflict{Entity: r.Type.Entity.String(), Type: r.Type.Name, ID: string(r.raw(int(row)))})
		}
	}
}

// ends finds the nodes at the ends of the edges that stand, in their order.
func (a *applier) ends(r *Rows) (src, dst []uint32) {
	perm := a.perms[r]
	find := func(node int, ids *column.Builder, field string) []uint32 {
		nt := a.tx.Schema().Nodes[node]
		table := a.tx.Table(nt)
		out := make([]uint32, len(perm))
		for i, row := range perm {
			raw := ids.Raw(int(row))
			ord, ok := table.Lookup(unsafe.String(unsafe.SliceData(raw), len(raw)))
			if !ok {
				a.fail(r.lines[row], field, &engine.ConstraintViolation{Entity: "edge", Type: r.Type.Name, Property: field, Rule: "endpoint",
					Detail: fmt.Sprintf("node %s %q is neither in the graph nor in the input", nt.Name, raw)})
			}
			out[i] = ord
		}
		return out
	}
	return find(r.Type.From, r.from, "from"), find(r.Type.To, r.to, "to")
}

// putRows puts a small input row by row.
func (a *applier) putRows() error {
	if a.mode == engine.Overwrite {
		a.each(plan.Edge, a.clear)
		a.each(plan.Node, a.clear)
	}
	a.each(plan.Node, func(r *Rows) {
		a.strict(r)
		for _, row := range a.perms[r] {
			a.tx.Put(r.Type, version.Row{ID: r.text(int(row)), Vals: r.values(int(row))})
		}
	})
	if err := a.err(); err != nil {
		return err
	}
	a.each(plan.Edge, func(r *Rows) {
		a.strict(r)
		src, dst := a.ends(r)
		if len(a.bad.Lines) > 0 {
			return
		}
		for i, row := range a.perms[r] {
			a.tx.Put(r.Type, version.Row{ID: r.text(int(row)), Src: src[i], Dst: dst[i], Vals: r.values(int(row))})
		}
	})
	return a.err()
}

// clear removes the entities of a type that the input does not name.
func (a *applier) clear(r *Rows) {
	table := a.tx.Table(r.Type)
	named := make(map[uint32]bool, r.Len())
	for _, row := range a.perms[r] {
		if ord, ok := table.Lookup(r.id(int(row))); ok {
			named[ord] = true
		}
	}
	for ord := range table.Ordinals() {
		if a.tx.Table(r.Type).Alive(ord) && !named[ord] {
			a.tx.Remove(r.Type, ord)
		}
	}
}

// putSegments puts an input as segments.
func (a *applier) putSegments() ([]version.Part, error) {
	var parts []version.Part
	put := func(r *Rows, s *version.Segment) {
		p := version.Part{Type: r.Type, Segment: s}
		if a.mode == engine.Overwrite {
			p.Replace, p.Reset = true, a.free(r.Type)
		}
		parts = append(parts, p)
		a.tx.PutSegment(p)
	}
	a.each(plan.Node, func(r *Rows) {
		a.strict(r)
		if len(a.bad.Lines) == 0 {
			put(r, r.segment(a.perms[r]))
		}
	})
	if err := a.err(); err != nil {
		return nil, err
	}
	a.each(plan.Edge, func(r *Rows) {
		a.strict(r)
		src, dst := a.ends(r)
		if len(a.bad.Lines) == 0 {
			s := r.segment(a.perms[r])
			s.Src, s.Dst = src, dst
			put(r, s)
		}
	})
	return parts, a.err()
}

// free reports whether nothing outside the input refers to the entities of a type.
func (a *applier) free(t *version.Type) bool {
	if t.Entity == plan.Edge {
		return true
	}
	for _, list := range [][]int{t.Out, t.In} {
		for _, e := range list {
			if a.in.Edges[e] == nil && a.tx.Base().Edges(e).Live() > 0 {
				return false
			}
		}
	}
	return true
}

// orphans refuses to remove a node that an edge outside the input needs.
func (a *applier) orphans() error {
	for _, t := range a.tx.Schema().Edges {
		if a.in.Edges[t.Index] != nil || a.in.Nodes[t.From] == nil && a.in.Nodes[t.To] == nil {
			continue
		}
		if ord, lost, ok := a.tx.Orphan(t); ok {
			return &engine.ConstraintViolation{Entity: "edge", Type: t.Name, ID: strings.Clone(a.tx.Table(t).ID(ord)), Rule: "endpoint",
				Detail: fmt.Sprintf("the load would remove node %q, which the edge joins; add the node or the edges of type %s to the input", lost, t.Name)}
		}
	}
	return nil
}

// lineOf finds the line of the entity that breaks a rule.
func (a *applier) lineOf(v version.Violation) (uint32, bool) {
	if v.Ord == version.NoOrd {
		return 0, false
	}
	list := a.in.Nodes
	if v.Type.Entity == plan.Edge {
		list = a.in.Edges
	}
	r := list[v.Type.Index]
	if r == nil {
		return 0, false
	}
	id := a.tx.Table(v.Type).ID(v.Ord)
	perm := a.perms[r]
	i, ok := slices.BinarySearchFunc(perm, id, func(row uint32, id string) int { return cmp.Compare(r.id(int(row)), id) })
	if !ok {
		return 0, false
	}
	return r.lines[perm[i]], true
}

// raw returns the id of a row.
func (r *Rows) raw(i int) []byte {
	if r.ids == nil {
		return r.props[r.Type.IDProp].Raw(i)
	}
	return r.ids.Raw(i)
}

// id is raw as a string that lives as long as the rows.
func (r *Rows) id(i int) string {
	b := r.raw(i)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func (r *Rows) text(i int) string { return string(r.raw(i)) }

// bytes returns roughly how much the rows take, a few bytes for each included.
func (r *Rows) bytes() int {
	n := 16 * r.Len()
	if r.ids != nil {
		n += r.ids.Bytes()
	}
	if r.from != nil {
		n += r.from.Bytes() + r.to.Bytes()
	}
	for _, b := range r.props {
		n += b.Bytes()
	}
	return n
}

func (r *Rows) values(i int) []value.Value {
	vals := make([]value.Value, len(r.props))
	for p, b := range r.props {
		vals[p] = b.Value(i)
	}
	return vals
}

func (r *Rows) segment(perm []uint32) *version.Segment {
	s := &version.Segment{N: uint32(len(perm))}
	if r.ids != nil {
		s.ID = r.ids.Finish(perm)
	}
	for _, b := range r.props {
		s.Props = append(s.Props, b.Finish(perm))
	}
	return s
}
