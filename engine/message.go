package engine

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// MaxMessage is the maximum length of the message of a commit, in bytes.
const MaxMessage = 1024

// CheckMessage checks the message of a commit: UTF-8 of at most [MaxMessage] bytes, without control characters except
// newlines. The empty message, which stands for none, is valid too. The error is a *BadArgument.
func CheckMessage(message string) error {
	bad := func(format string, args ...any) error {
		return &BadArgument{Param: "message", Detail: fmt.Sprintf(format, args...)}
	}
	if len(message) > MaxMessage {
		return bad("the message of the commit has %d bytes, expected at most %d; shorten it", len(message), MaxMessage)
	}
	for i := 0; i < len(message); {
		r, size := utf8.DecodeRuneInString(message[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return bad("the message of the commit is not UTF-8 at byte %d; send it as UTF-8", i+1)
		case r != '\n' && unicode.IsControl(r):
			return bad("the message of the commit has the control character %U at byte %d, expected text and newlines; leave it out", r, i+1)
		}
		i += size
	}
	return nil
}
