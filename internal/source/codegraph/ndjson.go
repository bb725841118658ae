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
	Edge string         `json:"edge"` // name of the edge type
	From string         `json:"from"` // key of the node where the edge starts
	To   string         `json:"to"`   // key of the node where the edge ends
	Data map[string]any `json:"data"` // properties
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
	for _, s := range g.Symbols {
		emit("Symbol", s.Path, node{"Symbol", map[string]any{"path": s.Path, "name": s.Name, "kind": s.Kind, "exported": s.Exported,
			"signature": optional(s.Signature), "doc": optional(s.Doc), "line": s.Line, "words": s.Words, "test": s.Test, "external": s.External}})
	}
	link := func(name string, l Link, data map[string]any) {
		if data == nil {
			data = map[string]any{}
		}
		id := edgeID(name, l)
		data["id"] = id
		emit(name, id, edge{name, l.From, l.To, data})
	}
	for _, r := range g.Requires {
		link("Requires", r.Link, map[string]any{"indirect": r.Indirect})
	}
	for _, kind := range []struct {
		name  string
		links []Link
	}{{"Provides", g.Provides}, {"Imports", g.Imports}, {"Declares", g.Declares}, {"Holds", g.Holds},
		{"Satisfies", g.Satisfies}, {"Dispatches", g.Dispatches()}, {"MethodOf", g.MethodOf}} {
		for _, l := range kind.links {
			link(kind.name, l, nil)
		}
	}
	for _, kind := range []struct {
		name    string
		counted []Counted
	}{{"Calls", g.Calls}, {"Refers", g.Refers}} {
		for _, c := range kind.counted {
			link(kind.name, c.Link, map[string]any{"count": c.Count})
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
