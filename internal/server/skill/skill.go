// Package skill writes the skill of a graph: a folder with SKILL.md and reference files, which teaches
// an agent how to use the graph's tools. The format is that of Agent Skills. The files depend on the
// schema, on the stored queries and on the tools that the reader may use, and on nothing else. In
// particular, no commit changes them, so an approval that a user gave to the files stays valid.
package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/guide"
)

// Main is the path of the file that every skill begins with.
const Main = "SKILL.md"

// The limits of names and descriptions in the format of Agent Skills, in bytes.
const (
	maxName        = 64
	maxDescription = 1024
)

// maxFile is the size in bytes at which a reference is divided into several files. An agent reads a
// file as a whole. A file can be larger only if one query or one type is.
const maxFile = 32 << 10

// Graph is what the author of a skill knows of a graph.
type Graph struct {
	ID           string   // of the graph
	Instructions string   // how to begin, in sentences
	Queries      []*Query // in source order

	// Schema and Source are the compiled schema and its text. If Schema is nil, the reader may not
	// read the graph, so the skill has no types and does not explain the language.
	Schema *catalog.Schema
	Source string
}

// Query is a stored query in a skill.
type Query struct {
	Name        string
	Call        string // the tool and its arguments, such as find_person {"params":{"name":"<String>"}}
	Title       string
	Description string
	Instruction string   // text of @instruction, or ""
	Questions   []string // texts of @question
	Mutation    bool     // the query writes
	Params      []Param
}

// Param is a parameter of a query.
type Param struct {
	Name        string
	Type        string // as the language writes it, without ?
	Optional    bool
	Description string
	Default     string // JSON, or ""
	Range       string // such as 1..100, or ""
}

// Skill is the skill of a graph.
type Skill struct {
	Name        string // also the name of the folder
	Description string
	Files       []File // Main is the first; no path occurs twice
}

// File is a file of a skill.
type File struct {
	Path string // relative to the folder of the skill, with slashes
	Text []byte // UTF-8
}

