package strictyaml

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// Node is a value in a file. If a value does not fit, its reading methods record a fault in the
// file's Reader and return false. On a nil Node they return false without a report, so that callers
// need not test for optional keys.
type Node struct {
	r   *Reader
	n   ast.Node
	key ast.Node // the key of this value; nil if it has none

	setting *Setting // set by Mapping; nil for other nodes
}

// Entry is a key of a mapping and its value, which is never nil.
type Entry struct {
	Key   string // text of the key
	At    *Node  // node of the key, for reports
	Value *Node  // node of the value
}

// Fields holds the known keys of a mapping with their values. A key that is present but seems
// misspelt has a nil value: it was reported, and is not also reported as missing.
type Fields map[string]*Node

// Span returns the position of the node, from its start to the end of its first token.
func (n *Node) Span() diag.Span { return n.r.tokenSpan(firstToken(n.n)) }

// SpanWithin returns the position of a part of the text of the node, from byte `from` to byte `to`. It returns the position of
// the node if the file writes that text in another way, such as with escapes.
func (n *Node) SpanWithin(from, to int) diag.Span {
	text, _ := n.AnyText("")
	span := n.Span()
	at := span.Start.Offset
	line := text
	if _, block := n.n.(*ast.LiteralNode); block {
		// The text begins on the line after the indicator, and each line has the indentation of the block.
		first := strings.LastIndexByte(text[:min(from, len(text))], '\n') + 1
		index := span.Start.Line + strings.Count(text[:first], "\n")
		if line, _, _ = strings.Cut(text[first:], "\n"); index >= len(n.r.lines) {
			return span
		}
		at = n.r.lines[index]
		inFile, _, _ := strings.Cut(string(n.r.src[at:]), "\n")
		at += max(0, strings.Index(inFile, line))
		from, to = from-first, to-first
	} else if at < len(n.r.src) && (n.r.src[at] == '"' || n.r.src[at] == '\'') {
		at++
	}
	if to > len(line) || from > to || !strings.HasPrefix(string(n.r.src[at:]), line) {
		return span
	}
	return diag.Span{File: span.File, Start: n.r.posAt(at + from), End: n.r.posAt(at + to)}
}

// AtKey returns the key of the node, for reports about the whole setting. If the node has no key,
// AtKey returns the node itself.
func (n *Node) AtKey() *Node {
	if n.key == nil {
		return n
	}
	return &Node{r: n.r, n: n.key}
}

// Fault reports an error at the node.
func (n *Node) Fault(code diag.Code, message, help string) {
	n.r.report(diag.Error, code, n.Span, message, help)
}

// Note reports a remark about the node. It is not an error.
func (n *Node) Note(code diag.Code, message, help string) {
	n.r.report(diag.Note, code, n.Span, message, help)
}

// Entries reads a mapping with arbitrary keys, in file order. The argument `what` is the name of
// the value in reports, such as "groups".
func (n *Node) Entries(what string) ([]Entry, bool) {
	if n == nil {
		return nil, false
	}
	m, ok := n.n.(ast.MapNode)
	if !ok {
		n.wrongType(what, "a mapping of keys to values")
		return nil, false
	}
	var entries []Entry
	seen := map[string]int{} // line of the first occurrence, by key
	for it := m.MapRange(); it.Next(); {
		kv := it.KeyValue()
		key := &Node{r: n.r, n: kv.Key}
		if _, scalar := kv.Key.(ast.ScalarNode); !scalar {
			key.Fault(Syntax, "the key is not plain text", "write key: value")
			continue
		}
		// Use the token's text, so that a key such as 0123 or 1e5 is not read as a number.
		name := kv.Key.GetToken().Value
		if first, dup := seen[name]; dup {
			key.Fault(Duplicate, fmt.Sprintf("%s is here and on line %d", n.r.shown("key ", name), first), "keep one of the two")
			continue
		}
		seen[name] = kv.Key.GetToken().Position.Line
		value := &Node{r: n.r, n: kv.Value, key: kv.Key}
		if kv.Value == nil {
			value.n = kv.Key
		}
		entries = append(entries, Entry{Key: name, At: key, Value: value})
	}
	return entries, true
}

