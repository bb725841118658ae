package auth

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/auth/authtest"
)

// TestIssuerDown starts the verifier before its issuer, then starts and stops the issuer and
// rotates its key.
func TestIssuerDown(t *testing.T) {
	first, second := authtest.NewKey(t, "k1", jose.ES256), authtest.NewKey(t, "k2", jose.ES256)
	i := authtest.New(t, first)
	v, c, _ := verifier(t, i)
	steps := []struct {
		name    string
		before  func()
		key     *authtest.Key
		want    string
		fetches int // number of fetches since the start of the test
	}{
		{"the issuer is down at the start", func() { i.Down(true) }, first, "unreachable", 1},
		{"and soon after not asked again", func() { i.Down(false) }, first, "unreachable", 1},
		{"it is up", func() { c.Pass(faultCooldown) }, first, "oidc ada", 2},
		{"an unknown key, too soon", nil, second, "rejected: is signed with a key that the issuer does not publish", 2},
		{"an unknown key", func() { c.Pass(keysCooldown) }, second, "rejected: is signed with a key that the issuer does not publish", 3},
		{"rotated", func() { i.Publish(first, second); c.Pass(keysCooldown) }, second, "oidc ada", 4},
		{"the old key meanwhile", nil, first, "oidc ada", 4},
		{"down, cached", func() { i.Down(true); c.Pass(keysCooldown) }, first, "oidc ada", 4},
		{"down, unknown", nil, authtest.NewKey(t, "k3", jose.ES256), "unreachable", 5},
		{"down, cached all the same", nil, second, "oidc ada", 5},
		{"down, unknown again", nil, authtest.NewKey(t, "k4", jose.ES256), "unreachable", 5},
		{"withdrawn", func() { i.Down(false); i.Publish(second); c.Pass(keysCooldown) }, authtest.NewKey(t, "k5", jose.ES256), "rejected: is signed with a key that the issuer does not publish", 6},
		{"the withdrawn key", nil, first, "rejected: is signed with a key that the issuer does not publish", 6},
		{"the key that is left", nil, second, "oidc ada", 6},
		{"another calls itself the issuer", func() { i.CallItself("https://evil.example"); c.Pass(keysCooldown) }, first, "unreachable", 7},
		{"it publishes nothing of the kind", func() { i.CallItself(""); i.PublishText(`{"error":"later"}`); c.Pass(keysCooldown) }, first, "unreachable", 8},
		{"no JSON", func() { i.PublishText(`<html>`); c.Pass(keysCooldown) }, first, "unreachable", 9},
		{"huge", func() { i.PublishText(`{"keys":["` + strings.Repeat("a", maxDocument) + `"]}`); c.Pass(keysCooldown) }, first, "unreachable", 10},
		{"many keys", func() { i.PublishText(`{"keys":[` + strings.Repeat("1,", maxKeys) + `1]}`); c.Pass(keysCooldown) }, first, "unreachable", 11},
		{"keys of unknown kinds", func() {
			i.PublishText(`{"keys":[7,{"kty":"NEW"},{"kty":"oct","k":"c2VjcmV0","kid":"k1"}]}`)
			c.Pass(keysCooldown)
		}, first, "rejected: is signed with a key that the issuer does not publish", 12},
	}
	for _, s := range steps {
		if s.before != nil {
			s.before()
		}
		if got := decided(t, v, i.Token(t, s.key, "ada", map[string]any{"exp": c.Now().Unix() + 60, "iat": nil})); got != s.want {
			t.Errorf("%s: %s, want %s", s.name, got, s.want)
		}
		if got := i.Fetches(); got != s.fetches {
			t.Fatalf("%s: the issuer was asked %d times, want %d", s.name, got, s.fetches)
		}
	}
}

