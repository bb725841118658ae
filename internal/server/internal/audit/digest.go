package audit

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"sync"
)

// digester makes digests of arguments for the log. They are keyed, because an attacker could
// otherwise find many arguments by hashing all candidates: most arguments are short or have few
// possible values. The key is derived from the key of page tokens, which is stored, so digests stay
// the same after a restart.
type digester struct {
	key  []byte
	pool *sync.Pool // of hashes with the key that are not in use
}

// digestSize is the size of a digest in bytes. It is large enough to tell requests apart.
const digestSize = 8

// newDigester derives the key of the digests from the key of page tokens.
func newDigester(pageKey []byte) (digester, error) {
	key, err := hkdf.Key(sha256.New, pageKey, nil, "omnigraph digests of the log", sha256.Size)
	return digester{key, &sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}, err
}

// of returns the digest of the parts in hexadecimal. It hashes the length of each part
// before the part.
func (d digester) of(parts ...[]byte) string {
	return hex.EncodeToString(d.append(nil, parts...))
}

// append appends the digest of the parts to b.
func (d digester) append(b []byte, parts ...[]byte) []byte {
	h := d.pool.Get().(hash.Hash)
	defer d.pool.Put(h)
	h.Reset()
	for _, p := range parts {
		var n [8]byte
		for i := range n {
			n[i] = byte(len(p) >> (8 * i))
		}
		h.Write(n[:])
		h.Write(p)
	}
	return h.Sum(b)[:len(b)+digestSize]
}
