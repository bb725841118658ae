package docs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	schemas "github.com/google/jsonschema-go/jsonschema"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

const pageSchema = `
node Person @description("Somebody.") {
  slug: String @key @description("A | name\nof two lines.")
  code: String
  kind: enum(a, b-c)
  age: I32
  low: I32?
  share: F64?
  big: I64?
  vec: Vector(2)?
  tags: [String]?
  @check(code, "^[A-Z]{2,4}-[0-9]+$")
  @range(age, 18..99)
  @range(low, ..-5)
  @range(share, 0.25..0.5)
}
edge Knows: Person -> Person { since: Date? }
`

const pageQueries = `
query everything(
  $code: String, $kind: String, $age: I32, $low: I32, $share: F64, $big: I64, $vec: Vector(2), $tags: [String], $on: Date, $at: DateTime, $raw: Blob, $yes: Bool, $opt: String?
) @description("Find it.\n\nIt's 100% of what 'there' is.") {
  match {
    $p: Person { code: $code, kind: $kind, age: $age, low: $low, share: $share, big: $big }
  }
  return { $p, $p.slug as slug }
  order { nearest($p.vec, $vec) }
  limit 3
}
query all() { match { $p: Person } return { $p.slug as slug } }
query maybe($slug: String?) @mcp(expose: false) { match { $p: Person { slug: $slug? } } return { $p.slug as slug } }
query put($slug: String, $code: String, $kind: String, $age: I32) @mcp(tool_name: "put-person") { insert Person { slug: $slug, code: $code, kind: $kind, age: $age } }
`

// pageOf returns the page for the test's queries, and the package that it documents.
func pageOf(t *testing.T, strict bool) (string, *model.Package) {
	t.Helper()
	s, diags := gq.CompileSchema(gq.Source{Name: "q/schema.pg", Text: pageSchema})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	src := gq.Source{Name: "q/a.gq", Text: pageQueries}
	queries, diags := gq.CompileQueries(s, src)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := model.Build(model.Input{Graph: "g", Schema: s, Sources: []gq.Source{src}, Queries: queries, Strict: strict})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return string(Tools(p, s, "../../..")), p
}

var blocks = regexp.MustCompile("(?ms)^```(json|sh|mermaid)\n(.*?)^```$")

// TestExamples validates every example call against the input schema that the server serves.
func TestExamples(t *testing.T) {
	for _, strict := range []bool{false, true} {
		page, pkg := pageOf(t, strict)
		loose := map[string]*model.Query{} // by name
		if _, other := pageOf(t, false); true {
			for _, q := range other.Queries() {
				loose[q.Name] = q
			}
		}
		tools, queries := map[string]*model.Query{}, pkg.Queries()
		for _, q := range queries {
			tools[q.Tool.Name] = q
		}
		calls, posts := 0, 0
		for _, block := range blocks.FindAllStringSubmatch(page, -1) {
			switch block[1] {
			case "json":
				calls++
				var call struct {
					Name      string          `json:"name"`
					Arguments json.RawMessage `json:"arguments"`
				}
				if err := json.Unmarshal([]byte(block[2]), &call); err != nil {
					t.Errorf("%v in %s", err, block[2])
					continue
				}
				validate(t, tools[call.Name].Tool.InputSchema, call.Arguments)
			case "sh":
				posts++
				body := regexp.MustCompile(`(?s)-d '(.*)' \\\n`).FindStringSubmatch(block[2])
				name := regexp.MustCompile(`/graphs/g/queries/(\w+)\n`).FindStringSubmatch(block[2])
				if body == nil || name == nil {
					t.Errorf("no body or no query in %s", block[2])
					continue
				}
				validate(t, loose[name[1]].Tool.InputSchema, json.RawMessage(strings.ReplaceAll(body[1], `'\''`, `'`)))
			}
		}
		if calls != 3 || posts != 4 {
			t.Errorf("strict %v: found %d calls and %d posts, expected 3 of the exposed queries and 4", strict, calls, posts)
		}
	}
}