// Fields reads a mapping with a fixed set of keys. It reports unknown keys and suggests the nearest
// known key.
func (n *Node) Fields(what string, known ...string) (Fields, bool) {
	entries, ok := n.Entries(what)
	if !ok {
		return nil, false
	}
	f := Fields{}
	for _, e := range entries {
		if slices.Contains(known, e.Key) {
			f[e.Key] = e.Value
			continue
		}
		e.At.Unknown(UnknownKey, "key", e.Key, what, known)
		if near := diag.Closest(e.Key, known); near != "" && f[near] == nil {
			f[near] = nil
		}
	}
	return f, true
}

// Require returns the value of a required key. If the key is missing, Require reports that at the
// mapping `n`. The argument `what` is the name of the mapping in reports.
func (n *Node) Require(f Fields, key, what string) *Node {
	v, ok := f[key]
	if !ok {
		n.Fault(Missing, fmt.Sprintf("%s has no %s", what, key), fmt.Sprintf("add %s: …", key))
	}
	return v
}

// Unknown reports a name that is not one of the known names and suggests the nearest one. `kind` is
// the kind of the name, such as "group"; `in` is the place where the name was looked up.
func (n *Node) Unknown(code diag.Code, kind, name, in string, known []string) {
	help := ""
	switch near := diag.Closest(name, known); {
	case near != "":
		help = fmt.Sprintf("did you mean %s?", near)
	case len(known) == 0:
		help = fmt.Sprintf("no %s exists", kind)
	default:
		sorted := slices.Sorted(slices.Values(known))
		more := ""
		if len(sorted) > 12 {
			sorted, more = sorted[:12], ", …"
		}
		help = fmt.Sprintf("one of %s%s", strings.Join(sorted, ", "), more)
	}
	n.Fault(code, fmt.Sprintf("unknown %s in %s", n.r.shown(kind+" ", name), in), help)
}

// List reads a sequence. The argument `what` is the name of the sequence in reports.
func (n *Node) List(what string) ([]*Node, bool) {
	if n == nil {
		return nil, false
	}
	s, ok := n.n.(*ast.SequenceNode)
	if !ok {
		n.wrongType(what, "a list")
		return nil, false
	}
	list := make([]*Node, 0, len(s.Values))
	for _, v := range s.Values {
		list = append(list, &Node{r: n.r, n: v})
	}
	return list, true
}

// IsText reports whether the node is a text. It reports no fault.
func (n *Node) IsText() bool {
	switch n.n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return true
	}
	return false
}

// IsMapping reports whether the node is a mapping. It reports no fault.
func (n *Node) IsMapping() bool {
	_, ok := n.n.(ast.MapNode)
	return ok
}

// Has reports whether the node is a mapping with a key. It reports no fault.
func (n *Node) Has(key string) bool {
	m, ok := n.n.(ast.MapNode)
	if !ok {
		return false
	}
	for it := m.MapRange(); it.Next(); {
		if it.KeyValue().Key.GetToken().Value == key {
			return true
		}
	}
	return false
}

// IsList reports whether the node is a sequence. It reports no fault.
func (n *Node) IsList() bool {
	_, ok := n.n.(*ast.SequenceNode)
	return ok
}

// Text reads a string that is not empty.
func (n *Node) Text(what string) (string, bool) {
	s, ok := n.AnyText(what)
	if ok && strings.TrimSpace(s) == "" {
		n.Fault(BadValue, what+" is empty", "write a text")
		return "", false
	}
	return s, ok
}

// AnyText reads a string, which may be empty.
func (n *Node) AnyText(what string) (string, bool) {
	if n == nil {
		return "", false
	}
	s := ""
	switch v := n.n.(type) {
	case *ast.StringNode:
		s = v.Value
	case *ast.LiteralNode:
		s = v.Value.Value
	default:
		n.wrongType(what, "a string")
		return "", false
	}
	return s, true
}

// Texts reads a list of strings. It reports and omits entries that are not strings.
func (n *Node) Texts(what string) ([]Entry, bool) {
	list, ok := n.List(what)
	if !ok {
		return nil, false
	}
	var texts []Entry
	seen := map[string]bool{}
	for _, item := range list {
		s, ok := item.Text("an entry of " + what)
		if !ok {
			continue
		}
		if seen[s] {
			item.Fault(Duplicate, fmt.Sprintf("%s occurs twice in %s", n.r.shown("", s), what), "remove one of the two")
			continue
		}
		seen[s] = true
		texts = append(texts, Entry{Key: s, At: item, Value: item})
	}
	return texts, true
}

