package snb

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// commentsPerPost is the mean number of comments in the tree below a post.
const commentsPerPost = 2.7

// makeForums makes the forums with their members and messages: a wall for each person, an album for
// some, and groups.
func (g *generator) makeForums() {
	for person := range g.persons {
		p := &g.network.Persons[person]
		friends := g.friends[person]
		wall := g.addForum("Wall of "+p.FirstName+" "+p.LastName, p.Created+second, person)
		g.fill(wall, g.join(wall, person, friends), float64(len(friends))*3, false)
		if g.chance(0.4) {
			album := g.addForum(fmt.Sprintf("Album %d of %s %s", person, p.FirstName, p.LastName), g.between(p.Created+second), person)
			g.fill(album, g.join(album, person, friends[:len(friends)/2]), float64(len(friends))*2.5, true)
		}
		if g.chance(0.25) {
			tag := pick(g, p.Interests)
			group := g.addForum(fmt.Sprintf("Group for %s in %s", g.network.Tags[tag].Name, p.LastName), g.between(p.Created+second), person)
			g.fill(group, g.join(group, person, g.around(person, tag)), g.degree*8, false)
		}
	}
}

// around returns candidates for a group about a tag: friends of its moderator, some of their friends,
// and persons with the tag as an interest.
func (g *generator) around(moderator int, tag int64) []friend {
	out := slices.Clone(g.friends[moderator])
	for _, f := range g.friends[moderator] {
		if len(g.friends[f.person]) > 0 && g.chance(0.5) {
			out = append(out, pick(g, g.friends[f.person]))
		}
	}
	for _, person := range g.interested[tag] {
		if len(out) < int(4*g.degree) {
			out = append(out, friend{person, g.network.Persons[person].Created})
		}
	}
	return out
}

// addForum adds a forum and returns its index.
func (g *generator) addForum(title string, created Millis, moderator int) int {
	at := len(g.network.Forums)
	p := &g.network.Persons[moderator]
	f := Forum{ID: serial(created, at), Title: title, Created: created, Moderator: p.ID}
	for range 1 + g.rng.IntN(3) {
		if tag := pick(g, p.Interests); !slices.Contains(f.Tags, tag) {
			f.Tags = append(f.Tags, tag)
		}
	}
	g.network.Forums = append(g.network.Forums, f)
	return at
}

// join makes members of a forum from candidates. It returns the persons who may write there: first the
// moderator, then the members.
func (g *generator) join(forum, moderator int, candidates []friend) []friend {
	f := &g.network.Forums[forum]
	authors := []friend{{moderator, f.Created}}
	seen := map[int]bool{moderator: true}
	for _, c := range candidates {
		if seen[c.person] {
			continue
		}
		seen[c.person] = true
		joined, ok := g.soon(max(c.since, f.Created), 60*day)
		if !ok {
			continue
		}
		authors = append(authors, friend{c.person, joined})
		g.network.Members = append(g.network.Members, Member{f.ID, g.network.Persons[c.person].ID, joined})
	}
	return authors
}

// fill makes the posts of a forum, with their comments and likes. A forum that existed from the beginning
// would have about the given number of posts.
func (g *generator) fill(forum int, authors []friend, posts float64, album bool) {
	f := &g.network.Forums[forum]
	for range int(posts*0.5 + g.rng.Float64()*posts) {
		author := authors[0]
		if !album && g.chance(0.7) {
			author = pick(g, authors)
		}
		// Posts are spread evenly, so that young forums, and young members, have few of them.
		created := g.between(firstInstant)
		if created <= author.since {
			continue
		}
		m := g.message(author.person, created)
		m.Post, m.Forum, m.ReplyOf = true, f.ID, None
		for _, t := range f.Tags {
			if g.chance(0.7) {
				m.Tags = append(m.Tags, t)
			}
		}
		if t := pick(g, g.network.Persons[author.person].Interests); g.chance(0.5) && !slices.Contains(m.Tags, t) {
			m.Tags = append(m.Tags, t)
		}
		if album {
			m.Image = fmt.Sprintf("photo%d.jpg", len(g.drafts))
		} else {
			m.Language = countryList[g.homes[author.person]].language
			m.Content = g.words(m.Tags, 10+g.rng.IntN(20))
			m.Length = int64(len(m.Content))
		}
		post := len(g.drafts)
		g.drafts = append(g.drafts, draft{m, -1})
		g.answer(post, authors, int(g.rng.ExpFloat64()*(commentsPerPost+0.5)))
		g.like(post, authors, int(g.rng.ExpFloat64()*1.2))
	}
}

