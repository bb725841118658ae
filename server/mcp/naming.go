package mcp

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// naming finds the names of tools in what is written for clients, so that a caller
// reads of no tool that it may not see. The unit that is left out is the sentence.
type naming struct {
	names    []string
	any      *regexp.Regexp      // one of the names
	mentions map[string][]string // other tools that a tool's texts name, by the tool's name
}

func newNaming(tools []*tool.Descriptor) *naming {
	n := &naming{mentions: map[string][]string{}}
	var alternatives []string
	for _, d := range tools {
		n.names = append(n.names, d.Name)
		pattern := `\b` + regexp.QuoteMeta(d.Name) + `\b`
		if !distinctive.MatchString(d.Name) {
			// An ordinary word, such as callers, is a name where it is set off as one.
			pattern = "[`\"]" + regexp.QuoteMeta(d.Name) + "[`\"]"
		}
		alternatives = append(alternatives, pattern)
	}
	n.any = regexp.MustCompile(strings.Join(alternatives, "|"))
	for _, d := range tools {
		for _, name := range n.in(d.Description + " " + string(d.InputSchema)) {
			if name != d.Name {
				n.mentions[d.Name] = append(n.mentions[d.Name], name)
			}
		}
	}
	return n
}

// distinctive matches the names that are no ordinary word.
var distinctive = regexp.MustCompile(`[^a-z]`)

// in lists the tools that a text names. A text that quotes JSON has its quotes escaped.
func (n *naming) in(text string) []string {
	if len(n.names) == 0 {
		return nil
	}
	var found []string
	for _, m := range n.any.FindAllString(strings.ReplaceAll(text, `\"`, `"`), -1) {
		found = append(found, strings.Trim(m, "`\""))
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// hides reports whether one of the names is not among the tools that are seen.
func hides(names []string, seen []*tool.Descriptor) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(seen, func(d *tool.Descriptor) bool { return d.Name == name })
	})
}

// tool returns a tool as a caller who sees the given tools may read it.
func (n *naming) tool(t *mcp.Tool, seen []*tool.Descriptor) *mcp.Tool {
	if !hides(n.mentions[t.Name], seen) {
		return t
	}
	short := *t
	short.Description = n.text(t.Description, seen)
	if raw, ok := t.InputSchema.(json.RawMessage); ok {
		short.InputSchema = json.RawMessage(described.ReplaceAllFunc(raw, func(member []byte) []byte {
			var text string
			if json.Unmarshal(member[len(`"description":`):], &text) != nil {
				return member
			}
			quoted, err := json.Marshal(n.text(text, seen))
			if err != nil {
				return member
			}
			return append([]byte(`"description":`), quoted...)
		}))
	}
	return &short
}

// described matches the descriptions in a JSON Schema.
var described = regexp.MustCompile(`"description":"(?:[^"\\]|\\.)*"`)

// text leaves out the sentences that name a tool which is not among those seen. Of a
// text that would be left empty it keeps the clauses that name none.
func (n *naming) text(s string, seen []*tool.Descriptor) string {
	if !hides(n.in(s), seen) {
		return s
	}
	if kept := n.without(s, sentenceEnd, seen); kept != "" {
		return kept
	}
	kept := n.without(s, clauseEnd, seen)
	if cut, ok := strings.CutSuffix(kept, ";"); ok {
		return cut + "."
	}
	return kept
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?]\s+|\n+`)
	clauseEnd   = regexp.MustCompile(`[.!?;]\s+|\n+`)
)

// without leaves out the parts of a text, each up to an end with its blanks, that name
// a tool which is not among those seen.
func (n *naming) without(s string, end *regexp.Regexp, seen []*tool.Descriptor) string {
	var kept strings.Builder
	for s != "" {
		part := s
		if loc := end.FindStringIndex(s); loc != nil {
			part = s[:loc[1]]
		}
		s = s[len(part):]
		if !hides(n.in(part), seen) {
			kept.WriteString(part)
		}
	}
	return strings.TrimSpace(kept.String())
}
