package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/column"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// sample returns n lines of every type and spelling. The parameter `bad` is the share of faulty
// lines.
func sample(n int, bad float64) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	for i := range n {
		if rng.Float64() < bad {
			b.WriteString(pick("{", `{"type":"Nobody"}`, `{"type":"P","data":{"k":"a","n":1.5}}`, `{"type":"P"}`, "{\"type\":\"Free\",\"data\":{\"x\":\"\xff\"}}",
				`{"type":"P","data":{"k":"a","k":"b","n":"x"}}`, `{"type":"P","data":{"n":true,"e":"z"}}`, `[]`, `{"edge":"Likes","from":"p0","to":"nobody"}`))
			b.WriteByte('\n')
			continue
		}
		switch rng.IntN(6) {
		case 0:
			fmt.Fprintf(&b, `{"type":"P","data":{"k":"p%d","n":%d,"f":%s,"l":%s,"s":%s,"v":%s,"e":%s}}`, i, rng.IntN(9)-4, pick("0.5", "null", "1e3", "-0"),
				pick("null", "[]", "[1,2]", " [ 3 ] "), pick(`["a","b\n"]`, "[]", "null"), pick("[1,2.5]", "null"), pick(`"x"`, `"y"`, "null"))
		case 1:
			fmt.Fprintf(&b, ` { "data" : {"d":%d} , "type":"Day"} `, i)
		case 2:
			fmt.Fprintf(&b, `{"type":"Two","data":{"t":%d,"a":%d}}`, i, -i)
		case 3:
			b.WriteString(pick(`{"type":"Free","data":{"x":"é\tü\u00e9 \ud83d\ude00"}}`, `{"type":"Free"}`, "", "  ", fmt.Sprintf(`{"type":"Free","data":{"id":"f%d","x":%q}}`, i, strings.Repeat("long ", rng.IntN(300)))))
		case 4:
			fmt.Fprintf(&b, `{"type":"P","data":{"id":"q%d","k":"q%d","b":%s,"d":%s,"t":%s,"u":%s,"big":%s,"blob":"AP8="}}`, i, i, pick("true", "false", "null"),
				pick(`"2024-02-29"`, "3", "null"), pick(`"2024-05-01T12:00:00+02:00"`, "-5", "null"), pick("7", `"18446744073709551615"`, "null"), pick("-9", `"12"`, "123456789012345678"))
		case 5:
			fmt.Fprintf(&b, `{"type":"P","data":{"k":"e%d"}}`+"\n", i)
			fmt.Fprintf(&b, `{"edge":"%s","from":"e%d","to":"e%d"%s}`, pick("Likes", "likes", "LIKES"), i, i, pick(`,"data":{"w":1.25}`, "", `,"data":{}`, fmt.Sprintf(`,"data":{"id":"l%d"}`, i)))
		}
		b.WriteString(pick("\n", "\r\n"))
	}
	return b.String()
}

// graphOf returns a listing of the entities that a load makes.
func graphOf(t *testing.T, s *schema.Schema, text string, inline int, opts Options) (string, error) {
	t.Helper()
	opts.IDs = numbered
	in, err := Parse(context.Background(), iotest.HalfReader(strings.NewReader(text)), s, opts)
	if err != nil {
		return "", err
	}
	return applied(s, in, inline)
}

// applied applies an input to an empty graph, and returns the graph as text.
func applied(s *schema.Schema, in *Input, inline int) (string, error) {
	tx := version.Begin(version.NewSnapshot(s, engine.Commit{}))
	if _, err := Apply(context.Background(), tx, in, inline, nil); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, list := range [][]*schema.Type{s.Nodes, s.Edges} {
		for _, typ := range list {
			table := tx.Table(typ)
			for ord := range table.Ordinals() {
				fmt.Fprintf(&b, "%s %s", typ.Name, table.ID(ord))
				if typ.Entity == plan.Edge {
					src, dst := table.Ends(ord)
					fmt.Fprint(&b, " ", src, " ", dst)
				}
				for _, v := range table.Values(ord) {
					b.WriteString(" " + show(v))
				}
				b.WriteByte('\n')
			}
		}
	}
	return b.String(), nil
}

func TestBlocksDoNotMatter(t *testing.T) {
	s := testSchema(t)
	for _, bad := range []float64{0, 0.005, 0.5} {
		text := sample(3000, bad)
		want, wantErr := graphOf(t, s, text, 1<<30, Options{Mode: engine.Append, Workers: 1, Block: 1 << 20})
		if (bad == 0) != (wantErr == nil) || bad == 0 && strings.Count(want, "\n") < 2500 {
			t.Fatalf("with a share of %g bad lines: error %v, and %d entities", bad, wantErr, strings.Count(want, "\n"))
		}
		for _, workers := range []int{1, 2, 8} {
			for _, block := range []int{1, 100, 4096, 1 << 20} {
				got, err := graphOf(t, s, text, 0, Options{Mode: engine.Append, Workers: workers, Block: block})
				if got != want {
					t.Errorf("%d workers on blocks of %d bytes make another graph", workers, block)
				}
				var a, b *engine.LoadErrors
				if errors.As(err, &a) != errors.As(wantErr, &b) || a != nil && (a.Error() != b.Error() || len(a.Lines) != len(b.Lines) || a.More != b.More) {
					t.Errorf("%d workers on blocks of %d bytes:\n got %v\nwant %v", workers, block, err, wantErr)
				}
				for i := range faults(b) {
					if x, y := a.Lines[i], b.Lines[i]; x.Line != y.Line || x.Field != y.Field || x.Err.Error() != y.Err.Error() {
						t.Errorf("%d workers on blocks of %d bytes: fault %d is %v, want %v", workers, block, i, x, y)
					}
				}
			}
		}
	}
}

