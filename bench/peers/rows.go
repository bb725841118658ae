package main

import (
	"cmp"
	"iter"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/bench/social"
)

// rows yields the rows of a graph for databases with integer keys. The integers of persons and
// companies have the same order as the keys of the graph, so that tie-breaks compare no texts. The
// rows come in the order of the integers, so that a table is clustered by them.
type rows struct {
	*social.Graph
	personIDs, companyIDs []int // by number
}

// person is a row with its integer.
type person struct {
	social.Person
	id   int
	slug string
}

// company is a row with its integer.
type company struct {
	social.Company
	id   int
	slug string
}

// rowsOf returns the rows of a graph.
func rowsOf(g *social.Graph) rows { return rows{g, g.PersonIDs(), g.CompanyIDs()} }

// persons yields the persons by id.
func (r rows) persons() iter.Seq[person] {
	return inOrder(r, r.AllPersons(), func(p social.Person) person { return person{p, r.personIDs[p.Number], r.PersonSlug(p.Number)} },
		func(a, b person) int { return cmp.Compare(a.id, b.id) })
}

// companies yields the companies by id.
func (r rows) companies() iter.Seq[company] {
	return inOrder(r, r.AllCompanies(), func(c social.Company) company { return company{c, r.companyIDs[c.Number], r.CompanySlug(c.Number)} },
		func(a, b company) int { return cmp.Compare(a.id, b.id) })
}

// knows yields the acquaintances, with the ids of the persons, by From and To.
func (r rows) knows() iter.Seq[social.Acquaintance] {
	return inOrder(r, r.Acquaintances(), func(k social.Acquaintance) social.Acquaintance {
		k.From, k.To = r.personIDs[k.From], r.personIDs[k.To]
		return k
	}, func(a, b social.Acquaintance) int { return compareEdges(a.Edge, b.Edge) })
}

// worksAt yields the employments, with ids instead of numbers, by person.
func (r rows) worksAt() iter.Seq[social.Edge] {
	return inOrder(r, r.AllWorksAt(), func(e social.Edge) social.Edge {
		return social.Edge{From: r.personIDs[e.From], To: r.companyIDs[e.To]}
	}, compareEdges)
}

// authored yields the authors, with the ids of the persons and the numbers of the posts, by post.
func (r rows) authored() iter.Seq[social.Edge] {
	return func(yield func(social.Edge) bool) {
		for e := range r.AllAuthored() {
			if !yield(social.Edge{From: r.personIDs[e.From], To: e.To}) {
				return
			}
		}
	}
}

// compareEdges compares the ends of two edges.
func compareEdges(a, b social.Edge) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
}

// inOrder yields the converted rows. The rows of a graph with serial keys are in the right order as they are
// generated; others are sorted in memory.
func inOrder[A, B any](r rows, all iter.Seq[A], convert func(A) B, compare func(a, b B) int) iter.Seq[B] {
	converted := func(yield func(B) bool) {
		for a := range all {
			if !yield(convert(a)) {
				return
			}
		}
	}
	if r.Keys == social.Serial {
		return converted
	}
	return slices.Values(slices.SortedFunc(converted, compare))
}
