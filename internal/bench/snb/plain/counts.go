package plain

import "github.com/omnigraph-go/omnigraph/internal/bench/snb"

// Counts are the nine counts of the Labelled Subgraph Query Benchmark, by the names of their stored
// queries.
var Counts = []struct {
	Name, Label string
	Count       func(*Index) int64
}{
	{"lsqb1", "chains from a country to a class of tags", (*Index).count1},
	{"lsqb2", "comments on posts of friends", (*Index).count2},
	{"lsqb3", "triangles of friends in a country", (*Index).count3},
	{"lsqb4", "tags, likes and comments of a message", func(x *Index) int64 { return x.aroundMessages(0) }},
	{"lsqb5", "tags of a message and of a comment", func(x *Index) int64 { return x.tagPairs(false) }},
	{"lsqb6", "interests of friends of friends", func(x *Index) int64 { return x.interestChains(false) }},
	{"lsqb7", "tags, and optional likes and comments", func(x *Index) int64 { return x.aroundMessages(1) }},
	{"lsqb8", "tags of a message without those of the comment", func(x *Index) int64 { return x.tagPairs(true) }},
	{"lsqb9", "interests of friends of friends who are no friends", func(x *Index) int64 { return x.interestChains(true) }},
}

// count1 counts the chains country, city, person, forum, post, comment, tag, class. Each person has one
// city and each tag one class, so these do not add to the count.
func (x *Index) count1() int64 {
	sum := int64(0)
	for forum, posts := range x.posts {
		tags := int64(0)
		for _, post := range posts {
			for _, c := range x.replies[post.ID] {
				tags += int64(len(c.Tags))
			}
		}
		sum += int64(len(x.members[forum])) * tags
	}
	return sum
}

// count2 counts the comments that answer a post of a friend of their author.
func (x *Index) count2() int64 {
	sum := int64(0)
	for i := range x.network.Messages {
		c := &x.network.Messages[i]
		if c.Post {
			continue
		}
		if m := x.messages[c.ReplyOf]; m.Post {
			if _, friend := x.friends[c.Creator][m.Creator]; friend {
				sum++
			}
		}
	}
	return sum
}

// count3 counts the triangles of friends in one country, each in its six orders.
func (x *Index) count3() int64 {
	sum := int64(0)
	for a, friends := range x.friends {
		country := x.home(x.persons[a])
		for b := range friends {
			if x.home(x.persons[b]) != country {
				continue
			}
			for c := range x.friends[b] {
				if _, closed := friends[c]; closed && x.home(x.persons[c]) == country {
					sum++
				}
			}
		}
	}
	return sum
}

// aroundMessages counts the combinations of a tag, a like and a comment of a message. A message without
// likes, or without comments, counts as if it had `missing` of them.
func (x *Index) aroundMessages(missing int) int64 {
	sum := int64(0)
	for i := range x.network.Messages {
		m := &x.network.Messages[i]
		likes, comments := len(x.likes[m.ID]), len(x.replies[m.ID])
		if likes == 0 {
			likes = missing
		}
		if comments == 0 {
			comments = missing
		}
		sum += int64(len(m.Tags)) * int64(likes) * int64(comments)
	}
	return sum
}

// tagPairs counts the pairs of different tags of a message and of a comment on it. If `lacking` is true,
// it leaves out the pairs in which the comment also has the tag of the message.
func (x *Index) tagPairs(lacking bool) int64 {
	sum := int64(0)
	for i := range x.network.Messages {
		m := &x.network.Messages[i]
		for _, c := range x.replies[m.ID] {
			for _, a := range m.Tags {
				if lacking && contains(c, a) {
					continue
				}
				for _, b := range c.Tags {
					if a != b {
						sum++
					}
				}
			}
		}
	}
	return sum
}

// contains reports whether a message has a tag.
func contains(m *snb.Message, tag int64) bool {
	for _, t := range m.Tags {
		if t == tag {
			return true
		}
	}
	return false
}

// interestChains counts the chains of two friendships to another person and to an interest of that
// person. If `open` is true, the two ends must not be friends.
func (x *Index) interestChains(open bool) int64 {
	sum := int64(0)
	for a, friends := range x.friends {
		for b := range friends {
			for c := range x.friends[b] {
				if _, closed := friends[c]; a != c && !(open && closed) {
					sum += int64(len(x.persons[c].Interests))
				}
			}
		}
	}
	return sum
}
