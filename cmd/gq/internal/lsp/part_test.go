package lsp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestParts edits a large document at random places. After each edit, the check of the changed
// part must have the same findings as a check of the whole document.
func TestParts(t *testing.T) {
	const schema = "node Person { name: String @key  age: I32? }\nedge Knows: Person -> Person\n"
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "// gq:ignore L107 the name is enough\nquery q%d($n: String) {\n  match { $p: Person { name: $n } $p knows $q }\n  return { $q.name as name, $q.age as age }\n  limit 3\n}\n\n", i)
	}
	s := newTestServer()
	_, uri := openProject(t, s, t.TempDir(), schema, b.String())
	s.run()
	d := s.document(uri)
	if len(d.text.content) < wholeBelow {
		t.Fatalf("the document has %d bytes and is checked whole", len(d.text.content))
	}
	draw := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"x", ".", " $q.agee > 3", "limit 5", "", "", " = ", "😀", "\n", ", $p.name"}
	parts, faults, edits := 0, 0, 150
	if testing.Short() {
		edits = 30
	}
	for range edits {
		content := d.text.content
		at := draw.IntN(len(content) - 1)
		// Text between queries is judged by the text before it, so a check of a part is not exact
		// there. Therefore all edits are within queries.
		if strings.LastIndex(content[:at], "\n}") > strings.LastIndex(content[:at], "\nquery ") {
			continue
		}
		end := at
		if draw.IntN(3) == 0 {
			end = min(at+draw.IntN(8), len(content))
		}
		if strings.ContainsAny(content[at:end], "\n{}()\"") {
			end = at
		}
		before := d.text.content
		var p didChangeParams
		p.TextDocument.URI, p.TextDocument.Version = uri, d.version+1
		p.ContentChanges = []contentChange{{&Range{d.text.position(at), d.text.position(end)}, pieces[draw.IntN(len(pieces))]}}
		if _, err := s.didChange(&p); err != nil {
			t.Fatal(err)
		}
		if part := d.changedPart(); part.to-part.from < 2000 {
			parts++
		}
		s.checkDocument(context.Background(), d.path)
		got := described(d.own)
		faults += len(got)
		j := s.job(s.graphOf(d), d.path)
		want := described(j.findings(j.lint().Report)[d.path])
		if !slices.Equal(got, want) {
			t.Fatalf("after %q instead of %q at %d: -whole +part:\n%s", p.ContentChanges[0].Text, content[at:end], at, gocmp.Diff(want, got))
		}
		if len(got) > 700 { // undo an edit that causes many faults
			if _, err := s.didChange(&didChangeParams{TextDocument: p.TextDocument, ContentChanges: []contentChange{{nil, before}}}); err != nil {
				t.Fatal(err)
			}
			s.checkDocument(context.Background(), d.path)
		}
	}
	if parts < edits/2 || faults < edits {
		t.Errorf("%d of %d edits checked a part, and found %d faults; the test saw too few to mean anything", parts, edits, faults)
	}
}

// described lists findings with their places.
func described(list []finding) []string {
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprintf("%d-%d %s %s", f.from, f.to, f.Code, f.Message))
	}
	slices.Sort(out)
	return out
}
