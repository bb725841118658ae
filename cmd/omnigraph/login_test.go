package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zalando/go-keyring"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/auth/authtest"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster/reconcile"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// loginWorld is a server that takes the tokens of an issuer, and a home folder without tokens.
type loginWorld struct {
	t      *testing.T
	url    string
	issuer *authtest.Issuer
	logins *authtest.Logins

	mu     sync.Mutex
	minted []string // the access tokens
}

func newLoginWorld(t *testing.T) *loginWorld {
	t.Helper()
	keyring.MockInit()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv(tokenVar, "")
	inShop(t, "policy.yaml", "version: 1\nrules:\n  - { id: all, allow: { actors: any, actions: [read] } }\n")
	key := authtest.NewKey(t, "k1", jose.ES256)
	w := &loginWorld{t: t, issuer: authtest.New(t, key)}
	w.logins = &authtest.Logins{ClientID: "omnigraph-cli", Lifetime: 3600, Mint: func() string {
		w.mu.Lock()
		defer w.mu.Unlock()
		token := w.issuer.Token(t, key, "act-ada", nil)
		w.minted = append(w.minted, token)
		return token
	}}
	w.issuer.LetIn(w.logins)
	config, err := cluster.Read("cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config.Server.OIDC = &cluster.OIDC{Issuer: w.issuer.URL, Audiences: []string{authtest.Audience}, ActorClaim: "sub", GroupsClaim: "groups"}
	if code, _, stderr := omnigraph(t, "", "init", "--schema", "schema.pg", "--store", "data/shop"); code != 0 {
		t.Fatal(stderr)
	}
	queries, err := reconcile.CompileQueries(config, &config.Graphs[0])
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Open(t.Context(), server.Options{
		Cluster: config, Catalogs: []*tool.Catalog{queries}, Bind: "127.0.0.1:0", Tokens: &auth.Tokens{}, Version: "test", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s.Handler())
	w.url = ts.URL
	t.Cleanup(func() {
		ts.Close()
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// run runs a command, and checks its exit code and that it shows no token.
func (w *loginWorld) run(exit int, want string, args ...string) {
	w.t.Helper()
	code, stdout, stderr := omnigraph(w.t, "", args...)
	if code != exit || !strings.Contains(stdout+stderr, want) {
		w.t.Errorf("omnigraph %s: exit %d, want %d and %q:\n%s%s", strings.Join(args, " "), code, exit, want, stdout, stderr)
	}
	w.hidden(stdout + stderr)
}

// hidden checks that a text shows no token.
func (w *loginWorld) hidden(text string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, token := range w.minted {
		if err := authtest.LeakedPiece([]byte(text), token); err != nil {
			w.t.Error(err)
		}
	}
}

// login logs in on a device.
func (w *loginWorld) login(want string) {
	w.t.Helper()
	w.run(0, want, "login", "--server", w.url, "--client-id", "omnigraph-cli")
}

// ask runs a query on the server.
func (w *loginWorld) ask(exit int, want string) {
	w.t.Helper()
	w.run(exit, want, "query", "--server", w.url, "--graph", "shop", "-e", "query q() { match { $u: User } return { $u.name } }", "--format", "csv")
}

// file returns the file of logins, and checks that others cannot read it.
func (w *loginWorld) file() string {
	w.t.Helper()
	path := filepath.Join(os.Getenv("HOME"), ".omnigraph", "logins.json")
	text, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		w.t.Errorf("the file of logins: %v, %v", info.Mode(), err)
	}
	return string(text)
}

// expire lets the access token of the login end.
func (w *loginWorld) expire() {
	w.t.Helper()
	const service = "omnigraph login" // of the entries of the keyring
	ended := func(tokens map[string]any) {
		delete(tokens, "renew_at")
		tokens["expires_at"] = clock.Now().Add(-time.Hour)
	}
	text, err := keyring.Get(service, w.url)
	if err == nil {
		var tokens map[string]any
		err = json.Unmarshal([]byte(text), &tokens)
		ended(tokens)
		stored, _ := json.Marshal(tokens)
		err = errors.Join(err, keyring.Set(service, w.url, string(stored)))
	} else {
		var all map[string]map[string]any
		err = json.Unmarshal([]byte(w.file()), &all)
		ended(all[w.url]["tokens"].(map[string]any))
		stored, _ := json.Marshal(all)
		err = errors.Join(err, os.WriteFile(filepath.Join(os.Getenv("HOME"), ".omnigraph", "logins.json"), stored, 0o600))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestLogin logs in on a device, works with the tokens, renews them, and logs out.
func TestLogin(t *testing.T) {
	w := newLoginWorld(t)
	w.logins.Pending = 1
	w.ask(3, "no bearer token was sent")
	w.run(2, "--client-id is missing", "login", "--server", w.url)
	w.login("enter the code WDJB-MJHT")
	w.hidden(w.file()) // the tokens are in the keyring
	w.ask(0, "u.name")
	for _, form := range w.issuer.Asked() {
		if form.Get("resource") != w.url || form.Get("grant_type") == "" && form.Get("scope") != "openid offline_access" {
			t.Errorf("asked the issuer with %v", form)
		}
	}

	// The client id is remembered. An access token that has expired is renewed with a refresh token, which is valid once.
	w.run(0, "as act-ada; the tokens are in the keyring", "login", "--server", w.url+"/")
	w.expire()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { w.ask(0, "u.name") })
	}
	all.Wait()
	forms := w.issuer.Asked()
	if last := forms[len(forms)-1]; last.Get("grant_type") != "refresh_token" || last.Get("resource") != w.url || last.Get("client_id") != "omnigraph-cli" {
		t.Errorf("renewed with %v", last)
	}
	w.issuer.RevokeAll()
	w.expire()
	w.ask(1, "the issuer answered: invalid_grant: the issuer says invalid_grant; log in with: omnigraph login --server "+w.url)
	w.login("")

	// Another source of a token wins, and login says so.
	t.Setenv(tokenVar, "other")
	w.ask(3, "")
	w.login("Commands do not use this login, because the environment variable OMNIGRAPH_TOKEN has a token too")
	t.Setenv(tokenVar, "")

	w.run(0, "Logged out", "logout", "--server", w.url)
	forms = w.issuer.Asked()
	if last := forms[len(forms)-1]; last.Get("token_type_hint") != "refresh_token" || last.Get("token") == "" {
		t.Errorf("revoked with %v", last)
	}
	w.ask(3, "no bearer token was sent")
	w.run(1, "there is no login at", "logout", "--server", w.url)
}

// TestLoginWithoutKeyring keeps the tokens in a file.
func TestLoginWithoutKeyring(t *testing.T) {
	w := newLoginWorld(t)
	keyring.MockInitWithError(errors.New("no bus"))
	t.Cleanup(keyring.MockInit)
	w.login("the tokens are in ~/.omnigraph/logins.json")
	if !strings.Contains(w.file(), w.minted[0]) {
		t.Error("the file has no token")
	}
	w.expire()
	w.run(0, "", "context", "set", "work", "--server", w.url, "--graph", "shop")
	w.run(0, "u.name", "query", "-e", "query q() { match { $u: User } return { $u.name } }", "--format", "csv")
	if len(w.minted) < 2 || !strings.Contains(w.file(), w.minted[len(w.minted)-1]) {
		t.Errorf("after a renewal: %d tokens", len(w.minted))
	}
	path := filepath.Join(os.Getenv("HOME"), ".omnigraph", "logins.json")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	w.ask(1, "other users can read the tokens in "+path)
	w.run(1, "chmod 600", "logout") // at the server of the context
	if err := os.WriteFile(path, []byte(`{"a": {"tokens": "`+w.minted[1]+`"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	w.ask(1, "is not a file of logins; delete it, and log in again")
}

// TestLoginInBrowser logs in with a browser on this machine.
func TestLoginInBrowser(t *testing.T) {
	w := newLoginWorld(t)
	w.logins.NoDevice = true
	r, errs := io.Pipe()
	exit := make(chan int, 1)
	go func() {
		exit <- run(t.Context(), []string{"login", "--server", w.url, "--client-id", "omnigraph-cli"}, strings.NewReader(""), io.Discard, errs)
		errs.Close()
	}()
	var said bytes.Buffer
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if !strings.HasPrefix(lines.Text(), w.issuer.URL) {
			continue
		}
		back := "" // the redirect address
		browser := &http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			back = r.URL.String()
			return nil
		}}
		other := strings.Replace(lines.Text(), "state=", "state=x", 1)
		for address, want := range map[string]int{other: http.StatusBadRequest} {
			resp, err := browser.Get(address)
			if err != nil || resp.StatusCode != want || !strings.HasPrefix(back, "http://127.0.0.1:") {
				t.Fatalf("%s: %v, %v", back, resp, err)
			}
			resp.Body.Close()
		}
		resp, err := browser.Get(lines.Text())
		if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Fatalf("%s: %v, %v", back, resp, err)
		}
		resp.Body.Close()
	}
	if code := <-exit; code != 0 || !strings.Contains(said.String(), "as act-ada") {
		t.Fatalf("exit %d\n%s", code, said.String())
	}
	w.hidden(said.String())
	w.ask(0, "u.name")
}

// TestLoginRefused checks the messages if nobody can log in.
func TestLoginRefused(t *testing.T) {
	w := newLoginWorld(t)
	w.logins.Deny = "access_denied"
	login := func(server, want string) {
		t.Helper()
		w.run(1, want, "login", "--server", server, "--client-id", "omnigraph-cli")
	}
	login(w.url, "the issuer answered: access_denied")
	w.run(1, "invalid_client", "login", "--server", w.url, "--client-id", "other")
	login(w.issuer.URL, "answered with status 404, expected 401")
	w.run(2, "others could read the token", "login", "--server", "http://graph.example.com", "--client-id", "x")
	w.run(2, "no current context names a server", "login")
	w.issuer.CallItself("https://other.example.com")
	login(w.url, `is that of "https://other.example.com"`)
	w.issuer.CallItself("")
	w.logins.Deny = ""
	mint := w.logins.Mint
	w.logins.Mint = func() string { return mint()[1:] }
	w.run(3, "the server does not accept the token of "+w.issuer.URL, "login", "--server", w.url, "--client-id", "omnigraph-cli")
	w.logins.Mint = func() string { return "a b" }
	login(w.url, "a text that contains a blank")
	w.ask(3, "no bearer token was sent")

	for challenge, want := range map[string]string{
		`Bearer resource_metadata="` + w.url + `/.well-known/oauth-protected-resource"`: "if that is its address, name it with --server", // that of another server
		`Bearer realm="omnigraph"`:                                        "takes no tokens of an issuer; get a token from its operator, and set OMNIGRAPH_TOKEN",
		`Bearer resource_metadata="http://graph.example.com/.well-known"`: "read which tokens the server takes",
		"": "takes requests without a token",
	} {
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if challenge != "" {
				w.Header().Set("WWW-Authenticate", challenge)
				w.WriteHeader(http.StatusUnauthorized)
			}
		}))
		login(ts.URL, want)
		ts.Close()
	}
}
