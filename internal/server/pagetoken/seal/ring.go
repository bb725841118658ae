package seal

import (
	"context"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

const (
	// MaxKeys is the number of keys whose tokens a Sealer opens.
	MaxKeys = 2

	// idSize is the length of the id of a key, in bytes.
	idSize = 4

	// readPause is the shortest time between two reads of the keys, so that tokens with false ids cause few
	// requests to the storage. readTime is the longest time that a read takes.
	readPause, readTime = time.Second, 5 * time.Second
)

// Keys are the keys of page tokens.
type Keys struct {
	// List is one or two keys, each [KeySize] bytes long. The first one seals; each one opens.
	List [][]byte

	// Again reads the keys again. It is nil if the keys stay the same while the process runs.
	Again func(context.Context) ([][]byte, error)

	// Unlimited opens tokens of any length. It is for a graph whose only client is in this process.
	Unlimited bool
}

// key is one key of a Sealer.
type key struct {
	id   [idSize]byte // stands in front of what the key seals
	aead cipher.AEAD
}

// newRing returns the keys of a Sealer.
func newRing(list [][]byte) ([]key, error) {
	if len(list) == 0 || len(list) > MaxKeys {
		return nil, fmt.Errorf("there are %d keys of page tokens, expected 1 to %d", len(list), MaxKeys)
	}
	ring := make([]key, len(list))
	for i, secret := range list {
		// The nonce of XChaCha20 is long enough that a random one for each token never repeats in practice.
		aead, err := chacha20poly1305.NewX(secret)
		if err != nil {
			return nil, fmt.Errorf("the key of page tokens has %d bytes, expected %d", len(secret), KeySize)
		}
		id, err := hkdf.Key(sha256.New, secret, nil, "omnigraph id of a key of page tokens", idSize)
		if err != nil {
			return nil, err
		}
		ring[i] = key{[idSize]byte(id), aead}
	}
	return ring, nil
}

// ring is the keys of a Sealer, and how to read them again.
type ring struct {
	again func(context.Context) ([][]byte, error) // see Keys
	keys  atomic.Pointer[[]key]                   // the first one seals

	reading sync.Mutex // held while `again` runs; guards readAt
	readAt  time.Time  // the start of the last call of `again`
}

// first returns the key that seals.
func (r *ring) first() key { return (*r.keys.Load())[0] }

// find returns the key with an id. If there is none, find reads the keys again: another server may seal with a
// newer one.
func (r *ring) find(id [idSize]byte) (key, bool) {
	if k, ok := r.known(id); ok || r.again == nil {
		return k, ok
	}
	r.reading.Lock()
	defer r.reading.Unlock()
	if now := clock.Now(); now.Sub(r.readAt) >= readPause {
		r.readAt = now
		ctx, cancel := context.WithTimeout(context.Background(), readTime)
		defer cancel()
		if list, err := r.again(ctx); err == nil {
			if keys, err := newRing(list); err == nil {
				r.keys.Store(&keys)
			}
		}
	}
	return r.known(id)
}

// known returns the key with an id, if it is among the keys that were read last.
func (r *ring) known(id [idSize]byte) (key, bool) {
	for _, k := range *r.keys.Load() {
		if k.id == id {
			return k, true
		}
	}
	return key{}, false
}
