package studio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	shots = flag.String("shots", "", "the `folder` to which to write a screenshot of every page")
	built = flag.String("bin", "", "the `folder` of the built commands; without it the tests build them")
)

// root is the folder of the repository.
const root = "../.."

// temporary is the folder that commands made, or "".
var temporary string

// commands builds the commands of the repository once, and returns their folder.
var commands = sync.OnceValues(func() (string, error) {
	if *built != "" {
		return *built, nil
	}
	dir, err := os.MkdirTemp("", "omnigraph-studio-test")
	if err != nil {
		return "", err
	}
	temporary = dir
	_, err = run(root, nil, "go", "build", "-o", dir+string(filepath.Separator), "./cmd/...")
	return dir, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if temporary != "" {
		os.RemoveAll(temporary)
	}
	os.Exit(code)
}

// run runs a command in a folder, and returns its output.
func run(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), append([]string{"CGO_ENABLED=0"}, env...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// must calls run and fails the test if run returns an error.
func must(t *testing.T, dir string, name string, args ...string) string {
	t.Helper()
	out, err := run(dir, nil, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// command returns the path of a built command.
func command(t *testing.T, name string) string {
	t.Helper()
	dir, err := commands()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// site is a running server.
type site struct {
	url   string            // without a slash at the end
	graph string            // the graph that most tests open
	token map[string]string // token by actor
	dev   string            // what the server printed at its start

	proposal string // the id of an open proposal of the graph, if the site has one

	cmd  *exec.Cmd
	done chan struct{} // closed when the server has ended
}

// tokens are the static tokens of every site.
var tokens = map[string]string{"act-ada": "the-token-of-ada", "act-bot": "the-token-of-bot"}

// serve starts a server for the folder of a cluster.yaml. It stops when the test ends.
func serve(t *testing.T, binary, dir, graph string) *site {
	t.Helper()
	return serveWith(t, exec.Command(binary, "--cluster", dir, "--bind", "127.0.0.1:0", "--dev"), dir, graph)
}

// serveWith is like serve, with the command that starts the server.
func serveWith(t *testing.T, cmd *exec.Cmd, dir, graph string) *site {
	t.Helper()
	s := &site{graph: graph, token: map[string]string{}, cmd: cmd, done: make(chan struct{})}
	s.cmd.Env = os.Environ()
	for actor, token := range tokens {
		s.token[actor] = token
		s.cmd.Env = append(s.cmd.Env, "OMNIGRAPH_TOKEN_"+strings.ToUpper(strings.ReplaceAll(actor, "-", "_"))+"="+token)
	}
	if file := filepath.Join(dir, "tokens.yaml"); exists(file) {
		s.cmd.Env = append(s.cmd.Env, "OMNIGRAPH_TOKENS_FILE="+file)
	}
	var stderr bytes.Buffer
	s.cmd.Stderr = &stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(s.done)
		var printed strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			printed.WriteString(lines.Text() + "\n")
			if strings.HasPrefix(lines.Text(), "Serving;") {
				ready <- printed.String()
			}
		}
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Signal(os.Interrupt)
		<-s.done
		_ = s.cmd.Wait()
	})
	select {
	case s.dev = <-ready:
	case <-s.done:
		t.Fatalf("the server ended: %s", stderr.String())
	case <-time.After(time.Minute):
		t.Fatal("the server did not come up within a minute")
	}
	for line := range strings.Lines(s.dev) {
		if addr, ok := strings.CutPrefix(strings.TrimSpace(line), "OMNIGRAPH_LISTEN_ADDR="); ok {
			s.url = "http://" + addr
		}
		if token, ok := strings.CutPrefix(strings.TrimSpace(line), "OMNIGRAPH_DEV_TOKEN="); ok {
			s.token["act-dev"] = token
		}
	}
	return s
}

// link returns the link that the server printed for a graph.
func (s *site) link() string {
	for line := range strings.Lines(s.dev) {
		if link, ok := strings.CutPrefix(line, "Studio  "); ok {
			return strings.TrimSpace(link)
		}
	}
	return ""
}

// send sends a request as an actor. It fails the test unless the status means success.
func (s *site) send(t *testing.T, actor, method, path, body string) {
	t.Helper()
	s.ask(t, actor, method, path, body, nil)
}

// ask sends a request as an actor, and decodes the answer unless `answer` is nil. It fails the test
// unless the status means success.
func (s *site) ask(t *testing.T, actor, method, path, body string, answer any) {
	t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token[actor])
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s %s", method, path, res.Status, text)
	}
	if answer != nil {
		if err := json.Unmarshal(text, answer); err != nil {
			t.Fatal(err)
		}
	}
}

