package version

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// entities formats the entities of a snapshot without their ordinals.
func entities(s *Snapshot) string {
	var b strings.Builder
	for _, t := range s.Tables() {
		lines := map[string]string{}
		for ord := range t.next {
			if !t.Alive(ord) {
				continue
			}
			id := t.ID(ord)
			line := ""
			if got, ok := t.Lookup(id); !ok || got != ord {
				line += " not found"
			}
			if t.Type.Entity == 1 {
				src, dst := t.Ends(ord)
				line += " " + s.nodes[t.Type.From].ID(src) + " " + s.nodes[t.Type.To].ID(dst)
				line += fmt.Sprint(" ", len(LiveEdges(t, t.Out(), src)), len(LiveEdges(t, t.In(), dst)))
			}
			line += fmt.Sprint(t.Values(ord))
			lines[id] = line
		}
		fmt.Fprintln(&b, t.Type.Name, lines)
	}
	return b.String()
}

// keep stores a segment under a new name. Its rows are then read from the store.
func (m memory) keep(t testing.TB, typ *schema.Type, s *segment.Segment) {
	t.Helper()
	name := fmt.Sprint(len(m) + 1)
	blocks := map[string][]byte{}
	if err := s.Blocks(typ, func(block string, data []byte) error { blocks[block] = slices.Clone(data); return nil }); err != nil {
		t.Fatal(err)
	}
	m[name] = blocks
	stored, err := segment.Open(typ, name, source{name, blocks})
	if err != nil {
		t.Fatal(err)
	}
	stored.Start = s.Start
	*s = *stored
}

// files returns files of indexes in m. The temporary files are in memory.
func (m memory) files(least, spill uint32) *IndexFiles {
	return &IndexFiles{Least: least, Spill: spill,
		Open: m.Segment,
		Scratch: func(write func(add func(name string, data []byte) error) error) (column.Source, error) {
			blocks := map[string][]byte{}
			err := write(func(name string, data []byte) error {
				blocks[name] = slices.Clone(data)
				return nil
			})
			return source{"scratch", blocks}, err
		},
		Store: func(write func(w BlockWriter) error) (string, column.Source, error) {
			name := fmt.Sprint(len(m) + 1)
			m[name] = map[string][]byte{}
			err := write(blockMap(m[name]))
			return name, source{name, m[name]}, err
		},
	}
}

// blockMap implements BlockWriter.
type blockMap map[string][]byte

func (b blockMap) AddBlock(name string, data []byte) error {
	b[name] = slices.Clone(data)
	return nil
}

func (b blockMap) AddCold(name string, data []byte, delta bool) error { return b.AddBlock(name, data) }

func (b blockMap) AddStream(name string, pieces func(put func([]byte) error) error) error {
	return pieces(func(data []byte) error {
		b[name] = append(b[name], data...)
		return nil
	})
}

