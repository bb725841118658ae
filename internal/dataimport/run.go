package dataimport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// Stream is the NDJSON of an import. Its Read returns a *Faults if records do not fit and no rejects are collected.
type Stream struct {
	pass *pass
	next int   // index in pass.buf of the next byte to return
	err  error // why the stream ended
}

// streamBytes is the number of bytes of lines that are made at a time.
const streamBytes = 64 << 10

// Stream returns the NDJSON of the import from its beginning.
func (in *Import) Stream(ctx context.Context) *Stream {
	return &Stream{pass: in.newPass(ctx)}
}

// Read implements [io.Reader].
func (s *Stream) Read(b []byte) (int, error) {
	p := s.pass
	for s.next == len(p.buf) {
		if s.err != nil {
			return 0, s.err
		}
		p.buf, s.next = p.buf[:0], 0
		s.err = p.run(streamBytes)
	}
	n := copy(b, p.buf[s.next:])
	s.next += n
	return n, nil
}

// Err returns the fault of the sources that ended the stream, or nil.
func (s *Stream) Err() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

// Close closes the file that is being read.
func (s *Stream) Close() error { return s.pass.closeFile() }

// LineFault is what a load says about a line of the NDJSON.
type LineFault struct {
	Line  int64  // from 1
	Field string // such as data.name, from or to; "" if it is about the whole line
	Err   error
}

// twin matches how a fault of a load names another line, which is a line of the NDJSON that the import makes.
var twin = regexp.MustCompile(` is in line \d+ too; keep one of the lines$`)

// OfRecord returns a fault of a line as one of the record that the line is made from.
func OfRecord(err error) error {
	if text := err.Error(); twin.MatchString(text) {
		return errors.New(twin.ReplaceAllString(text, " is in an earlier record too; keep one of them"))
	}
	return err
}

// Explain returns the places in the sources of faults that a load of the stream found. If rejects are collected, it rejects
// their records.
func (in *Import) Explain(ctx context.Context, faults []LineFault, more bool) (*Faults, error) {
	at := map[int64][]LineFault{}
	last := int64(0)
	for _, f := range faults {
		at[f.Line] = append(at[f.Line], f)
		last = max(last, f.Line)
	}
	out := &Faults{More: more}
	twice := map[string]*record.Fault{} // by type and id: the nodes that exist already
	p := in.newPass(ctx)
	p.made = func(line int64, m *plannedMapping, r *record.Record) bool {
		p.buf = p.buf[:0]
		for _, f := range at[line] {
			fault := p.explain(m, r, f)
			out.add(fault)
			if key, ok := p.key(m, r); ok && f.Field == "" {
				twice[key] = fault
			}
			if in.rejects != nil {
				in.rejects.add(place{p.source, p.file, r.Row}, in.plan.sources[p.source], r, fault)
			}
		}
		return line < last
	}
	err := p.drain()
	if err == nil && len(twice) > 0 {
		err = in.findFirst(ctx, twice)
	}
	in.rejects.apply()
	return out, err
}

// findFirst says in the faults of nodes where the sources have the same node before.
func (in *Import) findFirst(ctx context.Context, twice map[string]*record.Fault) error {
	p := in.newPass(ctx)
	p.phases = p.phases[:1]
	p.made = func(_ int64, m *plannedMapping, r *record.Record) bool {
		p.buf = p.buf[:0]
		key, ok := p.key(m, r)
		fault := twice[key]
		if !ok || fault == nil {
			return true
		}
		delete(twice, key)
		file := p.in.files[p.source][p.file].Name
		switch {
		case file == fault.File && r.Row == fault.Row: // the node is in the graph
		default:
			fault.Err = fmt.Errorf("%w; it is also in %s", fault.Err, r.Fault(file, nil).Place())
		}
		return len(twice) > 0
	}
	return p.drain()
}

// key returns the type and the id of the node that a mapping makes of a record, if it has an id.
func (p *pass) key(m *plannedMapping, r *record.Record) (string, bool) {
	if m.node == nil {
		return "", false
	}
	id, ok := p.id(m, r)
	return m.node.Name + " " + id, ok
}

