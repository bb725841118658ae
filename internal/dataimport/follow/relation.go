package follow

import (
	"slices"
	"strings"

	"github.com/jackc/pglogrepl"

	"github.com/omnigraph-go/omnigraph/internal/dataimport/pgtext"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// relation is a followed table as the database describes it before its changes.
type relation struct {
	source  int              // position among the sources of the map
	number  int              // position among the relations of the follower
	at      []int            // by column of the map: the column of the tuple
	key     []int            // the columns of the map that identify a row
	known   []bool           // by column of the map: it is sent of an old row
	decoder []pgtext.Decoder // by column of the map
}

// relate reads the description of a table. It returns nil for a table that the map does not have, and a *Stopped if mapped columns
// are not as at the copy.
func (f *follower) relate(m *pglogrepl.RelationMessage, number int) (*relation, error) {
	name := m.Namespace + "." + m.RelationName
	i := slices.IndexFunc(f.tables, func(t *table) bool { return t.name == name })
	if i < 0 {
		return nil, nil
	}
	t := f.tables[i]
	r := &relation{source: i, number: number}
	sent := map[string]int{}
	for k, c := range m.Columns {
		sent[c.Name] = k
		if _, known := t.column(c.Name); !known {
			f.Log.Warn("the table has a new column, which the map does not read; add it to the map to copy anew with it", "table", name, "column", c.Name)
			t.columns = append(t.columns, column{name: c.Name, typ: c.DataType, mod: c.TypeModifier})
		}
	}
	for _, name := range f.rows.Columns(i) {
		k, ok := sent[name]
		was, _ := t.column(name)
		if !ok {
			var now []string
			for _, c := range m.Columns {
				now = append(now, c.Name)
			}
			return nil, stopf("the column %s of the table %s was dropped or renamed; its columns are now %s: mend the map, and %s", name, t.name, strings.Join(now, ", "), anew)
		}
		if c := m.Columns[k]; c.DataType != was.typ || c.TypeModifier != was.mod {
			return nil, stopf("the column %s of the table %s has another type than %s, which it had at the copy; check the map, and %s", name, t.name, was.typeOf, anew)
		}
		r.at, r.decoder = append(r.at, k), append(r.decoder, f.types.Decoder(was.typ))
		r.known = append(r.known, slices.Contains(t.replica, name))
	}
	unsent := func(name string) bool {
		k, ok := sent[name]
		return !ok || m.Columns[k].Flags&1 == 0
	}
	if (m.ReplicaIdentity == 'f') != t.full || !t.full && slices.ContainsFunc(t.replica, unsent) {
		return nil, stopf("the REPLICA IDENTITY of the table %s has changed; %s", t.name, anew)
	}
	for _, name := range t.key {
		c := slices.Index(f.rows.Columns(i), name)
		if c < 0 || m.ReplicaIdentity != 'f' && m.Columns[r.at[c]].Flags&1 == 0 {
			return nil, stopf("the key of the table %s has changed; %s", t.name, anew)
		}
		r.key = append(r.key, c)
	}
	return r, nil
}

// cell is a value of a row.
type cell struct {
	form byte // of pgoutput: n for null, t for a text, u for a value that did not change; 0 if it is not known
	text []byte
}

// cells returns the values of a tuple, by column of the map.
func (r *relation) cells(t *pglogrepl.TupleData) []cell {
	out := make([]cell, len(r.at))
	for c, k := range r.at {
		if k < len(t.Columns) {
			out[c] = cell{t.Columns[k].DataType, t.Columns[k].Data}
		}
	}
	return out
}

// old returns the known values of an old tuple, in which PostgreSQL writes null for the others.
func (r *relation) old(t *pglogrepl.TupleData) []cell {
	out := r.cells(t)
	for c := range out {
		if !r.known[c] {
			out[c] = cell{}
		}
	}
	return out
}

// keyOf returns a text for the values that identify a row.
func (r *relation) keyOf(row []cell) string {
	var b strings.Builder
	for _, c := range r.key {
		b.WriteByte(row[c].form)
		b.Write(row[c].text)
		b.WriteByte(0)
	}
	return b.String()
}

// record returns a row as a record, and by column whether its value is unknown because it did not change.
func (r *relation) record(row []cell, columns []string) (*record.Record, []bool) {
	out := &record.Record{Values: make([]record.Value, len(row))}
	var unchanged []bool
	for c, v := range row {
		switch v.form {
		case 't':
			out.Values[c] = r.decoder[c](v.text)
		case 'n':
		default:
			if unchanged == nil {
				unchanged = make([]bool, len(row))
			}
			unchanged[c] = true
		}
	}
	out.Key = func() string {
		var parts []string
		for _, c := range r.key {
			parts = append(parts, columns[c]+"="+string(row[c].text))
		}
		return strings.Join(parts, ", ")
	}
	return out, unchanged
}
