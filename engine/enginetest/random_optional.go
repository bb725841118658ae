package enginetest

import "github.com/omnigraph-go/omnigraph/gq/plan"

// optionals draws up to three `optional` blocks. Each may use the variables of the blocks before it.
func (r *readDraw) optionals() []plan.Clause {
	var blocks []plan.Clause
	for range r.between(1, 3) {
		scope := append([]plan.VarID(nil), r.outer...)
		var clauses []plan.Clause
		for range r.between(1, 2) {
			clauses = append(clauses, r.clause(&scope, 1)...)
		}
		for _, v := range scope[len(r.outer):] {
			r.q.Read.Vars[v].Optional = true
		}
		r.outer = scope
		if len(clauses) == 0 || r.percent(35) {
			clauses = append(clauses, r.filter(r.outer))
		}
		if r.percent(15) {
			clauses = append(clauses, r.condition(1))
		}
		r.Shuffle(len(clauses), func(i, j int) { clauses[i], clauses[j] = clauses[j], clauses[i] })
		blocks = append(blocks, plan.Optional{Match: clauses})
	}
	return blocks
}

// inOrder puts the `optional` blocks among the clauses into the order of `blocks`.
func inOrder(clauses, blocks []plan.Clause) {
	for i, c := range clauses {
		if _, ok := c.(plan.Optional); ok {
			clauses[i], blocks = blocks[0], blocks[1:]
		}
	}
}
