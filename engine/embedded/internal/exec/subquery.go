package exec

import (
	"slices"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// subquery is a bound subquery. The steps of its block run for all rows of a frame at once. Each
// row that the steps yield has a marker: the number of the frame's row for which the steps found
// it. The marker serves as the number of the group in an aggregate.
type subquery struct {
	src   plan.Expr    // a BlockAgg or a BlockRows
	name  string       // the text of the subquery, for errors
	block *block       // its clauses
	outer []plan.VarID // variables that are bound outside of the block
	agg   aggregate    // of a BlockAgg
	*blockRows
}

// arrangedSubquery is a subquery whose block is arranged into steps.
type arrangedSubquery struct {
	*subquery
	inner *pipe        // the steps of the block
	needs []plan.VarID // optional variables from outside the block; if one of them is null, the block has no match
	row   plan.VarID   // additional variable of the block; its value is the marker of a row
	in    int          // position of the block's input in matcher.frames
	id    int          // position in matcher.subqueries
}

// subqueryRun is the memory of a subquery in one run.
type subqueryRun struct {
	sum    accumulator // of a BlockAgg: its value, by marker
	known  bool        // `value` or `shared` is set
	value  value.Value // of a BlockAgg that uses no outer variable
	chosen []uint32    // the memory for rows that the steps choose
	part   frame       // see evaluator.window
	gathered
}

// subqueryNames is the maximum length, in bytes, of the text of a subquery in an error.
const subqueryNames = 80

// subquery binds a subquery. The result is its position in query.subqueries.
func (b *binder) subquery(e plan.Expr) (_ int, err error) {
	ranks, composes := b.ranks, b.composes
	b.ranks, b.composes = false, false
	defer func() { b.ranks, b.composes = ranks, composes }()
	match, outer, _ := plan.Subquery(e)
	s := &subquery{src: e, outer: outer}
	if s.block, err = b.block(match); err != nil {
		return 0, err
	}
	if err := b.optionals(s.block, match, outer); err != nil {
		return 0, err
	}
	switch e := e.(type) {
	case plan.BlockAgg:
		err = b.blockAgg(s, e)
	case plan.BlockRows:
		err = b.blockRows(s, e)
	}
	b.subqueries = append(b.subqueries, s)
	b.computes = true
	return len(b.subqueries) - 1, err
}

// blockAgg binds an aggregate over the matches of a block.
func (b *binder) blockAgg(s *subquery, e plan.BlockAgg) error {
	row := e.Func.Row()
	s.agg = aggregate{src: plan.Agg{Func: e.Func, Distinct: e.Distinct, Arg: e.Arg}, bound: plan.NoVar, nodes: plan.NoVar, typ: row.Result(value.Type{})}
	w, whole := e.Arg.(plan.Whole)
	counts := whole && e.Func == plan.Count && !e.Distinct
	switch {
	case e.Arg == nil:
		s.agg.rows = true
		return nil
	case counts && b.read.Vars[w.Var].Optional:
		s.agg.bound = w.Var
		return nil
	case counts:
		s.agg.rows = true
		return nil
	}
	var err error
	if s.agg.ex, err = b.expr(e.Arg); err != nil {
		return err
	}
	if !row.Arg.Accepts(s.agg.ex.typ) {
		return mismatch("%s does not accept a value of type %s", e.Func, s.agg.ex.typ)
	}
	s.agg.typ = row.Result(s.agg.ex.typ)
	return nil
}

// arrangeSubqueries arranges the blocks of the subqueries into steps. A block starts with the variables that
// are bound outside of it.
func (pl *planner) arrangeSubqueries() error {
	for i, s := range pl.query.subqueries {
		outer := &scope{varStates: make([]varState, len(pl.types)), pipe: &pipe{}, rows: 1, start: plan.NoVar}
		for _, v := range s.outer {
			outer.bind(v)
		}
		out := &arrangedSubquery{subquery: s, needs: pl.nullable(outer, s.block.vars), row: pl.markers(pl.optionals), in: pl.frame(), id: i}
		pl.optionals++
		inner := pl.scope(s.block, outer)
		inner.vars = append(slices.Clip(outer.vars), out.row)
		inner.pipe.inner, inner.pipe.subquery = false, out
		var err error
		if out.inner, err = pl.arrangeScope(inner); err != nil {
			return err
		}
		for _, o := range s.block.optionals {
			if err := pl.addOptional(inner, o); err != nil {
				return err
			}
		}
		pl.arranged = append(pl.arranged, out)
	}
	return nil
}

// visit prepares the evaluation of subquery number i, and returns a function that ends the
// evaluation. Until then, the steps of the block use the memory of the subquery, not the memory of
// the step that evaluates the subquery.
func (m *matcher) visit(i int) (done func()) {
	run := &m.subqueries[i]
	chosen, part, visiting := m.chosen, m.part, m.visiting
	m.chosen, m.part, m.visiting = run.chosen, &run.part, m.query.subqueries[i]
	return func() {
		run.chosen = m.chosen
		m.chosen, m.part, m.visiting = chosen, part, visiting
	}
}

// examined adds n to the number of entities that the subqueries of the run have examined. The run
// fails if the number exceeds the limit.
func (ev *evaluator) examined(n int) {
	if ev.visited += int64(n); ev.visited > ev.maxVisited {
		ev.fail(&engine.TooLarge{Resource: "entities that the subqueries of one query examine, at last " + ev.visiting.name, Limit: ev.maxVisited, Actual: ev.visited,
			Hint: "add conditions to the match or to the block, or a limit to the query"})
	}
}

// runBlock runs the block of a subquery for the rows of a frame, which has at most frameSize rows. It calls
// m.yielded for the rows that the block yields.
func (m *matcher) runBlock(s *arrangedSubquery, f *frame) error {
	if err := m.tick(1 + f.n); err != nil {
		return err
	}
	in := m.frame(s.in, s.outer)
	m.column(in, s.row)
	for i := range f.n {
		if f.isNull(s.needs, i) || fault.On(fault.RowDropped) && i > 0 && i == f.n-1 {
			continue
		}
		for _, v := range s.outer {
			in.cols[v][in.n] = f.cols[v][i]
		}
		in.cols[s.row][in.n] = uint32(i)
		in.n++
	}
	return m.push(s.inner, 0, in)
}

// yielded adds the rows that the block of a subquery yields to the subquery's aggregate or to its
// gathered rows.
func (m *matcher) yielded(s *arrangedSubquery, f *frame) error {
	run := &m.subqueries[s.id]
	markers := f.cols[s.row][:f.n]
	if s.blockRows == nil {
		return run.sum.accumulate(m.evaluator, &s.agg, f, markers)
	}
	return m.gather(s, run, f, markers)
}

// evalBlockAgg writes the values of an aggregate over a block for the rows of a frame into vec, beginning at
// position `at`.
func (m *matcher) evalBlockAgg(i int, f *frame, vec *column.Vec, at int) error {
	defer m.visit(i)()
	s, run := m.arranged[i], &m.subqueries[i]
	if len(s.outer) > 0 {
		return m.totals(s, f, vec, at)
	}
	if !run.known {
		var once column.Vec
		once.Reset(s.agg.typ, 1)
		if err := m.totals(s, &frame{n: 1}, &once, 0); err != nil {
			return err
		}
		run.value, run.known = once.Value(0), true
	}
	for k := range f.n {
		vec.Set(at+k, run.value)
	}
	return nil
}

// totals runs the block of an aggregate, and writes the values for the rows of a frame into vec, beginning at
// position `at`.
func (m *matcher) totals(s *arrangedSubquery, f *frame, vec *column.Vec, at int) error {
	sum := &m.subqueries[s.id].sum
	sum.reset()
	for range f.n {
		sum.grow()
	}
	if err := m.runBlock(s, f); err != nil {
		return err
	}
	for i := range f.n {
		switch n := sum.counts[i]; {
		case sum.fold == nil:
			vec.Ints[at+i] = n
		case n == 0:
			vec.SetNull(at + i)
		default:
			sum.fold.set(vec, at+i, uint32(i), n)
		}
	}
	m.spent -= int64(sum.spent())
	sum.reset()
	return m.textErr
}

// newSubqueryRuns returns the memory for the subqueries of a query.
func newSubqueryRuns(q *query) []subqueryRun {
	runs := make([]subqueryRun, len(q.subqueries))
	for i, s := range q.subqueries {
		if s.blockRows == nil {
			runs[i].sum = newAccumulator(&s.agg, q.keepsText(s.agg.ex))
		} else {
			runs[i].gathered = newGathered(q)
		}
	}
	return runs
}

// begin prepares the memory of a subquery for a new run.
func (r *subqueryRun) begin() {
	r.charged = 0
	if !fault.On(fault.ValueKept) {
		r.known = false
	}
}

// end drops the values that a pooled run must not keep alive.
func (r *subqueryRun) end() {
	r.value = value.Null
	clear(r.keys)
	if r.sum.counts != nil {
		r.sum.reset()
	}
}

// checkSubquery checks the names in a subquery. The block may use only the variables that it binds or that the
// plan lists as bound outside.
func (b *binder) checkSubquery(e plan.Expr) error {
	match, list, _ := plan.Subquery(e)
	bound := map[plan.VarID]bool{}
	for _, v := range list {
		if v < 0 || int(v) >= len(b.types) {
			return mismatch("there is no variable %d", v)
		}
		bound[v] = true
	}
	if err := b.matchClauses(match, bound); err != nil {
		return err
	}
	for _, c := range match {
		if err := b.closed(c, bound); err != nil {
			return err
		}
	}
	for _, r := range plan.Results(e) {
		if err := b.checkNames(r); err != nil {
			return err
		}
		var err error
		uses(r, func(v plan.VarID) {
			if !bound[v] {
				err = mismatch("a subquery returns $%s, which is not bound there", b.read.Vars[v].Name)
			}
		})
		if err != nil {
			return err
		}
	}
	switch e := e.(type) {
	case plan.BlockAgg:
		row := e.Func.Row()
		switch {
		case row == nil || !row.Block:
			return mismatch("there is no aggregate %d over a block", uint8(e.Func))
		case e.Arg == nil && (e.Func != plan.Count || e.Distinct), e.Distinct && !row.Distinct:
			return mismatch("the block of %s returns no value, or a distinct one", e.Func)
		}
	case plan.BlockRows:
		if e.Limit < 0 || len(e.Columns) == 0 {
			return mismatch("a block has no columns, or its limit is negative")
		}
		for _, v := range e.Ties {
			if v < 0 || int(v) >= len(b.types) || !bound[v] || b.types[v].Entity == plan.Walk {
				return mismatch("a block breaks ties by variable %d, which is not bound there", v)
			}
		}
		for _, c := range e.Columns {
			b.step(1)
			if _, rows := c.Expr.(plan.BlockRows); rows != (c.Fields != nil) {
				if !isNode(c.Expr) || c.Fields == nil {
					return mismatch("the fields of %s do not fit its expression", c.Name)
				}
			}
		}
	}
	return nil
}

// checkMember checks the names in a field of a record.
func (b *binder) checkMember(e plan.Member) error {
	rows, ok := e.Of.(plan.BlockRows)
	if !ok || !rows.First {
		return mismatch("the field %s is not one of a record", e.Name)
	}
	if !slices.ContainsFunc(rows.Columns, func(c plan.Column) bool { return c.Name == e.Name && c.Fields == nil }) {
		return mismatch("a record has no field %s that is a value", e.Name)
	}
	return b.checkSubquery(rows)
}

// nameSubqueries sets the field `name` of each subquery.
func (q *query) nameSubqueries(of *plan.Query) {
	if len(q.subqueries) == 0 {
		return
	}
	speller := plan.SpellerOf(of)
	for _, s := range q.subqueries {
		s.name = speller.Expr(s.src)
		if at := subqueryNames; len(s.name) > at {
			for at > 0 && !utf8.RuneStart(s.name[at]) {
				at--
			}
			s.name = s.name[:at] + "…"
		}
	}
}

// explainSubquery returns the operator of a subquery. The parameter `rows` is the estimated number of rows for
// which the run evaluates it.
func (x *explainer) explainSubquery(i int, rows float64) *engine.Operator {
	s := x.arranged[i]
	if len(s.outer) == 0 {
		rows = 1
	}
	name := "collect"
	switch e := s.src.(type) {
	case plan.BlockAgg:
		name = e.Func.String()
	case plan.BlockRows:
		if e.First {
			name = "first"
		}
	}
	op := &engine.Operator{Name: name + " block", Estimate: rows}
	if inner, _ := x.pipe(s.inner, nil); inner != nil {
		op.Children = append(op.Children, inner)
	}
	var parts []*expr
	if s.agg.ex != nil {
		parts = append(parts, s.agg.ex)
	}
	if s.blockRows != nil {
		for i := range s.columns {
			op.Children = append(op.Children, x.explainColumn(&s.columns[i], rows)...)
		}
		for _, o := range s.order {
			parts = append(parts, o.ex)
		}
	}
	for _, e := range parts {
		op.Children = append(op.Children, x.explainHoldings(e, rows)...)
	}
	if x.prof != nil {
		x.measure(op, x.prof.of(s.inner, len(s.inner.steps)).rows, 0)
	}
	return op
}

// explainColumn returns the operators of the blocks within a column.
func (x *explainer) explainColumn(c *projection, rows float64) []*engine.Operator {
	if c.rows >= 0 {
		return []*engine.Operator{x.explainSubquery(c.rows, rows)}
	}
	return x.explainHoldings(c.ex, rows)
}
