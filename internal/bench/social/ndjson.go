package social

import (
	"bufio"
	"io"
	"strconv"
	"time"
)

// WriteNDJSON writes the graph as NDJSON that omnigraph loads: one line per row, nodes first. None
// of the graph's texts needs an escape, so WriteNDJSON can write them quickly.
func (g *Graph) WriteNDJSON(to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<20)
	w := &lines{graph: g, out: out, days: make(map[int]string)}
	for p := range g.AllPersons() {
		w.node("Person", personLetter, p.Number)
		w.text("name", p.Name)
		w.raw("age", strconv.AppendInt(w.scratch[:0], int64(p.Age), 10))
		w.text("city", p.City)
		w.text("bio", p.Bio)
		w.end()
	}
	for c := range g.AllCompanies() {
		w.node("Company", companyLetter, c.Number)
		w.text("name", c.Name)
		w.end()
	}
	for p := range g.AllPosts() {
		w.node("Post", postLetter, p.Number)
		w.text("text", p.Text)
		if p.Vector != nil {
			w.raw("embedding", appendVector(w.scratch[:0], p.Vector))
		}
		w.end()
	}
	for k := range g.Acquaintances() {
		w.edge("Knows", personLetter, personLetter, k.Edge)
		w.line = append(w.line, `,"data":{"since":"`...)
		w.line = append(w.line, w.day(k.Since)...)
		w.line = append(w.line, `"}}`...)
		w.flush()
	}
	for e := range g.AllWorksAt() {
		w.edge("WorksAt", personLetter, companyLetter, e)
		w.line = append(w.line, '}')
		w.flush()
	}
	for e := range g.AllAuthored() {
		w.edge("Authored", personLetter, postLetter, e)
		w.line = append(w.line, '}')
		w.flush()
	}
	return out.Flush()
}

// lines writes NDJSON lines. The buffered writer keeps errors until its Flush.
type lines struct {
	graph   *Graph         // gives the keys
	out     *bufio.Writer  // where the lines go
	line    []byte         // the line that is being built
	scratch [4096]byte     // space for encoding values
	days    map[int]string // formatted days, by days since 1970-01-01
}

// node begins the line of a node. letter and number determine its key.
func (w *lines) node(kind string, letter byte, number int) {
	w.line = append(w.line, `{"type":"`...)
	w.line = append(w.line, kind...)
	w.line = append(w.line, `","data":{"slug":"`...)
	w.line = w.graph.appendSlug(w.line, letter, number)
	w.line = append(w.line, '"')
}

// edge begins the line of an edge. The arguments `from` and `to` are the letters in the keys of the
// two ends.
func (w *lines) edge(kind string, from, to byte, e Edge) {
	w.line = append(w.line, `{"edge":"`...)
	w.line = append(w.line, kind...)
	w.line = append(w.line, `","from":"`...)
	w.line = w.graph.appendSlug(w.line, from, e.From)
	w.line = append(w.line, `","to":"`...)
	w.line = w.graph.appendSlug(w.line, to, e.To)
	w.line = append(w.line, '"')
}

// text adds a member whose value is a string that needs no escapes.
func (w *lines) text(name, s string) {
	w.name(name)
	w.line = append(w.line, '"')
	w.line = append(w.line, s...)
	w.line = append(w.line, '"')
}

// raw adds a member whose value is JSON.
func (w *lines) raw(name string, json []byte) {
	w.name(name)
	w.line = append(w.line, json...)
}

// name adds the name of a member.
func (w *lines) name(name string) {
	w.line = append(w.line, ',', '"')
	w.line = append(w.line, name...)
	w.line = append(w.line, '"', ':')
}

// end ends the line and writes it.
func (w *lines) end() {
	w.line = append(w.line, '}', '}')
	w.flush()
}

// flush writes the line and begins another.
func (w *lines) flush() {
	w.line = append(w.line, '\n')
	_, _ = w.out.Write(w.line) // the writer keeps its first error for Flush
	w.line = w.line[:0]
}

// day formats a day. It caches the results, because there are only a few thousand days.
func (w *lines) day(days int) string {
	s, ok := w.days[days]
	if !ok {
		s = time.Unix(int64(days)*86_400, 0).UTC().Format(time.DateOnly)
		w.days[days] = s
	}
	return s
}

// appendVector appends a vector as JSON.
func appendVector(to []byte, v []float32) []byte {
	to = append(to, '[')
	for i, x := range v {
		if i > 0 {
			to = append(to, ',')
		}
		to = strconv.AppendFloat(to, float64(x), 'g', -1, 32)
	}
	return append(to, ']')
}
