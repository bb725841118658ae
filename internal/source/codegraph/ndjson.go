package codegraph

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"io"
	"time"
)

// node and edge are the NDJSON forms that a load accepts.
type node struct {
	Type string `json:"type"` // name of the node type
	Data any    `json:"data"` // properties
}

// edge is the NDJSON form of an edge.
type edge struct {
	Edge string   `json:"edge"` // name of the edge type
	From string   `json:"from"` // key of the node where the edge starts
	To   string   `json:"to"`   // key of the node where the edge ends
	Data edgeData `json:"data"`
}

// edgeData has the properties of an edge, in the order of their names. Most lines are of edges and symbols, so that these are
// structs: a map takes several times as long to encode.
type edgeData struct {
	Count    int    `json:"count,omitempty"`
	ID       string `json:"id"`
	Indirect *bool  `json:"indirect,omitempty"`
}

// symbolData has the properties of a symbol, in the order of their names.
type symbolData struct {
	Doc       *string `json:"doc"`
	Exported  bool    `json:"exported"`
	External  bool    `json:"external"`
	Kind      Kind    `json:"kind"`
	Line      int     `json:"line"`
	Name      string  `json:"name"`
	Path      string  `json:"path"`
	Signature *string `json:"signature"`
	Test      bool    `json:"test"`
	Words     string  `json:"words"`
}

// WriteNDJSON writes the graph as NDJSON that a load accepts, one entity per line: nodes, then
// edges. The id of an edge is a function of its name and endpoints, so reading the same code again
// gives the same graph. WriteNDJSON returns the number of lines.
func (g *Graph) WriteNDJSON(w io.Writer) (lines int, err error) {
	bw := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(bw)
	enc.SetEscapeHTML(false)
	g.each(func(_, _ string, v any) {
		if err == nil {
			err = enc.Encode(v)
			lines++
		}
	})
	if err == nil {
		err = bw.Flush()
	}
	return lines, err
}

// Lines returns the lines that [Graph.WriteNDJSON] writes, in the same order, and what each is about.
func (g *Graph) Lines() ([]Line, error) {
	var all []Line
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	var err error
	g.each(func(name, id string, v any) {
		if err == nil {
			text.Reset()
			err = enc.Encode(v)
			_, isEdge := v.(edge)
			all = append(all, Line{About{name, id, isEdge}, text.String()})
		}
	})
	return all, err
}

// Line is a line of NDJSON.
type Line struct {
	About
	Text string // with the end of the line
}

// About says which node or edge a line is about.
type About struct {
	Type   string
	ID     string // the key of a node, or the id of an edge
	IsEdge bool
}

// each calls emit for each node and then for each edge, with the name of its type and its id.
func (g *Graph) each(emit func(name, id string, v any)) {
	for _, m := range g.Modules {
		emit("Module", m.Path, node{"Module", m.properties()})
	}
	for _, p := range g.Packages {
		emit("Package", p.Path, node{"Package", map[string]any{"path": p.Path, "name": p.Name, "doc": optional(p.Doc), "files": p.Files, "lines": p.Lines}})
	}
	for _, f := range g.Files {
		data := map[string]any{"path": f.Path, "lines": f.Lines, "test": f.Test}
		if f.Stamp != "" {
			data["digest"], data["stamp"] = f.Digest, f.Stamp
		}
		emit("File", f.Path, node{"File", data})
	}
	for i := range g.Symbols {
		s := &g.Symbols[i]
		data := &symbolData{
			Exported: s.Exported, External: s.External, Kind: s.Kind, Line: s.Line, Name: s.Name, Path: s.Path, Test: s.Test, Words: s.Words,
		}
		if s.Doc != "" {
			data.Doc = &s.Doc
		}
		if s.Signature != "" {
			data.Signature = &s.Signature
		}
		emit("Symbol", s.Path, node{"Symbol", data})
	}
	link := func(name string, l Link, data edgeData) {
		data.ID = edgeID(name, l)
		emit(name, data.ID, edge{name, l.From, l.To, data})
	}
	for _, r := range g.Requires {
		link("Requires", r.Link, edgeData{Indirect: &r.Indirect})
	}
	for _, kind := range []struct {
		name  string
		links []Link
	}{{"Provides", g.Provides}, {"Imports", g.Imports}, {"Declares", g.Declares}, {"Holds", g.Holds},
		{"Satisfies", g.Satisfies}, {"Dispatches", g.Dispatches()}, {"MethodOf", g.MethodOf}} {
		for _, l := range kind.links {
			link(kind.name, l, edgeData{})
		}
	}
	for _, kind := range []struct {
		name    string
		counted []Counted
	}{{"Calls", g.Calls}, {"Refers", g.Refers}} {
		for _, c := range kind.counted {
			link(kind.name, c.Link, edgeData{Count: c.Count})
		}
	}
}

// properties returns the properties of the node of a module. Only a module that was read has the
// properties that describe the reading.
func (m Module) properties() map[string]any {
	data := map[string]any{"path": m.Path, "version": optional(m.Version), "main": m.Main}
	if !m.Main {
		return data
	}
	data["indexer"] = optional(m.Indexer)
	data["commit"] = optional(m.Commit)
	if m.Folder != "" {
		data["folder"], data["read_at"] = m.Folder, m.ReadAt.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
	}
	data["modified"], data["not_covered"] = nil, nil // a patch leaves what is not mentioned
	if m.Modified != nil {
		data["modified"] = *m.Modified
	}
	if m.NotCovered != nil {
		data["not_covered"] = m.NotCovered
	}
	return data
}

// optional returns s, or nil if s is empty.
func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// edgeID returns 26 base32 characters, the length of a ULID: the first 130 bits of the SHA-256 of
// the edge's name and endpoints.
func edgeID(name string, l Link) string {
	sum := sha256.Sum256([]byte(name + "\x00" + l.From + "\x00" + l.To))
	return base32.StdEncoding.EncodeToString(sum[:])[:26]
}
