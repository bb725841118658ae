package exec

import (
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// step processes the rows of a frame and pushes the resulting rows on. A frame belongs to
// the step that it is pushed to: that step may remove rows from it.
type step interface {
	run(st *state, p *pipe, at int, f *frame) error
}

// counter is a step that can count the rows that it would push, without making them. The
// frame must not belong to a not block.
type counter interface {
	step
	count(st *state, f *frame) (int, error)
}

// push passes a frame to step at of a pipe, or to the collector of its rows after the last
// step.
func (st *state) push(p *pipe, at int, f *frame) error {
	switch {
	case f.n == 0:
		return nil
	case st.prof != nil:
		return st.profiled(p, at, f)
	}
	return st.advance(p, at, f)
}

func (st *state) advance(p *pipe, at int, f *frame) error {
	switch {
	case at < len(p.steps):
		if at == len(p.steps)-1 && p.counts != nil {
			n, err := p.counts.count(st, f)
			st.yielded(p, n)
			st.tally(n)
			return err
		}
		return p.steps[at].run(st, p, at, f)
	case p.inner:
		for _, i := range f.outer[:f.n] {
			f.found.set(i)
		}
		return nil
	}
	return st.arrive(f)
}

// repeat appends row i of in up to times times, as long as there is room, for the given
// variables. It returns the number of copies.
func (f *frame) repeat(in *frame, i int, vars []plan.VarID, times int) int {
	from := f.n
	f.n = min(from+times, frameSize)
	for _, v := range vars {
		to, ord := f.cols[v][from:f.n], in.cols[v][i]
		for k := range to {
			to[k] = ord
		}
	}
	if in.found != nil {
		f.found = in.found
		if cap(f.outer) < frameSize {
			f.outer = make([]uint32, frameSize)
		}
		f.outer = f.outer[:frameSize]
		for k := from; k < f.n; k++ {
			f.outer[k] = in.outer[i]
		}
	}
	return f.n - from
}

// copyRow appends a copy of row i of in, for the given variables.
func (f *frame) copyRow(in *frame, i int, vars []plan.VarID) {
	for _, v := range vars {
		f.cols[v][f.n] = in.cols[v][i]
	}
	if in.found != nil {
		f.found = in.found
		if cap(f.outer) < frameSize {
			f.outer = make([]uint32, frameSize)
		}
		f.outer = f.outer[:frameSize]
		f.outer[f.n] = in.outer[i]
	}
}

// choose keeps only the given rows, which must be ascending.
func (f *frame) choose(rows []uint32, vars []plan.VarID) {
	if len(rows) == f.n {
		return
	}
	for _, v := range vars {
		col := f.cols[v]
		for i, r := range rows {
			col[i] = col[r]
		}
	}
	if f.found != nil {
		for i, r := range rows {
			f.outer[i] = f.outer[r]
		}
	}
	f.n = len(rows)
}

// scan binds a variable to each entity of its type.
type scan struct {
	v    plan.VarID
	vars []plan.VarID // already bound
	id   int
}

func (s *scan) run(st *state, p *pipe, at int, f *frame) error {
	table := st.table(s.v)
	out := st.frame(s.id, s.vars)
	st.column(out, s.v)
	for i := range f.n {
		for next := uint32(0); next < table.Ordinals() && !f.settled(i); {
			if err := st.tick(frameSize); err != nil {
				return err
			}
			n, more := table.Scan(next, out.cols[s.v][out.n:frameSize])
			next = more
			if len(s.vars) == 0 && f.found == nil {
				out.n += n
			} else {
				out.repeat(f, i, s.vars, n)
			}
			if out.n == frameSize {
				if err := st.flush(p, at, out); err != nil {
					return err
				}
			}
		}
	}
	return st.flush(p, at, out)
}

// flush pushes a frame on and empties it.
func (st *state) flush(p *pipe, at int, out *frame) error {
	err := st.push(p, at+1, out)
	out.n = 0
	return err
}

// filter keeps the rows for which every condition is true.
type filter struct {
	conds []*cond
	vars  []plan.VarID
}

func (s *filter) run(st *state, p *pipe, at int, f *frame) error {
	if !s.keep(st, f) {
		return nil
	}
	return st.push(p, at+1, f)
}

// keep removes the other rows from a frame and reports whether any row is left.
func (s *filter) keep(st *state, f *frame) bool {
	for _, c := range s.conds {
		if c.unless >= 0 && st.args[c.unless].IsNull() {
			continue
		}
		if st.chosen = st.test(c, f, st.chosen[:0]); len(st.chosen) == 0 {
			return false
		}
		f.choose(st.chosen, s.vars)
	}
	return true
}

// idFilter keeps the rows whose entity has a given id, or a different one. It looks the id
// up once, instead of reading the id of each row.
type idFilter struct {
	v    plan.VarID
	id   *expr // constant during a run
	not  bool
	cond *cond // the condition that it replaces
	vars []plan.VarID
}

// idCond returns the filter for a condition on an id. It returns nil for other conditions.
func (b *binder) idCond(c *cond) *idFilter {
	if c.text >= 0 || c.unless != plan.NoParam || c.op != plan.Eq && c.op != plan.Ne {
		return nil
	}
	left, right := c.left, c.right
	if left.kind == exprConst {
		left, right = right, left
	}
	if right.kind != exprConst || right.typ.Kind != value.String || right.typ.List || !b.isID(left) {
		return nil
	}
	return &idFilter{v: left.v, id: right, not: c.op == plan.Ne, cond: c}
}

func (s *idFilter) run(st *state, p *pipe, at int, f *frame) error {
	id := st.constant(s.id)
	if id.IsNull() {
		return nil // no comparison with null is true
	}
	ord, ok := st.table(s.v).Lookup(id.Str())
	if !ok {
		if s.not {
			return st.push(p, at+1, f)
		}
		return nil
	}
	rows := st.chosen[:0]
	for i, o := range f.cols[s.v][:f.n] {
		if (o == ord) != s.not {
			rows = append(rows, uint32(i))
		}
	}
	st.chosen = rows
	f.choose(rows, s.vars)
	return st.push(p, at+1, f)
}

// anti keeps the rows for which a not block has no match.
type anti struct {
	inner *pipe
	vars  []plan.VarID
	id    int
}

func (s *anti) run(st *state, p *pipe, at int, f *frame) error {
	if err := st.tick(f.n); err != nil {
		return err
	}
	in := st.frame(s.id, s.vars)
	var matched found
	if cap(in.outer) < frameSize {
		in.outer = make([]uint32, frameSize)
		if err := st.hold(4 * frameSize); err != nil {
			return err
		}
	}
	in.outer = in.outer[:frameSize]
	for i := range f.n {
		if f.settled(i) {
			matched.set(uint32(i)) // marked as matched, so that it is skipped
			continue
		}
		for _, v := range s.vars {
			in.cols[v][in.n] = f.cols[v][i]
		}
		in.outer[in.n] = uint32(i)
		in.n++
	}
	in.found = &matched
	if err := st.push(s.inner, 0, in); err != nil {
		return err
	}
	in.found = nil
	rows := st.chosen[:0]
	for i := range f.n {
		if !matched.get(uint32(i)) {
			rows = append(rows, uint32(i))
		}
	}
	st.chosen = rows
	f.choose(rows, s.vars)
	return st.push(p, at+1, f)
}
