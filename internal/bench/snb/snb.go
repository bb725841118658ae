// Package snb has the network of the Social Network Benchmark (Interactive, version 1): its schema,
// its reads, updates and counts as stored queries, a generator of networks of that form, and a
// reader and a writer of the benchmark's CSV files.
package snb

import (
	"embed"
	"fmt"
	"slices"
)

// Schema is the text of the graph's schema.
//
//go:embed schema.pg
var Schema string

//go:embed queries/*.gq
var queries embed.FS

// Queries returns the texts of the stored queries by file name. The queries ic1 to ic13 are complex
// reads, is1 to is7 short reads, iu1 to iu8 updates, and lsqb1 to lsqb9 counts.
func Queries() (map[string]string, error) {
	files, err := queries.ReadDir("queries")
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(files))
	for _, f := range files {
		text, err := queries.ReadFile("queries/" + f.Name())
		if err != nil {
			return nil, err
		}
		out[f.Name()] = string(text)
	}
	return out, nil
}

// Network is a social network. The elements of each slice have the order of the CSV files.
type Network struct {
	Continents, Countries, Cities []Place
	Universities, Companies       []Organisation
	TagClasses                    []TagClass
	Tags                          []Tag
	Persons                       []Person
	Friendships                   []Friendship
	Forums                        []Forum
	Members                       []Member
	Messages                      []Message
	Likes                         []Like
}

// None stands for an id that is absent.
const None int64 = -1

// Place is a city, a country or a continent.
type Place struct {
	ID        int64
	Name, URL string
	PartOf    int64 // the country of a city, the continent of a country; None for a continent
}

// Organisation is a university or a company.
type Organisation struct {
	ID        int64
	Name, URL string
	Place     int64 // the city of a university, the country of a company
}

// TagClass is a class of tags. Classes form a tree.
type TagClass struct {
	ID        int64
	Name, URL string
	Parent    int64 // None for the root
}

// Tag is a topic.
type Tag struct {
	ID        int64
	Name, URL string
	Class     int64
}

// Person is a member of the network.
type Person struct {
	ID                          int64
	FirstName, LastName, Gender string
	Birthday                    Day
	Created                     Millis
	IP, Browser                 string
	City                        int64
	Emails, Languages           []string
	Interests                   []int64 // tags
	Studies, Jobs               []Position
}

// Position is a time at an organisation.
type Position struct {
	Organisation int64
	Year         int64 // the year of the class, or the first year of work
}

// Friendship is a mutual acquaintance. Each pair of persons has at most one.
type Friendship struct {
	A, B    int64
	Created Millis
}

// Forum contains posts.
type Forum struct {
	ID        int64
	Title     string
	Created   Millis
	Moderator int64
	Tags      []int64
}

// Member says that a person belongs to a forum.
type Member struct {
	Forum, Person int64
	Joined        Millis
}

// Message is a post or a comment.
type Message struct {
	ID                       int64
	Post                     bool
	Created                  Millis
	IP, Browser              string
	Language, Content, Image string // "" if absent
	Length                   int64
	Creator, Country         int64
	Forum                    int64 // of a post; None for a comment
	ReplyOf                  int64 // of a comment, the message that it answers; None for a post
	Tags                     []int64
}

// Like says that a person likes a message. A person likes a message at most once.
type Like struct {
	Person, Message int64
	Created         Millis
}

// Entities returns the number of nodes and edges that the network has as a graph.
func (n *Network) Entities() int {
	sum := len(n.Continents) + 2*(len(n.Countries)+len(n.Cities)+len(n.Universities)+len(n.Companies)+len(n.Tags)) +
		2*len(n.TagClasses) - 1 + 2*len(n.Persons) + len(n.Friendships) + 2*len(n.Forums) + len(n.Members) +
		4*len(n.Messages) + len(n.Likes)
	for _, p := range n.Persons {
		sum += len(p.Interests) + len(p.Studies) + len(p.Jobs)
	}
	for _, f := range n.Forums {
		sum += len(f.Tags)
	}
	for _, m := range n.Messages {
		sum += len(m.Tags)
	}
	return sum
}

// String returns the size of the network.
func (n *Network) String() string {
	posts := 0
	for i := range n.Messages {
		if n.Messages[i].Post {
			posts++
		}
	}
	return fmt.Sprintf("%d persons, %d friendships, %d forums with %d members, %d posts, %d comments, %d likes, %d tags; %d nodes and edges",
		len(n.Persons), len(n.Friendships), len(n.Forums), len(n.Members), posts, len(n.Messages)-posts, len(n.Likes), len(n.Tags), n.Entities())
}

// Until returns the instant such that the fraction f of all messages was sent before it.
func (n *Network) Until(f float64) Millis {
	times := make([]Millis, len(n.Messages))
	for i := range n.Messages {
		times[i] = n.Messages[i].Created
	}
	slices.Sort(times)
	return times[min(int(f*float64(len(times))), len(times)-1)]
}
