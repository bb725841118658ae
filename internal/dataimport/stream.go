package dataimport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// maxFaults is the maximum number of faults that are reported.
const maxFaults = 100

// Import is a plan with the files of its sources.
type Import struct {
	plan  *Plan
	files [][]record.File // by source
	count func(n int)     // called with numbers of bytes read; may be nil

	// rejects collects the records that do not fit, if it is set. They are left out, as whole records: neither nodes nor edges
	// are made of them.
	rejects  *Rejects
	prepared bool // Prepare has succeeded
}

// New returns an import. The list `files` has the files of each source of the plan.
func New(p *Plan, files [][]record.File, count func(n int)) *Import {
	return &Import{plan: p, files: files, count: count}
}

// Size returns the number of bytes that the import reads in one pass over nodes and edges, or 0 if it is unknown.
func (in *Import) Size() int64 {
	total := int64(0)
	for i, s := range in.plan.sources {
		size := int64(0)
		for _, f := range in.files[i] {
			if f.Open != nil {
				if f.Size == 0 {
					return 0
				}
				size += f.Size
			} else if info, err := os.Stat(f.Path); err == nil {
				size += info.Size()
			}
		}
		for _, isEdge := range []bool{false, true} {
			if s.has(isEdge) {
				total += size
			}
		}
	}
	return total
}

// has reports whether a record of the source becomes an edge, or a node.
func (s *plannedSource) has(isEdge bool) bool {
	return slices.ContainsFunc(s.maps, func(m *plannedMapping) bool { return m.IsEdge == isEdge })
}

// Faults are the faults of an import, at most a hundred.
type Faults struct {
	List []*record.Fault
	More bool // there are faults that List leaves out
}

// Error lists the faults, one a line.
func (f *Faults) Error() string {
	text := ""
	for i, fault := range f.List {
		if i > 0 {
			text += "\n"
		}
		text += fault.Error()
	}
	if f.More {
		text += "\n(there are more faults)"
	}
	return text
}

// add adds a fault.
func (f *Faults) add(fault *record.Fault) {
	if len(f.List) == maxFaults {
		f.More = true
		return
	}
	f.List = append(f.List, fault)
}

// place says where a record is.
type place struct {
	source, file int
	row          int64
}

// pass reads all records of the sources, nodes first.
type pass struct {
	in     *Import
	ctx    context.Context
	phases []bool // the phases that remain, the current one first: false reads nodes, true reads edges

	source, file int
	reader       record.Reader
	unchecked    int // records read since the context was last checked

	faults Faults
	faulty map[place]bool // records with a fault, which the second phase leaves out
	buf    []byte         // produced lines
	lines  int64          // number of lines produced so far

	texts [4]string // scratch for the values of an end

	unchanged []bool // by column of a changed row: its value is not known and did not change; nil for other records

	// visit is called with each record in place of making lines, if it is set. Such a pass passes over records with faults.
	visit func(p *pass, m *plannedMapping, r *record.Record)
	// made is called after each line, if it is set. It reports whether to go on.
	made func(line int64, m *plannedMapping, r *record.Record) bool
	// failed is called with each fault of a record, if it is set, in place of collecting the fault. It reports whether to go on.
	failed func(at place, r *record.Record, fault *record.Fault) error
}

// newPass returns a pass over the records.
func (in *Import) newPass(ctx context.Context) *pass {
	return &pass{in: in, ctx: ctx, phases: []bool{false, true}, faulty: map[place]bool{}}
}

// errStop ends a pass early.
var errStop = errors.New("stop")

