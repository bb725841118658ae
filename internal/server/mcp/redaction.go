package mcp

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// redaction finds the names of tools in texts for clients, so that texts do not name a tool that
// the caller may not see. The unit of redaction is the sentence.
type redaction struct {
	ordinary map[string]bool     // by name: whether the name could be an ordinary word
	longest  int                 // bytes of the longest name
	mentions map[string][]string // by tool: the other tools that its texts name
}

// newRedaction returns the redaction for the tools of a graph.
func newRedaction(tools []*tool.Descriptor) *redaction {
	r := &redaction{ordinary: make(map[string]bool, len(tools)), mentions: map[string][]string{}}
	for _, d := range tools {
		r.ordinary[d.Name] = strings.Trim(d.Name, "abcdefghijklmnopqrstuvwxyz") == ""
		r.longest = max(r.longest, len(d.Name))
	}
	for _, d := range tools {
		for _, name := range r.in(d.Description + " " + string(d.InputSchema)) {
			if name != d.Name {
				r.mentions[d.Name] = append(r.mentions[d.Name], name)
			}
		}
	}
	return r
}

// in returns, sorted, the tools that a text names. In a text that quotes JSON, the quotes are
// escaped.
func (r *redaction) in(text string) []string {
	text = strings.ReplaceAll(text, `\"`, `"`)
	var found []string
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && (isWord(text[end]) || text[end] == '-') {
			end++
		}
		if end > start {
			found = r.run(found, text, start, end)
		}
		start = end + 1
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// run appends the names in text[start:end], which consists of letters, digits, _ and -. A name must
// start and end at a word boundary. For example, get_user-by-id contains get_user, and get_users
// does not.
func (r *redaction) run(found []string, text string, start, end int) []string {
	for i := start; i < end; i++ {
		if !boundary(text, i) {
			continue
		}
		for j := i + 1; j <= min(end, i+r.longest); j++ {
			if !boundary(text, j) {
				continue
			}
			name := text[i:j]
			ordinary, ok := r.ordinary[name]
			if !ok {
				continue
			}
			// A name that could be an ordinary word, such as callers, counts only in quotes.
			if !ordinary || quoted(text, i-1) && quoted(text, j) {
				found = append(found, name)
			}
		}
	}
	return found
}

// boundary reports whether a word starts or ends directly before index i of the text.
func boundary(text string, i int) bool {
	return (i > 0 && isWord(text[i-1])) != (i < len(text) && isWord(text[i]))
}

// isWord reports whether the byte can be part of a name.
func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// quoted reports whether the byte at i is a quote.
func quoted(text string, i int) bool {
	return i >= 0 && i < len(text) && (text[i] == '`' || text[i] == '"')
}

// nameSet holds the names of the tools that a caller may see.
type nameSet map[string]bool

// namesOf returns the names of the tools.
func namesOf(seen []*tool.Descriptor) nameSet {
	set := make(nameSet, len(seen))
	for _, d := range seen {
		set[d.Name] = true
	}
	return set
}

// hides reports whether any of the names is the name of a tool that the caller may not see.
func hides(names []string, seen nameSet) bool {
	return slices.ContainsFunc(names, func(name string) bool { return !seen[name] })
}

// tool returns a copy of t. The texts of the copy mention only tools in the set `seen`. If the
// texts of t already mention no other tools, it returns t itself.
func (r *redaction) tool(t *mcp.Tool, seen nameSet) *mcp.Tool {
	if !hides(r.mentions[t.Name], seen) {
		return t
	}
	short := *t
	short.Description = r.text(t.Description, seen)
	if raw, ok := t.InputSchema.(json.RawMessage); ok {
		short.InputSchema = json.RawMessage(described.ReplaceAllFunc(raw, func(member []byte) []byte {
			var text string
			if json.Unmarshal(member[len(`"description":`):], &text) != nil {
				return member
			}
			quoted, err := json.Marshal(r.text(text, seen))
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

// text removes the sentences that mention a tool outside the set `seen`. If that removes
// everything, text keeps the clauses that mention no such tool.
func (r *redaction) text(s string, seen nameSet) string {
	if !hides(r.in(s), seen) {
		return s
	}
	if kept := r.without(s, sentenceEnd, seen); kept != "" {
		return kept
	}
	kept := r.without(s, clauseEnd, seen)
	if cut, ok := strings.CutSuffix(kept, ";"); ok {
		return cut + "."
	}
	return kept
}

// The patterns match the end of a sentence, or of a part of it that ends with a semicolon.
var (
	sentenceEnd = regexp.MustCompile(`[.!?]\s+|\n+`)
	clauseEnd   = regexp.MustCompile(`[.!?;]\s+|\n+`)
)

// without splits a text after each match of the pattern `end`, and removes the parts that mention a
// tool outside the set `seen`.
func (r *redaction) without(s string, end *regexp.Regexp, seen nameSet) string {
	var kept strings.Builder
	for s != "" {
		part := s
		if loc := end.FindStringIndex(s); loc != nil {
			part = s[:loc[1]]
		}
		s = s[len(part):]
		if !hides(r.in(part), seen) {
			kept.WriteString(part)
		}
	}
	return strings.TrimSpace(kept.String())
}
