package version

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/storedtest"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// nextSchema returns a schema that renames Any to Other and Any's pString to text, widens
// pI32 and drops pBlob. Pair comes last, and the edge type has one more property. It also
// returns the carry from the test schema.
func nextSchema(t testing.TB) (*schema.Schema, *schema.Carry) {
	t.Helper()
	old := testSchema(t)
	c := &catalog.Schema{}
	other := &catalog.Node{Name: "Other", RenameFrom: "Any"}
	for _, p := range old.Catalog.Node("Any").Properties {
		q := *p
		switch q.Name {
		case "pString":
			q.Name, q.RenameFrom = "text", "pString"
		case "pI32":
			q.Type.Kind = value.F64
		case "pBlob":
			continue
		}
		other.Properties = append(other.Properties, &q)
	}
	c.Nodes = append(c.Nodes, other, old.Catalog.Node("Pair"))
	joins := *old.Catalog.Edge("Joins")
	joins.To = "Other"
	joins.Properties = append([]*catalog.Property{{Name: "note", Type: value.Of(value.String).Optional()}}, joins.Properties...)
	c.Edges = append(c.Edges, &joins)
	c.Index()
	s, err := schema.New("// next", "sha256:1", c)
	if err != nil {
		t.Fatal(err)
	}
	carry := schema.NewCarry(old, s, catalog.Diff(old.Catalog, c).Steps, func(*schema.Type) bool { return false })
	s.Descend(old, carry)
	return s, carry
}

// changeOf returns a transaction that migrates to the next schema and puts an entity under
// it.
func changeOf(t testing.TB, base *Snapshot) *Txn {
	t.Helper()
	next, carry := nextSchema(t)
	tx := Begin(base)
	if err := tx.Migrate(schema.Change{Schema: next, Carry: carry}); err != nil {
		t.Fatal(err)
	}
	other := next.Nodes[0]
	vals := make([]value.Value, len(other.Props))
	p, _ := other.Prop("text")
	vals[p] = value.OfString("late")
	tx.Put(other, Row{ID: "any9", Vals: vals})
	return tx
}

func nextDecoder(t testing.TB) schema.Decoder {
	next, _ := nextSchema(t)
	return func([]byte) (*catalog.Schema, error) { return next.Catalog, nil }
}

func TestChangeRoundTrip(t *testing.T) {
	base := change(t, testSchema(t)).Commit(first)
	tx := changeOf(t, base)
	record := tx.AppendChange(nil, func(*schema.Schema) []byte { return []byte("catalog") })
	state := tx.Commit(first)
	want := content(state)
	if line := want["Other any0"]; !strings.Contains(line, "null") || want["Other any9"] == "" || want["Joins e4"] == "" {
		t.Fatalf("content %v", want)
	}
	other := state.nodes[0]
	text, _ := other.Type.Prop("text")
	wide, _ := other.Type.Prop("pI32")
	ord, ok := other.Lookup("any2")
	if !ok || other.Value(ord, text).Str() != "s2" || other.Value(ord, wide).Float() != -2 {
		t.Errorf("any2: %t, %s", ok, want["Other any2"])
	}
	ch, ops, err := ReadChange(record, nextDecoder(t))
	if err != nil {
		t.Fatal(err)
	}
	again := Begin(base)
	if err := again.Migrate(ch); err != nil {
		t.Fatal(err)
	}
	if err := again.ApplyOps(ops); err != nil {
		t.Fatal(err)
	}
	replayed := again.Commit(first)
	if diff := cmp.Diff(want, content(replayed)); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
	if c, ok := replayed.Schema.Since(base.Schema); !ok || cmp.Diff(c, ch.Carry) != "" {
		t.Errorf("the schema does not descend from the one before: %v", c)
	}
	for n := range record[:len(record)-len(ops)] {
		if _, _, err := ReadChange(record[:n], nextDecoder(t)); !errors.As(err, new(*engine.Corrupt)) {
			t.Fatalf("a change cut to %d bytes: %v", n, err)
		}
	}
}

