package servedgraph_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// stored replaces the graph of the configuration by a graph of the embedded engine with the same
// data.
func stored(t testing.TB, c servedgraph.Config) servedgraph.Config {
	t.Helper()
	g, err := embedded.Create(context.Background(), fs.NewMem(), "graph", servedtest.Source, servedtest.Schema(t), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	load(t, g, servedtest.Seed)
	c.Graph = g
	return c
}

func load(t testing.TB, g engine.Graph, lines string) {
	t.Helper()
	if _, err := g.Load(context.Background(), strings.NewReader(lines), engine.LoadOptions{Mode: engine.Merge, NewEdges: true}); err != nil {
		t.Fatal(err)
	}
}

// people returns n NDJSON lines, one per person. Each person is seen one minute after the
// previous one.
func people(n int) string {
	var b strings.Builder
	start := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		fmt.Fprintf(&b, `{"type":"Person","data":{"name":"p%05d","age":%d,"seen":%q}}`+"\n", i, i%90, start.Add(time.Duration(i)*time.Minute).Format(time.RFC3339))
	}
	return b.String()
}

// answer is the envelope of a read.
type answer struct {
	Target struct{ Branch, Snapshot *string }
	Rows   []json.RawMessage
	Count  int    `json:"row_count"`
	Commit string `json:"graph_commit_id"`
	Cut    bool   `json:"truncated"`
	By     string `json:"truncated_by"`
	Next   string `json:"next_page_token"`
}

func (a *answer) text() string {
	rows := make([]string, len(a.Rows))
	for i, r := range a.Rows {
		rows[i] = string(r)
	}
	return strings.Join(rows, "\n")
}

// ask calls a tool with arguments that encoding/json can marshal.
func ask(g *servedgraph.Graph, actor *access.Actor, name string, args map[string]any, enc encoding.Options) (*answer, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	got, err := g.Call(context.Background(), actor, name, raw, enc)
	if err != nil {
		return nil, err
	}
	var a answer
	if err := json.Unmarshal(got.JSON, &a); err != nil {
		return nil, err
	}
	if a.Count != len(a.Rows) || a.Cut != got.Truncated || a.Cut != (a.By != "") || a.Cut != (a.Next != "") || a.Commit != got.Commit {
		return nil, fmt.Errorf("it contradicts itself: %d rows, row_count %d, truncated %t by %q", len(a.Rows), a.Count, a.Cut, a.By)
	}
	return &a, nil
}

// engines are the two engines that paging is tested over.
var engines = map[string]func(testing.TB, servedgraph.Config) servedgraph.Config{
	"naive":    func(_ testing.TB, c servedgraph.Config) servedgraph.Config { return c },
	"embedded": stored,
}

// TestPages reads page by page while the graph changes and the clock runs. It checks that the pages
// together are the rows that the graph had when the first page was read.
func TestPages(t *testing.T) {
	const adHoc = `query q($min: I32) { match { $p: Person $p.age >= $min $p.seen < now() } return { $p.name, $p.age, $p.seen } order { $p.age desc } }`
	for engineName, over := range engines {
		for name, tt := range map[string]struct {
			tool string
			args map[string]any
			enc  encoding.Options
		}{
			"stored, by rows":     {"everyone", nil, encoding.Options{MaxRows: 7}},
			"stored, by bytes":    {"everyone", nil, encoding.Options{MaxBytes: 2000}},
			"ad hoc, by rows":     {"graph_query", map[string]any{"query": adHoc, "params": map[string]any{"min": 20}}, encoding.Options{MaxRows: 13}},
			"ad hoc, by bytes":    {"graph_query", map[string]any{"query": adHoc, "params": map[string]any{"min": "20"}}, encoding.Options{MaxBytes: 1500, SafeIntegers: true}},
			"row by row":          {"graph_query", map[string]any{"query": adHoc, "params": map[string]any{"min": 85}}, encoding.Options{MaxRows: 1}},
			"a page is the whole": {"graph_query", map[string]any{"query": adHoc, "params": map[string]any{"min": 20}}, encoding.Options{MaxRows: 1000}},
		} {
			t.Run(engineName+", "+name, func(t *testing.T) {
				c := over(t, servedtest.Config(t, builtin.All("1")...))
				// Two thirds of the people were seen before this time. Each call comes a
				// minute later, when one more person was seen.
				clock := time.Date(2024, 5, 1, 2, 0, 0, 0, time.UTC)
				c.Now = func() time.Time { clock = clock.Add(time.Minute); return clock }
				load(t, c.Graph, people(180))
				g := servedtest.Graph(t, c)
				before := clock
				want, err := ask(g, servedtest.Reader, tt.tool, tt.args, encoding.Options{SafeIntegers: tt.enc.SafeIntegers})
				if err != nil {
					t.Fatal(err)
				}
				clock = before
				var rows []string
				args := map[string]any{}
				for k, v := range tt.args {
					args[k] = v
				}
				for pages := 1; ; pages++ {
					page, err := ask(g, servedtest.Reader, tt.tool, args, tt.enc)
					if err != nil {
						t.Fatalf("page %d: %v", pages, err)
					}
					if page.Commit != want.Commit || *page.Target.Branch != engine.MainBranch || tt.enc.MaxRows > 0 && page.Count > tt.enc.MaxRows {
						t.Errorf("page %d is of commit %s, expected %s; %+v", pages, page.Commit, want.Commit, page.Target)
					}
					rows = append(rows, page.text())
					if args["page_token"] = page.Next; page.Next == "" {
						break
					}
					// Changes made between the pages are on no page.
					load(t, c.Graph, fmt.Sprintf(`{"type":"Person","data":{"name":"a%05d","age":99,"seen":"2024-05-01T00:00:00Z"}}`, pages))
				}
				if got := strings.Join(rows, "\n"); got != want.text() {
					t.Errorf("%d pages differ from the whole:\n%s\nwant\n%s", len(rows), got, want.text())
				}
				if whole := tt.enc.MaxRows == 1000; whole != (len(rows) == 1) || len(want.Rows) < 5 {
					t.Errorf("%d pages of %d rows", len(rows), len(want.Rows))
				}
			})
		}
	}
}