// run reads records until `enough` bytes of lines are in the buffer. The error is io.EOF at the end.
func (p *pass) run(enough int) error {
	for len(p.buf) < enough {
		if p.reader == nil {
			if err := p.open(); err != nil {
				return p.final(err)
			}
		}
		if p.unchecked++; p.unchecked%1024 == 0 && p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		r, err := p.reader.Next()
		if err == io.EOF {
			if err := p.closeFile(); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			var fault *record.Fault
			if !errors.As(err, &fault) || fault.Final {
				return p.final(err)
			}
			at := place{p.source, p.file, fault.Row}
			if p.skips(at) {
				continue
			}
			if err := p.fail(at, &record.Record{Line: fault.Line, Row: fault.Row}, fault); err != nil {
				return err
			}
			continue
		}
		if p.skips(place{p.source, p.file, r.Row}) {
			continue
		}
		if err := p.record(r); err != nil {
			return err
		}
	}
	return nil
}

// final adds the faults so far to a fault that ends the pass.
func (p *pass) final(err error) error {
	var fault *record.Fault
	if errors.As(err, &fault) {
		p.faults.add(fault)
		return &p.faults
	}
	return err
}

// skips reports whether the record at a place was rejected, or has a fault that is reported already.
func (p *pass) skips(at place) bool {
	return p.faulty[at] || p.in.rejects != nil && p.in.rejects.rows[at]
}

// record appends to p.buf the lines that the mappings for the current phase make of a record. The error is errStop or that of fail.
func (p *pass) record(r *record.Record) error {
	edges := p.phases[0]
	for _, m := range p.in.plan.sources[p.source].maps {
		if m.IsEdge != edges || !m.matches(r) {
			continue
		}
		if p.visit != nil {
			p.visit(p, m, r)
			continue
		}
		start := len(p.buf)
		made, fault := p.make(m, r)
		if fault != nil || !made || len(p.faults.List) > 0 { // after the first fault, the pass fails and needs no more lines
			p.buf = p.buf[:start]
		}
		if fault != nil {
			if err := p.fail(place{p.source, p.file, r.Row}, r, fault); err != nil {
				return err
			}
			return nil // the other mappings of the record would often report the same
		}
		if made {
			p.lines++
			if p.made != nil && !p.made(p.lines, m, r) {
				return errStop
			}
		}
	}
	return nil
}

// fail handles a fault of a record.
func (p *pass) fail(at place, r *record.Record, fault *record.Fault) error {
	if p.visit != nil {
		return nil
	}
	if p.failed != nil {
		return p.failed(at, r, fault)
	}
	p.faulty[at] = true
	p.faults.add(fault)
	if p.faults.More {
		return &p.faults
	}
	return nil
}

// open opens the next file that has records for the phase. The error is io.EOF, or the faults, after the last one.
func (p *pass) open() error {
	for len(p.phases) > 0 {
		for ; p.source < len(p.in.plan.sources); p.source, p.file = p.source+1, 0 {
			s := p.in.plan.sources[p.source]
			if !s.has(p.phases[0]) || p.file == len(p.in.files[p.source]) {
				continue
			}
			opts := s.Read
			opts.Count = p.in.count
			f := p.in.files[p.source][p.file]
			r, err := record.Open(f, opts)
			if err != nil {
				return err
			}
			if columns := r.Columns(); columns != nil {
				for _, name := range s.columns {
					if !slices.Contains(columns, name) {
						return errors.Join(&record.Fault{File: f.Name, Err: &record.UnknownColumn{Name: name, Columns: columns}, Final: true}, r.Close())
					}
				}
			}
			r.Select(s.columns)
			p.reader = r
			return nil
		}
		p.phases = p.phases[1:]
		p.source, p.file = 0, 0
	}
	if len(p.faults.List) > 0 {
		return &p.faults
	}
	return io.EOF
}

// closeFile closes the file and goes to the next one.
func (p *pass) closeFile() error {
	if p.reader == nil {
		return nil
	}
	err := p.reader.Close()
	p.reader = nil
	p.file++
	return err
}