// TestExtraMembers checks that what a key says about its certificates does not make it unusable.
func TestExtraMembers(t *testing.T) {
	const ec = `"kty":"EC","crv":"P-256","kid":"k1","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x0_ssRvDe6sLyYk0cIqXhU3FbuqHMV_ExqVbQ5Vu8XM"`
	const good = `"kty":"EC","crv":"P-256","kid":"k1","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"`
	for members, want := range map[string]bool{
		good:                             true,
		good + `,"x5c":["bm90IGEga2V5"]`: true,
		good + `,"x5t":"short","x5t#S256":7,"x5u":"::"`: true,
		good + `,"new":{"a":[1]}`:                       true,
		good + `,"use":"enc"`:                           false,
		ec:                                              false, // the point is not on the curve
		`"kty":"NEW","kid":"k1"`:                        false,
	} {
		key := keyOf(json.RawMessage("{" + members + "}"))
		if got := key != nil && verifies(key); got != want {
			t.Errorf("{%s}: usable %v, want %v", members, got, want)
		}
	}
	for _, raw := range []string{`7`, `null`, `"k"`, `[]`} {
		if key := keyOf(json.RawMessage(raw)); key != nil && verifies(key) {
			t.Errorf("%s is a key", raw)
		}
	}
}

// asked waits until the issuer has received the given number of requests.
func asked(t *testing.T, i *authtest.Issuer, times int) {
	t.Helper()
	for end := clock.Now().Add(10 * time.Second); i.Fetches() < times; time.Sleep(time.Millisecond) {
		if clock.Now().After(end) {
			t.Fatalf("the issuer was asked %d times, want %d", i.Fetches(), times)
		}
	}
}

// TestOldKeys withdraws a key. When the keys reach the age keysAge, the first requests must wait
// for one fetch, and no token may be verified with the withdrawn key.
func TestOldKeys(t *testing.T) {
	first, second := authtest.NewKey(t, "k1", jose.ES256), authtest.NewKey(t, "k2", jose.ES256)
	i := authtest.New(t, first)
	v, c, _ := verifier(t, i)
	token := func(k *authtest.Key) string {
		return i.Token(t, k, "ada", map[string]any{"exp": c.Now().Unix() + 60, "iat": nil})
	}
	const withdrawn = "rejected: is signed with a key that the issuer does not publish"
	if got := decided(t, v, token(first)); got != "oidc ada" {
		t.Fatal(got)
	}
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	defer release()
	i.Hold(hold)
	i.Publish(second)
	c.Pass(keysAge - time.Second)
	if got := decided(t, v, token(first)); got != "oidc ada" || i.Fetches() != 1 {
		t.Fatalf("within the age: %s after %d fetches", got, i.Fetches())
	}

	c.Pass(time.Second)
	answers := make(chan string, 50)
	old := token(first)
	for range cap(answers) {
		go func() { answers <- decided(t, v, old) }()
	}
	asked(t, i, 2)
	// A request that ends while it waits does not cancel the fetch for the other requests.
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := v.Verify(ctx, old); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that ends: %v", err)
	}
	select {
	case got := <-answers:
		t.Errorf("before the issuer answered: %s", got)
	case <-time.After(100 * time.Millisecond):
	}
	release()
	for range cap(answers) {
		if got := <-answers; got != withdrawn {
			t.Fatalf("the withdrawn key: %s", got)
		}
	}
	if got := decided(t, v, token(second)); got != "oidc ada" {
		t.Errorf("the new key: %s", got)
	}
	if n := i.Fetches(); n != 2 {
		t.Errorf("the issuer was asked %d times, want 2", n)
	}
}

