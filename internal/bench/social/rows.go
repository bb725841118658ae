package social

import (
	"iter"
	"math/rand/v2"
	"strings"
)

// Person is a row of Person. In this and the other row types, Number counts from 0 and determines
// the slug.
type Person struct {
	Number    int
	Name      string
	Age       int
	City, Bio string
}

// Company is a row of Company.
type Company struct {
	Number int
	Name   string
}

// Post is a row of Post. Vector is nil for most posts. It is valid until the next row.
type Post struct {
	Number int
	Text   string
	Vector []float32 // of Dim components
}

// Edge is an edge between two rows. From and To are the numbers of the rows.
type Edge struct{ From, To int }

// Acquaintance is a row of Knows. Since is in days from 1970-01-01.
type Acquaintance struct {
	Edge
	Since int // day since which the two know each other
}

// Each list of rows uses a random stream of its own, so that a list can be made without the others.
const (
	personStream = 1 + iota
	companyStream
	degreeStream
	knowsStream
	worksStream
	postStream
	authorStream
	vectorStream
	rankStream
)

// stream returns the random numbers of stream n, which depend only on n and the seed.
func (g *Graph) stream(n uint64) *rand.Rand { return rand.New(rand.NewPCG(g.Seed, n)) }

const (
	minAge, maxAge     = 18, 90         // years
	firstDay, lastDay  = 12_784, 20_088 // 2005-01-01 to 2024-12-31
	minWords, maxWords = 8, 40          // words per post
	minBio, maxBio     = 6, 14          // words per bio
	cities             = 100            // number of cities
	firstNames         = 200            // number of first names
	lastNames          = 1_000          // number of last names
)

// City returns the name of city i, from 0 to 99.
func City(i int) string { return "city " + Word(vocabulary-1-i%cities) }

// AllPersons yields the persons by number.
func (g *Graph) AllPersons() iter.Seq[Person] {
	return func(yield func(Person) bool) {
		rng, words := g.stream(personStream), newSampler(zipf(vocabulary, 1, 1))
		var bio strings.Builder
		for i := range g.Persons {
			p := Person{
				Number: i,
				Name:   capital(Word(rng.IntN(firstNames))) + " " + capital(Word(firstNames+rng.IntN(lastNames))),
				Age:    minAge + rng.IntN(maxAge-minAge+1),
				City:   City(rng.IntN(cities)),
			}
			bio.Reset()
			writeWords(&bio, rng, words, minBio+rng.IntN(maxBio-minBio+1))
			p.Bio = bio.String()
			if !yield(p) {
				return
			}
		}
	}
}

// AllCompanies yields the companies by number.
func (g *Graph) AllCompanies() iter.Seq[Company] {
	return func(yield func(Company) bool) {
		rng := g.stream(companyStream)
		for i := range g.Companies {
			name := capital(Word(rng.IntN(vocabulary))) + " " + capital(Word(rng.IntN(vocabulary))) + " Ltd"
			if !yield(Company{Number: i, Name: name}) {
				return
			}
		}
	}
}

// Acquaintances yields the acquaintances, ordered by From. The number of persons that a person knows,
// and the number of persons who know a person, follow independent power laws. At full size the
// median is 6, the mean 10, and the maximum over 1,200.
func (g *Graph) Acquaintances() iter.Seq[Acquaintance] {
	return func(yield func(Acquaintance) bool) {
		degrees := g.outDegrees()
		rng := g.stream(knowsStream)
		ranks := g.stream(rankStream).Perm(g.Persons)
		targets := newSampler(zipf(g.Persons, 0.7, 20))
		seen := make(map[int]bool)
		for from, degree := range degrees {
			clear(seen)
			for len(seen) < degree {
				to := ranks[targets.draw(rng)]
				if to == from || seen[to] {
					continue
				}
				seen[to] = true
				a := Acquaintance{Edge: Edge{From: from, To: to}, Since: firstDay + rng.IntN(lastDay-firstDay+1)}
				if !yield(a) {
					return
				}
			}
		}
	}
}

// outDegrees distributes the pairs among the persons: it returns the number of persons that each
// knows.
func (g *Graph) outDegrees() []int {
	rng := g.stream(degreeStream)
	sources := newSampler(zipf(g.Persons, 0.7, 20))
	ranks := rng.Perm(g.Persons)
	degrees := make([]int, g.Persons)
	for n := 0; n < g.Knows; {
		from := ranks[sources.draw(rng)]
		// If a person knew more than half of all others, drawing a person who is not drawn yet
		// would take long.
		if degrees[from] < g.Persons/2 {
			degrees[from]++
			n++
		}
	}
	return degrees
}

// AllWorksAt yields the employments: each person works at one company. The sizes of the companies
// follow a power law.
func (g *Graph) AllWorksAt() iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		rng := g.stream(worksStream)
		ranks := rng.Perm(g.Companies)
		sizes := newSampler(zipf(g.Companies, 0.8, 10))
		for i := range g.WorksAt {
			if !yield(Edge{From: i % g.Persons, To: ranks[sizes.draw(rng)]}) {
				return
			}
		}
	}
}

// AllPosts yields the posts by number. The frequency of words follows Zipf's law.
func (g *Graph) AllPosts() iter.Seq[Post] {
	return func(yield func(Post) bool) {
		rng, vectors := g.stream(postStream), g.stream(vectorStream)
		words := newSampler(zipf(vocabulary, 1, 1))
		var text strings.Builder
		vector := make([]float32, Dim)
		every := max(1, g.Posts/g.Vectors)
		for i := range g.Posts {
			text.Reset()
			writeWords(&text, rng, words, minWords+rng.IntN(maxWords-minWords+1))
			p := Post{Number: i, Text: text.String()}
			if i%every == 0 && i/every < g.Vectors {
				FillVector(vector, vectors)
				p.Vector = vector
			}
			if !yield(p) {
				return
			}
		}
	}
}

// AllAuthored yields the author of each post.
func (g *Graph) AllAuthored() iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		rng := g.stream(authorStream)
		ranks := rng.Perm(g.Persons)
		authors := newSampler(zipf(g.Persons, 0.6, 20))
		for i := range g.Authored {
			if !yield(Edge{From: ranks[authors.draw(rng)], To: i % g.Posts}) {
				return
			}
		}
	}
}

// FillVector fills v with normally distributed components.
func FillVector(v []float32, rng *rand.Rand) {
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
}

// writeWords writes n random words, separated by spaces.
func writeWords(to *strings.Builder, rng *rand.Rand, words *sampler, n int) {
	for i := range n {
		if i > 0 {
			to.WriteByte(' ')
		}
		to.WriteString(Word(words.draw(rng)))
	}
}
