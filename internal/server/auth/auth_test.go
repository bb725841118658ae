package auth

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
)

const (
	adaToken = "ada-4f1d9c0e77"
	botToken = "bot-88aa01ffee"
)

func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func tokens(t testing.TB) *Tokens {
	t.Helper()
	ts := &Tokens{}
	for token, actor := range map[string]string{adaToken: "act-ada", botToken: "act-bot"} {
		if err := ts.Add(token, actor); err != nil {
			t.Fatal(err)
		}
	}
	return ts
}

// require puts an Authenticator with these verifiers in front of the handler `next`.
func require(next http.Handler, log *slog.Logger, verifiers ...Verifier) http.Handler {
	return (&Authenticator{Log: log, Verifiers: verifiers}).Require(next)
}

func TestRequire(t *testing.T) {
	tests := []struct {
		name      string
		header    []string
		want      string // the actor; "" if the request is refused
		challenge string
	}{
		{"none", nil, "", `Bearer realm="omnigraph"`},
		{"known", []string{"Bearer " + adaToken}, "act-ada", ""},
		{"another's", []string{"Bearer " + botToken}, "act-bot", ""},
		{"scheme in other letters", []string{"bEARER  " + adaToken}, "act-ada", ""},
		{"unknown", []string{"Bearer nobody-77aa"}, "", `Bearer realm="omnigraph", error="invalid_token"`},
		{"prefix of a known", []string{"Bearer " + adaToken[:8]}, "", `Bearer realm="omnigraph", error="invalid_token"`},
		{"longer than a known", []string{"Bearer " + adaToken + "0"}, "", `Bearer realm="omnigraph", error="invalid_token"`},
		{"the digest of a known", []string{"Bearer " + digest(adaToken)}, "", `Bearer realm="omnigraph", error="invalid_token"`},
		{"other scheme", []string{"Basic " + adaToken}, "", `Bearer realm="omnigraph", error="invalid_token"`},
		{"no scheme", []string{adaToken}, "", `Bearer realm="omnigraph", error="invalid_token"`},
		{"no token", []string{"Bearer "}, "", `Bearer realm="omnigraph", error="invalid_token"`},
		{"two tokens", []string{"Bearer " + adaToken + " " + botToken}, "", `Bearer realm="omnigraph", error="invalid_token"`},
		{"two headers", []string{"Bearer " + adaToken, "Bearer " + botToken}, "", `Bearer realm="omnigraph", error="invalid_token"`},
		{"huge", []string{"Bearer " + strings.Repeat("a", 20_000)}, "", `Bearer realm="omnigraph", error="invalid_token"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			var got *access.Actor
			h := require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = access.ActorFrom(r.Context())
				if r.Header.Get("Authorization") != "" {
					t.Error("the token goes on behind authentication")
				}
			}), slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), tokens(t))
			r := httptest.NewRequest(http.MethodPost, "/graphs/code/mcp", nil)
			r.Header["Authorization"] = tt.header
			// Only the token determines the actor; other headers do not.
			r.Header.Set("X-Actor", "act-root")
			r.Header.Set("Omnigraph-Actor", "act-root")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)

			if len(tt.header) > 0 && r.Header.Get("Authorization") != tt.header[0] {
				t.Error("the caller's request was changed")
			}
			for _, secret := range []string{adaToken, botToken, adaToken[:8], digest(adaToken), "nobody-77aa", strings.Repeat("a", 50)} {
				if strings.Contains(log.String(), secret) || strings.Contains(w.Body.String(), secret) || strings.Contains(fmt.Sprint(w.Header()), secret) {
					t.Errorf("%q shows in answer or log: %s %v %s", secret, w.Body, w.Header(), log.String())
				}
			}
			if tt.want != "" {
				if got == nil || got.ID != tt.want || got.Source != "token" || w.Code != http.StatusOK {
					t.Errorf("actor %+v, status %d; expected %s", got, w.Code, tt.want)
				}
				return
			}
			if got != nil || w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != tt.challenge {
				t.Errorf("actor %+v, status %d, challenge %q; expected 401, %q", got, w.Code, w.Header().Get("WWW-Authenticate"), tt.challenge)
			}
			var e map[string]string
			if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e["code"] != "unauthorized" || e["error"] == "" {
				t.Errorf("body %s, %v", w.Body, err)
			}
			if !strings.Contains(log.String(), "authentication refused") {
				t.Errorf("the refusal is not logged: %q", log.String())
			}
		})
	}
}

// verifierFunc is a verifier that a function implements. It takes the place of an OIDC verifier.
type verifierFunc func(token string) (*access.Actor, error)

func (f verifierFunc) Verify(_ context.Context, token string) (*access.Actor, error) {
	return f(token)
}

func TestSeveralVerifiers(t *testing.T) {
	second := verifierFunc(func(token string) (*access.Actor, error) {
		switch token {
		case "their-own":
			return &access.Actor{ID: "act-sso", Source: "oidc"}, nil
		case "unlucky":
			return nil, errors.New("keys are unreachable")
		}
		return nil, nil
	})
	for token, want := range map[string]int{adaToken: 200, "their-own": 200, "neither": 401, "unlucky": 503} {
		h := require(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), slog.New(slog.DiscardHandler), tokens(t), second)
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: status %d, expected %d", token, w.Code, want)
		}
		if strings.Contains(w.Body.String(), "unreachable") {
			t.Errorf("the verifier's fault goes out: %s", w.Body)
		}
	}
}

func TestOpen(t *testing.T) {
	var got *access.Actor
	h := Open(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = access.ActorFrom(r.Context()) }))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer "+adaToken)
	h.ServeHTTP(httptest.NewRecorder(), r)
	if got == nil || got.ID != Anonymous || got.Source != "none" {
		t.Errorf("actor %+v", got)
	}
}

func TestStart(t *testing.T) {
	tests := []struct {
		tokens, policies, open bool
		want                   Mode
		err                    string
	}{
		{false, false, false, 0, "there are no tokens and no policy; set OMNIGRAPH_TOKENS_FILE or OMNIGRAPH_TOKEN_<ACTOR>, or an authentication method under server in cluster.yaml, such as oidc, or start with --unauthenticated to let anyone do anything"},
		{false, false, true, Unauthenticated, ""},
		{false, true, false, 0, "there is a policy, but no token, so no request could have an actor that it names; set OMNIGRAPH_TOKENS_FILE or OMNIGRAPH_TOKEN_<ACTOR>, or an authentication method under server in cluster.yaml, such as oidc"},
		{false, true, true, 0, "there is a policy, but with --unauthenticated requests have no actor that it could apply to; remove the policy or the flag"},
		{true, false, false, ReadsOnly, ""},
		{true, false, true, 0, "there are tokens, but --unauthenticated would ignore them; remove the tokens or the flag"},
		{true, true, false, Governed, ""},
		{true, true, true, 0, "there are tokens, but --unauthenticated would ignore them; remove the tokens or the flag"},
	}
	for _, tt := range tests {
		got, err := Start(tt.tokens, tt.policies, tt.open)
		if tt.err == "" {
			if err != nil || got != tt.want {
				t.Errorf("%+v: got %v, %v", tt, got, err)
			}
			continue
		}
		var se *StartError
		if !errors.As(err, &se) || err.Error() != tt.err {
			t.Errorf("%+v: got %v", tt, err)
		}
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.yaml")
	// A digest that has only decimal digits must not be read as a number.
	src := fmt.Sprintf("%s: act-ada\n\"%s\": act-bot # another\n%s: act-num\n", digest(adaToken), strings.ToUpper(digest(botToken)), strings.Repeat("0123456789012345", 4))
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	ts, err := Load([]string{"PATH=/bin", "OMNIGRAPH_TOKENS_FILE=" + file, "OMNIGRAPH_TOKEN_ACT_CI=ci-token-1", "OMNIGRAPH_TOKENX=y", "OMNIGRAPH_CLIENT_TOKEN_ACT_EVE=eve-token-1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ts.Len() != 4 {
		t.Errorf("%d tokens, expected 4", ts.Len())
	}
	for token, want := range map[string]string{adaToken: "act-ada", botToken: "act-bot", "ci-token-1": "act-ci", "y": "", "eve-token-1": ""} {
		a, err := ts.Verify(t.Context(), token)
		if err != nil || (a == nil) != (want == "") || a != nil && a.ID != want {
			t.Errorf("%s: %+v, %v; expected %q", token, a, err, want)
		}
	}
	none, err := Load([]string{"PATH=/bin"}, nil)
	if err != nil || none.Len() != 0 {
		t.Errorf("no tokens: %v, %v", none, err)
	}
}

// tokenClaimTypes are the claims that the files of the tests may use.
var tokenClaimTypes = plan.Claims{
	"region": value.Of(value.String).Optional(), "level": value.Of(value.I32).Optional(), "share": value.Of(value.F64).Optional(),
	"teams": {Kind: value.String, List: true, Nullable: true}, "admin": value.Of(value.Bool).Optional(), "since": value.Of(value.Date).Optional(),
}

// claimTexts returns the claims of an actor as texts, in the order of their names.
func claimTexts(a *access.Actor) (texts []string) {
	for _, name := range slices.Sorted(maps.Keys(a.Claims)) {
		v := a.Claims[name]
		if !v.IsList() {
			texts = append(texts, name+"="+value.Text(v))
			continue
		}
		var elems []string
		for _, e := range v.Elems() {
			elems = append(elems, value.Text(e))
		}
		texts = append(texts, name+"=["+strings.Join(elems, ", ")+"]")
	}
	return texts
}

// TestTokenClaims reads groups and claims of static tokens.
func TestTokenClaims(t *testing.T) {
	tokens := &Tokens{claims: tokenClaimTypes}
	src := digest("a") + ": { actor: act-ada, groups: [clerks, admins], claims: { region: eu, level: 3, share: \"1.5\", teams: [a, b], admin: true, since: \"2024-05-01\" } }\n" +
		digest("b") + ": { actor: act-bot, on_behalf_of: { actor: act-ada, claims: { region: us } } }\n" +
		digest("c") + ": { actor: act-eve }\n"
	if err := tokens.parse("t.yaml", []byte(src)); err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{
		"a": "act-ada clerks admins admin=true level=3 region=eu share=1.5 since=2024-05-01 teams=[a, b]",
		"b": engine.JoinActor("act-ada", "act-bot") + " region=us",
		"c": "act-eve",
	} {
		actor, err := tokens.Verify(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		parts := slices.Concat([]string{actor.Name()}, actor.Groups, claimTexts(actor))
		if got := strings.Join(parts, " "); got != want {
			t.Errorf("%s: %s, want %s", token, got, want)
		}
	}
}

func TestTokenFaults(t *testing.T) {
	const secret = "s3cret"
	line := func(key, actor string) string { return key + ": " + actor + "\n" }
	tests := []struct {
		name, src, want string
	}{
		{"empty", "", "t.yaml:1:1: error C4: the tokens file is empty (help: map the SHA-256 of each token to its actor)"},
		{"raw token", line(secret, "act-ada"), "t.yaml:1:1: error C7: a key that is not 64 hex digits (help: write the token's SHA-256, as printf %s TOKEN | sha256sum prints it)"},
		{"64 other letters", line(strings.Repeat("z", 64), "act-ada"), "t.yaml:1:1: error C7: a key that is not 64 hex digits (help: write the token's SHA-256, as printf %s TOKEN | sha256sum prints it)"},
		{"swapped", "act-ada: " + secret + "\n", "t.yaml:1:1: error C7: a key that is not 64 hex digits (help: write the token's SHA-256, as printf %s TOKEN | sha256sum prints it)"},
		{"no actor", line(digest("a"), ""), "t.yaml:1:67: error C4: the actor is empty, expected a string"},
		{"number", line(digest("a"), "7"), "t.yaml:1:67: error C3: the actor is a number, expected a string (help: put it in quotes)"},
		{"blank in the actor", line(digest("a"), secret+" x"), "t.yaml:1:67: error C7: the actor's name holds a blank or a character outside ASCII; expected a name such as act-ada"},
		{"twice", line(digest("a"), "act-ada") + line(digest("a"), "act-bot"), "t.yaml:2:1: error C5: key (not shown) is here and on line 1 (help: keep one of the two)"},
		{"twice in other letters", line(digest("a"), "act-ada") + line(strings.ToUpper(digest("a")), "act-bot"), "t.yaml:2:67: error C7: this token already belongs to another actor; give each actor its own token"},
		{"an agent for itself", line(digest("a"), "{ actor: act-bot, on_behalf_of: act-bot }"), "t.yaml:1:67: error C7: the token says that an actor acts for itself; leave on_behalf_of out for a token of the actor itself"},
		{"groups that are none", line(digest("a"), "{ actor: act-ada, groups: admins }"), "t.yaml:1:93: error C3: groups is a string, expected a list"},
		{"a claim that is not known", line(digest("a"), "{ actor: act-ada, claims: { regio: eu } }"), "t.yaml:1:95: error C6: unknown claim (not shown) in server.claims of cluster.yaml (help: did you mean region?)"},
		{"a claim of another type", line(digest("a"), "{ actor: act-ada, claims: { region: 7, level: high, share: s3cret } }"), "t.yaml:1:103: error C3: claims.region is a number, expected a string (help: put it in quotes)\nt.yaml:1:113: error C3: claims.level is a string, expected a whole number\nt.yaml:1:126: error C7: claims.share is not a F64 (help: write a number in quotes, such as \"1.5\")"},
		{"claims of nobody", line(digest("a"), "{ claims: { region: eu } }"), "t.yaml:1:67: error C4: the holder of the token has no actor (help: add actor: …)"},
		{"nobody for an actor", line(digest("a"), "{ on_behalf_of: act-ada }"), "t.yaml:1:67: error C4: the agent has no actor (help: add actor: …)"},
		{"an agent for a list", line(digest("a"), "{ actor: act-bot, on_behalf_of: [act-ada] }"), "t.yaml:1:99: error C3: the actor is a list, expected a string"},
		{"a key that is not known", line(digest("a"), "{ actor: act-bot, on_behalf_of: act-ada, s3cret: x }"), "t.yaml:1:108: error C2: unknown key (not shown) in the actor (help: one of actor, on_behalf_of)"},
		{"too many agents", line(digest("a"), strings.Repeat("{ actor: act-bot, on_behalf_of: { actor: act-bob, on_behalf_of: ", 5)+"act-ada"+strings.Repeat(" } }", 5)), "t.yaml:1:332: error C13: more than 8 agents act for each other (help: leave out agents, so that at most 8 remain)"},
		{"an agent and its actor share a token", line(digest("a"), "act-ada") + line(strings.ToUpper(digest("a")), "{ actor: act-bot, on_behalf_of: act-ada }"), "t.yaml:2:67: error C7: this token already belongs to another actor; give each actor its own token"},
		{"a list", "- " + secret + "\n", "t.yaml:1:1: error C3: the tokens file is a list, expected a mapping of keys to values"},
		{"not yaml", "{" + secret, "t.yaml:1:2: error C1: not YAML (help: look at this line and the one before it: indent with spaces, write a blank after each colon, close every quote and bracket, and quote a text that begins with a special character)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := (&Tokens{claims: tokenClaimTypes}).parse("t.yaml", []byte(tt.src))
			var list diag.List
			if !errors.As(err, &list) {
				t.Fatalf("got %v, expected a diag.List", err)
			}
			if got := err.Error(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), digest("a")) {
				t.Errorf("the text of the file shows: %v", err)
			}
		})
	}
}

func TestAddFaults(t *testing.T) {
	for _, tt := range []struct{ variable, value, want string }{
		{"OMNIGRAPH_TOKEN_ACT_ADA", "", "OMNIGRAPH_TOKEN_ACT_ADA: the token is empty; set one, such as the output of openssl rand -hex 32"},
		{"OMNIGRAPH_TOKEN_ACT_ADA", "s3cret x", "OMNIGRAPH_TOKEN_ACT_ADA: the token holds a character that a header cannot carry; expected letters, digits and -._~+/, then any = signs"},
		{"OMNIGRAPH_TOKEN_ACT_ADA", "s3cret\n", "OMNIGRAPH_TOKEN_ACT_ADA: the token holds a character that a header cannot carry; expected letters, digits and -._~+/, then any = signs"},
		{"OMNIGRAPH_TOKEN_", "s3cret", "OMNIGRAPH_TOKEN_: the actor's name has 0 bytes, expected 1 to 128"},
		{"OMNIGRAPH_TOKENS_FILE", "/nowhere/at/all", "OMNIGRAPH_TOKENS_FILE: open /nowhere/at/all: no such file or directory"},
	} {
		_, err := Load([]string{tt.variable + "=" + tt.value}, nil)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: got  %v\nwant %s", tt.variable, err, tt.want)
		}
	}
}

// TestTokenTwice gives a token both in the environment and in the tokens file. It has one actor, with one set of groups and claims,
// whichever comes first.
func TestTokenTwice(t *testing.T) {
	for _, tt := range []struct{ actor, want string }{
		{"act-ada", ""},
		{"{ actor: act-ada, groups: [] }", ""},
		{"{ actor: act-ada, groups: [clerks] }", "with different groups or claims"},
		{"{ actor: act-ada, claims: { region: eu } }", "with different groups or claims"},
		{"act-bot", "already belongs to another actor"},
	} {
		file := filepath.Join(t.TempDir(), "tokens.yaml")
		if err := os.WriteFile(file, []byte(digest("a")+": "+tt.actor+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		environ := []string{"OMNIGRAPH_TOKEN_ACT_ADA=a", "OMNIGRAPH_TOKENS_FILE=" + file}
		for range 2 {
			tokens, err := Load(environ, tokenClaimTypes)
			if tt.want == "" && (err != nil || tokens.Len() != 1) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s, %s first: %v", tt.actor, environ[0][:20], err)
			}
			slices.Reverse(environ)
		}
	}
}

// FuzzTokensFile checks that no file makes the reader panic, and that no error repeats a word of
// the file that could be a token.
func FuzzTokensFile(f *testing.F) {
	f.Add([]byte(digest("a") + ": act-ada\n"))
	f.Add([]byte("s3cret-token: act-ada\n"))
	f.Add([]byte("{s3cret-token, \"s3cret-token"))
	f.Fuzz(func(t *testing.T, src []byte) {
		err := (&Tokens{}).parse("t.yaml", src)
		if err != nil && bytes.Contains(src, []byte("s3cret-token")) && strings.Contains(err.Error(), "s3cret-token") {
			t.Errorf("%q: %v", src, err)
		}
	})
}

// FuzzAuthorization checks that only the exact header passes.
func FuzzAuthorization(f *testing.F) {
	for _, s := range []string{"Bearer " + adaToken, "bearer  x", "Basic x", "", "Bearer", "Bearer =", "Bearer\t" + adaToken} {
		f.Add(s)
	}
	ts := tokens(f)
	f.Fuzz(func(t *testing.T, header string) {
		passed := false
		h := require(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true }), slog.New(slog.DiscardHandler), ts)
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header["Authorization"] = []string{header}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		known := strings.HasSuffix(header, " "+adaToken) || strings.HasSuffix(header, " "+botToken)
		if passed && !known || !passed && w.Code != http.StatusUnauthorized {
			t.Errorf("%q: passed %v, status %d", header, passed, w.Code)
		}
	})
}

// actorInto returns a handler that stores the id of the request's actor in *id.
func actorInto(id *string) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { *id = access.ActorFrom(r.Context()).ID })
}
