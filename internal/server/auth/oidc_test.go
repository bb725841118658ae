package auth

import (
	"bytes"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/clock/clocktest"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/auth/authtest"
)

// verifier returns a verifier for an issuer, the clock that the verifier and the issuer use, and
// the log.
func verifier(t testing.TB, i *authtest.Issuer, with ...func(*OIDCOptions)) (*OIDC, *clocktest.Clock, *syncBuffer) {
	t.Helper()
	c, log := clocktest.New(clocktest.Start), &syncBuffer{}
	i.Now = c.Now
	o := OIDCOptions{
		Issuer: i.URL, Audiences: []string{authtest.Audience}, Now: c.Now,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range with {
		f(&o)
	}
	v := NewOIDC(o)
	t.Cleanup(func() { v.Close() })
	return v, c, log
}

// syncBuffer is a log that several goroutines can write to.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) Bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.b.Bytes())
}

// decided describes the verifier's decision on a token: the actor, the reason for the rejection, or
// the failure.
func decided(t testing.TB, v *OIDC, token string) string {
	t.Helper()
	actor, err := v.Verify(t.Context(), token)
	var rejected *Rejected
	var unreachable *Unreachable
	switch {
	case actor != nil && err != nil:
		t.Fatalf("both an actor and %v", err)
	case errors.As(err, &rejected):
		return "rejected: " + rejected.Reason
	case errors.As(err, &unreachable):
		return "unreachable"
	case err != nil:
		return "failed: " + err.Error()
	case actor == nil:
		return "unknown"
	case actor.Expires.IsZero() || v.o.Now().After(actor.Expires):
		t.Errorf("the verifier accepts a token of %s, whose expiry is %v", actor.ID, actor.Expires)
	}
	return strings.Join(append([]string{actor.Source, actor.Name()}, access.GroupsOf(actor)...), " ")
}

// raw builds a token without checking or signing it.
func raw(header, claims any, signature []byte) string {
	h, _ := json.Marshal(header)
	c, _ := json.Marshal(claims)
	enc := base64.RawURLEncoding.EncodeToString
	return enc(h) + "." + enc(c) + "." + enc(signature)
}

