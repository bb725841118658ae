package index

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
)

// A segment that holds an inverted index has these blocks, numbers little-endian:
//
//	text     format 1 byte; then uvarints: documents, their tokens, terms, bytes of all
//	         terms, postings, postings in many, bytes of peaks
//	ords     by document: its ordinal, 4 bytes; ascending
//	rows     by document: its row, 4 bytes
//	lens     by document: tokens, 4 bytes
//	terms.o  by term: where it starts in terms.d, 4 bytes; then the end
//	terms.d  the terms, ascending
//	off      by term: where its postings start, 4 bytes; then the end
//	docs     by posting: the document, 4 bytes; ascending within a term
//	freqs    by posting: occurrences, 1 byte; 255 for those in many
//	many     postings with 255 occurrences or more: posting and occurrences, 4 bytes each
//	peaks    for each term that has peaks, one byte for each 64 documents

// Name returns the name of the segment that holds the index; empty if none does.
func (x *Text) Name() string { return x.name }

// Named records the segment that holds the index. Only the goroutine that writes manifests
// may call it.
func (x *Text) Named(name string) { x.name = name }

// Documents returns the number of texts in the index, including those that a view counts as
// dead.
func (x *Text) Documents() uint32 { return uint32(len(x.ords)) }

// Cold reports whether a block should be compressed. All but the smallest are, because the
// first use of an index reads and checks all of it. delta reports that the block's numbers
// ascend.
func (x *Text) Cold(block string) (cold, delta bool) {
	switch block {
	case "ords", "rows", "terms.o", "off", "docs":
		return true, true
	}
	return block != "text", false
}

// Blocks passes the blocks of the index to add, one after another.
func (x *Text) Blocks(add func(name string, data []byte) error) error {
	var termsAt []uint32
	var terms, peaks []byte
	for t, term := range x.terms {
		termsAt = append(termsAt, uint32(len(terms)))
		terms = append(terms, term...)
		peaks = append(peaks, x.peaks[t]...)
	}
	termsAt = append(termsAt, uint32(len(terms)))
	var many []uint32
	for p, f := range x.freqs {
		if f == manyTimes {
			many = append(many, uint32(p), x.freq(uint32(p)))
		}
	}
	meta := []byte{format.Current}
	for _, n := range []uint64{uint64(len(x.ords)), x.sum, uint64(len(x.terms)), uint64(len(terms)), uint64(len(x.docs)), uint64(len(many) / 2), uint64(len(peaks))} {
		meta = binary.AppendUvarint(meta, n)
	}
	for _, b := range []struct {
		name string
		data []byte
	}{
		{"text", meta}, {"ords", column.Bytes(x.ords)}, {"rows", column.Bytes(x.rows)}, {"lens", column.Bytes(x.lens)},
		{"terms.o", column.Bytes(termsAt)}, {"terms.d", terms}, {"off", column.Bytes(x.off)},
		{"docs", column.Bytes(x.docs)}, {"freqs", x.freqs}, {"many", column.Bytes(many)}, {"peaks", peaks},
	} {
		if err := add(b.name, b.data); err != nil {
			return err
		}
	}
	return nil
}

