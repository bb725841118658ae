package textindex

// gone, as the new number of a document, means that the merge omits the document.
const gone = ^uint32(0)

// mergeTexts makes one index of the live documents of several indexes. An ordinal may have a live
// document in only one of them.
func mergeTexts(runs ...textRun) *Text {
	var w textWriter
	type input struct {
		*textRun
		ords, rows, lens window
		doc              uint32   // the next one
		to               []uint32 // by document: the new number, or gone
		terms            termReader
		term             termEntry
		any              bool // whether `term` is valid; false at the end of the terms
	}
	in := make([]input, len(runs))
	for i := range in {
		in[i] = input{textRun: &runs[i], to: make([]uint32, runs[i].docs), terms: termReader{x: runs[i].Text}}
	}
	for {
		var least *input
		ord := uint32(0)
		for i := range in {
			p := &in[i]
			if p.doc == p.docs {
				continue
			}
			if o := p.Text.ords.at(&p.ords, p.doc); least == nil || o < ord {
				least, ord = p, o
			}
		}
		if least == nil {
			break
		}
		p, d := least, least.doc
		p.doc++
		if p.dead != nil && p.dead.Get(int(d)) {
			p.to[d] = gone
			continue
		}
		p.to[d] = uint32(len(w.ords))
		w.document(ord, p.Text.rows.at(&p.rows, d), p.Text.lens.at(&p.lens, d))
	}
	w.begin()
	for i := range in {
		in[i].any = in[i].terms.next(&in[i].term)
	}
	for {
		var least *input
		for i := range in {
			if p := &in[i]; p.any && (least == nil || p.term.str() < least.term.str()) {
				least = p
			}
		}
		if least == nil {
			return w.finish()
		}
		term := least.term.str()
		for i := range in {
			p := &in[i]
			if !p.any || p.term.str() != term {
				continue
			}
			list, before := p.postingsOf(&p.term), len(w.docs)
			p.each(&list, func(d, freq uint32) {
				if to := p.to[d]; to != gone {
					w.posting(to, freq)
				}
			})
			w.merge(before)
		}
		_ = w.end(term) // cannot fail, because all postings stay in memory
		for i := range in {
			if p := &in[i]; p != least && p.any && p.term.str() == term {
				p.any = p.terms.next(&p.term)
			}
		}
		least.any = least.terms.next(&least.term)
	}
}

// merge merges two ascending lists of postings of the current term: the postings before position
// `at`, and the postings from `at` on.
func (w *textWriter) merge(at int) {
	n := len(w.docs)
	if at == 0 || at == n || w.docs[at-1] < w.docs[at] {
		return
	}
	docs, freqs := make([]uint32, 0, n), make([]uint32, 0, n)
	for i, j := 0, at; i < at || j < n; {
		from := &i
		if i == at || j < n && w.docs[j] < w.docs[i] {
			from = &j
		}
		docs, freqs = append(docs, w.docs[*from]), append(freqs, w.freqs[*from])
		*from++
	}
	w.docs, w.freqs = docs, freqs
}
