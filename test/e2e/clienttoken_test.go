package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestClientTokensAuthenticateNobody starts a server in an environment with the tokens of a client.
// The server knows its own actors only.
func TestClientTokensAuthenticateNobody(t *testing.T) {
	cmd := exec.Command(filepath.Join(bin, "omnigraph-server"), "--cluster", clusterDir(t), "--bind", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "OMNIGRAPH_TOKEN_ACT_ADA=the-token-of-ada", "OMNIGRAPH_CLIENT_TOKEN_ACT_EVE=the-token-of-eve",
		"OMNIGRAPH_CLIENT_TOKEN_GRAPH_EXAMPLE_COM=the-token-of-a-client", "OMNIGRAPH_TOKEN=the-token-of-all")
	p := startCommand(t, cmd, "OMNIGRAPH_LISTEN_ADDR=")
	for token, want := range map[string]int{
		"the-token-of-ada": http.StatusOK, "the-token-of-eve": http.StatusUnauthorized,
		"the-token-of-a-client": http.StatusUnauthorized, "the-token-of-all": http.StatusUnauthorized,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.addr+"/graphs/code/schema", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: found %d, want %d", token, res.StatusCode, want)
		}
	}
	p.stop()
}
