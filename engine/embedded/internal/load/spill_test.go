package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// files is a Scratch whose files are in memory.
type files struct{ made, failAt int }

var errNoSpace = errors.New("no space is left")

func (f *files) scratch(write func(add func(string, []byte) error) error) (column.Source, error) {
	if f.made++; f.made == f.failAt {
		return nil, errNoSpace
	}
	m := memorySource{}
	return m, write(func(name string, data []byte) error {
		if m[name] != nil {
			return fmt.Errorf("block %q is there already", name)
		}
		m[name] = slices.Clone(append([]byte{}, data...))
		return nil
	})
}

type memorySource map[string][]byte

func (m memorySource) Name() string                         { return "memory" }
func (m memorySource) Pieces(string) (column.Pieces, error) { panic("not used") }

func (m memorySource) Block(name string) ([]byte, error) {
	if b := m[name]; b != nil {
		return b, nil
	}
	return nil, &engine.NotFound{What: "block", Name: name}
}

// shuffled returns lines with ids that do not ascend. If the argument `twice` is true, some lines
// occur again later.
func shuffled(n int, twice bool) string {
	rng := rand.New(rand.NewPCG(5, 6))
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"type":"P","data":{"k":"p%d","n":%d,"s":["a%d"],"v":[%d,1]}}`, i, i, i, i))
		lines = append(lines, fmt.Sprintf(`{"edge":"Likes","from":"p%d","to":"p%d","data":{"id":"l%d","w":%d}}`, i, rng.IntN(n), i, i))
	}
	rng.Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
	if twice {
		for range n / 10 {
			lines = append(lines, fmt.Sprintf(`{"edge":"Likes","from":"p1","to":"p2","data":{"id":"l%d"}}`, rng.IntN(n)))
		}
	}
	return strings.Join(lines, "\n")
}

// TestSpilledLoads loads rows through runs and into several segments. The result must equal that of
// a load that keeps all rows in memory.
func TestSpilledLoads(t *testing.T) {
	s := testSchema(t)
	noIDs := strings.Repeat(`{"type":"Free"}`+"\n", 200)
	for name, text := range map[string]string{
		"every spelling": sample(700, 0), "faults": sample(700, 0.005), "shuffled": shuffled(500, false), "edges twice": shuffled(500, true),
		"nodes twice": shuffled(100, false) + "\n" + shuffled(100, false), "no ids": noIDs, "ids later": noIDs + `{"type":"Free","data":{"id":"mine"}}` + "\n" + noIDs,
		"missing ends": shuffled(100, false) + "\n" + strings.Repeat(`{"edge":"Likes","from":"p1","to":"nobody"}`+"\n", 80) + strings.Repeat(`{"edge":"Likes","from":"nobody","to":"p1","data":{}}`+"\n", 90),
	} {
		opts := Options{Mode: engine.Append}
		if name == "edges twice" {
			opts = Options{Mode: engine.Merge, LastWins: true}
		}
		want, wantErr := graphOf(t, s, text, 0, opts)
		for _, memory := range []int64{1, 3000} {
			for _, segment := range []int64{1, 5000} {
				f := &files{}
				opts.Block, opts.Scratch, opts.Memory, opts.Segment = 500, f.scratch, memory, segment
				got, err := graphOf(t, s, text, 0, opts)
				if got != want {
					t.Errorf("%s, %d bytes of memory and segments of %d bytes: another graph", name, memory, segment)
				}
				if a, b := describe(err), describe(wantErr); a != b {
					t.Errorf("%s, %d bytes of memory and segments of %d bytes:\n got %s\nwant %s", name, memory, segment, a, b)
				}
				if f.made < 2 && memory == 1 && name != "faults" {
					t.Errorf("%s, %d bytes of memory: only %d temporary files", name, memory, f.made)
				}
			}
		}
	}
}

// describe lists all faults of an error.
func describe(err error) string {
	var bad *engine.LoadErrors
	if !errors.As(err, &bad) {
		return fmt.Sprint(err)
	}
	var b strings.Builder
	for _, e := range bad.Lines {
		fmt.Fprintln(&b, e.Line, e.Field, e.Err)
	}
	return fmt.Sprint(b.String(), bad.More)
}

// TestScratchFails makes the creation of each temporary file fail in turn. The load must fail.
func TestScratchFails(t *testing.T) {
	s := testSchema(t)
	text := shuffled(200, true)
	all := &files{}
	opts := Options{Block: 500, Scratch: all.scratch, Memory: 3000, Segment: 5000, LastWins: true}
	if _, err := graphOf(t, s, text, 0, opts); err != nil {
		t.Fatal(err)
	}
	for i := range all.made {
		f := &files{failAt: i + 1}
		opts.Scratch = f.scratch
		if _, err := graphOf(t, s, text, 0, opts); !errors.Is(err, errNoSpace) {
			t.Errorf("file %d of %d cannot be made: %v", i+1, all.made, err)
		}
	}
}

// TestSegments counts the segments of a type for different size limits of a segment.
func TestSegments(t *testing.T) {
	s := testSchema(t)
	for _, c := range []struct {
		mode    engine.LoadMode
		segment int64
		least   int
		most    int
	}{{engine.Merge, 1, segmentsPerType, segmentsPerType + 2}, {engine.Append, 4000, 5, 50}, {engine.Overwrite, 4000, 5, 50}, {engine.Merge, 0, 1, 1}} {
		for _, scratch := range []Scratch{nil, (&files{}).scratch} {
			in, err := Parse(t.Context(), strings.NewReader(shuffled(1000, false)), s, Options{IDs: numbered, Scratch: scratch, Memory: 1000, Segment: c.segment, Block: 500, Mode: c.mode})
			if err != nil {
				t.Fatal(err)
			}
			tx := version.Begin(version.NewSnapshot(s, engine.Commit{}))
			parts, err := Apply(context.Background(), tx, in, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, p := range parts {
				if p.Type == s.Nodes[0] {
					if p.Reset != (n == 0 && c.mode == engine.Overwrite) {
						t.Errorf("%v: part %d resets the table: %t", c.mode, n, p.Reset)
					}
					n++
				}
			}
			if n < c.least || n > c.most {
				t.Errorf("segments of %d bytes: there are %d, want %d to %d", c.segment, n, c.least, c.most)
			}
			if live := tx.Table(s.Nodes[0]).Live(); live != 1000 {
				t.Errorf("%d nodes, want 1000", live)
			}
		}
	}
}

// TestSpilledVectors loads rows with vectors that the load computes. The rows in memory, including
// these vectors, must not exceed the limit. The vectors must be the same as in a load without
// temporary files.
func TestSpilledVectors(t *testing.T) {
	text := value.Of(value.String)
	c := &catalog.Schema{Nodes: []*catalog.Node{{Name: "Post", Key: []string{"slug"}, Properties: []*catalog.Property{
		{Name: "slug", Type: text}, {Name: "text", Type: text.Optional()},
		{Name: "place", Type: value.Type{Kind: value.Vector, Dim: 4, Nullable: true}, Embed: &catalog.Embed{Source: "text"}},
		{Name: "fixed", Type: value.Type{Kind: value.Vector, Dim: 2}, Embed: &catalog.Embed{Source: "text"}},
	}}}}
	c.Index()
	s, err := schema.New("", "", c)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 9))
	var b strings.Builder
	for _, i := range rng.Perm(900) {
		place := ""
		switch i % 5 {
		case 0:
			place = `,"place":[1,2,3,4]`
		case 1:
			place = `,"place":null,"fixed":[5,6]`
		}
		fmt.Fprintf(&b, `{"type":"Post","data":{"slug":"s%d","text":"text %d"%s}}`+"\n", i, i, place)
	}
	const memory = 4000
	embedded := func(scratch Scratch) (string, int, error) {
		in, err := Parse(t.Context(), strings.NewReader(b.String()), s, Options{IDs: numbered, Embeds: true, Block: 500, Scratch: scratch, Memory: memory})
		if err != nil {
			return "", 0, err
		}
		if n := in.LeftOut(); n != 900*3/5+900*4/5 {
			t.Errorf("%d vectors are to be computed", n)
		}
		held, last := int64(0), map[int]int64{}
		for _, x := range in.Nodes[0].batches {
			if x.file == nil {
				held += x.held()
			}
		}
		if scratch != nil && held > memory {
			t.Errorf("rows of %d bytes stay in memory", held)
		}
		calls := 0
		err = in.Embed(t.Context(), func(_ context.Context, typ *schema.Type, prop int, line int64, texts []string) ([][]float32, error) {
			if calls++; line <= last[prop] {
				t.Errorf("line %d is embedded after line %d", line, last[prop])
			}
			last[prop] = line
			var out [][]float32
			for _, s := range texts {
				v := make([]float32, typ.Props[prop].Type.Dim)
				for i := range v {
					v[i] = float32(len(s)*10 + int(s[len(s)-1]) + i + prop)
				}
				out = append(out, v)
			}
			return out, nil
		})
		if err != nil {
			return "", 0, err
		}
		for _, x := range in.Nodes[0].batches {
			if len(x.left) > 0 {
				t.Errorf("%d vectors are still missing after Embed", len(x.left))
			}
		}
		graph, err := applied(s, in, 0)
		return graph, calls, err
	}
	want, _, err := embedded(nil)
	if err != nil || strings.Count(want, "\n") != 900 {
		t.Fatalf("%d entities, error %v", strings.Count(want, "\n"), err)
	}
	all := &files{}
	got, calls, err := embedded(all.scratch)
	if err != nil || got != want {
		t.Errorf("with temporary files it is another graph, error %v", err)
	}
	if calls < 20 || all.made < 20 {
		t.Errorf("%d calls and %d temporary files", calls, all.made)
	}
	for _, at := range []int{all.made / 4, all.made / 2} { // the number of files varies a little
		if _, _, err := embedded((&files{failAt: at}).scratch); !errors.Is(err, errNoSpace) {
			t.Errorf("temporary file %d of %d cannot be made: error %v", at, all.made, err)
		}
	}
}

// TestLinesBeyond32Bits loads lines with faults, in memory and with a temporary file. The faults
// must be reported with the right line numbers, which do not fit into 32 bits.
func TestLinesBeyond32Bits(t *testing.T) {
	s := testSchema(t)
	const before = 1<<32 + 10
	for _, memory := range []int64{1, 1 << 20} {
		c := &collector{opts: Options{IDs: numbered, Scratch: (&files{}).scratch, Memory: memory, Mode: engine.Append}, in: &Input{Nodes: make([]*Rows, len(s.Nodes)), Edges: make([]*Rows, len(s.Edges))}, lines: before}
		c.in.opts = c.opts
		if !c.add(newParser(s, &Options{}).block([]byte("\n" + `{"type":"Day","data":{"d":1}}` + "\n" + `{"type":"Day","data":{"d":1}}`))) {
			t.Fatal(c.err)
		}
		if c.in.Spilled() != (memory == 1) {
			t.Errorf("%d bytes of memory: spilled %t", memory, c.in.Spilled())
		}
		_, err := Apply(t.Context(), version.Begin(version.NewSnapshot(s, engine.Commit{})), c.in, 0, nil)
		var bad *engine.LoadErrors
		if !errors.As(err, &bad) || len(bad.Lines) != 1 || bad.Lines[0].Line != before+3 {
			t.Errorf("%d bytes of memory: %v", memory, err)
		}
	}
}
