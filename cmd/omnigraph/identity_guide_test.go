package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// TestIdentityGuide checks docs/identity.md against the program: the start states, the tokens file,
// each part of cluster.yaml, the commands, and the messages to clients.
func TestIdentityGuide(t *testing.T) {
	b, err := os.ReadFile("../../docs/identity.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(b)

	states := regexp.MustCompile(`(?m)^\| (yes|no) \| (yes|no) \| (yes|no) \| (.*) \|$`).FindAllStringSubmatch(guide, -1)
	for _, m := range states {
		mode, err := auth.Start(m[1] == "yes", m[2] == "yes", m[3] == "yes")
		want := map[auth.Mode]string{auth.Unauthenticated: "anyone may do anything", auth.ReadsOnly: "nobody writes", auth.Governed: "policy.md"}[mode]
		var refused *auth.StartError
		if errors.As(err, &refused) {
			want = "refuses to start"
		}
		if !strings.Contains(m[4], want) {
			t.Errorf("%s: the server starts as %s, %v", m[0], mode, err)
		}
	}
	if len(states) != 8 {
		t.Errorf("the table has %d rows of 8", len(states))
	}
	for _, alg := range []jose.SignatureAlgorithm{jose.RS256, jose.PS512, jose.ES384, jose.EdDSA} {
		if !strings.Contains(guide, string(alg)) {
			t.Errorf("the guide does not name %s", alg)
		}
	}

	token := regexp.MustCompile(`printf %s '(.*)' \| sha256sum`).FindStringSubmatch(guide)[1]
	inShop(t, "policy.yaml", strings.Replace(shopPolicy, "readers: [act-ada]", "readers: [], admins: []", 1))
	whole, err := os.ReadFile("cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]int{}
	var oidc *cluster.OIDC
	var claims plan.Claims
	for _, m := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(guide, -1) {
		language, body := m[1], m[2]
		blocks[language]++
		switch {
		case language == "yaml" && strings.HasPrefix(body, "server:"):
			write(t, "cluster.yaml", string(whole)+body)
			cfg, err := cluster.Read("cluster.yaml")
			if err != nil {
				t.Errorf("%v in\n%s", err, body)
				continue
			}
			if cfg.Server.Claims != nil {
				claims = cfg.Server.Claims
			}
			if oidc == nil {
				oidc = cfg.Server.OIDC
			}
			if code, _, stderr := omnigraph(t, "", "policy", "validate"); code != 0 {
				t.Errorf("%s with\n%s", stderr, body)
			}
		case language == "yaml" && strings.Contains(body, "claims:"):
			write(t, "tokens.yaml", body)
			tokens, err := auth.Load([]string{auth.TokensFileVar + "=tokens.yaml"}, claims)
			if err != nil || tokens.Len() != 1 || !tokens.Names("act-ada") {
				t.Errorf("%v in\n%s", err, body)
			}
		case language == "yaml" && strings.Contains(body, "on_behalf_of"):
			write(t, "tokens.yaml", body)
			tokens, err := auth.Load([]string{auth.TokensFileVar + "=tokens.yaml"}, nil)
			if err != nil || tokens.Len() != 1 || !tokens.Names("act-ada") || !tokens.Names("act-bot") {
				t.Errorf("%v in\n%s", err, body)
			}
		case language == "yaml":
			sum := sha256.Sum256([]byte(token))
			if body != hex.EncodeToString(sum[:])+": act-ada\n" {
				t.Errorf("the file does not have the digest of the token: %s", body)
			}
			write(t, "tokens.yaml", body)
			tokens, err := auth.Load([]string{auth.TokensFileVar + "=tokens.yaml"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if actor, err := tokens.Verify(t.Context(), token); err != nil || actor == nil || actor.ID != "act-ada" {
				t.Errorf("the token is of %+v, %v", actor, err)
			}
		case language == "sh":
			for line := range strings.Lines(body) {
				args := strings.Fields(line)
				if args[0] != "omnigraph" {
					continue
				}
				blocks["commands"]++
				cmd, rest, err := newRoot().Find(args[1:])
				if err != nil || cmd.Name() != args[2] || cmd.ParseFlags(rest) != nil {
					t.Errorf("%s: no such command: %v", line, err)
				}
			}
		case language == "text" || language == "json":
			metadata := &auth.Metadata{Issuer: oidc.Issuer, PublicHost: "graph.example.com", Graph: cluster.IsGraphID}
			gate := &auth.Authenticator{Log: slog.New(slog.DiscardHandler), Metadata: metadata}
			path := "/graphs/code/mcp"
			if language == "json" {
				path = "/.well-known/oauth-protected-resource" + path
			}
			w := httptest.NewRecorder()
			metadata.Wrap(gate.Require(http.NotFoundHandler())).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if language == "text" {
				if want := "WWW-Authenticate: " + w.Header().Get("WWW-Authenticate") + "\n"; body != want {
					t.Errorf("the guide shows %s, and the server says %s", body, want)
				}
				continue
			}
			var shown, said any
			if json.Unmarshal([]byte(body), &shown) != nil || json.Unmarshal(w.Body.Bytes(), &said) != nil || !reflect.DeepEqual(shown, said) {
				t.Errorf("the guide shows %s, and the server says %s", body, w.Body)
			}
		default:
			t.Errorf("an example in %s, which nothing checks:\n%s", language, body)
		}
	}
	if blocks["yaml"] != 7 || blocks["commands"] != 2 || blocks["text"] != 1 || blocks["json"] != 1 {
		t.Errorf("blocks: %v", blocks)
	}
	// The rows of the table must be exactly the keys of the section.
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(guide, -1)
	for _, m := range rows {
		write(t, "cluster.yaml", string(whole)+"server: { oidc: { "+m[1]+": 7 } }\n")
		if _, err := cluster.Read("cluster.yaml"); err == nil || strings.Contains(err.Error(), "unknown key") {
			t.Errorf("the key %s: %v", m[1], err)
		}
	}
	if len(rows) != 9 {
		t.Errorf("the table has %d keys", len(rows))
	}
}
