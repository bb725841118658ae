package version

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/codec"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/format"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
)

// Anchor identifies a stored past state, in the way that a manifest lists it. To restore a later
// state, the commits after the anchor are replayed.
type Anchor struct {
	Commit string   // id of the commit that made the state
	Name   string   // name of the segment
	Block  int      // number of the block in the segment
	Refs   []string // segments that hold the rows of the state
}

// BlockName returns the name of the anchor's block.
func (a *Anchor) BlockName() string { return "state" + strconv.Itoa(a.Block) }

// AppendState appends the block of an anchor. The block holds one state. All rows of the state must
// be stored. The block consists of the format (1 byte), then schemas, tables and states laid out as
// in the manifest; see [Manifest].
func AppendState(dst []byte, s *Snapshot, encoded func(*schema.Schema) []byte) []byte {
	var l layoutList
	l.add(s)
	return l.append(append(dst, format.Current), encoded)
}

// ReadState reads the block of an anchor. If the block contains a schema that equals one of the
// schemas in `known`, ReadState uses the schema in `known`. The error is a *engine.Corrupt or an
// error of the opener `open`.
func ReadState(b []byte, decode schema.Decoder, known []*schema.Schema, open segment.Opener) (*Snapshot, error) {
	r := &layoutReader{Reader: codec.Reader{Rest: b}}
	r.Format(format.State)
	states, err := r.layouts(decode, known, open)
	if err != nil {
		return nil, err
	}
	if len(states) != 1 || len(r.Rest) > 0 {
		r.Fail(fmt.Sprintf("found %d states, expected 1", len(states)))
		return nil, r.Err
	}
	return states[0], nil
}

// Refs lists the names of the stored segments that hold the state's tables and their
// indexes. Each name occurs once.
func (s *Snapshot) Refs() []string {
	var refs []string
	seen := map[string]bool{}
	for _, t := range s.Tables() {
		for _, name := range t.Stored() {
			if name != "" && !seen[name] {
				seen[name] = true
				refs = append(refs, name)
			}
		}
	}
	return refs
}

// layoutList collects states with their tables and schemas. It lists a shared table or schema only
// once.
type layoutList struct {
	schemas  []*schema.Schema          // each once
	schemaAt map[*schema.Schema]uint64 // by schema: its position in schemas
	tables   []*Table                  // each once
	tableOf  []*schema.Schema          // by position in tables: the table's schema
	tableAt  map[*Table]uint64         // by table: its position in tables
	states   []*Snapshot               // the collected states
	stateAt  map[*Snapshot]uint64      // by state: its position in states
}

// add appends a state to the lists, and its tables and schema if they are new.
func (l *layoutList) add(s *Snapshot) {
	if l.stateAt == nil {
		l.schemaAt, l.tableAt, l.stateAt = map[*schema.Schema]uint64{}, map[*Table]uint64{}, map[*Snapshot]uint64{}
	}
	if _, ok := l.stateAt[s]; ok {
		return
	}
	l.stateAt[s] = uint64(len(l.states))
	l.states = append(l.states, s)
	if _, ok := l.schemaAt[s.Schema]; !ok {
		l.schemaAt[s.Schema] = uint64(len(l.schemas))
		l.schemas = append(l.schemas, s.Schema)
	}
	for _, t := range s.Tables() {
		if _, ok := l.tableAt[t]; !ok {
			l.tableAt[t] = uint64(len(l.tables))
			l.tables, l.tableOf = append(l.tables, t), append(l.tableOf, s.Schema)
		}
	}
}

// append appends the schemas, the tables and the states in the layout of [Manifest].
func (l *layoutList) append(dst []byte, encoded func(*schema.Schema) []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(l.schemas)))
	for _, s := range l.schemas {
		dst = schema.AppendAncestors(schema.AppendSchema(dst, s, encoded(s)), s)
	}
	dst = binary.AppendUvarint(dst, uint64(len(l.tables)))
	for i, t := range l.tables {
		dst = binary.AppendUvarint(dst, l.schemaAt[l.tableOf[i]])
		dst = append(dst, byte(t.Type.Entity))
		dst = binary.AppendUvarint(dst, uint64(t.Type.Index))
		dst = t.appendManifest(dst)
	}
	dst = binary.AppendUvarint(dst, uint64(len(l.states)))
	for _, s := range l.states {
		dst = logrecord.AppendHeader(dst, logrecord.Commit{Commit: s.Commit}, nil)
		dst = binary.AppendUvarint(dst, l.schemaAt[s.Schema])
		for _, t := range s.Tables() {
			dst = binary.AppendUvarint(dst, l.tableAt[t])
		}
	}
	return dst
}

// layouts reads the states that [layoutList.append] wrote.
func (r *layoutReader) layouts(decode schema.Decoder, known []*schema.Schema, open segment.Opener) ([]*Snapshot, error) {
	schemas, tables, err := r.tables(decode, known, open)
	if err != nil {
		return nil, err
	}
	return r.states(schemas, tables, open)
}

// tables reads the schemas and the tables of layouts.
func (r *layoutReader) tables(decode schema.Decoder, known []*schema.Schema, open segment.Opener) (schemas []*schema.Schema, tables []*Table, err error) {
	for range r.Count() {
		s := schema.ReadSchema(&r.Reader, decode)
		if r.Err == nil {
			s.Ancestors = schema.ReadAncestors(&r.Reader, s)
		}
		if r.Err != nil {
			return nil, nil, r.Err
		}
		if i := slices.IndexFunc(known, s.Equal); i >= 0 {
			s = known[i]
		}
		schemas = append(schemas, s)
	}
	for range r.Count() {
		t, err := r.table(schemas, open)
		if err != nil {
			return nil, nil, err
		}
		tables = append(tables, t)
	}
	return schemas, tables, r.Err
}
