package enginetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// kindCases returns a case for each kind that can be compared. A case uses the values of its kind
// as keys, in a nullable property with an index, and in lists.
func kindCases() (all []testCase) {
	for _, row := range drawnKinds {
		if row.kind.IsComparable() {
			all = append(all, testCase{name: "kind/" + row.kind.String(), schema: func() *catalog.Schema { return eachKind(row.kind) },
				run: func(s *session) { s.everyValue(row) }})
		}
	}
	return all
}

// eachKind returns a schema with a key, a property and a list of kind k.
func eachKind(k value.Kind) *catalog.Schema {
	t := typeOfKind(k)
	return schemaOf([]*catalog.Node{{Name: "Each", Key: []string{"k"}, Index: [][]string{{"v"}}, Properties: []*catalog.Property{
		property("k", t), property("v", t.Optional()), property("l", listOf(t).Optional()),
	}}}, nil)
}

// everyValue stores a node for each value of the pool and finds it again.
func (s *session) everyValue(row drawnKind) {
	vals := slices.Concat(row.pool, row.wild)
	slices.SortFunc(vals, func(a, b value.Value) int { c, _ := value.Compare(a, b); return c })
	vals = slices.CompactFunc(vals, value.Equal)
	json := (&drawer{Rand: rand.New(rand.NewPCG(1, 1))}).json // writes a value in any of its spellings
	var lines, sorted []string
	for _, v := range vals {
		lines = append(lines, fmt.Sprintf(`{"type":"Each","data":{"k":%s,"v":%s,"l":[%s]}}`, json(v), json(v), json(v)))
		sorted = append(sorted, value.Text(v))
	}
	s.load(engine.Merge, strings.Join(lines, "\n"))

	read := func(want []string, more func(p *readPlan, v plan.Prop), args ...any) {
		s.Helper()
		p := s.read()
		v := p.prop(p.bind("e", "Each"), "v")
		p.ret(v).orderBy(v)
		more(p, v)
		s.expect(p, strings.Join(want, "\n"), args...)
	}
	read(sorted, func(*readPlan, plan.Prop) {})
	for i, v := range vals {
		for _, c := range []struct {
			op   plan.Op
			want []string
		}{{plan.Lt, sorted[:i]}, {plan.Eq, sorted[i : i+1]}, {plan.Ge, sorted[i:]}} {
			read(c.want, func(p *readPlan, prop plan.Prop) { p.match(where(prop, c.op, v)) })
			read(c.want, func(p *readPlan, prop plan.Prop) { p.match(where(prop, c.op, p.param("x", typeOfKind(row.kind)))) }, v)
		}
		read(sorted[i:i+1], func(p *readPlan, _ plan.Prop) { p.match(where(p.prop(0, "l"), plan.Contains, v)) })
		read(sorted[i:i+1], func(p *readPlan, _ plan.Prop) { p.match(where(id(0), plan.Eq, sorted[i])) })
	}
	if row.kind.HasExtremes() {
		p := s.read()
		v := p.prop(p.bind("e", "Each"), "v")
		s.expect(p.ret(agg(plan.Min, v), agg(plan.Max, v), agg(plan.Count, v)), fmt.Sprintf("%s | %s | %d", sorted[0], sorted[len(sorted)-1], len(sorted)))
	}

	last := len(vals) - 1
	s.expectChange(s.change().update("Each", set{"v": vals[last]}, "k", plan.Eq, vals[0]), 1, 0, true)
	s.expectChange(s.change().insert("Each", set{"k": vals[last], "l": []any{vals[0]}}), 1, 0, true)
	s.sameAfterExport()
}

// sameAfterExport loads an export into an empty graph and checks that the export of that graph is
// the same.
func (s *session) sameAfterExport() {
	s.Helper()
	export := func() string {
		var b strings.Builder
		_, err := s.graph.Export(s.ctx, &b, engine.Target{}, engine.ExportOptions{})
		must(err)
		return b.String()
	}
	want := export()
	for line := range strings.Lines(want) {
		if !json.Valid([]byte(line)) {
			s.Errorf("a line of the export is not JSON: %s", line)
		}
	}
	s.load(engine.Overwrite, want)
	if got := export(); got != want {
		s.Errorf("the export that was loaded again is\n%s\nwant\n%s", got, want)
	}
}
