// Package strictyaml reads YAML configuration strictly. Every fault has a position, and one run
// reports all faults of a file.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// The limits of a file. They are far above the needs of configuration. They also keep the recursive
// parser of the YAML library within its stack.
const (
	MaxBytes  = 256 << 10 // size of a file
	MaxDepth  = 64        // nesting of flow collections, and of list entries that start on one line
	MaxFaults = 200       // number of reported faults; further faults are only counted
)

// Reader holds a file and the faults that were found in it so far.
type Reader struct {
	file     string    // name of the file
	src      []byte    // content of the file
	lines    []int     // byte offset of the start of each line
	secret   bool      // the file holds secrets, so messages must not quote it
	root     *Node     // the top node; nil if the file could not be read
	faults   diag.List // the faults found so far
	unlisted int       // number of faults beyond MaxFaults
}

// Read parses src. The argument `file` is the name of src in error messages. The root is nil if the
// file is empty or cannot be parsed at all; if it cannot be parsed, Faults gives the reason.
func Read(file string, src []byte) *Reader { return read(file, src, false) }

// ReadSecret is like Read, but for a file with secret text. Error messages must not contain this
// text, so they contain only positions.
func ReadSecret(file string, src []byte) *Reader { return read(file, src, true) }

// Root returns the topmost value of the file, or nil if there is none.
func (r *Reader) Root() *Node { return r.root }

// Faults returns the faults found so far, in the order of the text.
func (r *Reader) Faults() diag.List {
	r.faults.Sort()
	if r.unlisted == 0 {
		return r.faults
	}
	last := r.faults[len(r.faults)-1].Span
	return append(slices.Clone(r.faults), diag.Diagnostic{
		Code: TooLarge, Severity: diag.Note, Span: last, Message: fmt.Sprintf("%d more faults are not listed", r.unlisted),
	})
}

// Whole reports a fault that concerns the whole file.
func (r *Reader) Whole(code diag.Code, message, help string) {
	at := diag.Pos{Line: 1, Column: 1}
	r.report(diag.Error, code, func() diag.Span { return diag.Span{File: r.file, Start: at, End: at} }, message, help)
}

