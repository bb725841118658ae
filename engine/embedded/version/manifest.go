package version

import (
	"encoding/binary"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine/embedded/index"
)

// ManifestFormat is the format number of a manifest's payload:
//
//	format    1 byte
//	branches  uvarint count; of each:
//	  header  of its head commit, as in a record
//	  schema  digest, source and catalog encoding, each a text (uvarint length, bytes)
//	  tables  uvarint count, nodes in schema order, then edges; of each:
//	    next, live  uvarint: ordinals given out, entities alive
//	    sorted      1 byte: 1 when ids ascend with ordinals
//	    last        text: the greatest id, while sorted
//	    segments    uvarint count; of each its name (text) and rows (uvarint)
//	    pages       uvarint count; of each its first ordinal (uvarint) and 256 rows
//	                of 4 bytes, little-endian
const ManifestFormat = 1

// AppendManifest appends the payload of a manifest over heads that are [Flushed];
// encoded is the encoding of their schema's catalog.
func AppendManifest(dst []byte, heads []*Snapshot, encoded func(*Schema) []byte) []byte {
	dst = append(dst, ManifestFormat)
	dst = binary.AppendUvarint(dst, uint64(len(heads)))
	for _, s := range heads {
		dst = AppendHeader(dst, s.Commit)
		dst = appendSchema(dst, s.Schema, encoded(s.Schema))
		dst = binary.AppendUvarint(dst, uint64(len(s.nodes)+len(s.edges)))
		for _, t := range s.nodes {
			dst = t.appendManifest(dst)
		}
		for _, t := range s.edges {
			dst = t.appendManifest(dst)
		}
	}
	return dst
}

// ReadManifest reads the heads of a manifest. The error is a *engine.Corrupt, or
// open's.
func ReadManifest(payload []byte, decode Decoder, open func(t *Type, name string) (*Segment, error)) ([]*Snapshot, error) {
	r := &reader{b: payload}
	if f := r.byte(); r.err == nil && f != ManifestFormat {
		r.fail(fmt.Sprintf("format %d, wanted %d", f, ManifestFormat))
	}
	var heads []*Snapshot
	for range r.count() {
		c := r.header()
		schema := readSchema(r, decode)
		if r.err != nil {
			return nil, r.err
		}
		c.Schema = schema.Digest
		s := NewSnapshot(schema, c)
		if n := r.count(); n != len(s.nodes)+len(s.edges) {
			r.fail(fmt.Sprintf("%d tables, wanted %d", n, len(s.nodes)+len(s.edges)))
		}
		for _, list := range [][]*Table{s.nodes, s.edges} {
			for _, t := range list {
				if r.err == nil {
					if err := t.readManifest(r, open); err != nil {
						return nil, err
					}
				}
			}
		}
		if r.err != nil {
			return nil, r.err
		}
		for _, t := range s.edges {
			if err := t.checkEnds(s); err != nil {
				return nil, err
			}
		}
		heads = append(heads, s)
	}
	return heads, r.err
}

func (t *Table) appendManifest(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(t.next))
	dst = binary.AppendUvarint(dst, uint64(t.live))
	if t.sorted {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
	dst = appendText(dst, t.last)
	dst = binary.AppendUvarint(dst, uint64(len(t.Segs)))
	for _, s := range t.Segs {
		if s.Name == "" {
			panic("version: manifest over a segment that is not stored")
		}
		dst = appendText(dst, s.Name)
		dst = binary.AppendUvarint(dst, uint64(s.N))
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
	return dst
}

func (t *Table) readManifest(r *reader, open func(t *Type, name string) (*Segment, error)) error {
	t.next, t.live = r.ordinal(), r.ordinal()
	t.sorted = r.byte() == 1
	t.last = r.text()
	for range r.count() {
		name, n := r.text(), r.ordinal()
		if r.err != nil {
			return r.err
		}
		s, err := open(t.Type, name)
		if err != nil {
			return err
		}
		if s.N != n {
			r.fail(fmt.Sprintf("segment %s has %d rows, wanted %d", name, s.N, n))
		}
		s.Start = t.base
		t.base += n
		t.Segs = append(t.Segs, s)
	}
	owner := new(index.Owner)
	pages := r.count()
	if most := uint64(t.base) + 256*uint64(pages); uint64(t.next) > most {
		r.fail(fmt.Sprintf("%s %s: %d ordinals, but rows for %d at most", t.Type.Entity, t.Type.Name, t.next, most))
	}
	for range pages {
		if r.err != nil {
			return r.err
		}
		first := r.ordinal()
		b := r.bytes(4 * 256)
		if r.err != nil {
			return r.err
		}
		for i := range uint32(256) {
			t.rows.Set(owner, first&^255+i, binary.LittleEndian.Uint32(b[4*i:]))
		}
	}
	live := uint32(0)
	for ord := range t.next {
		if row := t.rows.Get(ord); row != index.Dead {
			live++
			if row >= t.base {
				r.fail(fmt.Sprintf("%s %s: row %d of %d", t.Type.Entity, t.Type.Name, row, t.base))
				return r.err
			}
		}
	}
	if live != t.live {
		r.fail(fmt.Sprintf("%s %s: %d entities are alive, wanted %d", t.Type.Entity, t.Type.Name, live, t.live))
	}
	if r.err == nil {
		t.reindex()
	}
	return r.err
}

// checkEnds checks that the edges alive join nodes alive.
func (t *Table) checkEnds(s *Snapshot) error {
	from, to := s.nodes[t.Type.From], s.nodes[t.Type.To]
	for ord := range t.next {
		if !t.Alive(ord) {
			continue
		}
		if src, dst := t.Ends(ord); !from.Alive(src) || !to.Alive(dst) {
			r := &reader{}
			r.fail(fmt.Sprintf("edge %s %q joins a node that does not exist", t.Type.Name, t.ID(ord)))
			return r.err
		}
	}
	return nil
}
