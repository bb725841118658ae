package evaluation

import (
	"slices"
	"strings"
	"unicode"

	"github.com/omnigraph-go/omnigraph/internal/tokenizer"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Tool is a tool to evaluate.
type Tool struct {
	*tool.Descriptor
	Questions []string // what people ask when they need the tool
	Stored    bool     // the tool is a stored query, and its author may change its texts
}

// terms returns the terms by which the tool is found: those of its name and of its description.
func (t *Tool) terms() []string {
	return tokenizer.AppendTokens(tokenizer.AppendTokens(nil, strings.Join(words(t.Name), " ")), t.Description)
}

// words cuts a name at underscores, at other signs, and where an upper-case letter follows a
// lower-case one. It returns the words in lower case.
func words(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
		case unicode.IsUpper(r) && lower:
			b.WriteByte(' ')
			fallthrough
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		lower = unicode.IsLower(r)
	}
	return strings.Fields(b.String())
}

// gives reports whether a question contains the name of a tool: all words of the name, one after the
// other. Such a question would find the tool by its name, whatever the description says.
func gives(question, name string) bool {
	in, of := words(question), words(name)
	for i := 0; i+len(of) <= len(in) && len(of) > 0; i++ {
		if slices.Equal(in[i:i+len(of)], of) {
			return true
		}
	}
	return false
}
