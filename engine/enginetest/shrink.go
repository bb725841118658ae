package enginetest

import (
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// shrinkTime limits the search for a smaller script.
const shrinkTime = 5 * time.Second

// shrink searches for a smaller script that also ends in a difference. It removes statements, then
// lines of loads, then parts of the last read.
func shrink(open func() *pair, script []step, difference string) ([]step, string) {
	s := &shrinker{open: open, script: script, difference: difference, end: clock.Now().Add(shrinkTime)}
	for before := -1; before != s.size() && clock.Now().Before(s.end); {
		before = s.size()
		for i := len(s.script) - 2; i >= 0; i-- {
			if i < len(s.script)-1 { // a script that differs earlier is cut there
				s.try(slices.Delete(slices.Clone(s.script), i, i+1))
			}
		}
		for i := range s.script {
			if i < len(s.script) && s.script[i].load != "" {
				s.lines(i)
			}
		}
		if last := s.script[len(s.script)-1]; last.query != nil && last.query.Read != nil {
			s.read(last)
		}
	}
	return s.script, s.difference
}

// shrinker reduces a script that ends in a difference between the engine and the model.
type shrinker struct {
	open       func() *pair // opens an empty engine and model
	script     []step       // the shortest script so far with that difference
	difference string       // the difference that the script ends in
	end        time.Time    // when to stop shrinking
}

// size is the measure that shrinking reduces.
func (s *shrinker) size() int {
	n := 0
	for _, st := range s.script {
		n += 1 + strings.Count(st.load, "\n")
		if st.query != nil && st.query.Read != nil {
			r := st.query.Read
			n += clauseCount(r.Match) + len(r.Columns) + clauseCount(r.Having) + len(r.Order)
		}
	}
	return n
}

// clauseCount counts the clauses of a match, including those in its blocks.
func clauseCount(clauses []plan.Clause) int {
	n := len(clauses)
	for _, c := range clauses {
		n += clauseCount(plan.Block(c))
	}
	return n
}

// try keeps a script if it still ends in a difference, and reports whether it does.
func (s *shrinker) try(script []step) bool {
	if clock.Now().After(s.end) {
		return false
	}
	p := s.open()
	defer func() { _ = p.close() }() // an error of close is not the difference that is searched for
	for i, st := range script {
		if d := p.run(st); d != "" {
			s.script, s.difference = script[:i+1], d
			return true
		}
	}
	return false
}

// lines removes lines of a load. It removes large chunks first, and then smaller chunks.
func (s *shrinker) lines(i int) {
	for chunk := strings.Count(s.script[i].load, "\n")/2 + 1; chunk > 0; chunk /= 2 {
		for at := 0; ; {
			if i >= len(s.script) {
				return
			}
			lines := strings.Split(s.script[i].load, "\n")
			if at >= len(lines) {
				break
			}
			script := slices.Clone(s.script)
			script[i].load = strings.Join(slices.Delete(lines, at, min(at+chunk, len(lines))), "\n")
			if !s.try(script) {
				at += chunk
			}
		}
	}
}

// read shrinks the last statement if it is a read: it removes clauses, columns, sort keys and the
// limit.
func (s *shrinker) read(last step) {
	with := func(change func(r *plan.Read)) bool {
		last := s.script[len(s.script)-1]
		if last.query == nil || last.query.Read == nil {
			return false
		}
		q, r := *last.query, *last.query.Read
		change(&r)
		q.Read = &r
		if len(r.Columns) == 0 || !scoped(&r) {
			return false
		}
		dropUnused(&r)
		retie(&r)
		last.query = &q
		return s.try(append(slices.Clone(s.script[:len(s.script)-1]), last))
	}
	without := func(i int) func(r *plan.Read) {
		return func(r *plan.Read) {
			r.Match = slices.Delete(slices.Clone(r.Match), i, i+1)
			withoutUnbound(r)
		}
	}
	for i := len(last.query.Read.Match) - 1; i >= 0; i-- {
		with(without(i))
	}
	for i := range last.query.Read.Match {
		for k := range plan.Block(last.query.Read.Match[i]) {
			with(func(r *plan.Read) {
				if i >= len(r.Match) || k >= len(plan.Block(r.Match[i])) {
					return
				}
				r.Match = slices.Clone(r.Match)
				r.Match[i] = withBlock(r.Match[i], slices.Delete(slices.Clone(plan.Block(r.Match[i])), k, k+1))
			})
		}
	}
	for i := len(last.query.Read.Columns) - 1; i >= 0; i-- {
		with(func(r *plan.Read) { r.Columns = slices.Delete(slices.Clone(r.Columns), i, i+1) })
	}
	for i := len(last.query.Read.Having) - 1; i >= 0; i-- {
		with(func(r *plan.Read) { r.Having = slices.Delete(slices.Clone(r.Having), i, i+1) })
	}
	for i := len(last.query.Read.Order) - 1; i >= 0; i-- {
		with(func(r *plan.Read) { r.Order = slices.Delete(slices.Clone(r.Order), i, i+1) })
	}
	if last.query.Read.Limit != plan.NoLimit {
		with(func(r *plan.Read) { r.Limit, r.LimitBy = plan.NoLimit, nil })
	}
}

// withoutUnbound replaces the columns of a read that use unbound variables by the id of a bound one.
func withoutUnbound(r *plan.Read) {
	bound := binders(r.Match)
	if len(bound) == 0 {
		return
	}
	r.Columns = slices.Clone(r.Columns)
	for i, c := range r.Columns {
		if slices.ContainsFunc(variables(c.Expr), func(v plan.VarID) bool { return !slices.Contains(bound, v) }) {
			r.Columns[i] = plan.Column{Name: c.Name, Expr: id(bound[0]), Type: stringType}
		}
	}
}