// openText reads a stored index, which keeps src. It throws faults in the index; see
// package corruption. A document's ordinal must be less than next.
func openText(name string, src column.Source, next uint32) *Text {
	at := blockPlace{src, "of texts"}
	meta := column.Bytestring(src, "text")
	if len(meta) == 0 {
		at.fail("block text is empty")
	}
	if err := format.Text.Check(uint32(meta[0])); err != nil {
		at.fail("%v", err)
	}
	var n [7]uint64
	if rest, ok := readUvarints(meta[1:], n[:1]); !ok {
		at.fail("block text is truncated")
	} else {
		sum, k := binary.Uvarint(rest) // up to 64 bits
		if k <= 0 {
			at.fail("block text is truncated")
		}
		n[1] = sum
		if rest, ok = readUvarints(rest[k:], n[2:]); !ok || len(rest) > 0 {
			at.fail("block text is truncated")
		}
	}
	docs, terms, postings := int(n[0]), int(n[2]), int(n[4])
	x := &Text{name: name, source: src, sum: n[1],
		ords: column.Read[uint32](src, "ords", docs), rows: column.Read[uint32](src, "rows", docs), lens: column.Read[uint32](src, "lens", docs),
		off: column.Read[uint32](src, "off", terms+1), docs: column.Read[uint32](src, "docs", postings), freqs: column.Read[uint8](src, "freqs", postings),
	}
	for i, ord := range x.ords {
		if ord >= next || i > 0 && ord <= x.ords[i-1] {
			at.fail("document %d has ordinal %d, which is out of order or not below %d", i, ord, next)
		}
	}
	column.Ascending(src, "off", x.off, postings)
	termsAt := column.Read[uint32](src, "terms.o", terms+1)
	column.Ascending(src, "terms.o", termsAt, int(n[3]))
	all := string(column.Read[byte](src, "terms.d", int(n[3]))) // a copy: merged indexes share it
	x.terms = make([]string, terms)
	for t := range x.terms {
		x.terms[t] = all[termsAt[t]:termsAt[t+1]]
		last := -1
		for _, d := range x.docs[x.off[t]:x.off[t+1]] {
			if int(d) <= last || int(d) >= docs {
				at.fail("a posting of term %d has document %d, which is out of order or not below %d", t, d, docs)
			}
			last = int(d)
		}
	}
	if !slices.IsSorted(x.terms) {
		at.fail("the terms are not in order")
	}
	many := column.Read[uint32](src, "many", 2*int(n[5]))
	for i := 0; i < len(many); i += 2 {
		x.setMany(many[i], many[i+1])
	}
	peaks := column.Read[uint8](src, "peaks", int(n[6]))
	x.peaks = make([][]uint8, terms)
	for t := range x.peaks {
		if windows := x.peaked(t); windows > 0 {
			if windows > len(peaks) {
				at.fail("block peaks is truncated")
			}
			x.peaks[t], peaks = peaks[:windows:windows], peaks[windows:]
		}
	}
	if len(peaks) > 0 {
		at.fail("block peaks has %d bytes too many", len(peaks))
	}
	return x
}

// TextPart names a stored index.
type TextPart struct {
	Name   string
	Source column.Source
}

// storedView names the stored indexes of a view.
type storedView struct {
	pending column.Pending
	parts   []TextPart
	covered uint32 // the parts cover the rows below this number
}

// OpenTextView returns the view of a state of a table. Stored indexes hold the texts of the rows
// below covered. The first Update of the view reads them, and throws their faults; until then, the
// view must not be queried.
func OpenTextView(next uint32, rows Rows, covered uint32, parts []TextPart) *TextView {
	v := &TextView{rows: rows, next: next, stored: &storedView{parts: parts, covered: covered}}
	v.stored.pending.Defer()
	return v
}

// Unread returns the stored indexes that the view has not read yet, and the number of rows
// that they cover; ok is false if there are none.
func (v *TextView) Unread() (parts []TextPart, covered uint32, ok bool) {
	if v.stored == nil || !v.stored.pending.Left() {
		return nil, 0, false
	}
	return v.stored.parts, v.stored.covered, true
}

// Parts lists the indexes of a view; none if the view has not been read yet.
func (v *TextView) Parts() []*Text {
	if _, _, unread := v.Unread(); unread {
		return nil
	}
	parts := make([]*Text, len(v.runs))
	for i := range v.runs {
		parts[i] = v.runs[i].Text
	}
	return parts
}

// read opens the stored indexes, marks documents that died since as dead, and indexes the
// rows that were added since.
func (v *TextView) read(source Source) {
	v.runs, v.docs, v.sum = nil, 0, 0 // in case an earlier read failed
	for _, p := range v.stored.parts {
		x := openText(p.Name, p.Source, v.next)
		v.runs = append(v.runs, textRun{Text: x})
		v.docs += uint64(len(x.ords))
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
	at := v.stored.covered // the next ordinal to add that has no page
	identity := func(end uint32) {
		for ; at < end; at++ {
			add(at, at)
		}
	}
	for first, rows := range v.rows.All {
		identity(min(first, v.next))
		at = max(at, first+leafSize)
		for i, row := range rows {
			ord := first + uint32(i)
			if ord >= v.next {
				break
			}
			v.markOthersDead(ord, row)
			if row != Dead {
				add(ord, row)
			}
		}
	}
	identity(v.next)
	free(v, Work{Ctx: context.Background()}.push(v, len(docs), rangesOf(docs)))
}

// markOthersDead marks as dead the documents of ordinal ord that belong to other rows than row.
func (v *TextView) markOthersDead(ord, row uint32) {
	for i := range v.runs {
		r := &v.runs[i]
		d, ok := r.document(ord)
		if !ok || r.rows[d] == row {
			continue
		}
		if !r.owned {
			r.dead, r.owned = engine.NewBitmap(len(r.ords)), true
		}
		r.dead.Set(int(d))
		r.gone++
		v.docs--
		v.sum -= uint64(r.lens[d])
	}
}
