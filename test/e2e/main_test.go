package e2e

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDev(t *testing.T) {
	dir := clusterDir(t)
	p := start(t, dir)
	for _, want := range []string{
		"OMNIGRAPH_LISTEN_ADDR=127.0.0.1:", "OMNIGRAPH_DEV_TOKEN=",
		"MCP     http://" + p.addr + "/graphs/code/mcp",
		"claude mcp add --transport http code http://" + p.addr + "/graphs/code/mcp --header 'Authorization: Bearer " + p.token + "'",
		"Studio  http://" + p.addr + "/studio/code#token=" + p.token,
		"heaviest_packages returns 1 row:", "example.com/p",
	} {
		if !strings.Contains(p.output(), want) {
			t.Errorf("the server did not print %q:\n%s", want, p.output())
		}
	}
	info, err := os.Stat(filepath.Join(dir, "data", "dev-token"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file has mode %v, want 0600", info.Mode().Perm())
	}
	if status, err := p.post("/graphs/code/queries/add_note", "application/json",
		`{"params":{"slug":"kept","symbol":"example.com/p.F1","text":"across a restart"}}`, nil); err != nil || status != http.StatusOK {
		t.Fatalf("add_note: status %d, %v", status, err)
	}
	p.stop()
	if strings.Contains(p.stderr.String(), p.token) {
		t.Error("the token is in the log")
	}

	again := start(t, dir)
	if again.token != p.token {
		t.Error("the second start has another token")
	}
	var notes struct {
		Rows []map[string]any `json:"rows"`
	}
	if _, err := again.post("/graphs/code/queries/notes_about", "application/json", `{"params":{"symbol":"example.com/p.F1"}}`, &notes); err != nil {
		t.Fatal(err)
	}
	if len(notes.Rows) != 1 || notes.Rows[0]["slug"] != "kept" {
		t.Errorf("after the restart the notes are %v", notes.Rows)
	}
	again.stop()
}

// TestDevDenied starts with a policy that does not name the actor of the development token.
func TestDevDenied(t *testing.T) {
	const says = "policy.yaml allows act-dev, the actor of the development token, nothing on code; add a rule for act-dev"
	dir := clusterDir(t)
	p := start(t, dir)
	p.stop()
	if strings.Contains(p.output(), "nothing on code") {
		t.Errorf("the policy allows act-dev something:\n%s", p.output())
	}
	policy := filepath.Join(dir, "queries/code/policy.yaml")
	text, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(policy, []byte(strings.ReplaceAll(string(text), "act-dev", "act-other")), 0o600); err != nil {
		t.Fatal(err)
	}
	p = start(t, dir)
	p.stop()
	if !strings.Contains(p.output(), says) {
		t.Errorf("the server did not print %q:\n%s", says, p.output())
	}
}

// TestDevOnEveryInterface binds the server to every interface. With --dev the server must be able
// to call itself even if its host check requires a public host, and must print an address at which
// it accepts calls.
func TestDevOnEveryInterface(t *testing.T) {
	dir := clusterDir(t)
	for hosts, host := range map[string]string{"[]": "localhost", "[graph.example.com]": "graph.example.com"} {
		replace(t, filepath.Join(dir, "cluster.yaml"), "public_hosts: []", "public_hosts: "+hosts)
		p := startWith(t, dir, "Serving", "--dev", "--bind", "0.0.0.0:0")
		port := p.addr[strings.LastIndexByte(p.addr, ':')+1:]
		if !strings.Contains(p.output(), "MCP     http://"+host+":"+port+"/graphs/code/mcp") || !strings.Contains(p.output(), "heaviest_packages returns 1 row:") {
			t.Errorf("public hosts %s:\n%s", hosts, p.output())
		}
		p.stop()
		replace(t, filepath.Join(dir, "cluster.yaml"), "public_hosts: "+hosts, "public_hosts: []")
	}
}

func TestRefusesWithoutToken(t *testing.T) {
	p := start(t, clusterDir(t))
	defer p.stop()
	p.token = "wrong"
	for _, path := range []string{"/graphs/code/query", "/graphs/code/mcp", "/graphs/none/mcp", "/nowhere"} {
		if status, err := p.post(path, "application/json", `{}`, nil); err != nil || status != http.StatusUnauthorized {
			t.Errorf("%s with a wrong token: status %d, %v", path, status, err)
		}
	}
	res, err := http.Get("http://" + p.addr + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("/healthz without a token: status %d", res.StatusCode)
	}
}

func TestStartFaults(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(t *testing.T, dir string)
		args  []string
		exit  int
		want  []string
	}{
		{"cluster file", func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, "cluster.yaml"), "storage:", "storrage:")
		}, nil, 1, []string{"cluster.yaml:4:1", "storrage", "storage", "^"}},
		{"no cluster file", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "cluster.yaml")) }, nil, 1, []string{"cluster.yaml"}},
		{"policy", func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, "queries/code/policy.yaml"), "act-dev] }", "act-dev }")
		}, nil, 1, []string{"policy.yaml:"}},
		{"no store", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "data/code")) }, nil, 1, []string{"omnigraph init --schema"}},
		{"bind", func(*testing.T, string) {}, []string{"--bind", "nonsense"}, 1, []string{"nonsense"}},
		{"unknown flag", func(*testing.T, string) {}, []string{"--prot", "1"}, 2, []string{"--prot"}},
		{"argument", func(*testing.T, string) {}, []string{"serve"}, 2, []string{"serve"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := clusterDir(t)
			c.spoil(t, dir)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of a server that starts
			defer cancel()
			cmd := exec.CommandContext(ctx, filepath.Join(bin, "omnigraph-server"), append([]string{"--cluster", dir, "--bind", "127.0.0.1:0", "--dev"}, c.args...)...)
			out, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != c.exit {
				t.Errorf("exit code %d, want %d", cmd.ProcessState.ExitCode(), c.exit)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("%q is not in the answer:\n%s", want, out)
				}
			}
		})
	}
}

func replace(t *testing.T, name, old, new string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), old) {
		t.Fatalf("%s holds no %q", name, old)
	}
	write(t, name, strings.Replace(string(b), old, new, 1))
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
}