// hmacWith signs a token in HS256 with the bytes of a public key. A faulty verifier would accept
// the token, because it would use the public key as the HMAC secret.
func hmacWith(public []byte, header, claims any) string {
	t := raw(header, claims, nil)
	t = strings.TrimSuffix(t, ".")
	mac := hmac.New(sha256.New, public)
	mac.Write([]byte(t))
	return t + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// respelled changes the last bits of a token, which a lenient decoder ignores.
func respelled(t *testing.T, token string) string {
	t.Helper()
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(token) - 1
	other := token[:last] + string(alphabet[strings.IndexByte(alphabet, token[last])^1])
	signature := func(s string) []byte {
		b, err := base64.RawURLEncoding.DecodeString(s[strings.LastIndexByte(s, '.')+1:])
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if other == token || !bytes.Equal(signature(token), signature(other)) {
		t.Fatal("the token has no other spelling")
	}
	return other
}

func TestOIDC(t *testing.T) {
	key := authtest.NewKey(t, "k1", jose.RS256)
	ec, ed := authtest.NewKey(t, "ec", jose.ES256), authtest.NewKey(t, "ed", jose.EdDSA)
	p521 := authtest.NewKey(t, "p521", jose.ES512)
	stranger := authtest.NewKey(t, "k1", jose.RS256)
	encrypts := authtest.NewKey(t, "enc", jose.ES256)
	encrypts.Use = "enc"
	other := authtest.NewKey(t, "other", jose.RS256)
	other.PublishedAlg = "RS512"
	anyAlg := authtest.NewKey(t, "any", jose.RS256)
	anyAlg.PublishedAlg, anyAlg.Use = "", ""
	i := authtest.New(t, key, ec, ed, p521, encrypts, other, anyAlg)
	v, c, log := verifier(t, i)

	public := key.Private.Public().(*rsa.PublicKey)
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	jwk, err := json.Marshal(jose.JSONWebKey{Key: public, KeyID: "k1", Algorithm: "RS256", Use: "sig"})
	if err != nil {
		t.Fatal(err)
	}
	now := c.Now().Unix()
	good := func(over map[string]any) string { return i.Token(t, key, "ada", over) }
	headed := func(header map[string]any) string {
		return authtest.Sign(t, key.Private, key.Alg, header, i.Claims("ada", nil))
	}
	hs := map[string]any{"alg": "HS256", "kid": "k1", "typ": "JWT"}
	const (
		noAlg    = "rejected: is not signed, or is signed with an algorithm that this server does not accept"
		noKey    = "rejected: is signed with a key that the issuer does not publish"
		noHold   = "rejected: has a signature that is not valid"
		notYet   = "rejected: is not valid yet"
		audience = "rejected: is for another audience"
		issuer   = "rejected: is from another issuer"
		noActor  = "rejected: names no actor in the claim sub"
		badActor = "rejected: names an actor that a policy cannot name; expected at most 128 ASCII characters without blanks"
	)
	tests := []struct{ name, token, want string }{
		{"good", good(nil), "oidc ada"},
		{"ID token", headed(map[string]any{"kid": "k1", "typ": "JWT"}), "oidc ada"},
		{"no typ", headed(map[string]any{"kid": "k1"}), "oidc ada"},
		{"typ in full", headed(map[string]any{"kid": "k1", "typ": "application/AT+JWT"}), "oidc ada"},
		{"ES256", i.Token(t, ec, "ada", nil), "oidc ada"},
		{"ES512", i.Token(t, p521, "ada", nil), "oidc ada"},
		{"EdDSA", i.Token(t, ed, "ada", nil), "oidc ada"},
		{"RS256 of a key for anything", i.Token(t, anyAlg, "ada", nil), "oidc ada"},
		{"PS384 of a key for anything", authtest.Sign(t, anyAlg.Private, jose.PS384, map[string]any{"kid": "any"}, i.Claims("ada", nil)), "oidc ada"},
		{"no kid", headed(nil), "oidc ada"},
		{"several audiences", good(map[string]any{"aud": []string{"other", authtest.Audience}}), "oidc ada"},
		{"expired within the leeway", good(map[string]any{"exp": now - 10}), "oidc ada"},
		{"for another party", good(map[string]any{"azp": "whoever"}), "oidc ada"},

		{"other last bits of the signature", respelled(t, good(nil)), "rejected: is not encoded in base64url without padding, as RFC 7515 demands"},
		{"expired", good(map[string]any{"exp": now - 60}), "rejected: has expired"},
		{"never expires", good(map[string]any{"exp": nil}), "rejected: never expires; expected the claim exp"},
		{"not yet", good(map[string]any{"nbf": now + 60}), notYet},
		{"issued in the future", good(map[string]any{"iat": now + 60}), notYet},
		{"wrong audience", good(map[string]any{"aud": "api://other"}), audience},
		{"no audience", good(map[string]any{"aud": nil}), audience},
		{"audience in other letters", good(map[string]any{"aud": strings.ToUpper(authtest.Audience)}), audience},
		{"wrong issuer", good(map[string]any{"iss": "https://evil.example"}), issuer},
		{"issuer with a slash", good(map[string]any{"iss": i.URL + "/"}), issuer},
		{"no issuer", good(map[string]any{"iss": nil}), issuer},
		{"no actor", good(map[string]any{"sub": nil}), noActor},
		{"empty actor", good(map[string]any{"sub": ""}), noActor},
		{"actor that is a number", good(map[string]any{"sub": 7}), "rejected: has no readable claims"},
		{"exp that is a text", good(map[string]any{"exp": "never"}), "rejected: has no readable claims"},
		{"huge exp", good(map[string]any{"exp": 1e300, "nbf": -1e300}), "rejected: has no readable claims"},
		{"actor with a line break", good(map[string]any{"sub": "ada\nlevel=ERROR"}), badActor},
		{"actor with a blank", good(map[string]any{"sub": "ada lovelace"}), badActor},
		{"actor with NUL", good(map[string]any{"sub": "ada\x00"}), badActor},
		{"long actor", good(map[string]any{"sub": strings.Repeat("a", 129)}), badActor},
		{"reads like another's", good(map[string]any{"sub": "аda"}), badActor}, // the first letter is Cyrillic

		{"alg none", raw(map[string]any{"alg": "none", "typ": "JWT"}, i.Claims("ada", nil), nil), noAlg},
		{"alg None", raw(map[string]any{"alg": "None", "kid": "k1"}, i.Claims("ada", nil), []byte("x")), noAlg},
		{"no alg", raw(map[string]any{"kid": "k1"}, i.Claims("ada", nil), []byte("x")), noAlg},
		{"HMAC with the public key, PEM", hmacWith(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), hs, i.Claims("ada", nil)), noAlg},
		{"HMAC with the public key, DER", hmacWith(der, hs, i.Claims("ada", nil)), noAlg},
		{"HMAC with the public key, JWK", hmacWith(jwk, hs, i.Claims("ada", nil)), noAlg},
		{"HMAC with the modulus", hmacWith(public.N.Bytes(), hs, i.Claims("ada", nil)), noAlg},
		{"RS256 named, HMAC made", hmacWith(der, map[string]any{"alg": "RS256", "kid": "k1"}, i.Claims("ada", nil)), noHold},

		{"another's key of the same name", i.Token(t, stranger, "ada", nil), noHold},
		{"key that encrypts", i.Token(t, encrypts, "ada", nil), noKey},
		{"key for another algorithm", i.Token(t, other, "ada", nil), noKey},
		{"key of another kind", authtest.Sign(t, ec.Private, jose.ES256, map[string]any{"kid": "k1"}, i.Claims("ada", nil)), noKey},
		{"claims of another token", good(nil)[:strings.LastIndexByte(good(nil), '.')] + good(map[string]any{"sub": "root"})[strings.LastIndexByte(good(map[string]any{"sub": "root"}), '.'):], noHold},
		{"brings its own key", authtest.Sign(t, stranger.Private, jose.RS256, map[string]any{"kid": "mine", "jwk": jose.JSONWebKey{Key: stranger.Private.Public(), KeyID: "mine"}}, i.Claims("ada", nil)), noKey},
		{"names its own keys", authtest.Sign(t, stranger.Private, jose.RS256, map[string]any{"kid": "mine", "jku": "http://127.0.0.1:1/keys", "x5u": "http://127.0.0.1:1/cert"}, i.Claims("ada", nil)), noKey},
		{"good, and brings another key", headed(map[string]any{"kid": "k1", "jwk": jose.JSONWebKey{Key: stranger.Private.Public(), KeyID: "mine"}, "jku": "http://127.0.0.1:1/"}), "oidc ada"},
		{"an agent for ada", good(map[string]any{"act": map[string]any{"sub": "bot"}}), "oidc ada via bot"},
		{"logout token", headed(map[string]any{"kid": "k1", "typ": "logout+jwt"}), "rejected: is not an access token or an ID token"},
		{"critical extension", headed(map[string]any{"kid": "k1", "crit": []string{"b64"}, "b64": true}), "rejected: needs an extension that this server does not support"},

		{"no token", "the-token-of-nobody", "unknown"},
		{"two dots", "a.b.c", noAlg},
		{"dots alone", "..", noAlg},
		{"five parts", "a.b.c.d.e", "unknown"},
		{"no claims", authtest.Sign(t, key.Private, key.Alg, map[string]any{"kid": "k1"}, nil), issuer},
		{"huge", good(map[string]any{"pad": strings.Repeat("a", maxJWT)}), "rejected: is too long"},
	}
	for _, tt := range tests {
		if got := decided(t, v, tt.token); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if err := authtest.LeakedPiece(log.Bytes(), tt.token); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if n := i.Fetches(); n != 1 {
		t.Errorf("the issuer was asked %d times", n)
	}
}

func TestOIDCClaims(t *testing.T) {
	key := authtest.NewKey(t, "k1", jose.ES256)
	i := authtest.New(t, key)
	const overage = "rejected: has no groups, because the issuer found them too many for a token: the token has the claim hasgroups instead"
	groups := func(o *OIDCOptions) { o.Groups = []string{"idp-admins", "idp-readers"} }
	for _, tt := range []struct {
		name string
		with func(*OIDCOptions)
		over map[string]any
		want string
	}{
		{"groups without a mapping", nil, map[string]any{"groups": []string{"idp-admins"}}, "oidc ada"},
		{"groups", groups, map[string]any{"groups": []string{"idp-readers", "admins", "idp-admins", "idp-readers"}}, "oidc ada idp-admins idp-readers"},
		{"no group", groups, nil, "oidc ada"},
		{"one group", groups, map[string]any{"groups": "idp-readers"}, "oidc ada idp-readers"},
		{"two in one", groups, map[string]any{"groups": []string{"idp-readers\x00idp-admins"}}, "oidc ada"},
		{"groups that are numbers", groups, map[string]any{"groups": []any{"idp-readers", 1}}, "rejected: has no list of groups in the claim groups"},
		{"groups that are none", groups, map[string]any{"groups": map[string]any{"idp-admins": true}}, "rejected: has no list of groups in the claim groups"},
		{"groups elsewhere", groups, map[string]any{"_claim_names": map[string]any{"groups": "src1"}}, "rejected: has no groups, because the issuer found them too many for a token: the claim _claim_names refers to another source"},
		{"groups elsewhere, and some here", groups, map[string]any{"groups": []string{"idp-readers"}, "_claim_names": map[string]any{"groups": "src1"}}, "rejected: has no groups, because the issuer found them too many for a token: the claim _claim_names refers to another source"},
		{"another claim elsewhere", groups, map[string]any{"_claim_names": map[string]any{"address": "src1"}}, "oidc ada"},
		{"has groups", groups, map[string]any{"hasgroups": true}, overage},
		{"has groups, as a text", groups, map[string]any{"hasgroups": "true"}, overage},
		{"has groups, which are null", groups, map[string]any{"hasgroups": true, "groups": json.RawMessage("null")}, overage},
		{"has groups, and lists them", groups, map[string]any{"hasgroups": true, "groups": []string{"idp-readers"}}, "oidc ada idp-readers"},
		{"has no groups", groups, map[string]any{"hasgroups": false}, "oidc ada"},
		{"has groups without a mapping", nil, map[string]any{"hasgroups": true}, "oidc ada"},
		{"has groups, and the roles count", func(o *OIDCOptions) { groups(o); o.GroupsClaim = "roles" }, map[string]any{"hasgroups": true}, "oidc ada"},
		{"groups in another claim", func(o *OIDCOptions) { groups(o); o.GroupsClaim = "roles" }, map[string]any{"groups": []string{"idp-admins"}, "roles": []string{"idp-readers"}}, "oidc ada idp-readers"},
		{"actor in another claim", func(o *OIDCOptions) { o.ActorClaim = "preferred_username" }, map[string]any{"preferred_username": "lovelace"}, "oidc lovelace"},
		{"actor missing there", func(o *OIDCOptions) { o.ActorClaim = "preferred_username" }, nil, "rejected: names no actor in the claim preferred_username"},
		{"address", func(o *OIDCOptions) { o.ActorClaim = "email" }, map[string]any{"email": "ada@example.com", "email_verified": true}, "oidc ada@example.com"},
		{"address not verified", func(o *OIDCOptions) { o.ActorClaim = "email" }, map[string]any{"email": "ada@example.com", "email_verified": false}, "rejected: names its actor by an email address that is not verified"},
		{"address verified in a way", func(o *OIDCOptions) { o.ActorClaim = "email" }, map[string]any{"email": "ada@example.com", "email_verified": "false"}, "rejected: names its actor by an email address that is not verified"},
		{"prefix", func(o *OIDCOptions) { o.ActorPrefix = "sso:" }, nil, "oidc sso:ada"},
		{"reserved", func(o *OIDCOptions) { o.Reserved = func(a string) bool { return a == "ada" } }, nil, "rejected: names an actor that a token of this issuer may not have"},
		{"reserved without its prefix", func(o *OIDCOptions) { o.ActorPrefix, o.Reserved = "sso:", func(a string) bool { return a == "ada" } }, nil, "oidc sso:ada"},
		{"of two audiences", func(o *OIDCOptions) { o.Audiences = []string{"other", authtest.Audience} }, nil, "oidc ada"},
		{"of no audience", func(o *OIDCOptions) { o.Audiences = nil }, nil, "rejected: is for another audience"},
	} {
		v, _, _ := verifier(t, i, func(o *OIDCOptions) {
			if tt.with != nil {
				tt.with(o)
			}
		})
		if got := decided(t, v, i.Token(t, key, "ada", tt.over)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestOIDCClaimsOfQueries reads the claims that queries may use.
func TestOIDCClaimsOfQueries(t *testing.T) {
	key := authtest.NewKey(t, "k1", jose.ES256)
	i := authtest.New(t, key)
	list := func(k value.Kind) value.Type { return value.Type{Kind: k, List: true, Nullable: true} }
	v, _, _ := verifier(t, i, func(o *OIDCOptions) {
		o.Claims = map[string]Claim{
			"region": {"https://example.com/region", value.Of(value.String).Optional()}, "teams": {"teams", list(value.String)}, "levels": {"levels", list(value.I32)},
			"level": {"level", value.Of(value.I64).Optional()}, "admin": {"admin", value.Of(value.Bool).Optional()}, "share": {"share", value.Of(value.F64).Optional()},
			"since": {"since", value.Of(value.Date).Optional()}, "seen": {"seen", value.Of(value.DateTime).Optional()},
		}
	})
	for _, tt := range []struct {
		over map[string]any
		want string // the claims, or the reason
	}{
		{nil, ""},
		{map[string]any{"region": "eu"}, ""},
		{map[string]any{"https://example.com/region": "eu", "teams": []string{"a", "b"}, "level": 3, "admin": true}, `admin=true level=3 region=eu teams=[a, b]`},
		{map[string]any{"level": 3.0, "share": 1, "levels": 7, "teams": []string{}}, `level=3 levels=[7] share=1 teams=[]`},
		{map[string]any{"since": "2024-05-01", "seen": "2024-05-01T12:00:00Z"}, `seen=2024-05-01T12:00:00.000Z since=2024-05-01`},
		{map[string]any{"teams": nil, "region": nil}, ""},
		{map[string]any{"https://example.com/region": 7}, "has no String in the claim https://example.com/region"},
		{map[string]any{"teams": []any{"a", 7}}, "has no [String] in the claim teams"},
		{map[string]any{"level": "3"}, "has no I64 in the claim level"},
		{map[string]any{"level": 3.5}, "has no I64 in the claim level"},
		{map[string]any{"level": 1e17}, "has no I64 in the claim level"},
		{map[string]any{"levels": []any{1 << 40}}, "has no [I32] in the claim levels"},
		{map[string]any{"admin": "true"}, "has no Bool in the claim admin"},
		{map[string]any{"since": "May"}, "has no Date in the claim since"},
		{map[string]any{"share": map[string]any{}}, "has no F64 in the claim share"},
		{map[string]any{"_claim_names": map[string]any{"level": "src1"}}, "does not have the claim level: the claim _claim_names refers to another source"},
		{map[string]any{"level": 3, "_claim_names": map[string]any{"level": "src1"}}, "does not have the claim level: the claim _claim_names refers to another source"},
		{map[string]any{"level": 3, "_claim_names": map[string]any{"region": "src1"}}, "level=3"},
	} {
		actor, err := v.Verify(t.Context(), i.Token(t, key, "ada", tt.over))
		got := ""
		var rejected *Rejected
		if errors.As(err, &rejected) {
			got = rejected.Reason
		} else if err != nil {
			t.Fatal(err)
		} else {
			got = strings.Join(claimTexts(actor), " ")
		}
		if got != tt.want {
			t.Errorf("%v: %s, want %s", tt.over, got, tt.want)
		}
	}
}

// TestGateOfTwo checks one Authenticator with both static tokens and tokens of an issuer.
func TestGateOfTwo(t *testing.T) {
	key := authtest.NewKey(t, "k1", jose.ES256)
	i := authtest.New(t, key)
	static := tokens(t)
	// A static token may look like a token of the issuer. It is still a static token.
	lookalike := i.Token(t, key, "someone", map[string]any{"exp": 1})
	if err := static.Add(lookalike, "act-legacy"); err != nil {
		t.Fatal(err)
	}
	v, _, log := verifier(t, i, func(o *OIDCOptions) { o.Reserved = static.Names })
	gate := &Authenticator{Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Verifiers: []Verifier{static, v},
		Metadata: &Metadata{Issuer: i.URL, PublicHost: "graph.example.com", Graph: func(id string) bool { return id == "code" || id == "none" }}}
	metadata := `, resource_metadata="https://graph.example.com/.well-known/oauth-protected-resource/graphs/code/mcp"`
	for _, tt := range []struct {
		name, token, actor string
		status             int
		header             string
	}{
		{"static", adaToken, "act-ada", 200, ""},
		{"looks like the issuer's", lookalike, "act-legacy", 200, ""},
		{"good", i.Token(t, key, "ada", nil), "ada", 200, ""},
		{"names a static actor", i.Token(t, key, "act-ada", nil), "", 401, invalid + metadata},
		{"expired", i.Token(t, key, "ada", map[string]any{"exp": 1}), "", 401, invalid + metadata},
		{"alg none", raw(map[string]any{"alg": "none"}, i.Claims("act-ada", nil), nil) + "AA", "", 401, invalid + metadata},
		{"no token", "", "", 401, challenge + metadata},
	} {
		actor := ""
		r := httptest.NewRequest(http.MethodPost, "/graphs/code/mcp", nil)
		if tt.token != "" {
			r.Header.Set("Authorization", "Bearer "+tt.token)
		}
		w := httptest.NewRecorder()
		gate.Require(actorInto(&actor)).ServeHTTP(w, r)
		if w.Code != tt.status || actor != tt.actor || w.Header().Get("WWW-Authenticate") != tt.header {
			t.Errorf("%s: status %d, actor %q, %q", tt.name, w.Code, actor, w.Header().Get("WWW-Authenticate"))
		}
		if tt.token == "" {
			continue
		}
		for what, text := range map[string][]byte{"log": log.Bytes(), "body": w.Body.Bytes(), "header": fmt.Append(nil, w.Header())} {
			if err := authtest.LeakedPiece(text, tt.token); err != nil {
				t.Errorf("%s: %s: %v", tt.name, what, err)
			}
		}
	}
	i.Down(true)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer "+i.Token(t, authtest.NewKey(t, "k9", jose.ES256), "ada", nil))
	v2, _, _ := verifier(t, i)
	w := httptest.NewRecorder()
	require(http.NotFoundHandler(), slog.New(slog.DiscardHandler), v2).ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "10" {
		t.Errorf("the issuer is down: status %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
}
