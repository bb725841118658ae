package version

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// layoutReader reads the layouts of states in a manifest or an anchor.
type layoutReader struct {
	codec.Reader
	indexes map[*Table][]string // by table: names of the segments with the levels of its indexes
	bases   map[basesKey]*Table // indexes that several tables may share
	dry     bool                // lists the segments of tables and opens none of them
}

// appendManifest appends the part of a manifest that describes the table to dst.
func (t *Table) appendManifest(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(t.next))
	dst = binary.AppendUvarint(dst, uint64(t.live))
	if t.sorted {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
	dst = codec.AppendText(dst, t.last)
	dst = binary.AppendUvarint(dst, uint64(len(t.Segs)))
	for _, s := range t.Segs {
		if s.Name == "" {
			panic("version: manifest names a segment that is not stored")
		}
		dst = codec.AppendText(dst, s.Name)
		dst = binary.AppendUvarint(dst, uint64(s.N))
		dst = s.Origin.Append(dst)
	}
	pages := 0
	for range t.rows.All {
		pages++
	}
	dst = binary.AppendUvarint(dst, uint64(pages))
	for first, rows := range t.rows.All {
		dst = binary.AppendUvarint(dst, uint64(first))
		for _, row := range rows {
			dst = binary.LittleEndian.AppendUint32(dst, row)
		}
	}
	var levels []string
	for _, l := range t.storedLevels() {
		levels = append(levels, l.name)
	}
	dst = codec.AppendTexts(dst, levels)
	return t.texts.appendOrders(t.texts.appendTexts(dst))
}

