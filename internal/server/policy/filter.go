package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/policy/protected"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// rows is a filter that is compiled for one type. Each list of plans holds the query for all entities of the type, and the one for
// the entities of a list.
//
// A filter is a condition that is true, false or unknown: a comparison is unknown if an operand is null, and blocks combine such
// values as in SQL. So null hides, also inside of not blocks: a permit shows the entities for which the filter is true, and a
// forbid leaves those for which it is false.
type rows struct {
	pass, fail [2]*plan.Query // the entities for which the filter is true, and false
	args       []plan.Param   // what the caller is asked for: the parameters of the first query of each list
	uses       []plan.Use     // what the filter reads
}

// afterWhere follows the condition in the text of a query. The line break ends a comment.
const afterWhere = "\n} } return { $it.id as id } }"

// beforeWhere precedes the condition in the text of a query over a node type or an edge type. The condition begins a line.
func beforeWhere(entity plan.Entity, typ string) string {
	what := "$it: " + typ
	if entity == plan.Edge {
		what = "$_ $it:" + strings.ToLower(typ[:1]) + typ[1:] + " $_"
	}
	return "query filter() { match { " + what + " all {\n"
}

// compileFilter compiles a filter for a node type or an edge type. It may use claims of the caller. The list has its faults,
// with their places in the policy.
func compileFilter(f *protected.Filter, s *catalog.Schema, claims plan.Claims, entity plan.Entity, typ string) (*rows, diag.List) {
	before := beforeWhere(entity, typ)
	queries, faults := (gq.Options{Claims: claims}).CompileQueries(s, gq.Source{Name: f.Name, Text: before + f.Where + afterWhere})
	if faults.HasErrors() {
		return nil, inPolicy(f, len(before), faults)
	}
	r := &plan.Read{}
	if len(queries) == 1 && queries[0].Plan.Read != nil {
		r = queries[0].Plan.Read
	}
	refused := errors.New("the text is not one condition: close each brace that it opens, and no other")
	if len(r.Match) == 2 {
		if all, ok := r.Match[1].(plan.All); ok && r.Limit == plan.NoLimit && len(r.Columns) == 1 && len(r.Having) == 0 && len(queries[0].Plan.Declared()) == 0 {
			refused = refusal(all)
		}
	}
	if refused != nil {
		return nil, diag.List{filterFault(f, f.WhereAt.Span(), refused.Error(), "")}
	}
	q := queries[0].Plan
	return &rows{
		pass: filterQueries(q, lower(r.Match[1], false)), fail: filterQueries(q, plan.Not{Match: []plan.Clause{lower(r.Match[1], true)}}),
		args: q.Params, uses: q.Uses,
	}, nil
}

// filterFault returns an error about a filter. An empty help becomes a general one.
func filterFault(f *protected.Filter, at diag.Span, message, help string) diag.Diagnostic {
	if help == "" {
		help = "a filter is a condition over $it, such as $it.team = \"north\" or exists { $it livesIn $c  $c.region = \"EU\" }"
	}
	return diag.Diagnostic{Code: strictyaml.BadValue, Span: at, Message: "filter " + f.Name + ": " + message, Help: help}
}

// inPolicy returns the faults of a query around a filter as faults of the policy. The condition starts at byte `start` of the query.
func inPolicy(f *protected.Filter, start int, faults diag.List) diag.List {
	var list diag.List
	for _, d := range faults {
		if d.Severity != diag.Error {
			continue
		}
		at := f.WhereAt.Span()
		if from, to := d.Span.Start.Offset-start, d.Span.End.Offset-start; from >= 0 && from <= len(f.Where) {
			at = f.WhereAt.SpanWithin(from, min(max(to, from), len(f.Where)))
		}
		list = append(list, filterFault(f, at, d.Message, d.Help))
	}
	return list
}

