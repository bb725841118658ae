// Package seal seals page tokens with a key, so that a client can neither read nor alter them.
// Only a server with the same key can open a token. A token is, in base64:
//
//	id      4 bytes, of the key
//	nonce   24 bytes, random
//	sealed  the plaintext of package pagetoken, sealed with XChaCha20-Poly1305
package seal

import (
	"crypto/rand"
	"encoding/base64"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
)

// KeySize is the length of a key in bytes.
const KeySize = chacha20poly1305.KeySize

// Sealer makes and opens page tokens. It is safe for concurrent use.
type Sealer struct {
	ring      ring
	unlimited bool // see Keys
}

// NewSealer returns a sealer with the keys.
func NewSealer(k Keys) (*Sealer, error) {
	keys, err := newRing(k.List)
	if err != nil {
		return nil, err
	}
	s := &Sealer{ring: ring{again: k.Again}, unlimited: k.Unlimited}
	s.ring.keys.Store(&keys)
	return s, nil
}

// seal seals a plaintext with the first key, and authenticates the label with it. The text consists of
// letters, digits, - and _.
func (s *Sealer) seal(plain, label []byte) string {
	const head = idSize + chacha20poly1305.NonceSizeX
	k := s.ring.first()
	b := make([]byte, head, head+len(plain)+chacha20poly1305.Overhead)
	copy(b, k.id[:])
	rand.Read(b[idSize:]) // does not fail
	return base64.RawURLEncoding.EncodeToString(k.aead.Seal(b, b[idSize:], plain, label))
}

// open returns the plaintext of a text that was sealed with one of the keys and the same label.
func (s *Sealer) open(text string, label []byte) (plain []byte, ok bool) {
	const head = idSize + chacha20poly1305.NonceSizeX
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	// The decoder skips line breaks.
	if err != nil || strings.ContainsAny(text, "\r\n") || len(b) < head+chacha20poly1305.Overhead {
		return nil, false
	}
	k, ok := s.ring.find([idSize]byte(b))
	if !ok {
		return nil, false
	}
	plain, err = k.aead.Open(nil, b[idSize:head], b[head:], label)
	return plain, err == nil
}

// maxToken is the maximum length in characters of a token that Open accepts. Most tokens have a few
// hundred. A token in a list of changes holds the id of an entity, and the length of such an id has
// no limit of its own.
const maxToken = 2 << 20

// Seal returns the token for a place. It consists of letters, digits, - and _.
func (s *Sealer) Seal(p *pagetoken.Place) string {
	return s.seal(pagetoken.Encode(p), nil)
}

// Open returns the place that a token encodes. The error is a *[pagetoken.Invalid].
func (s *Sealer) Open(token string) (*pagetoken.Place, error) {
	damaged := &pagetoken.Invalid{Reason: "is damaged, or this server did not make it"}
	if len(token) > maxToken && !s.unlimited {
		return nil, damaged
	}
	plain, ok := s.open(token, nil)
	if !ok {
		return nil, damaged
	}
	p, ok := pagetoken.Decode(plain)
	if !ok {
		return nil, &pagetoken.Invalid{Reason: "was made by another version of the server"}
	}
	return p, nil
}