// rewritten rewrites a snapshot. It returns the result and the number of new segments.
func rewritten(t testing.TB, s *Snapshot, floor uint32, bytes int64, m memory, files *IndexFiles) (*Snapshot, int) {
	t.Helper()
	made := 0
	w := Rewriter{Floor: floor, Segment: bytes, Files: files, Keep: func(typ *schema.Type, s *segment.Segment) error {
		made++
		m.keep(t, typ, s)
		return nil
	}}
	if err := w.Add(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return w.Snapshot(s), made
}

// TestRewriteKeepsNulls adds a property to stored rows, gives it a default later, and rewrites the rows from their files. The
// property must stay null in them.
func TestRewriteKeepsNulls(t *testing.T) {
	of := func(props ...*catalog.Property) *schema.Schema {
		c := &catalog.Schema{Nodes: []*catalog.Node{{Name: "N", Key: []string{"k"}, Properties: append([]*catalog.Property{{Name: "k", Type: value.Of(value.String)}}, props...)}}}
		c.Index()
		s, err := schema.New("", catalog.Digest(c), c)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	p := catalog.Property{Name: "p", Type: value.Of(value.I32).Optional()}
	filled := p
	filled.Default = &catalog.Literal{Value: value.OfI32(7)}
	plain, added, last := of(), of(&p), of(&filled)
	tx := Begin(NewSnapshot(plain, first))
	for i := range 20 {
		id := fmt.Sprintf("n%02d", i)
		tx.Put(plain.Nodes[0], Row{ID: id, Vals: []value.Value{value.OfString(id)}})
	}
	m := memory{}
	snap := tx.Commit(first)
	f, _, err := snap.nodes[0].Flush()
	if err != nil {
		t.Fatal(err)
	}
	m.keep(t, plain.Nodes[0], f.Segment)
	snap = snap.Flushed([]Flush{f})
	for _, ch := range []schema.Change{
		{Schema: added, Carry: &schema.Carry{Nodes: []schema.TypeCarry{{From: 0, Props: []int{0, -1}}}}},
		{Schema: last, Carry: &schema.Carry{Nodes: []schema.TypeCarry{{From: 0, Props: []int{0, 1}}}}},
	} {
		if snap, err = snap.Carried(ch); err != nil {
			t.Fatal(err)
		}
	}
	tx = Begin(snap)
	for ord := range uint32(10) {
		tx.Delete(last.Nodes[0], ord)
	}
	want := tx.Commit(first)
	got, made := rewritten(t, want, 1, 1, m, m.files(0, 0))
	if entities(got) != entities(want) || made == 0 || !want.nodes[0].Value(10, 1).IsNull() {
		t.Errorf("rewritten in %d segments:\n%s\nwant\n%s", made, entities(got), entities(want))
	}
}

// churned returns a snapshot after many random commits. Some of its rows are in segments in m.
func churned(t *testing.T, s *schema.Schema, seed uint64, m memory) *Snapshot {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	snap := NewSnapshot(s, first)
	pair, anyType, joins := s.Nodes[0], s.Nodes[1], s.Edges[0]
	for range 60 {
		tx := Begin(snap)
		for range 8 {
			vals := []value.Value{value.OfString("x"), value.OfI32(int32(r.IntN(40)))}
			p, _ := tx.Put(pair, Row{ID: string(pair.AppendID(nil, vals)), Vals: vals})
			n := r.IntN(40)
			a, _ := tx.Put(anyType, Row{ID: fmt.Sprint("any", n), Vals: anyRow(n + r.IntN(2))})
			tx.Put(joins, Row{ID: fmt.Sprint("e", r.IntN(40)), Src: p, Dst: a, Vals: []value.Value{value.OfI32(int32(n))}})
			if table := tx.Table(anyType); r.IntN(2) == 0 {
				if ord := r.Uint32N(table.Ordinals()); table.Alive(ord) {
					tx.Delete(anyType, ord)
				}
			}
		}
		snap = tx.Commit(first)
		if r.IntN(10) == 0 {
			flushes := []Flush{}
			for _, table := range snap.Tables() {
				f, ok, err := table.Flush()
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					m.keep(t, table.Type, f.Segment)
					flushes = append(flushes, f)
				}
			}
			snap = snap.Flushed(flushes)
		}
	}
	return snap
}

// TestRewrite rewrites random snapshots, in memory and with temporary files. The entities must be the
// same, and the holes must be gone. A later commit must have the same effect as without the rewrite.
func TestRewrite(t *testing.T) {
	s := testSchema(t)
	saved := numberBits
	t.Cleanup(func() { numberBits = saved })
	numberBits = 4
	for _, c := range []struct {
		name         string
		segment      int64
		files        bool
		least, spill uint32
	}{
		{"in memory, one segment", 1 << 30, false, 0, 0},
		{"in memory, many segments", 0, false, 0, 0},
		{"with files, one segment", 1 << 30, true, 1, 1},
		{"with files, many segments", 0, true, 1, 1},
		{"with files, some segments", 400, true, 1, 1 << 20},
		{"with files, indexes in memory", 400, true, 1 << 20, 1 << 20},
	} {
		for seed := range uint64(10) {
			m := memory{}
			snap := churned(t, s, seed, m)
			if !snap.Sparse(4) {
				t.Fatal("the snapshot has few holes")
			}
			if snap.Sparse(1 << 20) {
				t.Error("a few holes are many")
			}
			var files *IndexFiles
			if c.files {
				files = m.files(c.least, c.spill)
			}
			out, made := rewritten(t, snap, 4, c.segment, m, files)
			if got, want := entities(out), entities(snap); got != want {
				t.Fatalf("%s, seed %d: after the rewrite it is\n%s\nwant\n%s", c.name, seed, got, want)
			}
			if out.Sparse(4) || made == 0 {
				t.Errorf("%s, seed %d: after the rewrite it has holes", c.name, seed)
			}
			for _, table := range out.Tables() {
				if len(table.tail) > 0 {
					t.Errorf("seed %d: %d rows are in no segment", seed, len(table.tail))
				}
				if table.Type.Entity == 1 && (!table.Sorted() || !table.AllLive()) {
					t.Errorf("seed %d: the edges are not in order", seed)
				}
			}
			ops := func(snap *Snapshot) []byte {
				tx := Begin(snap)
				vals := []value.Value{value.OfString("late"), value.OfI32(1)}
				p, _ := tx.Put(s.Nodes[0], Row{ID: "late", Vals: vals})
				a, _ := tx.Put(s.Nodes[1], Row{ID: "any3", Vals: anyRow(77)})
				tx.Put(s.Edges[0], Row{ID: "e3", Src: p, Dst: a, Vals: []value.Value{value.OfI32(9)}})
				return tx.AppendOps(nil)
			}(snap)
			var after [2]string
			for i, base := range []*Snapshot{snap, out} {
				tx := Begin(base)
				if err := tx.ApplyOps(ops); err != nil {
					t.Fatal(err)
				}
				after[i] = entities(tx.Commit(first))
			}
			if after[0] != after[1] {
				t.Errorf("seed %d: a commit after the rewrite makes\n%s\nwant\n%s", seed, after[1], after[0])
			}
		}
	}
}

// TestRewriteKeepsNumbers updates all entities many times. The rewrite must drop the dead
// rows and keep the ordinals.
func TestRewriteKeepsNumbers(t *testing.T) {
	s := testSchema(t)
	snap := NewSnapshot(s, first)
	for i := range 20 {
		tx := Begin(snap)
		for n := range 10 {
			tx.Put(s.Nodes[1], Row{ID: fmt.Sprint("any", 9-n), Vals: anyRow(i)})
		}
		snap = tx.Commit(first)
	}
	out, made := rewritten(t, snap, 4, 1<<30, memory{}, nil)
	table := out.nodes[1]
	if table.base != 10 || made != 1 || !table.rows.Dense() {
		t.Errorf("%d rows are left in %d segments, dense: %v; want 10 in 1", table.base, made, table.rows.Dense())
	}
	for ord := range uint32(10) {
		if got, want := table.ID(ord), snap.nodes[1].ID(ord); got != want {
			t.Errorf("number %d is %s, was %s", ord, got, want)
		}
	}
	if got, want := entities(out), entities(snap); got != want {
		t.Errorf("after the rewrite it is\n%s\nwant\n%s", got, want)
	}
}

// TestRoom sets the counters of tables to their limit. Room must then refuse a new entity.
func TestRoom(t *testing.T) {
	s := testSchema(t)
	for name, use := range map[string]func(*Table){
		"rows":     func(t *Table) { t.base = schema.MaxRows },
		"ordinals": func(t *Table) { t.next = schema.MaxRows },
	} {
		snap := NewSnapshot(s, first)
		use(snap.nodes[1])
		tx := Begin(snap)
		if err := tx.Room(); err != nil {
			t.Errorf("%s: nothing to add: %v", name, err)
		}
		tx.Put(s.Nodes[1], Row{ID: "one", Vals: anyRow(1)})
		var full *engine.TooLarge
		if err := tx.Room(); !errors.As(err, &full) {
			t.Errorf("%s: error %v, want a *engine.TooLarge", name, err)
		}
	}
}

// TestLargeSegmentsStay flushes after a large segment. The flush must not rewrite it.
func TestLargeSegmentsStay(t *testing.T) {
	s := testSchema(t)
	saved := segmentBytes
	t.Cleanup(func() { segmentBytes = saved })
	for _, c := range []struct {
		limit int64
		segs  int
	}{{1 << 30, 2}, {100, 3}} {
		segmentBytes = c.limit
		snap := NewSnapshot(s, first)
		for i := range 3 {
			tx := Begin(snap)
			for n := range 10 {
				tx.Put(s.Nodes[1], Row{ID: fmt.Sprint("any", i, n), Vals: anyRow(n)})
			}
			snap = tx.Commit(first)
			f, ok, err := snap.nodes[1].Flush()
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			f.Segment.Name = "stored"
			snap = snap.Flushed([]Flush{f})
		}
		if n := len(snap.nodes[1].Segs); n != c.segs {
			t.Errorf("with segments of %d bytes there are %d, want %d", c.limit, n, c.segs)
		}
		if got := snap.nodes[1].Live(); got != 30 {
			t.Errorf("%d entities, want 30", got)
		}
	}
}

// TestOverlaysDoNotPileUp inserts, changes and deletes the same entities many times. The
// indexes must hold entries for live entities only.
func TestOverlaysDoNotPileUp(t *testing.T) {
	s := testSchema(t)
	snap := NewSnapshot(s, first)
	for i := range 500 {
		tx := Begin(snap)
		vals := []value.Value{value.OfString("x"), value.OfI32(1)}
		p, _ := tx.Put(s.Nodes[0], Row{ID: "x", Vals: vals})
		a, _ := tx.Put(s.Nodes[1], Row{ID: "any", Vals: anyRow(i)})
		tx.Put(s.Nodes[1], Row{ID: "stays", Vals: anyRow(i)})
		tx.Put(s.Edges[0], Row{ID: "e", Src: p, Dst: a, Vals: []value.Value{value.Null}})
		snap = tx.Commit(first)
		tx = Begin(snap)
		tx.Delete(s.Nodes[0], p)
		tx.Delete(s.Nodes[1], a)
		snap = tx.Commit(first)
	}
	for _, table := range snap.Tables() {
		for what, n := range map[string]int{"keys": table.keys.Overlay(), "sources": table.out.Overlay(), "targets": table.in.Overlay()} {
			if n > int(table.live) {
				t.Errorf("%s: %d entries of %s for %d entities", table.Type.Name, n, what, table.live)
			}
		}
		for i := range table.idx {
			if n := table.idx[i].Overlay(); n > int(table.live) {
				t.Errorf("%s: %d entries of index %d for %d entities", table.Type.Name, n, i, table.live)
			}
		}
	}
}
