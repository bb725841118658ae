package parquet

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// lines reads the lines of an NDJSON export, one entity each:
//
//	{"type":"Person","data":{"id":"ada","name":"ada"}}
//	{"edge":"Knows","from":"ada","to":"bob","data":{"id":"01…","since":"2024-05-01"}}
//	{"edge":"About","from":"n1","to":{"type":"Person","id":"ada"},"data":{"id":"02…"}}
//
// The first member gives the type. A property that is absent from `data` is null.
type lines struct {
	from   *source                           // the export
	dec    *jsontext.Decoder                 // decodes the bytes of `from`
	tables map[plan.Entity]map[string]*table // by type name
}

// source keeps the error of a reader, because the decoder wraps it.
type source struct {
	io.Reader
	err error // of the last Read
}

// Read implements [io.Reader].
func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.err = err
	return n, err
}

// newLines returns a reader of the lines in `r`, which contain entities of the tables.
func newLines(r io.Reader, tables []*table) *lines {
	from := &source{Reader: r}
	l := &lines{from: from, dec: jsontext.NewDecoder(from, jsontext.AllowDuplicateNames(true)), // rows refuses a column that comes twice
		tables: map[plan.Entity]map[string]*table{plan.Node: {}, plan.Edge: {}}}
	for _, t := range tables {
		l.tables[t.entity][t.name] = t
	}
	return l
}

// offset returns the number of bytes of the lines that were read so far.
func (l *lines) offset() int64 { return l.dec.InputOffset() }

// fault returns the error of the reader unchanged, and adds the number of the line to any other
// error.
func (l *lines) fault(line int, err error) error {
	if l.from.err != nil && l.from.err != io.EOF {
		return l.from.err
	}
	return fmt.Errorf("line %d of the export: %w", line, err)
}

// next reads the start of a line and returns the type of its entity. The error is io.EOF after the
// last line.
func (l *lines) next() (*table, error) {
	if err := l.delimiter('{'); err != nil {
		return nil, err
	}
	member, err := l.string()
	if err != nil {
		return nil, err
	}
	entity := plan.Node
	switch member {
	case "type":
	case "edge":
		entity = plan.Edge
	default:
		return nil, fmt.Errorf("found the member %q, expected type or edge", member)
	}
	name, err := l.string()
	if err != nil {
		return nil, err
	}
	t := l.tables[entity][name]
	if t == nil {
		return nil, fmt.Errorf("the schema has no %s type %q", entity, name)
	}
	return t, nil
}

// row reads the rest of a line into r.
func (l *lines) row(r *rows) error {
	for l.dec.PeekKind() != '}' {
		member, err := l.string()
		if err != nil {
			return err
		}
		switch from, to := &r.table.from, &r.table.to; {
		case member == "data":
			err = l.data(r)
		case member == "sources": // hidden from tables
			_, err = l.string()
		case member == "from" && from.typeColumn != "":
			err = l.end(r, from)
		case member == "to" && to.typeColumn != "":
			err = l.end(r, to)
		default:
			err = l.column(r, member)
		}
		if err != nil {
			return err
		}
	}
	if err := l.delimiter('}'); err != nil {
		return err
	}
	return r.end()
}

// end reads the object with the type and the id of the node at an end of an edge that is at an interface.
func (l *lines) end(r *rows, e *end) error {
	if err := l.delimiter('{'); err != nil {
		return fmt.Errorf("%s: %w", e.column, err)
	}
	for l.dec.PeekKind() != '}' {
		member, err := l.string()
		if err != nil {
			return err
		}
		column := ""
		switch member {
		case "type":
			column = e.typeColumn
		case "id":
			column = e.column
		default:
			return fmt.Errorf("%s: found the member %q, expected type and id", e.column, member)
		}
		if err := l.column(r, column); err != nil {
			return err
		}
	}
	return l.delimiter('}')
}

// data reads the object with the properties.
func (l *lines) data(r *rows) error {
	if err := l.delimiter('{'); err != nil {
		return err
	}
	for l.dec.PeekKind() != '}' {
		member, err := l.string()
		if err != nil {
			return err
		}
		if err := l.column(r, member); err != nil {
			return err
		}
	}
	return l.delimiter('}')
}

