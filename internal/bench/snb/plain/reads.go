package plain

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
)

// Read is a read of the Social Network Benchmark.
type Read struct {
	Name  string // of the stored query
	Label string
	// Answer returns the rows of the published result: int64, string, bool, snb.Millis or snb.Day. A
	// list or a record is a text; see [Text].
	Answer func(x *Index, args []any) [][]any
	draw   func(d *drawer) []any
}

// Reads are the complex reads without the fourteenth, and the short reads.
var Reads = []Read{
	{"ic1", "friends with a first name", func(x *Index, a []any) [][]any { return x.complex1(a[0].(int64), a[1].(string)) },
		func(d *drawer) []any {
			p := d.person()
			return []any{p, d.x.persons[d.walk(p, 1+d.rng.IntN(3))].FirstName}
		}},
	{"ic2", "latest messages of friends", func(x *Index, a []any) [][]any { return x.complex2(a[0].(int64), a[1].(snb.Millis)) },
		func(d *drawer) []any { return []any{d.person(), d.instant()} }},
	{"ic3", "friends who were in two countries", func(x *Index, a []any) [][]any {
		return x.complex3(a[0].(int64), a[1].(string), a[2].(string), a[3].(snb.Millis), a[4].(int64))
	}, (*drawer).journeys},
	{"ic4", "new topics", func(x *Index, a []any) [][]any { return x.complex4(a[0].(int64), a[1].(snb.Millis), a[2].(int64)) },
		func(d *drawer) []any { return []any{d.person(), d.instant(), int64(30 + d.rng.IntN(60))} }},
	{"ic5", "new groups", func(x *Index, a []any) [][]any { return x.complex5(a[0].(int64), a[1].(snb.Millis)) },
		func(d *drawer) []any { return []any{d.person(), d.instant()} }},
	{"ic6", "tags that occur together", func(x *Index, a []any) [][]any { return x.complex6(a[0].(int64), a[1].(string)) },
		func(d *drawer) []any {
			p := d.person()
			return []any{p, d.tagOf(d.walk(p, 1+d.rng.IntN(2))).Name}
		}},
	{"ic7", "latest likers", func(x *Index, a []any) [][]any { return x.complex7(a[0].(int64)) }, (*drawer).onlyPerson},
	{"ic8", "latest replies", func(x *Index, a []any) [][]any { return x.complex8(a[0].(int64)) }, (*drawer).onlyPerson},
	{"ic9", "latest messages within two steps", func(x *Index, a []any) [][]any { return x.complex9(a[0].(int64), a[1].(snb.Millis)) },
		func(d *drawer) []any { return []any{d.person(), d.instant()} }},
	{"ic10", "recommended friends", func(x *Index, a []any) [][]any { return x.complex10(a[0].(int64), a[1].(int64)) },
		func(d *drawer) []any {
			p := d.person()
			return []any{p, int64(d.x.persons[d.walk(p, 2)].Birthday.Time().Month())}
		}},
	{"ic11", "friends with a job in a country", func(x *Index, a []any) [][]any { return x.complex11(a[0].(int64), a[1].(string), a[2].(int64)) },
		func(d *drawer) []any {
			p := d.person()
			country, year := pick(d, d.x.network.Countries).Name, int64(2000+d.rng.IntN(15))
			if jobs := d.x.persons[d.walk(p, 1+d.rng.IntN(2))].Jobs; len(jobs) > 0 {
				j := pick(d, jobs)
				country, year = d.x.nations[d.x.firms[j.Organisation].Place].Name, j.Year+1+d.rng.Int64N(4)
			}
			return []any{p, country, year}
		}},
	{"ic12", "friends who comment on a class of tags", func(x *Index, a []any) [][]any { return x.complex12(a[0].(int64), a[1].(string)) },
		func(d *drawer) []any {
			p := d.person()
			class := d.x.classes[d.tagOf(d.walk(p, 1)).Class]
			for class.Parent != snb.None && d.rng.IntN(2) == 0 {
				class = d.x.classes[class.Parent]
			}
			return []any{p, class.Name}
		}},
	{"ic13", "length of a shortest path", func(x *Index, a []any) [][]any { return x.complex13(a[0].(int64), a[1].(int64)) },
		func(d *drawer) []any { return []any{d.person(), d.person()} }},

	{"is1", "profile", func(x *Index, a []any) [][]any { return x.short1(a[0].(int64)) }, (*drawer).onlyPerson},
	{"is2", "latest messages of a person", func(x *Index, a []any) [][]any { return x.short2(a[0].(int64)) }, (*drawer).onlyPerson},
	{"is3", "friends", func(x *Index, a []any) [][]any { return x.short3(a[0].(int64)) }, (*drawer).onlyPerson},
	{"is4", "content of a message", func(x *Index, a []any) [][]any { return x.short4(a[0].(int64)) }, (*drawer).onlyMessage},
	{"is5", "creator of a message", func(x *Index, a []any) [][]any { return x.short5(a[0].(int64)) }, (*drawer).onlyMessage},
	{"is6", "forum of a message", func(x *Index, a []any) [][]any { return x.short6(a[0].(int64)) }, (*drawer).onlyMessage},
	{"is7", "replies to a message", func(x *Index, a []any) [][]any { return x.short7(a[0].(int64)) }, (*drawer).onlyMessage},
}

