package credentials

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"
	"golang.org/x/oauth2"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// TestLoginsOfServers stores logins at two servers, in the keyring and in the file, and forgets one.
func TestLoginsOfServers(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv(TokenVar, "")
	keyring.MockInit()
	t.Cleanup(keyring.MockInit)
	later := clock.Now().Add(time.Hour)
	store := func(server, want string) {
		t.Helper()
		place, err := StoreLogin(t.Context(), server, Login{Issuer: "https://login.example.com", ClientID: "cli"}, Tokens{Access: secret, Refresh: "r", Expires: later})
		if err != nil || place != want {
			t.Fatalf("%s, %v", place, err)
		}
	}
	store(server+"/", "the keyring")
	keyring.MockInitWithError(errors.New("no bus"))
	if _, err := tokenOf(t, server); err == nil || !strings.Contains(err.Error(), "get the token of your login at "+server+": the keyring cannot be read: no bus") {
		t.Errorf("without the keyring: %v", err)
	}
	store("https://other.example.com", LoginsName)
	if token, err := tokenOf(t, "https://other.example.com/"); token != secret || err != nil {
		t.Errorf("in the file: %q, %v", token, err)
	}
	if l, _, err := ForgetLogin(t.Context(), server); l != nil || err == nil || !strings.Contains(err.Error(), "no bus; unlock the keyring and log out again") {
		t.Errorf("forgot %v, %v without the keyring", l, err)
	}
	keyring.MockInit() // an empty one
	if _, err := tokenOf(t, server); err == nil || !strings.Contains(err.Error(), "it is gone; log in with: omnigraph login --server "+server) {
		t.Errorf("without the entry: %v", err)
	}
	l, tokens, err := ForgetLogin(t.Context(), "https://other.example.com")
	if l == nil || tokens == nil || tokens.Refresh != "r" || err != nil {
		t.Errorf("forgot %v, %v, %v", l, tokens, err)
	}
	if c, err := Find("https://other.example.com"); c != nil || err != nil {
		t.Errorf("found %v, %v", c, err)
	}
	if l, err := FindLogin(server); l == nil || l.ClientID != "cli" || err != nil {
		t.Errorf("found %v, %v", l, err)
	}
}

// TestForgetBoth removes the tokens of an earlier login from the keyring, although those of the last one are in the file.
func TestForgetBoth(t *testing.T) {
	newHome(t)
	if err := keyring.Set(loginService, server, "{}"); err != nil {
		t.Fatal(err)
	}
	e := loginEntry{Login{ClientID: "cli"}, &Tokens{Access: secret}}
	unlock, err := lockLogins(t.Context()) // makes the folder
	if err != nil {
		t.Fatal(err)
	}
	if err := writeLogins(map[string]loginEntry{server: e}); err != nil {
		t.Fatal(err)
	}
	unlock()
	if l, tokens, err := ForgetLogin(t.Context(), server); l == nil || tokens == nil || tokens.Access != secret || err != nil {
		t.Errorf("forgot %v, %v, %v", l, tokens, err)
	}
	if _, err := keyring.Get(loginService, server); !errors.Is(err, keyring.ErrNotFound) {
		t.Errorf("the keyring still has the tokens: %v", err)
	}
}

// tokenOf returns the token that a request to a server has.
func tokenOf(t *testing.T, server string) (string, error) {
	t.Helper()
	c, err := Find(server)
	if err != nil || c == nil {
		t.Fatalf("found %v, %v", c, err)
	}
	return c.Source()(t.Context())
}

// newHome makes a home folder without tokens, and an empty keyring.
func newHome(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv(TokenVar, "")
	keyring.MockInit()
	t.Cleanup(keyring.MockInit)
}

// issuerOf starts an issuer that answers requests for tokens with the function.
func issuerOf(t *testing.T, answer http.HandlerFunc) Login {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	return Login{Issuer: srv.URL, TokenURL: srv.URL + "/token", ClientID: "cli"}
}

// renewed answers with new tokens, which are valid for an hour.
func renewed(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"access_token": "new", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r2"}`)
}

