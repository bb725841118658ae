// Package authtest runs an OpenID Connect issuer for tests.
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

// Audience is the name of the server at the issuer.
const Audience = "api://omnigraph"

// Key is a signing key of an issuer. The issuer's key set has the public half of each published
// key.
type Key struct {
	ID      string
	Private crypto.Signer           // signs tokens
	Alg     jose.SignatureAlgorithm // the algorithm to sign with

	// PublishedAlg and Use are published together with the public half.
	PublishedAlg, Use string
}

// NewKey makes a key for an algorithm. The key is published as a signing key of that algorithm.
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

// Issuer is an HTTP server on this machine that serves a discovery document and keys.
type Issuer struct {
	URL string           // address of the server, and the issuer's name
	Now func() time.Time // the clock for the dates in tokens; set it before the first token

	mu           sync.Mutex
	keys         []*Key        // the published keys
	document     []byte        // replaces the key set
	named        string        // replaces URL as the issuer's name
	keysAt       string        // replaces the address of the keys
	redirectKeys string        // where requests for the keys are redirected
	down         bool          // answer every request with 503
	wait         chan struct{} // answers wait until it is closed; nil means that they do not wait
	fetches      int           // number of fetches of the discovery document
	token        string        // the token that the token endpoint returns
	logins       *Logins       // lets people log in; nil if nobody can
}

// New starts an issuer that publishes keys. It stops when the test ends.
func New(t testing.TB, keys ...*Key) *Issuer {
	t.Helper()
	i := &Issuer{keys: keys, Now: clock.Now}
	ts := httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(ts.Close)
	i.URL = ts.URL
	return i
}

// Publish replaces the keys and undoes PublishText.
func (i *Issuer) Publish(keys ...*Key) { i.set(func() { i.keys, i.document = keys, nil }) }

// PublishText makes the issuer answer requests for its keys with the text `document`.
func (i *Issuer) PublishText(document string) { i.set(func() { i.document = []byte(document) }) }

// CallItself sets the issuer's name in its discovery document.
func (i *Issuer) CallItself(name string) { i.set(func() { i.named = name }) }

// KeysAt sets the address of the keys in the discovery document.
func (i *Issuer) KeysAt(url string) { i.set(func() { i.keysAt = url }) }

// SendTo redirects requests for the keys to the given URL.
func (i *Issuer) SendTo(url string) { i.set(func() { i.redirectKeys = url }) }

// Down makes the issuer answer every request with status 503. Down(false) makes it answer normally
// again.
func (i *Issuer) Down(down bool) { i.set(func() { i.down = down }) }

// Hold delays answers until the channel is closed.
func (i *Issuer) Hold(until chan struct{}) { i.set(func() { i.wait = until }) }

// Grant makes the token endpoint return the given token in exchange for a code.
func (i *Issuer) Grant(token string) { i.set(func() { i.token = token }) }

// Fetches returns how often the discovery document was requested.
func (i *Issuer) Fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

// set calls f with mu locked.
func (i *Issuer) set(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
}

// serve answers a request for the discovery document or for the keys.
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
		// The document has the fields for finding the keys, and the fields that clients of an
		// authorization server need.
		document := map[string]any{
			"issuer": name, "jwks_uri": keysAt, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		}
		if i.logins != nil {
			i.logins.describe(i.URL, document)
		}
		answer(w, document)
	case i.logins.serve(w, r, i.URL):
	case r.URL.Path == "/keys" && i.redirectKeys != "":
		http.Redirect(w, r, i.redirectKeys, http.StatusFound)
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

// answer writes v as JSON.
func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// Claims returns the claims of a valid token for the given subject. The map `over` replaces or
// extends these claims; a nil value removes a claim.
func (i *Issuer) Claims(subject string, over map[string]any) map[string]any {
	now := i.Now().Unix()
	c := map[string]any{"iss": i.URL, "sub": subject, "aud": Audience, "iat": now, "nbf": now, "exp": now + 3600}
	maps.Copy(c, over)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// Token returns a valid token for the given subject, signed with the given key. It contains the
// claims that Claims returns for the subject and `over`.
func (i *Issuer) Token(t testing.TB, key *Key, subject string, over map[string]any) string {
	t.Helper()
	return Sign(t, key.Private, key.Alg, map[string]any{"kid": key.ID, "typ": "at+jwt"}, i.Claims(subject, over))
}

// Sign signs claims with a key: the private key of a Key, or the bytes of an HMAC key.
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

// TokenPieces returns the pieces of a token that must not appear in a log or an answer.
func TokenPieces(token string) [][]byte {
	const size = 8
	var all [][]byte
	for i := range max(0, len(token)-size+1) {
		all = append(all, []byte(token[i:i+size]))
	}
	return all
}

// LeakedPiece returns an error that contains a piece of the token if the argument `text` contains
// that piece. It returns nil if `text` contains no piece.
func LeakedPiece(text []byte, token string) error {
	for _, piece := range TokenPieces(token) {
		if i := bytes.Index(text, piece); i >= 0 {
			return fmt.Errorf("the piece %q of a token is visible in …%s…", piece, text[max(0, i-40):min(len(text), i+48)])
		}
	}
	return nil
}
