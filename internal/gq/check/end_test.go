package check

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// TestTypesOfVariables checks random matches over edges with interface ends. The order of the clauses changes neither whether
// a match is valid nor the types of its variables, and the types at the ends of each traversal fit its edge. The edges are those whose
// two ends can have one type; the direction of another one may depend on the order.
func TestTypesOfVariables(t *testing.T) {
	text, err := os.ReadFile("../../../gq/testdata/graph.pg")
	if err != nil {
		t.Fatal(err)
	}
	s := ParseSchema(t, string(text))
	r := rand.New(rand.NewPCG(1, 1))
	edges := []string{"about", "cites", "follows", "knows", "<follows>", "about{0,3}", "follows{1,2}", "cites{1,1}"}
	types := []string{"Memo", "Named", "Dated", "Person", "Team"}
	one := func(list []string) string { return list[r.IntN(len(list))] }
	variable := func() string { return fmt.Sprintf("$%c", 'a'+r.IntN(4)) }
	traversal := func() string { return variable() + " " + one(edges) + " " + variable() }
	valid := 0
	for range 3000 {
		clauses := []string{traversal()}
		for range r.IntN(4) {
			clauses = append(clauses, traversal())
		}
		for range r.IntN(3) {
			clauses = append(clauses, variable()+": "+one(types))
		}
		if r.IntN(3) == 0 {
			clauses = append(clauses, "not { "+traversal()+" }")
		}
		run := func() (query, found string) {
			query = "query q() { match { " + strings.Join(clauses, "  ") + " } return { count($a) as n } }"
			f, faults := syntax.ParseQueries("q.gq", query)
			if faults != nil {
				t.Fatal(query, faults)
			}
			p, _, _ := Query(s, f.Queries[0])
			if p == nil {
				return query, ""
			}
			misfits(t, newChecker(s, f.Queries[0]), p.Read, p.Read.Match, query)
			vars := map[string]nodeEnd{}
			for _, v := range p.Read.Vars {
				vars[v.Name] = typeOfVar(v)
			}
			return query, fmt.Sprint(vars)
		}
		before, found := run()
		r.Shuffle(len(clauses), func(i, j int) { clauses[i], clauses[j] = clauses[j], clauses[i] })
		if after, again := run(); again != found {
			t.Errorf("%s\nhas the types %s, and\n%s\nhas the types %s", before, found, after, again)
		}
		if found != "" {
			valid++
		}
	}
	if valid < 500 {
		t.Errorf("only %d matches are valid", valid)
	}
}

// misfits reports traversals with a variable whose type cannot stand at its end of the edge.
func misfits(t *testing.T, c *checker, r *plan.Read, clauses []plan.Clause, query string) {
	t.Helper()
	for _, cl := range clauses {
		tr, ok := cl.(plan.Traverse)
		if !ok {
			misfits(t, c, r, plan.Block(cl), query)
			continue
		}
		for i, id := range []plan.VarID{tr.From, tr.To} {
			if v := r.Vars[id]; !c.meet(typeOfVar(v), endOf(c.schema.Edge(tr.Edge), i == 1)) {
				t.Errorf("%s\n$%s is a %s, which cannot stand at its end of %s", query, v.Name, v.Type, tr.Edge)
			}
		}
	}
}
