package version

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/textindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/parallel"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// IndexFiles stores the indexes of the tables that a transaction fills with segments, or that a
// checkpoint makes. The indexes then use no memory, and the next Open need not build them.
type IndexFiles struct {
	// Least is the least number of ordinals of a table for which the indexes are stored at once. To
	// store the indexes of smaller tables would delay a commit; the next checkpoint stores them.
	Least uint32
	// Spill is the least number of ordinals of a table for which the indexes are built in temporary
	// files.
	Spill   uint32
	Scratch index.Scratch // makes the temporary files
	// Open opens a stored segment of rows. The result shares nothing with other segments, so the
	// blocks that it decompresses are freed together with it.
	Open func(t *schema.Type, name string) (*segment.Segment, error)
	// Store makes a segment durable. It returns its name and the segment for reading.
	Store func(write func(w BlockWriter) error) (name string, src column.Source, err error)

	// Segments that begin at this row or later are opened again. The earlier segments are reused: a
	// checkpoint that runs at the same time may delete their files, and it identifies the table by
	// these segments.
	first uint32
}

// BlockWriter writes the blocks of a segment. *store.SegmentWriter implements it.
type BlockWriter interface {
	textindex.File
	AddCold(name string, data []byte, delta bool) error
}

// KeepIndexes makes PutSegments store indexes in files.
func (tx *Txn) KeepIndexes(files *IndexFiles) { tx.files = files }

// Stored lists the segments that the transaction has stored: those of indexes, and those of [Txn.StoreLate].
func (tx *Txn) Stored() []string { return tx.kept }

// reindex rebuilds the indexes of a table in which PutSegments has put rows, which are its last
// ones. It stores them if the transaction keeps indexes and they are large, or most of the entities
// are new. The only possible error is that of the files.
func (tx *Txn) reindex(t *Table, put uint32) error {
	if tx.files == nil || t.next < tx.files.Spill && put < t.next/2 {
		t.reindex()
		return nil
	}
	files := *tx.files
	files.first = t.base - put
	name, err := files.reindex(t)
	if name == "" {
		return err
	}
	tx.kept = append(tx.kept, name)
	if err != nil {
		return err
	}
	return files.refresh(t)
}

// reindex rebuilds all indexes of a table from its live entities, with level 0 only. It stores them, unless
// the table has fewer than f.Least ordinals or f is nil. It returns the name of the segment with the
// indexes, also when it fails after it has made the segment; the name is empty if there is no
// segment. The only possible error is that of the files.
func (f *IndexFiles) reindex(t *Table) (name string, err error) {
	if f == nil || t.next < f.Least {
		t.reindex()
		return "", nil
	}
	write := func(w BlockWriter) error {
		ix := levelOf{t, 0}
		return ix.Blocks(func(name string, data []byte) error {
			if cold, delta := ix.Cold(name); cold {
				return w.AddCold(name, data, delta)
			}
			return w.AddBlock(name, data)
		})
	}
	if t.next < f.Spill {
		t.reindex()
	} else {
		spilled, err := f.spillIndexes(t)
		if err != nil {
			return "", err
		}
		write = func(w BlockWriter) error { return levelOf{t, 0}.writeSpilled(spilled, w) }
	}
	name, src, err := f.Store(write)
	if err != nil {
		return "", err
	}
	t.levels = nil
	t.idx = make([]index.Hash, len(t.Type.Tuples))
	_, err = t.openLevel(name, src)
	return name, err
}

// refresh drops the decompressed blocks of the segments of a table from f.first on: it opens these segments
// anew.
func (f *IndexFiles) refresh(t *Table) error {
	fresh, err := f.fresh(&t.Rows)
	if err == nil {
		t.Segs = fresh.Segs
	}
	return err
}

