package plain

import (
	"time"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
)

// complex1 finds persons with a first name within three friendships, excluding the start person. It
// sorts them by distance, last name and id, and returns 20.
func (x *Index) complex1(person int64, firstName string) [][]any {
	var rows [][]any
	for id, hops := range x.distances(person, 3) {
		p := x.persons[id]
		if hops == 0 || p.FirstName != firstName {
			continue
		}
		var universities, companies []string
		for _, s := range p.Studies {
			u := x.schools[s.Organisation]
			universities = append(universities, Record(u.Name, s.Year, x.cities[u.Place].Name))
		}
		for _, j := range p.Jobs {
			c := x.firms[j.Organisation]
			companies = append(companies, Record(c.Name, j.Year, x.nations[c.Place].Name))
		}
		rows = append(rows, []any{p.ID, p.LastName, hops, p.Birthday, p.Created, p.Gender, p.Browser, p.IP, List(p.Emails),
			List(p.Languages), x.cities[p.City].Name, List(universities), List(companies)})
	}
	return top(rows, 20, asc(2), asc(1), asc(0))
}

// messageRow is the row of reads 2 and 9.
func messageRow(p *snb.Person, m *snb.Message) []any {
	return []any{p.ID, p.FirstName, p.LastName, m.ID, content(m), m.Created}
}

// complex2 lists the latest 20 messages of friends that were created at or before an instant.
func (x *Index) complex2(person int64, maxDate snb.Millis) [][]any {
	var rows [][]any
	for _, p := range x.direct(person) {
		for _, m := range x.sent[p.ID] {
			if m.Created <= maxDate {
				rows = append(rows, messageRow(p, m))
			}
		}
	}
	return top(rows, 20, desc(5), asc(3))
}

// complex3 finds friends and friends of friends who live in neither of two countries and sent messages
// from both within some days. It sorts them by the number of these messages and the id, and returns 20.
func (x *Index) complex3(person int64, countryX, countryY string, start snb.Millis, days int64) [][]any {
	var rows [][]any
	for _, p := range x.circle(person) {
		if home := x.home(p).Name; home == countryX || home == countryY {
			continue
		}
		var inX, inY int64
		for _, m := range x.sent[p.ID] {
			if m.Created < start || m.Created >= start.AddDays(days) {
				continue
			}
			switch x.nations[m.Country].Name {
			case countryX:
				inX++
			case countryY:
				inY++
			}
		}
		if inX > 0 && inY > 0 {
			rows = append(rows, []any{p.ID, p.FirstName, p.LastName, inX, inY, inX + inY})
		}
	}
	return top(rows, 20, desc(5), asc(0))
}

// complex4 counts the posts with each tag that friends created within some days. It leaves out the
// tags of posts that friends created earlier, and returns the 10 most frequent tags.
func (x *Index) complex4(person int64, start snb.Millis, days int64) [][]any {
	count, old := map[int64]int64{}, map[int64]bool{}
	for _, p := range x.direct(person) {
		for _, m := range x.sent[p.ID] {
			if !m.Post {
				continue
			}
			for _, t := range m.Tags {
				if m.Created < start {
					old[t] = true
				} else if m.Created < start.AddDays(days) {
					count[t]++
				}
			}
		}
	}
	var rows [][]any
	for t, n := range count {
		if !old[t] {
			rows = append(rows, []any{x.tags[t].Name, n})
		}
	}
	return top(rows, 10, desc(1), asc(0))
}

// complex5 lists the forums that friends and friends of friends joined after an instant, with the
// number of posts there by those who joined then. It returns the 20 forums with the most posts.
func (x *Index) complex5(person int64, minDate snb.Millis) [][]any {
	joined := map[int64]map[int64]bool{}
	for _, p := range x.circle(person) {
		for _, m := range x.forumOf[p.ID] {
			if m.Joined > minDate {
				if joined[m.Forum] == nil {
					joined[m.Forum] = map[int64]bool{}
				}
				joined[m.Forum][p.ID] = true
			}
		}
	}
	var rows [][]any
	for forum, who := range joined {
		n := int64(0)
		for _, post := range x.posts[forum] {
			if who[post.Creator] {
				n++
			}
		}
		rows = append(rows, []any{x.forums[forum].Title, n, forum})
	}
	return top(rows, 20, desc(1), asc(2))
}

// complex6 counts, for posts with a tag by friends and friends of friends, the other tags of these
// posts. It returns the 10 most frequent tags.
func (x *Index) complex6(person int64, tag string) [][]any {
	count := map[string]int64{}
	for _, p := range x.circle(person) {
		for _, m := range x.sent[p.ID] {
			if !m.Post || !x.hasTag(m, tag) {
				continue
			}
			for _, t := range m.Tags {
				if name := x.tags[t].Name; name != tag {
					count[name]++
				}
			}
		}
	}
	var rows [][]any
	for name, n := range count {
		rows = append(rows, []any{name, n})
	}
	return top(rows, 10, desc(1), asc(0))
}

