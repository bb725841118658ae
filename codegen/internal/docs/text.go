package docs

import (
	"regexp"
	"strings"
)

// markup matches the characters that GitHub's Markdown would read as markup, as HTML, or as the part of an
// address that makes it a link. An underscore within a word is none of these.
var markup = regexp.MustCompile("[\\\\`*<>&\\[\\]~$@]|\\b_+|_+\\b|:\\S|(?i:\\bwww\\.)")

// lineStart matches the beginning of a line that Markdown would read as a heading, a list, a rule or code.
var lineStart = regexp.MustCompile(`(?m)^[ \t]*([#+=-]|\d+[.)])?`)

// plain returns a text of an author or an agent so that a Markdown page shows it as it is.
func plain(text string) string {
	text = markup.ReplaceAllStringFunc(text, func(s string) string {
		switch {
		case strings.HasPrefix(s, ":"):
			return `\:` + plain(s[1:])
		case s[0] == '_':
			return strings.Repeat(`\_`, len(s))
		case strings.HasSuffix(s, "."):
			return s[:len(s)-1] + `\.`
		}
		return `\` + s
	})
	return lineStart.ReplaceAllStringFunc(text, func(s string) string {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return s
		}
		return s[:len(s)-1] + `\` + s[len(s)-1:]
	})
}

// code returns a text as code within a line. Its fence is longer than each run of backticks in the text.
func code(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		text = " " + text + " "
	}
	return fence + text + fence
}
