package metatools

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// shortWord is the length of the shortest word that may be taken for a misspelt one. Many shorter words
// differ in one letter: get and set, note and node.
const shortWord = 5

// commonWords are words of tools. A name that has one of them means it.
var commonWords = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq("apply branch changes commit create delete describe detach entity explain graph health insert merge " +
		"mutate person proposal query reference remote remove rename replace report repeat resolve restore review schema search snapshot source " +
		"stored submit update upload upsert validate") {
		all[word] = true
	}
	return all
}()

// OnlyMisspelt reports whether a name is the other name in another spelling: the words are the same, apart from
// case and separators, or one long word has one wrong, missing, extra or swapped letter and is no word of
// a tool itself. An error must suggest a tool that writes only then. Otherwise a caller that
// wanted to merge a branch, or to read a note, could be led to delete the branch or to overwrite the note.
func OnlyMisspelt(name, meant string) bool {
	typed, wanted := words(name), words(meant)
	if strings.Join(typed, "") == strings.Join(wanted, "") {
		return true
	}
	if len(typed) != len(wanted) {
		return false
	}
	wrong := 0
	for i := range typed {
		if typed[i] == wanted[i] {
			continue
		}
		wrong++
		if len(typed[i]) < shortWord || commonWords[typed[i]] || !diag.OneSlip(typed[i], wanted[i]) {
			return false
		}
	}
	return wrong == 1
}

// words splits a name at its separators and capital letters, and returns the parts in lower case.
func words(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.' || r == ' ':
			b.WriteByte(' ')
			lower = false
			continue
		case lower && r >= 'A' && r <= 'Z':
			b.WriteByte(' ')
		}
		lower = r >= 'a' && r <= 'z'
		b.WriteRune(r)
	}
	return strings.Fields(strings.ToLower(b.String()))
}
