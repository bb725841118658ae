package version

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// The payload of a manifest:
//
//	format    1 byte
//	schemas   uvarint count; for each its digest, source and catalog encoding, each a
//	          text (uvarint length, bytes), and its ancestors, as in a KindSchema record
//	tables    uvarint count; for each:
//	  schema      uvarint, index in schemas
//	  entity      1 byte, 0 node, 1 edge
//	  type        uvarint, position in the schema
//	  next, live  uvarint: ordinals assigned, live entities
//	  sorted      1 byte: 1 when ids ascend with ordinals
//	  last        text: the greatest id, while sorted
//	  segments    uvarint count; for each its name (text), rows (uvarint) and origin:
//	              0 when names and kinds are those of the type, else 1, the name of its type
//	              (text), and for each property of the table's type the stored name (text,
//	              empty for none) and kind (1 byte, value.Kind)
//	  pages       uvarint count; for each its first ordinal (uvarint) and 256 rows
//	              of 4 bytes, little-endian
//	  indexes     the segments with the levels of the indexes: uvarint count, texts
//	  texts       uvarint count of text indexes; for each the position of its property,
//	              the rows that it covers (uvarints), and the segments that hold it:
//	              uvarint count, texts.
//	              After the text indexes, and counted with them, come the approximate
//	              indexes of vectors (@ann), in the same form with one segment each
//	  sorted      uvarint count of sorted indexes; for each the position of its property
//	              (uvarint), and the segments with its levels: uvarint count, texts
//	states    uvarint count; for each:
//	  header      of its commit, as in a record
//	  schema      uvarint, index in schemas
//	  tables      uvarint each, index in tables: nodes in schema order, then edges
//	branches  uvarint count; for each its name (text), the state at its head (uvarint),
//	          and its receipts: uvarint count, for each the header of its commit
//	history   uvarint count of segments, for each its name (text) and commits (uvarint)
//	archive   uvarint count of segments; for each its name (text), the bytes of its block
//	          (uvarint), its runs (see [logrecord.Archived]), and the segments that its records name:
//	          uvarint count, texts
//	anchors   uvarint count; for each its commit (16 bytes, a ULID), its segment (text),
//	          the number of its block (uvarint), and the segments that hold its rows:
//	          uvarint count, texts
//	proposals uvarint count; for each a text: the payload of a KindProposal record
//	drafts    uvarint count; for each a text: see [logrecord.AppendDraft]
//	reclaimed text: the id of the last event of proposals that a cleanup removed; empty for none
//	watches   uvarint count; for each a text: see [logrecord.AppendWatch]; not before format 13

// Manifest is the content of a manifest: every state that must be readable without the log,
// with its branches, history, archive and anchors.
type Manifest struct {
	Branches []ManifestBranch           // the branches and their heads
	History  []ancestry.HistorySegment  // the segments with the history of commits
	Archive  []logrecord.ArchiveSegment // the segments with the records of old commits
	Anchors  []Anchor                   // the stored past states

	Proposals []*engine.Proposal // the proposals, in the order of their ids
	Drafts    []*engine.Draft    // the drafts, in the order of their ids
	Watches   []*engine.Watch    // the watches, in the order of their ids

	ReclaimedEvent string // the last event of proposals that a cleanup removed; empty for none
}

// ManifestBranch is a branch, the state at its head and its receipts. Receipts is an
// iterator, because there may be many.
type ManifestBranch struct {
	Name        string                        // name of the branch
	Head        *Snapshot                     // state at the head of the branch
	Receipts    iter.Seq[logrecord.Receipted] // yields the receipts of the branch
	NumReceipts int                           // length of Receipts, which may be nil if this is 0
}

