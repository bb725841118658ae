package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxRecord is the maximum length of a record, in bytes; maxFields is the maximum number of its fields.
const (
	maxRecord = 64 << 20
	maxFields = 1 << 16
)

// csvReader reads CSV and TSV by RFC 4180, and the headers of Neo4j's admin importer. It keeps the bytes in quotes as they are, line breaks too. A quote inside a field
// that does not begin with one is a character of the field. An empty field without quotes is null. Lines without any
// character are skipped, and so are records of which all fields are empty.
type csvReader struct {
	name      string
	in        *bufio.Reader
	closer    io.Closer
	delimiter byte
	fill      bool
	columns   []string
	lists     []bool // by column: its texts are lists; nil if there are none
	at        []int  // by selected column: its position in a row
	record    Record

	line    int64   // number of lines read so far
	row     int64   // number of records read so far
	buf     []byte  // the text of the record
	long    []byte  // the text of a record that is longer than the buffer of `in`
	fields  []Value // the fields of the record
	pending bool    // the record in `fields` is still to be returned: the first line of a file without a header
	start   int64   // line at which the record begins
}

// newCSV reads the header and returns a reader of the records.
func newCSV(name string, in *bufio.Reader, closer io.Closer, opts Options) (Reader, error) {
	c := &csvReader{name: name, in: in, closer: closer, delimiter: opts.Delimiter, fill: opts.Fill}
	for range opts.Skip {
		if _, err := c.readLine(); err != nil {
			break
		}
	}
	if c.delimiter == 0 {
		if err := c.findDelimiter(); err != nil {
			return nil, err
		}
	}
	switch err := c.next(); {
	case err == io.EOF && opts.Headless && opts.Columns != nil:
	case err == io.EOF:
		return nil, &Fault{File: name, Err: errors.New("the file is empty; it needs a line with the names of its columns"), Final: true}
	case err != nil:
		return nil, err
	}
	c.columns = opts.Columns
	if c.columns == nil {
		for i := range c.fields {
			column := strconv.Itoa(i + 1)
			if !opts.Headless {
				column = string(bytes.TrimSpace(c.fields[i].Raw))
			}
			c.columns = append(c.columns, column)
		}
	}
	if isNeo4j(c.columns) {
		c.columns, c.lists = neo4jHeader(c.columns)
	}
	if err := checkColumns(c.columns); err != nil {
		return nil, &Fault{File: name, Line: c.start, Err: err, Final: true}
	}
	c.pending = opts.Headless && len(c.fields) > 0
	return c, nil
}

// findDelimiter sets the delimiter to the most frequent candidate in the next line, outside quotes. It skips a line sep=X, which
// Excel writes, and takes the delimiter from it.
func (c *csvReader) findDelimiter() error {
	head, _ := c.in.Peek(min(c.in.Size(), bufferBytes))
	if rest, ok := bytes.CutPrefix(head, []byte("sep=")); ok && len(rest) > 1 && (rest[1] == '\r' || rest[1] == '\n') {
		c.delimiter = rest[0]
		_, err := c.readLine()
		return err
	}
	var counts [256]int
	quoted := false
	for _, b := range head {
		if b == '"' {
			quoted = !quoted
		}
		if b == '\n' && !quoted {
			break
		}
		if !quoted {
			counts[b]++
		}
	}
	best := byte(',')
	for _, b := range []byte(";\t|") {
		switch {
		case counts[b] > counts[best]:
			best = b
		case counts[b] > 0 && counts[b] == counts[best]:
			return &Fault{File: c.name, Line: c.line + 1, Final: true,
				Err: fmt.Errorf("the header has as many %q as %q, so the delimiter is unclear; write delimiter: %q under read in the map", best, b, best)}
		}
	}
	c.delimiter = best
	return nil
}

// Columns implements [Reader].
func (c *csvReader) Columns() []string { return c.columns }

// Select implements [Reader].
func (c *csvReader) Select(columns []string) {
	c.at = positions(c.columns, columns)
	c.record.Values = make([]Value, len(columns))
}

// Close implements [Reader].
func (c *csvReader) Close() error { return c.closer.Close() }

