package format_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// graph is the schema that the tests check their queries against.
var graph = sync.OnceValues(func() (*catalog.Schema, error) {
	b, err := os.ReadFile("../../../../gq/testdata/graph.pg")
	if err != nil {
		return nil, err
	}
	s, faults := gq.CompileSchema(gq.Source{Name: "graph.pg", Text: string(b)})
	return s, faults.Err()
})

// checkFormat formats a text and checks that the result has the right layout and the same
// meaning. It returns the result and whether the text parses.
func checkFormat(t *testing.T, name, text string) (string, bool) {
	t.Helper()
	out, ok := checkLayout(t, name, text)
	if !ok {
		return "", false
	}
	if a, b := meaning(t, name, text), meaning(t, name, out); a != b {
		t.Fatalf("meaning, -source +result:\n%s\n--- source\n%s\n--- result\n%s", gocmp.Diff(a, b), text, out)
	}
	return out, true
}

// checkLayout is like checkFormat but does not check the meaning.
func checkLayout(t *testing.T, name, text string) (string, bool) {
	t.Helper()
	out, faults := gq.Format(gq.Source{Name: name, Text: text})
	if faults.HasErrors() {
		if out != "" {
			t.Fatalf("faults %v, and a text:\n%s", faults, out)
		}
		return "", false
	}
	again, faults := gq.Format(gq.Source{Name: name, Text: out})
	if faults.HasErrors() {
		t.Fatalf("the result does not parse: %v\n--- source\n%s\n--- result\n%s", faults, text, out)
	}
	if again != out {
		t.Fatalf("formatted twice, -once +twice:\n%s\n--- source\n%s", gocmp.Diff(out, again), text)
	}
	if a, b := items(t, name, text), items(t, name, out); !slices.EqualFunc(a, b, item.matches) {
		t.Fatalf("tokens and comments, -source +result:\n%s\n--- source\n%s\n--- result\n%s", gocmp.Diff(a, b, cmpopts.IgnoreUnexported(item{})), text, out)
	}
	return out, true
}

// item is a token or a comment.
type item struct {
	Text  string
	Place string // only for a comment

	start, end int
}

// The places of comments.
const (
	trails = "trails" // a token other than a comma is before it on its line
	begins = "begins" // nothing is before it on its line
	either = "either" // a comma is before it, which formatting may move to the line before
)

func (i item) matches(other item) bool {
	return i.Text == other.Text && (i.Place == other.Place || i.Place == either)
}

// items lists the tokens and comments of a text in source order, without the commas.
func items(t *testing.T, name, text string) []item {
	t.Helper()
	var all []item
	add := func(tokens []syntax.Token) {
		for _, tok := range tokens {
			if tok.Value != "," {
				all = append(all, item{tok.Value, "", tok.Pos.Offset, tok.Pos.Offset + len(tok.Value)})
			}
		}
	}
	var comments []syntax.Comment
	if strings.HasSuffix(name, ".pg") {
		tree, _ := syntax.ParseSchema(name, text)
		for _, d := range tree.Decls {
			switch d := d.(type) {
			case *syntax.Interface:
				add(d.Tokens)
			case *syntax.Node:
				add(d.Tokens)
			case *syntax.Edge:
				add(d.Tokens)
			}
		}
		comments = tree.Comments
	} else {
		tree, _ := syntax.ParseQueries(name, text)
		for _, q := range tree.Queries {
			add(colons(q))
		}
		comments = tree.Comments
	}
	for _, c := range comments {
		lines := strings.Split(c.Text, "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " \t\r")
		}
		all = append(all, item{strings.Join(lines, "\n"), begins, c.Span.Start.Offset, c.Span.End.Offset})
	}
	slices.SortFunc(all, func(a, b item) int { return cmp.Compare(a.start, b.start) })
	end := 0
	for i, it := range all {
		if it.Place != "" && i > 0 {
			line, found := lastLine(text[end:it.start])
			switch {
			case !found:
				all[i].Place = trails
			case strings.Contains(line, ","):
				all[i].Place = either
			}
		}
		end = it.end
	}
	return all
}

// lastLine returns the text after the last line end and reports whether there is a line end.
func lastLine(s string) (string, bool) {
	i := strings.LastIndexByte(s, '\n')
	return s[i+1:], i >= 0
}

// colons returns the tokens of a query with every = in @mcp replaced by a colon.
func colons(q *syntax.Query) []syntax.Token {
	tokens := slices.Clone(q.Tokens)
	for _, a := range q.Annotations {
		for _, arg := range a.MCP {
			at := arg.Tokens[1].Pos.Offset
			i := slices.IndexFunc(tokens, func(t syntax.Token) bool { return t.Pos.Offset == at })
			tokens[i].Value = ":"
		}
	}
	return tokens
}

// meaning prints the meaning of a text: the catalog, or the plans and the contents of the
// annotations, and the errors without their positions.
func meaning(t *testing.T, name, text string) string {
	t.Helper()
	src := gq.Source{Name: name, Text: text}
	var b bytes.Buffer
	var faults diag.List
	if strings.HasSuffix(name, ".pg") {
		var s *catalog.Schema
		if s, faults = gq.CompileSchema(src); s != nil {
			b.Write(catalog.Encode(s))
		}
	} else {
		s, err := graph()
		if err != nil {
			t.Fatal(err)
		}
		var queries []*gq.Query
		queries, faults = gq.CompileQueries(s, src)
		for _, q := range queries {
			b.WriteString(plan.Format(q.Plan))
			idempotent := "unset"
			if q.Idempotent != nil {
				idempotent = fmt.Sprint(*q.Idempotent)
			}
			fmt.Fprintf(&b, "%q %q %q %v %q %q %s\n", q.Description, q.Instruction, q.ParamDocs, q.Expose, q.ToolName, q.Title, idempotent)
		}
	}
	for _, f := range faults {
		fmt.Fprintf(&b, "%s\n", f.Code)
	}
	return b.String()
}

// corpus returns the sources of the repository that parse, by path.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{
		"testdata/*.?q", "testdata/*.pg", "../../../../gq/testdata/*.pg", "../../../../gq/testdata/*/*.?q", "../../../../gq/testdata/*/*.pg",
		"../../../../queries/*/*.?q", "../../../../queries/*/*.pg", "../../../../codegen/testdata/*/*.?q", "../../../../codegen/testdata/*/*.pg",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, faults := gq.Format(gq.Source{Name: path, Text: string(b)}); !faults.HasErrors() {
				out[path] = string(b)
			}
		}
	}
	if len(out) < 15 {
		t.Fatalf("%d sources", len(out))
	}
	return out
}
