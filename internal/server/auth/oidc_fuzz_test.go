package auth

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/omnigraph-go/omnigraph/internal/server/auth/authtest"
)

// says returns the signed part of a token. It leaves out the signature, because the same signature
// can be written in several ways.
func says(token string) string { return token[:max(0, strings.LastIndexByte(token, '.'))] }

// FuzzOIDC checks that the verifier accepts a text only if the text consists of the bytes of a
// signed token. No error may repeat a piece of a token.
func FuzzOIDC(f *testing.F) {
	key, stranger := authtest.NewKey(f, "k1", jose.ES256), authtest.NewKey(f, "k1", jose.ES256)
	i := authtest.New(f, key)
	v, _, _ := verifier(f, i)
	signed := []string{i.Token(f, key, "ada", nil), i.Token(f, key, "act-root", map[string]any{"groups": []string{"g"}}), i.Token(f, key, "ada", map[string]any{"act": map[string]any{"sub": "bot"}})}
	for _, token := range append(signed, i.Token(f, stranger, "ada", nil), i.Token(f, key, "ada", map[string]any{"exp": 1}),
		raw(map[string]any{"alg": "none"}, i.Claims("ada", nil), nil), "a.b.c", "..", "", strings.Repeat("[", 100)+"."+strings.Repeat("{", 100)+".") {
		f.Add([]byte(token))
	}
	if got := decided(f, v, signed[0]); got != "oidc ada" {
		f.Fatal(got)
	}
	f.Fuzz(func(t *testing.T, token []byte) {
		actor, err := v.Verify(t.Context(), string(token))
		if actor != nil && (err != nil || actor.Source != "oidc" || !slices.ContainsFunc(signed, func(s string) bool { return says(s) == says(string(token)) })) {
			t.Errorf("%q is of %+v, %v", token, actor, err)
		}
		if err != nil && len(token) >= 8 {
			if shown := authtest.LeakedPiece([]byte(err.Error()), string(token)); shown != nil {
				t.Errorf("%q: %v", token, shown)
			}
		}
	})
}
