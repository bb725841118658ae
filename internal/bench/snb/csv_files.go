package snb

import "fmt"

// csvFiles are the kinds of files. A file that refers to entities stands after the file of these
// entities.
var csvFiles = []csvFile{
	{"static/place", "id|name|url|type",
		func(n *Network, line func(...any)) {
			for _, kind := range []struct {
				label string
				list  []Place
			}{{"city", n.Cities}, {"country", n.Countries}, {"continent", n.Continents}} {
				for _, p := range kind.list {
					line(p.ID, p.Name, p.URL, kind.label)
				}
			}
		},
		func(r *csvReader) error {
			p := &Place{ID: r.number(0), Name: r.text(1), URL: r.text(2), PartOf: None}
			r.places[p.ID] = p
			switch r.text(3) {
			case "city":
				r.cities = append(r.cities, p.ID)
			case "country":
				r.countries = append(r.countries, p.ID)
			case "continent":
				r.continents = append(r.continents, p.ID)
			default:
				return fmt.Errorf("a place of the type %q; expected city, country or continent", r.text(3))
			}
			return nil
		}},
	{"static/place_isPartOf_place", "Place.id|Place.id",
		func(n *Network, line func(...any)) {
			for _, list := range [][]Place{n.Cities, n.Countries} {
				for _, p := range list {
					line(p.ID, p.PartOf)
				}
			}
		},
		func(r *csvReader) error {
			p := r.places[r.number(0)]
			if p == nil || r.places[r.number(1)] == nil {
				return fmt.Errorf("place %s or %s does not exist", r.text(0), r.text(1))
			}
			p.PartOf = r.number(1)
			return nil
		}},
	{"static/organisation", "id|type|name|url",
		func(n *Network, line func(...any)) {
			for _, o := range n.Universities {
				line(o.ID, "university", o.Name, o.URL)
			}
			for _, o := range n.Companies {
				line(o.ID, "company", o.Name, o.URL)
			}
		},
		func(r *csvReader) error {
			o := &Organisation{ID: r.number(0), Name: r.text(2), URL: r.text(3)}
			r.organisations[o.ID] = o
			switch r.text(1) {
			case "university":
				r.universities = append(r.universities, o.ID)
			case "company":
				r.companies = append(r.companies, o.ID)
			default:
				return fmt.Errorf("an organisation of the type %q; expected university or company", r.text(1))
			}
			return nil
		}},
	{"static/organisation_isLocatedIn_place", "Organisation.id|Place.id",
		func(n *Network, line func(...any)) {
			for _, list := range [][]Organisation{n.Universities, n.Companies} {
				for _, o := range list {
					line(o.ID, o.Place)
				}
			}
		},
		func(r *csvReader) error {
			o := r.organisations[r.number(0)]
			if o == nil || r.places[r.number(1)] == nil {
				return fmt.Errorf("organisation %s or place %s does not exist", r.text(0), r.text(1))
			}
			o.Place = r.number(1)
			return nil
		}},
	{"static/tagclass", "id|name|url",
		func(n *Network, line func(...any)) {
			for _, c := range n.TagClasses {
				line(c.ID, c.Name, c.URL)
			}
		},
		func(r *csvReader) error {
			c := TagClass{ID: r.number(0), Name: r.text(1), URL: r.text(2), Parent: None}
			r.classes[c.ID] = len(r.network.TagClasses)
			r.network.TagClasses = append(r.network.TagClasses, c)
			return nil
		}},
	{"static/tagclass_isSubclassOf_tagclass", "TagClass.id|TagClass.id",
		func(n *Network, line func(...any)) {
			for _, c := range n.TagClasses {
				if c.Parent != None {
					line(c.ID, c.Parent)
				}
			}
		},
		func(r *csvReader) error { r.class(0).Parent = r.class(1).ID; return nil }},
	{"static/tag", "id|name|url",
		func(n *Network, line func(...any)) {
			for _, t := range n.Tags {
				line(t.ID, t.Name, t.URL)
			}
		},
		func(r *csvReader) error {
			t := Tag{ID: r.number(0), Name: r.text(1), URL: r.text(2)}
			r.tags[t.ID] = len(r.network.Tags)
			r.network.Tags = append(r.network.Tags, t)
			return nil
		}},
	{"static/tag_hasType_tagclass", "Tag.id|TagClass.id",
		func(n *Network, line func(...any)) {
			for _, t := range n.Tags {
				line(t.ID, t.Class)
			}
		},
		func(r *csvReader) error { r.tag(0).Class = r.class(1).ID; return nil }},

	{"dynamic/person", "id|firstName|lastName|gender|birthday|creationDate|locationIP|browserUsed",
		func(n *Network, line func(...any)) {
			for i := range n.Persons {
				p := &n.Persons[i]
				line(p.ID, p.FirstName, p.LastName, p.Gender, p.Birthday, p.Created, p.IP, p.Browser)
			}
		},
		func(r *csvReader) error {
			p := Person{ID: r.number(0), FirstName: r.text(1), LastName: r.text(2), Gender: r.text(3), Birthday: r.day(4),
				Created: r.millis(5), IP: r.text(6), Browser: r.text(7)}
			r.persons[p.ID] = len(r.network.Persons)
			r.network.Persons = append(r.network.Persons, p)
			return nil
		}},
	{"dynamic/person_email_emailaddress", "Person.id|email",
		func(n *Network, line func(...any)) { n.personTexts(line, func(p *Person) []string { return p.Emails }) },
		func(r *csvReader) error { p := r.person(0); p.Emails = append(p.Emails, r.text(1)); return nil }},
	{"dynamic/person_speaks_language", "Person.id|language",
		func(n *Network, line func(...any)) {
			n.personTexts(line, func(p *Person) []string { return p.Languages })
		},
		func(r *csvReader) error { p := r.person(0); p.Languages = append(p.Languages, r.text(1)); return nil }},
	{"dynamic/person_isLocatedIn_place", "Person.id|Place.id",
		func(n *Network, line func(...any)) {
			for i := range n.Persons {
				line(n.Persons[i].ID, n.Persons[i].City)
			}
		},
		func(r *csvReader) error { r.person(0).City = r.number(1); return nil }},
	{"dynamic/person_hasInterest_tag", "Person.id|Tag.id",
		func(n *Network, line func(...any)) {
			for i := range n.Persons {
				for _, t := range n.Persons[i].Interests {
					line(n.Persons[i].ID, t)
				}
			}
		},
		func(r *csvReader) error { p := r.person(0); p.Interests = append(p.Interests, r.tag(1).ID); return nil }},
	{"dynamic/person_studyAt_organisation", "Person.id|Organisation.id|classYear",
		func(n *Network, line func(...any)) {
			n.positions(line, func(p *Person) []Position { return p.Studies })
		},
		func(r *csvReader) error {
			p := r.person(0)
			p.Studies = append(p.Studies, Position{r.number(1), r.number(2)})
			return nil
		}},
	{"dynamic/person_workAt_organisation", "Person.id|Organisation.id|workFrom",
		func(n *Network, line func(...any)) { n.positions(line, func(p *Person) []Position { return p.Jobs }) },
		func(r *csvReader) error {
			p := r.person(0)
			p.Jobs = append(p.Jobs, Position{r.number(1), r.number(2)})
			return nil
		}},
	{"dynamic/person_knows_person", "Person.id|Person.id|creationDate",
		func(n *Network, line func(...any)) {
			for _, k := range n.Friendships {
				line(k.A, k.B, k.Created)
			}
		},
		func(r *csvReader) error {
			r.network.Friendships = append(r.network.Friendships, Friendship{r.person(0).ID, r.person(1).ID, r.millis(2)})
			return nil
		}},

	{"dynamic/forum", "id|title|creationDate",
		func(n *Network, line func(...any)) {
			for i := range n.Forums {
				line(n.Forums[i].ID, n.Forums[i].Title, n.Forums[i].Created)
			}
		},
		func(r *csvReader) error {
			f := Forum{ID: r.number(0), Title: r.text(1), Created: r.millis(2)}
			r.forums[f.ID] = len(r.network.Forums)
			r.network.Forums = append(r.network.Forums, f)
			return nil
		}},
	{"dynamic/forum_hasModerator_person", "Forum.id|Person.id",
		func(n *Network, line func(...any)) {
			for i := range n.Forums {
				line(n.Forums[i].ID, n.Forums[i].Moderator)
			}
		},
		func(r *csvReader) error { r.forum(0).Moderator = r.person(1).ID; return nil }},
	{"dynamic/forum_hasTag_tag", "Forum.id|Tag.id",
		func(n *Network, line func(...any)) {
			for i := range n.Forums {
				for _, t := range n.Forums[i].Tags {
					line(n.Forums[i].ID, t)
				}
			}
		},
		func(r *csvReader) error { f := r.forum(0); f.Tags = append(f.Tags, r.tag(1).ID); return nil }},
	{"dynamic/forum_hasMember_person", "Forum.id|Person.id|joinDate",
		func(n *Network, line func(...any)) {
			for _, m := range n.Members {
				line(m.Forum, m.Person, m.Joined)
			}
		},
		func(r *csvReader) error {
			r.network.Members = append(r.network.Members, Member{r.forum(0).ID, r.person(1).ID, r.millis(2)})
			return nil
		}},

	{"dynamic/post", "id|imageFile|creationDate|locationIP|browserUsed|language|content|length",
		func(n *Network, line func(...any)) {
			n.messages(true, func(m *Message) {
				line(m.ID, m.Image, m.Created, m.IP, m.Browser, m.Language, m.Content, m.Length)
			})
		},
		func(r *csvReader) error {
			return r.addMessage(Message{ID: r.number(0), Post: true, Image: r.text(1), Created: r.millis(2), IP: r.text(3), Browser: r.text(4),
				Language: r.text(5), Content: r.text(6), Length: r.number(7), Forum: None, ReplyOf: None})
		}},
	{"dynamic/comment", "id|creationDate|locationIP|browserUsed|content|length",
		func(n *Network, line func(...any)) {
			n.messages(false, func(m *Message) { line(m.ID, m.Created, m.IP, m.Browser, m.Content, m.Length) })
		},
		func(r *csvReader) error {
			return r.addMessage(Message{ID: r.number(0), Created: r.millis(1), IP: r.text(2), Browser: r.text(3),
				Content: r.text(4), Length: r.number(5), Forum: None, ReplyOf: None})
		}},
	{"dynamic/forum_containerOf_post", "Forum.id|Post.id",
		func(n *Network, line func(...any)) { n.messages(true, func(m *Message) { line(m.Forum, m.ID) }) },
		func(r *csvReader) error { r.message(1).Forum = r.forum(0).ID; return nil }},
	{"dynamic/comment_replyOf_post", "Comment.id|Post.id",
		func(n *Network, line func(...any)) { n.replies(true, line) },
		func(r *csvReader) error { r.message(0).ReplyOf = r.message(1).ID; return nil }},
	{"dynamic/comment_replyOf_comment", "Comment.id|Comment.id",
		func(n *Network, line func(...any)) { n.replies(false, line) },
		func(r *csvReader) error { r.message(0).ReplyOf = r.message(1).ID; return nil }},
	{"dynamic/post_hasCreator_person", "Post.id|Person.id", writeCreators(true), readCreator},
	{"dynamic/comment_hasCreator_person", "Comment.id|Person.id", writeCreators(false), readCreator},
	{"dynamic/post_isLocatedIn_place", "Post.id|Place.id", writeCountries(true), readCountry},
	{"dynamic/comment_isLocatedIn_place", "Comment.id|Place.id", writeCountries(false), readCountry},
	{"dynamic/post_hasTag_tag", "Post.id|Tag.id", writeTags(true), readTag},
	{"dynamic/comment_hasTag_tag", "Comment.id|Tag.id", writeTags(false), readTag},
	{"dynamic/person_likes_post", "Person.id|Post.id|creationDate",
		func(n *Network, line func(...any)) { n.likesOf(true, line) }, readLike},
	{"dynamic/person_likes_comment", "Person.id|Comment.id|creationDate",
		func(n *Network, line func(...any)) { n.likesOf(false, line) }, readLike},
}

