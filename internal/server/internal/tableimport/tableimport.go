// Package tableimport reads tables that clients upload: it proposes maps for them, and makes of them the NDJSON of a load. The files are
// CSV or TSV of strangers, so that what reading one takes is bounded. They are never Parquet or Arrow, whose library allocates what a small
// file says: it is made for the files of those whom one trusts.
package tableimport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/infer"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The bounds of what is remembered of a file.
const (
	maxColumns = 1000
	maxValues  = 10_000_000 // rows times columns of a table for which a map is proposed
)

// File is an uploaded file.
type File struct {
	Path string
	Name string // as the client calls it; its ending tells the format

	Owner string // the actor and the graph, whose places the file takes

	progress *atomic.Int64 // see Reading; may be nil
}

// running has the numbers of records that were read, by the path of the file.
var running sync.Map

// Reading makes [RecordsRead] tell how many records of the file are read from now on. The caller calls `done` at the end.
func (f *File) Reading() (done func()) {
	f.progress = new(atomic.Int64)
	running.Store(f.Path, f.progress)
	return func() { running.CompareAndDelete(f.Path, f.progress) }
}

// RecordsRead returns how many records of the file with a path have been read, or 0 if nobody reads it.
func RecordsRead(path string) int64 {
	if n, ok := running.Load(path); ok {
		return n.(*atomic.Int64).Load()
	}
	return 0
}

// formats are the formats that a server reads.
var formats = []string{record.CSV, record.TSV}

// check checks the name.
func (f *File) check() error {
	if !slices.Contains(formats, record.FormatOf(f.Name)) || strings.ContainsFunc(f.Name, func(r rune) bool { return r < ' ' }) {
		return &tool.ArgumentError{Path: "file_name", Detail: fmt.Sprintf("found %q, expected a name that ends in .csv or .tsv", clip(f.Name)), Help: "for Parquet and other formats, use omnigraph import"}
	}
	return nil
}

// clip bounds the length of a name in a message.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// record returns the file as a source of records of which at most `values` can be read; 0 for no limit.
func (f *File) record(values int64) record.File {
	return record.File{Name: f.Name, Open: func(opts record.Options) (record.Reader, error) {
		opts.Plain = true
		r, err := record.Open(record.File{Name: f.Name, Path: f.Path}, opts)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &engine.NotFound{What: "upload", Name: filepath.Base(f.Path)} // it went meanwhile
		}
		if err != nil {
			return nil, err
		}
		if n := len(r.Columns()); n > maxColumns {
			return nil, errors.Join(&engine.TooLarge{Resource: "columns of the file", Limit: maxColumns, Actual: int64(n)}, r.Close())
		}
		return &reader{Reader: r, most: values, progress: f.progress}, nil
	}}
}

// reader counts the values of the records that it returns.
type reader struct {
	record.Reader
	most, read int64
	progress   *atomic.Int64 // counts the records; may be nil
}

// Next implements [record.Reader].
func (r *reader) Next() (*record.Record, error) {
	rec, err := r.Reader.Next()
	if err == nil && r.progress != nil {
		r.progress.Add(1)
	}
	if err == nil && r.most > 0 {
		if r.read += int64(len(rec.Values)); r.read > r.most {
			return nil, &engine.TooLarge{Resource: "values of the file", Limit: r.most, Actual: r.read, Hint: "use omnigraph import infer, or write the map by hand"}
		}
	}
	return rec, err
}

// Propose reads a file as a whole, and proposes a map to the types of a schema, and a type for it. A fault of the file is an
// *engine.LoadErrors.
func Propose(ctx context.Context, f *File, s *catalog.Schema) (*client.ImportProposal, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	back, err := inferring.take(f.Owner)
	if err != nil {
		return nil, err
	}
	defer back()
	p, err := infer.Propose(ctx, []infer.Input{{File: f.record(maxValues), Source: f.Name}}, "", nil)
	if err != nil {
		return nil, asLoad(err)
	}
	text, faults := gq.Format(gq.Source{Name: "schema.pg", Text: p.Schema})
	if err := faults.Err(); err != nil {
		return nil, fmt.Errorf("the proposed schema has errors: %w", err)
	}
	t := &p.Tables[0]
	a := &client.ImportProposal{Rows: t.Rows, Key: append([]string{}, t.Key...), KeyEvidence: t.Why, SchemaSource: text, Map: t.Fit(s), Columns: []client.ImportColumn{}}
	for _, c := range t.Columns {
		reads, err := json.Marshal(c.Reads)
		if err != nil {
			return nil, err
		}
		a.Columns = append(a.Columns, client.ImportColumn{
			Name: c.Name, Property: c.Property, Type: c.Type, Optional: c.Optional, Values: c.Values, Distinct: c.Distinct,
			Samples: append([]string{}, c.Samples...), Note: c.Note, Reads: reads,
		})
	}
	return a, nil
}

