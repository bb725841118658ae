// Package exec binds plans to a schema and runs them on snapshots. Each phase of a read has
// a type that owns its state:
//
//   - [binder] resolves the names of a plan in the schema: plan → query (bind.go, block.go,
//     expr.go, cond.go, holds.go, subquery.go, shape.go)
//   - [planner] arranges the clauses of the query into steps by the estimates of the
//     [estimator]: query → arrangement (order.go, scope.go, connect.go, estimate.go). For a read that only counts
//     rows, it takes parts off the pattern and counts them by node (factor.go, factor_terms.go). It decides
//     which counts can run on several processors (split.go)
//   - [run] is the memory of one run (run.go). Its [matcher] pushes frames of ordinals
//     through the steps, its [evaluator] reads properties only when a step needs them, its
//     [collector] keeps rows or groups, and its [output] makes batches of them.
//   - [explainer] describes the steps, with their rows and times if the run had a [profile].
//
// A file of a kind of step (step.go, lookup.go, traverse.go, …) contains the condition under which
// the planner chooses the step, and the method run of the step. Mutations need no steps:
// [BindMutation] checks one, [Write] runs it.
package exec

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Program is a read bound to a schema, with its clauses arranged into steps. Any number of
// goroutines may run it concurrently.
type Program struct {
	query
	arrangement
	pool sync.Pool // holds *run
}

// query is a read bound to a schema: the names are resolved, the types checked. It does not
// depend on the data. The binder makes it.
type query struct {
	read   *plan.Read           // the read as compiled from GQ
	params []plan.Param         // the parameters of the query
	Schema *version.Schema      // the schema that the names refer to
	types  []*version.Type      // by variable; for an interface, a type of its properties
	over   []*version.Interface // by variable: the interface, or nil for a node type or an edge type
	match  *block               // the clauses that find the rows
	vecs   int                  // number of vectors that the expressions own
	texts  []*textMatch         // the text searches in the clauses
	// `lists` contains the constant lists of the `in` conditions. `patterns` contains the patterns
	// of the `matches` conditions.
	lists    []*expr
	patterns []constPattern
	keep     []plan.VarID // variables whose ordinals the result needs
	columns  []projection // columns of the result
	havings  []*test      // conditions on the rows of the result
	order    []orderKey   // sort keys, the first one first
	aggs     []aggregate  // the aggregates, each once
	holdings []*holding   // the blocks whose truth is a value

	subqueries []*subquery // the subqueries; an inner subquery comes before the outer one

	choosers int      // number of calls of `if` and `coalesce`
	routes   []*route // the routes of the walks whose nodes the expressions return

	tieIDs map[plan.VarID]*expr // the ids of the optional variables that break ties

	reads   [][]int // by variable: the properties that the result reads
	UsesNow bool    // the read calls now()
	// computes is set if an operator, a function or a test computes with values of a row.
	computes bool
	ranking
	grouping
}

// arrangement is the steps of a program. It depends on the sizes of the snapshot that the
// planner saw.
type arrangement struct {
	body        *pipe               // the steps that find the rows
	heldTests   []*arrangedTest     // the blocks whose truth is a value, by position in query.holdings
	havingTests []*arrangedTest     // by position in query.havings
	frames      int                 // number of frames that the steps own
	optionals   int                 // number of `optional` blocks and subqueries, which have a marker each
	arranged    []*arrangedSubquery // by position in query.subqueries
	plannedSize int                 // binary magnitude of the graph's size at the time of planning
	countsOnly  bool                // the read returns only counts of all its rows
	first       firstLookup         // the lookup that the read begins with
	searchSteps int                 // number of steps of type explore
	weighed     int                 // number of variables whose weights are kept
}

// projection is a column of the result.
type projection struct {
	plan.Column
	ex     *expr
	agg    int     // position in query.aggs, or -1
	fields []*expr // the fields, if the column is a whole node or a list of nodes
	// composed is set if ex computes with aggregates.
	composed bool
	rows     int // position in query.subqueries, if the column is a `first` or `collect` block; else -1
}

// isKey reports whether the column is one of the values by which a grouped read groups its rows.
func (c *projection) isKey() bool { return c.agg < 0 && !c.composed && c.rows < 0 }

// variesByGroup reports whether a grouped read groups its rows by the column, and the column is not
// constant.
func (c *projection) variesByGroup() bool { return c.isKey() && c.ex.kind != exprConst }

