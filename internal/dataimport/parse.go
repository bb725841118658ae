package dataimport

import (
	"fmt"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// Parse reads the text of a map. In faults, the name of the file is `path`. The map is nil if there are errors.
func Parse(path string, text []byte) (*Map, diag.List) {
	m := &Map{reader: strictyaml.Read(path, text)}
	root := m.reader.Root()
	if root == nil {
		if len(m.reader.Faults()) == 0 {
			m.reader.Whole(strictyaml.Missing, path+" is empty", "add sources: …")
		}
		return nil, m.reader.Faults()
	}
	f, ok := root.Mapping(path, Settings)
	if ok {
		m.Database, _ = f["database"].Text("database")
		sources, ok := root.Require(f, "sources", path).Entries("sources")
		if ok && len(sources) == 0 {
			root.Fault(strictyaml.Missing, "sources is empty", "add a source, such as ports.csv: { node: Port, set: { … } }")
		}
		for _, e := range sources {
			m.Sources = append(m.Sources, source(e))
		}
	}
	if faults := m.reader.Faults(); faults.HasErrors() {
		return nil, faults
	}
	return m, m.reader.Faults()
}

// source reads an entry of sources.
func source(e strictyaml.Entry) Source {
	s := Source{Name: e.Key, at: e.At}
	maps := e.Value
	if e.Value.Has("maps") || e.Value.Has("read") {
		f, ok := e.Value.Mapping("the source", sourceSettings)
		if !ok {
			return s
		}
		s.read(f["read"])
		maps = e.Value.Require(f, "maps", "the source")
	}
	if maps == nil {
		return s
	}
	if !maps.IsList() {
		s.Maps = append(s.Maps, mapping(maps))
		return s
	}
	list, _ := maps.List("the source")
	if len(list) == 0 {
		maps.Fault(strictyaml.Missing, "the source has no mapping", "add one, such as - node: Port")
	}
	for _, n := range list {
		s.Maps = append(s.Maps, mapping(n))
	}
	return s
}

// read reads the section read.
func (s *Source) read(n *strictyaml.Node) {
	f, ok := n.Mapping("read", readSettings)
	if !ok {
		return
	}
	s.Table, _ = f["table"].Text("table")
	s.Query, _ = f["query"].Text("query")
	if s.InDatabase() && len(f) > 1 {
		n.Fault(strictyaml.Contradicts, "read has a table or a query, and another key", "keep the one key: the others are for files, and table and query exclude each other")
	}
	o := &s.Read
	o.Format, _ = f["format"].Word()
	o.Encoding, _ = f["encoding"].Word()
	if d, ok := f["delimiter"].AnyText("delimiter"); ok {
		switch {
		case d == "tab":
			d = "\t"
		case len(d) != 1 || d[0] >= 0x80 || d == "\"" || d == "\n" || d == "\r":
			f["delimiter"].Fault(strictyaml.BadValue, "delimiter is not one ASCII character, or is a quote or a line end", "write it in quotes, such as \";\" or \"\\t\"")
			d = ","
		}
		o.Delimiter = d[0]
	}
	if header, ok := f["header"].Bool("header"); ok {
		o.Headless = !header
	}
	columns, _ := f["columns"].Texts("columns")
	for _, c := range columns {
		o.Columns = append(o.Columns, c.Key)
	}
	skip, _ := f["skip"].Number()
	o.Skip = int(skip)
	ragged, _ := f["ragged"].Word()
	o.Fill = ragged == "fill"
	o.Records, _ = f["records"].Text("records")
}

// mapping reads a mapping.
func mapping(n *strictyaml.Node) *Mapping {
	m := &Mapping{at: n}
	f, ok := n.Mapping("the mapping", mappingSettings)
	if !ok {
		return m
	}
	node, hasNode := f["node"]
	edge, hasEdge := f["edge"]
	m.IsEdge = hasEdge
	switch {
	case hasNode && hasEdge:
		edge.AtKey().Fault(strictyaml.Contradicts, "the mapping has node and edge", "write two mappings, as a list")
	case hasNode:
		m.Type, _ = node.Text("node")
		for _, key := range []string{"from", "to"} {
			if v := f[key]; v != nil {
				v.AtKey().Fault(strictyaml.Contradicts, "a node has no "+key, "write edge: in place of node:, or remove "+key)
			}
		}
	case hasEdge:
		m.Type, _ = edge.Text("edge")
		m.From, m.To = end(n, f, "from"), end(n, f, "to")
	default:
		n.Fault(strictyaml.Missing, "the mapping has neither node nor edge", "add node: or edge: with the name of a type")
	}
	m.Set = assigns(f["set"], "set")
	where, _ := f["where"].Entries("where")
	for _, e := range where {
		m.Where = append(m.Where, Condition{Column: e.Key, Texts: texts(e.Value, e.Key), at: e.At})
	}
	return m
}

// end reads an end of an edge.
func end(at *strictyaml.Node, f strictyaml.Fields, key string) *End {
	n := at.Require(f, key, "the mapping of an edge")
	entries, ok := n.Entries(key)
	if !ok {
		return nil
	}
	if len(entries) != 1 {
		n.Fault(strictyaml.BadValue, fmt.Sprintf("%s has %d node types, expected one", key, len(entries)), "write "+key+": { Port: { unlocode: port } }")
		return nil
	}
	e := &End{Type: entries[0].Key, at: entries[0].At, By: assigns(entries[0].Value, entries[0].Key)}
	if len(e.By) == 0 {
		n.Fault(strictyaml.Missing, key+" names no property", "name the properties of the key, of a @unique, or id")
	}
	return e
}

// assigns reads properties with the columns that they are set to.
func assigns(n *strictyaml.Node, what string) []Assign {
	entries, _ := n.Entries(what)
	var all []Assign
	for _, e := range entries {
		a := Assign{Property: e.Key, at: e.At}
		if e.Value.IsMapping() {
			a.Column = column(e.Value, e.Key)
		} else {
			a.Column.Name, _ = e.Value.Text(e.Key)
		}
		all = append(all, a)
	}
	return all
}

// column reads the section of a column.
func column(n *strictyaml.Node, what string) Column {
	var c Column
	f, ok := n.Mapping(what, columnSettings.Forms[1])
	if !ok {
		return c
	}
	_, hasColumn := f["column"]
	constant, hasValue := f["value"]
	switch {
	case hasColumn && hasValue:
		n.Fault(strictyaml.Contradicts, what+" has column and value", "keep one of the two")
	case hasValue:
		if text, ok := constant.AnyText("value"); ok {
			c.Const = &text
		}
	default:
		c.Name, _ = n.Require(f, "column", what).Text("column")
	}
	c.Null, c.True, c.False = texts(f["null"], "null"), texts(f["true"], "true"), texts(f["false"], "false")
	c.Trim, _ = f["trim"].Bool("trim")
	c.Date, _ = f["date"].Text("date")
	c.Time, _ = f["time"].Text("time")
	c.Zone, _ = f["zone"].Text("zone")
	c.Round, _ = f["round"].Word()
	c.Number, _ = f["number"].Text("number")
	c.List, _ = f["list"].AnyText("list")
	c.Bytes, _ = f["bytes"].Word()
	c.Unit, _ = f["unit"].Word()
	return c
}

// texts reads a text or a list of texts, which may be empty.
func texts(n *strictyaml.Node, what string) []string {
	if n == nil {
		return nil
	}
	if !n.IsList() {
		if text, ok := n.AnyText(what); ok {
			return []string{text}
		}
		return nil
	}
	var all []string
	list, _ := n.List(what)
	if len(list) == 0 {
		n.Fault(strictyaml.Missing, what+" is an empty list", "write a text, or remove "+what)
	}
	for _, item := range list {
		if text, ok := item.AnyText("an entry of " + what); ok {
			all = append(all, text)
		}
	}
	return all
}
