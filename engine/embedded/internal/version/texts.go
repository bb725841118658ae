package version

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/corruption"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/textindex"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// storedTexts is the entry of a manifest for the text index of a property: the segments
// that hold it, and the number of rows that they cover.
type storedTexts struct {
	covered uint32           // number of rows that the segments cover
	unread  []textindex.Part // either the parts that the manifest lists, not read yet;
	view    *textindex.View  // or the view whose parts are to be stored
}

// names lists the segments.
func (s *storedTexts) names() []string {
	var names []string
	for _, p := range s.unread {
		names = append(names, p.Name)
	}
	if s.view != nil {
		for _, x := range s.view.Parts() {
			names = append(names, x.Name())
		}
	}
	return names
}

// textsToBuild yields the searchable properties of a table with at least `floor` ordinals that have no
// text index yet, or one with the tokens of another analyzer. It leaves out properties with a text that cannot be read.
func (t *Table) textsToBuild(floor uint32) iter.Seq[int] {
	return func(yield func(p int) bool) {
		if t.next < floor || t.next == 0 {
			return
		}
		for p := range t.Type.Searchable {
			if v := t.texts.latest(p); (v == nil || v.Old()) && !t.texts.isDamaged(p) && !yield(p) {
				return
			}
		}
	}
}

// HasOldTexts reports whether BuildTexts has to replace a text index of another analyzer.
func (t *Table) HasOldTexts(floor uint32) bool {
	for p := range t.textsToBuild(floor) {
		if t.texts.latest(p) != nil {
			return true
		}
	}
	return false
}

// LacksTexts reports whether BuildTexts has work to do.
func (t *Table) LacksTexts(floor uint32) bool {
	for range t.textsToBuild(floor) {
		return true
	}
	return false
}

// TextFiles says how BuildTexts stores the parts of a text index.
type TextFiles struct {
	// PartBytes is the approximate number of bytes of text in a part.
	PartBytes int
	// Open opens a stored segment of rows; see [IndexFiles].
	Open func(t *schema.Type, name string) (*segment.Segment, error)
	// Store makes a segment durable; the function `write` adds its blocks.
	Store func(write func(to textindex.File) error) (textindex.Part, error)
	// Discard removes segments that Store made.
	Discard func(names []string)
}

// PlanTexts makes later states inherit the text indexes that BuildTexts is going to build. It
// returns false if there is nothing to build. The table must be that of the tip of its branch, and
// the caller must ensure that no later state begins during the call.
func (t *Table) PlanTexts(floor uint32) (any bool) {
	for p := range t.textsToBuild(floor) {
		t.texts.plan(p)
		any = true
	}
	return any
}

// BuildTexts builds and stores the text indexes of the properties that the schema declares
// searchable, so that the next manifest lists them and the first search after an open builds
// nothing. It does nothing for a table with fewer than `floor` ordinals. It skips a property if a
// text is in a damaged file: the checkpoint can do without the index, and the first search reports
// the damage. BuildTexts fails only if the context ends or if files.Store fails.
func (t *Table) BuildTexts(ctx context.Context, floor uint32, files *TextFiles) error {
	for p := range t.textsToBuild(floor) {
		err := t.buildText(ctx, p, files)
		switch damaged := (*engine.Corrupt)(nil); {
		case errors.As(err, &damaged):
			t.texts.noteDamaged(p)
		case err != nil:
			return err
		}
	}
	return nil
}

// buildText builds and stores the text index of property p. It fails if the context ends or if
// files.Store fails. If a text is damaged, the error is a *engine.Corrupt.
func (t *Table) buildText(ctx context.Context, p int, files *TextFiles) (err error) {
	var made []string
	defer func() {
		if err != nil {
			files.Discard(made)
		}
	}()
	defer corruption.Catch(corruption.Watch(), &err)
	w := index.Work{Ctx: ctx}
	_, err = t.textWith(w, p, func(past *textindex.View) (*textindex.View, error) {
		if past != nil && !past.Old() {
			return textindex.Update(w, past, t.next, t.rows, t.textSource(p))
		}
		f := &IndexFiles{Open: files.Open}
		u, err := f.fresh(&t.Rows)
		if err != nil {
			return nil, err
		}
		return textindex.BuildInParts(w, t.next, t.rows, textindex.Parts{
			Open:  func() textindex.Texts { return newTexts(u, p) },
			Bytes: files.PartBytes,
			Begin: f.passing(u),
			Store: func(write func(to textindex.File) error) (textindex.Part, error) {
				part, err := files.Store(write)
				if err == nil {
					made = append(made, part.Name)
				}
				return part, err
			},
		})
	})
	return err
}

