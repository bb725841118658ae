package textindex

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"sync"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
)

// A segment that holds an inverted index has these blocks, numbers little-endian. They are read in
// place: a search reads only the parts that it needs.
//
//	text      format 1 byte; then uvarints: number of the analyzer; documents, their tokens, terms, and three times the
//	          base and the width of [numbers]: of ords, rows, lens
//	ords      by document: its ordinal; ascending
//	rows      by document: its row
//	lens      by document: tokens
//	groups    by group of 16 terms: where it starts in terms, and where the postings of its first
//	          term start in postings, 8 bytes each
//	terms     for each term, ascending: uvarint length and bytes; uvarints: postings, and their bytes
//	postings  for each term, one after another: the heads of its blocks, then the blocks. A block
//	          has 64 postings, the last one those that remain. At the end stand 8 bytes of 0
//	  head    last document, 4 bytes; end of the block, counted from the first block, 4 bytes;
//	          greatest impact; bits of a document, bits of an occurrence; 0: 1 byte each
//	  block   impacts, 1 byte each; documents, less the last one of the block before it and one;
//	          occurrences less one. The last two are packed, lowest bits first, and each starts at a byte
//
// An array of ords, rows or lens is left out if its width is 0. An index of another analyzer is built again.

// Name returns the name of the segment that holds the index; empty if none does.
func (x *Text) Name() string {
	if name := x.segment.Load(); name != nil {
		return *name
	}
	return ""
}

// Named records the segment that holds the index. Only the goroutine that writes manifests
// may call it.
func (x *Text) Named(name string) { x.segment.Store(&name) }

// Documents returns the number of texts in the index, including those that a view counts as
// dead.
func (x *Text) Documents() uint32 { return x.docs }

// Cold reports that no block should be compressed, because they are read in place.
func (x *Text) Cold(string) (cold, delta bool) { return false, false }

// Blocks passes the blocks of the index to `add`, one after another.
func (x *Text) Blocks(add func(name string, data []byte) error) error {
	if err := x.smallBlocks(add); err != nil {
		return err
	}
	return add(x.postings.name, x.postings.slice(0, uint64(x.postings.size)))
}

// smallBlocks passes all blocks but the postings to `add`.
func (x *Text) smallBlocks(add func(name string, data []byte) error) error {
	meta := []byte{format.Current}
	for _, n := range []uint64{Analyzer, uint64(x.docs), x.sum, uint64(x.terms)} {
		meta = binary.AppendUvarint(meta, n)
	}
	blobs := []*blob{&x.groups, &x.dictionary}
	for _, n := range []*numbers{&x.ords, &x.rows, &x.lens} {
		meta = binary.AppendUvarint(meta, uint64(n.base))
		meta = binary.AppendUvarint(meta, uint64(n.width))
		if n.width > 0 {
			blobs = append(blobs, &n.array)
		}
	}
	if err := add("text", meta); err != nil {
		return err
	}
	for _, b := range blobs {
		if err := add(b.name, b.slice(0, uint64(b.size))); err != nil {
			return err
		}
	}
	return nil
}

// Analyzer is the number of the analyzer whose tokens stored indexes have. Tests change it.
var Analyzer uint64 = tokenizer.Version

// openText opens a stored index, which keeps src. openText and the methods of the index throw the
// faults that they find in it; see package corruption. Every ordinal must be less than `next`. The
// result `old` is true if the index has the tokens of another analyzer.
func openText(name string, src column.Source, next uint32) (x *Text, old bool) {
	at := index.BlockPlace{Source: src, Name: "of texts"}
	meta := column.RawBlock(src, "text")
	if len(meta) == 0 {
		at.Fail("block text is empty")
	}
	at.Check(format.Text, uint32(meta[0]))
	meta = meta[1:]
	number := func(most uint64) uint64 {
		n, k := binary.Uvarint(meta)
		if k <= 0 || n > most {
			at.Fail("block text is truncated or has a number above %d", most)
		}
		meta = meta[k:]
		return n
	}
	if number(math.MaxUint64) != Analyzer {
		return nil, true
	}
	x = &Text{source: src, limit: next}
	x.Named(name)
	x.docs, x.sum = uint32(number(math.MaxUint32-1)), number(math.MaxUint64)
	x.terms = int(number(math.MaxUint32))
	x.ords, x.rows, x.lens = numbers{array: blob{name: "ords"}}, numbers{array: blob{name: "rows"}}, numbers{array: blob{name: "lens"}}
	for _, n := range []*numbers{&x.ords, &x.rows, &x.lens} {
		n.base, n.width = uint32(number(math.MaxUint32)), int(number(4))
		if n.width == 3 || n.width > 0 && n.base > 0 {
			at.Fail("block %s has the invalid width %d or base %d", n.array.name, n.width, n.base)
		}
		n.array.open(src, int(x.docs)*n.width)
	}
	if len(meta) > 0 {
		at.Fail("%d bytes follow the end of block text", len(meta))
	}
	if x.ords.width == 0 && uint64(x.ords.base)+uint64(x.docs) > uint64(next) {
		at.Fail("the last ordinal is %d, expected one below %d", uint64(x.ords.base)+uint64(x.docs)-1, next)
	}
	x.groups, x.dictionary, x.postings = blob{name: "groups"}, blob{name: "terms"}, blob{name: "postings"}
	x.groups.open(src, (x.terms+groupTerms-1)/groupTerms*groupBytes)
	x.dictionary.open(src, -1)
	x.postings.open(src, -1)
	x.groups.prefetch(0, uint64(x.groups.size))
	x.dictionary.prefetch(0, uint64(x.dictionary.size))
	return x, false
}