// TestOldKeysOutage makes the issuer fail when the keys are older than keysAge. The known keys must
// stay in use. After the first failure, no request may wait longer than staleWait. The first
// request after the outage must be rejected, because its key was withdrawn.
func TestOldKeysOutage(t *testing.T) {
	first, second := authtest.NewKey(t, "k1", jose.ES256), authtest.NewKey(t, "k2", jose.ES256)
	i := authtest.New(t, first)
	v, c, _ := verifier(t, i)
	const withdrawn = "rejected: is signed with a key that the issuer does not publish"
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	defer release()
	for _, s := range []struct {
		name    string
		before  func()
		want    string
		fetches int
	}{
		{"known", nil, "oidc ada", 1},
		{"down past the age", func() { i.Down(true); c.Pass(keysAge) }, "oidc ada", 2},
		{"soon after, not asked again", func() { c.Pass(faultCooldown - time.Second) }, "oidc ada", 2},
		{"still down", func() { c.Pass(time.Second) }, "oidc ada", 3},
		{"the issuer hangs", func() { i.Hold(hold); i.Down(false); i.Publish(second); c.Pass(faultCooldown) }, "oidc ada", 4},
	} {
		if s.before != nil {
			s.before()
		}
		if got := decided(t, v, i.Token(t, first, "ada", map[string]any{"exp": c.Now().Unix() + 60, "iat": nil})); got != s.want {
			t.Errorf("%s: %s, want %s", s.name, got, s.want)
		}
		asked(t, i, s.fetches)
		if n := i.Fetches(); n != s.fetches {
			t.Fatalf("%s: the issuer was asked %d times, want %d", s.name, n, s.fetches)
		}
	}
	release()
	// A token of the second key waits until the hanging issuer answers the fetch.
	for _, s := range []struct {
		key  *authtest.Key
		want string
	}{{second, "oidc ada"}, {first, withdrawn}} {
		if got := decided(t, v, i.Token(t, s.key, "ada", map[string]any{"exp": c.Now().Unix() + 60, "iat": nil})); got != s.want {
			t.Errorf("after the outage, key %s: %s, want %s", s.key.ID, got, s.want)
		}
	}
	i.Down(true)
	c.Pass(keysAge)
	if got := decided(t, v, i.Token(t, second, "ada", map[string]any{"exp": c.Now().Unix() + 60, "iat": nil})); got != "oidc ada" {
		t.Errorf("a second outage: %s", got)
	}
	i.Down(false)
	i.Publish(first)
	c.Pass(faultCooldown)
	if got := decided(t, v, i.Token(t, second, "ada", map[string]any{"exp": c.Now().Unix() + 60, "iat": nil})); got != withdrawn {
		t.Errorf("the first request after the second outage: %s", got)
	}
}

// TestIssuerIsAsked checks which tokens make the verifier ask the issuer for keys. It also checks
// from which addresses the verifier accepts keys.
func TestIssuerIsAsked(t *testing.T) {
	key, next := authtest.NewKey(t, "k1", jose.ES256), authtest.NewKey(t, "k2", jose.ES256)
	i, other := authtest.New(t, key), authtest.New(t, key, next)
	v, c, log := verifier(t, i)
	token := func(k *authtest.Key, header map[string]any) string {
		return authtest.Sign(t, k.Private, k.Alg, header, i.Claims("ada", map[string]any{"exp": c.Now().Unix() + 60, "iat": nil}))
	}
	const noKey = "rejected: is signed with a key that the issuer does not publish"
	for _, s := range []struct {
		name    string
		before  func()
		token   func() string
		want    string
		fetches int
	}{
		{"a token of another issuer", nil, func() string { return other.Token(t, key, "ada", nil) }, "rejected: is from another issuer", 0},
		{"a token without kid", nil, func() string { return token(key, nil) }, "oidc ada", 1},
		{"and of a new key", func() { i.Publish(next); c.Pass(keysCooldown) }, func() string { return token(next, nil) }, "oidc ada", 2},
		{"and of none", func() { c.Pass(keysCooldown) }, func() string { return token(key, nil) }, "rejected: has a signature that is not valid", 3},
		{"keys that it is not to be trusted for", func() { i.KeysAt("http://keys.example/"); c.Pass(keysCooldown) }, func() string { return token(key, map[string]any{"kid": "k1"}) }, "unreachable", 4},
		{"keys elsewhere", func() { i.KeysAt(other.URL + "/keys"); c.Pass(keysCooldown) }, func() string { return token(key, map[string]any{"kid": "k1"}) }, "oidc ada", 5},
		{"being sent elsewhere for them", func() { i.Publish(); i.KeysAt(""); i.SendTo(other.URL + "/keys"); c.Pass(keysCooldown) }, func() string { return token(authtest.NewKey(t, "k3", jose.ES256), map[string]any{"kid": "k3"}) }, "unreachable", 6},
		{"no keys at all", func() { i.SendTo(""); c.Pass(keysCooldown) }, func() string { return token(authtest.NewKey(t, "k3", jose.ES256), map[string]any{"kid": "k3"}) }, noKey, 7},
		{"so that none holds", nil, func() string { return token(key, map[string]any{"kid": "k1"}) }, noKey, 7},
	} {
		if s.before != nil {
			s.before()
		}
		if got := decided(t, v, s.token()); got != s.want {
			t.Errorf("%s: %s, want %s", s.name, got, s.want)
		}
		if n := i.Fetches(); n != s.fetches {
			t.Fatalf("%s: the issuer was asked %d times, want %d", s.name, n, s.fetches)
		}
	}
	for _, want := range []string{`jwks_uri: \"http://keys.example/\" is not a URL that the server can trust`, "answered status 302"} {
		if !bytes.Contains(log.Bytes(), []byte(want)) {
			t.Errorf("the log does not say %s:\n%s", want, log.Bytes())
		}
	}
}