// answer adds comments to the tree below a post.
func (g *generator) answer(post int, authors []friend, count int) {
	thread := []int{post}
	for range count {
		parent := pick(g, thread)
		above := &g.drafts[parent].message
		author := pick(g, authors)
		created, ok := g.soon(max(above.Created, author.since), 2*day)
		if !ok {
			continue
		}
		m := g.message(author.person, created)
		m.Forum = None
		for _, t := range above.Tags {
			if g.chance(0.35) {
				m.Tags = append(m.Tags, t)
			}
		}
		if t := pick(g, g.network.Persons[author.person].Interests); g.chance(0.3) && !slices.Contains(m.Tags, t) {
			m.Tags = append(m.Tags, t)
		}
		if g.chance(0.4) {
			m.Content = pick(g, replies)
		} else {
			m.Content = g.words(m.Tags, 4+g.rng.IntN(12))
		}
		m.Length = int64(len(m.Content))
		comment := len(g.drafts)
		thread = append(thread, comment)
		g.drafts = append(g.drafts, draft{m, parent})
		g.like(comment, authors, int(g.rng.ExpFloat64()*0.8))
	}
}

// message returns a message without its place in a forum.
func (g *generator) message(author int, created Millis) Message {
	p := &g.network.Persons[author]
	country := g.homes[author]
	ip := p.IP
	if g.chance(0.15) { // the author travels
		country = g.skewed(len(countryList))
		ip = g.address(country)
	}
	return Message{Created: created, IP: ip, Browser: p.Browser, Creator: p.ID, Country: g.network.Countries[country].ID}
}

// words returns a text about tags.
func (g *generator) words(tags []int64, count int) string {
	var b strings.Builder
	b.WriteString("About")
	for _, t := range tags {
		b.WriteByte(' ')
		b.WriteString(g.network.Tags[t].Name)
	}
	for i := range count {
		if i == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(' ')
		b.WriteString(pick(g, topicWords))
	}
	b.WriteByte('.')
	return b.String()
}

// like adds likes of a draft by persons who take part in the forum.
func (g *generator) like(of int, persons []friend, count int) {
	m := &g.drafts[of].message
	seen := map[int]bool{}
	for range count {
		p := pick(g, persons)
		created, ok := g.soon(max(m.Created, p.since), 4*day)
		if !ok || seen[p.person] {
			continue
		}
		seen[p.person] = true
		g.likeDrafts = append(g.likeDrafts, likeDraft{g.network.Persons[p.person].ID, of, created})
	}
}

// finish gives the messages ids in the order of their creation, and sorts the other events too.
func (g *generator) finish() {
	n := g.network
	order := make([]int, len(g.drafts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(g.drafts[a].message.Created, g.drafts[b].message.Created)
	})
	for at, i := range order {
		g.drafts[i].message.ID = serial(g.drafts[i].message.Created, at)
	}
	n.Messages = make([]Message, 0, len(order))
	for _, i := range order {
		m := g.drafts[i].message
		if parent := g.drafts[i].parent; parent >= 0 {
			m.ReplyOf = g.drafts[parent].message.ID
		}
		n.Messages = append(n.Messages, m)
	}
	for _, l := range g.likeDrafts {
		n.Likes = append(n.Likes, Like{l.person, g.drafts[l.draft].message.ID, l.created})
	}
	slices.SortStableFunc(n.Likes, func(a, b Like) int { return cmp.Compare(a.Created, b.Created) })
	slices.SortStableFunc(n.Members, func(a, b Member) int { return cmp.Compare(a.Joined, b.Joined) })
	slices.SortStableFunc(n.Friendships, func(a, b Friendship) int { return cmp.Compare(a.Created, b.Created) })
}
