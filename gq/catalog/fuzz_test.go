package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// FuzzBuild checks that every text that parses as a schema is either reported or built. A built
// schema can be encoded and decoded and needs no migration to itself. Every supported migration
// from or to the built schema leads to the intended schema.
func FuzzBuild(f *testing.F) {
	for _, pattern := range []string{"../testdata/*.pg", "../testdata/*/*.pg", "../testdata/corpus/*/*.pg", "testdata/diff/*/*.pg"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatal(pattern, len(paths), err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			// Use small seeds: the fuzzer would spend its time on making large ones smaller.
			for _, part := range strings.SplitAfter(string(b), "\n}\n") {
				f.Add(part, strings.Replace(part, "String\n", "String?\n", 1))
			}
		}
	}
	f.Add("node A { x: String }", "node B @rename_from(\"A\") { y: String? @rename_from(\"x\") }")
	f.Add("node A { x: enum(a, b) @index }", "node A { y: I32? x: enum(b, a, c)? }\nedge E: A -> A @card(0..1)")
	f.Add("interface I { v: Vector(2)? @embed(\"x\") }\nnode A implements I { x: String }", "node A { x: String v: Vector(2)? }")
	f.Fuzz(func(t *testing.T, a, b string) {
		var schemas []*catalog.Schema
		for _, text := range []string{a, b} {
			tree, faults := syntax.ParseSchema("x", text)
			s, more := resolve.Schema(tree)
			for _, d := range more {
				if at := d.Span; at.Start.Offset > at.End.Offset || at.End.Offset > len(text) {
					t.Errorf("span %v to %v in %d bytes", at, at.End, len(text))
				}
			}
			if faults.HasErrors() || more.HasErrors() {
				return
			}
			again, err := catalog.Decode(catalog.Encode(s))
			if err != nil || catalog.Digest(again) != catalog.Digest(s) {
				t.Fatalf("encoded and read back: %v", err)
			}
			if m := catalog.Diff(s, again); len(m.Steps) != 0 {
				t.Fatalf("from a schema to itself:\n%s", m)
			}
			schemas = append(schemas, s)
		}
		for _, way := range [][2]*catalog.Schema{{schemas[0], schemas[1]}, {schemas[1], schemas[0]}} {
			m := catalog.Diff(way[0], way[1])
			if (len(m.Steps) == 0) != (catalog.Digest(way[0]) == catalog.Digest(way[1])) {
				t.Errorf("the %d steps contradict the digests of the schemas:\n%s", len(m.Steps), m)
			}
			if m.Supported() {
				checkApplied(t, way[0], way[1], m)
			}
		}
	})
}
