// Package guide explains a graph and the query language with names from the graph's own schema:
// the language by topic, types, the operators that properties take, and paths between types.
package guide

import (
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// Topic is a part of the language.
type Topic struct {
	Name    string
	Summary string // one line

	text  string    // explanation, the same for every schema
	cases []example // the examples
	own   []example // further examples, only for a schema that has what they show
}

// Page is a topic explained with the names of a schema.
type Page struct {
	Name     string
	Summary  string // one line
	Text     string // explanation, the same for every schema
	Examples []Example
}

// Example is a query that shows one construct.
type Example struct {
	Title string // the name of the construct
	Query string // the text of the query
	// Schema is the text of the made-up schema that the query is written for, when the graph's
	// own schema lacks a type or property for the construct. Otherwise it is empty.
	Schema string
}

// Topics lists the topics in the order in which to learn them.
func Topics() []Topic { return topics }

// Explain returns the page of the topic with the given name, or nil if there is no such topic.
func Explain(s *catalog.Schema, name string) *Page {
	for i := range topics {
		if topics[i].Name == name {
			return topics[i].page(s)
		}
	}
	return nil
}

// String renders the page as Markdown.
func (p *Page) String() string {
	var b strings.Builder
	b.WriteString("# " + p.Name + "\n\n" + p.Summary + "\n\n" + p.Text + "\n")
	for _, e := range p.Examples {
		b.WriteString("\n" + e.Title + ":\n\n" + fenced(e.Query))
		if e.Schema != "" {
			b.WriteString("\nThis graph has no suitable types, so the example uses a graph with this schema:\n\n" + fenced(e.Schema))
		}
	}
	return b.String()
}

// Own returns the page with only the examples that are written for the graph's own schema.
func (p *Page) Own() *Page {
	own := *p
	own.Examples = nil
	for _, e := range p.Examples {
		if e.Schema == "" {
			own.Examples = append(own.Examples, e)
		}
	}
	return &own
}

// Reference renders all topics as one Markdown text.
func Reference(s *catalog.Schema) string {
	var b strings.Builder
	for i := range topics {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(topics[i].page(s).String())
	}
	return b.String()
}

// example makes a query from the names of a schema. The function `query` returns "" when the schema
// has no name for the construct.
type example struct {
	title string                         // the name of the construct
	query func(s *catalog.Schema) string // returns the text of the query
}

// page makes the examples of the topic for a schema.
func (t *Topic) page(s *catalog.Schema) *Page {
	p := &Page{Name: t.Name, Summary: t.Summary, Text: t.text}
	for _, c := range t.cases {
		e := Example{Title: c.title, Query: c.query(s)}
		if e.Query == "" {
			e.Query, e.Schema = c.query(madeUp()), madeUpSource
		}
		p.Examples = append(p.Examples, e)
	}
	for _, c := range t.own {
		if text := c.query(s); text != "" {
			p.Examples = append(p.Examples, Example{Title: c.title, Query: text})
		}
	}
	return p
}

// fenced returns the text in a fenced block.
func fenced(text string) string { return "```\n" + strings.TrimRight(text, "\n") + "\n```\n" }

// madeUpSource is a schema for which every example can be written.
const madeUpSource = `node Person {
  name: String @key
  age: I32?
  born: Date?
  mood: enum(good, bad)?
  tags: [String]?
  bio: String?
  face: Vector(3)?
}
node Company { name: String @key }
edge Knows: Person -> Person { since: Date? }
edge WorksAt: Person -> Company
`

// madeUp returns the schema of madeUpSource.
var madeUp = sync.OnceValue(func() *catalog.Schema {
	tree, faults := syntax.ParseSchema("example.pg", madeUpSource)
	s, more := resolve.Schema(tree)
	if err := append(faults, more...).Err(); err != nil {
		panic(err) // the text is a constant, and a test compiles it
	}
	return s
})