// OneOf reads a string that must be one of the texts in `allowed`.
func (n *Node) OneOf(what string, allowed ...string) (string, bool) {
	s, ok := n.Text(what)
	if !ok {
		return "", false
	}
	if !slices.Contains(allowed, s) {
		n.Fault(BadValue, fmt.Sprintf("%s is %s, expected %s", what, n.r.shown("", s), alternatives(allowed)), "")
		return "", false
	}
	return s, true
}

// Int reads a whole number from lo to hi, both included.
func (n *Node) Int(what string, lo, hi int64) (int64, bool) {
	if n == nil {
		return 0, false
	}
	i, ok := n.n.(*ast.IntegerNode)
	if s, text := n.n.(*ast.StringNode); text && s.Token.Type == token.StringType && isDigits(s.Value) {
		// The library reads a number that does not fit in 64 bits as a text.
		i, ok = &ast.IntegerNode{Token: s.Token}, true
	}
	if !ok {
		n.wrongType(what, "a whole number")
		return 0, false
	}
	v, err := strconv.ParseInt(i.Token.Value, 10, 64)
	if err != nil || v < lo || v > hi {
		wanted := fmt.Sprintf("a number from %d to %d", lo, hi)
		if lo == hi {
			wanted = strconv.FormatInt(lo, 10)
		}
		n.Fault(BadValue, fmt.Sprintf("%s is %s, expected %s", what, n.r.shown("", i.Token.Value), wanted), "")
		return 0, false
	}
	return v, true
}

// Bool reads true or false.
func (n *Node) Bool(what string) (v, ok bool) {
	if n == nil {
		return false, false
	}
	b, ok := n.n.(*ast.BoolNode)
	if !ok {
		n.wrongType(what, "true or false")
		return false, false
	}
	return b.Value, true
}

// wrongType reports a value of another type than wanted.
func (n *Node) wrongType(what, wanted string) {
	found, help := kindOf(n.n)
	switch text, colon := n.colonText(); {
	case wanted != "a string":
		help = ""
	case colon && n.r.secret:
		help = "put text with a colon in quotes"
	case colon:
		help = "put text with a colon in quotes: " + strconv.Quote(clip(text))
	}
	code := WrongType
	if _, null := n.n.(*ast.NullNode); null {
		code = Missing
	}
	n.Fault(code, fmt.Sprintf("%s is %s, expected %s", what, found, wanted), help)
}

// colonText returns the text of a node that the author meant as one string and that YAML reads as a
// mapping because of its colon, such as sso:eve in {ids: [sso:eve]}.
func (n *Node) colonText() (string, bool) {
	var entry *ast.MappingValueNode
	switch m := n.n.(type) {
	case *ast.MappingValueNode:
		entry = m
	case *ast.MappingNode:
		if m.IsFlowStyle || len(m.Values) != 1 {
			return "", false
		}
		entry = m.Values[0]
	default:
		return "", false
	}
	key, ok := entry.Key.(*ast.StringNode)
	if !ok || key.Token.Type != token.StringType {
		return "", false
	}
	start := n.Span().Start.Offset
	text, _, _ := strings.Cut(string(n.r.src[start:]), "\n")
	if end := strings.IndexAny(text, ",[]{}#\"'"); end >= 0 {
		text = text[:end]
	}
	text = strings.TrimSpace(text)
	before, _, found := strings.Cut(text, ":")
	return text, found && before == key.Value
}

// alternatives joins words as "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// isDigits reports whether `s` consists of one or more decimal digits.
func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// shown returns the word `s` of the file as a message shows it: quoted, or hidden if the file has
// secrets.
func (r *Reader) shown(prefix, s string) string {
	if r.secret {
		return strings.TrimSpace(prefix + "(not shown)")
	}
	return prefix + strconv.Quote(clip(s))
}

// clip bounds the length of a text that a message repeats.
func clip(s string) string {
	const most = 60
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// kindOf describes the kind of a node. If the author may have meant a string, `help` says how to
// write one.
func kindOf(n ast.Node) (what, help string) {
	const quote = "put it in quotes"
	switch n.(type) {
	case *ast.NullNode:
		return "empty", ""
	case *ast.BoolNode:
		return "a boolean", quote
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number", quote
	case *ast.StringNode, *ast.LiteralNode:
		return "a string", ""
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping", ""
	case *ast.SequenceNode:
		return "a list", ""
	}
	return "something else", ""
}
