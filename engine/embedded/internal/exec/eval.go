package exec

import (
	"cmp"
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// evaluator evaluates the expressions and conditions of a program over frames. It holds the inputs
// of a run (the snapshot, the arguments, the instant) and the budget of the run.
type evaluator struct {
	*ir.Query
	budget
	ctx     context.Context   // nil between calls of the result's methods
	snap    *version.Snapshot // the state that the run reads
	args    engine.Args       // the arguments of the query
	maxRows int64             // the maximum number of rows of the result, or plan.NoLimit
	now     value.Value       // the value of now()
	tables  []*version.Table  // by variable
	ticks   int               // entities examined since the context was last checked
	textErr error             // the first error of an expression, or why an inverted index could not be built or a condition not tested

	vecs    []column.Vec // by slot of an expression
	scratch []uint32     // memory for one use at a time
	chosen  []uint32     // rows that a condition or a step keeps; valid until the next one
	queries []textQuery  // by position in ir.Query.Texts
	passed  []uint32     // rows for which a test is true; valid until the next test
	made    []int64      // by slot of an expression: bytes of the texts that its functions made; nil without functions
	part    *frame       // see window

	presentRows frame      // see present
	presentAt   []uint32   // see present
	dense       column.Vec // values of an optional variable, where it is not null

	shares       []shared   // by variable; nil without variables over interfaces
	sharedVec    column.Vec // see evalShared
	sharedOrds   []uint32   // see sortMembers, like the two fields below
	sharedPlaces []uint32
	sharedEnds   []uint32

	// results writes the results of an aggregate for some groups into a vector.
	results   func(agg int, groups []uint32, vec *column.Vec)
	constants // lists and patterns of the conditions
	// known holds the constant expressions that the run has evaluated.
	known map[*ir.Expr]value.Value
	// blocks runs the blocks whose truth is a value.
	blocks interface {
		truths(holding int, f *frame) (rowSet, error)
		evalBlockAgg(subquery int, f *frame, vec *column.Vec, at int) error
		evalMember(subquery int, f *frame, vec *column.Vec, at int) error
	}
	visiting   *ir.Subquery // the subquery that runs; nil for none
	visited    int64        // approximate number of entities that subqueries have examined
	maxVisited int64        // limit of `visited`
	choices    []choice     // by ir.Expr.Choice
	chosenBy   [][]uint32   // by position in ir.Query.Holdings: the memory for rows that the block's steps choose
	// searches is the memory of the searches for walks. It has first an element for each element of
	// ir.Query.Routes, and then an element for each step explore, by explore.number.
	searches []search
	walkBudget
	examineBudget
	splitsAll bool   // see Options.SplitAll
	rest      func() // lets a helper rest if it has worked for some time; nil in the goroutine of the call
	scores
}

// newEvaluator returns an evaluator for the runs of a query. The argument `searches` is the number of steps of type explore.
func newEvaluator(q *ir.Query, searches int) evaluator {
	ev := evaluator{Query: q, vecs: make([]column.Vec, q.Vecs), tables: make([]*version.Table, len(q.Types)),
		queries: make([]textQuery, len(q.Texts)), part: new(frame), constants: newConstants(q), scores: newScores(q)}
	ev.shares = newShares(q)
	if n := len(q.Routes) + searches; n > 0 {
		ev.searches = make([]search, n)
	}
	if q.Computes {
		ev.made = make([]int64, q.Vecs)
		ev.chosenBy = make([][]uint32, len(q.Holdings))
		ev.choices = make([]choice, q.Choosers)
	}
	return ev
}

// begin prepares for a run with its inputs.
func (ev *evaluator) begin(ctx context.Context, snap *version.Snapshot, args engine.Args, opts Options) {
	ev.budget.begin(opts.Memory, opts.Shared)
	ev.ctx, ev.snap, ev.args, ev.now, ev.embedder, ev.textErr = ctx, snap, args, opts.Now, opts.Embedder, nil
	if ev.maxRows == 0 || !fault.On(fault.LimitKept) {
		ev.maxRows = ev.Read.LimitOf(args)
	}
	if fault.On(fault.LimitIsBound) {
		ev.maxRows = ev.Read.Limit
	}
	ev.visiting, ev.visited, ev.maxVisited = nil, 0, cmp.Or(opts.Visits, plan.MaxVisited)
	ev.total, ev.mostExamined = 0, cmp.Or(opts.Examined, maxExamined)
	ev.walked, ev.most, ev.splitsAll = 0, cmp.Or(opts.Walked, maxWalked), opts.SplitAll
	for i := range ev.searches {
		ev.searches[i].begin()
	}
	for v, t := range ev.Types {
		if t == ir.WalkType || ev.IsShared(plan.VarID(v)) {
			continue
		}
		ev.tables[v] = snap.Table(t.Entity, t.Index)
	}
	ev.beginShared()
	for i := range ev.queries {
		ev.queries[i].ready = false
	}
	clear(ev.made)
	clear(ev.known)
}

// end clears references that a pooled evaluator must not keep alive. If vecs is true, it clears the
// values too. That takes longer than a run of a single row.
func (ev *evaluator) end(vecs bool) {
	ev.endScores()
	ev.endConstants()
	clear(ev.known)
	ev.release()
	ev.ctx, ev.snap, ev.args = nil, nil, nil
	clear(ev.tables)
	for i := range ev.shares {
		clear(ev.shares[i].tables)
	}
	if vecs {
		ev.dense.Forget()
		ev.sharedVec.Forget()
		for i := range ev.vecs {
			ev.vecs[i].Forget()
		}
	}
}

// tick counts examined entities; n is a rough number of those since the last call. From time to time it checks the
// context and examineBudget.
func (ev *evaluator) tick(n int) error {
	if ev.ticks += n; ev.ticks < 4096 && ev.textErr == nil {
		return nil
	}
	if ev.visiting != nil {
		ev.examined(ev.ticks)
	}
	err := ev.examine(int64(ev.ticks))
	ev.ticks = 0
	if ev.rest != nil {
		ev.rest()
	}
	return cmp.Or(ev.textErr, ev.ctx.Err(), err)
}

// text returns the inverted index of a property. The run is charged for building it only
// until it is built, because then it belongs to the table. If it cannot be built, the
// returned index is empty, and the run ends with the error.
func (ev *evaluator) text(t *version.Table, p int) *index.TextView {
	spent := ev.spent
	view, err := t.TextWithin(index.Work{Ctx: ev.ctx, Spend: ev.spend}, p)
	if err != nil {
		ev.textErr = cmp.Or(ev.textErr, err)
		return index.NewTextView(0, index.Rows{}, nil)
	}
	ev.spent = spent
	return view
}

// constant returns the value of an expression that is constant during a run.
func (ev *evaluator) constant(e *ir.Expr) value.Value {
	switch s := e.Src.(type) {
	case plan.Lit:
		return s.Value
	case plan.ParamRef:
		if e.Form != ir.PlainForm {
			return ev.nodeText(e, ev.args[s.Index])
		}
		return ev.args[s.Index]
	case plan.Now:
		return ev.now
	case plan.Apply, plan.Test:
		return ev.computedConstant(e, s)
	}
	panic("exec: expression is not constant")
}

// computedConstant evaluates a constant expression once in a run. Steps may ask for the value once for
// each row. The text of the value counts to the memory of the run.
func (ev *evaluator) computedConstant(e *ir.Expr, src plan.Expr) value.Value {
	if v, ok := ev.known[e]; ok {
		return v
	}
	v, err := (&inputs{ctx: ev.ctx, args: ev.args, now: ev.now}).value(src, false)
	if err == nil && v.Kind() == value.String && !v.IsList() {
		err = ev.spend(len(v.Str()))
	}
	if err != nil {
		ev.fail(err)
		v = value.Null
	}
	if ev.known == nil {
		ev.known = map[*ir.Expr]value.Value{}
	}
	ev.known[e] = v
	return v
}

// eval evaluates an expression for the rows of a frame.
func (ev *evaluator) eval(e *ir.Expr, f *frame) *column.Vec {
	vec := &ev.vecs[e.Slot]
	if e.Optional {
		ev.evalOptional(e, f, vec)
	} else {
		ev.evalVar(e, f, vec)
	}
	return vec
}

// evalVar evaluates an expression into vec. If the expression belongs to a single variable, the variable must
// not be null.
func (ev *evaluator) evalVar(e *ir.Expr, f *frame, vec *column.Vec) {
	switch e.Kind {
	case ir.ExprConst:
		v := ev.constant(e)
		vec.Reset(e.Type, f.n)
		for i := range f.n {
			vec.Set(i, v)
		}
	case ir.ExprProp, ir.ExprID:
		if s := ev.shared(e.Var); s != nil {
			ev.evalShared(e, s, f, vec)
			return
		}
		if e.Kind == ir.ExprID {
			ev.table(e.Var).GatherID(f.cols[e.Var][:f.n], vec, &ev.scratch)
			return
		}
		ev.table(e.Var).Gather(e.Prop, f.cols[e.Var][:f.n], vec, &ev.scratch)
	case ir.ExprRef:
		ev.evalRef(e, f, vec)
	case ir.ExprEnd:
		ev.evalEnd(e, f, vec)
	case ir.ExprMatch:
		vec.Reset(e.Type, f.n)
		ev.matchText(e.Match, f, func(i int, ok bool) {
			vec.Ints[i] = 0
			if ok {
				vec.Ints[i] = 1
			}
		})
	case ir.ExprBM25, ir.ExprNearest, ir.ExprFused:
		ev.evalScore(e, f, vec)
	case ir.ExprApply, ir.ExprTest, ir.ExprHolds, ir.ExprBlockAgg, ir.ExprMember:
		ev.evalComputed(e, f, vec)
	case ir.ExprWalk:
		ev.evalWalk(e, f, vec)
	case ir.ExprAgg:
		ev.results(e.Agg, f.groups[:f.n], vec)
	}
}

// evalEnd computes the ids of the source or target nodes of a frame's edges.
func (ev *evaluator) evalEnd(e *ir.Expr, f *frame, vec *column.Vec) {
	edges := ev.table(e.Var)
	node := edges.Type.From
	if e.To {
		node = edges.Type.To
	}
	nodes := ev.snap.Nodes(node)
	vec.Reset(e.Type, f.n)
	for i, ord := range f.cols[e.Var][:f.n] {
		src, dst := edges.Ends(ord)
		if e.To {
			src = dst
		}
		vec.Strings[i] = e.Part.Of(nodes.ID(src))
	}
}

// table returns the table of the entities that variable v is bound to. It returns nil for a variable over an interface.
func (ev *evaluator) table(v plan.VarID) *version.Table { return ev.tables[v] }

// valueAt evaluates an expression for one row of a frame.
func (ev *evaluator) valueAt(e *ir.Expr, f *frame, i int) value.Value {
	if e.Optional && f.cols[e.Var][i] == version.NoOrd {
		return value.Null
	}
	switch e.Kind {
	case ir.ExprConst:
		return ev.constant(e)
	case ir.ExprProp, ir.ExprID:
		if s := ev.shared(e.Var); s != nil {
			return s.value(e, f.cols[e.Var][i])
		}
		if e.Kind == ir.ExprID {
			return value.OfString(ev.table(e.Var).ID(f.cols[e.Var][i]))
		}
		return ev.table(e.Var).Value(f.cols[e.Var][i], e.Prop)
	case ir.ExprEnd:
		return ev.endText(e, ev.table(e.Var), f.cols[e.Var][i])
	case ir.ExprMatch:
		// A text match is never equal to a key.
	case ir.ExprBM25, ir.ExprNearest, ir.ExprFused, ir.ExprApply, ir.ExprTest, ir.ExprHolds, ir.ExprBlockAgg, ir.ExprMember, ir.ExprAgg, ir.ExprWalk, ir.ExprRef:
		// No lookup uses such an expression; see scope.isKnown.
	}
	return value.Null
}
