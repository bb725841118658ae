package follow

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// spool holds bytes in memory, and moves them to a temporary file when there are many.
type spool struct {
	dir   string
	most  int // bytes in memory
	buf   bytes.Buffer
	file  *os.File // nil while all bytes are in memory
	w     *bufio.Writer
	total int64
}

// Write implements [io.Writer].
func (s *spool) Write(b []byte) (int, error) {
	s.total += int64(len(b))
	if s.file == nil && s.buf.Len()+len(b) > s.most {
		file, err := os.CreateTemp(s.dir, "omnigraph-follow-*")
		if err != nil {
			return 0, err
		}
		s.file, s.w = file, bufio.NewWriterSize(file, 64<<10)
		if _, err := s.buf.WriteTo(s.w); err != nil {
			return 0, err
		}
		s.buf = bytes.Buffer{}
	}
	if s.file != nil {
		return s.w.Write(b)
	}
	return s.buf.Write(b)
}

// reader returns a reader of all bytes. The spool must not be written while it is read.
func (s *spool) reader() (io.Reader, error) {
	if s.file == nil {
		return bytes.NewReader(s.buf.Bytes()), nil
	}
	if err := s.w.Flush(); err != nil {
		return nil, err
	}
	return io.NewSectionReader(s.file, 0, s.total), nil
}

// close removes the file.
func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close() // nothing of it is needed
		_ = os.Remove(s.file.Name())
	}
	*s = spool{dir: s.dir, most: s.most}
}

// output holds the lines of a load, and the rows that they are made of.
type output struct {
	lines, rows spool        // one line each
	skip        map[int]bool // numbers of the lines that were rejected, from 1
	n           int          // number of lines
	line, row   []byte       // scratch
}

// add adds the lines of a row. Its error is a *record.Fault if the row does not fit.
func (f *follower) add(out *output, x *row) error {
	if !x.existed && x.after == nil {
		return nil
	}
	columns := f.rows.Columns(x.of.source)
	var before, after *record.Record
	var unchanged []bool
	if x.existed {
		before, _ = x.of.record(x.before, columns)
	}
	if x.after != nil {
		after, unchanged = x.of.record(x.after, columns)
	}
	out.line = out.line[:0]
	count := 0
	for k := range f.rows.Mappings(x.of.source) {
		old, now := "", ""
		if before != nil {
			id, ok, fault := f.rows.ID(x.of.source, k, before)
			if fault == nil && ok { // a row without an id was never loaded
				old = id
			}
		}
		made := false
		if after != nil {
			id, ok, fault := f.rows.ID(x.of.source, k, after)
			if fault != nil {
				return fault
			}
			was := ""
			if ok && old != "" && old != id {
				was = old
			}
			if out.line, made, fault = f.rows.Make(out.line, x.of.source, k, after, unchanged, was); fault != nil {
				return fault
			}
			if made {
				now = id
				count++
			}
		}
		if old != "" && now == "" {
			out.line = f.rows.Delete(out.line, x.of.source, k, old)
			count++
		}
	}
	if count == 0 {
		return nil
	}
	shown := after
	if shown == nil {
		shown = before
	}
	out.row = f.rowText(out.row[:0], x.of.source, shown, nil)
	if _, err := out.lines.Write(out.line); err != nil {
		return err
	}
	for range count {
		out.n++
		if _, err := out.rows.Write(out.row); err != nil {
			return err
		}
	}
	return nil
}

// rowText appends a row as a line of the rejects, which has the form of those of an import.
func (f *follower) rowText(dst []byte, source int, r *record.Record, fault *record.Fault) []byte {
	member := func(name, value string) {
		dst = append(record.AppendQuoted(dst, []byte(name)), ':')
		dst = append(record.AppendQuoted(dst, []byte(value)), ',')
	}
	dst = append(dst, '{')
	member("source", f.Map.Sources[source].Name)
	member("file", "table "+f.tables[source].name)
	member("key", r.Key())
	if fault != nil {
		member("column", fault.Column)
		member("value", fault.Value)
		member("error", fault.Err.Error())
	}
	dst = append(dst, `"record":{`...)
	for c, name := range f.rows.Columns(source) {
		if c > 0 {
			dst = append(dst, ',')
		}
		dst = append(record.AppendQuoted(dst, []byte(name)), ':')
		dst = r.Values[c].AppendJSON(dst)
	}
	return append(dst, "}}\n"...)
}

// reader returns the lines that were not rejected.
func (o *output) reader() (io.Reader, error) {
	all, err := o.lines.reader()
	if err != nil || len(o.skip) == 0 {
		return all, err
	}
	return &kept{lines: bufio.NewReader(all), skip: o.skip}, nil
}

// kept reads lines without those that were rejected. In place of those it has empty lines, so that the numbers stay.
type kept struct {
	lines *bufio.Reader
	skip  map[int]bool
	n     int
	rest  []byte
}

// Read implements [io.Reader].
func (k *kept) Read(b []byte) (int, error) {
	for len(k.rest) == 0 {
		line, err := k.lines.ReadBytes('\n')
		if err != nil {
			return 0, err
		}
		if k.n++; k.skip[k.n] {
			line = []byte("\n")
		}
		k.rest = line
	}
	n := copy(b, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}

// at returns the rows of some lines.
func (o *output) at(lines map[int]bool) (map[int][]byte, error) {
	all, err := o.rows.reader()
	if err != nil {
		return nil, err
	}
	out := map[int][]byte{}
	r := bufio.NewReader(all)
	for n := 1; len(out) < len(lines); n++ {
		row, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, fmt.Errorf("the load reports a line after the last one, %d", n)
		}
		if err != nil {
			return nil, err
		}
		if lines[n] {
			out[n] = row
		}
	}
	return out, nil
}