// codeSite serves the graph code with the configuration in the repository, to which it adds rules of the
// policy. The graph has the data of a part of the repository's code.
func codeSite(t *testing.T, rules ...string) *site {
	t.Helper()
	return configuredSite(t, "", rules...)
}

// configuredSite is like codeSite, with further settings in the section server of cluster.yaml.
func configuredSite(t *testing.T, settings string, rules ...string) *site {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "queries"), os.DirFS(filepath.Join(root, "queries"))); err != nil {
		t.Fatal(err)
	}
	policy := filepath.Join(dir, "queries", "code", "policy.yaml")
	text, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	write(t, policy, string(text)+strings.Join(rules, ""))
	config, err := os.ReadFile(filepath.Join(root, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "cluster.yaml"), string(config)+settings)
	ndjson := filepath.Join(dir, "code.ndjson")
	must(t, root, command(t, "omnigraph"), "index", "go", "./client/...", "./gq/...", "--out", ndjson)
	fill(t, dir, "code", ndjson)
	s := serve(t, command(t, "omnigraph-server"), dir, "code")
	s.send(t, "act-dev", "POST", "/graphs/code/queries/add_note", `{"params":{"slug":"first","symbol":"`+symbol+`","text":"See https://example.com/why"}}`)
	s.send(t, "act-dev", "POST", "/graphs/code/branches", `{"name":"review"}`)
	s.send(t, "act-dev", "POST", "/graphs/code/mutate", `{"query":"query m() { update Note set { text: \"Read me twice\" } where slug = \"first\" }","branch":"review"}`)
	s.send(t, "act-dev", "POST", "/graphs/code/queries/add_note", `{"branch":"review","params":{"slug":"retries","symbol":"`+symbol+`","text":"A mutation is sent again only with an idempotency key."}}`)
	var p struct{ ID string }
	s.ask(t, "act-dev", "POST", "/graphs/code/proposals", `{"source":"review","title":"Correct a note"}`, &p)
	s.proposal = p.ID
	return s
}

// symbol is a symbol of the graph that codeSite serves.
const symbol = "github.com/omnigraph-go/omnigraph/client.Graph.Invoke"

// brainSite serves the module that `gq init` makes.
func brainSite(t *testing.T) *site {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "brain")
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	must(t, root, command(t, "gq"), "init", dir, "--graph", "brain", "--replace", here)
	must(t, dir, "go", "mod", "tidy")
	must(t, dir, "go", "build", "-o", "bin/", "./cmd/...")
	fill(t, dir, "brain", filepath.Join(dir, "seed.jsonl"))
	return serve(t, filepath.Join(dir, "bin", "omnigraph-server"), dir, "brain")
}

// fill makes the graphs of a cluster and loads one of them.
func fill(t *testing.T, dir, graph, data string) {
	t.Helper()
	must(t, dir, command(t, "omnigraph"), "cluster", "apply", "--cluster", dir)
	must(t, dir, command(t, "omnigraph"), "load", "--store", filepath.Join(dir, "data", graph), "--data", data, "--mode", "overwrite")
}

// module makes a module in a folder with the schema and the stored queries of a graph, and builds its server.
func module(t *testing.T, dir, graph, schema string, queries map[string]string) {
	t.Helper()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	must(t, root, command(t, "gq"), "init", dir, "--graph", graph, "--replace", here)
	for _, old := range []string{"queries", "generated", "docs", "policy.cases.yaml"} {
		if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "queries"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "schema.pg"), schema)
	for name, text := range queries {
		write(t, filepath.Join(dir, "queries", name), text)
	}
	must(t, dir, command(t, "gq"), "generate")
	must(t, dir, "go", "mod", "tidy")
	must(t, dir, "go", "build", "-o", "bin/", "./cmd/...")
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// get sends a GET request as an actor, and decodes the answer.
func (s *site) get(t *testing.T, actor, path string, answer any) {
	t.Helper()
	s.ask(t, actor, http.MethodGet, path, "", answer)
}
