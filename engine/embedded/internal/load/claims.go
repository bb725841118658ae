package load

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/membership"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// claims holds the texts of the memberships of rows, four bytes a row. A nil claims has none.
type claims struct {
	codes []uint32 // by row: the position of its text; the rows after the end have none
	texts []string // each once; the first one is empty
	known map[string]uint32
}

// set sets the text of a row. The rows are set in order.
func (c *claims) set(row int, text string) {
	if c.known == nil {
		c.texts, c.known = []string{""}, map[string]uint32{"": 0}
	}
	code, ok := c.known[text]
	if !ok {
		text = membership.Shared(text)
		code = uint32(len(c.texts))
		c.texts, c.known[text] = append(c.texts, text), code
	}
	c.codes = append(append(c.codes, make([]uint32, row-len(c.codes))...), code)
}

// at returns the text of a row.
func (c *claims) at(row int) string {
	if c == nil || row >= len(c.codes) {
		return ""
	}
	return c.texts[c.codes[row]]
}

// checkSources checks the membership that a line has.
func (o *Options) checkSources(text string) error {
	set, err := membership.Parse(text)
	if err != nil || o.Claims == nil || o.Sync.Source != "" { // such a load ignores the member
		return err
	}
	for i := range set.Sources {
		if err := o.Claims(set.Sources[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// askAboutClaims asks the options' Claims about each source whose claim a line takes away: a line with a membership replaces that of its
// entity. An error of Claims is a fault of the line. An overwrite keeps nothing of any source, and asks about none.
func (a *applier) askAboutClaims(r *Rows) {
	o, table := &a.in.opts, a.tx.Table(r.Type)
	if o.Claims == nil || o.Sync.Source != "" || !a.keepsClaims() || r.newID != nil || !table.Claimed() ||
		!slices.ContainsFunc(r.batches, func(b *batch) bool { return b.claims != nil }) {
		return
	}
	for _, b := range r.batches {
		b.openIDs()
	}
	rd := reader{Rows: r}
	a.rows(r, func(_ int, row uint32) {
		b, k := rd.at(int(row))
		text := b.claims.at(k)
		ord, ok := table.Lookup(rd.id(int(row)))
		if text == "" || !ok || text == table.Claims(ord) {
			return
		}
		is := membership.Stored(text)
		for _, s := range membership.Stored(table.Claims(ord)).Sources {
			if _, kept := is.Of(s.Name); kept {
				continue // the line names it
			}
			if err := o.Claims(s.Name); err != nil {
				a.fail(rd.line(int(row)), "sources", err)
				return
			}
		}
	})
}

// note notes the membership that the line of the next row has. A load that claims its lines determines it itself.
func (b *batch) note(text string, opts *Options) {
	if text == "" || opts.Sync.Source != "" {
		return
	}
	if b.claims == nil {
		b.claims = &claims{}
	}
	b.claims.set(len(b.lines), text)
}

// gatherClaims returns the memberships of rows in the order of perm, or in their own order if it is nil.
func (r *Rows) gatherClaims(perm []uint32) *claims {
	any := false
	for _, b := range r.batches {
		any = any || b.claims != nil
	}
	if !any {
		return nil
	}
	out, rd := &claims{}, reader{Rows: r}
	for i := range r.Len() {
		row := i
		if perm != nil {
			row = int(perm[i])
		}
		b, k := rd.at(row)
		out.set(i, b.claims.at(k))
	}
	return out
}

// put puts row `row` of a type, with the given ends.
func (a *applier) put(rd *reader, row int, src, dst uint32) {
	b, k := rd.at(row)
	r := version.Row{ID: string(rd.raw(row)), Src: src, Dst: dst, Vals: rd.values(row), Claims: b.claims.at(k)}
	if a.keepsClaims() && r.Claims == "" {
		a.tx.Put(rd.Type, r)
	} else {
		a.tx.PutClaimed(rd.Type, r)
	}
}

// keepsClaims reports whether an entity keeps its membership if its line has none.
func (a *applier) keepsClaims() bool {
	return a.mode == engine.Merge || a.mode == engine.Patch || a.mode == engine.Append
}

// claimsOf returns the memberships of the rows of a chunk, by position in it, or nil if no row has one.
func (a *applier) claimsOf(r *Rows, c *chunk) *claims {
	table, rd := a.tx.Table(r.Type), reader{Rows: r}
	keep := a.keepsClaims() && r.newID == nil && table.Claimed()
	if !keep && !slices.ContainsFunc(r.batchesOf(c), func(b *batch) bool { return b.claims != nil }) {
		return nil
	}
	of, any := &claims{}, false
	for i := range c.n {
		row := c.row(i)
		b, k := rd.at(row)
		text := b.claims.at(k)
		if text == "" && keep {
			if ord, ok := table.Lookup(rd.id(row)); ok {
				text = table.MarkedClaims(ord, func(p int) value.Value { return b.props[p].Value(k) })
			}
		}
		of.set(i, text)
		any = any || text != ""
	}
	if !any {
		return nil
	}
	return of
}

// segmentClaims returns the function that makes the column of memberships for a chunk, or nil if no row has one.
func (a *applier) segmentClaims(c *chunk, of *claims) func() (*column.Column, error) {
	if of == nil {
		return nil
	}
	return func() (*column.Column, error) {
		made := column.NewBuilder(textType)
		for i := range c.n {
			if err := made.AppendString(of.at(i)); err != nil {
				return nil, err
			}
		}
		return made.Finish(nil), nil
	}
}