// TestRenewalOutlivesTheCall renews a token for a call that ends while the issuer answers.
func TestRenewalOutlivesTheCall(t *testing.T) {
	newHome(t)
	ctx, cancel := context.WithCancel(t.Context())
	l := issuerOf(t, func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		cancel()
		select {
		case <-r.Context().Done(): // the caller has gone
		case <-time.After(200 * time.Millisecond):
		}
		renewed(w)
	})
	if _, err := StoreLogin(ctx, server, l, Tokens{Access: secret, Refresh: "r1", Expires: clock.Now().Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	c, err := Find(server)
	if err != nil {
		t.Fatal(err)
	}
	if token, err := c.Token(ctx); token != "new" || err != nil {
		t.Errorf("found %q, %v", token, err)
	}
	if _, tokens, err := readLogin(t.Context(), server); err != nil || tokens == nil || tokens.Refresh != "r2" {
		t.Errorf("stored %v, %v", tokens, err)
	}
}

// TestEndOfToken checks which token is sent at the end of its lifetime, and for how long after a failure.
func TestEndOfToken(t *testing.T) {
	works := func(w http.ResponseWriter, r *http.Request) { renewed(w) }
	broken := func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	for _, tt := range []struct {
		name        string
		tokens      Tokens
		left        time.Duration // until the token ends
		issuer      http.HandlerFunc
		want, fault string
	}{
		{"much time", Tokens{Refresh: "r1"}, 2 * early, works, secret, ""},
		{"little time", Tokens{Refresh: "r1"}, early / 2, works, "new", ""},
		{"little time of a short life", Tokens{Refresh: "r1", Renew: clock.Now().Add(early / 4)}, early / 2, works, secret, ""},
		{"little time, and the issuer is broken", Tokens{Refresh: "r1"}, early / 2, broken, secret, ""},
		{"little time, and no refresh token", Tokens{}, early / 2, works, secret, ""},
		{"ended", Tokens{Refresh: "r1"}, -early, works, "new", ""},
		{"ended, and the issuer is broken", Tokens{Refresh: "r1"}, -early, broken, "", "the issuer answered with status 502"},
		{"ended, and no refresh token", Tokens{}, -early, works, "", "it has expired; log in with"},
		{"no end, and much time", Tokens{Refresh: "r1", Renew: clock.Now().Add(early)}, 0, works, secret, ""},
		{"no end, and no time", Tokens{Refresh: "r1", Renew: clock.Now().Add(-early)}, 0, works, "new", ""},
		{"no end, and the issuer is broken", Tokens{Refresh: "r1", Renew: clock.Now().Add(-early)}, 0, broken, secret, ""},
		{"no end, and no refresh token", Tokens{}, 0, works, secret, ""},
	} {
		newHome(t)
		tt.tokens.Access = secret
		if tt.left != 0 {
			tt.tokens.Expires = clock.Now().Add(tt.left)
		}
		if _, err := StoreLogin(t.Context(), server, issuerOf(t, tt.issuer), tt.tokens); err != nil {
			t.Fatal(err)
		}
		token, err := tokenOf(t, server)
		if token != tt.want || (err != nil) != (tt.fault != "") {
			t.Errorf("%s: found %q, %v", tt.name, token, err)
		}
		if err != nil && (strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), tt.fault)) {
			t.Errorf("%s: found %v", tt.name, err)
		}
	}
	for lifetime, renew := range map[int64]time.Duration{20: 2 * time.Second, 3600: early} {
		tokens, err := TokensOf(&oauth2.Token{AccessToken: secret, ExpiresIn: lifetime})
		if got := tokens.Expires.Sub(tokens.Renew); err != nil || got != renew {
			t.Errorf("a token for %d s is renewed %v before it ends, %v", lifetime, got, err)
		}
	}
}

