package textindex

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// textWriter makes an index. The caller first adds all documents, in ascending order of ordinals,
// then calls begin, then adds all terms, in ascending order.
type textWriter struct {
	x                Text
	ords, rows, lens []uint32      // by document, as in Text
	average          float64       // average number of tokens in a document
	known            [8][128]uint8 // cache of impacts, by occurrences and length; 0 if unknown

	groups, dictionary []byte // bytes of the blobs of the same names in Text
	// postings are the bytes of the blob of that name in Text, without those that were passed to
	// `put`. If put is nil, all bytes stay in memory.
	postings    []byte
	put         func(data []byte) error
	written     int      // number of bytes passed to `put`
	docs, freqs []uint32 // postings of the current term
	buf         []uint32 // numbers to pack
}

// document adds a document with `length` tokens.
func (w *textWriter) document(ord, row, length uint32) {
	w.ords, w.rows, w.lens = append(w.ords, ord), append(w.rows, row), append(w.lens, length)
	w.x.sum += uint64(length)
}

// begin ends the phase in which documents are added.
func (w *textWriter) begin() { w.average = float64(w.x.sum) / float64(max(1, len(w.ords))) }

// posting adds a posting of the current term, in ascending order of documents.
func (w *textWriter) posting(doc, freq uint32) {
	w.docs, w.freqs = append(w.docs, doc), append(w.freqs, freq)
}

// putBytes is the number of bytes of postings to pass to `put` at a time.
const putBytes = 1 << 16

// end ends the postings of a term. A term without postings is omitted. The only possible error is
// that of `put`.
func (w *textWriter) end(term string) error {
	n := len(w.docs)
	if n == 0 {
		return nil
	}
	if w.x.terms%groupTerms == 0 {
		w.groups = binary.LittleEndian.AppendUint64(w.groups, uint64(len(w.dictionary)))
		w.groups = binary.LittleEndian.AppendUint64(w.groups, uint64(w.written+len(w.postings)))
	}
	w.x.terms++
	start := len(w.postings)
	heads := (n + blockSize - 1) / blockSize * headBytes
	w.postings = append(w.postings, make([]byte, heads)...)
	data := len(w.postings)
	first := uint32(0)
	for at := 0; at < n; at += blockSize {
		docs, freqs := w.docs[at:min(at+blockSize, n)], w.freqs[at:min(at+blockSize, n)]
		peak, most := uint8(0), uint32(0)
		for i, d := range docs {
			impact := w.impact(freqs[i], w.lens[d])
			w.postings = append(w.postings, impact)
			peak, most = max(peak, impact), max(most, freqs[i]-1)
		}
		last := docs[len(docs)-1]
		docBits, freqBits := bits.Len32(last-first), bits.Len32(most)
		w.buf = w.buf[:0]
		for _, d := range docs {
			w.buf = append(w.buf, d-first)
		}
		w.postings = pack(w.postings, w.buf, uint(docBits))
		w.buf = w.buf[:0]
		for _, f := range freqs {
			w.buf = append(w.buf, f-1)
		}
		w.postings = pack(w.postings, w.buf, uint(freqBits))
		head := w.postings[start+at/blockSize*headBytes:]
		binary.LittleEndian.PutUint32(head, last)
		binary.LittleEndian.PutUint32(head[4:], uint32(len(w.postings)-data))
		head[8], head[9], head[10] = peak, uint8(docBits), uint8(freqBits)
		first = last + 1
	}
	w.dictionary = append(binary.AppendUvarint(w.dictionary, uint64(len(term))), term...)
	w.dictionary = binary.AppendUvarint(w.dictionary, uint64(n))
	w.dictionary = binary.AppendUvarint(w.dictionary, uint64(len(w.postings)-start))
	w.docs, w.freqs = w.docs[:0], w.freqs[:0]
	if w.put == nil || len(w.postings) < putBytes {
		return nil
	}
	return w.flush()
}

// flush passes the postings to `put`.
func (w *textWriter) flush() error {
	err := w.put(w.postings)
	w.written, w.postings = w.written+len(w.postings), w.postings[:0]
	return err
}

// impact returns the impact of a posting; see [impactOf].
func (w *textWriter) impact(freq, length uint32) uint8 {
	if freq >= uint32(len(w.known)) || length >= uint32(len(w.known[0])) {
		return impactOf(freq, length, w.average)
	}
	k := &w.known[freq][length]
	if *k == 0 {
		*k = impactOf(freq, length, w.average)
	}
	return *k
}

// finish returns the index. If the postings were passed to `put`, the index lacks them, so that it can
// only be stored.
func (w *textWriter) finish() *Text {
	x := &w.x
	x.docs, x.limit = uint32(len(w.ords)), math.MaxUint32
	x.ords, x.lens = numbersOf("ords", w.ords), numbersOf("lens", w.lens)
	x.rows = numbersOf("rows", w.rows)
	x.groups, x.dictionary = inMemory("groups", slices.Clip(w.groups)), inMemory("terms", slices.Clip(w.dictionary))
	if w.put == nil {
		x.postings = inMemory("postings", slices.Clip(append(w.postings, make([]byte, readAhead)...)))
	}
	return x
}

// store writes the blocks of the index of several ranges of documents; see join. It passes the
// postings on while it makes them, so that they need little memory.
func (w *textWriter) store(parts []*gathered, to File) error {
	err := to.AddStream("postings", func(put func(data []byte) error) error {
		w.put = put
		if err := w.join(parts); err != nil {
			return err
		}
		w.postings = append(w.postings, make([]byte, readAhead)...)
		return w.flush()
	})
	if err != nil {
		return err
	}
	return w.finish().smallBlocks(to.AddBlock)
}

// join adds the postings of several ranges of documents, and frees a part of their memory. The
// documents of each range must follow those of the range before. The only possible error is that of
// `put`.
func (w *textWriter) join(parts []*gathered) error {
	docs := 0
	first := make([]uint32, len(parts)) // the new number of the first document of each part
	for i, p := range parts {
		first[i] = uint32(docs)
		docs += len(p.ords)
	}
	w.ords, w.rows, w.lens = make([]uint32, 0, docs), make([]uint32, 0, docs), make([]uint32, 0, docs)
	for _, p := range parts {
		w.ords, w.rows, w.lens = append(w.ords, p.ords...), append(w.rows, p.rows...), append(w.lens, p.lens...)
		w.x.sum += p.sum
		p.ords, p.rows, p.lens = nil, nil, nil
	}
	w.begin()
	next := make([]int, len(parts)) // the next term of each part
	for {
		least, any := "", false
		for i, p := range parts {
			if next[i] < len(p.terms) && (!any || p.term(next[i]) < least) {
				least, any = p.term(next[i]), true
			}
		}
		if !any {
			return nil
		}
		for i, p := range parts {
			if next[i] == len(p.terms) || p.term(next[i]) != least {
				continue
			}
			p.each(next[i], func(doc, freq uint32) { w.posting(first[i]+doc, freq) })
			next[i]++
		}
		if err := w.end(least); err != nil {
			return err
		}
	}
}
