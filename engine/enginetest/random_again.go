package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file draws statements that follow from earlier ones: reads that run again, pages of the results of reads, and writes at the same
// entities. An engine may keep memory of a read for its next run.

// drawAgain sometimes draws a read of the script again, often with other arguments. It takes its random numbers from
// d.repeats, so that the other statements of a seed do not depend on it.
func (d *drawer) drawAgain(script []step) (s step, ok bool) {
	r := d.repeats
	if !r.percent(16) {
		return s, false
	}
	reads := slices.DeleteFunc(slices.Clone(script), func(s step) bool { return s.query == nil || s.query.Read == nil })
	if len(reads) == 0 {
		return s, false
	}
	s = pick(r, reads[max(0, len(reads)-8):])
	for range 4 { // prefer reads with parameters
		if len(s.query.Params) == 0 {
			s = pick(r, reads)
		}
	}
	s.held, s.back, s.args = false, 0, slices.Clone(s.args)
	for i := range s.args {
		if r.percent(70) {
			s.args[i] = d.otherArgument(&s.query.Params[i], s.args[i])
		}
	}
	return s, true
}

// otherArgument draws another argument for a parameter that has the argument v. It returns v for a parameter with a
// pattern, one bound, or a default without bounds.
func (d *drawer) otherArgument(p *plan.Param, v value.Value) value.Value {
	r, t := d.repeats, p.Type
	switch {
	case p.Bounds.Min != nil && p.Bounds.Max != nil: // a limit
		return literal(r.between(int(p.Bounds.Min.Int()), int(p.Bounds.Max.Int())), t)
	case p.Bounds.Min != nil, p.Bounds.Max != nil, p.Pattern != nil, !p.Default.IsNull():
		return v
	case t.Nullable && r.percent(25):
		return value.Null
	case p.Interface != "":
		typ, id := pick(r, t.Fields[0].Type.Enum), "none"
		if ids := d.ids[key(plan.Node, typ)]; len(ids) > 0 && r.percent(90) {
			id = pick(r, ids)
		}
		return plan.OfNode(typ, id)
	case t.List:
		elems := make([]value.Value, r.IntN(4))
		for i := range elems {
			elems[i] = d.otherScalar(t.Elem())
		}
		return value.OfList(t.Kind, elems)
	}
	return d.otherScalar(t)
}

// otherScalar draws a value of a type. A text may be an id or a pattern.
func (d *drawer) otherScalar(t value.Type) value.Value {
	r := d.repeats
	if t.Kind == value.String && r.percent(60) {
		if ids := d.ids[key(plan.Node, pick(r, d.schema.Nodes).Name)]; len(ids) > 0 && r.percent(50) {
			return value.OfString(pick(r, ids))
		}
		return value.OfString(pick(r, expressions))
	}
	return r.scalar(t, true, false)
}

// One read in pageEach reads is read again from a later row.
const pageEach = 8

// comparePage reads a result of the engine again and skips its first rows. It compares the others with the rows of the
// model.
func (p *pair) comparePage(ctx context.Context, q *plan.Query, args engine.Args, want [][]cell) string {
	res, err := p.engine.Query(ctx, p.queryOf(p.engine, q), args, p.targetOf(p.engine))
	if err != nil {
		return fmt.Sprintf("the engine runs the query once, but not again: %v (%T)", err, err)
	}
	n := 0
	if pages, ok := res.(interface{ Skip(n int) int }); ok {
		n = 1 + p.reads/pageEach%len(want)
		if got := pages.Skip(n); got != n {
			_ = res.Close()
			return fmt.Sprintf("the engine skips %d of %d rows, expected %d", got, len(want), n)
		}
	}
	got, err := drain(ctx, q, res)
	if err != nil {
		return "a page fails: " + err.Error()
	}
	if difference := compareRows(want[n:], got); difference != "" {
		return fmt.Sprintf("of the page after row %d, %s", n, difference)
	}
	return ""
}

// drawSequel sometimes draws statements that follow a statement on the same branch, and whose effect on the same entities independent
// statements seldom have. It takes its random numbers from d.sequels.
func (d *drawer) drawSequel(s step) []step {
	switch {
	case s.mode == engine.Sync && s.load != "" && s.sync.Source != "" && d.sequels.percent(40):
		return []step{d.drawShorter(s)}
	case s.query != nil && s.query.Mutation != nil && d.sequels.percent(20):
		return d.drawNamesake(s.branch)
	}
	return nil
}

// drawShorter draws a sync that follows another one by the same source, which lets go of some of the entities.
func (d *drawer) drawShorter(s step) step {
	lines := slices.DeleteFunc(strings.Split(s.load, "\n"), func(string) bool { return d.sequels.percent(25) })
	next := step{branch: s.branch, load: strings.Join(lines, "\n"), mode: engine.Sync, sync: s.sync, approved: true}
	next.sync.Cascade = d.sequels.percent(50)
	return next
}

// drawNamesake draws an edge at a node, where the edge has an interface at this end, and the deletion of a node of another type
// with the same id.
func (d *drawer) drawNamesake(branch string) []step {
	for range 5 {
		load, e, at, typ, id, ok := d.drawEdgeAt()
		if !ok {
			return nil
		}
		others := slices.DeleteFunc(typesAt(d.schema, e.Name, at), func(other string) bool {
			return other == typ || !slices.Contains(d.ids[key(plan.Node, other)], id)
		})
		if len(others) > 0 {
			load.branch = branch
			return []step{load, {branch: branch, query: newMutation(d.schema).remove(pick(d.sequels, others), "id", plan.Eq, id).query()}}
		}
	}
	return nil
}