// fresh returns a copy of the rows whose stored segments from f.first on are opened anew.
func (f *IndexFiles) fresh(t *Rows) (*Rows, error) {
	out := *t
	out.Segs = slices.Clone(t.Segs)
	for i := range out.Segs {
		if err := f.reopen(&out, i); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// reopen opens segment i of a table anew, if it is stored and begins at f.first or later.
func (f *IndexFiles) reopen(t *Rows, i int) error {
	s := t.Segs[i]
	if s.Name == "" || s.Origin != nil || s.Start < f.first {
		return nil
	}
	fresh, err := f.Open(t.Type, s.Name)
	if err == nil {
		fresh.Start = s.Start
		t.Segs[i] = fresh
	}
	return err
}

// passing returns a function. The caller must call the function with each ordinal, in ascending
// order, before it reads the row of the ordinal. When no later ordinal has its row in a segment, the
// function opens the segment anew, so that its decompressed blocks are freed. The function throws
// the errors; see package corruption.
func (f *IndexFiles) passing(t *Rows) func(ord uint32) {
	lasts := lastOrdinals(t)
	at := 0
	return func(ord uint32) {
		if ord == 0 {
			at = 0
		}
		for ; at < len(lasts) && ord > lasts[at].ord; at++ {
			if err := f.reopen(t, lasts[at].segment); err != nil {
				corruption.Throw(err)
			}
		}
	}
}

// lastOrdinal is the greatest ordinal that has its row in a segment.
type lastOrdinal struct {
	segment int // number of the segment in the table
	ord     uint32
}

// lastOrdinals lists the segments that have rows of live entities, in the order of their greatest
// ordinals.
func lastOrdinals(t *Rows) []lastOrdinal {
	all := make([]lastOrdinal, len(t.Segs))
	for k, s := range t.Segs {
		all[k] = lastOrdinal{k, s.Start + s.N - 1}
	}
	if t.rows.Dense() {
		return all
	}
	used, k := make([]bool, len(t.Segs)), 0
	for ord := range t.next {
		row := t.rows.Get(ord)
		if row >= t.base { // dead, or in the tail
			continue
		}
		if s := t.Segs[k]; row-s.Start >= s.N {
			k = sort.Search(len(t.Segs), func(i int) bool { return t.Segs[i].Start > row }) - 1
		}
		all[k].ord, used[k] = ord, true
	}
	all = slices.DeleteFunc(all, func(l lastOrdinal) bool { return !used[l.segment] })
	slices.SortFunc(all, func(a, b lastOrdinal) int { return cmp.Compare(a.ord, b.ord) })
	return all
}

// spillIndexes builds the bases of all indexes of a table in temporary files. Their order is the same as in a
// segment.
func (f *IndexFiles) spillIndexes(t *Table) ([]index.Spilled, error) {
	t.levels = t.wholeLevel()
	n := 1 + len(t.Type.Tuples)
	if t.Type.Entity == plan.Edge {
		n += 2
	}
	spilled, errs := make([]index.Spilled, n), make([]error, n)
	tasks := make([]func(), n)
	for i := range tasks {
		tasks[i] = func() { spilled[i], errs[i] = f.spillIndex(&t.Rows, i) }
	}
	parallel.Do(tasks...)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return spilled, nil
}

// spillIndex builds base i of spillIndexes.
func (f *IndexFiles) spillIndex(t *Rows, i int) (index.Spilled, error) {
	t, err := f.fresh(t)
	if err != nil {
		return nil, err
	}
	pass := f.passing(t)
	if hashes := hashes(t); i < len(hashes) {
		return index.SpillHash(t.next, f.Scratch, func(ord uint32) (uint64, bool) {
			pass(ord)
			return hashes[i](ord)
		})
	}
	ends := t.liveEnds
	if i == len(t.Type.Tuples)+2 {
		ends = reversed(ends)
	}
	return index.SpillAdjacency(t.next, f.Scratch, func(ord uint32) (uint32, uint32, bool) {
		pass(ord)
		return ends(ord)
	})
}

// writeSpilled writes the segment of the bases that spillIndexes built.
func (ix levelOf) writeSpilled(spilled []index.Spilled, w BlockWriter) error {
	t, meta := ix.t, ix.meta()
	for i, x := range spilled {
		meta = x.AppendDescriptor(meta)
		name := "k"
		switch tuples := len(t.Type.Tuples); {
		case i == tuples+1:
			name = "out"
		case i == tuples+2:
			name = "in"
		case i > 0:
			name = "t" + strconv.Itoa(i-1)
		}
		if err := x.Blocks(name, w.AddStream); err != nil {
			return err
		}
	}
	return w.AddBlock("meta", meta)
}

// meta returns the block `meta` of the segment of a level, without the descriptors.
func (ix levelOf) meta() []byte {
	var before level
	if ix.number > 0 {
		before = *ix.t.levels[ix.number-1]
	}
	t, l := ix.t, ix.t.levels[ix.number]
	meta := []byte{format.Current, byte(t.Type.Entity)}
	meta = codec.AppendText(meta, t.Type.Name)
	for _, n := range []uint32{l.ords, l.rows, before.ords, before.rows} {
		meta = binary.AppendUvarint(meta, uint64(n))
	}
	return t.Type.AppendTuples(meta)
}

// hashes returns the functions that hash the ids and the tuples of the live entities.
func hashes(t *Rows) []func(ord uint32) (uint64, bool) {
	ids := newTextRows(t, t.ids)
	out := []func(ord uint32) (uint64, bool){func(ord uint32) (uint64, bool) {
		switch row := t.rows.Get(ord); {
		case row == index.Dead:
			return 0, false
		case row >= t.base:
			return index.String(t.idAt(row)), true
		default:
			r, i := ids.at(row)
			id, _ := r.Text(i)
			return index.String(id), true
		}
	}}
	for _, tuple := range t.Type.Tuples {
		out = append(out, tupleHashes(t, tuple))
	}
	return out
}

// tupleHashes returns the function that hashes a tuple of the live entities. Only one goroutine may
// use the function.
func tupleHashes(t *Rows, tuple []int) func(ord uint32) (uint64, bool) {
	texts := map[int]textsOf{} // by property: reads the texts, which may be large together
	for _, p := range tuple {
		if p >= 0 && t.Type.Props[p].Type.Kind == value.String && !t.Type.Props[p].Type.List {
			texts[p] = newTexts(t, p)
		}
	}
	return func(ord uint32) (uint64, bool) {
		row := t.rows.Get(ord)
		if row == index.Dead {
			return 0, false
		}
		var src, dst uint32
		if t.Type.Entity == plan.Edge {
			src, dst = t.endsAt(row)
		}
		return tupleHash(tuple, func(p int) value.Value {
			x, ok := texts[p]
			if !ok {
				return t.ValueAt(row, p)
			}
			if s, ok := x.Text(row); ok {
				return value.OfString(s)
			}
			return value.Null
		}, src, dst)
	}
}

// liveEnds returns the ends of an edge; ok is false for a deleted edge.
func (t *Rows) liveEnds(ord uint32) (src, dst uint32, ok bool) {
	row := t.rows.Get(ord)
	if row == index.Dead {
		return 0, 0, false
	}
	src, dst = t.endsAt(row)
	return src, dst, true
}

// reversed returns a function like [Rows.liveEnds] with the target node first.
func reversed(ends func(ord uint32) (src, dst uint32, ok bool)) func(ord uint32) (dst, src uint32, ok bool) {
	return func(ord uint32) (dst, src uint32, ok bool) {
		src, dst, ok = ends(ord)
		return dst, src, ok
	}
}
