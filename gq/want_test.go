package gq_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// wantComment matches the comment that states the expected diagnostic of its line: // want T6
// "regular expression". With want-1 it states the expected diagnostic of the line before. There
// must be no other diagnostics.
var wantComment = regexp.MustCompile(`// want(-\d+)? ([A-Z]\d+) "((?:[^"\\]|\\.)*)"`)

type want struct {
	line    int
	code    diag.Code
	message *regexp.Regexp
}

func wants(t *testing.T, text string) []want {
	t.Helper()
	var out []want
	for i, line := range strings.Split(text, "\n") {
		for _, m := range wantComment.FindAllStringSubmatch(line, -1) {
			off, _ := strconv.Atoi(m[1])
			re, err := regexp.Compile(strings.ReplaceAll(m[3], `\"`, `"`))
			if err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			out = append(out, want{i + 1 + off, diag.Code(m[2]), re})
		}
	}
	return out
}

func checkWants(t *testing.T, text string, got diag.List) {
	t.Helper()
	missing := wants(t, text)
	if len(missing) == 0 {
		t.Fatal("no want comment in the file")
	}
	for _, d := range got {
		found := false
		for i, w := range missing {
			if w.line == d.Span.Start.Line && w.code == d.Code && w.message.MatchString(d.Message) {
				missing = append(missing[:i], missing[i+1:]...)
				found = true
				break
			}
		}
		if !found {
			t.Errorf("not wanted: %v", diag.List{d})
		}
		checkSpan(t, text, d)
	}
	for _, w := range missing {
		t.Errorf("line %d: missing %s %q", w.line, w.code, w.message)
	}
}

// checkSpan recomputes the line and column of a span from its offsets.
func checkSpan(t *testing.T, text string, d diag.Diagnostic) {
	t.Helper()
	for _, p := range []diag.Pos{d.Span.Start, d.Span.End} {
		if p.Offset < 0 || p.Offset > len(text) {
			t.Fatalf("%v: offset %d of %d", d, p.Offset, len(text))
		}
		before := text[:p.Offset]
		line := 1 + strings.Count(before, "\n")
		col := 1 + len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
		if p.Line != line || p.Column != col {
			t.Errorf("%v: position %d:%d, but offset %d is %d:%d", d.Message, p.Line, p.Column, p.Offset, line, col)
		}
	}
	if d.Span.End.Offset < d.Span.Start.Offset {
		t.Errorf("%v: span ends before it starts", d.Message)
	}
}

func readFile(t testing.TB, path string) gq.Source {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return gq.Source{Name: filepath.Base(path), Text: string(b)}
}

func graph(t testing.TB) *catalog.Schema {
	t.Helper()
	s, faults := gq.CompileSchema(readFile(t, "testdata/graph.pg"))
	if faults != nil {
		t.Fatal(faults)
	}
	return s
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
	}
	return paths
}

func TestSchemaDiagnostics(t *testing.T) {
	for _, path := range glob(t, "testdata/schema/*.pg") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src := readFile(t, path)
			s, faults := gq.CompileSchema(src)
			if s != nil {
				t.Error("a schema came out")
			}
			checkWants(t, src.Text, faults)
		})
	}
}

func TestQueryDiagnostics(t *testing.T) {
	s := graph(t)
	for _, path := range glob(t, "testdata/query/*.gq") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src := readFile(t, path)
			qs, faults := gq.CompileQueries(s, src)
			checkWants(t, src.Text, faults)
			for _, q := range qs {
				if !strings.HasPrefix(q.Plan.Name, "fine") && q.Plan.Name != "last" {
					t.Errorf("query %s came out", q.Plan.Name)
				}
			}
		})
	}
}

func TestDuplicateQueryAcrossFiles(t *testing.T) {
	const text = "query q() { match { $p: Person } return { $p } }"
	_, faults := gq.CompileQueries(graph(t), gq.Source{Name: "a.gq", Text: text}, gq.Source{Name: "b.gq", Text: text})
	if got, want := fmt.Sprint(faults), "b.gq:1:7: error T27: duplicate query q, first declared at a.gq:1:7 (help: rename one of them)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
