package servedgraph_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// budget is a Memory with a fixed number of bytes.
type budget struct{ left, most, low atomic.Int64 }

func newBudget(bytes int64) *budget {
	b := &budget{}
	b.left.Store(bytes)
	b.most.Store(bytes)
	b.low.Store(bytes)
	return b
}

func (b *budget) Take(n int64) bool {
	if b.left.Add(-n) < 0 {
		b.left.Add(n)
		return false
	}
	b.low.Store(min(b.low.Load(), b.left.Load()))
	return true
}

func (b *budget) Give(n int64) { b.left.Add(n) }
func (b *budget) Limit() int64 { return b.most.Load() }

// TestParts writes answers in parts. They must have the same content as whole answers. Their memory
// must count until it is released, and a failed answer must leave no memory reserved.
func TestParts(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	var lines strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lines, `{"type":"Person","data":{"name":"p%03d","tags":[%q]}}`+"\n", i, strings.Repeat("x", 100<<10))
	}
	load(t, c.Graph, lines.String())
	c.Limits.Timeout = time.Minute
	all := &operations.AdHoc{Source: `query q() { match { $p: Person } return { $p.name as name, $p.tags as tags } }`}
	ask := func(memory *budget, limits servedgraph.Limits, enc encoding.Options) (*encoding.Answer, error) {
		c := c
		c.Memory, c.Limits.AnswerBytes = memory, limits.AnswerBytes
		return servedtest.Graph(t, c).Do(context.Background(), servedtest.Reader, "query", all, enc)
	}
	free := newBudget(1 << 40)
	want, err := ask(free, servedgraph.Limits{}, encoding.Options{})
	if err != nil || want.Head != nil || free.low.Load() != free.most.Load() {
		t.Fatalf("an answer that is one piece: %d parts, %v", len(want.Head), err)
	}
	got, err := ask(free, servedgraph.Limits{}, encoding.Options{Parts: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Head) < 10 || !bytes.Equal(bytes.Join(append(got.Head, got.JSON), nil), want.JSON) {
		t.Errorf("%d parts of %d bytes differ from %d bytes in one piece", len(got.Head), len(got.JSON), len(want.JSON))
	}
	if taken := free.most.Load() - free.left.Load(); taken < int64(len(want.JSON)-2<<20) || taken > int64(len(want.JSON))*5/4 {
		t.Errorf("an answer of %d bytes has taken %d", len(want.JSON), taken)
	}
	got.Release()
	got.Release()
	if free.left.Load() != free.most.Load() {
		t.Errorf("%d bytes stay taken", free.most.Load()-free.left.Load())
	}
	if cut, err := ask(free, servedgraph.Limits{}, encoding.Options{Parts: true, MaxBytes: 3 << 20}); err != nil || cut.Head != nil {
		t.Errorf("beside a limit: %v, %v", cut, err)
	}

	small := newBudget(5 << 20)
	var busy *engine.Busy
	if _, err := ask(small, servedgraph.Limits{}, encoding.Options{Parts: true}); !errors.As(err, &busy) || busy.Limit != 5<<20 || small.low.Load() == small.most.Load() || small.left.Load() != small.most.Load() {
		t.Errorf("with little memory: %v, %d of %d bytes left", err, small.left.Load(), small.most.Load())
	}
	var large *wireerror.Oversize
	if _, err := ask(free, servedgraph.Limits{AnswerBytes: 4 << 20}, encoding.Options{Parts: true}); !errors.As(err, &large) || free.left.Load() != free.most.Load() {
		t.Errorf("past the largest answer: %v, %d of %d bytes left", err, free.left.Load(), free.most.Load())
	}
}
