package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonReader reads JSON: values one after another, of which each array stands for its elements, or the values at a path in
// them. A column is a path of names and of indexes into arrays, with points between them.
type jsonReader struct {
	name   string
	lines  *lineCounter
	closer io.Closer
	dec    *jsontext.Decoder
	path   []string // to the records

	open    int  // number of enclosing objects whose members are read
	inArray bool // the decoder stands before an element of the array with the records

	row    int64
	record Record
	paths  *pathNode
	values *jsontext.Decoder // decodes the record
	text   []byte            // holds the texts of the record's values
}

// pathNode is a node of the tree of the paths to the selected columns.
type pathNode struct {
	columns  []int // the selected columns with this path
	children map[string]*pathNode
}

// add adds the path to a column.
func (n *pathNode) add(path []string, column int) {
	if len(path) == 0 {
		n.columns = append(n.columns, column)
		return
	}
	if n.children == nil {
		n.children = map[string]*pathNode{}
	}
	child := n.children[path[0]]
	if child == nil {
		child = &pathNode{}
		n.children[path[0]] = child
	}
	child.add(path[1:], column)
}

// lineCounter finds the lines of offsets in what a reader has read.
type lineCounter struct {
	io.Reader
	read  int64   // number of bytes read so far
	ends  []int64 // offsets after the line ends that are not counted yet
	lines int64   // number of line ends before them
}