// Next implements [Reader].
func (c *csvReader) Next() (*Record, error) {
	for blank := !c.pending; blank; blank = c.isBlank() {
		if err := c.next(); err != nil {
			return nil, err
		}
	}
	c.pending = false
	c.row++
	if n := len(c.fields); n != len(c.columns) {
		if err := c.ragged(n); err != nil {
			f := c.fault("", err)
			f.Value = c.text()
			return nil, f
		}
	}
	c.record.Line, c.record.Row = c.start, c.row
	for i, at := range c.at {
		c.record.Values[i] = Value{}
		if at >= 0 && at < len(c.fields) {
			c.record.Values[i] = c.fields[at]
			if c.lists != nil && c.lists[at] {
				c.record.Values[i] = splitList(c.fields[at])
			}
		}
	}
	return &c.record, nil
}

// text returns the fields of the record, so that rejects have what does not fit the header.
func (c *csvReader) text() string {
	var b strings.Builder
	for i := range c.fields {
		if i > 0 {
			b.WriteByte(c.delimiter)
		}
		if c.fields[i].Kind != Null {
			b.WriteString(c.fields[i].String())
		}
	}
	return b.String()
}

// isBlank reports whether all fields of the record are empty, as in the lines that a spreadsheet writes for empty rows.
func (c *csvReader) isBlank() bool {
	for i := range c.fields {
		if c.fields[i].Kind != Null {
			return false
		}
	}
	return true
}

// ragged checks a record with n fields, which is not the number of columns.
func (c *csvReader) ragged(n int) error {
	const help = "; write ragged: fill under read in the map to read absent fields as null"
	if n < len(c.columns) {
		if c.fill {
			return nil
		}
		return fmt.Errorf("the record has %d fields and the header %d%s", n, len(c.columns), help)
	}
	for i := len(c.columns); i < n; i++ {
		switch v := &c.fields[i]; {
		case v.Kind != Null:
			return fmt.Errorf("the record has %d fields and the header %d, the first beyond it %q; put a field that contains the delimiter %q in quotes", n, len(c.columns), clip(v.String()), c.delimiter)
		case !c.fill:
			return fmt.Errorf("the record has %d fields and the header %d%s, and to ignore empty fields beyond the header", n, len(c.columns), help)
		}
	}
	return nil
}

// fault returns a fault of the current record.
func (c *csvReader) fault(column string, err error) *Fault {
	return &Fault{File: c.name, Line: c.start, Row: c.row, Column: column, Err: err}
}

// readLine returns the next line with its end. The line is valid until the next call. The error is io.EOF after the last line.
func (c *csvReader) readLine() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		c.long = append(c.long[:0], line...)
		for err == bufio.ErrBufferFull {
			if len(c.long) > maxRecord {
				return nil, &Fault{File: c.name, Line: c.line + 1, Err: fmt.Errorf("the line is longer than %d bytes", maxRecord), Final: true}
			}
			line, err = c.in.ReadSlice('\n')
			c.long = append(c.long, line...)
		}
		line = c.long
	}
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	if err != nil {
		if err == io.EOF {
			return nil, err
		}
		return nil, &Fault{File: c.name, Line: c.line + 1, Err: err, Final: true}
	}
	c.line++
	return line, nil
}

// trimEnd removes the end of a line.
func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
		if n > 1 && line[n-2] == '\r' {
			line = line[:n-2]
		}
	}
	return line
}

// next reads the fields of the next record.
func (c *csvReader) next() error {
	for {
		line, err := c.readLine()
		if err != nil {
			return err
		}
		text := trimEnd(line)
		if len(text) == 0 {
			continue
		}
		c.start = c.line
		c.fields = c.fields[:0]
		quotes := bytes.IndexByte(text, '"') >= 0
		if quotes {
			c.buf = append(c.buf[:0], line...)
			if err = c.split(); err != nil {
				c.row++
				return err
			}
		} else {
			if len(text) >= maxFields && bytes.Count(text, []byte{c.delimiter}) >= maxFields {
				return c.tooWide()
			}
			c.splitPlain(text)
			line = text
		}
		if !quotes && utf8.Valid(line) || quotes && utf8.Valid(c.buf) {
			return nil
		}
		for i := range c.fields {
			if !utf8.Valid(c.fields[i].Raw) {
				c.row++
				column := strconv.Itoa(i + 1)
				if i < len(c.columns) {
					column = c.columns[i]
				}
				return c.fault(column, fmt.Errorf("%s is not UTF-8; if the file has another encoding, write it under read in the map, such as encoding: windows-1252", badByte(c.fields[i].Raw)))
			}
		}
		return nil
	}
}

