package snb

import (
	"cmp"
	"slices"
)

// Update is one call of a stored update.
type Update struct {
	Query   string // iu1 to iu8
	Created Millis
	// Args are the arguments in the order of the query's parameters: int64, string, Millis, Day,
	// []int64, []string, []Position, or nil for null.
	Args []any
}

// Split divides the network at an instant. It returns the network of the entities that were created
// before, and updates that add the others, in the order of their creation.
func (n *Network) Split(at Millis) (*Network, []Update) {
	base := *n
	var updates []Update
	base.Persons = keep(n.Persons, func(p *Person) bool { return p.Created < at }, func(p *Person) {
		updates = append(updates, Update{"iu1", p.Created, []any{p.ID, p.FirstName, p.LastName, p.Gender, p.Birthday, p.Created, p.IP,
			p.Browser, p.City, p.Languages, p.Emails, p.Interests, p.Studies, p.Jobs}})
	})
	base.Friendships = keep(n.Friendships, func(k *Friendship) bool { return k.Created < at }, func(k *Friendship) {
		updates = append(updates, Update{"iu8", k.Created, []any{k.A, k.B, k.Created}})
	})
	base.Forums = keep(n.Forums, func(f *Forum) bool { return f.Created < at }, func(f *Forum) {
		updates = append(updates, Update{"iu4", f.Created, []any{f.ID, f.Title, f.Created, f.Moderator, f.Tags}})
	})
	base.Members = keep(n.Members, func(m *Member) bool { return m.Joined < at }, func(m *Member) {
		updates = append(updates, Update{"iu5", m.Joined, []any{m.Forum, m.Person, m.Joined}})
	})
	base.Messages = keep(n.Messages, func(m *Message) bool { return m.Created < at }, func(m *Message) {
		if m.Post {
			updates = append(updates, Update{"iu6", m.Created, []any{m.ID, optional(m.Image), m.Created, m.IP, m.Browser, optional(m.Language),
				optional(m.Content), m.Length, m.Creator, m.Forum, m.Country, m.Tags}})
			return
		}
		updates = append(updates, Update{"iu7", m.Created, []any{m.ID, m.Created, m.IP, m.Browser, m.Content, m.Length, m.Creator,
			m.Country, m.ReplyOf, m.Tags}})
	})
	posts := n.isPost()
	base.Likes = keep(n.Likes, func(l *Like) bool { return l.Created < at }, func(l *Like) {
		query := "iu3"
		if posts[l.Message] {
			query = "iu2"
		}
		updates = append(updates, Update{query, l.Created, []any{l.Person, l.Message, l.Created}})
	})
	slices.SortStableFunc(updates, func(a, b Update) int { return cmp.Compare(a.Created, b.Created) })
	return &base, updates
}

// keep returns the elements that the function `stays` accepts, and calls `leaves` for the others.
func keep[T any](list []T, stays func(*T) bool, leaves func(*T)) []T {
	var out []T
	for i := range list {
		if stays(&list[i]) {
			out = append(out, list[i])
		} else {
			leaves(&list[i])
		}
	}
	return out
}

// optional returns a text as an argument, which is nil if the text is empty.
func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}
