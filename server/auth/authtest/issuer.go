// Package authtest starts an issuer of tokens for tests.
package authtest

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// Audience is what the server is called at the issuer.
const Audience = "api://omnigraph"

// Key is one that an issuer signs with and, if it is published, tells the public half of.
type Key struct {
	ID      string
	Private crypto.Signer
	Alg     jose.SignatureAlgorithm // to sign with

	// What is published beside the public half.
	PublishedAlg, Use string
}

// NewKey makes a key for an algorithm, published as one that signs in it.
func NewKey(t testing.TB, id string, alg jose.SignatureAlgorithm) *Key {
	t.Helper()
	var private crypto.Signer
	var err error
	switch alg {
	case jose.ES256:
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case jose.ES384:
		private, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case jose.ES512:
		private, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case jose.EdDSA:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	default:
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &Key{ID: id, Private: private, Alg: alg, PublishedAlg: string(alg), Use: "sig"}
}

// Issuer answers with its discovery document and its keys on this machine.
type Issuer struct {
	URL string
	Now func() time.Time // the clock for the dates in tokens; set it before the first one

	mu       sync.Mutex
	keys     []*Key
	document []byte // in place of the keys
	named    string // in place of URL
	keysAt   string // in place of where the keys are
	sentTo   string // in place of the keys
	down     bool
	wait     chan struct{} // closed when answers may go on; nil for at once
	fetches  int
	token    string // of its token endpoint
}

// New starts an issuer that publishes keys.
func New(t testing.TB, keys ...*Key) *Issuer {
	t.Helper()
	i := &Issuer{keys: keys, Now: clock.Now}
	ts := httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(ts.Close)
	i.URL = ts.URL
	return i
}

// Publish replaces the keys.
func (i *Issuer) Publish(keys ...*Key) { i.set(func() { i.keys, i.document = keys, nil }) }

// PublishText replaces what the issuer answers when it is asked for its keys.
func (i *Issuer) PublishText(document string) { i.set(func() { i.document = []byte(document) }) }

// CallItself replaces the issuer's name in its discovery document.
func (i *Issuer) CallItself(name string) { i.set(func() { i.named = name }) }

// KeysAt replaces where the discovery document says that the keys are.
func (i *Issuer) KeysAt(url string) { i.set(func() { i.keysAt = url }) }

// SendTo sends whoever asks for the keys elsewhere.
func (i *Issuer) SendTo(url string) { i.set(func() { i.sentTo = url }) }

// Down lets the issuer answer nothing but status 503, or brings it back.
func (i *Issuer) Down(down bool) { i.set(func() { i.down = down }) }

// Hold keeps answers back until the channel is closed.
func (i *Issuer) Hold(until chan struct{}) { i.set(func() { i.wait = until }) }

// Grant lets the issuer give a token to whoever comes with a code.
func (i *Issuer) Grant(token string) { i.set(func() { i.token = token }) }

// Fetches is how often the discovery document was asked for.
func (i *Issuer) Fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

func (i *Issuer) set(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	if r.URL.Path == "/.well-known/openid-configuration" {
		i.fetches++
	}
	wait := i.wait
	i.mu.Unlock()
	if wait != nil {
		<-wait
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path == "/.well-known/openid-configuration":
		name, keysAt := cmp.Or(i.named, i.URL), cmp.Or(i.keysAt, i.URL+"/keys")
		// Beside what keys are found by, what clients of an authorization server want.
		answer(w, map[string]any{
			"issuer": name, "jwks_uri": keysAt, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		})
	case r.URL.Path == "/keys" && i.sentTo != "":
		http.Redirect(w, r, i.sentTo, http.StatusFound)
	case r.URL.Path == "/keys" && i.document != nil:
		_, _ = w.Write(i.document)
	case r.URL.Path == "/keys":
		set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
		for _, k := range i.keys {
			set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.Private.Public(), KeyID: k.ID, Algorithm: k.PublishedAlg, Use: k.Use})
		}
		answer(w, set)
	case r.URL.Path == "/token" && r.Method == http.MethodPost && i.token != "":
		answer(w, map[string]any{"access_token": i.token, "token_type": "Bearer", "expires_in": 3600})
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// Claims are those of a good token of the issuer for a subject, with others over them;
// nil takes a claim away.
func (i *Issuer) Claims(subject string, over map[string]any) map[string]any {
	now := i.Now().Unix()
	c := map[string]any{"iss": i.URL, "sub": subject, "aud": Audience, "iat": now, "nbf": now, "exp": now + 3600}
	maps.Copy(c, over)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// Token is a good token of the issuer for a subject, as Claims says, signed with a key.
func (i *Issuer) Token(t testing.TB, key *Key, subject string, over map[string]any) string {
	t.Helper()
	return Sign(t, key.Private, key.Alg, map[string]any{"kid": key.ID, "typ": "at+jwt"}, i.Claims(subject, over))
}

// Sign signs claims with a key: one of those of this package, or the bytes of an HMAC's.
func Sign(t testing.TB, key any, alg jose.SignatureAlgorithm, header, claims map[string]any) string {
	t.Helper()
	options := &jose.SignerOptions{}
	for name, v := range header {
		options.WithHeader(jose.HeaderKey(name), v)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, options)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Slices are the pieces of a token that no log and no answer may show.
func Slices(token string) [][]byte {
	const size = 8
	var all [][]byte
	for i := range max(0, len(token)-size+1) {
		all = append(all, []byte(token[i:i+size]))
	}
	return all
}

// Shown says which piece of a token a text shows, or nothing.
func Shown(text []byte, token string) error {
	for _, piece := range Slices(token) {
		if i := bytes.Index(text, piece); i >= 0 {
			return fmt.Errorf("%q of a token shows in …%s…", piece, text[max(0, i-40):min(len(text), i+48)])
		}
	}
	return nil
}
