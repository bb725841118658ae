package golang

import (
	"iter"
	"strings"

	"github.com/dave/jennifer/jen"
)

// comment adds text as line comments and keeps lines from being build constraints. jennifer
// would write a text of several lines as a block comment, which a */ in the text would end.
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
	comment(f, sentence)
	if more = strings.TrimSpace(more); more != "" {
		f.Comment("//")
		comment(f, more)
	}
}

// sayable keeps out of comments what Go source may not hold, and what gofmt drops.
func sayable(text string) string {
	for _, s := range []string{"\r", "\x00", "\uFEFF"} {
		if strings.Contains(text, s) { // seldom; the replacer would copy every text
			return unsayable.Replace(text)
		}
	}
	return text
}

var unsayable = strings.NewReplacer("\r", "", "\x00", "\uFFFD", "\uFEFF", "\uFFFD")