// refusal returns why a condition is none that a filter may have, or nil. What it refuses depends on more than the graph and the
// caller, or has a value that hides a null.
func refusal(all plan.Clause) error {
	refused := ""
	plan.WalkClauses([]plan.Clause{all}, func(e plan.Expr) {
		switch e := e.(type) {
		case plan.Now:
			refused = "now()"
		case plan.Matched, plan.BM25, plan.Nearest, plan.RRF:
			refused = "a search"
		case plan.Origin:
			refused = "origin()"
		case plan.Test, plan.Holds:
			refused = "the result of a condition as a value"
		case plan.BlockAgg, plan.BlockRows:
			refused = "a subquery"
		case plan.Apply:
			if e.Func == plan.If {
				refused = "if"
			}
		case plan.Lit, plan.ParamRef, plan.Prop, plan.ID, plan.Endpoint, plan.EndNode, plan.WalkPart, plan.Whole, plan.Agg, plan.Member, plan.Old, plan.KeyOf, plan.Cell, plan.NodeRef:
		}
	})
	if refused != "" {
		return fmt.Errorf("a filter does not take %s", refused)
	}
	if slices.ContainsFunc(clausesOf(all), func(c plan.Clause) bool {
		filter, ok := c.(plan.Filter)
		if !ok {
			return false
		}
		cmp, ok := filter.Cond.(plan.Compare)
		return ok && cmp.Unless != plan.NoParam
	}) {
		return errors.New("a filter does not take a condition with ? at its end, which a missing value would drop")
	}
	return nil
}

// clausesOf returns a clause with those of its blocks, at any depth.
func clausesOf(c plan.Clause) []plan.Clause {
	all := []plan.Clause{c}
	for _, inner := range plan.Block(c) {
		all = append(all, clausesOf(inner)...)
	}
	return all
}

// lower returns a clause that holds if the given one is true or, with `possibly`, if it is true or unknown.
func lower(c plan.Clause, possibly bool) plan.Clause {
	each := func(list []plan.Clause, possibly bool) []plan.Clause {
		out := make([]plan.Clause, len(list))
		for i, c := range list {
			out[i] = lower(c, possibly)
		}
		return out
	}
	switch c := c.(type) {
	case plan.Not:
		return plan.Not{Match: each(c.Match, !possibly)}
	case plan.Exists:
		return plan.Exists{Match: each(c.Match, possibly)}
	case plan.Any:
		return plan.Any{Conds: each(c.Conds, possibly)}
	case plan.All:
		return plan.All{Conds: each(c.Conds, possibly)}
	case plan.Filter:
		if cmp, ok := c.Cond.(plan.Compare); ok && possibly {
			conds := []plan.Clause{c}
			for _, e := range []plan.Expr{cmp.Left, cmp.Right} {
				if mayBeNull(e) {
					conds = append(conds, plan.Filter{Cond: plan.NullTest{Expr: e}})
				}
			}
			if len(conds) > 1 {
				return plan.Any{Conds: conds}
			}
		}
	case plan.Bind, plan.Traverse, plan.Optional:
	}
	return c
}

// mayBeNull reports whether an operand of a comparison in a filter can be null. No variable of a filter is optional.
func mayBeNull(e plan.Expr) bool {
	switch e := e.(type) {
	case plan.Prop:
		return e.Type.Nullable
	case plan.Lit, plan.ID, plan.Endpoint, plan.EndNode, plan.WalkPart, plan.Whole:
		return false
	default:
		return true
	}
}

// filterQueries returns the query for all entities for which the clause holds, and the same for the entities of a list, its last
// argument.
func filterQueries(q *plan.Query, c plan.Clause) [2]*plan.Query {
	all, among := *q, *q
	read := *q.Read
	read.Match = []plan.Clause{q.Read.Match[0], c}
	all.Read = &read
	listed := read
	ids := value.Of(value.String)
	ids.List = true
	among.Params = append(slices.Clone(q.Params), plan.Param{Name: "among", Type: ids})
	in := plan.Compare{Op: plan.In, Left: q.Read.Columns[0].Expr, Right: plan.ParamRef{Index: len(q.Params)}, Unless: plan.NoParam}
	listed.Match = []plan.Clause{q.Read.Match[0], plan.Filter{Cond: in}, c}
	among.Read = &listed
	return [2]*plan.Query{&all, &among}
}