// orderKey is a sort key. In a grouped read it is a column or an aggregate.
type orderKey struct {
	ex   *expr
	agg  int  // position in query.aggs, or -1
	desc bool // descending
}

// Bind binds a read to the snapshot's schema. It uses the snapshot's sizes to choose the
// order of the steps. The error is a *engine.SchemaMismatch, a *engine.Unsupported, a
// *engine.TooLarge, or the context's error soon after the context ends.
func Bind(ctx context.Context, q *plan.Query, snap *version.Snapshot) (_ *Program, err error) {
	defer catchEnd(&err)
	if err := CheckUses(q, snap.Schema); err != nil {
		return nil, err
	}
	work := newMeter(ctx)
	bound, err := bindRead(q, snap.Schema, work)
	if err != nil {
		return nil, err
	}
	p := newProgram(bound, snap)
	if err := newPlanner(p, snap, work).plan(); err != nil {
		return nil, err
	}
	return p, nil
}

// newProgram returns a program without steps for a bound read. The size of the snapshot is the one that [Program.Fits]
// compares others with.
func newProgram(bound *query, snap *version.Snapshot) *Program {
	p := &Program{query: *bound, arrangement: arrangement{plannedSize: magnitude(snap)}}
	p.pool.New = func() any { return newRun(p) }
	return p
}

// width returns the number of columns of the collected rows: one for each variable, and one
// for rowVar.
func (q *query) width() int { return len(q.types) + 1 }

// slots returns the number of columns of the frames of steps.
func (p *Program) slots() int {
	if p.optionals == 0 {
		return len(p.types)
	}
	return p.width() + p.optionals
}

// Fits reports whether the program may run on a snapshot. The snapshot must have the same
// schema, and a size similar enough that the order of the steps need not be chosen again.
func (p *Program) Fits(snap *version.Snapshot) bool {
	d := magnitude(snap) - p.plannedSize
	return p.Schema == snap.Schema && d >= -3 && d <= 3
}

// Parts returns roughly the number of parts of the program, as a measure of its size.
func (p *Program) Parts() int { return p.frames + p.vecs + len(p.texts) + len(p.columns) }

// CheckUses checks that the types and properties that a query uses exist in a schema, with
// the same types. The error is a *engine.SchemaMismatch.
func CheckUses(q *plan.Query, s *version.Schema) error {
	for _, u := range q.Uses {
		t := s.Type(u.Entity, u.Type)
		if u.Entity == plan.Interface {
			t = s.InterfaceType(u.Type)
		}
		switch {
		case t == nil && u.Entity == plan.Interface:
			return mismatch("there is no interface %s", u.Type)
		case t == nil:
			return mismatch("there is no %s type %s", u.Entity, u.Type)
		}
		if u.Property == "" {
			if u.Entity == plan.Edge && (u.From != "" && s.EndName(t, false) != u.From || u.To != "" && s.EndName(t, true) != u.To) {
				return mismatch("edge %s leads from %s to %s, expected %s to %s", t.Name, s.EndName(t, false), s.EndName(t, true), u.From, u.To)
			}
			continue
		}
		i, ok := t.Prop(u.Property)
		if !ok {
			return mismatch("%s %s has no property %s", u.Entity, u.Type, u.Property)
		}
		has := t.Props[i].Type
		if has.Kind != u.Value.Kind || has.List != u.Value.List || has.Dim != u.Value.Dim || has.Nullable && !u.Value.Nullable {
			return mismatch("property %s of %s %s is of type %s, expected %s", u.Property, u.Entity, u.Type, has, u.Value)
		}
	}
	return nil
}

