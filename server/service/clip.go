package service

import (
	"slices"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/gq/diag"
)

// What was sent may be megabytes, and messages quote it.
const (
	maxMessage    = 16 << 10 // bytes of a fault's message; the lines of a hundred faults fit
	maxDiagnostic = 512      // bytes of one diagnostic's message, and of its help
)

// Clip cuts a text that is meant for a message, at the boundary of a character.
func Clip(message string) string { return clip(message, maxMessage) }

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

// clipped returns diagnostics whose texts are cut.
func clipped(list diag.List) diag.List {
	list = slices.Clone(list)
	for i := range list {
		list[i].Message, list[i].Help = clip(list[i].Message, maxDiagnostic), clip(list[i].Help, maxDiagnostic)
	}
	return list
}