// badByte names the first byte that is not UTF-8.
func badByte(b []byte) string {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			return fmt.Sprintf("byte 0x%02x", b[0])
		}
		b = b[n:]
	}
	return "the text"
}

// tooWide returns the fault of a record with too many fields.
func (c *csvReader) tooWide() error {
	return &Fault{File: c.name, Line: c.start, Err: fmt.Errorf("the record has more than %d fields", maxFields), Final: true}
}

// splitPlain splits a line without quotes.
func (c *csvReader) splitPlain(text []byte) {
	for {
		end := bytes.IndexByte(text, c.delimiter)
		if end < 0 {
			c.add(text)
			return
		}
		c.add(text[:end])
		text = text[end+1:]
	}
}

// add appends a field without quotes.
func (c *csvReader) add(text []byte) {
	if len(text) == 0 {
		c.fields = append(c.fields, Value{})
		return
	}
	c.fields = append(c.fields, Value{Kind: Text, Raw: text})
}

// split splits a record with quotes, of which c.buf has the first line. It reads further lines when a line break is in quotes.
func (c *csvReader) split() error {
	type span struct {
		from, to int
		quoted   bool
	}
	var few [64]span
	spans := few[:0]
	for at := 0; ; {
		if len(spans) == maxFields {
			return c.tooWide()
		}
		text := trimEnd(c.buf)
		if at >= len(text) || text[at] != '"' {
			end := bytes.IndexByte(text[at:], c.delimiter)
			if end < 0 {
				spans = append(spans, span{at, len(text), false})
				break
			}
			spans = append(spans, span{at, at + end, false})
			at += end + 1
			continue
		}
		from, to, next, err := c.quoted(at)
		if err != nil {
			return err
		}
		spans = append(spans, span{from, to, true})
		text = trimEnd(c.buf)
		if next >= len(text) {
			break
		}
		if text[next] != c.delimiter {
			return c.fault("", fmt.Errorf("field %d has %q after its closing quote; write a quote inside of quotes twice", len(spans), clip(string(text[next:min(next+20, len(text))]))))
		}
		at = next + 1
	}
	for _, s := range spans {
		if s.quoted {
			c.fields = append(c.fields, Value{Kind: Text, Raw: c.buf[s.from:s.to]})
		} else {
			c.add(c.buf[s.from:s.to])
		}
	}
	return nil
}

// quoted reads the field whose opening quote is at the index `at` of c.buf. It moves the content together where a quote is
// doubled. The content is c.buf[from:to]; `next` is the index after the closing quote.
func (c *csvReader) quoted(at int) (from, to, next int, err error) {
	from = at + 1
	to = from
	i := from
	for {
		q := bytes.IndexByte(c.buf[i:], '"')
		if q < 0 {
			to += copy(c.buf[to:], c.buf[i:])
			c.buf = c.buf[:to] // the content so far, so that the next line follows it
			i = to
			if len(c.buf) > maxRecord {
				return 0, 0, 0, &Fault{File: c.name, Line: c.start, Err: fmt.Errorf("a quote that opens in this record is not closed within %d bytes", maxRecord), Final: true}
			}
			line, err := c.readLine()
			if err == io.EOF {
				return 0, 0, 0, &Fault{File: c.name, Line: c.start, Err: errors.New("a quote that opens in this record is never closed"), Final: true}
			}
			if err != nil {
				return 0, 0, 0, err
			}
			c.buf = append(c.buf, line...)
			continue
		}
		to += copy(c.buf[to:], c.buf[i:i+q])
		i += q + 1
		if i < len(c.buf) && c.buf[i] == '"' {
			c.buf[to] = '"'
			to++
			i++
			continue
		}
		return from, to, i, nil
	}
}
