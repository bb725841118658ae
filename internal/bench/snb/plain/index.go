// Package plain answers the reads of the Social Network Benchmark and the counts of the Labelled
// Subgraph Query Benchmark with Go loops over a network in memory. Each function follows the
// published description of its read, so that the answers of a database can be compared with it.
package plain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
)

// Index is a network with the maps that the reads need.
type Index struct {
	network *snb.Network

	persons  map[int64]*snb.Person
	messages map[int64]*snb.Message
	forums   map[int64]*snb.Forum
	tags     map[int64]*snb.Tag
	classes  map[int64]*snb.TagClass
	cities   map[int64]*snb.Place
	nations  map[int64]*snb.Place // countries
	schools  map[int64]*snb.Organisation
	firms    map[int64]*snb.Organisation

	friends map[int64]map[int64]snb.Millis // for each person, the friends and the beginning of the friendship
	sent    map[int64][]*snb.Message       // by creator
	replies map[int64][]*snb.Message       // by the message that they answer
	likes   map[int64][]snb.Like           // by message
	posts   map[int64][]*snb.Message       // by forum
	forumOf map[int64][]snb.Member         // by person
	members map[int64][]snb.Member         // by forum
}

// NewIndex makes the maps of a network.
func NewIndex(n *snb.Network) *Index {
	x := &Index{
		network: n,
		persons: byID(n.Persons, func(p *snb.Person) int64 { return p.ID }), messages: byID(n.Messages, func(m *snb.Message) int64 { return m.ID }),
		forums: byID(n.Forums, func(f *snb.Forum) int64 { return f.ID }), tags: byID(n.Tags, func(t *snb.Tag) int64 { return t.ID }),
		classes: byID(n.TagClasses, func(c *snb.TagClass) int64 { return c.ID }),
		cities:  byID(n.Cities, func(p *snb.Place) int64 { return p.ID }), nations: byID(n.Countries, func(p *snb.Place) int64 { return p.ID }),
		schools: byID(n.Universities, func(o *snb.Organisation) int64 { return o.ID }), firms: byID(n.Companies, func(o *snb.Organisation) int64 { return o.ID }),
		friends: map[int64]map[int64]snb.Millis{}, sent: map[int64][]*snb.Message{}, replies: map[int64][]*snb.Message{},
		likes: map[int64][]snb.Like{}, posts: map[int64][]*snb.Message{}, forumOf: map[int64][]snb.Member{}, members: map[int64][]snb.Member{},
	}
	for i := range n.Persons {
		x.friends[n.Persons[i].ID] = map[int64]snb.Millis{}
	}
	for _, k := range n.Friendships {
		x.friends[k.A][k.B], x.friends[k.B][k.A] = k.Created, k.Created
	}
	for i := range n.Messages {
		m := &n.Messages[i]
		x.sent[m.Creator] = append(x.sent[m.Creator], m)
		if m.Post {
			x.posts[m.Forum] = append(x.posts[m.Forum], m)
		} else {
			x.replies[m.ReplyOf] = append(x.replies[m.ReplyOf], m)
		}
	}
	for _, l := range n.Likes {
		x.likes[l.Message] = append(x.likes[l.Message], l)
	}
	for _, m := range n.Members {
		x.forumOf[m.Person] = append(x.forumOf[m.Person], m)
		x.members[m.Forum] = append(x.members[m.Forum], m)
	}
	return x
}

// byID returns a map from the id of each element to the element.
func byID[T any](list []T, id func(*T) int64) map[int64]*T {
	out := make(map[int64]*T, len(list))
	for i := range list {
		out[id(&list[i])] = &list[i]
	}
	return out
}

// distances returns the number of friendships from a person to each person within `most` of them,
// including the person itself with 0.
func (x *Index) distances(person int64, most int) map[int64]int64 {
	out := map[int64]int64{person: 0}
	frontier := []int64{person}
	for hops := int64(1); len(frontier) > 0 && hops <= int64(most); hops++ {
		var next []int64
		for _, p := range frontier {
			for f := range x.friends[p] {
				if _, seen := out[f]; !seen {
					out[f] = hops
					next = append(next, f)
				}
			}
		}
		frontier = next
	}
	return out
}

// circle returns the friends of a person and their friends, without the person.
func (x *Index) circle(person int64) []*snb.Person {
	var out []*snb.Person
	for id, hops := range x.distances(person, 2) {
		if hops > 0 {
			out = append(out, x.persons[id])
		}
	}
	return out
}

// direct returns the friends of a person.
func (x *Index) direct(person int64) []*snb.Person {
	var out []*snb.Person
	for id := range x.friends[person] {
		out = append(out, x.persons[id])
	}
	return out
}

// root returns the post that began the conversation of a message.
func (x *Index) root(m *snb.Message) *snb.Message {
	for !m.Post {
		m = x.messages[m.ReplyOf]
	}
	return m
}

// home returns the country in which a person lives.
func (x *Index) home(p *snb.Person) *snb.Place { return x.nations[x.cities[p.City].PartOf] }

// under reports whether a class is the class named top, or one of its subclasses.
func (x *Index) under(class int64, top string) bool {
	for class != snb.None {
		c := x.classes[class]
		if c.Name == top {
			return true
		}
		class = c.Parent
	}
	return false
}

// content returns the text of a message, or the name of its image.
func content(m *snb.Message) string {
	if m.Content != "" {
		return m.Content
	}
	return m.Image
}

// sortKey is a column by which rows are sorted.
type sortKey struct {
	column     int
	descending bool
}

// asc sorts by a column, ascending.
func asc(column int) sortKey { return sortKey{column, false} }

// desc sorts by a column, descending.
func desc(column int) sortKey { return sortKey{column, true} }

// top sorts the rows and returns the first ones. All rows are returned if limit is 0.
func top(rows [][]any, limit int, keys ...sortKey) [][]any {
	slices.SortFunc(rows, func(a, b []any) int {
		for _, k := range keys {
			c := compare(a[k.column], b[k.column])
			if k.descending {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	if limit > 0 && len(rows) > limit {
		rows = rows[:limit]
	}
	return rows
}

// compare compares two values of one column.
func compare(a, b any) int {
	switch a := a.(type) {
	case int64:
		return cmp.Compare(a, b.(int64))
	case snb.Millis:
		return cmp.Compare(a, b.(snb.Millis))
	case string:
		return cmp.Compare(a, b.(string))
	}
	panic(fmt.Sprintf("a sort key of type %T", a))
}

// Record returns the text that stands for a record.
func Record(fields ...any) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = fmt.Sprint(f)
	}
	return strings.Join(parts, "|")
}

// List returns the text that stands for a list. The order of the members does not matter.
func List(members []string) string {
	sorted := slices.Sorted(slices.Values(members))
	return strings.Join(sorted, ";")
}

// Text returns the form in which answers are compared: the digits of an integer, and milliseconds or
// days for times. A list is the text of [List], a record that of [Record].
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case snb.Millis:
		return fmt.Sprint(int64(v))
	case snb.Day:
		return fmt.Sprint(int32(v))
	}
	return fmt.Sprint(v)
}
