package builtin

import (
	"encoding/base64"
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
)

// sealToken encodes the end of a page as text that clients pass back unchanged. The token
// is not encrypted. It must contain only information that the page already shows, and
// nothing that a grant depends on.
func sealToken(position any) string {
	b, err := json.Marshal(position)
	if err != nil {
		panic(err) // structs of strings and numbers always encode
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// openToken decodes a token of sealToken. It reports whether the token is valid.
func openToken(token string, position any) bool {
	b, err := base64.RawURLEncoding.DecodeString(token)
	return err == nil && json.Unmarshal(b, position) == nil
}

func badToken(o *arguments.Object) {
	o.Fail("page_token", "found a token that no answer to this call has had", "leave it out to start over")
}
