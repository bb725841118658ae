package builtin_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestPage checks the reference page of the built-in tools against their descriptors.
func TestPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# The built-in tools\n\nEvery graph has these tools beside its stored queries. [Connect an MCP client](../mcp.md) says how to\nreach them. A caller sees those that its policy allows on some branch.\n")
	all := builtin.Local("1", nil)
	cluster := map[string]bool{}
	for _, tl := range builtin.All("1") {
		cluster[tl.Descriptor().Name] = true
	}
	for _, tl := range all {
		d := tl.Descriptor()
		fmt.Fprintf(&b, "\n## %s\n\n%s. %s\n\n", d.Name, d.Title, facts(tl, cluster[d.Name]))
		b.WriteString(described(d.Description) + "\n")
		var schema struct {
			Properties map[string]struct {
				Type, Description string
				Enum              []string
			}
			Required []string
		}
		if err := json.Unmarshal(d.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		if len(schema.Properties) == 0 {
			continue
		}
		b.WriteString("\n| Argument | Type | |\n|---|---|---|\n")
		names := []string{}
		for name := range schema.Properties {
			names = append(names, name)
		}
		// Required members come first.
		slices.SortFunc(names, func(x, y string) int {
			rx, ry := slices.Contains(schema.Required, x), slices.Contains(schema.Required, y)
			switch {
			case rx && !ry:
				return -1
			case ry && !rx:
				return 1
			}
			return strings.Compare(x, y)
		})
		for _, name := range names {
			p := schema.Properties[name]
			typ := p.Type
			if len(p.Enum) > 0 {
				typ = strings.Join(p.Enum, ", ")
			}
			if slices.Contains(schema.Required, name) {
				typ += ", required"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, typ, p.Description)
		}
	}
	golden.Check(t, "../../../docs/reference/builtin-tools.md", []byte(b.String()))
}

// facts describes the effect of a tool on a graph and who can see the tool.
func facts(tl tool.Tool, cluster bool) string {
	d := tl.Descriptor()
	what := "Reads."
	switch {
	case d.Destructive:
		what = "Writes, and may replace or remove what is there."
	case !d.ReadOnly:
		what = "Writes, and removes nothing."
	}
	gates := "Needs no permission."
	if g := tl.Gates(); len(g) > 0 {
		gates = "Needs `" + string(g[0].Action) + "`."
	}
	if !cluster {
		gates += " Over stdio on a local store only."
	}
	return what + " " + gates
}

// described formats a description in Markdown. Examples, which are paragraphs of their own,
// become code blocks.
func described(text string) string {
	var parts []string
	for _, p := range strings.Split(text, "\n\n") {
		if strings.HasPrefix(p, "query ") || strings.HasPrefix(p, "{") {
			p = "```\n" + p + "\n```"
		}
		parts = append(parts, p)
	}
	return strings.Join(parts, "\n\n")
}