// personTexts writes a line for each text of each person.
func (n *Network) personTexts(line func(...any), texts func(*Person) []string) {
	for i := range n.Persons {
		for _, s := range texts(&n.Persons[i]) {
			line(n.Persons[i].ID, s)
		}
	}
}

// positions writes a line for each position of each person.
func (n *Network) positions(line func(...any), of func(*Person) []Position) {
	for i := range n.Persons {
		for _, p := range of(&n.Persons[i]) {
			line(n.Persons[i].ID, p.Organisation, p.Year)
		}
	}
}

// messages calls each for the posts, or for the comments.
func (n *Network) messages(posts bool, each func(*Message)) {
	for i := range n.Messages {
		if m := &n.Messages[i]; m.Post == posts {
			each(m)
		}
	}
}

// isPost returns the set of the ids of all posts.
func (n *Network) isPost() map[int64]bool {
	posts := map[int64]bool{}
	n.messages(true, func(m *Message) { posts[m.ID] = true })
	return posts
}

// replies writes the comments on posts, or those on comments, each with the message that it answers.
func (n *Network) replies(onPosts bool, line func(...any)) {
	posts := n.isPost()
	n.messages(false, func(m *Message) {
		if posts[m.ReplyOf] == onPosts {
			line(m.ID, m.ReplyOf)
		}
	})
}

