package studio

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// The client of the studio at the issuer, and the actor whose tokens the issuer gives.
const (
	clientID = "omnigraph-studio"
	audience = "omnigraph"
	subject  = "act-cleo"
)

// farFuture is the expiry of the issuer's tokens, in the year 2100.
const farFuture = 4102444800

// issuer is an OpenID Connect issuer with an authorization endpoint that asks for one click, and a
// token endpoint that checks PKCE.
type issuer struct {
	url string
	key *ecdsa.PrivateKey

	mu       sync.Mutex
	callback string                // the only redirect address; guarded by mu
	wrong    wrong                 // how the issuer breaks the protocol; guarded by mu
	asked    map[string]url.Values // the authorization requests by code; guarded by mu
	faults   []string              // the faults in the requests of the studio; guarded by mu
}

// wrong makes an issuer break the protocol. Its zero value is an issuer without faults.
type wrong struct {
	answer   func(url.Values)     // changes the answer of the authorization endpoint
	claims   func(map[string]any) // changes the claims of the ID token
	document map[string]any       // replaces members of the discovery document
	tokens   int                  // the status of the token endpoint, if it is not 200
}

// startIssuer starts an issuer. It stops when the test ends.
func startIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key, asked: map[string]url.Values{}}
	ts := httptest.NewServer(i)
	t.Cleanup(ts.Close)
	i.url = ts.URL
	return i
}

// be makes the issuer break the protocol from now on.
func (i *issuer) be(w wrong) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.wrong = w
}

// want notes a fault of the studio unless a condition holds.
func (i *issuer) want(holds bool, format string, args ...any) {
	if !holds {
		i.faults = append(i.faults, fmt.Sprintf(format, args...))
	}
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	site, _, _ := strings.Cut(i.callback, "/studio/")
	w.Header().Set("Access-Control-Allow-Origin", site)
	i.want(r.Header.Get("Cookie") == "", "%s got a cookie", r.URL.Path)
	i.want(r.Header.Get("Referer") == "" || strings.HasPrefix(r.Header.Get("Referer"), i.url), "%s got the referrer %s", r.URL.Path, r.Header.Get("Referer"))
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		document := map[string]any{
			"issuer": i.url, "jwks_uri": i.url + "/keys", "authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token",
			"authorization_response_iss_parameter_supported": true,
		}
		maps.Copy(document, i.wrong.document)
		writeJSON(w, http.StatusOK, document)
	case "/keys":
		point, err := i.key.PublicKey.Bytes() // 4, then the two coordinates of 32 bytes each
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{"kty": "EC", "crv": "P-256", "kid": "k", "alg": "ES256", "use": "sig",
			"x": base64.RawURLEncoding.EncodeToString(point[1:33]), "y": base64.RawURLEncoding.EncodeToString(point[33:])}}})
	case "/authorize":
		i.authorize(w, r.URL.Query())
	case "/token":
		i.tokens(w, r)
	default:
		http.NotFound(w, r)
	}
}

// authorize shows a page with a link back to the studio. i.mu is held.
func (i *issuer) authorize(w http.ResponseWriter, q url.Values) {
	for name, want := range map[string]string{"response_type": "code", "client_id": clientID, "redirect_uri": i.callback, "scope": "openid graph", "code_challenge_method": "S256"} {
		i.want(q.Get(name) == want, "the authorization request has %s=%s, want %s", name, q.Get(name), want)
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		i.want(len(q.Get(name)) == 43, "the authorization request has %s=%s, want 43 characters", name, q.Get(name))
	}
	code := rand.Text()
	i.asked[code] = q
	answer := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {i.url}}
	if i.wrong.answer != nil {
		i.wrong.answer(answer)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><title>Issuer</title><a id="go" href="%s">Continue</a>`, html.EscapeString(i.callback+"?"+answer.Encode()))
}

// tokens exchanges a code for tokens, once. i.mu is held.
func (i *issuer) tokens(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || r.Method != http.MethodPost {
		http.Error(w, "found no form", http.StatusBadRequest)
		return
	}
	q := i.asked[r.PostForm.Get("code")]
	delete(i.asked, r.PostForm.Get("code"))
	digest := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	i.want(r.URL.RawQuery == "", "the token request has the query %s", r.URL.RawQuery)
	for name, want := range map[string]string{"grant_type": "authorization_code", "client_id": clientID, "redirect_uri": i.callback, "client_secret": ""} {
		i.want(r.PostForm.Get(name) == want, "the token request has %s=%s, want %s", name, r.PostForm.Get(name), want)
	}
	if q == nil || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(digest[:]) {
		i.want(false, "the code is used twice, or its verifier is wrong")
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	if i.wrong.tokens != 0 {
		writeJSON(w, i.wrong.tokens, map[string]any{"error": "invalid_client", "error_description": "The client is \u202e suspended."})
		return
	}
	id := map[string]any{"iss": i.url, "sub": subject, "aud": clientID, "exp": farFuture, "iat": 1, "nonce": q.Get("nonce")}
	if i.wrong.claims != nil {
		i.wrong.claims(id)
	}
	access := map[string]any{"iss": i.url, "sub": subject, "aud": audience, "exp": farFuture, "iat": 1}
	writeJSON(w, http.StatusOK, map[string]any{"access_token": i.sign("at+jwt", access), "id_token": i.sign("JWT", id), "token_type": "Bearer",
		"expires_in": 3600, "refresh_token": refreshToken})
}

// refreshToken is a token that the studio has not asked for and must not keep.
const refreshToken = "a-refresh-token"

// sign returns a JSON Web Token with a signature in ES256.
func (i *issuer) sign(typ string, claims map[string]any) string {
	part := func(v any) string {
		b, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(b)
	}
	text := part(map[string]string{"alg": "ES256", "kid": "k", "typ": typ}) + "." + part(claims)
	digest := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, digest[:])
	if err != nil {
		panic(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
