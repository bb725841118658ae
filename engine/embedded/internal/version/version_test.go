package version

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/ancestry"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/segment"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/storedtest"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

func testSchema(t testing.TB) *schema.Schema {
	t.Helper()
	prop := func(name string, typ value.Type) *catalog.Property { return &catalog.Property{Name: name, Type: typ} }
	var all []*catalog.Property
	for k := value.String; k < value.Vector; k++ {
		all = append(all, prop("p"+k.String(), value.Of(k).Optional()))
		if k != value.Blob {
			all = append(all, prop("l"+k.String(), value.Type{Kind: k, List: true, Nullable: true}))
		}
	}
	all = append(all, prop("v", value.Type{Kind: value.Vector, Dim: 2, Nullable: true}))
	c := &catalog.Schema{
		Nodes: []*catalog.Node{
			{Name: "Pair", Key: []string{"a", "b"}, Properties: []*catalog.Property{prop("b", value.Of(value.String)), prop("a", value.Of(value.I32))}},
			{Name: "Any", Properties: all, Index: [][]string{{"pString"}}},
		},
		Edges: []*catalog.Edge{{Name: "Joins", From: "Pair", To: "Any", Properties: []*catalog.Property{prop("n", value.Of(value.I32).Optional())}, Unique: [][]string{{"src", "dst"}}}},
	}
	c.Index()
	s, err := schema.New("// source", "sha256:0", c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// decode returns a decoder that always returns the catalog of the test schema.
func decode(t testing.TB) schema.Decoder {
	c := testSchema(t).Catalog
	return func([]byte) (*catalog.Schema, error) { return c, nil }
}

var first = engine.Commit{ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Seq: 1, Branch: "main", Time: time.UnixMicro(1).UTC(), Schema: "sha256:0"}

func anyRow(i int) []value.Value {
	list := func(vs ...value.Value) value.Value { return value.OfList(vs[0].Kind(), vs) }
	scalars := []value.Value{value.OfString(fmt.Sprint("s", i)), value.OfBool(i%2 == 0), value.OfI32(int32(-i)), value.OfI64(-1 << 40), value.OfU32(1<<32 - 1),
		value.OfU64(1<<64 - 1), value.OfF32(1.5), value.OfF64(0.1), value.OfDate(-1), value.OfDateTime(99), value.OfBlob([]byte{0, 1})}
	var row []value.Value
	for _, v := range scalars {
		row = append(row, v)
		if v.Kind() != value.Blob {
			row = append(row, list(v, v))
		}
	}
	return append(row, value.OfVector([]float32{1, -2}))
}

// change returns a transaction on an empty snapshot. The transaction creates, updates and deletes
// entities. It also changes an end of an edge; so the edge gets a new ordinal, and its old ordinal
// belongs to no entity.
func change(t testing.TB, s *schema.Schema) *Txn {
	t.Helper()
	tx := Begin(NewSnapshot(s, first))
	pair, anyType, joins := s.Nodes[0], s.Nodes[1], s.Edges[0]
	var pairs, anys []uint32
	for i := range 5 {
		vals := []value.Value{value.OfString("x\"<é"), value.OfI32(int32(i))}
		ord, _ := tx.Put(pair, Row{ID: string(pair.AppendID(nil, vals)), Vals: vals})
		pairs = append(pairs, ord)
		ord, _ = tx.Put(anyType, Row{ID: fmt.Sprint("any", i), Vals: anyRow(i)})
		anys = append(anys, ord)
	}
	tx.Put(anyType, Row{ID: "any0", Vals: make([]value.Value, len(anyType.Props))})
	for i := range 5 {
		tx.Put(joins, Row{ID: fmt.Sprint("e", i), Src: pairs[i], Dst: anys[i/2], Vals: []value.Value{value.OfI32(int32(i))}})
	}
	tx.Put(joins, Row{ID: "e4", Src: pairs[4], Dst: anys[0], Vals: []value.Value{value.Null}})
	if edges := tx.Delete(pair, pairs[1]); edges != 1 {
		t.Fatalf("%d edges went with a node, want 1", edges)
	}
	return tx
}

// content lists the entities of a snapshot by type, id and ordinal.
func content(s *Snapshot) map[string]string {
	out := map[string]string{}
	for _, t := range s.Tables() {
		out["table "+t.Type.Name] = fmt.Sprint(t.next, t.live)
		for ord := range t.next {
			if !t.Alive(ord) {
				continue
			}
			line := fmt.Sprint(ord)
			if t.Type.Entity == 1 {
				line += fmt.Sprint(t.Ends(ord))
			}
			for p := range t.Type.Props {
				v := t.Value(ord, p)
				switch {
				case v.IsNull():
					line += " null"
				case v.IsList():
					for _, e := range v.Elems() {
						line += " [" + value.Text(e)
					}
				case v.Kind() == value.Vector:
					line += fmt.Sprint(v.Vector())
				default:
					line += " " + value.Text(v)
				}
			}
			if got, ok := t.Lookup(t.ID(ord)); !ok || got != ord {
				line += " not found"
			}
			out[t.Type.Name+" "+t.ID(ord)] = line
		}
	}
	return out
}

func TestCompositeKey(t *testing.T) {
	pair := testSchema(t).Nodes[0]
	got := string(pair.AppendID(nil, []value.Value{value.OfString("x\"<é\n\x01"), value.OfI32(-5)}))
	if want := `["-5","x\"<é\n\u0001"]`; got != want {
		t.Errorf("the id is %s, want %s", got, want)
	}
}

func TestIDForm(t *testing.T) {
	nodes := testSchema(t).Nodes
	for id, want := range map[string]bool{`["-5","x"]`: false, `["", "x"]`: false, `[-5,"x"]`: true, `["x"]`: true, "x": true, "": true} {
		if got := nodes[0].IDForm(id); (got != "") != want {
			t.Errorf("the form for %s is %q, expected one: %t", id, got, want)
		}
	}
	if got := nodes[1].IDForm("x"); got != "" {
		t.Errorf("the form of ids without a composite key is %q", got)
	}
}

func TestOpsRoundTrip(t *testing.T) {
	s := testSchema(t)
	tx := change(t, s)
	ops := tx.AppendOps(nil)
	want := content(tx.Commit(first))
	replayed := Begin(NewSnapshot(s, first))
	if err := replayed.ApplyOps(ops); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, content(replayed.Commit(first))); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
}

func TestNoChange(t *testing.T) {
	s := testSchema(t)
	base := change(t, s).Commit(first)
	tx := Begin(base)
	anyType := s.Nodes[1]
	tx.Put(anyType, Row{ID: "any1", Vals: anyRow(7)})
	if !tx.Changed() {
		t.Error("a row that differs is not reported as a change")
	}
	tx.Put(anyType, Row{ID: "any1", Vals: anyRow(1)})
	if tx.Changed() {
		t.Error("a row put back is a change")
	}
	if ops := tx.AppendOps(nil); len(ops) != 0 {
		t.Errorf("a write that changes nothing takes %d bytes of log", len(ops))
	}
}

// TestManifestRoundTrip flushes a snapshot, reads back its manifest, and adopts the flush
// in a later state.
func TestManifestRoundTrip(t *testing.T) {
	s := testSchema(t)
	base := change(t, s).Commit(first)
	want := content(base)
	files := map[string]map[string][]byte{}
	var flushes []Flush
	for _, table := range base.Tables() {
		f, ok, err := table.Flush()
		if err != nil || !ok {
			t.Fatalf("flush of %s: %t, %v", table.Type.Name, ok, err)
		}
		f.Segment.Name = fmt.Sprint("segment", len(files))
		blocks := map[string][]byte{}
		err = f.Segment.Blocks(table.Type, func(name string, data []byte) error {
			blocks[name] = append([]byte(nil), data...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		files[f.Segment.Name] = blocks
		flushes = append(flushes, f)
	}
	flushed := base.Flushed(flushes)
	if diff := cmp.Diff(want, content(flushed)); diff != "" {
		t.Errorf("flushed (-want +got):\n%s", diff)
	}
	open := memory(files)
	m := Manifest{Branches: []ManifestBranch{{Name: "main", Head: flushed, Receipts: slices.Values([]logrecord.Receipted{{Commit: first, Receipt: receipt}}), NumReceipts: 1}, {Name: "side", Head: flushed.Fork()}},
		History: []ancestry.HistorySegment{{Name: "7", N: 3}}}
	payload := m.Append(nil, func(*schema.Schema) []byte { return []byte("catalog") })
	read, err := ReadManifest(payload, decode(t), open)
	if err != nil {
		t.Fatal(err)
	}
	listed := TableFiles(payload, decode(t))
	slices.Sort(listed)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(files)), slices.Compact(listed)); diff != "" {
		t.Errorf("files of the tables (-want +got):\n%s", diff)
	}
	if n := len(read.Branches); n != 2 || read.Branches[0].Head.nodes[1] != read.Branches[1].Head.nodes[1] {
		t.Errorf("%d branches do not share their tables", n)
	}
	if diff := cmp.Diff(m.History, read.History); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if got := slices.Collect(read.Branches[0].Receipts); read.Branches[0].NumReceipts != 1 || len(got) != 1 || got[0].Commit.ID != first.ID || cmp.Diff(receipt, got[0].Receipt) != "" {
		t.Errorf("receipts %+v", got)
	}
	head := read.Branches[0].Head
	if diff := cmp.Diff(want, content(head)); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(first, head.Commit); diff != "" {
		t.Errorf("commit (-want +got):\n%s", diff)
	}
	for n := range payload {
		var c *engine.Corrupt
		if _, err := ReadManifest(payload[:n], decode(t), open); n > 0 && !errors.As(err, &c) && n < len(payload)-1 {
			t.Fatalf("a manifest cut to %d of %d bytes: %v", n, len(payload), err)
		}
	}

	tx := Begin(base)
	tx.Put(s.Nodes[1], Row{ID: "late", Vals: anyRow(8)})
	tx.Put(s.Nodes[1], Row{ID: "any2", Vals: anyRow(9)})
	later := tx.Commit(first)
	want = content(later)
	adopted := later.Adopt(flushes, flushed)
	if diff := cmp.Diff(want, content(adopted)); diff != "" {
		t.Errorf("adopted (-want +got):\n%s", diff)
	}
	if n := len(adopted.nodes[1].tail); n != 2 {
		t.Errorf("after adoption the tail has %d rows, want 2", n)
	}
	again := Begin(adopted)
	if err := again.ApplyOps(change(t, s).AppendOps(nil)); err != nil && !storedtest.IsBadData(err) {
		t.Error(err)
	}
	if diff := cmp.Diff(want, content(later)); diff != "" {
		t.Errorf("a later transaction changed a snapshot (-want +got):\n%s", diff)
	}
}

var receipt = logrecord.Receipt{Key: "k", Body: [32]byte{1, 31: 2}, Outcome: engine.Merged, Nodes: 3, Edges: 1 << 40,
	NodeIns: []engine.TypeCount{{Type: "Pair", Count: 3}}, EdgeIns: []engine.TypeCount{{Type: "Joins", Count: 4}}, Schema: []byte("catalog")}

// FuzzApplyOps replays arbitrary bytes. The bytes must either be refused with a *engine.Corrupt or
// make a state. The operations of the state must then replay to the same entities.
func FuzzApplyOps(f *testing.F) {
	s := testSchema(f)
	f.Add(change(f, s).AppendOps(nil))
	f.Add([]byte{opSkipNode, 0, opDeleteEdge, 0, 1, 'x'})
	f.Fuzz(func(t *testing.T, ops []byte) {
		tx := Begin(NewSnapshot(s, first))
		if err := tx.ApplyOps(ops); err != nil {
			if !storedtest.IsBadData(err) {
				t.Fatalf("%v is neither a *engine.Corrupt nor an error about the format", err)
			}
			return
		}
		again := Begin(NewSnapshot(s, first))
		if err := again.ApplyOps(tx.AppendOps(nil)); err != nil {
			t.Fatal(err)
		}
		a, b := content(tx.Commit(first)), content(again.Commit(first))
		maps.DeleteFunc(a, func(k, _ string) bool { return len(k) > 6 && k[:6] == "table " })
		maps.DeleteFunc(b, func(k, _ string) bool { return len(k) > 6 && k[:6] == "table " })
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("-first +second:\n%s", diff)
		}
	})
}

// memory opens segments in memory, by name and block.
type memory map[string]map[string][]byte

func (m memory) Segment(t *schema.Type, name string) (*segment.Segment, error) {
	src, err := m.Source(name)
	if err != nil {
		return nil, err
	}
	return segment.Open(t, name, src)
}

func (m memory) Source(name string) (column.Source, error) {
	if m[name] == nil {
		return nil, &engine.NotFound{What: "segment", Name: name}
	}
	return source{name, m[name]}, nil
}

type source struct {
	name   string
	blocks map[string][]byte
}

func (s source) Name() string { return s.name }

func (s source) Block(name string) ([]byte, error) {
	if b, ok := s.blocks[name]; ok {
		return b, nil
	}
	return nil, &engine.NotFound{What: "block", Name: name}
}

func (s source) Pieces(name string) (column.Pieces, error) {
	b, err := s.Block(name)
	return wholeBlock(b), err
}

// wholeBlock is a block in memory.
type wholeBlock []byte

func (b wholeBlock) Len() int { return len(b) }

func (b wholeBlock) Range(from, to int) ([]byte, error) { return b[from:to:to], nil }

func (wholeBlock) Prefetch(int, int) {}

func (wholeBlock) WorthWhole() bool { return true }

func (b wholeBlock) Append(dst []byte, from, to int) ([]byte, error) {
	return append(dst, b[from:to]...), nil
}

func FuzzReadManifest(f *testing.F) {
	s := testSchema(f)
	empty := NewSnapshot(s, first)
	m := Manifest{Branches: []ManifestBranch{{Name: "main", Head: empty, Receipts: slices.Values([]logrecord.Receipted{{Commit: first, Receipt: receipt}}), NumReceipts: 1}, {Name: "side", Head: empty.Fork()}},
		History: []ancestry.HistorySegment{{Name: "7", N: 3}},
		Archive: []logrecord.ArchiveSegment{{Name: "8", Bytes: 9, Runs: []logrecord.Run{{First: 1, N: 2}}, Refs: []string{"5"}}}, Anchors: []Anchor{{Commit: first.ID, Name: "9", Block: 1, Refs: []string{"6"}}}}
	f.Add(m.Append(nil, func(*schema.Schema) []byte { return nil }))
	dec := decode(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		TableFiles(b, dec)
		_, err := ReadManifest(b, dec, memory{})
		if err != nil && !storedtest.IsBadData(err) && !errors.As(err, new(*engine.NotFound)) {
			t.Errorf("%v is neither a *engine.Corrupt nor an error about the format", err)
		}
	})
}