// unstoredTexts updates the text indexes that have been used, and lists their parts that
// are not stored. It leaves out an index if a text that is missing in it cannot be read; the next
// search reports the damage.
func (t *Table) unstoredTexts() (parts []Unstored) {
	stored := map[int]storedTexts{}
	for _, p := range t.texts.known() {
		if unread, covered, ok := t.texts.unread(p); ok {
			stored[p] = storedTexts{covered: covered, unread: unread}
			continue
		}
		view := t.undamagedText(p)
		if view == nil {
			continue
		}
		stored[p] = storedTexts{covered: t.base + uint32(len(t.tail)), view: view}
		for _, x := range view.Parts() {
			if x.Name() == "" {
				parts = append(parts, x)
			}
		}
	}
	t.texts.stored = stored
	return parts
}

// undamagedText returns the text index of property p, or nil if a text cannot be read.
func (t *Table) undamagedText(p int) (view *textindex.View) {
	var damage error
	defer func() {
		if damage != nil {
			t.texts.noteDamaged(p)
		}
	}()
	defer corruption.Catch(corruption.Watch(), &damage)
	if t.texts.isDamaged(p) {
		return nil
	}
	return t.Text(p)
}

// disownTexts is Disown for the text indexes. It drops an index that is not read yet and
// has a part in a deleted segment; the next use builds it.
func (s *searches) disownTexts(there func(name string) bool) {
	gone := func(name string) bool { return !there(name) }
	for _, p := range s.known() {
		view := s.latest(p)
		if view == nil {
			continue
		}
		parts, _, unread := view.Unread()
		if unread && slices.ContainsFunc(parts, func(x textindex.Part) bool { return gone(x.Name) }) {
			s.drop(p)
		}
		for _, x := range view.Parts() {
			if x.Name() != "" && gone(x.Name()) {
				x.Named("")
			}
		}
	}
	// An entry prepared for a manifest that failed may name deleted segments too.
	maps.DeleteFunc(s.stored, func(_ int, x storedTexts) bool { return slices.ContainsFunc(x.names(), gone) })
}

// textsToStore reports whether there is a built text index with an unstored part of at least
// `floor` texts.
func (s *searches) textsToStore(floor uint32) bool {
	for _, p := range s.known() {
		view := s.latest(p)
		if view == nil {
			continue
		}
		for _, x := range view.Parts() {
			if x.Name() == "" && x.Documents() >= floor {
				return true
			}
		}
	}
	return false
}

// storedTexts yields the entries for the manifest, in order of properties.
func (s *searches) storedTexts(yield func(p int, x storedTexts) bool) {
	for _, p := range slices.Sorted(maps.Keys(s.stored)) {
		if !yield(p, s.stored[p]) {
			return
		}
	}
}

// AppendTexts appends the manifest's entries for the text indexes.
func (s *searches) appendTexts(dst []byte) []byte {
	n := 0
	for range s.storedTexts {
		n++
	}
	for range s.storedVectors {
		n++
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	for p, x := range s.storedTexts {
		names := x.names()
		dst = binary.AppendUvarint(dst, uint64(p))
		dst = binary.AppendUvarint(dst, uint64(x.covered))
		dst = binary.AppendUvarint(dst, uint64(len(names)))
		for _, name := range names {
			dst = codec.AppendText(dst, name)
		}
	}
	return s.appendVectors(dst)
}

// readTexts reads the text indexes of a manifest. It reads their segments on first use
// only. The
// rows are those of the table.
func (s *searches) readTexts(r *codec.Reader, open segment.Opener, t *Rows) error {
	for range r.Count() {
		p, covered := r.Index(len(t.Type.Props)), r.Ordinal()
		if r.Err != nil {
			return r.Err
		}
		if t.Type.Approximate(p) {
			if err := s.readVectors(r, open, p, covered, t.base); err != nil {
				return err
			}
			continue
		}
		if typ := t.Type.Props[p].Type; typ.Kind != value.String || typ.List || covered > t.base {
			r.Fail(fmt.Sprintf("%s %s: the text index of %s covers %d rows of %d, or the property is not a String", t.Type.Entity, t.Type.Name, t.Type.Props[p].Name, covered, t.base))
			return r.Err
		}
		var parts []textindex.Part
		for range r.Count() {
			name := r.Text()
			if r.Err != nil {
				return r.Err
			}
			src, err := open.Source(name)
			if err != nil {
				return err
			}
			parts = append(parts, textindex.Part{Name: name, Source: src})
		}
		if s.earlier == nil {
			s.earlier = map[int]*textindex.View{}
		}
		s.earlier[p] = textindex.OpenView(t.next, t.rows, covered, parts)
	}
	return r.Err
}

// known lists the properties with a text index that has been built or stored.
func (s *searches) known() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.planned {
		s.earlierLocked(p)
	}
	props := slices.Collect(maps.Keys(s.earlier))
	for p, m := range s.built {
		if _, ok := s.earlier[p]; !ok && m.view.Load() != nil {
			props = append(props, p)
		}
	}
	slices.Sort(props)
	return props
}

