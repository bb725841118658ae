package servedgraph_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestPagesOfALargeReply reads a reply of more than 100 MB in pages of a megabyte. Each page must
// allocate only a small multiple of its own size, independent of the size of the reply. Together,
// the pages must equal the reply.
func TestPagesOfALargeReply(t *testing.T) {
	const people, fan, bio = 100, 100, 11 << 10
	c := stored(t, servedtest.Config(t, builtin.All("1")...))
	var lines strings.Builder
	for i := range people {
		fmt.Fprintf(&lines, `{"type":"Person","data":{"name":"p%03d","tags":[%q]}}`+"\n", i, strings.Repeat(fmt.Sprint(i%10), bio))
		for j := range fan {
			fmt.Fprintf(&lines, `{"edge":"Knows","from":"p%03d","to":"p%03d"}`+"\n", i, (i+j)%people)
		}
	}
	load(t, c.Graph, lines.String())
	c.Limits.Timeout, c.Limits.MaxBytes = time.Minute, 1<<20
	g := servedtest.Graph(t, c)
	query := `query q() { match { $p: Person $p knows $q } return { $p.name, $q.name, $q.tags } order { $q.name desc } }`

	args, err := json.Marshal(map[string]any{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := g.Call(context.Background(), servedtest.Reader, "graph_query", args, encoding.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, rest := split(t, reply.JSON)
	if len(rows) < 100<<20 || rest.Count < people*fan {
		t.Fatalf("the reply has %d bytes and %d rows, which proves little", len(rows), rest.Count)
	}
	size, want, wantCount := len(rows), sha256.Sum256(rows), rest.Count
	reply, rows, rest = nil, nil, answer{}

	// Measure all allocations, including garbage: a page cannot have used more memory than
	// that.
	enc := g.ForModel()
	enc.Arrays = false
	got, count, pages, most, token := sha256.New(), 0, 0, uint64(0), ""
	for {
		if args, err = json.Marshal(map[string]any{"query": query, "page_token": token}); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		page, err := g.Call(context.Background(), servedtest.Reader, "graph_query", args, enc)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if pages > 0 { // the first call also binds the query and fills pools
			most = max(most, after.TotalAlloc-before.TotalAlloc)
		}
		rows, rest := split(t, page.JSON)
		if pages++; pages > 1 {
			got.Write([]byte(","))
		}
		got.Write(rows)
		count += rest.Count
		if len(page.JSON) > enc.MaxBytes+1024 {
			t.Errorf("page %d has %d bytes", pages, len(page.JSON))
		}
		if token = rest.Next; token == "" {
			break
		}
	}
	if string(got.Sum(nil)) != string(want[:]) || count != wantCount {
		t.Errorf("%d pages of %d rows in all differ from the reply of %d rows", pages, count, wantCount)
	}
	if limit := uint64(8 * enc.MaxBytes); most > limit {
		t.Errorf("a page allocated %d bytes, want at most %d", most, limit)
	}
	t.Logf("%d MB in %d pages, at most %d KB allocated for one", size>>20, pages, most>>10)
}

// split returns the text of an answer's rows, without the brackets, and the rest of the
// answer.
func split(t *testing.T, text []byte) (rows []byte, rest answer) {
	t.Helper()
	before, after, ok := bytes.Cut(text, []byte(`"rows":[`))
	end := bytes.LastIndex(after, []byte(`],"row_count":`))
	if !ok || end < 0 {
		t.Fatalf("an answer of %d bytes has no rows", len(text))
	}
	if err := json.Unmarshal(slices.Concat(before, []byte(`"rows":[`), after[end:]), &rest); err != nil {
		t.Fatal(err)
	}
	return after[:end], rest
}