// TestShortRSAKey checks that the verifier ignores a published RSA key that is too short.
func TestShortRSAKey(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	short := &authtest.Key{ID: "short", Private: private, Alg: jose.RS256, PublishedAlg: "RS256", Use: "sig"}
	i := authtest.New(t, short)
	v, _, _ := verifier(t, i)
	if got := decided(t, v, i.Token(t, short, "ada", nil)); got != "rejected: is signed with a key that the issuer does not publish" {
		t.Error(got)
	}
}

// TestUnknownKeyFlood sends many tokens with unknown keys at once. The verifier must ask the issuer
// only once, and must accept tokens with known keys in the meantime.
func TestUnknownKeyFlood(t *testing.T) {
	key, stranger := authtest.NewKey(t, "k1", jose.ES256), authtest.NewKey(t, "k2", jose.ES256)
	i := authtest.New(t, key)
	v, c, _ := verifier(t, i)
	good := i.Token(t, key, "ada", nil)
	if got := decided(t, v, good); got != "oidc ada" {
		t.Fatal(got)
	}
	c.Pass(keysCooldown)
	hold := make(chan struct{})
	i.Hold(hold)
	var tokens []string
	for n := range 200 {
		tokens = append(tokens, authtest.Sign(t, stranger.Private, stranger.Alg, map[string]any{"kid": fmt.Sprintf("unknown-%d", n)}, i.Claims("ada", nil)))
	}
	var wg sync.WaitGroup
	answers := make([]string, len(tokens))
	for n, token := range tokens {
		wg.Go(func() { answers[n] = decided(t, v, token) })
	}
	if got := decided(t, v, good); got != "oidc ada" {
		t.Errorf("during the flood: %s", got)
	}
	// A request that is canceled does not cancel the fetch.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Verify(ctx, tokens[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	close(hold)
	wg.Wait()
	for _, got := range answers {
		if got != "rejected: is signed with a key that the issuer does not publish" {
			t.Fatalf("%s", got)
		}
	}
	for _, token := range tokens {
		decided(t, v, token)
	}
	if n := i.Fetches(); n != 2 {
		t.Errorf("the issuer was asked %d times, want once more", n)
	}
}

func TestCloseEndsFetch(t *testing.T) {
	key := authtest.NewKey(t, "k1", jose.ES256)
	i := authtest.New(t, key)
	hold := make(chan struct{})
	defer close(hold)
	i.Hold(hold)
	v, _, _ := verifier(t, i)
	done := make(chan string, 1)
	go func() { done <- decided(t, v, i.Token(t, key, "ada", nil)) }()
	asked(t, i, 1)
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	if got := <-done; got != "unreachable" {
		t.Errorf("the request under way: %s", got)
	}
	if got := decided(t, v, i.Token(t, key, "ada", nil)); got != "unreachable" {
		t.Errorf("a later one: %s", got)
	}
}

// BenchmarkOIDC measures the cost of verifying a token if its key is known.
func BenchmarkOIDC(b *testing.B) {
	for _, alg := range []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA} {
		b.Run(string(alg), func(b *testing.B) {
			key := authtest.NewKey(b, "k1", alg)
			i := authtest.New(b, key)
			v, _, _ := verifier(b, i)
			token := i.Token(b, key, "ada", nil)
			b.ReportAllocs()
			for b.Loop() {
				if actor, err := v.Verify(b.Context(), token); actor == nil || err != nil {
					b.Fatal(actor, err)
				}
			}
		})
	}
}