// matches reports whether a record meets the conditions of a mapping.
func (m *plannedMapping) matches(r *record.Record) bool {
	for i := range m.where {
		c := &m.where[i]
		v := &r.Values[c.column]
		ok := false
		switch v.Kind {
		case record.Text, record.Number:
			ok = slices.Contains(c.texts, text(v.Raw))
		case record.List:
			for j := range v.Elems {
				ok = ok || slices.Contains(c.texts, v.Elems[j].String())
			}
		default:
			ok = slices.Contains(c.texts, v.String())
		}
		if !ok {
			return false
		}
	}
	return true
}

// fault returns a fault of a record.
func (p *pass) fault(r *record.Record, pp *plannedProperty, v *record.Value, err error) *record.Fault {
	f := r.Fault(p.in.files[p.source][p.file].Name, err)
	f.Value = v.String()
	if pp.column >= 0 {
		f.Column = pp.convert.column.Name
	}
	return f
}

// make appends the line of a mapping. It makes no line for an edge with an end that is null.
func (p *pass) make(m *plannedMapping, r *record.Record) (bool, *record.Fault) {
	p.buf = append(p.buf, m.open...)
	if m.IsEdge {
		for _, e := range []*plannedEnd{m.from, m.to} {
			id, found, fault := p.end(e, r)
			if fault != nil {
				return false, fault
			}
			if !found {
				return false, nil
			}
			p.buf = append(append(append(p.buf, `,"`...), e.field...), `":`...)
			if e.object {
				p.buf = quote(append(p.buf, `{"type":`...), e.typ.Name)
				p.buf = append(quote(append(p.buf, `,"id":`...), id), '}')
			} else {
				p.buf = quote(p.buf, id)
			}
		}
		p.buf = append(p.buf, `,"data":{`...)
		if m.row != nil {
			p.buf = quote(append(p.buf, `"id":`...), m.row.of(m.Type, r))
		}
	}
	for i := range m.props {
		pp := &m.props[i]
		if p.unchanged != nil && pp.column >= 0 && p.unchanged[pp.column] {
			continue
		}
		v, raw, err := pp.value(r)
		if err == nil && v.IsNull() && pp.required {
			err = fmt.Errorf("%s.%s is required", m.Type, pp.name)
		}
		if err != nil {
			return false, p.fault(r, pp, raw, err)
		}
		prefix := pp.prefix
		if p.buf[len(p.buf)-1] == '{' {
			prefix = prefix[1:]
		}
		p.buf = append(p.buf, prefix...)
		p.buf = appendValue(p.buf, v)
	}
	p.buf = append(p.buf, "}}\n"...)
	return true, nil
}

// value returns the value of a property in a record, and the value in the file.
func (pp *plannedProperty) value(r *record.Record) (value.Value, *record.Value, error) {
	raw := &pp.constant
	if pp.column >= 0 {
		raw = &r.Values[pp.column]
	}
	v, err := pp.convert.Convert(raw)
	return v, raw, err
}

// tuple returns the texts of the values that identify a node, joined by joinTexts. It reports false if one is null.
func (p *pass) tuple(by []plannedProperty, r *record.Record) (string, bool, *record.Fault) {
	texts := p.texts[:0]
	for i := range by {
		v, raw, err := by[i].value(r)
		if err != nil {
			return "", false, p.fault(r, &by[i], raw, err)
		}
		if v.IsNull() {
			return "", false, nil
		}
		if v.Kind() == value.String {
			texts = append(texts, v.Str())
		} else {
			texts = append(texts, value.Text(v))
		}
	}
	return joinTexts(texts), true, nil
}

// end returns the id of the node at an end. It reports false if the end is null.
func (p *pass) end(e *plannedEnd, r *record.Record) (string, bool, *record.Fault) {
	id, found, fault := p.tuple(e.by, r)
	if !found || fault != nil || e.lookup == nil {
		return id, found, fault
	}
	if id := e.lookup.ids[id]; id != "" {
		return id, true, nil
	}
	_, raw, _ := e.by[0].value(r)
	f := p.fault(r, &e.by[0], raw, fmt.Errorf("no %s has this %s", e.typ.Name, joined(e.lookup.props)))
	return "", false, f
}