// open opens a stored block of the given size. If the size is negative, the block may have any
// size.
func (b *blob) open(src column.Source, size int) {
	b.file, b.size = src.Name(), max(size, 0)
	if size == 0 {
		return
	}
	p, err := src.Pieces(b.name)
	var missing *engine.NotFound
	if errors.As(err, &missing) {
		b.fail("the block is missing")
	}
	if err != nil {
		corruption.Throw(err)
	}
	if size >= 0 && p.Len() != size {
		b.fail("the block has %d bytes, expected %d", p.Len(), size)
	}
	b.pieces, b.size = p, p.Len()
}

// Part identifies a stored index.
type Part struct {
	Name   string        // name of the segment
	Source column.Source // the blocks of the segment
}

// storedView identifies the stored indexes of a view.
type storedView struct {
	pending column.Pending // whether the indexes must still be read
	parts   []Part         // the stored indexes
	covered uint32         // the parts cover the rows below this number
	old     bool           // a part has the tokens of another analyzer; set by read
	foreign func() bool    // see View.Old; computed once
}

// ofAnotherAnalyzer reports whether the first part has the tokens of another analyzer. A fault of the part is
// left to the first use of the index.
func (s *storedView) ofAnotherAnalyzer() (old bool) {
	if len(s.parts) == 0 {
		return false
	}
	var fault error
	defer corruption.Catch(corruption.Watch(), &fault)
	meta := column.RawBlock(s.parts[0].Source, "text")
	if len(meta) == 0 {
		return false
	}
	n, k := binary.Uvarint(meta[1:])
	return k > 0 && n != Analyzer
}

// Old reports whether the view consists of stored indexes with the tokens of another analyzer, which the
// next Update builds anew.
func (v *View) Old() bool { return v.stored != nil && v.stored.foreign() }

// OpenView returns the view of a state of a table. Stored indexes hold the texts of the rows
// with numbers below `covered`. The first Update of the view reads them, and throws their faults;
// until then, the view must not be queried.
func OpenView(next uint32, rows index.Rows, covered uint32, parts []Part) *View {
	v := &View{rows: rows, next: next, stored: &storedView{parts: parts, covered: covered}}
	v.stored.pending.Defer()
	v.stored.foreign = sync.OnceValue(v.stored.ofAnotherAnalyzer)
	return v
}

// Unread returns the stored indexes that the view has not read yet, and the number of rows
// that they cover; ok is false if there are none.
func (v *View) Unread() (parts []Part, covered uint32, ok bool) {
	if v.stored == nil || !v.stored.pending.Left() {
		return nil, 0, false
	}
	return v.stored.parts, v.stored.covered, true
}

// Parts lists the indexes of a view; none if the view has not been read yet.
func (v *View) Parts() []*Text {
	if _, _, unread := v.Unread(); unread {
		return nil
	}
	parts := make([]*Text, len(v.runs))
	for i := range v.runs {
		parts[i] = v.runs[i].Text
	}
	return parts
}

// read opens the stored indexes. It marks the documents that were deleted after the indexes were
// stored, and indexes the rows that were added after that. If a stored index is old, read sets
// v.stored.old instead: the view is then of no use, and a later one is built from the texts.
func (v *View) read(source Source) {
	v.runs, v.docs, v.sum = nil, 0, 0 // in case an earlier read failed
	for _, p := range v.stored.parts {
		x, old := openText(p.Name, p.Source, v.next)
		if old {
			v.runs, v.docs, v.sum, v.stored.old = nil, 0, 0, true
			return
		}
		v.runs = append(v.runs, textRun{Text: x})
		v.docs += uint64(x.docs)
		v.sum += x.sum
	}
	var docs []textDoc
	add := func(ord, row uint32) {
		if row >= v.stored.covered {
			if s, ok := source(row); ok {
				docs = append(docs, textDoc{ord, row, s})
			}
		}
	}
	at := v.stored.covered // the next ordinal to add, among those without a page
	identity := func(end uint32) {
		for ; at < end; at++ {
			add(at, at)
		}
	}
	for first, rows := range v.rows.All {
		identity(min(first, v.next))
		at = max(at, first+index.LeafSize)
		for i, row := range rows {
			ord := first + uint32(i)
			if ord >= v.next {
				break
			}
			v.markOthersDead(ord, row)
			if row != index.Dead {
				add(ord, row)
			}
		}
	}
	identity(v.next)
	free(v, v.push(index.Work{Ctx: context.Background()}, len(docs), rangesOf(docs)))
}

// markOthersDead marks documents of ordinal ord as dead: the documents that belong to a row other
// than `row`.
func (v *View) markOthersDead(ord, row uint32) {
	for i := range v.runs {
		r := &v.runs[i]
		d, ok := r.document(new(window), ord)
		if !ok || r.rows.at(new(window), d) == row {
			continue
		}
		v.bury(r, d)
	}
}
