//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/goccy/go-yaml"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// initVar is the environment variable that enables the tests of the commands that gq init prints.
const initVar = "OMNIGRAPH_TEST_INIT"

// TestInitLeadsToAServer creates a module in an empty folder and types the commands that gq init
// prints, one by one, until the module's own server answers the module's own query.
func TestInitLeadsToAServer(t *testing.T) {
	if os.Getenv(initVar) == "" {
		t.Skip(initVar + " is not set; run make test-init")
	}
	root, work, bind := checkout(t), t.TempDir(), freeAddress(t)
	out, err := exec.Command("go", "run", "-C", root, "./cmd/gq", "init", filepath.Join(work, "brain"), "--replace", root, "--bind", bind).Output()
	if err != nil {
		t.Fatalf("gq init: %v", err)
	}
	var typed []string
	for line := range strings.Lines(string(out)) {
		if command, ok := strings.CutPrefix(line, "  "); ok {
			typed = append(typed, strings.TrimSpace(command))
		}
	}
	if len(typed) < 4 || !strings.HasPrefix(typed[0], "cd ") || !strings.HasPrefix(typed[len(typed)-1], "curl ") {
		t.Fatalf("gq init printed the commands %q", typed)
	}
	cd, serve, call := typed[0], typed[len(typed)-2], typed[len(typed)-1]

	first := openTerminal(t, work)
	for _, command := range typed[:len(typed)-2] {
		first.run(command, 10*time.Minute)
	}
	first.start(serve, "Serving;", 20*time.Minute)
	second := openTerminal(t, work)
	second.run(cd, time.Minute)
	checkAnswer(t, second.run(call, time.Minute), "document", "pricing-study")
	checkNetwork(t, bind, filepath.Join(work, "brain"))
	checkTools(t, bind, filepath.Join(work, "brain"))
	first.interrupt(time.Minute)

	module := filepath.Join(work, "brain")
	before := generated(t, module)
	if err := os.RemoveAll(filepath.Join(module, "generated")); err != nil {
		t.Fatal(err)
	}
	second.run("go generate ./...", time.Minute)
	for name, text := range generated(t, module) {
		if !bytes.Equal(text, before[name]) {
			t.Errorf("%s is not what gq init made", name)
		}
		delete(before, name)
	}
	if len(before) > 0 {
		t.Errorf("go generate did not write %d of the files that gq init created", len(before))
	}
	second.run("make lint test", 10*time.Minute)
	runWorkflow(t, second, filepath.Join(module, ".github", "workflows", "ci.yml"))
}

// runWorkflow runs the steps of the CI workflow as for a pull request that changes nothing. It
// leaves out the race detector, which takes minutes to build, and the steps `without`.
func runWorkflow(t *testing.T, c *terminal, name string, without ...string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Name, Run string } }
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"git -c init.defaultBranch=main init -q", "git add -A", "git -c user.name=t -c user.email=t@example.com commit -qm first",
		"git update-ref refs/remotes/origin/main HEAD", "export GITHUB_BASE_REF=main",
	} {
		c.run(command, time.Minute)
	}
	ran := 0
	for _, step := range workflow.Jobs["test"].Steps {
		if step.Run == "" || slices.Contains(without, step.Name) {
			continue
		}
		ran++
		script := filepath.Join(t.TempDir(), "step.sh")
		if err := os.WriteFile(script, []byte(strings.ReplaceAll(step.Run, "go test -race", "go test")), 0o600); err != nil {
			t.Fatal(err)
		}
		c.run("sh -e "+shellescape.Quote(script), 10*time.Minute)
	}
	if ran < 6-len(without) {
		t.Errorf("the workflow has %d steps", ran)
	}
}

// checkAnswer checks that a call over MCP returned one row, and that this row has the given value
// in the given column, as in the seed data.
func checkAnswer(t *testing.T, out, column, value string) {
	t.Helper()
	var answer struct {
		Result struct {
			StructuredContent struct {
				Columns []string
				Rows    [][]any
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := answer.Result.StructuredContent
	if at := slices.Index(got.Columns, column); at < 0 || len(got.Rows) != 1 || got.Rows[0][at] != value {
		t.Errorf("the call answers %s, want one row with the %s %s", out, column, value)
	}
}

// checkNetwork runs every function of the module's generated package on a graph in memory and on the module's
// server, with a test that is no file of the module.
func checkNetwork(t *testing.T, addr, module string) {
	t.Helper()
	test, err := os.ReadFile("testdata/network/network_test.go")
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(module, "data", "dev-token"))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(module, "queries", "network_test.go")
	if err := os.WriteFile(name, test, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(name)
	cmd := exec.Command("go", "test", "-count=1", "-v", "-run", "^TestOverNetwork$", "./queries")
	cmd.Dir, cmd.Env = module, append(os.Environ(), "TEAM_SERVER=http://"+addr, "TEAM_TOKEN="+strings.TrimSpace(string(token)))
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestOverNetwork/decisions_of ")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// checkTools lists and calls tools as an agent's client does, with the token of --dev.
func checkTools(t *testing.T, addr, module string) {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(module, "data", "dev-token"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "v1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: "http://" + addr + "/graphs/team/mcp", HTTPClient: &http.Client{Transport: withToken(strings.TrimSpace(string(token)))},
		DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"find_documents", "get_document", "recent_decisions", "why", "replaced_by", "record_decision", "who_knows", "decisions_of"} {
		if !slices.ContainsFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == want }) {
			t.Errorf("the server offers no tool %s", want)
		}
	}
	decision := &mcp.CallToolParams{Name: "record_decision", Arguments: map[string]any{"params": map[string]any{
		"slug": "s", "title": "t", "reason": "r", "by": "mei", "document": "late-payments",
	}}}
	res, err := session.CallTool(ctx, decision)
	if err != nil || res.IsError {
		t.Errorf("record_decision: %v %+v", err, res)
	}
	again, err := session.CallTool(ctx, decision)
	if err != nil || !again.IsError {
		t.Errorf("record_decision does not refuse a decision that exists: %v %+v", err, again)
	}
}

type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// generated returns the files of a module that gq generate wrote.
func generated(t *testing.T, module string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	dir := filepath.Join(module, "generated")
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files[name], err = os.ReadFile(name)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%s holds %d files: %v", dir, len(files), err)
	}
	return files
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}