// Append appends the payload of the manifest. The states must be flushed. The function `encoded`
// returns the encoding of a schema's catalog. Data that several states share is written only once.
func (m *Manifest) Append(dst []byte, encoded func(*schema.Schema) []byte) []byte {
	var l layoutList
	for _, b := range m.Branches {
		l.add(b.Head)
	}
	dst = l.append(append(dst, format.Current), encoded)
	dst = binary.AppendUvarint(dst, uint64(len(m.Branches)))
	for _, b := range m.Branches {
		dst = codec.AppendText(dst, b.Name)
		dst = binary.AppendUvarint(dst, l.stateAt[b.Head])
		dst = binary.AppendUvarint(dst, uint64(b.NumReceipts))
		if b.NumReceipts > 0 {
			for r := range b.Receipts {
				dst = logrecord.AppendHeader(dst, logrecord.Commit{Commit: r.Commit}, &r.Receipt)
			}
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(m.History)))
	for _, h := range m.History {
		dst = codec.AppendText(dst, h.Name)
		dst = binary.AppendUvarint(dst, uint64(h.N))
	}
	dst = binary.AppendUvarint(dst, uint64(len(m.Archive)))
	for _, a := range m.Archive {
		dst = codec.AppendText(dst, a.Name)
		dst = binary.AppendUvarint(dst, uint64(a.Bytes))
		dst = logrecord.AppendRuns(dst, a.Runs)
		dst = codec.AppendTexts(dst, a.Refs)
	}
	dst = binary.AppendUvarint(dst, uint64(len(m.Anchors)))
	for _, a := range m.Anchors {
		dst = codec.AppendULID(dst, a.Commit)
		dst = codec.AppendText(dst, a.Name)
		dst = binary.AppendUvarint(dst, uint64(a.Block))
		dst = codec.AppendTexts(dst, a.Refs)
	}
	dst = binary.AppendUvarint(dst, uint64(len(m.Proposals)))
	for _, p := range m.Proposals {
		dst = codec.AppendText(dst, string(logrecord.AppendProposal(nil, p)))
	}
	dst = binary.AppendUvarint(dst, uint64(len(m.Drafts)))
	for _, d := range m.Drafts {
		dst = codec.AppendText(dst, string(logrecord.AppendDraft(nil, d)))
	}
	dst = codec.AppendText(dst, m.ReclaimedEvent)
	dst = binary.AppendUvarint(dst, uint64(len(m.Watches)))
	for _, w := range m.Watches {
		dst = codec.AppendText(dst, string(logrecord.AppendWatch(nil, w)))
	}
	return dst
}

// ReadManifest reads a manifest. It reads only the stored rows that it must add to the stored indexes;
// everything else is read on first use. The error is a *engine.Corrupt or an error of the opener
// `open`. Faults in the rows that it reads are thrown; see package corruption.
func ReadManifest(payload []byte, decode schema.Decoder, open segment.Opener) (*Manifest, error) {
	r := &layoutReader{Reader: codec.Reader{Rest: payload}}
	written := r.Format(format.Manifest)
	if r.Err != nil {
		return nil, r.Err
	}
	m := &Manifest{}
	states, err := r.layouts(decode, nil, open)
	if err != nil {
		return nil, err
	}
	for range r.Count() {
		b := ManifestBranch{Name: r.Text()}
		head := r.Index(len(states))
		var receipts []logrecord.Receipted
		for range r.Count() {
			if c, receipt := logrecord.ReadHeader(&r.Reader); receipt != nil {
				receipts = append(receipts, logrecord.Receipted{Commit: c.Commit, Receipt: *receipt})
			}
		}
		b.Receipts, b.NumReceipts = slices.Values(receipts), len(receipts)
		if r.Err != nil {
			return nil, r.Err
		}
		b.Head = states[head].Fork()
		m.Branches = append(m.Branches, b)
	}
	for range r.Count() {
		m.History = append(m.History, ancestry.HistorySegment{Name: r.Text(), N: int(r.Ordinal())})
	}
	r.archive(m)
	for range r.Count() {
		p, err := logrecord.ReadProposal(r.Bytes(r.Count()))
		if r.Err != nil || err != nil {
			return nil, cmp.Or(r.Err, err)
		}
		m.Proposals = append(m.Proposals, p)
	}
	for range r.Count() {
		d, err := logrecord.ReadDraft(r.Bytes(r.Count()))
		if r.Err != nil || err != nil {
			return nil, cmp.Or(r.Err, err)
		}
		m.Drafts = append(m.Drafts, d)
	}
	m.ReclaimedEvent = r.Text()
	if written < 13 {
		return m, r.Err
	}
	for range r.Count() {
		w, err := logrecord.ReadWatch(r.Bytes(r.Count()))
		if r.Err != nil || err != nil {
			return nil, cmp.Or(r.Err, err)
		}
		m.Watches = append(m.Watches, w)
	}
	return m, r.Err
}

// fileList is an Opener for a dry reader. It lists the segments and opens none.
type fileList struct{ names []string }

