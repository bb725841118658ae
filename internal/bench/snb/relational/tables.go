// Package relational has the network of the Social Network Benchmark as tables, and its reads and updates
// as SQL. PostgreSQL and DuckDB accept the same reads; the updates are for PostgreSQL, which can insert into
// several tables in one statement. Times are numbers of milliseconds.
package relational

import (
	"cmp"
	"iter"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/bench/snb"
)

// Create creates the tables. Each statement ends in a semicolon at the end of a line. A friendship is
// two rows of knows, one for each direction.
const Create = `
CREATE TABLE place (id bigint NOT NULL, kind text NOT NULL, name text NOT NULL, part_of bigint);
CREATE TABLE organisation (id bigint NOT NULL, kind text NOT NULL, name text NOT NULL, place bigint NOT NULL);
CREATE TABLE tag_class (id bigint NOT NULL, name text NOT NULL, parent bigint);
CREATE TABLE tag (id bigint NOT NULL, name text NOT NULL, class bigint NOT NULL);
CREATE TABLE person (id bigint NOT NULL, first_name text NOT NULL, last_name text NOT NULL, gender text NOT NULL, birthday date NOT NULL,
	created bigint NOT NULL, ip text NOT NULL, browser text NOT NULL, city bigint NOT NULL);
CREATE TABLE email (person bigint NOT NULL, address text NOT NULL);
CREATE TABLE speaks (person bigint NOT NULL, language text NOT NULL);
CREATE TABLE interest (person bigint NOT NULL, tag bigint NOT NULL);
CREATE TABLE study (person bigint NOT NULL, university bigint NOT NULL, year bigint NOT NULL);
CREATE TABLE job (person bigint NOT NULL, company bigint NOT NULL, year bigint NOT NULL);
CREATE TABLE knows (a bigint NOT NULL, b bigint NOT NULL, created bigint NOT NULL);
CREATE TABLE forum (id bigint NOT NULL, title text NOT NULL, created bigint NOT NULL, moderator bigint NOT NULL);
CREATE TABLE forum_tag (forum bigint NOT NULL, tag bigint NOT NULL);
CREATE TABLE member (forum bigint NOT NULL, person bigint NOT NULL, joined bigint NOT NULL);
CREATE TABLE message (id bigint NOT NULL, post boolean NOT NULL, created bigint NOT NULL, ip text NOT NULL, browser text NOT NULL,
	language text, content text NOT NULL, length bigint NOT NULL, creator bigint NOT NULL, country bigint NOT NULL, forum bigint, reply_of bigint);
CREATE TABLE message_tag (message bigint NOT NULL, tag bigint NOT NULL);
CREATE TABLE likes (person bigint NOT NULL, message bigint NOT NULL, created bigint NOT NULL);
`

// Indexes creates the indexes of the loaded tables.
const Indexes = `
CREATE UNIQUE INDEX place_id ON place (id);
CREATE INDEX place_name ON place (name);
CREATE UNIQUE INDEX organisation_id ON organisation (id);
CREATE UNIQUE INDEX tag_class_id ON tag_class (id);
CREATE INDEX tag_class_parent ON tag_class (parent);
CREATE UNIQUE INDEX tag_id ON tag (id);
CREATE INDEX tag_name ON tag (name);
CREATE UNIQUE INDEX person_id ON person (id);
CREATE INDEX person_city ON person (city);
CREATE INDEX email_person ON email (person);
CREATE INDEX speaks_person ON speaks (person);
CREATE UNIQUE INDEX interest_person ON interest (person, tag);
CREATE INDEX study_person ON study (person);
CREATE INDEX job_person ON job (person);
CREATE UNIQUE INDEX knows_a ON knows (a, b);
CREATE UNIQUE INDEX forum_id ON forum (id);
CREATE INDEX forum_tag_forum ON forum_tag (forum);
CREATE UNIQUE INDEX member_person ON member (person, forum);
CREATE INDEX member_forum ON member (forum);
CREATE UNIQUE INDEX message_id ON message (id);
CREATE INDEX message_creator ON message (creator, created);
CREATE INDEX message_reply ON message (reply_of);
CREATE INDEX message_forum ON message (forum, creator);
CREATE UNIQUE INDEX message_tag_message ON message_tag (message, tag);
CREATE INDEX message_tag_tag ON message_tag (tag, message);
CREATE UNIQUE INDEX likes_message ON likes (message, person);
`

// Table is a table with its rows. The values are int64, string, bool, time.Time for a day, and nil.
type Table struct {
	Name    string
	Columns []string
	Rows    iter.Seq[[]any]
}

