// Package instead says what a text of another language lacks: what to use instead of its constructs, a query over the types that it
// names, and constructs for its words.
package instead

import (
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
)

// Notes says what to use instead of the constructs of a text that have no counterpart, in at most two
// notes.
func Notes(s *catalog.Schema, text string) []string {
	tokens, ok := lex.TokensOf(text)
	if !ok {
		return nil
	}
	return missing(s, tokens)
}
