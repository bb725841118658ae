package builtin

import (
	"encoding/base64"
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// sealToken writes where a page ended as text that clients only pass back. It holds
// nothing that the page did not say, and nothing that a grant depends on.
func sealToken(position any) string {
	b, err := json.Marshal(position)
	if err != nil {
		panic(err) // structs of strings and numbers
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// openToken reads what sealToken wrote.
func openToken(token string, position any) bool {
	b, err := base64.RawURLEncoding.DecodeString(token)
	return err == nil && json.Unmarshal(b, position) == nil
}

func badToken(o *tool.Object) {
	o.Fail("page_token", "found a token that no answer to this call has had", "leave it out to start over")
}
