package golang

import (
	"go/format"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// comment adds text as line comments, none of which is a build constraint. A bare text
// of several lines is a block comment to jennifer, and could be ended by what it says.
func comment(to interface{ Comment(string) *jen.Statement }, text string) {
	for line := range commentLines(text) {
		to.Comment(line)
	}
}

// commentLines yields the lines of a comment that says text.
func commentLines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(strings.TrimSpace(sayable(text))) {
			line = strings.TrimRight(line, " \t\n")
			switch {
			case line == "":
				line = "//"
			case strings.HasPrefix(line, "+build"):
				line = `// \` + line
			default:
				line = "// " + line
			}
			if !yield(line) {
				return
			}
		}
	}
}

// doc adds the comment of a declaration: a sentence, and under it a text of the sources.
func doc(f *jen.File, sentence, more string) {
	more = strings.TrimSpace(more)
	if more == "" || plain(more) {
		comment(f, sentence)
		if more != "" {
			f.Comment("//")
			comment(f, more)
		}
		return
	}
	lines := slices.Collect(commentLines(sentence))
	lines = append(lines, "//")
	lines = slices.AppendSeq(lines, commentLines(more))
	for line := range strings.Lines(formatDoc(strings.Join(lines, "\n") + "\n")) {
		f.Comment(strings.TrimSuffix(line, "\n"))
	}
}

// sayable keeps out of comments what Go source may not hold, and what gofmt drops.
func sayable(text string) string {
	for _, s := range []string{"\r", "\x00", "\uFEFF"} {
		if strings.Contains(text, s) { // seldom, and the replacer copies whatever it reads
			return unsayable.Replace(text)
		}
	}
	return text
}

var unsayable = strings.NewReplacer("\r", "", "\x00", "\uFFFD", "\uFEFF", "\uFFFD")

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
func formatDoc(comment string) string {
	const before, after = "package p\n\n", "func f()\n"
	src, err := format.Source([]byte(before + comment + after))
	if err != nil {
		panic("codegen: format a comment: " + err.Error())
	}
	return string(src[len(before) : len(src)-len(after)])
}