// TestUnstatedEnd renews a token whose end the issuer does not state, and does not ask a broken issuer for each request.
func TestUnstatedEnd(t *testing.T) {
	tokens, err := TokensOf(&oauth2.Token{AccessToken: secret, RefreshToken: "r1"})
	if left := clock.Until(tokens.Renew); err != nil || !tokens.Expires.IsZero() || left <= 0 || left > unstated {
		t.Errorf("it is renewed after %v and ends at %v, %v", left, tokens.Expires, err)
	}
	newHome(t)
	asked := 0
	l := issuerOf(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.WriteHeader(http.StatusBadGateway)
	})
	if _, err := StoreLogin(t.Context(), server, l, Tokens{Access: secret, Refresh: "r1", Renew: clock.Now().Add(-early)}); err != nil {
		t.Fatal(err)
	}
	c, err := Find(server)
	if err != nil {
		t.Fatal(err)
	}
	source := c.Source()
	for range 3 {
		if token, err := source(t.Context()); token != secret || err != nil {
			t.Errorf("found %q, %v", token, err)
		}
	}
	if asked != 1 {
		t.Errorf("the issuer was asked %d times, want 1", asked)
	}
}

// TestWaitForToken checks that a request whose context ends does not wait until another one has its token.
func TestWaitForToken(t *testing.T) {
	newHome(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	l := issuerOf(t, func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-release
		renewed(w)
	})
	if _, err := StoreLogin(t.Context(), server, l, Tokens{Access: secret, Refresh: "r1", Expires: clock.Now().Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	c, err := Find(server)
	if err != nil {
		t.Fatal(err)
	}
	source, first := c.Source(), make(chan string)
	go func() {
		token, _ := source(t.Context())
		first <- token
	}()
	<-arrived
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, want %v", err, context.Canceled)
	}
	close(release)
	if token := <-first; token != "new" {
		t.Errorf("found %q", token)
	}
}

// TestRenewalNotStored uses new tokens that cannot be stored.
func TestRenewalNotStored(t *testing.T) {
	newHome(t)
	expired := Tokens{Access: secret, Refresh: "r1", Expires: clock.Now().Add(-time.Hour)}
	l := issuerOf(t, func(w http.ResponseWriter, r *http.Request) {
		keyring.MockInitWithError(errors.New("no bus"))
		path, err := loginFile()
		if err = errors.Join(err, os.WriteFile(path, []byte("no logins"), 0o600)); err != nil {
			t.Error(err)
		}
		renewed(w)
	})
	if _, err := StoreLogin(t.Context(), server, l, expired); err != nil {
		t.Fatal(err)
	}
	c, err := Find(server)
	if err != nil {
		t.Fatal(err)
	}
	var warned strings.Builder
	c.Stderr = &warned
	if token, err := c.Token(t.Context()); token != "new" || err != nil {
		t.Errorf("found %q, %v", token, err)
	}
	if s := warned.String(); !strings.Contains(s, "cannot be stored") || !strings.Contains(s, "if the next command fails, log in with: omnigraph login") || strings.Contains(s, "r2") {
		t.Errorf("warned %q", s)
	}
}

// TestIssuerError checks that errors show what an issuer says, and no secret.
func TestIssuerError(t *testing.T) {
	answer := &http.Response{StatusCode: 502}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.New("no connection"), "no connection"},
		{&oauth2.RetrieveError{Response: answer, Body: []byte(secret)}, "the issuer answered with status 502"},
		{&oauth2.RetrieveError{Response: answer, ErrorCode: "invalid_grant"}, "the issuer answered: invalid_grant"},
		{&oauth2.RetrieveError{Response: answer, ErrorCode: "invalid_grant", ErrorDescription: "no token " + secret}, "the issuer answered: invalid_grant: no token …"},
		{&oauth2.RetrieveError{Response: answer, ErrorCode: strings.Repeat("x", 1<<20)}, "the issuer answered: " + strings.Repeat("x", 300)},
	} {
		if got := IssuerError(tt.err, "", secret).Error(); got != tt.want {
			t.Errorf("found %q, want %q", got, tt.want)
		}
	}
	for _, token := range []*oauth2.Token{{AccessToken: secret + " x"}, {}, {AccessToken: secret, TokenType: "mac"}} {
		if _, err := TokensOf(token); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", token.TokenType, err)
		}
	}
}