// readManifest reads what appendManifest wrote; `open` opens the table's segments.
func (t *Table) readManifest(r *layoutReader, open segment.Opener) error {
	t.next, t.live = r.Ordinal(), r.Ordinal()
	t.sorted = r.Byte() == 1
	t.last = r.Text()
	for range r.Count() {
		name, n := r.Text(), r.Ordinal()
		from := segment.ReadOrigin(&r.Reader, t.Type)
		if r.Err != nil {
			return r.Err
		}
		s := &segment.Segment{Name: name, N: n}
		var err error
		if r.dry {
			_, err = open.Source(name)
		} else {
			s, err = from.Open(t.Type, name, open)
		}
		if err != nil {
			return err
		}
		if s.N != n {
			r.Fail(fmt.Sprintf("segment %s has %d rows, expected %d", name, s.N, n))
		}
		if uint64(t.base)+uint64(n) > math.MaxUint32 {
			r.Fail(fmt.Sprintf("%s %s has more rows than 32 bits can count", t.Type.Entity, t.Type.Name))
			return r.Err
		}
		s.Start = t.base
		t.base += n
		t.Segs = append(t.Segs, s)
	}
	owner := new(index.Owner)
	pages := r.Count()
	if most := uint64(t.base) + 256*uint64(pages); uint64(t.next) > most {
		r.Fail(fmt.Sprintf("%s %s has %d ordinals, but rows for at most %d", t.Type.Entity, t.Type.Name, t.next, most))
	}
	for range pages {
		if r.Err != nil {
			return r.Err
		}
		first := r.Ordinal()
		b := r.Bytes(4 * 256)
		if r.Err != nil {
			return r.Err
		}
		for i := range uint32(256) {
			t.rows.Set(owner, first&^255+i, binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
	if r.Err == nil {
		checkRows(&t.Rows, r)
	}
	if r.indexes == nil {
		r.indexes = map[*Table][]string{}
	}
	r.indexes[t] = r.Texts()
	if r.Err == nil {
		if err := t.texts.readTexts(&r.Reader, open, &t.Rows); err != nil {
			return err
		}
	}
	if r.Err == nil {
		return t.texts.readOrders(&r.Reader, open)
	}
	return r.Err
}

// indexTable opens or builds the indexes of a table that was read. It reads the edges that are
// newer than the stored indexes, or all edges if there are none. It throws an *engine.Corrupt if
// an end of an edge that it reads is not the ordinal of a node.
func (r *layoutReader) indexTable(t *Table, open segment.Opener, from, to *Table) error {
	if len(t.levels) > 0 {
		return nil
	}
	if r.bases == nil {
		r.bases = map[basesKey]*Table{}
	}
	if names := r.indexes[t]; len(names) > 0 {
		o, err := r.openLevels(t.Type, names, open)
		switch {
		case err != nil:
			return err
		case o == nil:
			t.rebuild(from, to)
			return nil
		}
		return r.takeShared(t, o, strings.Join(names, " "), from, to)
	}
	if o := t.commonBase(); o != nil {
		key := basesKey{t.Type, t.Segs[0].Name, true}
		if known := r.bases[key]; known != nil {
			o = known
		} else {
			o.rebuild(from, to)
			r.bases[key] = o
		}
		return r.takeShared(t, o, "", from, to)
	}
	t.rebuild(from, to)
	return nil
}

// openLevels returns a table without rows that has the named levels of indexes, or nil if they index
// other tuples than the type has. Tables with the same levels share them.
func (r *layoutReader) openLevels(typ *schema.Type, names []string, open segment.Opener) (*Table, error) {
	o := newTable(typ)
	for i, name := range names {
		key := basesKey{typ, strings.Join(names[:i+1], " "), false}
		if known := r.bases[key]; known != nil {
			o = known
			continue
		}
		src, err := open.Source(name)
		if err != nil {
			return nil, err
		}
		n := *o
		n.levels, n.idx = slices.Clip(o.levels), slices.Clone(o.idx)
		if same, err := n.openLevel(name, src); err != nil || !same {
			return nil, err
		}
		o = &n
		r.bases[key] = o
	}
	return o, nil
}

// sharedFrom is the least number of rows after the bases for which takeShared builds
// overlays once for all tables that begin with the same segments.
const sharedFrom = 64

// takeShared gives table t the indexes of o. Other tables may share the overlays over all
// segments but t's last one.
func (r *layoutReader) takeShared(t, o *Table, name string, from, to *Table) error {
	k := len(t.Segs) - 1
	if k < 1 || t.Type.Entity == plan.Edge {
		return t.takeIndexes(o, from, to)
	}
	ords, rows := o.covered()
	if n := t.Segs[k].Start; n < rows+sharedFrom || n < ords {
		return t.takeIndexes(o, from, to)
	}
	key := basesKey{typ: t.Type, rows: true}
	for _, s := range t.Segs[:k] {
		key.name += s.Name + " "
	}
	key.name += name
	whole := r.bases[key]
	if whole == nil {
		if whole = t.prefix(k, ords); whole == nil {
			return t.takeIndexes(o, from, to)
		}
		if err := r.takeShared(whole, o, name, from, to); err != nil {
			return err
		}
		r.bases[key] = whole
	} else if !t.identity(whole.base, ords) {
		return t.takeIndexes(o, from, to)
	}
	return t.takeIndexes(whole, from, to)
}

// basesKey identifies indexes that tables share. If the field `rows` is not set, the indexes are
// stored in the index segments that `name` lists. If it is set, they were built over the row
// segments that `name` lists.
type basesKey struct {
	typ  *schema.Type // type of the tables
	name string       // see above
	rows bool         // see above
}

// checkRows checks that every ordinal has an existing row or none. It skips ordinals
// without a page.
func checkRows(t *Rows, r *layoutReader) {
	if t.live > t.next {
		r.Fail(fmt.Sprintf("%s %s has %d live entities, but only %d ordinals", t.Type.Entity, t.Type.Name, t.live, t.next))
	}
	for first := uint64(0); first < uint64(t.next) && r.Err == nil; first += 256 {
		end := uint32(min(first+256, uint64(t.next)))
		page := t.rows.Page(uint32(first))
		if page == nil && end <= t.base {
			continue
		}
		for ord := uint32(first); ord < end; ord++ {
			if row := t.rows.Get(ord); row != index.Dead && row >= t.base {
				r.Fail(fmt.Sprintf("%s %s: row %d does not exist; there are only %d rows", t.Type.Entity, t.Type.Name, row, t.base))
				return
			}
		}
	}
}
