package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/omnigraph-go/omnigraph/internal/server/auth/authtest"
)

// TestIssuer starts the binary with an issuer that is not available yet and no static token. The
// answers to tokens must follow the state of the issuer, a mapped group must have the tools that
// omnigraph policy tools prints for it, and no piece of a token may be in the log.
func TestIssuer(t *testing.T) {
	key := authtest.NewKey(t, "k1", jose.RS256)
	issuer := authtest.New(t, key)
	issuer.Down(true)
	dir := clusterDir(t)
	replace(t, filepath.Join(dir, "cluster.yaml"), "server:\n", "server:\n  oidc: { issuer: "+issuer.URL+", audience: "+authtest.Audience+", groups: { idp-readers: readers } }\n")
	const read = `{"query":"query q() { match { $p: Package } return { $p.path } }"}`
	p := startWith(t, dir, "OMNIGRAPH_LISTEN_ADDR=", "--verbose")
	reader := issuer.Token(t, key, "someone", map[string]any{"groups": []string{"idp-readers", "indexers"}})
	tokens := []string{reader}
	for _, step := range []struct {
		name, token string
		want        int
	}{
		{"the issuer is down", reader, 503},
		{"no token", "", 401},
		{"no token of the issuer", "k7Qm2Zp9Xw4Lr8", 401},
	} {
		tokens = append(tokens, step.token)
		p.token = step.token
		if got := p.status("POST", "/graphs/code/query", read); got != step.want {
			t.Errorf("%s: status %d, want %d", step.name, got, step.want)
		}
	}
	p.stop()

	issuer.Down(false)
	p = startWith(t, dir, "OMNIGRAPH_LISTEN_ADDR=", "--verbose")
	for _, step := range []struct {
		name, token string
		want        int
	}{
		{"a reader", reader, 200},
		{"a stranger", issuer.Token(t, key, "someone", nil), 403},
		{"one whom the policy names", issuer.Token(t, key, "act-ci", nil), 200},
		{"expired", issuer.Token(t, key, "act-ci", map[string]any{"exp": 1}), 401},
	} {
		tokens = append(tokens, step.token)
		p.token = step.token
		if got := p.status("POST", "/graphs/code/query", read); got != step.want {
			t.Errorf("%s: status %d, want %d", step.name, got, step.want)
		}
	}
	served := p.tools(reader)
	cmd := exec.Command(filepath.Join(bin, "omnigraph"), "policy", "tools", "--cluster", dir, "--actor", "someone", "--token-groups", "idp-readers,indexers", "--format", "json")
	cmd.Env = os.Environ()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	if got := compact(t, out); got != served || !strings.Contains(served, `"name":"graph_query"`) {
		t.Errorf("printed\n%s\nserved\n%s", got, served)
	}
	p.stop()
	for _, token := range tokens {
		if err := authtest.LeakedPiece(p.stderr.Bytes(), token); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(p.stderr.String(), "the server fetched the keys of the issuer") {
		t.Errorf("the log: %s", p.stderr.String())
	}
}