// likesOf writes the likes of posts, or those of comments.
func (n *Network) likesOf(ofPosts bool, line func(...any)) {
	posts := n.isPost()
	for _, l := range n.Likes {
		if posts[l.Message] == ofPosts {
			line(l.Person, l.Message, l.Created)
		}
	}
}

func writeCreators(posts bool) func(*Network, func(...any)) {
	return func(n *Network, line func(...any)) {
		n.messages(posts, func(m *Message) { line(m.ID, m.Creator) })
	}
}

func writeCountries(posts bool) func(*Network, func(...any)) {
	return func(n *Network, line func(...any)) {
		n.messages(posts, func(m *Message) { line(m.ID, m.Country) })
	}
}

func writeTags(posts bool) func(*Network, func(...any)) {
	return func(n *Network, line func(...any)) {
		n.messages(posts, func(m *Message) {
			for _, t := range m.Tags {
				line(m.ID, t)
			}
		})
	}
}

// addMessage adds a message.
func (r *csvReader) addMessage(m Message) error {
	if _, ok := r.messages[m.ID]; ok {
		return fmt.Errorf("message %d occurs twice", m.ID)
	}
	r.messages[m.ID] = len(r.network.Messages)
	r.network.Messages = append(r.network.Messages, m)
	return nil
}

func readCreator(r *csvReader) error { r.message(0).Creator = r.person(1).ID; return nil }

func readCountry(r *csvReader) error { r.message(0).Country = r.number(1); return nil }

func readTag(r *csvReader) error {
	m := r.message(0)
	m.Tags = append(m.Tags, r.tag(1).ID)
	return nil
}

func readLike(r *csvReader) error {
	r.network.Likes = append(r.network.Likes, Like{r.person(0).ID, r.message(1).ID, r.millis(2)})
	return nil
}
