package index

import (
	"fmt"
	"slices"
	"sort"
)

// Verify compares a view with one that it builds from the same texts. If they differ, it
// returns an error and the name of the corrupt part, or "" if it does not know the part.
func (v *TextView) Verify(source Source) (part string, err error) {
	fresh := NewTextView(v.next, v.rows, source)
	if v.docs != fresh.docs || v.sum != fresh.sum {
		return v.anyPart(), fmt.Errorf("the index covers %d texts with %d tokens, expected %d texts with %d tokens", v.docs, v.sum, fresh.docs, fresh.sum)
	}
	for i := range v.runs {
		x := v.runs[i].Text
		again := Text{ords: x.ords, lens: x.lens, sum: x.sum, terms: x.terms, off: x.off, docs: x.docs, freqs: x.freqs, manyFreqs: x.manyFreqs}
		again.findPeaks()
		if !slices.EqualFunc(x.peaks, again.peaks, slices.Equal[[]uint8]) {
			return x.name, fmt.Errorf("block peaks does not match the texts")
		}
	}
	terms := map[string]bool{}
	for _, w := range []*TextView{v, fresh} {
		for i := range w.runs {
			for _, t := range w.runs[i].terms {
				terms[t] = true
			}
		}
	}
	for t := range terms {
		if !slices.Equal(v.occurrences(t), fresh.occurrences(t)) {
			return v.anyPart(), fmt.Errorf("the postings of %q do not match the texts", t)
		}
	}
	return "", nil
}

// anyPart returns the name of the largest stored part, or "".
func (v *TextView) anyPart() string {
	for _, x := range v.Parts() {
		if x.name != "" {
			return x.name
		}
	}
	return ""
}

// occurrence is a posting of a live document.
type occurrence struct{ ord, row, freq, length uint32 }

// occurrences returns the postings of a term in live documents.
func (v *TextView) occurrences(term string) []occurrence {
	var all []occurrence
	for i := range v.runs {
		r := &v.runs[i]
		t, ok := r.term(term)
		if !ok {
			continue
		}
		for p := r.off[t]; p < r.off[t+1]; p++ {
			if d := r.docs[p]; r.dead == nil || !r.dead.Get(int(d)) {
				all = append(all, occurrence{r.ords[d], r.rows[d], r.freq(p), r.lens[d]})
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].ord < all[j].ord })
	return all
}
