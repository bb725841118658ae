// Package page seals the place of a reader in the rows of a read into an opaque token,
// and opens it again.
package page

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/omnigraph-go/omnigraph/server/place"
)

// KeySize is the length of a key in bytes.
const KeySize = chacha20poly1305.KeySize

// Sealer makes and opens tokens. It is safe for concurrent use.
type Sealer struct{ aead cipher.AEAD }

// NewSealer returns the sealer of a key, which is [KeySize] bytes long.
func NewSealer(key []byte) (*Sealer, error) {
	// Its nonce is long enough to be drawn at random for every token, for ever.
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("the key of page tokens has %d bytes, wanted %d", len(key), KeySize)
	}
	return &Sealer{aead}, nil
}

// maxToken bounds, in characters, what is taken for a token: ids of graphs, actors and
// branches are far shorter than this.
const maxToken = 4096

// Seal returns the token of a place: letters, digits, - and _.
func (s *Sealer) Seal(p *place.Place) string {
	b := make([]byte, chacha20poly1305.NonceSizeX, 256)
	rand.Read(b) // does not fail
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(b, b, encode(p), nil))
}

// Open returns the place of a token. The error is a *[place.Invalid].
func (s *Sealer) Open(token string) (*place.Place, error) {
	damaged := &place.Invalid{Reason: "is damaged, or none of this server's"}
	if len(token) > maxToken {
		return nil, damaged
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) < chacha20poly1305.NonceSizeX {
		return nil, damaged
	}
	plain, err := s.aead.Open(nil, b[:chacha20poly1305.NonceSizeX], b[chacha20poly1305.NonceSizeX:], nil)
	if err != nil {
		return nil, damaged
	}
	p, ok := decode(plain)
	if !ok {
		return nil, &place.Invalid{Reason: "was made by another version of the server"}
	}
	return p, nil
}
