package snb

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
)

// WriteNDJSON writes the network as NDJSON that the engine loads: one line per node and per edge,
// nodes first.
func (n *Network) WriteNDJSON(to io.Writer) error {
	w := &ndjson{out: bufio.NewWriterSize(to, 1<<20)}
	for _, places := range []struct {
		label string
		list  []Place
	}{{"Continent", n.Continents}, {"Country", n.Countries}, {"City", n.Cities}} {
		for _, p := range places.list {
			w.node(places.label, p.ID).text("name", p.Name).text("url", p.URL).end()
		}
	}
	for _, organisations := range []struct {
		label string
		list  []Organisation
	}{{"University", n.Universities}, {"Company", n.Companies}} {
		for _, o := range organisations.list {
			w.node(organisations.label, o.ID).text("name", o.Name).text("url", o.URL).end()
		}
	}
	for _, c := range n.TagClasses {
		w.node("TagClass", c.ID).text("name", c.Name).text("url", c.URL).end()
	}
	for _, t := range n.Tags {
		w.node("Tag", t.ID).text("name", t.Name).text("url", t.URL).end()
	}
	for i := range n.Persons {
		p := &n.Persons[i]
		w.node("Person", p.ID).text("firstName", p.FirstName).text("lastName", p.LastName).text("gender", p.Gender).
			text("birthday", p.Birthday.String()).time("creationDate", p.Created).text("locationIP", p.IP).
			text("browserUsed", p.Browser).texts("emails", p.Emails).texts("speaks", p.Languages).end()
	}
	for i := range n.Forums {
		f := &n.Forums[i]
		w.node("Forum", f.ID).text("title", f.Title).time("creationDate", f.Created).end()
	}
	for i := range n.Messages {
		m := &n.Messages[i]
		kind := "comment"
		if m.Post {
			kind = "post"
		}
		w.node("Message", m.ID).text("kind", kind).time("creationDate", m.Created).text("locationIP", m.IP).text("browserUsed", m.Browser).
			given("language", m.Language).given("content", m.Content).given("imageFile", m.Image).number("length", m.Length).end()
	}
	n.writeEdges(w)
	return w.out.Flush()
}

// writeEdges writes the edges.
func (n *Network) writeEdges(w *ndjson) {
	for _, c := range n.Countries {
		w.edge("CountryOf", c.ID, c.PartOf).end()
	}
	for _, c := range n.Cities {
		w.edge("CityOf", c.ID, c.PartOf).end()
	}
	for _, u := range n.Universities {
		w.edge("UniversityIn", u.ID, u.Place).end()
	}
	for _, c := range n.Companies {
		w.edge("CompanyIn", c.ID, c.Place).end()
	}
	for _, c := range n.TagClasses {
		if c.Parent != None {
			w.edge("SubclassOf", c.ID, c.Parent).end()
		}
	}
	for _, t := range n.Tags {
		w.edge("HasType", t.ID, t.Class).end()
	}
	for i := range n.Persons {
		p := &n.Persons[i]
		w.edge("LivesIn", p.ID, p.City).end()
		for _, t := range p.Interests {
			w.edge("HasInterest", p.ID, t).end()
		}
		for _, s := range p.Studies {
			w.edge("StudyAt", p.ID, s.Organisation).number("classYear", s.Year).end()
		}
		for _, j := range p.Jobs {
			w.edge("WorkAt", p.ID, j.Organisation).number("workFrom", j.Year).end()
		}
	}
	for _, k := range n.Friendships {
		w.edge("Knows", k.A, k.B).time("creationDate", k.Created).end()
	}
	for i := range n.Forums {
		f := &n.Forums[i]
		w.edge("HasModerator", f.ID, f.Moderator).end()
		for _, t := range f.Tags {
			w.edge("ForumTag", f.ID, t).end()
		}
	}
	for _, m := range n.Members {
		w.edge("HasMember", m.Forum, m.Person).time("joinDate", m.Joined).end()
	}
	for i := range n.Messages {
		m := &n.Messages[i]
		w.edge("HasCreator", m.ID, m.Creator).end()
		w.edge("SentFrom", m.ID, m.Country).end()
		if m.Post {
			w.edge("ContainerOf", m.Forum, m.ID).end()
		} else {
			w.edge("ReplyOf", m.ID, m.ReplyOf).end()
		}
		for _, t := range m.Tags {
			w.edge("HasTag", m.ID, t).end()
		}
	}
	for _, l := range n.Likes {
		w.edge("Likes", l.Person, l.Message).time("creationDate", l.Created).end()
	}
}

// ndjson writes lines. The buffered writer keeps its first error until Flush.
type ndjson struct {
	out  *bufio.Writer
	line []byte // the line in progress
	data bool   // whether the line has an open object of properties
}

// node begins the line of a node.
func (w *ndjson) node(label string, id int64) *ndjson {
	w.line = append(append(append(w.line[:0], `{"type":"`...), label...), `","data":{"id":`...)
	w.line, w.data = strconv.AppendInt(w.line, id, 10), true
	return w
}

// edge begins the line of an edge.
func (w *ndjson) edge(label string, from, to int64) *ndjson {
	w.line = append(append(append(w.line[:0], `{"edge":"`...), label...), `","from":"`...)
	w.line = append(strconv.AppendInt(w.line, from, 10), `","to":"`...)
	w.line, w.data = append(strconv.AppendInt(w.line, to, 10), '"'), false
	return w
}

// name begins a property.
func (w *ndjson) name(name string) {
	if w.data {
		w.line = append(w.line, ',')
	} else {
		w.line, w.data = append(w.line, `,"data":{`...), true
	}
	w.line = append(append(append(w.line, '"'), name...), `":`...)
}

// text adds a String.
func (w *ndjson) text(name, s string) *ndjson {
	w.name(name)
	w.line = appendJSON(w.line, s)
	return w
}

// given adds a String unless it is empty.
func (w *ndjson) given(name, s string) *ndjson {
	if s != "" {
		w.text(name, s)
	}
	return w
}

// texts adds a list of Strings.
func (w *ndjson) texts(name string, list []string) *ndjson {
	w.name(name)
	w.line = append(w.line, '[')
	for i, s := range list {
		if i > 0 {
			w.line = append(w.line, ',')
		}
		w.line = appendJSON(w.line, s)
	}
	w.line = append(w.line, ']')
	return w
}

// number adds an integer.
func (w *ndjson) number(name string, v int64) *ndjson {
	w.name(name)
	w.line = strconv.AppendInt(w.line, v, 10)
	return w
}

// time adds a DateTime.
func (w *ndjson) time(name string, t Millis) *ndjson {
	w.name(name)
	w.line = append(t.Time().AppendFormat(append(w.line, '"'), "2006-01-02T15:04:05.000Z"), '"')
	return w
}

// end ends the line and writes it.
func (w *ndjson) end() {
	if w.data {
		w.line = append(w.line, '}')
	}
	w.line = append(w.line, "}\n"...)
	_, _ = w.out.Write(w.line)
}

// appendJSON appends a String as JSON.
func appendJSON(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string always has a JSON form
			}
			return append(to, quoted...)
		}
	}
	return append(append(append(to, '"'), s...), '"')
}