// TestOriginRoundTrip stores tables, changes the schema, and reads a manifest that refers
// to the stored segments.
func TestOriginRoundTrip(t *testing.T) {
	base := change(t, testSchema(t)).Commit(first)
	files := map[string]map[string][]byte{}
	var flushes []Flush
	for _, table := range base.Tables() {
		f, _, err := table.Flush()
		if err != nil {
			t.Fatal(err)
		}
		f.Segment.Name = fmt.Sprint("segment", len(files))
		blocks := map[string][]byte{}
		if err := f.Segment.Blocks(table.Type, func(name string, data []byte) error {
			blocks[name] = append([]byte(nil), data...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		files[f.Segment.Name] = blocks
		flushes = append(flushes, f)
	}
	next, carry := nextSchema(t)
	flushed := base.Flushed(flushes)
	state, err := flushed.Carried(schema.Change{Schema: next, Carry: carry})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range state.Tables() {
		for _, s := range table.Segs {
			if renamed := table.Type.Name != "Pair"; (s.Origin != nil) != renamed {
				t.Errorf("the segment of %s has the origin %+v", table.Type.Name, s.Origin)
			}
		}
	}
	m := Manifest{Branches: []ManifestBranch{{Name: "main", Head: state}, {Name: "side", Head: flushed}}}
	byText := map[string]*catalog.Schema{"next": next.Catalog, "base": base.Schema.Catalog}
	payload := m.Append(nil, func(s *schema.Schema) []byte {
		if s == next {
			return []byte("next")
		}
		return []byte("base")
	})
	read, err := ReadManifest(payload, func(b []byte) (*catalog.Schema, error) { return byText[string(b)], nil }, memory(files))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []*Snapshot{state, flushed} {
		got := read.Branches[i].Head
		if diff := cmp.Diff(content(want), content(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", m.Branches[i].Name, diff)
		}
		if diff := cmp.Diff(want.Schema.Ancestors, got.Schema.Ancestors); diff != "" {
			t.Errorf("%s: ancestors (-want +got):\n%s", m.Branches[i].Name, diff)
		}
	}
	// The read table shares the stored rows, so changedEntities must find no candidates.
	if list, err := changedEntities(t.Context(), state.nodes[0], read.Branches[0].Head.nodes[0]); err != nil || len(list) > 0 {
		t.Errorf("entities %v may differ from the stored ones", list)
	}
}

// TestResumeTakesSegments migrates a state and a later one. The later one must take the segments that were converted for the
// other one.
func TestResumeTakesSegments(t *testing.T) {
	base := change(t, testSchema(t)).Commit(first)
	var flushes []Flush
	for _, table := range base.Tables() {
		f, _, err := table.Flush()
		if err != nil {
			t.Fatal(err)
		}
		flushes = append(flushes, f)
	}
	base = base.Flushed(flushes)
	next, carry := nextSchema(t)
	ch := schema.Change{Schema: next, Carry: carry}
	earlier := Begin(base)
	if err := earlier.Migrate(ch); err != nil {
		t.Fatal(err)
	}
	write := Begin(base)
	pair := base.Schema.Nodes[1]
	write.Put(pair, Row{ID: "late", Vals: make([]value.Value, len(pair.Props))})
	later := write.Commit(first)
	tx, anew := Begin(later), Begin(later)
	tx.Resume(earlier.Examined())
	for _, tx := range []*Txn{tx, anew} {
		if err := tx.Migrate(ch); err != nil {
			t.Fatal(err)
		}
	}
	for i, table := range tx.Base().Tables() {
		if was := earlier.Base().Tables()[i]; len(was.Segs) == 0 || !slices.Equal(table.Segs, was.Segs) {
			t.Errorf("%s: the segments %p were converted again, want %p", table.Type.Name, table.Segs, was.Segs)
		}
	}
	if diff := cmp.Diff(content(anew.Commit(first)), content(tx.Commit(first))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCarryRefused migrates with carries that do not fit the two schemas. Each must be refused.
func TestCarryRefused(t *testing.T) {
	base := change(t, testSchema(t)).Commit(first)
	for name, spoil := range map[string]func(c *schema.Carry){
		"a type less":         func(c *schema.Carry) { c.Nodes = c.Nodes[:1] },
		"a type that is none": func(c *schema.Carry) { c.Nodes[0].From = 9 },
		"a property less":     func(c *schema.Carry) { c.Nodes[0].Props = c.Nodes[0].Props[1:] },
		"a property too far":  func(c *schema.Carry) { c.Nodes[0].Props[0] = 99 },
		"another type": func(c *schema.Carry) {
			c.Nodes[0].Props[0], c.Nodes[0].Props[1] = c.Nodes[0].Props[1], c.Nodes[0].Props[0]
		},
		"the other node": func(c *schema.Carry) { c.Edges[0].From = 1 },
	} {
		next, carry := nextSchema(t)
		spoil(carry)
		if err := Begin(base).Migrate(schema.Change{Schema: next, Carry: carry}); !errors.As(err, new(*engine.Corrupt)) {
			t.Errorf("%s: %v, want *engine.Corrupt", name, err)
		}
	}
}

// TestCarryWithoutEnds migrates with a carry that leaves no node for an end of an edge type. The edges go, and their places
// stay, so that later edges do not take the ordinals of these.
func TestCarryWithoutEnds(t *testing.T) {
	base := change(t, testSchema(t)).Commit(first)
	next, carry := nextSchema(t)
	carry.Nodes[1].From = -1
	tx := Begin(base)
	if err := tx.Migrate(schema.Change{Schema: next, Carry: carry}); err != nil {
		t.Fatal(err)
	}
	before, after := base.edges[0], tx.Commit(first).edges[0]
	if before.Live() == 0 || after.Live() != 0 || after.next != before.next {
		t.Errorf("%d edges with %d places are left of %d with %d", after.Live(), after.next, before.Live(), before.next)
	}
}

// FuzzReadChange replays arbitrary changes. Each change must either be refused with a
// *engine.Corrupt or make a state with readable entities.
func FuzzReadChange(f *testing.F) {
	base := change(f, testSchema(f)).Commit(first)
	f.Add(changeOf(f, base).AppendChange(nil, func(*schema.Schema) []byte { return nil }))
	dec := nextDecoder(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		ch, ops, err := ReadChange(b, dec)
		tx := Begin(base)
		if err == nil {
			err = tx.Migrate(ch)
		}
		if err == nil {
			err = tx.ApplyOps(ops)
		}
		if err == nil {
			content(tx.Commit(first))
			return
		}
		if !storedtest.IsBadData(err) {
			t.Errorf("%v is neither a *engine.Corrupt nor an error about the format", err)
		}
	})
}
