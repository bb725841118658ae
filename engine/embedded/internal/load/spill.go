package load

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Scratch creates a temporary file. It calls `write`, which passes each block of the file to `add`.
// Scratch then returns the file for reading. The space of the file on the disk is free again once
// nothing refers to the source.
type Scratch func(write func(add func(name string, data []byte) error) error) (column.Source, error)

// spilled describes the temporary files of a batch that is not in memory. Such a batch is called a
// run. The rows of a run are in the order of their ids; rows with equal ids are in the order of the
// input. Without a column of ids, all rows are in the order of the input.
type spilled struct {
	rows   int           // number of rows
	size   int64         // size of the rows in a segment, in bytes
	name   string        // prefix of the names of the run's columns
	rest   column.Source // columns of the batch; nil once they are released
	perRow column.Source // line numbers and segment sizes of the rows, and the rows with missing vectors
	filled column.Source // segment sizes of the rows once a patch has filled them; nil before
	ids    column.Source // ids that were made after `rest` was written; nil for none
	// computed holds, by property, the column that was made after `rest` was written: with the vectors that Embed computed,
	// or with the values that a patch keeps.
	computed map[int]column.Source
	missing  map[int]int // by property: the number of vectors that are missing in `rest`

	hasIDs      bool   // `rest` contains a column of ids
	hasSeen     bool   // `rest` contains the properties that the lines have
	opened      bool   // whether batch.open was called
	unique      bool   // no id occurs twice
	least, most []byte // the first and the last id; nil without a column of ids
}