// Tables returns the rows of a network.
func Tables(n *snb.Network) []Table {
	return []Table{
		{"place", []string{"id", "kind", "name", "part_of"}, places(n)},
		{"organisation", []string{"id", "kind", "name", "place"}, organisations(n)},
		{"tag_class", []string{"id", "name", "parent"}, each(n.TagClasses, func(c *snb.TagClass, row func(...any)) { row(c.ID, c.Name, optional(c.Parent)) })},
		{"tag", []string{"id", "name", "class"}, each(n.Tags, func(t *snb.Tag, row func(...any)) { row(t.ID, t.Name, t.Class) })},
		{"person", []string{"id", "first_name", "last_name", "gender", "birthday", "created", "ip", "browser", "city"},
			each(n.Persons, func(p *snb.Person, row func(...any)) {
				row(p.ID, p.FirstName, p.LastName, p.Gender, p.Birthday.Time(), int64(p.Created), p.IP, p.Browser, p.City)
			})},
		{"email", []string{"person", "address"}, each(n.Persons, func(p *snb.Person, row func(...any)) {
			for _, e := range p.Emails {
				row(p.ID, e)
			}
		})},
		{"speaks", []string{"person", "language"}, each(n.Persons, func(p *snb.Person, row func(...any)) {
			for _, l := range p.Languages {
				row(p.ID, l)
			}
		})},
		{"interest", []string{"person", "tag"}, each(n.Persons, func(p *snb.Person, row func(...any)) {
			for _, t := range p.Interests {
				row(p.ID, t)
			}
		})},
		{"study", []string{"person", "university", "year"}, each(n.Persons, func(p *snb.Person, row func(...any)) {
			for _, s := range p.Studies {
				row(p.ID, s.Organisation, s.Year)
			}
		})},
		{"job", []string{"person", "company", "year"}, each(n.Persons, func(p *snb.Person, row func(...any)) {
			for _, j := range p.Jobs {
				row(p.ID, j.Organisation, j.Year)
			}
		})},
		{"knows", []string{"a", "b", "created"}, knows(n)},
		{"forum", []string{"id", "title", "created", "moderator"}, each(n.Forums, func(f *snb.Forum, row func(...any)) {
			row(f.ID, f.Title, int64(f.Created), f.Moderator)
		})},
		{"forum_tag", []string{"forum", "tag"}, each(n.Forums, func(f *snb.Forum, row func(...any)) {
			for _, t := range f.Tags {
				row(f.ID, t)
			}
		})},
		{"member", []string{"forum", "person", "joined"}, each(n.Members, func(m *snb.Member, row func(...any)) {
			row(m.Forum, m.Person, int64(m.Joined))
		})},
		{"message", []string{"id", "post", "created", "ip", "browser", "language", "content", "length", "creator", "country", "forum", "reply_of"},
			each(n.Messages, func(m *snb.Message, row func(...any)) {
				var language any
				if m.Language != "" {
					language = m.Language
				}
				row(m.ID, m.Post, int64(m.Created), m.IP, m.Browser, language, cmp.Or(m.Content, m.Image), m.Length, m.Creator, m.Country,
					optional(m.Forum), optional(m.ReplyOf))
			})},
		{"message_tag", []string{"message", "tag"}, each(n.Messages, func(m *snb.Message, row func(...any)) {
			for _, t := range m.Tags {
				row(m.ID, t)
			}
		})},
		{"likes", []string{"person", "message", "created"}, each(n.Likes, func(l *snb.Like, row func(...any)) {
			row(l.Person, l.Message, int64(l.Created))
		})},
	}
}

// each returns the rows that the function makes of the elements of a list.
func each[T any](list []T, rows func(*T, func(...any))) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		more := true
		for i := range list {
			rows(&list[i], func(values ...any) { more = more && yield(values) })
			if !more {
				return
			}
		}
	}
}

// optional returns nil for the id that stands for none.
func optional(id int64) any {
	if id == snb.None {
		return nil
	}
	return id
}

// places returns the rows of place.
func places(n *snb.Network) iter.Seq[[]any] {
	var rows [][]any
	for kind, list := range map[string][]snb.Place{"city": n.Cities, "country": n.Countries, "continent": n.Continents} {
		for _, p := range list {
			rows = append(rows, []any{p.ID, kind, p.Name, optional(p.PartOf)})
		}
	}
	return slices.Values(rows)
}

// organisations returns the rows of organisation.
func organisations(n *snb.Network) iter.Seq[[]any] {
	var rows [][]any
	for kind, list := range map[string][]snb.Organisation{"university": n.Universities, "company": n.Companies} {
		for _, o := range list {
			rows = append(rows, []any{o.ID, kind, o.Name, o.Place})
		}
	}
	return slices.Values(rows)
}

// knows returns the rows of knows, sorted.
func knows(n *snb.Network) iter.Seq[[]any] {
	var pairs []snb.Friendship
	for _, k := range n.Friendships {
		pairs = append(pairs, k, snb.Friendship{A: k.B, B: k.A, Created: k.Created})
	}
	slices.SortFunc(pairs, func(x, y snb.Friendship) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	return each(pairs, func(k *snb.Friendship, row func(...any)) { row(k.A, k.B, int64(k.Created)) })
}
