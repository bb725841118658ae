package wireerror

import (
	"slices"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// Limits on quoted text. Messages quote what a client sent, which may be megabytes.
const (
	maxMessage    = 16 << 10 // bytes of a fault's message; enough for the lines of a hundred faults
	maxDiagnostic = 512      // bytes of one diagnostic's message, and of its help
)

// Clip shortens a text for a message. It cuts between characters.
func Clip(message string) string { return clip(message, maxMessage) }

// clip keeps at most `most` bytes of a message, and marks a shortened message.
func clip(message string, most int) string {
	if len(message) <= most {
		return message
	}
	end := most
	for end > 0 && !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + "… (cut)"
}

// clipped returns the diagnostics with shortened texts.
func clipped(list diag.List) diag.List {
	list = slices.Clone(list)
	for i := range list {
		list[i].Message, list[i].Help = clip(list[i].Message, maxDiagnostic), clip(list[i].Help, maxDiagnostic)
	}
	return list
}
