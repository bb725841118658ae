package textindex

import (
	"fmt"
	"slices"
	"sort"
)

// Verify compares a view with one that it builds from the same texts. If they differ, it returns an
// error and the name of the corrupt part. The name is "" if Verify does not know the part.
func (v *View) Verify(source Source) (part string, err error) {
	fresh := NewView(v.next, v.rows, source)
	if v.docs != fresh.docs || v.sum != fresh.sum {
		return v.anyPart(), fmt.Errorf("the index covers %d texts with %d tokens, expected %d texts with %d tokens", v.docs, v.sum, fresh.docs, fresh.sum)
	}
	for i := range v.runs {
		if err := v.runs[i].check(); err != nil {
			return v.runs[i].Name(), err
		}
	}
	terms := map[string]bool{}
	for _, w := range []*View{v, fresh} {
		for i := range w.runs {
			r := termReader{x: w.runs[i].Text}
			for e := (termEntry{}); r.next(&e); {
				terms[e.str()] = true
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

// check verifies that the impacts match the documents and that the documents and terms are in
// order.
func (x *Text) check() error {
	var lens, ords window
	for d := range x.docs {
		if d > 0 && x.ord(&ords, d) <= x.ords.at(&ords, d-1) {
			return fmt.Errorf("document %d is out of order", d)
		}
	}
	average := float64(x.sum) / float64(max(1, x.docs))
	r := termReader{x: x}
	last := ""
	for e := (termEntry{}); r.next(&e); {
		if r.term > 1 && e.str() <= last {
			return fmt.Errorf("term %q is out of order", e.str())
		}
		last = e.str()
		p := x.postingsOf(&e)
		var k block
		var w window
		for b := range p.blocks() {
			x.read(&p, b, &k, &w)
			peak := uint8(0)
			for i, impact := range k.impacts {
				peak = max(peak, impact)
				if want := impactOf(k.freq(i), x.lens.at(&lens, k.doc(i)), average); impact != want {
					return fmt.Errorf("a posting of %q has impact %d, expected %d", last, impact, want)
				}
			}
			if peak != p.peak(b) {
				return fmt.Errorf("a block of postings of %q has the peak impact %d, expected %d", last, p.peak(b), peak)
			}
		}
	}
	return nil
}

// anyPart returns the name of the largest stored part, or "".
func (v *View) anyPart() string {
	for _, x := range v.Parts() {
		if name := x.Name(); name != "" {
			return name
		}
	}
	return ""
}

// occurrence is a posting of a live document.
type occurrence struct{ ord, row, freq, length uint32 }

// occurrences returns the postings of a term in live documents.
func (v *View) occurrences(term string) []occurrence {
	var all []occurrence
	for i := range v.runs {
		r := &v.runs[i]
		p, ok := r.find(term)
		if !ok {
			continue
		}
		var ords, rows, lens window
		r.each(&p, func(d, freq uint32) {
			if r.dead == nil || !r.dead.Get(int(d)) {
				all = append(all, occurrence{r.ord(&ords, d), r.Text.rows.at(&rows, d), freq, r.lens.at(&lens, d)})
			}
		})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].ord < all[j].ord })
	return all
}
