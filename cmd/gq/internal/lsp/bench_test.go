package lsp

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkKeystroke measures the work of the server for one character: it applies the change, checks the
// document and completes. The schema has 100 types; the file has 50 or 1,000 queries.
func BenchmarkKeystroke(b *testing.B) {
	for _, n := range []int{50, 1000} {
		b.Run(fmt.Sprintf("queries=%d", n), func(b *testing.B) {
			var schema, queries strings.Builder
			for i := range 100 {
				fmt.Fprintf(&schema, "node Type%d { name: String @key  age: I32?  born: Date?  tags: [String] }\nedge Edge%d: Type%d -> Type%d { since: Date? }\n", i, i, i, (i+1)%100)
			}
			for i := range n {
				fmt.Fprintf(&queries, "query query_%d(\n  $name: String @description(\"The name.\"),\n  $least: I32?\n)\n  @description(\"List what the edge leads to, number %d.\")\n{\n  match {\n    $p: Type%d { name: $name }\n    $p $e:edge%d $q\n    $q.age >= $least?\n  }\n  return { $q.name as name, $e.since as since }\n  order { name }\n  limit 20\n}\n\n", i, i, i%100, i%100)
			}
			s := newTestServer()
			_, uri := openProject(b, s, b.TempDir(), schema.String(), queries.String())
			s.run()
			d := s.document(uri)
			middle := len(d.text.content) / 2
			at := middle + strings.Index(d.text.content[middle:], "match {\n") + len("match {\n")
			typed := "    $a: Type0 { name: $name }\n"
			i := 0
			for b.Loop() {
				from := at + i%len(typed)
				change := contentChange{&Range{d.text.position(from), d.text.position(from)}, typed[i%len(typed) : i%len(typed)+1]}
				if i > 0 && i%len(typed) == 0 {
					change = contentChange{&Range{d.text.position(at), d.text.position(at + len(typed))}, "$"}
					i, from = 0, at
				}
				i++
				var p didChangeParams
				p.TextDocument.URI, p.ContentChanges = uri, []contentChange{change}
				if _, err := s.didChange(&p); err != nil {
					b.Fatal(err)
				}
				s.checkDocument(context.Background(), d.path)
				if _, err := s.completion(&positionParams{textDocument{uri}, d.text.position(from + 1)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