// Read implements [io.Reader].
func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	for i := 0; i < n; {
		end := bytes.IndexByte(p[i:n], '\n')
		if end < 0 {
			break
		}
		i += end + 1
		l.ends = append(l.ends, l.read+int64(i))
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of an offset. Offsets must ascend.
func (l *lineCounter) at(offset int64) int64 {
	i := 0
	for i < len(l.ends) && l.ends[i] <= offset {
		i++
	}
	l.lines += int64(i)
	l.ends = l.ends[:copy(l.ends, l.ends[i:])]
	return l.lines + 1
}

// newJSON returns a reader of the records at a path.
func newJSON(name string, in *bufio.Reader, closer io.Closer, path string) Reader {
	j := &jsonReader{name: name, lines: &lineCounter{Reader: in}, closer: closer, values: new(jsontext.Decoder)}
	j.dec = jsontext.NewDecoder(j.lines)
	if path != "" {
		j.path = strings.Split(path, ".")
	}
	return j
}

// Columns implements [Reader].
func (j *jsonReader) Columns() []string { return nil }

// Select implements [Reader].
func (j *jsonReader) Select(columns []string) {
	j.record.Values = make([]Value, len(columns))
	j.paths = &pathNode{}
	for i, c := range columns {
		path := strings.Split(c, ".")
		j.paths.add(path, i)
		if len(path) > 1 {
			j.paths.add([]string{c}, i) // a name that has a point itself
		}
	}
}

// Close implements [Reader].
func (j *jsonReader) Close() error { return j.closer.Close() }

// fault returns the fault of a text that cannot be read on.
func (j *jsonReader) fault(err error) error {
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	var bad *jsontext.SyntacticError
	at := j.dec.InputOffset()
	if errors.As(err, &bad) {
		at, err = bad.ByteOffset, fmt.Errorf("not JSON: %w", bad.Err)
	}
	var fault *Fault
	if errors.As(err, &fault) {
		return fault
	}
	return &Fault{File: j.name, Line: j.lines.at(at), Row: j.row, Err: err, Final: true}
}

// Next implements [Reader].
func (j *jsonReader) Next() (*Record, error) {
	raw, err := j.next()
	if err != nil {
		return nil, j.fault(err)
	}
	j.row++
	j.record.Line, j.record.Row = j.lines.at(j.dec.InputOffset()-int64(len(raw))), j.row
	if raw.Kind() != '{' {
		return nil, &Fault{File: j.name, Line: j.record.Line, Row: j.row, Value: string(raw), Err: errors.New("the record is not an object; write the path to the records as records: under read in the map")}
	}
	clear(j.record.Values)
	j.text = j.text[:0]
	j.values.Reset(bytes.NewReader(raw))
	if err := j.walk(j.paths); err != nil {
		return nil, j.fault(err)
	}
	return &j.record, nil
}

// next returns the next record.
func (j *jsonReader) next() (jsontext.Value, error) {
	for {
		if j.inArray {
			if j.dec.PeekKind() != ']' {
				return j.dec.ReadValue()
			}
			if _, err := j.dec.ReadToken(); err != nil {
				return nil, err
			}
			j.inArray = false
		}
		// Leave the objects that were opened on the way to the last records.
		for ; j.open > 0; j.open-- {
			for j.dec.PeekKind() != '}' {
				if err := errors.Join(j.dec.SkipValue(), j.dec.SkipValue()); err != nil {
					return nil, err
				}
			}
			if _, err := j.dec.ReadToken(); err != nil {
				return nil, err
			}
		}
		found, err := j.descend()
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		if j.dec.PeekKind() != '[' {
			return j.dec.ReadValue()
		}
		if _, err := j.dec.ReadToken(); err != nil {
			return nil, err
		}
		j.inArray = true
	}
}

// descend goes along the path into the next value, and reports whether the path exists there.
func (j *jsonReader) descend() (bool, error) {
	if kind := j.dec.PeekKind(); len(j.path) == 0 || kind == 0 {
		if kind == 0 {
			_, err := j.dec.ReadToken()
			return false, err
		}
		return true, nil
	}
	for _, name := range j.path {
		if j.dec.PeekKind() != '{' {
			return false, j.dec.SkipValue()
		}
		if _, err := j.dec.ReadToken(); err != nil {
			return false, err
		}
		j.open++
		for {
			if j.dec.PeekKind() == '}' {
				return false, nil
			}
			member, err := j.dec.ReadToken()
			if err != nil {
				return false, err
			}
			if member.String() == name {
				break
			}
			if err := j.dec.SkipValue(); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// walk reads a value of the record for the paths that begin at a node.
func (j *jsonReader) walk(n *pathNode) error {
	kind := j.values.PeekKind()
	if len(n.columns) > 0 || n.children == nil || kind != '{' && kind != '[' {
		if len(n.columns) == 0 {
			return j.values.SkipValue()
		}
		raw, err := j.values.ReadValue()
		if err != nil {
			return err
		}
		v, err := j.value(raw)
		for _, c := range n.columns {
			j.record.Values[c] = v
		}
		if err != nil || n.children == nil || kind != '{' && kind != '[' {
			return err
		}
		outer := j.values
		j.values = jsontext.NewDecoder(bytes.NewReader(bytes.Clone(raw)))
		defer func() { j.values = outer }()
		return j.walk(&pathNode{children: n.children})
	}
	if _, err := j.values.ReadToken(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if k := j.values.PeekKind(); k == '}' || k == ']' {
			_, err := j.values.ReadToken()
			return err
		}
		name := strconv.Itoa(i)
		if kind == '{' {
			token, err := j.values.ReadToken()
			if err != nil {
				return err
			}
			name = token.String()
		}
		child := n.children[name]
		if child == nil {
			if err := j.values.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if err := j.walk(child); err != nil {
			return err
		}
	}
}

// value converts a JSON value.
func (j *jsonReader) value(raw jsontext.Value) (Value, error) {
	switch raw.Kind() {
	case 'n':
		return Value{}, nil
	case 't', 'f':
		return Value{Kind: Bool, Bool: raw.Kind() == 't'}, nil
	case '0':
		return Value{Kind: Number, Raw: j.keep(raw)}, nil
	case '"':
		from := len(j.text)
		text, err := jsontext.AppendUnquote(j.text, raw)
		j.text = text
		return Value{Kind: Text, Raw: text[from:len(text):len(text)]}, err
	case '{':
		return Value{Kind: Object, Raw: j.keep(raw)}, nil
	}
	list := Value{Kind: List, Elems: []Value{}}
	dec := jsontext.NewDecoder(bytes.NewReader(bytes.Clone(raw)))
	if _, err := dec.ReadToken(); err != nil {
		return list, err
	}
	for dec.PeekKind() != ']' {
		e, err := dec.ReadValue()
		if err != nil {
			return list, err
		}
		v, err := j.value(e)
		if err != nil {
			return list, err
		}
		list.Elems = append(list.Elems, v)
	}
	return list, nil
}

// keep returns a copy that is valid as long as the record.
func (j *jsonReader) keep(b []byte) []byte {
	from := len(j.text)
	j.text = append(j.text, b...)
	return j.text[from:len(j.text):len(j.text)]
}

// ParseList parses a JSON array of at most some elements. Those of arrays and objects in it count too.
func ParseList(raw []byte, most int) ([]Value, error) {
	v := jsontext.Value(raw)
	if !v.IsValid() || v.Kind() != '[' {
		return nil, errors.New("the text is not a JSON array")
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(v))
	for n := -2; ; n++ { // without the brackets of the array
		if _, err := d.ReadToken(); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if n >= most {
			return nil, fmt.Errorf("found a list of more than %d elements", most)
		}
	}
	list, err := new(jsonReader).value(bytes.TrimSpace(v))
	return list.Elems, err
}