// latest returns the latest index of a property, or nil.
func (s *searches) latest(p int) *textindex.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.built[p]; m != nil {
		if v := m.view.Load(); v != nil {
			return v
		}
	}
	return s.earlierLocked(p)
}

// noteDamaged records that a text of property p cannot be read, for this state and for later ones.
func (s *searches) noteDamaged(p int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.damaged == nil {
		s.damaged = map[int]bool{}
	}
	s.damaged[p] = true
}

// isDamaged reports whether a text of property p cannot be read.
func (s *searches) isDamaged(p int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.damaged[p]
}

// unread returns the stored parts of an index that has not been read yet.
func (s *searches) unread(p int) (parts []textindex.Part, covered uint32, ok bool) {
	if v := s.latest(p); v != nil {
		return v.Unread()
	}
	return nil, 0, false
}

// textRows reads the texts of one column of a table. If the rows of each segment are read in order, it
// keeps only a few decompressed texts of each in memory. Only one goroutine may use it.
type textRows struct {
	t       *Rows
	column  func(s *segment.Segment) *column.Column // returns the column of a segment
	segment *segment.Segment                        // the segment of the last row; nil before the first one
	reader  *column.TextReader                      // reads the texts of the segment
	last    uint32                                  // number of the last row in its segment
	// readers holds the readers of the segments so far, without the segments that have been read to
	// their end.
	readers map[*segment.Segment]*column.TextReader
}

// newTextRows returns a reader of the rows that are in segments.
func newTextRows(t *Rows, of func(s *segment.Segment) *column.Column) *textRows {
	return &textRows{t: t, column: of, readers: map[*segment.Segment]*column.TextReader{}}
}

// at returns the reader of the segment that contains a row, and the number of the row there.
// REQUIRES: the row is not in the tail of the table.
func (x *textRows) at(row uint32) (*column.TextReader, uint32) {
	if s := x.segment; s == nil || row-s.Start >= s.N {
		if s != nil && (x.last == 0 || x.last == s.N-1) {
			delete(x.readers, s)
		}
		x.segment = x.t.segment(row)
		if x.reader = x.readers[x.segment]; x.reader == nil {
			x.reader = column.NewTextReader(x.column(x.segment))
			x.readers[x.segment] = x.reader
		}
	}
	x.last = row - x.segment.Start
	return x.reader, x.last
}

// newTexts returns a reader of the texts of String property p.
func newTexts(t *Rows, p int) textsOf {
	return textsOf{newTextRows(t, func(s *segment.Segment) *column.Column { return s.Props[p] }), p}
}

// textsOf implements [textindex.Texts] for property p of a table.
type textsOf struct {
	*textRows
	p int
}

// Text implements [textindex.Texts].
func (x textsOf) Text(row uint32) (string, bool) {
	if row >= x.t.base {
		return x.t.textAt(row, x.p)
	}
	r, i := x.at(row)
	return r.Text(i)
}

// Size implements [textindex.Texts].
func (x textsOf) Size(row uint32) int {
	if row >= x.t.base {
		s, _ := x.t.textAt(row, x.p)
		return len(s)
	}
	r, i := x.at(row)
	return r.Size(i)
}
