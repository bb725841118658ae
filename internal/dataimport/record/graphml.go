package record

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
)

// The columns of a record of GraphML, besides data.NAME for each key with the name NAME.
var graphMLColumns = []string{"kind", "id", "source", "target"}

// graphML reads the nodes and edges of GraphML as records, whose kind is node or edge.
type graphML struct {
	name    string
	dec     *xml.Decoder
	closer  io.Closer
	columns []string
	keys    map[string]graphMLKey // by id
	at      []int                 // by selected column: its index in columns
	row     int64
	values  []Value // of the record, by column
	record  Record
}

// graphMLKey is a declared attribute of nodes or edges.
type graphMLKey struct {
	column   int    // index in columns
	of       string // node, edge or all
	fallback *string
}

// newGraphML reads the declarations of a document, up to its first graph.
func newGraphML(name string, in *bufio.Reader, closer io.Closer, opts Options) (Reader, error) {
	g := &graphML{name: name, dec: xml.NewDecoder(in), closer: closer, columns: slices.Clone(graphMLColumns), keys: map[string]graphMLKey{}}
	g.dec.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if opts.Encoding != "" {
			return in, nil // the text is decoded already
		}
		return nil, fmt.Errorf("the encoding is %s; write it as encoding: under read in the map", label)
	}
	for {
		token, err := g.dec.Token()
		if err != nil {
			return nil, g.fault(err)
		}
		start, ok := token.(xml.StartElement)
		switch {
		case ok && start.Name.Local == "key":
			if err := g.key(start); err != nil {
				return nil, g.fault(err)
			}
		case ok && start.Name.Local == "graph":
			return g, nil
		case ok && start.Name.Local != "graphml":
			if err := g.dec.Skip(); err != nil {
				return nil, g.fault(err)
			}
		}
	}
}

// attribute returns an attribute of an element, "" for none.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// key reads the declaration of an attribute.
func (g *graphML) key(start xml.StartElement) error {
	var content struct {
		Default *string `xml:"default"`
	}
	if err := g.dec.DecodeElement(&content, &start); err != nil {
		return err
	}
	id, of, name := attribute(start, "id"), attribute(start, "for"), attribute(start, "attr.name")
	if of == "graph" || of == "port" || of == "endpoint" || of == "hyperedge" {
		return nil
	}
	if name == "" {
		name = id
	}
	column := "data." + name
	at := slices.Index(g.columns, column)
	if at < 0 {
		at = len(g.columns)
		g.columns = append(g.columns, column)
	}
	if _, twice := g.keys[id]; twice {
		return fmt.Errorf("two keys have the id %q", id)
	}
	g.keys[id] = graphMLKey{column: at, of: of, fallback: content.Default}
	return nil
}

// fault returns the fault of a document that cannot be read on.
func (g *graphML) fault(err error) error {
	if err == io.EOF {
		err = errors.New("the document has no graph")
	}
	line, _ := g.dec.InputPos()
	return &Fault{File: g.name, Line: int64(line), Row: g.row, Err: fmt.Errorf("not GraphML: %w", err), Final: true}
}

// Columns implements [Reader].
func (g *graphML) Columns() []string { return g.columns }

// Select implements [Reader].
func (g *graphML) Select(columns []string) {
	g.at = positions(g.columns, columns)
	g.record.Values = make([]Value, len(columns))
	g.values = make([]Value, len(g.columns))
}

// Close implements [Reader].
func (g *graphML) Close() error { return g.closer.Close() }

// Next implements [Reader].
func (g *graphML) Next() (*Record, error) {
	for {
		token, err := g.dec.Token()
		if err == io.EOF {
			return nil, err
		}
		if err != nil {
			return nil, g.fault(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "node", "edge":
			g.row++
			line, _ := g.dec.InputPos()
			g.record.Line, g.record.Row = int64(line), g.row
			if err := g.read(start); err != nil {
				return nil, g.fault(err)
			}
			return &g.record, nil
		case "hyperedge":
			g.row++
			line, _ := g.dec.InputPos()
			if err := g.dec.Skip(); err != nil {
				return nil, g.fault(err)
			}
			return nil, &Fault{File: g.name, Line: int64(line), Row: g.row, Err: errors.New("a graph has no edges with more than two ends; leave hyperedges out of the file")}
		}
	}
}

// read reads a node or an edge with its data.
func (g *graphML) read(start xml.StartElement) error {
	kind := start.Name.Local
	clear(g.values)
	g.values[0] = OfText(kind)
	for i, name := range graphMLColumns[1:] {
		if text := attribute(start, name); text != "" {
			g.values[i+1] = OfText(text)
		}
	}
	for _, k := range g.keys {
		if k.fallback != nil && (k.of == kind || k.of == "all" || k.of == "") {
			g.values[k.column] = OfText(*k.fallback)
		}
	}
	var content struct {
		Data []struct {
			Key  string `xml:"key,attr"`
			Text string `xml:",chardata"`
		} `xml:"data"`
		Nested []struct{} `xml:"graph"`
	}
	if err := g.dec.DecodeElement(&content, &start); err != nil {
		return err
	}
	if len(content.Nested) > 0 {
		return errors.New("a node has a graph inside; only flat graphs can be read")
	}
	for _, d := range content.Data {
		k, ok := g.keys[d.Key]
		if !ok {
			return fmt.Errorf("no key has the id %q", d.Key)
		}
		g.values[k.column] = OfText(d.Text)
	}
	for i, at := range g.at {
		g.record.Values[i] = Value{}
		if at >= 0 {
			g.record.Values[i] = g.values[at]
		}
	}
	return nil
}