// explain returns the fault at the record of a line.
func (p *pass) explain(m *plannedMapping, r *record.Record, f LineFault) *record.Fault {
	out := r.Fault(p.in.files[p.source][p.file].Name, f.Err)
	props := m.props
	name, _, _ := strings.Cut(strings.TrimPrefix(f.Field, "data."), ".")
	switch {
	case f.Field == "from" && m.from != nil:
		props, name = m.from.by, ""
	case f.Field == "to" && m.to != nil:
		props, name = m.to.by, ""
	}
	for i := range props {
		if pp := &props[i]; pp.column >= 0 && (name == "" && len(props) == 1 || pp.name == name) {
			out.Column, out.Value = pp.convert.column.Name, r.Values[pp.column].String()
		}
	}
	return out
}

// Rejects writes the records that do not fit, as JSON lines that an import with format: json and records: record can read again:
//
//	{"source":"ports.csv","file":"ports.csv","line":17,"row":16,"column":"opened","value":"soon","error":"…","record":{"code":"NLRTM","opened":"soon"}}
//
// The record has the columns that the map reads. A row of a database has a member key too.
type Rejects struct {
	w    io.Writer
	most int
	rows map[place]bool // the records that a pass leaves out
	// found has also the records that the current pass rejects. The pass does not leave them out, so that its lines have the
	// numbers that they had in the load.
	found map[place]bool
	buf   []byte
	err   error // of the writer
}

// Reject makes the import write records that do not fit to w and leave them out, at most `most`.
func (in *Import) Reject(w io.Writer, most int) {
	in.rejects = &Rejects{w: w, most: most, rows: map[place]bool{}, found: map[place]bool{}}
}

// Rejected returns the number of rejected records.
func (in *Import) Rejected() int {
	if in.rejects == nil {
		return 0
	}
	return len(in.rejects.found)
}

// Check reads all records and rejects those that do not fit. Call it before Stream, if rejects are collected. The error is a
// *TooManyRejects if there are more than allowed.
func (in *Import) Check(ctx context.Context) error {
	p := in.newPass(ctx)
	p.failed = func(at place, r *record.Record, fault *record.Fault) error {
		return in.rejects.add(at, in.plan.sources[at.source], r, fault)
	}
	p.made = func(int64, *plannedMapping, *record.Record) bool { p.buf = p.buf[:0]; return true }
	err := p.drain()
	in.rejects.apply()
	return err
}

// apply makes the next pass leave out all records that were rejected.
func (r *Rejects) apply() {
	if r != nil {
		maps.Copy(r.rows, r.found)
	}
}

// TooManyRejects says that more records do not fit than the user accepts.
type TooManyRejects struct {
	Most  int
	First *record.Fault // the first fault beyond
}

// Error says how to accept more.
func (e *TooManyRejects) Error() string {
	return fmt.Sprintf("more than %d records do not fit; the next: %v\nmend the map or the source, or accept more with --max-rejects", e.Most, e.First)
}

// Over returns a *TooManyRejects if the last Explain rejected more records than allowed, or the error of the writer.
func (in *Import) Over() error {
	if in.rejects == nil {
		return nil
	}
	return in.rejects.err
}

// add rejects a record.
func (r *Rejects) add(at place, s *plannedSource, rec *record.Record, fault *record.Fault) error {
	if r.err != nil || r.found[at] {
		return r.err
	}
	if len(r.found) == r.most {
		r.err = &TooManyRejects{Most: r.most, First: fault}
		return r.err
	}
	r.found[at] = true
	b := quote(append(r.buf[:0], `{"source":`...), s.Name)
	b = quote(append(b, `,"file":`...), fault.File)
	b = fmt.Appendf(b, `,"line":%d,"row":%d`, fault.Line, fault.Row)
	if fault.Key != "" {
		b = record.AppendQuoted(append(b, `,"key":`...), []byte(fault.Key))
	}
	b = append(b, `,"column":`...)
	b = record.AppendQuoted(b, []byte(fault.Column))
	b = record.AppendQuoted(append(b, `,"value":`...), []byte(fault.Value))
	b = record.AppendQuoted(append(b, `,"error":`...), []byte(fault.Err.Error()))
	b = append(b, `,"record":{`...)
	for i := range rec.Values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(record.AppendQuoted(b, []byte(s.columns[i])), ':')
		b = rec.Values[i].AppendJSON(b)
	}
	r.buf = append(b, "}}\n"...)
	_, r.err = r.w.Write(r.buf)
	return r.err
}
