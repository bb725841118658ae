package skill

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/omnigraph-go/omnigraph/gq"
)

func TestNames(t *testing.T) {
	for _, tt := range []struct{ graph, want string }{
		{"code", "code"}, {"Our_Graph.v2", "our-graph-v2"}, {"__a--b__", "a-b"}, {"Größe", "gr-e"}, {"___", "graph"},
		{strings.Repeat("ab-", 40), strings.TrimSuffix(strings.Repeat("ab-", 40)[:maxName], "-")},
	} {
		if got := nameOf(tt.graph); got != tt.want {
			t.Errorf("%s: found %q, expected %q", tt.graph, got, tt.want)
		}
	}
}

// TestFrontmatter reads the frontmatter as YAML. It must say what the skill says.
func TestFrontmatter(t *testing.T) {
	var types strings.Builder
	for i := range 400 {
		fmt.Fprintf(&types, "node Type%d {}\n", i)
	}
	for _, source := range []string{"node Person {}\n", types.String()} {
		schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: source})
		if faults.HasErrors() {
			t.Fatal(faults)
		}
		s := Write(&Graph{ID: `A "quoted": graph`, Instructions: "Begin.", Schema: schema, Source: source})
		text, ok := strings.CutPrefix(string(s.Files[0].Text), "---\n")
		head, _, closed := strings.Cut(text, "\n---\n")
		if s.Files[0].Path != Main || !ok || !closed {
			t.Fatalf("%s has no frontmatter: %s", s.Files[0].Path, text)
		}
		var front map[string]string
		if err := yaml.Unmarshal([]byte(head), &front); err != nil {
			t.Fatal(err)
		}
		if len(front) != 2 || front["name"] != s.Name || front["description"] != s.Description || len(s.Description) > maxDescription {
			t.Errorf("found %v, the skill is %s: %s", front, s.Name, s.Description)
		}
		if len(source) > 1000 && !strings.HasSuffix(s.Description, " and others.") {
			t.Errorf("the description hides that it is cut: %s", s.Description)
		}
	}
}

// TestParts writes queries and types that do not fit one file. No query and no line of the schema may
// be lost, and SKILL.md must name every file.
func TestParts(t *testing.T) {
	g := &Graph{ID: "big", Instructions: "Begin."}
	var source strings.Builder
	for i := range 300 {
		g.Queries = append(g.Queries, &Query{Name: fmt.Sprintf("query_%d_", i), Call: "call", Description: strings.Repeat("Long text. ", 40)})
		fmt.Fprintf(&source, "node Node%dEnd {\n%s}\n\n", i, strings.Repeat("  // a remark\n", 20))
	}
	g.Source = source.String()
	var faults gq.Faults
	g.Schema, faults = gq.CompileSchema(gq.Source{Name: "schema.pg", Text: g.Source})
	if faults.HasErrors() {
		t.Fatal(faults)
	}
	s := Write(g)
	all, parts := "", 0
	for _, f := range s.Files[1:] {
		all += string(f.Text)
		if len(f.Text) > maxFile {
			t.Errorf("%s has %d bytes", f.Path, len(f.Text))
		}
		if !strings.Contains(string(s.Files[0].Text), "("+f.Path+")") {
			t.Errorf("%s does not name %s", Main, f.Path)
		}
		if strings.HasPrefix(f.Path, "references/schema-") {
			parts++
			if n := strings.Count(string(f.Text), "~~~\n"); n != 2 {
				t.Errorf("%s has %d fences", f.Path, n)
			}
		}
	}
	if parts < 2 {
		t.Errorf("the schema is in %d parts", parts)
	}
	for i := range 300 {
		if strings.Count(all, fmt.Sprintf("## query_%d_\n", i)) != 1 || strings.Count(all, fmt.Sprintf("node Node%dEnd {", i)) != 1 {
			t.Errorf("query or type %d is not there exactly once", i)
		}
	}
}