// spill moves the rows from memory to temporary files, one run per type.
func (in *Input) spill() error {
	var made []*run
	src, err := in.opts.Scratch(func(add func(string, []byte) error) error {
		for i, list := range [][]*Rows{in.Nodes, in.Edges} {
			for _, r := range list {
				if r == nil {
					continue
				}
				x, err := r.spill(strconv.Itoa(i)+"."+strconv.Itoa(r.Type.Index), &in.opts, add)
				if err != nil {
					return err
				}
				if x != nil {
					made = append(made, x)
				}
			}
		}
		return nil
	})
	if err != nil || len(made) == 0 {
		return err
	}
	// The line numbers are needed for errors until the end of the load; the columns are released
	// earlier. So they are in different files.
	perRow, err := in.opts.Scratch(func(add func(string, []byte) error) error {
		for _, x := range made {
			if err := add(x.name+lineColumn, column.Bytes(x.lines)); err != nil {
				return err
			}
			if err := add(x.name+sizeColumn, column.Bytes(x.sizes)); err != nil {
				return err
			}
			for prop, rows := range x.left {
				if err := add(x.name+missingColumn(prop), column.Bytes(rows)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for _, x := range made {
		x.rest, x.perRow = src, perRow
	}
	return err
}

// run is a batch that is being spilled.
type run struct {
	*spilled
	lines []int64  // by row
	sizes []uint32 // by row
	// left holds, by property, the rows with a missing vector in the order of the input.
	left map[int][]uint32
}

// memoryBytes returns the approximate size in bytes of the rows that are in memory.
func (in *Input) memoryBytes() (n int64) {
	in.each(func(r *Rows) {
		for _, b := range r.batches {
			if b.file == nil {
				n += int64(b.bytes())
			}
		}
	})
	return n
}

// Spilled reports whether some rows of the input are in temporary files.
func (in *Input) Spilled() (yes bool) {
	in.each(func(r *Rows) { yes = yes || r.spilled() })
	return yes
}

// spilled reports whether some rows are in runs.
func (r *Rows) spilled() bool { return len(r.batches) > 0 && r.batches[0].file != nil }

// inMemory lists the batches that are not spilled.
func (r *Rows) inMemory() []*batch {
	i := 0
	for i < len(r.batches) && r.batches[i].file != nil {
		i++
	}
	return r.batches[i:]
}

// spill writes the rows in memory as a run. It returns nil if there are no rows to write.
func (r *Rows) spill(name string, opts *Options, add func(string, []byte) error) (*run, error) {
	var runs []*batch
	part := &Rows{Type: r.Type}
	for _, b := range r.batches {
		if b.file != nil {
			runs = append(runs, b)
		} else {
			part.add(b)
		}
	}
	if len(part.batches) == 0 {
		return nil, nil
	}
	if err := r.fillIDs(part.batches, false, opts); err != nil {
		return nil, err
	}
	f := &spilled{rows: part.Len(), name: name, hasIDs: part.batches[0].ids != nil, hasSeen: part.batches[0].seen != nil, unique: true, missing: map[int]int{}}
	out := &batch{typ: r.Type, file: f, props: make([]*column.Builder, len(r.Type.Props))}
	r.withIDs = r.withIDs || f.hasIDs
	var perm []uint32
	if part.batches[0].idColumn() != nil {
		perm = part.sorted()
	}
	out.claims = part.gatherClaims(perm)
	var sizes [][]uint32
	var lines [][]int64
	ids, names := part.batches[0].idColumn(), part.batches[0].columnNames()
	columns := make([][]*column.Builder, len(names))
	for _, b := range part.batches {
		f.size += b.size()
		sizes, lines = append(sizes, b.sizes()), append(lines, b.lines)
		k := 0
		b.builders(func(x **column.Builder) {
			columns[k] = append(columns[k], *x)
			k++
		})
	}
	errs, tasks := make([]error, len(columns)), make([]func(), len(columns))
	var writing sync.Mutex // only one goroutine may call add
	for k, parts := range columns {
		tasks[k] = func() {
			whole := parts[0]
			if len(parts) > 1 || perm != nil {
				whole = column.Gather(parts, perm)
			}
			if parts[0] == ids {
				f.noteIDs(whole, perm != nil)
			}
			writing.Lock()
			defer writing.Unlock()
			errs[k] = whole.Spill(name+names[k], add)
		}
	}
	parallel.Do(tasks...)
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	r.batches, r.first = nil, nil
	for _, b := range append(runs, out) {
		r.add(b)
	}
	left := part.leftOut(perm)
	for prop, rows := range left {
		f.missing[prop] = len(rows)
	}
	return &run{f, gather(lines, perm), gather(sizes, perm), left}, nil
}

// noteIDs notes the range of the ids, and whether one occurs twice. Rows that were not sorted have no id twice.
func (f *spilled) noteIDs(ids *column.Builder, sorted bool) {
	f.least, f.most = bytes.Clone(ids.Raw(0)), bytes.Clone(ids.Raw(f.rows-1))
	for i := 1; i < f.rows && sorted && f.unique; i++ {
		f.unique = !bytes.Equal(ids.Raw(i-1), ids.Raw(i))
	}
}

// leftOut returns, by property, the rows with a missing vector in the order of the input. If perm is
// not nil, the rows are numbered by their position in perm.
func (r *Rows) leftOut(perm []uint32) map[int][]uint32 {
	left := map[int][]uint32{}
	for i, b := range r.batches {
		for _, l := range b.left {
			left[l.prop] = append(left[l.prop], uint32(r.first[i]+l.row))
		}
	}
	if len(left) == 0 || perm == nil {
		return left
	}
	position := make([]uint32, len(perm)) // by row
	for at, row := range perm {
		position[row] = uint32(at)
	}
	for _, rows := range left {
		for i, row := range rows {
			rows[i] = position[row]
		}
	}
	return left
}

// gather concatenates lists of numbers. If perm is not nil, it puts the numbers in the order of
// perm.
func gather[T any](lists [][]T, perm []uint32) []T {
	all := slices.Concat(lists...)
	if perm == nil {
		return all
	}
	out := make([]T, len(perm))
	for i, row := range perm {
		out[i] = all[row]
	}
	return out
}

// idsOfSpilled makes ids for the runs that have no ids. It is called when a later row of the input
// has an id.
func (r *Rows) idsOfSpilled(opts *Options) error {
	for _, b := range r.batches {
		if b.file == nil {
			break
		}
		if err := b.fillIDs(r.sequence); err != nil {
			return err
		}
		n := b.rows()
		b.file.least, b.file.most = bytes.Clone(b.ids.Raw(0)), bytes.Clone(b.ids.Raw(n-1))
		src, err := opts.Scratch(func(add func(string, []byte) error) error { return b.ids.Spill(b.file.name+idColumn, add) })
		if err != nil {
			return err
		}
		b.file.ids, b.ids = src, nil
	}
	r.withIDs = true
	return nil
}

// openIDs opens the column of ids of a spilled batch for reading.
func (b *batch) openIDs() {
	f := b.file
	if f == nil || b.idColumn() != nil {
		return
	}
	switch p := b.typ.IDProp; {
	case p >= 0:
		b.props[p] = f.open(f.rest, propColumn(p), b.typ.Props[p].Type)
	case f.ids != nil:
		b.ids = f.open(f.ids, idColumn, textType)
	case f.hasIDs:
		b.ids = f.open(f.rest, idColumn, textType)
	}
}

// open opens all columns of a spilled batch for reading.
func (b *batch) open() {
	f := b.file
	if f == nil || f.opened {
		return
	}
	f.opened = true
	b.openIDs()
	if b.typ.Entity == plan.Edge {
		b.from, b.to = f.open(f.rest, fromColumn, textType), f.open(f.rest, toColumn, textType)
	}
	if f.hasSeen {
		b.seen = f.open(f.rest, seenColumn, textType)
	}
	for p := range b.props {
		if b.props[p] != nil {
			continue
		}
		src := f.rest
		if computed := f.computed[p]; computed != nil {
			src = computed
		}
		b.props[p] = f.open(src, propColumn(p), b.typ.Props[p].Type)
	}
}

// close releases the columns of a spilled batch.
func (b *batch) close() {
	if f := b.file; f != nil {
		f.rest, f.ids, f.computed = nil, nil, nil
	}
	b.ids, b.from, b.to, b.seen = nil, nil, nil, nil
	clear(b.props)
}

// open reads the column `name` of the run, with values of type t, from the file `src`.
func (f *spilled) open(src column.Source, name string, t value.Type) *column.Builder {
	return column.Unspill(t, f.rows, f.name+name, src)
}

// replace writes a property's column to a temporary file, which takes the place of that column in f.rest.
func (f *spilled) replace(prop int, to *column.Builder, scratch Scratch) (column.Source, error) {
	src, err := scratch(func(add func(string, []byte) error) error { return to.Spill(f.name+propColumn(prop), add) })
	if err != nil {
		return nil, err
	}
	if f.computed == nil {
		f.computed = map[int]column.Source{}
	}
	f.computed[prop] = src
	return src, nil
}

// line returns the line number that a row has in the input.
func (b *batch) line(row int) int64 {
	if b.file != nil && b.lines == nil {
		b.lines = column.Read[int64](b.file.perRow, b.file.name+lineColumn, b.file.rows)
	}
	return b.lines[row]
}

// The names of columns in a run, after the name of the run.
const (
	idColumn   = ".id"   // ids of the entities
	fromColumn = ".from" // ids of the source nodes of edges
	toColumn   = ".to"   // ids of the target nodes of edges
	seenColumn = ".seen" // properties that the lines have
	lineColumn = ".line" // line numbers of the rows
	sizeColumn = ".size" // sizes of the rows in a segment
)

// textType is the type of ids.
var textType = value.Of(value.String)

// propColumn returns the name of the column with the values of property p.
func propColumn(p int) string { return ".p" + strconv.Itoa(p) }

// missingColumn returns the name of the column that lists the rows in which the vector of property
// p is missing.
func missingColumn(p int) string { return ".m" + strconv.Itoa(p) }

// columnNames returns the names of the columns of a batch, in the order of the method `builders`.
func (b *batch) columnNames() (names []string) {
	if b.ids != nil {
		names = append(names, idColumn)
	}
	if b.from != nil {
		names = append(names, fromColumn, toColumn)
	}
	if b.seen != nil {
		names = append(names, seenColumn)
	}
	for p := range b.props {
		names = append(names, propColumn(p))
	}
	return names
}
