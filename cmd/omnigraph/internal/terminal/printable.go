package terminal

import (
	"strconv"
	"strings"
)

// Printable escapes characters that would move the cursor of a terminal or break a table.
func Printable(s string) string {
	if !strings.ContainsFunc(s, Unprintable) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if !Unprintable(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRune(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

// PrintableLines applies Printable to each line of a text such as a message. Parts of the text may
// come from a server or from stored data.
func PrintableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Unprintable reports whether a character cannot be shown.
func Unprintable(r rune) bool { return !strconv.IsPrint(r) }