// Digest returns the SHA-256 digest of the text in the form sha256:<hex>.
func (f *File) Digest() string {
	sum := sha256.Sum256(f.Text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// File returns the file with a path, or nil if the skill has none.
func (s *Skill) File(path string) *File {
	for i := range s.Files {
		if s.Files[i].Path == path {
			return &s.Files[i]
		}
	}
	return nil
}

// Write returns the skill of a graph.
func Write(g *Graph) *Skill {
	s := &Skill{Name: nameOf(g.ID), Description: describe(g)}
	var refs []reference
	if len(g.Queries) > 0 {
		sections := make([]string, len(g.Queries))
		for i, q := range g.Queries {
			sections[i] = q.section()
		}
		refs = append(refs, s.add("queries", "# Stored queries\n\n", "every stored query with its parameters and how to call it", "", sections)...)
	}
	if g.Source != "" {
		refs = append(refs, s.add("schema", "# Schema\n\nThe source of the schema on main.\n\n~~~\n", "the source of the schema: properties, keys and constraints", "~~~\n", paragraphs(g.Source))...)
	}
	if g.Schema != nil {
		for _, t := range guide.Topics() {
			path := "references/gq-" + t.Name + ".md"
			s.Files = append(s.Files, File{path, []byte(guide.Explain(g.Schema, t.Name).String())})
			refs = append(refs, reference{path, "the query language: " + lowerFirst(strings.TrimSuffix(t.Summary, "."))})
		}
	}
	s.Files = slices.Insert(s.Files, 0, File{Main, []byte(s.main(g, refs))})
	return s
}

// reference is a line of SKILL.md that names a reference file.
type reference struct{ path, about string }

// add adds a reference, in as many files as its sections need. Each file begins with `head` and ends
// with `tail`.
func (s *Skill) add(name, head, about, tail string, sections []string) (refs []reference) {
	var parts []string
	text := head
	for _, section := range sections {
		if len(text) > len(head) && len(text)+len(section)+len(tail) > maxFile {
			parts = append(parts, text+tail)
			text = head
		}
		text += section
	}
	parts = append(parts, text+tail)
	for i, part := range parts {
		path, of := "references/"+name+".md", ""
		if len(parts) > 1 {
			path = fmt.Sprintf("references/%s-%d.md", name, i+1)
			of = fmt.Sprintf(", part %d of %d", i+1, len(parts))
		}
		s.Files = append(s.Files, File{path, []byte(part)})
		refs = append(refs, reference{path, about + of})
	}
	return refs
}

// main returns the text of SKILL.md.
func (s *Skill) main(g *Graph, refs []reference) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nname: %s\ndescription: %s\n---\n\n", s.Name, quoted(s.Description))
	fmt.Fprintf(&b, "# The graph %s\n\n%s\n", g.ID, g.Instructions)
	if g.Schema != nil {
		b.WriteString("\n## Types\n\n")
		for _, n := range g.Schema.Nodes {
			b.WriteString("- `" + n.Name + "`" + about(n.Description) + "\n")
		}
		for _, e := range g.Schema.Edges {
			b.WriteString("- `" + e.Name + ": " + e.From + " -> " + e.To + "`" + about(e.Description) + "\n")
		}
	}
	if len(g.Queries) > 0 {
		b.WriteString("\n## Stored queries\n\n")
		for _, q := range g.Queries {
			b.WriteString("- `" + q.Name + "`" + about(firstSentence(q.Description)) + "\n")
		}
	}
	if len(refs) > 0 {
		b.WriteString("\n## References\n\nRead a file when you need it.\n\n")
		for _, r := range refs {
			b.WriteString("- [" + r.path + "](" + r.path + "): " + r.about + "\n")
		}
	}
	return b.String()
}

// section returns the section about the query in a reference file.
func (q *Query) section() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", q.Name)
	title := ""
	if !strings.EqualFold(q.Title, strings.ReplaceAll(q.Name, "_", " ")) { // the default title says no more than the name
		title = sentence(q.Title)
	}
	for _, text := range []string{title, q.Description, q.Instruction} {
		if text != "" {
			b.WriteString(text + "\n\n")
		}
	}
	if q.Mutation {
		b.WriteString("It writes: each call is one commit.\n\n")
	}
	b.WriteString("    " + q.Call + "\n\n")
	for _, p := range q.Params {
		b.WriteString("- `" + p.Name + "`: " + p.Type)
		if p.Optional {
			b.WriteString(", optional")
		}
		if p.Default != "" {
			b.WriteString(", default " + p.Default)
		}
		if p.Range != "" {
			b.WriteString(", " + p.Range)
		}
		if p.Description != "" {
			b.WriteString(". " + oneLine(p.Description))
		}
		b.WriteString("\n")
	}
	if len(q.Params) > 0 {
		b.WriteString("\n")
	}
	if len(q.Questions) > 0 {
		b.WriteString("It answers questions such as:\n\n")
		for _, question := range q.Questions {
			b.WriteString("- " + oneLine(question) + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// describe returns the description of a skill, from which an agent decides whether to read it.
func describe(g *Graph) string {
	text := "How to use the graph " + g.ID + " over MCP"
	switch n := len(g.Queries); {
	case n == 1:
		text += ", with its stored query"
	case n > 1:
		text += fmt.Sprintf(", with its %d stored queries", n)
	}
	text += "."
	if g.Schema == nil || len(g.Schema.Nodes) == 0 {
		return text
	}
	const end = "."
	more := " Use it for questions about "
	for i, n := range g.Schema.Nodes {
		name := n.Name
		if i > 0 {
			name = ", " + name
		}
		if len(text)+len(more)+len(name)+len(" and others"+end) > maxDescription {
			return text + more + " and others" + end
		}
		more += name
	}
	return text + more + end
}

// nameOf returns the name of the skill for the id of a graph. The format allows lower-case letters,
// digits and single hyphens.
func nameOf(graph string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(graph) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := b.String()
	name = strings.Trim(name[:min(len(name), maxName)], "-")
	if name == "" {
		return "graph"
	}
	return name
}

// paragraphs splits a source after each blank line, and ends it with a line break.
func paragraphs(source string) []string {
	return strings.SplitAfter(strings.TrimRight(source, "\n")+"\n", "\n\n")
}

// about returns the rest of a line about something: a colon and the text, or nothing.
func about(text string) string {
	if text == "" {
		return ""
	}
	return ": " + oneLine(text)
}

// firstSentence returns the first sentence of a text.
func firstSentence(text string) string {
	text = oneLine(text)
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

// sentence ends a title with a period.
func sentence(title string) string {
	if title == "" || strings.HasSuffix(title, ".") {
		return title
	}
	return title + "."
}

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// lowerFirst returns the text with its first letter in lower case.
func lowerFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// quoted returns a text as a JSON string, which is also a string of YAML.
func quoted(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