// column reads the value of the named property into the current row of `r`.
func (l *lines) column(r *rows, name string) error {
	i, ok := r.position[name]
	if !ok {
		return fmt.Errorf("found %q, and the type has no such property", name)
	}
	v, err := l.value(r.table.columns[i].Type)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return r.set(i, v)
}

// value reads a value of a type, or null.
func (l *lines) value(t value.Type) (value.Value, error) {
	switch {
	case l.dec.PeekKind() == 'n':
		_, err := l.dec.ReadToken()
		return value.Null, err
	case t.List:
		return l.list(t)
	case t.Kind == value.Vector:
		return l.vector(t)
	}
	return l.scalar(t)
}

// list reads a JSON array as a list of type t.
func (l *lines) list(t value.Type) (value.Value, error) {
	if err := l.delimiter('['); err != nil {
		return value.Null, err
	}
	var elems []value.Value
	for l.dec.PeekKind() != ']' {
		v, err := l.scalar(t)
		if err != nil {
			return value.Null, fmt.Errorf("element %d: %w", len(elems), err)
		}
		elems = append(elems, v)
	}
	return value.OfList(t.Kind, elems), l.delimiter(']')
}

// vector reads a JSON array of numbers as a Vector of type t.
func (l *lines) vector(t value.Type) (value.Value, error) {
	raw, err := l.dec.ReadValue()
	if err != nil {
		return value.Null, err
	}
	inner, ok := bytes.CutPrefix(raw, []byte("["))
	if !ok {
		return value.Null, fmt.Errorf("found %s, expected an array of %d numbers", raw, t.Dim)
	}
	vec := make([]float32, 0, t.Dim)
	for number := range bytes.SplitSeq(bytes.TrimSuffix(inner, []byte("]")), []byte(",")) {
		f, err := strconv.ParseFloat(string(bytes.TrimSpace(number)), 32)
		if err != nil {
			return value.Null, fmt.Errorf("element %d: %w", len(vec), err)
		}
		vec = append(vec, float32(f))
	}
	if len(vec) != t.Dim {
		return value.Null, fmt.Errorf("found %d numbers, expected %d", len(vec), t.Dim)
	}
	return value.OfVector(vec), nil
}

// scalar reads a JSON string, number or boolean as a scalar of type t, or as an element of a list of type t.
func (l *lines) scalar(t value.Type) (value.Value, error) {
	token, err := l.dec.ReadToken()
	if err != nil {
		return value.Null, err
	}
	switch k, kind := t.Kind, token.Kind(); {
	case k == value.Decimal && kind == '"':
		return value.ParseDecimal(token.String(), t)
	case k.Storage() == value.InText && kind == '"':
		return value.OfString(token.String()), nil
	case k.Storage() == value.InBytes && kind == '"':
		b, err := base64.StdEncoding.DecodeString(token.String())
		if err != nil {
			return value.Null, err
		}
		return value.OfBlob(b), nil
	case k.Storage() == value.InBits && (kind == 't' || kind == 'f'):
		return value.OfBool(kind == 't'), nil
	case k.HasText() && kind == '"':
		return k.Parse(token.String())
	case k.IsNumeric() && (kind == '0' || kind == '"' && k.JSON() == value.JSONWide):
		if v, ok := value.ParseNumber(token.String(), k); ok {
			return v, nil
		}
	}
	return value.Null, fmt.Errorf("found %s, expected %s", token, t.Kind.Wanted())
}

// string reads a JSON string.
func (l *lines) string() (string, error) {
	token, err := l.dec.ReadToken()
	if err == nil && token.Kind() != '"' {
		err = fmt.Errorf("found %s, expected a string", token)
	}
	if err != nil {
		return "", err
	}
	return token.String(), nil
}

// delimiter reads a brace or a bracket.
func (l *lines) delimiter(want jsontext.Kind) error {
	token, err := l.dec.ReadToken()
	if err == nil && token.Kind() != want {
		err = fmt.Errorf("found %s, expected %c", token, byte(want))
	}
	return err
}