// Import makes the NDJSON of a load from a file.
type Import struct {
	in     *dataimport.Import
	stream *dataimport.Stream
	back   func() // returns the place
	most   int64
	read   int64
	err    error // the *engine.TooLarge that ended the stream
}

// mapName is the name of the map in faults.
const mapName = "map"

// New returns the import of a file as a map says, which has one source. The schema is that of the branch, `mode` that of the load, and
// `most` the bytes that its NDJSON may have; 0 for any. Faults of the map are a *wireerror.Rejected.
func New(ctx context.Context, f *File, text string, s *catalog.Schema, mode engine.LoadMode, most int64) (*Import, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	rejected := &wireerror.Rejected{What: "the map", Sources: map[string]string{mapName: text}}
	m, faults := dataimport.Parse(mapName, []byte(text))
	if rejected.Diagnostics = faults; faults.HasErrors() {
		return nil, rejected
	}
	if len(m.Sources) != 1 || m.InDatabase() || m.Database != "" {
		return nil, &tool.ArgumentError{Path: "map", Detail: "the map has several sources or a database, expected one source, which is the file"}
	}
	src := &m.Sources[0]
	if src.Read.Format == "" {
		src.Read.Format = record.FormatOf(f.Name)
	}
	if !slices.Contains(formats, src.Read.Format) {
		return nil, &tool.ArgumentError{Path: "map", Detail: fmt.Sprintf("the format is %s, expected csv or tsv", src.Read.Format), Help: "for Parquet and other formats, use omnigraph import"}
	}
	plan, faults := dataimport.NewPlan(m, s, dataimport.Options{NewNodes: !mode.Finds(), Partial: mode.Patches()})
	if rejected.Diagnostics = faults; faults.HasErrors() {
		return nil, rejected
	}
	i := &Import{in: dataimport.New(plan, [][]record.File{{f.record(0)}}, nil), most: most}
	if i.in.Lookups() {
		return nil, &tool.ArgumentError{Path: "map", Detail: "an end of an edge is found by a @unique that is not the key", Help: "name the key or the id of the node, or use omnigraph import"}
	}
	var err error
	if i.back, err = importing.take(f.Owner); err != nil {
		return nil, err
	}
	i.stream = i.in.Stream(ctx)
	return i, nil
}

// Read implements [io.Reader].
func (i *Import) Read(p []byte) (int, error) {
	if i.err != nil {
		return 0, i.err
	}
	n, err := i.stream.Read(p)
	if i.read += int64(n); i.most > 0 && i.read > i.most {
		i.err = &engine.TooLarge{Resource: "bytes of the NDJSON that the map makes of the file", Limit: i.most, Actual: i.read}
		return 0, i.err
	}
	return n, err
}

// Close closes the file.
func (i *Import) Close() error {
	defer i.back()
	return i.stream.Close()
}

// Explain returns the error of the load with the places in the file.
func (i *Import) Explain(ctx context.Context, err error) error {
	var load *engine.LoadErrors
	switch fault := i.stream.Err(); {
	case i.err != nil:
		return i.err
	case fault != nil && !errors.Is(fault, io.EOF):
		return asLoad(fault)
	case !errors.As(err, &load):
		return err
	}
	var lines []dataimport.LineFault
	for k := range load.Lines {
		l := &load.Lines[k]
		lines = append(lines, dataimport.LineFault{Line: l.Line, Field: l.Field, Err: dataimport.OfRecord(l.Err)})
	}
	faults, fault := i.in.Explain(ctx, lines, load.More)
	if fault != nil {
		return asLoad(fault)
	}
	return asLoad(faults)
}

// asLoad returns faults of a file as those of the lines of a load: by line, with the column as the field.
func asLoad(err error) error {
	var faults *dataimport.Faults
	var one *record.Fault
	switch {
	case errors.As(err, &faults):
	case errors.As(err, &one):
		faults = &dataimport.Faults{List: []*record.Fault{one}}
	default:
		return err
	}
	out := &engine.LoadErrors{More: faults.More}
	for _, f := range faults.List {
		line := engine.LineError{Line: max(f.Line, 1), Field: f.Column, Err: f.Err}
		if f.Line == 0 && f.Row > 0 {
			line.Line = f.Row
		}
		if f.Value != "" {
			line.Err = fmt.Errorf("%q: %w", clip(f.Value), f.Err)
		}
		out.Lines = append(out.Lines, line)
	}
	return out
}