func (l *fileList) Segment(*schema.Type, string) (*segment.Segment, error) {
	panic("version: a dry reader opens no rows")
}

func (l *fileList) Source(name string) (column.Source, error) {
	l.names = append(l.names, name)
	return nil, nil
}

// TableFiles lists the segments that ReadManifest opens for the tables of a manifest, so that they can be fetched
// together. A segment may be listed twice. If the manifest is not readable, the list is not complete.
func TableFiles(payload []byte, decode schema.Decoder) []string {
	r := &layoutReader{Reader: codec.Reader{Rest: payload}, dry: true}
	if r.Format(format.Manifest); r.Err != nil {
		return nil
	}
	l := &fileList{}
	_, _, _ = r.tables(decode, nil, l) // ReadManifest reports the faults
	for _, names := range r.indexes {
		l.names = append(l.names, names...)
	}
	return l.names
}

// archive reads the archive and the anchors.
func (r *layoutReader) archive(m *Manifest) {
	end := 0
	for range r.Count() {
		a := logrecord.ArchiveSegment{Name: r.Text(), Bytes: int(r.Ordinal()), Runs: logrecord.ReadRuns(&r.Reader), Refs: r.Texts()}
		if r.Err == nil && (len(a.Runs) == 0 || a.Runs[0].First < end) {
			r.Fail("archive segment " + a.Name + " is out of order")
		}
		if r.Err != nil {
			return
		}
		last := a.Runs[len(a.Runs)-1]
		end = last.First + last.N
		m.Archive = append(m.Archive, a)
	}
	for range r.Count() {
		a := Anchor{Commit: r.ULID(), Name: r.Text(), Block: int(r.Ordinal()), Refs: r.Texts()}
		if r.Err != nil {
			return
		}
		m.Anchors = append(m.Anchors, a)
	}
}

// table reads one table. Its type belongs to one of the given schemas.
func (r *layoutReader) table(schemas []*schema.Schema, open segment.Opener) (*Table, error) {
	schema := r.Index(len(schemas))
	if r.Err != nil {
		return nil, r.Err
	}
	types := schemas[schema].Nodes
	if r.Byte() == byte(plan.Edge) {
		types = schemas[schema].Edges
	}
	i := r.Index(len(types))
	if r.Err != nil {
		return nil, r.Err
	}
	t := newTable(types[i])
	return t, t.readManifest(r, open)
}

// states reads the states, which refer to the given tables.
func (r *layoutReader) states(schemas []*schema.Schema, tables []*Table, open segment.Opener) ([]*Snapshot, error) {
	var states []*Snapshot
	checked := map[[3]*Table]bool{}
	for range r.Count() {
		c, _ := logrecord.ReadHeader(&r.Reader)
		schema := r.Index(len(schemas))
		if r.Err != nil {
			return nil, r.Err
		}
		c.Schema = schemas[schema].Digest
		s := NewSnapshot(schemas[schema], c.Commit)
		for _, list := range [][]*Table{s.nodes, s.edges} {
			for i, t := range list {
				k := r.Index(len(tables))
				if r.Err != nil {
					return nil, r.Err
				}
				if tables[k].Type != t.Type {
					r.Fail(fmt.Sprintf("table %d has the type %s, expected %s", k, tables[k].Type.Name, t.Type.Name))
					return nil, r.Err
				}
				list[i] = tables[k]
			}
		}
		if err := r.indexAll(s, open, checked); err != nil {
			return nil, err
		}
		states = append(states, s)
	}
	return states, r.Err
}

// indexAll opens or builds the indexes of the tables of a state that have none yet. The map
// `checked` holds the triples of edge table, source table and target table that were checked.
func (r *layoutReader) indexAll(s *Snapshot, open segment.Opener, checked map[[3]*Table]bool) error {
	for _, t := range s.nodes {
		if err := r.indexTable(t, open, nil, nil); err != nil {
			return err
		}
	}
	for _, t := range s.edges {
		joined := [3]*Table{t, s.nodes[t.Type.From], s.nodes[t.Type.To]}
		if checked[joined] {
			continue
		}
		checked[joined] = true
		if err := r.indexTable(t, open, joined[1], joined[2]); err != nil {
			return err
		}
		if err := t.checkJoins(joined[1], joined[2]); err != nil {
			return err
		}
	}
	return nil
}
