package enginetest

import "github.com/omnigraph-go/omnigraph/gq/plan"

// countCases returns the cases of reads that only count the matches of a pattern. An engine may count the parts of such a
// pattern without making a row for each match.
func countCases() []testCase {
	return readCases("count of a pattern", []readCase{
		{name: "a chain", want: "4", build: func(p *readPlan) {
			// ann knows bob and cid knows ann; ann and bob live in the city of both.
			a, b, c, d := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City"), p.node("d", "Person")
			p.match(hop(a, "Knows", b), hop(b, "LivesIn", c), hop(d, "LivesIn", c), where(p.prop(a, "age"), plan.Ge, 30)).ret(count(whole(d)))
			p.match(where(p.prop(d, "age"), plan.Ge, 25))
		}},
		{name: "a star", want: "6", build: func(p *readPlan) {
			// ann, bob and cid each know one person, live in one city, and have two neighbours with an age.
			a, b, c, d := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City"), p.node("d", "Person")
			p.match(hop(a, "Knows", b), hop(a, "LivesIn", c), undirected(hop(a, "Follows", d)), where(p.prop(d, "age"), plan.Ge, 1)).ret(count(whole(a)))
		}},
		{name: "parallel edges are one match", want: "3", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "Person")
			p.match(hop(a, "Knows", b), hop(b, "Knows", c)).ret(count(whole(c)))
		}},
		{name: "optional parts", want: "7", build: func(p *readPlan) {
			// cid and dan follow two persons each; eve has neither match.
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City")
			p.match(p.maybe(hop(a, "Follows", b)), p.maybe(hop(a, "LivesIn", c))).ret(count(whole(a)))
		}},
		{name: "a condition in an optional part", want: "5", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(p.maybe(hop(a, "Follows", b), where(p.prop(b, "age"), plan.Lt, 30))).ret(count(whole(a)))
		}},
		{name: "other ends of two edges", want: "4", build: func(p *readPlan) {
			// Only cid and dan follow two persons.
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "Person")
			p.match(hop(a, "Follows", b), hop(a, "Follows", c), where(id(b), plan.Ne, id(c))).ret(count(whole(a)))
		}},
		{name: "no edge between the ends", want: "3", build: func(p *readPlan) {
			// Of the paths of two edges, cid-dan-dan, dan-dan-dan and dan-dan-eve are closed by an edge.
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "Person")
			p.match(hop(a, "Follows", b), hop(b, "Follows", c), not(hop(a, "Follows", c)), where(id(a), plan.Ne, "cid")).ret(count(whole(a)))
		}},
		{name: "a triangle", want: "4", build: func(p *readPlan) {
			// The cycle of three from each of its nodes, and dan with itself.
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "Person")
			p.match(hop(a, "Follows", b), hop(b, "Follows", c), hop(c, "Follows", a)).ret(count(whole(a)))
		}},
		{name: "contradicting clauses", want: "0", build: func(p *readPlan) {
			a, b := p.bind("a", "Person"), p.node("b", "Person")
			p.match(hop(a, "Follows", b), not(hop(a, "Follows", b))).ret(count(whole(a)))
		}},
		{name: "by group", want: "ann | 1\nbob | 1\ncid | 2\ndan | 2", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "Person")
			p.match(hop(a, "Follows", b), hop(c, "Follows", a), where(p.prop(c, "name"), plan.Lt, "dan")).ret(p.prop(a, "name"), count(whole(c)))
		}},
		{name: "a group without matches is no row", want: "", build: func(p *readPlan) {
			a, b, c := p.bind("a", "Person"), p.node("b", "Person"), p.node("c", "City")
			p.match(hop(a, "Knows", b), hop(b, "LivesIn", c), where(p.prop(c, "name"), plan.Eq, "Bern")).ret(p.prop(a, "name"), count(whole(c)))
		}},
	})
}