// TestPageTokens checks that a token is valid only for the call that continues the same
// read. Every other use must give an argument error that says what is wrong.
func TestPageTokens(t *testing.T) {
	c := stored(t, servedtest.Config(t, builtin.All("1")...))
	c.PageKeys.List = [][]byte{make([]byte, 32)}
	load(t, c.Graph, people(20))
	if _, err := c.Graph.CreateBranch(context.Background(), "draft", engine.Target{}); err != nil {
		t.Fatal(err)
	}
	g := servedtest.Graph(t, c)
	other := c
	other.ID = "others"
	elsewhere := servedtest.Graph(t, other)
	other = c
	other.PageKeys.List = nil
	strange := servedtest.Graph(t, other)

	enc := encoding.Options{MaxRows: 4}
	const read = `query q($min: I32) { match { $p: Person $p.age >= $min } return { $p.name } }`
	first := map[string]any{"query": read, "params": map[string]any{"min": 3}}
	page, err := ask(g, servedtest.Reader, "graph_query", first, enc)
	if err != nil || page.Next == "" {
		t.Fatal(page, err)
	}
	token := page.Next
	onDraft, err := ask(g, servedtest.Reader, "graph_query", map[string]any{"query": read, "params": map[string]any{"min": 3}, "branch": "draft"}, enc)
	if err != nil {
		t.Fatal(err)
	}
	ofCommit, err := ask(g, servedtest.Reader, "graph_query", map[string]any{"query": read, "params": map[string]any{"min": 3}, "snapshot": page.Commit}, enc)
	if err != nil || ofCommit.Target.Branch != nil || *ofCommit.Target.Snapshot != page.Commit {
		t.Fatal(ofCommit, err)
	}
	with := func(changes map[string]any) map[string]any {
		args := map[string]any{"query": read, "params": map[string]any{"min": 3}, "page_token": token}
		for k, v := range changes {
			args[k] = v
		}
		return args
	}
	flipped := "A" + token[1:]
	if token[0] == 'A' {
		flipped = "B" + token[1:]
	}
	for name, tt := range map[string]struct {
		graph *servedgraph.Graph
		actor *access.Actor
		tool  string
		args  map[string]any
		want  string // part of the expected error; empty for none
	}{
		"as it was":             {g, servedtest.Reader, "graph_query", with(nil), ""},
		"main by name":          {g, servedtest.Reader, "graph_query", with(map[string]any{"branch": "main"}), ""},
		"laid out otherwise":    {g, servedtest.Reader, "graph_query", with(map[string]any{"query": strings.ReplaceAll(read, " ", "\n ")}), ""},
		"on the branch":         {g, servedtest.Reader, "graph_query", with(map[string]any{"branch": "draft", "page_token": onDraft.Next}), ""},
		"of the snapshot":       {g, servedtest.Reader, "graph_query", with(map[string]any{"snapshot": page.Commit, "page_token": ofCommit.Next}), ""},
		"damaged":               {g, servedtest.Reader, "graph_query", with(map[string]any{"page_token": flipped}), "it is damaged, or this server did not make it"},
		"cut short":             {g, servedtest.Reader, "graph_query", with(map[string]any{"page_token": token[:40]}), "it is damaged"},
		"no token":              {g, servedtest.Reader, "graph_query", with(map[string]any{"page_token": "2"}), "it is damaged"},
		"another key":           {strange, servedtest.Reader, "graph_query", with(nil), "it is damaged, or this server did not make it"},
		"another actor":         {g, servedtest.Writer, "graph_query", with(nil), "it belongs to another actor"},
		"another graph":         {elsewhere, servedtest.Reader, "graph_query", with(nil), "it belongs to another graph"},
		"other parameters":      {g, servedtest.Reader, "graph_query", with(map[string]any{"params": map[string]any{"min": 4}}), "it belongs to a call with other parameters"},
		"another query":         {g, servedtest.Reader, "graph_query", with(map[string]any{"query": strings.Replace(read, ">=", ">", 1)}), "it belongs to another query"},
		"a stored query":        {g, servedtest.Reader, "everyone", map[string]any{"page_token": token}, "it belongs to another query"},
		"another branch":        {g, servedtest.Reader, "graph_query", with(map[string]any{"branch": "draft"}), "it belongs to the branch main"},
		"the branch's, of main": {g, servedtest.Reader, "graph_query", with(map[string]any{"page_token": onDraft.Next}), "it belongs to the branch draft"},
		"a snapshot's, of main": {g, servedtest.Reader, "graph_query", with(map[string]any{"page_token": ofCommit.Next}), "it belongs to the snapshot " + page.Commit},
		"main's, of a snapshot": {g, servedtest.Reader, "graph_query", with(map[string]any{"snapshot": page.Commit}), "it belongs to the branch main"},
		"of a mutation":         {g, servedtest.Writer, "add_person", map[string]any{"params": map[string]any{"name": "x"}, "page_token": token}, "page_token: does not apply to a mutation; a mutation returns no rows"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(tt.graph, tt.actor, tt.tool, tt.args, enc)
			switch {
			case tt.want == "" && (err != nil || got.Count != 4 || got.text() == page.text()):
				t.Errorf("got %+v, %v", got, err)
			case tt.want != "":
				var a *tool.ArgumentError
				if !errors.As(err, &a) || a.Path != "page_token" || !strings.Contains(err.Error(), tt.want) || envelope.Status(wireerror.Explain(err).Outcome) != 400 {
					t.Errorf("got %v, want %s", err, tt.want)
				}
			}
		})
	}
	t.Run("cleaned up", func(t *testing.T) {
		load(t, c.Graph, people(21))
		if got, err := ask(g, servedtest.Reader, "graph_query", with(nil), enc); err != nil || got.Commit != page.Commit {
			t.Errorf("before the cleanup: %+v, %v", got, err)
		}
		if err := c.Graph.DeleteBranch(context.Background(), "draft"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Graph.Cleanup(context.Background(), engine.CleanupOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err := ask(g, servedtest.Reader, "graph_query", with(nil), enc)
		var a *tool.ArgumentError
		if !errors.As(err, &a) || a.Path != "page_token" || !strings.Contains(a.Detail, "was cleaned up") {
			t.Errorf("after the cleanup: %v", err)
		}
	})
	t.Run("after another start", func(t *testing.T) {
		page, err := ask(g, servedtest.Reader, "everyone", nil, enc)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ask(servedtest.Graph(t, c), servedtest.Reader, "everyone", map[string]any{"page_token": page.Next}, enc)
		if err != nil || got.Count != 4 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// switched is a policy that can be set to deny everything.
type switched struct {
	servedtest.Policy
	denies bool
}

func (p *switched) Allowed(a *access.Actor, g tool.Grant) bool {
	return !p.denies && p.Policy.Allowed(a, g)
}

func TestPolicyOnEveryPage(t *testing.T) {
	c := servedtest.Config(t, builtin.All("1")...)
	policy := &switched{}
	c.Authorizer = policy
	g := servedtest.Graph(t, c)
	page, err := ask(g, servedtest.Bot, "lookup_person", map[string]any{"params": map[string]any{"name": "ada"}}, encoding.Options{})
	if err != nil || page.Cut {
		t.Fatal(page, err)
	}
	if page, err = ask(g, servedtest.Reader, "everyone", nil, encoding.Options{MaxRows: 1}); err != nil {
		t.Fatal(err)
	}
	policy.denies = true
	var unknown *wireerror.UnknownTool
	if _, err := ask(g, servedtest.Reader, "everyone", map[string]any{"page_token": page.Next}, encoding.Options{MaxRows: 1}); !errors.As(err, &unknown) {
		t.Errorf("the next page without the grant: %v", err)
	}
}

// TestRowTooLarge reads a row that is too large for any page. The read must give an error. It must
// not drop the row or give an endless page, and the error must not use memory in proportion to the
// row.
func TestRowTooLarge(t *testing.T) {
	c := stored(t, servedtest.Config(t, builtin.All("1")...))
	load(t, c.Graph, `{"type":"Person","data":{"name":"b","tags":["`+strings.Repeat("x", 10_000)+`"]}}`)
	g := servedtest.Graph(t, c)
	args := map[string]any{"query": `query q() { match { $p: Person } return { $p.name, $p.tags } }`}
	enc := encoding.Options{MaxBytes: 2000}
	page, err := ask(g, servedtest.Reader, "graph_query", args, enc)
	if err != nil || page.Count != 1 || page.By != "bytes" {
		t.Fatal(page, err)
	}
	args["page_token"] = page.Next
	_, err = ask(g, servedtest.Reader, "graph_query", args, enc)
	var o *wireerror.Oversize
	if !errors.As(err, &o) || !o.SingleRow || o.Bytes < 10_000 || envelope.Status(wireerror.Explain(err).Outcome) != 413 {
		t.Errorf("got %v", err)
	}
}

// TestAdviceOfOversize checks that the error of an answer that is too large advises what the caller
// can do. A caller can change a query of its own, and cannot change a stored query.
func TestAdviceOfOversize(t *testing.T) {
	c := stored(t, servedtest.Config(t, builtin.All("1")...))
	load(t, c.Graph, `{"type":"Person","data":{"name":"aaa","tags":["`+strings.Repeat("x", 10_000)+`"]}}`)
	read := map[string]any{"query": `query q() { match { $p: Person } return { $p.name, $p.tags } }`}
	for _, tt := range []struct {
		name, tool string
		args       map[string]any
		enc        encoding.Options
		want       string
	}{
		{"rows of a text", "graph_query", read, encoding.Options{MaxRows: 2, MaxBytes: 1 << 20, Refuse: true}, "; add a limit, or return fewer columns"},
		{"rows of a stored query", "everyone", nil, encoding.Options{MaxRows: 2, MaxBytes: 1 << 20, Refuse: true},
			"; call with parameters that fewer rows match, or ask the author of the query for a limit or fewer columns"},
		{"a row of a text", "graph_query", read, encoding.Options{MaxBytes: 2000}, "; return fewer columns, or leave the row out"},
		{"a row of a stored query", "everyone", nil, encoding.Options{MaxBytes: 2000},
			"; call with parameters that leave the row out, or ask the author of the query to return fewer columns"},
	} {
		for _, meta := range []bool{false, true} {
			name, args, c := tt.tool, tt.args, c
			if meta {
				c.MetaThreshold = 1
				if args == nil {
					name, args = metatools.RunQuery, map[string]any{"name": tt.tool}
				}
			}
			_, err := ask(servedtest.Graph(t, c), servedtest.Reader, name, args, tt.enc)
			if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("%s, meta %t: %v, expected the advice %q", tt.name, meta, err, tt.want)
			}
		}
	}
}

// TestPagesOfABatch runs a batch that has no room left for one of its queries, not even for one
// row. The next batch must be able to continue that query.
func TestPagesOfABatch(t *testing.T) {
	g := servedtest.Graph(t, servedtest.Config(t, builtin.All("1")...))
	const read = `query q() { match { $p: Person } return { $p.name as name } }`
	batch := func(elements ...map[string]any) []answer {
		raw, err := json.Marshal(map[string]any{"queries": elements})
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.Call(context.Background(), servedtest.Reader, "graph_query", raw, encoding.Options{MaxRows: 4})
		if err != nil {
			t.Fatal(err)
		}
		var a struct{ Results []answer }
		if err := json.Unmarshal(got.JSON, &a); err != nil {
			t.Fatal(err)
		}
		return a.Results
	}
	one := map[string]any{"query": read}
	first := batch(one, one, one)
	if first[0].Cut || first[1].Count != 1 || first[1].Next == "" || first[2].Count != 0 || first[2].Next == "" {
		t.Fatalf("got %+v", first)
	}
	second := batch(map[string]any{"query": read, "page_token": first[1].Next}, map[string]any{"query": read, "page_token": first[2].Next}, map[string]any{"query": read, "page_token": "x"})
	third := batch(map[string]any{"query": read, "page_token": second[1].Next})
	want := first[0].text()
	if got := first[1].text() + "\n" + second[0].text(); got != want || second[0].Cut {
		t.Errorf("the second query answered %s, want %s", got, want)
	}
	if got := second[1].text() + "\n" + third[0].text(); got != want || third[0].Cut || second[2].Next != "" {
		t.Errorf("the third query answered %s, want %s", got, want)
	}
}