// Draw returns n sets of arguments for a read. The same index, seed and n give the same sets. Nine of
// ten sets are drawn again while their answer has no rows, up to 50 times.
func (r *Read) Draw(x *Index, seed uint64, n int) [][]any {
	d := &drawer{x: x, rng: rand.New(rand.NewPCG(seed, uint64(len(r.Label))<<8|uint64(r.Name[len(r.Name)-1])))}
	out := make([][]any, n)
	for i := range out {
		out[i] = r.draw(d)
		for tries := 0; i%10 != 0 && tries < 50 && len(r.Answer(x, out[i])) == 0; tries++ {
			out[i] = r.draw(d)
		}
	}
	return out
}

// drawer draws arguments.
type drawer struct {
	x   *Index
	rng *rand.Rand
}

// pick returns a random element.
func pick[T any](d *drawer, list []T) T { return list[d.rng.IntN(len(list))] }

// person draws a person.
func (d *drawer) person() int64 { return pick(d, d.x.network.Persons).ID }

// onlyPerson draws the arguments of a read whose only parameter is a person.
func (d *drawer) onlyPerson() []any { return []any{d.person()} }

// onlyMessage draws the arguments of a read whose only parameter is a message.
func (d *drawer) onlyMessage() []any { return []any{pick(d, d.x.network.Messages).ID} }

// instant draws an instant in the time of the messages.
func (d *drawer) instant() snb.Millis { return pick(d, d.x.network.Messages).Created + 1 }

// walk returns the end of a random walk over friendships.
func (d *drawer) walk(person int64, steps int) int64 {
	for range steps {
		if len(d.x.friends[person]) > 0 {
			person = pick(d, slices.Sorted(maps.Keys(d.x.friends[person])))
		}
	}
	return person
}

// tagOf draws a tag of the messages of a person, or else an interest.
func (d *drawer) tagOf(person int64) *snb.Tag {
	if sent := d.x.sent[person]; len(sent) > 0 {
		if m := pick(d, sent); len(m.Tags) > 0 {
			return d.x.tags[pick(d, m.Tags)]
		}
	}
	return d.x.tags[pick(d, d.x.persons[person].Interests)]
}

// journeys draws the arguments of the third complex read: a person, two countries from which one friend
// or friend of a friend sent messages, and some days that contain these messages.
func (d *drawer) journeys() []any {
	const day = 86_400_000 // milliseconds
	person := d.person()
	for range 20 {
		sent := d.x.sent[d.walk(person, 1+d.rng.IntN(2))]
		if len(sent) == 0 {
			continue
		}
		a, b := pick(d, sent), pick(d, sent)
		if a.Country != b.Country {
			from, to := min(a.Created, b.Created), max(a.Created, b.Created)
			return []any{person, d.x.nations[a.Country].Name, d.x.nations[b.Country].Name, from - snb.Millis(d.rng.IntN(day)), int64(to-from)/day + 2}
		}
	}
	at := d.rng.IntN(len(d.x.network.Countries) - 1)
	return []any{person, d.x.network.Countries[at].Name, d.x.network.Countries[at+1].Name, d.instant(), int64(60)}
}
