package snb

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

const (
	firstInstant = Millis(1262304000000) // 2010-01-01, when the network begins
	lastInstant  = Millis(1356998400000) // 2013-01-01, when it ends
)

// Generate makes a network. A scale of 1 has 10,000 persons; the largest scale is 10. The same scale
// and seed give the same network.
//
// The network has the form of the benchmark's data, but not its exact distributions. Degrees have a
// long tail. Friends live near each other or share an interest, so friends of a person often know
// each other. Forums belong to a person (walls and albums) or to a group; members post about the
// forum's tags, answer each other, and like messages.
func Generate(scale float64, seed uint64) (*Network, error) {
	if math.IsNaN(scale) || scale <= 0 || scale > 10 {
		return nil, fmt.Errorf("the scale is %v; it must be more than 0 and at most 10", scale)
	}
	persons := max(30, int(math.Round(10_000*scale)))
	// The mean number of friends grows with the number of persons, as in the benchmark.
	n := float64(persons)
	g := &generator{
		rng: rand.New(rand.NewPCG(seed, 1)), network: &Network{}, persons: persons,
		degree: math.Pow(n, 0.512-0.028*math.Log10(n)), friends: make([][]friend, persons),
	}
	g.makePlaces()
	g.makeTags()
	g.makePersons()
	g.makeFriendships()
	g.makeForums()
	g.finish()
	return g.network, nil
}

// generator makes one network. Indexes refer to the slices of the network.
type generator struct {
	rng     *rand.Rand
	network *Network
	persons int     // number of persons
	degree  float64 // mean number of friends of a person

	countryOf  []int      // index of the country of each city
	citiesOf   [][]int    // indexes of the cities of each country
	schoolsOf  [][]int    // indexes of the universities of each country
	firmsOf    [][]int    // indexes of the companies of each country
	homes      []int      // index of the home country of each person
	friends    [][]friend // friends of each person
	interested [][]int    // indexes of the persons with each tag as an interest
	drafts     []draft    // messages before they have ids
	likeDrafts []likeDraft
}

// friend is a friend of a person, by index, and the beginning of the friendship.
type friend struct {
	person int
	since  Millis
}

// draft is a message whose id is not known yet. parent is the index of the draft that it answers, or
// -1 for a post.
type draft struct {
	message Message
	parent  int
}

// likeDraft is a like of the draft with an index.
type likeDraft struct {
	person  int64
	draft   int
	created Millis
}

// serial makes an id of the n-th entity of its type. As in the benchmark, ids of entities that were
// created later are greater, with gaps.
func serial(created Millis, n int) int64 {
	return int64(created-firstInstant)/int64(30*day)<<34 | int64(n)
}

// between returns a random instant from `from` on, but before the network ends.
func (g *generator) between(from Millis) Millis {
	if from >= lastInstant-1 {
		return lastInstant - 1
	}
	return from + Millis(g.rng.Int64N(int64(lastInstant-from)))
}

// soon returns a random instant after `from`, mostly within some multiples of `mean`. It reports false
// if the network has ended by then.
func (g *generator) soon(from, mean Millis) (Millis, bool) {
	at := from + second + Millis(g.rng.ExpFloat64()*float64(mean))
	return at, at < lastInstant
}

// chance reports true with a probability.
func (g *generator) chance(p float64) bool { return g.rng.Float64() < p }

// skewed returns a random index below n; low indexes are more frequent.
func (g *generator) skewed(n int) int { return int(float64(n) * math.Pow(g.rng.Float64(), 2.5)) }

// pick returns a random element.
func pick[T any](g *generator, list []T) T { return list[g.rng.IntN(len(list))] }

// makePlaces makes the places and the organisations.
func (g *generator) makePlaces() {
	n := g.network
	id := int64(0)
	next := func() int64 { id++; return id - 1 }
	continents := map[string]int64{}
	for _, c := range countryList {
		if _, ok := continents[c.continent]; !ok {
			continents[c.continent] = next()
			n.Continents = append(n.Continents, Place{continents[c.continent], c.continent, placeURL(c.continent), None})
		}
	}
	for _, c := range countryList {
		n.Countries = append(n.Countries, Place{next(), c.name, placeURL(c.name), continents[c.continent]})
	}
	organisation := int64(0)
	for i, c := range n.Countries {
		var cities, schools, firms []int
		for k := range 3 + g.rng.IntN(5) {
			name := fmt.Sprintf("%s_%s_%d", title(pick(g, topicWords)), title(pick(g, topicWords)), i*10+k)
			cities = append(cities, len(n.Cities))
			g.countryOf = append(g.countryOf, i)
			city := Place{next(), name, placeURL(name), c.ID}
			n.Cities = append(n.Cities, city)
			for range 1 + g.rng.IntN(2) {
				name := fmt.Sprintf("University_of_%s_%d", city.Name, organisation)
				schools = append(schools, len(n.Universities))
				n.Universities = append(n.Universities, Organisation{organisation, name, placeURL(name), city.ID})
				organisation++
			}
		}
		for range 8 + g.rng.IntN(8) {
			name := fmt.Sprintf("%s_%s_%d", title(pick(g, topicWords)), pick(g, []string{"Airlines", "Works", "Systems", "Motors"}), organisation)
			firms = append(firms, len(n.Companies))
			n.Companies = append(n.Companies, Organisation{organisation, name, placeURL(name), c.ID})
			organisation++
		}
		g.citiesOf, g.schoolsOf, g.firmsOf = append(g.citiesOf, cities), append(g.schoolsOf, schools), append(g.firmsOf, firms)
	}
}

