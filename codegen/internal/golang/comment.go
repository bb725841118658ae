package golang

import (
	"iter"
	"strings"

	"github.com/dave/jennifer/jen"
)

// comment adds the given text as line comments and prevents lines from being read as build
// constraints. jennifer would write a text of several lines as a block comment, which a */ in the
// text would end early.
func comment(to interface{ Comment(string) *jen.Statement }, text string) {
	for line := range commentLines(text) {
		to.Comment(line)
	}
}

// commentLines yields the lines of a comment with the given text.
func commentLines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(strings.TrimSpace(cleanText(text))) {
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

// doc adds the comment of a declaration: a sentence, followed by a paragraph from the sources.
func doc(f *jen.File, sentence, more string) {
	comment(f, sentence)
	if more = strings.TrimSpace(more); more != "" {
		f.Comment("//")
		comment(f, more)
	}
}

// cleanText removes the characters that Go source must not contain, and those that gofmt drops.
func cleanText(text string) string {
	for _, s := range []string{"\r", "\x00", "\uFEFF"} {
		if strings.Contains(text, s) { // such characters are rare, and the replacer would copy every text
			return textCleaner.Replace(text)
		}
	}
	return text
}

// textCleaner replaces the characters that a Go comment cannot contain.
var textCleaner = strings.NewReplacer("\r", "", "\x00", "\uFFFD", "\uFEFF", "\uFFFD")