func validate(t *testing.T, schema, value json.RawMessage) {
	t.Helper()
	var s schemas.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		t.Errorf("%v in %s", err, value)
		return
	}
	if err := resolved.Validate(v); err != nil {
		t.Errorf("%s does not fit %s: %v", value, schema, err)
	}
}

// TestPage checks that the page contains the required facts about each query.
func TestPage(t *testing.T) {
	page, _ := pageOf(t, false)
	for _, want := range []string{
		"## everything\n", "## put-person\n", "[put-person](#put-person)",
		"| `code` | String | yes | Matches `^[A-Z]{2,4}-[0-9]+$`. |",
		"| `age` | I32 | yes | At least 18. At most 99. |",
		"| `opt` | String | no |",
		"| `slug` | String | A \\| name of two lines. |",
		"| `p` | Person as an object |",
		"Hidden from MCP and from listings.",
		"Source: [q/a.gq, line 2](../../../q/a.gq#L2)",
		"Constraints: ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// The lines of a class diagram in the grammar of Mermaid: a class with members in braces, or an
// arrow with a label.
var (
	mermaidClass  = regexp.MustCompile(`^  class ([A-Za-z_]\w*) \{$`)
	mermaidMember = regexp.MustCompile(`^    [A-Za-z][\w~]*\?? \w+( key)?$`)
	mermaidArrow  = regexp.MustCompile(`^  ([A-Za-z_]\w*) --> ([A-Za-z_]\w*) : \w+$`)
)

// checkMermaid returns an error if Mermaid could not parse a class diagram.
func checkMermaid(text string) error {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != "classDiagram" {
		return fmt.Errorf("it begins with %q", lines[0])
	}
	classes, inside := map[string]bool{}, false
	for _, line := range lines[1:] {
		class, arrow := mermaidClass.FindStringSubmatch(line), mermaidArrow.FindStringSubmatch(line)
		switch {
		case class != nil && !inside:
			classes[class[1]], inside = true, true
		case inside && line == "  }":
			inside = false
		case inside && mermaidMember.MatchString(line) && strings.Count(line, "~")%2 == 0:
		case arrow != nil && !inside && classes[arrow[1]] && classes[arrow[2]]:
		default:
			return fmt.Errorf("the line %q has no place", line)
		}
	}
	if inside {
		return fmt.Errorf("a class is not closed")
	}
	return nil
}

func TestDiagram(t *testing.T) {
	page, _ := pageOf(t, false)
	found := 0
	for _, block := range blocks.FindAllStringSubmatch(page, -1) {
		if block[1] != "mermaid" {
			continue
		}
		found++
		if err := checkMermaid(block[2]); err != nil {
			t.Errorf("%v in\n%s", err, block[2])
		}
		for _, want := range []string{"Person --> Person : Knows", "Vector~2~? vec", "List~String~? tags", "String slug key", "enum kind"} {
			if !strings.Contains(block[2], want) {
				t.Errorf("no %q in\n%s", want, block[2])
			}
		}
	}
	if found != 1 {
		t.Errorf("found %d diagrams", found)
	}
	for _, bad := range []string{"graph TD\n", "classDiagram\n  class A {\n", "classDiagram\n  A --> B : C\n", "classDiagram\n  class A {\n    List(x) y\n  }\n", "classDiagram\n  class A {\n    List~x y\n  }\n"} {
		if checkMermaid(bad) == nil {
			t.Errorf("nothing is wrong with %q", bad)
		}
	}
}

func TestSampleMatch(t *testing.T) {
	for _, pattern := range []string{"^x$", "[a-z]{2,4}", "^[^@,]+@[^@,]+$", `^\d{3}-\w+$`, "(foo|bar)baz?", "^.+$", "", "[^a-zA-Z0-9]", `^\+?[1-9]\d{6,14}$`} {
		if got := sampleMatch(pattern); !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("%q does not match %s", got, pattern)
		}
	}
	if got := sampleMatch("("); got != "" {
		t.Errorf("found %q for no pattern", got)
	}
}
