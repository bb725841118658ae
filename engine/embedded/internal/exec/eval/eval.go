// Package eval evaluates the expressions and conditions of a bound read over frames of rows.
package eval

import (
	"cmp"
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/fault"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/textindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Evaluator evaluates the expressions and conditions of a program over frames. It holds the inputs
// of a run (the snapshot, the arguments, the instant) and the budget of the run.
type Evaluator struct {
	*ir.Query
	Budget
	Ctx     context.Context   // nil between calls of the result's methods
	Snap    *version.Snapshot // the state that the run reads
	Args    engine.Args       // the arguments of the query
	MaxRows int64             // the maximum number of rows of the result, or plan.NoLimit
	Now     value.Value       // the value of now()
	Tables  []*version.Table  // by variable
	ticks   int               // entities examined since the context was last checked
	TextErr error             // the first error of an expression, or why an inverted index could not be built or a condition not tested

	Vectors []column.Vec // by slot of an expression
	scratch []uint32     // memory for one use at a time
	Chosen  []uint32     // rows that a condition or a step keeps; valid until the next one
	queries []textQuery  // by position in ir.Query.Texts
	passed  []uint32     // rows for which a test is true; valid until the next test
	made    []int64      // by slot of an expression: bytes of the texts that its functions made; nil without functions
	Part    *Frame       // see Evaluator.window

	presentRows Frame      // see present
	presentAt   []uint32   // see present
	dense       column.Vec // values of an optional variable, where it is not null

	shares       []Shared   // by variable; nil without variables over interfaces
	sharedVec    column.Vec // see evalShared
	sharedOrds   []uint32   // see sortMembers, like the two fields below
	sharedPlaces []uint32
	sharedEnds   []uint32

	// Results writes the results of an aggregate for some groups into a vector.
	Results   func(agg int, groups []uint32, vec *column.Vec)
	constants // lists and patterns of the conditions
	// known holds the constant expressions that the run has evaluated.
	known map[*ir.Expr]value.Value
	// Blocks runs the blocks whose truth is a value, and the subqueries.
	Blocks interface {
		// Truths returns the rows of a frame for which a block, an element of ir.Query.Holdings, is true.
		Truths(holding int, f *Frame) (RowSet, error)
		// EvalBlockAgg writes the values of an aggregate over a block into vec, beginning at position `at`.
		EvalBlockAgg(subquery int, f *Frame, vec *column.Vec, at int) error
		// EvalMember writes a field of a block's first row into vec, once for each row, beginning at position `at`.
		EvalMember(subquery int, f *Frame, vec *column.Vec, at int) error
	}
	Visiting   *ir.Subquery // the subquery that runs; nil for none
	visited    int64        // approximate number of entities that subqueries have visited
	MaxVisited int64        // limit of `visited`
	choices    []choice     // by ir.Expr.Choice
	ChosenBy   [][]uint32   // by position in ir.Query.Holdings: the memory for rows that the block's steps choose
	// Searches is the memory of the searches for walks. It has first an element for each element of
	// ir.Query.Routes, and then an element for each step explore, by exec.Explore.Number.
	Searches []Search
	walkBudget
	examineBudget
	SplitsAll bool   // see Options.SplitAll
	Rest      func() // lets a helper rest if it has worked for some time; nil in the goroutine of the call
	scores
	origins
}

// NewEvaluator returns an evaluator for the runs of a query. The argument `searches` is the number of steps of type explore.
func NewEvaluator(q *ir.Query, searches int) Evaluator {
	ev := Evaluator{Query: q, Vectors: make([]column.Vec, q.Vecs), Tables: make([]*version.Table, len(q.Types)),
		queries: make([]textQuery, len(q.Texts)), Part: new(Frame), constants: newConstants(q), scores: newScores(q)}
	ev.shares = newShares(q)
	if n := len(q.Routes) + searches; n > 0 {
		ev.Searches = make([]Search, n)
	}
	if q.Computes {
		ev.made = make([]int64, q.Vecs)
		ev.ChosenBy = make([][]uint32, len(q.Holdings))
		ev.choices = make([]choice, q.Choosers)
	}
	return ev
}

// Begin prepares for a run with its inputs.
func (ev *Evaluator) Begin(ctx context.Context, snap *version.Snapshot, args engine.Args, opts Options) {
	ev.Budget.Begin(opts.Memory, opts.Shared)
	ev.Ctx, ev.Snap, ev.Args, ev.Now, ev.embedder, ev.TextErr = ctx, snap, args, opts.Now, opts.Embedder, nil
	ev.origins = origins{of: opts.Origins}
	if ev.MaxRows == 0 || !fault.On(fault.LimitKept) {
		ev.MaxRows = ev.Read.LimitOf(args)
	}
	if fault.On(fault.LimitIsBound) {
		ev.MaxRows = ev.Read.Limit
	}
	ev.Visiting, ev.visited, ev.MaxVisited = nil, 0, cmp.Or(opts.Visits, plan.MaxVisited)
	ev.Total, ev.MostExamined = 0, cmp.Or(opts.Examined, maxExamined)
	ev.Walked, ev.Most, ev.SplitsAll = 0, cmp.Or(opts.Walked, maxWalked), opts.SplitAll
	for i := range ev.Searches {
		ev.Searches[i].begin()
	}
	for v, t := range ev.Types {
		if t == ir.WalkType || ev.IsShared(plan.VarID(v)) {
			continue
		}
		ev.Tables[v] = snap.Table(t.Entity, t.Index)
	}
	ev.beginShared()
	for i := range ev.queries {
		ev.queries[i].ready = false
	}
	clear(ev.made)
	clear(ev.known)
}

// End clears references that a pooled evaluator must not keep alive. If vecs is true, it clears the
// values too. That takes longer than a run of a single row.
func (ev *Evaluator) End(vecs bool) {
	ev.endScores()
	ev.origins = origins{}
	ev.endConstants()
	clear(ev.known)
	ev.Release()
	ev.Ctx, ev.Snap, ev.Args = nil, nil, nil
	clear(ev.Tables)
	for i := range ev.shares {
		clear(ev.shares[i].Tables)
	}
	if vecs {
		ev.dense.Forget()
		ev.sharedVec.Forget()
		for i := range ev.Vectors {
			ev.Vectors[i].Forget()
		}
	}
}

// Tick counts examined entities; n is a rough number of those since the last call. From time to time it checks the
// context and examineBudget.
func (ev *Evaluator) Tick(n int) error {
	if ev.ticks += n; ev.ticks < 4096 && ev.TextErr == nil {
		return nil
	}
	if ev.Visiting != nil {
		ev.countVisited(ev.ticks)
	}
	err := ev.Examine(int64(ev.ticks))
	ev.ticks = 0
	if ev.Rest != nil {
		ev.Rest()
	}
	return cmp.Or(ev.TextErr, ev.Ctx.Err(), err)
}

// text returns the inverted index of a property. The run is charged for building it only
// until it is built, because then it belongs to the table. If it cannot be built, the
// returned index is empty, and the run ends with the error.
func (ev *Evaluator) text(t *version.Table, p int) *textindex.View {
	spent := ev.Spent
	view, err := t.TextWithin(index.Work{Ctx: ev.Ctx, Spend: ev.Spend}, p)
	if err != nil {
		ev.TextErr = cmp.Or(ev.TextErr, err)
		return textindex.NewView(0, index.Rows{}, nil)
	}
	ev.Spent = spent
	return view
}

// Constant returns the value of an expression that is constant during a run.
func (ev *Evaluator) Constant(e *ir.Expr) value.Value {
	switch s := e.Src.(type) {
	case plan.Lit:
		return s.Value
	case plan.ParamRef:
		if e.Form != ir.PlainForm {
			return ev.nodeText(e, ev.Args[s.Index])
		}
		return ev.Args[s.Index]
	case plan.Now:
		return ev.Now
	case plan.Apply, plan.Test:
		return ev.computedConstant(e, s)
	}
	panic("exec: expression is not constant")
}

// computedConstant evaluates a constant expression once in a run. Steps may ask for the value once for
// each row. The text of the value counts to the memory of the run.
func (ev *Evaluator) computedConstant(e *ir.Expr, src plan.Expr) value.Value {
	if v, ok := ev.known[e]; ok {
		return v
	}
	v, err := (&Inputs{Ctx: ev.Ctx, Args: ev.Args, Now: ev.Now}).Value(src, false)
	if err == nil && v.Kind() == value.String && !v.IsList() {
		err = ev.Spend(len(v.Str()))
	}
	if err != nil {
		ev.Fail(err)
		v = value.Null
	}
	if ev.known == nil {
		ev.known = map[*ir.Expr]value.Value{}
	}
	ev.known[e] = v
	return v
}

// Eval evaluates an expression for the rows of a frame.
func (ev *Evaluator) Eval(e *ir.Expr, f *Frame) *column.Vec {
	vec := &ev.Vectors[e.Slot]
	if e.Optional {
		ev.evalOptional(e, f, vec)
	} else {
		ev.evalVar(e, f, vec)
	}
	return vec
}

// evalVar evaluates an expression into vec. If the expression belongs to a single variable, the variable must
// not be null.
func (ev *Evaluator) evalVar(e *ir.Expr, f *Frame, vec *column.Vec) {
	switch e.Kind {
	case ir.ExprConst:
		v := ev.Constant(e)
		vec.Reset(e.Type, f.N)
		for i := range f.N {
			vec.Set(i, v)
		}
	case ir.ExprProp, ir.ExprID:
		if s := ev.Shared(e.Var); s != nil {
			ev.evalShared(e, s, f, vec)
			return
		}
		if e.Kind == ir.ExprID {
			ev.Table(e.Var).GatherID(f.Cols[e.Var][:f.N], vec, &ev.scratch)
			return
		}
		ev.Table(e.Var).Gather(e.Prop, f.Cols[e.Var][:f.N], vec, &ev.scratch)
	case ir.ExprRef:
		ev.evalRef(e, f, vec)
	case ir.ExprEnd:
		ev.evalEnd(e, f, vec)
	case ir.ExprMatch:
		vec.Reset(e.Type, f.N)
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
	case ir.ExprOrigin:
		ev.evalOrigin(e, f, vec)
	case ir.ExprWalk:
		ev.evalWalk(e, f, vec)
	case ir.ExprAgg:
		ev.Results(e.Agg, f.Groups[:f.N], vec)
	}
}

// evalEnd computes the ids of the source or target nodes of a frame's edges.
func (ev *Evaluator) evalEnd(e *ir.Expr, f *Frame, vec *column.Vec) {
	edges := ev.Table(e.Var)
	node := edges.Type.From
	if e.To {
		node = edges.Type.To
	}
	nodes := ev.Snap.Nodes(node)
	vec.Reset(e.Type, f.N)
	for i, ord := range f.Cols[e.Var][:f.N] {
		src, dst := edges.Ends(ord)
		if e.To {
			src = dst
		}
		vec.Strings[i] = e.Part.Of(nodes.ID(src))
	}
}

// Table returns the table of the entities that variable v is bound to. It returns nil for a variable over an interface.
func (ev *Evaluator) Table(v plan.VarID) *version.Table { return ev.Tables[v] }

// ValueAt evaluates an expression for one row of a frame.
func (ev *Evaluator) ValueAt(e *ir.Expr, f *Frame, i int) value.Value {
	if e.Optional && f.Cols[e.Var][i] == version.NoOrd {
		return value.Null
	}
	switch e.Kind {
	case ir.ExprConst:
		return ev.Constant(e)
	case ir.ExprProp, ir.ExprID:
		if s := ev.Shared(e.Var); s != nil {
			return s.value(e, f.Cols[e.Var][i])
		}
		if e.Kind == ir.ExprID {
			return value.OfString(ev.Table(e.Var).ID(f.Cols[e.Var][i]))
		}
		return ev.Table(e.Var).Value(f.Cols[e.Var][i], e.Prop)
	case ir.ExprEnd:
		return ev.endText(e, ev.Table(e.Var), f.Cols[e.Var][i])
	case ir.ExprMatch:
		// A text match is never equal to a key.
	case ir.ExprBM25, ir.ExprNearest, ir.ExprFused, ir.ExprApply, ir.ExprTest, ir.ExprHolds, ir.ExprBlockAgg, ir.ExprMember, ir.ExprAgg, ir.ExprWalk, ir.ExprOrigin, ir.ExprRef:
		// No lookup uses such an expression; see planner.scope.isKnown.
	}
	return value.Null
}

// Options configure a run of a program.
type Options struct {
	Now    value.Value // the instant of the query, a DateTime
	Memory int64       // bytes that the run may use; 0 for no limit
	Shared *Memory     // limit for all runs together; nil for no limit
	Visits int64       // entities that subqueries may visit; 0 for plan.MaxVisited
	// Walked is the number of nodes and edges that walks may visit; 0 for the default.
	Walked int64
	// Examined is the number of nodes and edges that the run may examine; 0 for the default.
	Examined int64
	// Embedder computes the vectors of the texts given to `nearest`; nil for none.
	Embedder Embedder
	// Origins has the commits in the origins of rows; nil if none is known.
	Origins *version.Origins
	// SplitAll lets small counts run on several processors, too, for tests.
	SplitAll bool
	// Analyze enables counting the rows and times of the steps, see exec.Result.Explain.
	Analyze bool
}
