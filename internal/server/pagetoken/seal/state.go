package seal

import (
	"crypto/rand"
	"encoding/base64"

	"golang.org/x/crypto/chacha20poly1305"
)

// stateLabel is authenticated with every state, so that a page token cannot be opened as a state.
var stateLabel = []byte("request state")

// maxState is the maximum length in characters of a text that OpenState accepts.
const maxState = 4 << 10

// SealState seals the state of a request that continues later. The text consists of letters, digits, -
// and _. OpenState accepts it if it has at most 4,096 characters.
func (s *Sealer) SealState(plain []byte) string {
	b := make([]byte, chacha20poly1305.NonceSizeX, 512)
	rand.Read(b) // does not fail
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(b, b, plain, stateLabel))
}

// OpenState returns what SealState sealed. It reports whether the text is such a state.
func (s *Sealer) OpenState(text string) (plain []byte, ok bool) {
	if len(text) > maxState {
		return nil, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < chacha20poly1305.NonceSizeX {
		return nil, false
	}
	plain, err = s.aead.Open(nil, b[:chacha20poly1305.NonceSizeX], b[chacha20poly1305.NonceSizeX:], stateLabel)
	return plain, err == nil
}
