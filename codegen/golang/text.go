package golang

import (
	"go/format"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/codegen/model"
)

// writer holds the declarations of a file under writing, and the packages they use.
type writer struct {
	b       []byte
	imports []string // paths, each once
}

// file returns the file of the declarations written so far, under a package comment if
// there is one.
func (w *writer) file(p *model.Package, comment string) []byte {
	var head writer
	head.line(Header)
	head.line()
	if comment != "" {
		head.line("// ", comment)
	}
	head.line("package ", p.GoName)
	slices.Sort(w.imports)
	switch len(w.imports) {
	case 0:
	case 1:
		head.line()
		head.line("import ", strconv.Quote(w.imports[0]))
	default:
		head.line()
		head.line("import (")
		for _, path := range w.imports {
			head.line("\t", strconv.Quote(path))
		}
		head.line(")")
	}
	return slices.Concat(head.b, w.b)
}

// line writes a line of parts.
func (w *writer) line(parts ...string) {
	w.text(parts...)
	w.b = append(w.b, '\n')
}

func (w *writer) text(parts ...string) {
	for _, p := range parts {
		w.b = append(w.b, p...)
	}
}

func (w *writer) use(path string) {
	if !slices.Contains(w.imports, path) {
		w.imports = append(w.imports, path)
	}
}

// value returns a name of package value, qualified.
func (w *writer) value(name string) string {
	w.use(valuePath)
	return "value." + name
}

// doc writes the comment of a declaration: a sentence, and under it a text of the
// sources.
func (w *writer) doc(sentence, more string) {
	var c writer
	c.comment("", sentence)
	if more = strings.TrimSpace(more); more != "" {
		c.line("//")
		c.comment("", more)
	}
	if more != "" && !plain(more) {
		c.b = formatDoc(c.b)
	}
	w.b = append(w.b, c.b...)
}

// comment writes text as line comments, none of which is a build constraint.
func (w *writer) comment(indent, text string) {
	for line := range strings.Lines(strings.TrimSpace(sayable.Replace(text))) {
		line = strings.TrimRight(line, " \t\n")
		if line == "" {
			w.line(indent, "//")
			continue
		}
		if strings.HasPrefix(line, "+build") {
			line = `\` + line
		}
		w.line(indent, "// ", line)
	}
}

// sayable keeps out of comments what Go source may not hold, and what gofmt drops.
var sayable = strings.NewReplacer("\r", "", "\x00", "\uFFFD", "\uFEFF", "\uFFFD")

// plain reports whether gofmt leaves a text alone in the comment of a declaration: one
// paragraph, no line of which could be a list, code, a heading or a link.
func plain(text string) bool {
	if strings.Contains(text, "``") || strings.Contains(text, "''") {
		return false // quotation marks to be
	}
	for line := range strings.Lines(text) {
		c, _ := utf8.DecodeRuneInString(line)
		if c != '`' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// formatDoc lets gofmt bring a comment into the form of a declaration's.
func formatDoc(comment []byte) []byte {
	const before, after = "package p\n\n", "func f()\n"
	src, err := format.Source(slices.Concat([]byte(before), comment, []byte(after)))
	if err != nil {
		panic("codegen: format a comment: " + err.Error())
	}
	return src[len(before) : len(src)-len(after)]
}

// member is a field of a struct.
type member struct{ doc, name, typ, tag string }

// structType writes the rest of a struct type and ends the line: names, types and tags
// stand in columns between the comments.
func (w *writer) structType(members []member) {
	if len(members) == 0 {
		w.line("struct{}")
		return
	}
	w.line("struct {")
	for i := 0; i < len(members); {
		w.comment("\t", members[i].doc)
		end := i + 1
		for end < len(members) && strings.TrimSpace(members[end].doc) == "" {
			end++
		}
		names, types := 0, 0
		for _, m := range members[i:end] {
			names, types = max(names, width(m.name)), max(types, width(m.typ))
		}
		for _, m := range members[i:end] {
			w.line("\t", m.name, pad(m.name, names), m.typ, pad(m.typ, types), quoted(m.tag))
		}
		i = end
	}
	w.line("}")
}

// pair is a member of a composite literal that takes one line.
type pair struct{ key, value string }

// literalVar writes a variable that points to a composite literal.
func (w *writer) literalVar(name, typ string, pairs []pair) {
	w.line()
	w.line("var ", name, " = &", typ, "{")
	keys := 0
	for _, p := range pairs {
		keys = max(keys, width(p.key))
	}
	for _, p := range pairs {
		w.line("\t", p.key, ":", pad(p.key, keys), p.value, ",")
	}
	w.line("}")
}

func width(s string) int { return utf8.RuneCountInString(s) }

const spaces = "                                                                "

// pad returns the spaces between s and what follows it in a column of a width.
func pad(s string, to int) string {
	n := to + 1 - width(s)
	if n <= len(spaces) {
		return spaces[:n]
	}
	return strings.Repeat(" ", n)
}

// quoted returns a string literal, raw where Go can say it so.
func quoted(s string) string {
	if strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// quotedList returns the literal of a []string.
func quotedList(list []string) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = strconv.Quote(s)
	}
	return "[]string{" + strings.Join(parts, ", ") + "}"
}
