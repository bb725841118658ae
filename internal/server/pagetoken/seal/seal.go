// Package seal seals page tokens with a key, so that a client can neither read nor alter them.
// Only a server with the same key can open a token.
package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
)

// KeySize is the length of a key in bytes.
const KeySize = chacha20poly1305.KeySize

// Sealer makes and opens page tokens. It is safe for concurrent use.
type Sealer struct{ aead cipher.AEAD }

// NewSealer returns a sealer with the key, which must be [KeySize] bytes long.
func NewSealer(key []byte) (*Sealer, error) {
	// The nonce of XChaCha20 is long enough that a random one for each token never repeats
	// in practice.
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("the key of page tokens has %d bytes, expected %d", len(key), KeySize)
	}
	return &Sealer{aead}, nil
}

// maxToken is the maximum length in characters of a token that Open accepts. Most tokens have a few
// hundred. A token in a list of changes holds the id of an entity, and the length of such an id has
// no limit of its own.
const maxToken = 2 << 20

// Seal returns the token for a place. It consists of letters, digits, - and _.
func (s *Sealer) Seal(p *pagetoken.Place) string {
	b := make([]byte, chacha20poly1305.NonceSizeX, 256)
	rand.Read(b) // does not fail
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(b, b, pagetoken.Encode(p), nil))
}

// Open returns the place that a token encodes. The error is a *[pagetoken.Invalid].
func (s *Sealer) Open(token string) (*pagetoken.Place, error) {
	damaged := &pagetoken.Invalid{Reason: "is damaged, or this server did not make it"}
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
	p, ok := pagetoken.Decode(plain)
	if !ok {
		return nil, &pagetoken.Invalid{Reason: "was made by another version of the server"}
	}
	return p, nil
}