// placeURL returns an address for a name.
func placeURL(name string) string { return "http://dbpedia.org/resource/" + name }

// title returns a word with an upper-case first letter.
func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// makeTags makes the classes and the tags. Frequent tags have low indexes.
func (g *generator) makeTags() {
	n := g.network
	ids := map[string]int64{"": None}
	for i, c := range classTree {
		ids[c.name] = int64(i)
		n.TagClasses = append(n.TagClasses, TagClass{int64(i), c.name, "http://dbpedia.org/ontology/" + c.name, ids[c.parent]})
	}
	count := 100 + g.persons/2
	for i := range count {
		name := fmt.Sprintf("%s_%s_%d", title(pick(g, topicWords)), title(pick(g, topicWords)), i)
		class := 6 + g.rng.IntN(len(classTree)-6) // the classes before are too general for tags
		n.Tags = append(n.Tags, Tag{int64(i), name, placeURL(name), int64(class)})
	}
	g.interested = make([][]int, count)
}

// makePersons makes the persons.
func (g *generator) makePersons() {
	var weighted []int
	for i, c := range countryList {
		weighted = append(weighted, slices.Repeat([]int{i}, c.weight)...)
	}
	for i := range g.persons {
		home := pick(g, weighted)
		g.homes = append(g.homes, home)
		created := firstInstant + Millis(g.rng.Int64N(int64(lastInstant-firstInstant)*97/100))
		birth := 3650 + g.rng.IntN(4000) // 1980 to 1990
		p := Person{
			ID: serial(created, i), FirstName: firstNames[g.skewed(len(firstNames))], LastName: lastNames[g.skewed(len(lastNames))],
			Gender: pick(g, []string{"male", "female"}), Birthday: Day(birth), Created: created, IP: g.address(home),
			Browser: browsers[g.skewed(len(browsers))], City: g.network.Cities[pick(g, g.citiesOf[home])].ID,
			Languages: []string{countryList[home].language},
		}
		if countryList[home].language != "en" && g.chance(0.7) {
			p.Languages = append(p.Languages, "en")
		}
		for k := range 1 + g.rng.IntN(3) {
			p.Emails = append(p.Emails, fmt.Sprintf("%s.%s%d@%s", p.FirstName, p.LastName, i*10+k, pick(g, []string{"gmail.com", "gmx.com", "yahoo.com", "zoho.com"})))
		}
		for range 3 + int(g.rng.ExpFloat64()*12) {
			tag := g.skewed(len(g.network.Tags))
			if id := g.network.Tags[tag].ID; !slices.Contains(p.Interests, id) {
				p.Interests = append(p.Interests, id)
				g.interested[tag] = append(g.interested[tag], i)
			}
		}
		if g.chance(0.8) {
			p.Studies = []Position{{g.network.Universities[pick(g, g.schoolsOf[home])].ID, int64(1970 + birth/365 + 18 + g.rng.IntN(8))}}
		}
		for range g.rng.IntN(4) {
			country := home
			if g.chance(0.3) {
				country = pick(g, weighted)
			}
			firm := g.network.Companies[pick(g, g.firmsOf[country])].ID
			if !slices.ContainsFunc(p.Jobs, func(j Position) bool { return j.Organisation == firm }) {
				p.Jobs = append(p.Jobs, Position{firm, int64(1970 + birth/365 + 18 + g.rng.IntN(12))})
			}
		}
		g.network.Persons = append(g.network.Persons, p)
	}
}

// address returns an IP address of a country.
func (g *generator) address(country int) string {
	return fmt.Sprintf("%d.%d.%d.%d", 20+country*3, g.rng.IntN(256), g.rng.IntN(256), 1+g.rng.IntN(254))
}

// makeFriendships makes the friendships: some of each person within the own country, some between
// persons with a common interest, and a few at random.
func (g *generator) makeFriendships() {
	compatriots := make([][]int, len(countryList)) // by city
	for i := range g.persons {
		compatriots[g.homes[i]] = append(compatriots[g.homes[i]], i)
	}
	place := make([]int, g.persons) // position of a person among the compatriots
	for _, list := range compatriots {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(g.network.Persons[a].City, g.network.Persons[b].City) })
		for at, person := range list {
			place[person] = at
		}
	}
	known := map[[2]int]bool{}
	for a := range g.persons {
		// Each person begins half of the friendships. The exponential factor makes the long tail.
		for range int(g.degree / 2 * (0.4 + 0.6*g.rng.ExpFloat64())) {
			var b int
			switch x := g.rng.Float64(); {
			case x < 0.5:
				list := compatriots[g.homes[a]]
				step := 1 + int(g.rng.ExpFloat64()*g.degree)
				b = list[(place[a]+step)%len(list)]
			case x < 0.85:
				interests := g.network.Persons[a].Interests
				b = pick(g, g.interested[pick(g, interests)]) // a tag's id is its index
			default:
				b = g.rng.IntN(g.persons)
			}
			pair := [2]int{min(a, b), max(a, b)}
			if a == b || known[pair] {
				continue
			}
			known[pair] = true
			since, ok := g.soon(max(g.network.Persons[a].Created, g.network.Persons[b].Created)+day, 100*day)
			if !ok {
				continue
			}
			g.friends[a] = append(g.friends[a], friend{b, since})
			g.friends[b] = append(g.friends[b], friend{a, since})
			g.network.Friendships = append(g.network.Friendships, Friendship{g.network.Persons[a].ID, g.network.Persons[b].ID, since})
		}
	}
}