// read parses a file.
func read(file string, src []byte, secret bool) *Reader {
	src = bytes.TrimPrefix(src, []byte("\ufeff")) // Windows editors write this mark before the text
	r := &Reader{file: file, src: src, secret: secret, lines: []int{0}}
	for i, b := range src {
		if b == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	if r.checkText() {
		r.parse()
	}
	return r
}

// checkText checks the text before the YAML library parses it.
func (r *Reader) checkText() bool {
	if len(r.src) > MaxBytes {
		r.Whole(TooLarge, fmt.Sprintf("the file has %d bytes, expected at most %d", len(r.src), MaxBytes), "split it")
		return false
	}
	for i := 0; i < len(r.src); {
		c, n := utf8.DecodeRune(r.src[i:])
		bad := ""
		switch {
		case c == utf8.RuneError && n == 1:
			bad = fmt.Sprintf("byte 0x%02x is not UTF-8", r.src[i])
		case c < ' ' && c != '\n' && c != '\t' && !(c == '\r' && i+1 < len(r.src) && r.src[i+1] == '\n'), c == 0x7f:
			bad = fmt.Sprintf("control character %U", c)
		}
		if bad != "" {
			at := r.posAt(i)
			r.report(diag.Error, Syntax, func() diag.Span { return diag.Span{File: r.file, Start: at, End: at} }, bad, "write the file as UTF-8 text")
			return false
		}
		i += n
	}
	return true
}

// parse calls the YAML library, which panics on some malformed input.
func (r *Reader) parse() {
	defer func() {
		if p := recover(); p != nil {
			r.root = nil
			r.Whole(Undetermined, "the YAML library failed on this file", "look for unbalanced quotes or brackets")
		}
	}()
	// In some places the library counts a carriage return as a line of its own.
	tokens := lexer.Tokenize(strings.ReplaceAll(string(r.src), "\r\n", "\n"))
	if !r.checkPlain(tokens) {
		return
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return
	}
	for _, d := range f.Docs {
		if d.Body == nil {
			continue
		}
		if r.root != nil {
			r.root.Fault(Syntax, "the file holds several documents, expected one", "remove the line ---")
			return
		}
		r.root = &Node{r: r, n: d.Body}
	}
}

// checkPlain rejects the parts of YAML that configuration does not use. It works on the tokens, so
// that no alias is expanded and no deep nesting is parsed.
func (r *Reader) checkPlain(tokens token.Tokens) bool {
	depth, entries, line := 0, 0, 0
	for i, tk := range tokens {
		what := ""
		switch tk.Type {
		case token.AnchorType:
			what = "an anchor"
		case token.AliasType:
			what = "an alias"
		case token.TagType:
			what = "a tag"
		case token.MergeKeyType:
			what = "a merge key"
		case token.DirectiveType:
			what = "a directive"
		case token.MappingKeyType:
			what = "an explicit key"
		case token.DocumentHeaderType:
			if i > 0 && tokens[i-1].Type != token.CommentType {
				what = "a second document"
			}
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			if tk.Position.Line != line {
				line, entries = tk.Position.Line, 0
			}
			entries++
		}
		if what != "" {
			r.report(diag.Error, Syntax, func() diag.Span { return r.tokenSpan(tk) }, what+" is not allowed here", "write the value in plain YAML")
			return false
		}
		if depth > MaxDepth || entries > MaxDepth {
			r.report(diag.Error, TooLarge, func() diag.Span { return r.tokenSpan(tk) }, fmt.Sprintf("the file is nested more than %d levels deep", MaxDepth), "flatten it")
			return false
		}
	}
	return true
}

// yamlHelp says what to look for, because the message of the library names only the place where it gave up.
const yamlHelp = "look at this line and the one before it: indent with spaces, write a blank after each colon, close every quote and bracket, and quote a text that begins with a special character"

// syntax reports an error of the YAML library.
func (r *Reader) syntax(err error) {
	var ye yaml.Error
	if !errors.As(err, &ye) || ye.GetToken() == nil {
		r.Whole(Syntax, "not YAML", yamlHelp)
		return
	}
	message := "not YAML: " + ye.GetMessage()
	if r.secret {
		message = "not YAML"
	}
	r.report(diag.Error, Syntax, func() diag.Span { return r.tokenSpan(ye.GetToken()) }, message, yamlHelp)
}

// report takes the position as a function, because finding a position costs time in proportion to
// its line. In a hostile file with many faults, that cost would add up.
func (r *Reader) report(sev diag.Severity, code diag.Code, where func() diag.Span, message, help string) {
	if len(r.faults) >= MaxFaults {
		r.unlisted++
		return
	}
	span := where()
	r.faults = append(r.faults, diag.Diagnostic{Code: code, Severity: sev, Span: span, Message: message, Help: help})
}

// posAt returns the position of a byte offset.
func (r *Reader) posAt(offset int) diag.Pos {
	line, found := slices.BinarySearch(r.lines, offset)
	if !found {
		line--
	}
	return diag.Pos{Offset: offset, Line: line + 1, Column: utf8.RuneCount(r.src[r.lines[line]:offset]) + 1}
}

// tokenSpan returns the position of a token. It computes offsets from line and column, because the
// library's offsets use another unit than Pos.
func (r *Reader) tokenSpan(tk *token.Token) diag.Span {
	span := diag.Span{File: r.file}
	if tk == nil || tk.Position == nil {
		span.Start = diag.Pos{Line: 1, Column: 1}
		span.End = span.Start
		return span
	}
	line := min(max(tk.Position.Line, 1), len(r.lines))
	at, end := r.lines[line-1], len(r.src)
	if line < len(r.lines) {
		end = r.lines[line] - 1
	}
	for range tk.Position.Column - 1 {
		if at >= end {
			break
		}
		_, n := utf8.DecodeRune(r.src[at:])
		at += n
	}
	text, _, _ := strings.Cut(strings.TrimSpace(tk.Origin), "\n")
	span.Start = r.posAt(at)
	span.End = r.posAt(min(at+len(text), max(end, at)))
	return span
}

// firstToken returns the first token of a node. For a mapping the library returns the delimiter of
// the first entry, so firstToken returns the key's token instead.
func firstToken(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return firstToken(n.Values[0].Key)
		}
		return n.Start
	case *ast.MappingValueNode:
		return firstToken(n.Key)
	default:
		return n.GetToken()
	}
}