// hasTag reports whether a message has a tag with a name.
func (x *Index) hasTag(m *snb.Message, name string) bool {
	for _, t := range m.Tags {
		if x.tags[t].Name == name {
			return true
		}
	}
	return false
}

// complex7 finds the persons who liked a message of a person. For each, it takes the latest like, and
// of several at the same time the one of the message with the lowest id. It returns the latest 20, with
// the minutes between message and like, and whether the liker is not a friend.
func (x *Index) complex7(person int64) [][]any {
	latest := map[int64]snb.Like{}
	for _, m := range x.sent[person] {
		for _, l := range x.likes[m.ID] {
			best, seen := latest[l.Person]
			if !seen || l.Created > best.Created || l.Created == best.Created && l.Message < best.Message {
				latest[l.Person] = l
			}
		}
	}
	var rows [][]any
	for id, l := range latest {
		p, m := x.persons[id], x.messages[l.Message]
		_, friend := x.friends[person][id]
		rows = append(rows, []any{id, p.FirstName, p.LastName, l.Created, m.ID, content(m), int64(l.Created-m.Created) / 60_000, !friend})
	}
	return top(rows, 20, desc(3), asc(0))
}

// complex8 lists the latest 20 comments that answer a message of a person.
func (x *Index) complex8(person int64) [][]any {
	var rows [][]any
	for _, m := range x.sent[person] {
		for _, c := range x.replies[m.ID] {
			p := x.persons[c.Creator]
			rows = append(rows, []any{p.ID, p.FirstName, p.LastName, c.Created, c.ID, c.Content})
		}
	}
	return top(rows, 20, desc(3), asc(4))
}

// complex9 lists the latest 20 messages of friends and friends of friends before an instant.
func (x *Index) complex9(person int64, maxDate snb.Millis) [][]any {
	var rows [][]any
	for _, p := range x.circle(person) {
		for _, m := range x.sent[p.ID] {
			if m.Created < maxDate {
				rows = append(rows, messageRow(p, m))
			}
		}
	}
	return top(rows, 20, desc(5), asc(3))
}

// complex10 recommends friends of friends, who are neither friends nor the person, and whose birthday
// is on the 21st of a month or later, or before the 22nd of the next month. The score is the number of
// their posts with a tag that interests the person, less the number of their other posts. It returns
// the 10 persons with the highest score.
func (x *Index) complex10(person int64, month int64) [][]any {
	interest := map[int64]bool{}
	for _, t := range x.persons[person].Interests {
		interest[t] = true
	}
	next := time.Month(month)%12 + 1
	var rows [][]any
	for id, hops := range x.distances(person, 2) {
		p := x.persons[id]
		birthday := p.Birthday.Time()
		if hops != 2 || !(birthday.Month() == time.Month(month) && birthday.Day() >= 21 || birthday.Month() == next && birthday.Day() < 22) {
			continue
		}
		score := int64(0)
		for _, m := range x.sent[id] {
			if !m.Post {
				continue
			}
			common := int64(-1)
			for _, t := range m.Tags {
				if interest[t] {
					common = 1
				}
			}
			score += common
		}
		rows = append(rows, []any{id, p.FirstName, p.LastName, score, p.Gender, x.cities[p.City].Name})
	}
	return top(rows, 10, desc(3), asc(0))
}

// complex11 finds friends and friends of friends who began to work at a company in a country before a
// year. It sorts them by the first year, the id, and the name of the company, descending. It returns 10.
func (x *Index) complex11(person int64, country string, year int64) [][]any {
	var rows [][]any
	for _, p := range x.circle(person) {
		for _, j := range p.Jobs {
			c := x.firms[j.Organisation]
			if j.Year < year && x.nations[c.Place].Name == country {
				rows = append(rows, []any{p.ID, p.FirstName, p.LastName, c.Name, j.Year})
			}
		}
	}
	return top(rows, 10, asc(4), asc(0), desc(3))
}

// complex12 counts, for each friend, the comments that answer a post with a tag of a class or of its
// subclasses, and lists these tags. It returns the 20 friends with the most such comments.
func (x *Index) complex12(person int64, class string) [][]any {
	var rows [][]any
	for _, p := range x.direct(person) {
		n, names := int64(0), map[string]bool{}
		for _, c := range x.sent[p.ID] {
			if c.Post || !x.messages[c.ReplyOf].Post {
				continue
			}
			fits := false
			for _, t := range x.messages[c.ReplyOf].Tags {
				if tag := x.tags[t]; x.under(tag.Class, class) {
					fits, names[tag.Name] = true, true
				}
			}
			if fits {
				n++
			}
		}
		if n > 0 {
			var list []string
			for name := range names {
				list = append(list, name)
			}
			rows = append(rows, []any{p.ID, p.FirstName, p.LastName, List(list), n})
		}
	}
	return top(rows, 20, desc(4), asc(0))
}

// complex13 returns the number of friendships on a shortest path between two persons, or -1 if there is
// no path.
func (x *Index) complex13(a, b int64) [][]any {
	hops, ok := x.distances(a, len(x.persons))[b]
	if !ok {
		hops = -1
	}
	return [][]any{{hops}}
}
