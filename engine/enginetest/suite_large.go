package enginetest

import (
	"fmt"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// chainLength is larger than any likely size of a page, batch or block in an engine, and not a
// multiple of one.
const chainLength = 3001

// chain returns the people p0000 to p3000 with ages 0 to 3000. Each person follows the next one.
func chain() string {
	var b strings.Builder
	b.WriteString(manyPeople(chainLength))
	for i := range chainLength - 1 {
		fmt.Fprintf(&b, `{"edge":"Follows","from":"p%04d","to":"p%04d","data":{"id":"f%04d"}}`+"\n", i, i+1, i)
	}
	return b.String()
}

// largeCases returns the cases of a graph with thousands of entities that need many small commits, many lines, or readers beside a writer.
func largeCases() []testCase {
	runs := map[string]func(s *session){
		"two edges in a row, both at nodes with many": func(s *session) {
			s.expectChange(s.change().unlink("Follows", "from", plan.Eq, "p2999"), 0, 1, true)
			var hub strings.Builder
			for i := 1; i <= 2000; i++ {
				fmt.Fprintf(&hub, `{"edge":"Follows","from":"p0000","to":"p%04d","data":{"id":"h%04d"}}`+"\n", i, i)
				fmt.Fprintf(&hub, `{"edge":"Follows","from":"p0500","to":"p%04d","data":{"id":"i%04d"}}`+"\n", 1000+i, i)
			}
			s.load(engine.Merge, hub.String())
			p := s.read()
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "Person")
			p.match(where(id(a), plan.Eq, "p0000"), over(a, p.edge("e", "Follows"), "Follows", b), over(b, p.edge("f", "Follows"), "Follows", c))
			s.expect(p.ret(count(whole(c)), agg(plan.Sum, p.prop(c, "age"))), "4001 | 6004002")
		},
		"small commits over a large load": func(s *session) {
			for i := range 40 {
				name := fmt.Sprintf("p%04d", i*75)
				s.mutate(s.change().insert("Person", set{"name": name, "age": 0}).link("Follows", name, "p3000", nil))
			}
			p := s.read()
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(hop(a, "Follows", b), where(p.prop(b, "name"), plan.Eq, "p3000"))
			s.expect(p.ret(count(whole(a)), agg(plan.Sum, p.prop(a, "age"))), "41 | 2999")
		},
		"top of a large cross product": func(s *session) {
			for i := range 20 {
				s.mutate(s.change().insert("City", set{"id": fmt.Sprintf("c%02d", i), "name": "x"}))
			}
			p := s.read()
			a, c := p.bind("a", "Person"), p.bind("c", "City")
			p.match(where(p.prop(a, "age"), plan.Lt, 2900))
			s.expect(p.ret(id(a), id(c)).orderBy(p.prop(c, "name")).orderDesc(p.prop(a, "age")).limit(3), "p2899 | c00\np2899 | c01\np2899 | c02")
			p = s.read()
			a, c = p.bind("a", "Person"), p.bind("c", "City")
			s.expect(p.ret(id(a), id(c)).orderDesc(id(c)).limit(2), "p0000 | c19\np0001 | c19")
		},
		"walk of many steps": func(s *session) {
			p := s.read()
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(walk(a, "Follows", 1000, 2500, b), where(id(a), plan.Eq, "p0100"))
			s.expect(p.ret(count(whole(b)), agg(plan.Min, p.prop(b, "name")), agg(plan.Max, p.prop(b, "name"))), "1501 | p1100 | p2600")
		},
		"a reader sees a commit completely or not at all": func(s *session) {
			s.seenWhole()
		},
	}
	var all []testCase
	for _, name := range sortedKeys(runs) {
		all = append(all, testCase{name: "large/" + name, schema: people, large: true, run: func(s *session) {
			s.load(engine.Merge, chain())
			runs[name](s)
		}})
	}
	return all
}

// seenWhole repeatedly sets the age of all people to one new number. Concurrent readers check that,
// in each read, all ages are equal and not less than in the read before.
func (s *session) seenWhole() {
	const commits, readers = 20, 3
	m := s.change()
	m.update("Person", set{"age": m.param("age", i32Type)}, "name", plan.Ge, "")
	s.mutate(m, value.OfI32(0))
	p := s.read()
	a := p.bind("a", "Person")
	q := p.ret(agg(plan.Min, p.prop(a, "age")), agg(plan.Max, p.prop(a, "age")), count(p.prop(a, "age"))).query()

	done := make(chan struct{})
	faults := make(chan error, readers)
	var wait sync.WaitGroup
	for range readers {
		wait.Go(func() {
			last := int64(0)
			for {
				rows, err := query(s.ctx, s.graph, q, nil)
				if err != nil {
					faults <- err
					return
				}
				low, high, n := rows[0][0].value.Int(), rows[0][1].value.Int(), rows[0][2].value.Int()
				if low != high || low < last || n != chainLength {
					faults <- fmt.Errorf("ages of %d people from %d to %d, after a read of %d", n, low, high, last)
					return
				}
				last = low
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range commits {
		s.mutate(m, value.OfI32(int32(i+1)))
	}
	close(done)
	wait.Wait()
	close(faults)
	for err := range faults {
		s.Errorf("a reader saw: %v", err)
	}
	s.expect(func() *readPlan {
		p := s.read()
		a := p.bind("a", "Person")
		return p.ret(agg(plan.Min, p.prop(a, "age")), agg(plan.Max, p.prop(a, "age")))
	}(), "20 | 20")
}