// CheckArgs checks that the arguments fit the parameters. It returns the arguments; a null argument
// is replaced by the default of its parameter. The error is a *engine.BadArgument.
func CheckArgs(params []plan.Param, args engine.Args) (engine.Args, error) {
	if len(args) != len(params) {
		name := ""
		if len(args) < len(params) {
			name = params[len(args)].Name
		}
		return nil, &engine.BadArgument{Param: name, Detail: fmt.Sprintf("found %d arguments, expected %d", len(args), len(params))}
	}
	args = plan.WithDefaults(params, args)
	for i := range params {
		if isPlainText(&params[i], &args[i]) {
			continue
		}
		if err := checkArg(&params[i], &args[i]); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// isPlainText reports whether an argument is a correct text for a parameter without a pattern. It
// decides the most frequent case of checkArg without copying a value.
func isPlainText(p *plan.Param, v *value.Value) bool {
	return v.Kind() == value.String && !v.IsList() && p.Type.Kind == value.String && !p.Type.List && p.Pattern == nil &&
		p.Interface == "" && utf8.ValidString(v.Str())
}

// checkRecords checks a list of records. The error is an *engine.BadArgument.
func checkRecords(p *plan.Param, v value.Value) error {
	bad := func(format string, args ...any) error {
		return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf(format, args...)}
	}
	if !v.IsList() {
		return bad("found a value of type %s, expected %s", v.Type(), p.Type)
	}
	for i, e := range v.Elems() {
		if !e.IsList() || len(e.Elems()) != len(p.Type.Fields) {
			return bad("element %d is not a record of type %s", i, p.Type.Elem())
		}
		for j, f := range p.Type.Fields {
			field := plan.Param{Name: p.Name, Type: f.Type}
			if err := checkArg(&field, &e.Elems()[j]); err != nil {
				var arg *engine.BadArgument
				if errors.As(err, &arg) {
					return bad("element %d, field %s: %s", i, f.Name, arg.Detail)
				}
				return err
			}
		}
	}
	return nil
}

// checkNode checks an argument that is a node of an interface. The error is an *engine.BadArgument.
func checkNode(p *plan.Param, v value.Value) error {
	if !v.IsList() || len(v.Elems()) != len(p.Type.Fields) {
		return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("found a value of type %s, expected %s", typeName(v), p.Type)}
	}
	for i, f := range p.Type.Fields {
		e := v.Elems()[i]
		field := plan.Param{Name: p.Name, Type: f.Type}
		if err := checkArg(&field, &e); err != nil {
			var arg *engine.BadArgument
			if errors.As(err, &arg) {
				arg.Detail = "field " + f.Name + ": " + arg.Detail
			}
			return err
		}
		if f.Type.Enum != nil && !slices.Contains(f.Type.Enum, e.Str()) {
			return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("the type %q does not implement %s; the types that do are %s", e.Str(), p.Interface, strings.Join(f.Type.Enum, ", "))}
		}
	}
	return nil
}

// checkArg checks that one argument fits its parameter.
func checkArg(p *plan.Param, v *value.Value) error {
	switch {
	case v.IsNull():
		if !p.Type.Nullable {
			return &engine.BadArgument{Param: p.Name, Detail: "the value must not be null; give one of type " + p.Type.String()}
		}
	case p.Interface != "":
		return checkNode(p, *v)
	case p.Type.Fields != nil:
		return checkRecords(p, *v)
	case v.Kind() != p.Type.Kind || v.IsList() != p.Type.List:
		return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("found a value of type %s, expected %s", v.Type(), p.Type)}
	case v.IsList():
		for i, e := range v.Elems() {
			if e.Kind() != p.Type.Kind || e.IsList() {
				return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("element %d is of type %s, expected %s", i, typeName(e), p.Type.Elem())}
			}
			if e.Kind() == value.String && !utf8.ValidString(e.Str()) {
				return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("element %d is not valid UTF-8", i)}
			}
		}
	case v.Kind() == value.String && !utf8.ValidString(v.Str()):
		return &engine.BadArgument{Param: p.Name, Detail: "the value is not valid UTF-8"}
	case v.Kind() == value.Vector && p.Type.Dim != 0 && len(v.Vector()) != p.Type.Dim:
		return &engine.BadArgument{Param: p.Name, Detail: fmt.Sprintf("found a vector of length %d, expected %d", len(v.Vector()), p.Type.Dim)}
	}
	if at, err := p.Check(*v); err != nil {
		detail := err.Error()
		if at >= 0 {
			detail = fmt.Sprintf("element %d: %s", at, detail)
		}
		return &engine.BadArgument{Param: p.Name, Detail: detail}
	}
	return nil
}

// typeName returns the name of a value's type, or "null".
func typeName(v value.Value) string {
	if v.IsNull() {
		return "null"
	}
	return v.Type().String()
}

// magnitude returns the binary magnitude of the number of entities.
func magnitude(s *version.Snapshot) int { return bits.Len64(s.Size()) }

// mismatch returns a *engine.SchemaMismatch.
func mismatch(format string, args ...any) error {
	return &engine.SchemaMismatch{Detail: fmt.Sprintf(format, args...)}
}
