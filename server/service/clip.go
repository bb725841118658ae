package service

import "unicode/utf8"

// maxMessage is the most bytes of a fault's message: what was sent may be megabytes, and
// a message quotes it. The lines of a hundred faults fit.
const maxMessage = 16 << 10

// Clip cuts a text that is meant for a message, at the boundary of a character.
func Clip(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	end := maxMessage
	for end > 0 && !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + "… (cut)"
}