func faults(e *engine.LoadErrors) []engine.LineError {
	if e == nil {
		return nil
	}
	return e.Lines
}

// FuzzLine compares the scanner with the full parser.
func FuzzLine(f *testing.F) {
	for _, line := range strings.Split(sample(200, 0.3), "\n") {
		f.Add(line)
	}
	f.Add(`{"type":"P","data":{"k":"\u0041\b\/","n":-0,"f":1E-2,"big":1000000000000000000,"l":[1,null]}}`)
	f.Add(`{"type":"P","data":{"k":"a","v":[01,2]}}`)
	f.Add(`{"type":"P","data":{"k":"\ud800","b":truefalse}}`)
	s := testSchema(f)
	f.Fuzz(func(t *testing.T, text string) {
		line := bytes.TrimSpace([]byte(text))
		if len(line) == 0 || bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		fast, slow := newParser(s, &Options{Mode: engine.Append}), newParser(s, &Options{Mode: engine.Append})
		fast.line, slow.line = 1, 1
		taken := fast.parseFast(line)
		slow.envelope(line)
		if taken && len(slow.bad.Lines) > 0 {
			t.Fatalf("the walker takes %q, which is bad: %v", line, &slow.bad)
		}
		for i, list := range [][2][]*batch{{fast.nodes, slow.nodes}, {fast.edges, slow.edges}} {
			for k := range list[0] {
				a, b := list[0][k], list[1][k]
				if a == nil || !taken {
					if a != nil {
						if !reflect.DeepEqual(sizes(a), sizes(newBatch(a.typ, false))) {
							t.Fatalf("the walker gives %q up and leaves a value", line)
						}
					}
					continue
				}
				if b == nil || !reflect.DeepEqual(content(a), content(b)) {
					t.Fatalf("list %d, type %d: the walker reads %q as\n%v\nwant\n%v", i, k, line, content(a), content(b))
				}
			}
		}
	})
}

func sizes(b *batch) (out []int) {
	b.builders(func(x **column.Builder) { out = append(out, (*x).Len(), (*x).Bytes()) })
	return append(out, len(b.lines))
}

func content(b *batch) []string {
	if b == nil {
		return nil
	}
	var out []string
	b.builders(func(x **column.Builder) {
		for i := range (*x).Len() {
			out = append(out, show((*x).Value(i)))
		}
	})
	return append(out, fmt.Sprint(b.lines))
}

// faultyReader returns an error after its text.
type faultyReader struct{ io.Reader }

var errFaulty = errors.New("the disk is gone")

func (r faultyReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF {
		err = errFaulty
	}
	return n, err
}

func TestReaderFails(t *testing.T) {
	s := testSchema(t)
	for _, block := range []int{1, 64, 1 << 20} {
		_, err := Parse(t.Context(), faultyReader{strings.NewReader(sample(500, 0))}, s, Options{IDs: numbered, Mode: engine.Append, Block: block, Workers: 2})
		if !errors.Is(err, errFaulty) {
			t.Errorf("blocks of %d bytes: %v", block, err)
		}
		_, err = Parse(t.Context(), faultyReader{strings.NewReader(strings.Repeat("{\n", 500))}, s, Options{IDs: numbered, Mode: engine.Append, Block: block, Workers: 2})
		if bad := (*engine.LoadErrors)(nil); !errors.As(err, &bad) || !bad.More {
			t.Errorf("blocks of %d bytes, after too many bad lines: %v", block, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	lines := 0
	r := iotest.OneByteReader(strings.NewReader(sample(1000, 0)))
	_, err := Parse(ctx, readerFunc(func(p []byte) (int, error) {
		if lines++; lines == 2000 {
			cancel()
		}
		return r.Read(p)
	}), testSchema(t), Options{IDs: numbered, Mode: engine.Append, Block: 64})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a load that is cancelled: %v", err)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestProgress(t *testing.T) {
	var got []int64
	text := strings.Repeat(`{"type":"Free"}`+"\n", 2*progressEvery+1)
	if _, err := Parse(t.Context(), strings.NewReader(text), testSchema(t), Options{IDs: numbered, Mode: engine.Append, Progress: func(n int64) { got = append(got, n) }}); err != nil {
		t.Fatal(err)
	}
	if want := []int64{progressEvery, 2 * progressEvery, 2*progressEvery + 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("progress %v, want %v", got, want)
	}
}

// TestLinesAllocateNothing allows allocations for the arrays of a block, but none per line.
func TestLinesAllocateNothing(t *testing.T) {
	var b strings.Builder
	n := 10_000
	for i := range n {
		fmt.Fprintf(&b, `{"type":"P","data":{"k":"p%d","n":%d,"f":0.5,"b":true,"d":"2024-02-29","t":"2024-05-01T12:00:00Z","v":[1,2.5],"s":["a","b"],"e":"x"}}`+"\n", i, i)
		fmt.Fprintf(&b, `{"edge":"Likes","from":"p%d","to":"p%d","data":{"w":1.25}}`+"\n", i, i)
	}
	p, text := newParser(testSchema(t), &Options{Mode: engine.Append}), []byte(b.String())
	got := testing.AllocsPerRun(3, func() {
		if out := p.block(text); len(out.bad.Lines) > 0 || len(out.batches) != 2 {
			t.Fatal(&out.bad)
		}
	})
	if got > float64(n)/20 {
		t.Errorf("%.0f allocations for %d lines", got, 2*n)
	}
}
