// Package packed tests the clients in TypeScript and Python as their users get them: packed, installed in an empty project,
// and run with the module that gq generate writes, against a server that is killed again and again.
package packed

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// The tokens of the actors.
var tokens = map[string]string{"ADA": "ada-0123456789abcdef0123456789abcdef", "BO": "bo-0123456789abcdef0123456789abcdef", "FEW": "few-0123456789abcdef0123456789abcdef"}

// world is a built server with the graph shop, and a control by which a program kills it.
type world struct {
	t         *testing.T
	bin, dir  string
	addr, url string
	control   string

	mu     sync.Mutex // held while the server starts or is killed
	server *exec.Cmd
	ended  bool
	starts sync.WaitGroup // starts in the background
}

// newWorld starts the server with an empty graph.
func newWorld(t *testing.T) *world {
	t.Helper()
	if os.Getenv("OMNIGRAPH_TEST_PACKED") == "" {
		t.Skip("make test-packed runs this test")
	}
	bin, err := filepath.Abs("../../../bin") // make builds the commands
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, bin: bin, dir: t.TempDir()}
	if err := os.CopyFS(w.dir, os.DirFS("shop")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(w.dir, "team"), os.DirFS("../../../internal/codegen/scaffold/templates")); err != nil {
		t.Fatal(err)
	}
	run(t, w.dir, nil, filepath.Join(w.bin, "omnigraph"), "cluster", "apply")
	run(t, w.dir, nil, filepath.Join(w.bin, "omnigraph"), "load", "--store", "data/team", "--data", "team/seed.jsonl")
	l, err := net.Listen("tcp", "127.0.0.1:0") // finds a free port, which every start takes
	if err != nil {
		t.Fatal(err)
	}
	w.addr = l.Addr().String()
	w.url = "http://" + w.addr
	l.Close()
	control := httptest.NewServer(http.HandlerFunc(w.kill))
	w.control = control.URL
	t.Cleanup(func() {
		control.Close()
		w.mu.Lock()
		w.ended = true
		w.server.Process.Kill()
		w.server.Wait()
		w.mu.Unlock()
		w.starts.Wait()
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.startLocked()
	return w
}

// startLocked starts the server, and waits until it answers. REQUIRES: w.mu.
func (w *world) startLocked() {
	if w.ended {
		return
	}
	w.server = exec.Command(filepath.Join(w.bin, "omnigraph-server"), "--cluster", w.dir, "--bind", w.addr)
	w.server.Env = os.Environ()
	for actor, token := range tokens {
		w.server.Env = append(w.server.Env, "OMNIGRAPH_TOKEN_ACT_"+actor+"="+token)
	}
	log, err := os.OpenFile(filepath.Join(w.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		w.t.Error(err)
		return
	}
	defer log.Close()
	w.server.Stdout, w.server.Stderr = log, log
	if err := w.server.Start(); err != nil {
		w.t.Error(err)
		return
	}
	for deadline := clock.Now().Add(30 * time.Second); clock.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if resp, err := http.Get(w.url + "/healthz"); err == nil {
			resp.Body.Close()
			return
		}
	}
	text, _ := os.ReadFile(log.Name())
	w.t.Errorf("the server did not start:\n%s", text)
}

// kill kills the server, and starts it again soon after the answer.
func (w *world) kill(rw http.ResponseWriter, _ *http.Request) {
	w.mu.Lock()
	if err := w.server.Process.Kill(); err != nil {
		w.t.Error(err)
	}
	w.server.Wait()
	w.starts.Go(func() {
		defer w.mu.Unlock()
		time.Sleep(100 * time.Millisecond) // requests fail in this time
		w.startLocked()
	})
	rw.WriteHeader(http.StatusOK)
}

// env returns the variables of a program that calls the server.
func (w *world) env() []string {
	env := []string{"OMNIGRAPH_URL=" + w.url, "OMNIGRAPH_TOKEN=" + tokens["ADA"], "CONTROL=" + w.control}
	for actor, token := range tokens {
		env = append(env, actor+"_TOKEN="+token)
	}
	return env
}

// run runs a command to its end, and returns its standard output.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String()
}

// write writes a file.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// copyTo copies a file of this folder into a project.
func copyTo(t *testing.T, dir, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, filepath.Base(name)), string(text))
}

// generate writes the modules of the graphs into a project.
func (w *world) generate(t *testing.T, lang, dir string) {
	t.Helper()
	for graph, from := range map[string]string{"shop": ".", "team": "team"} {
		run(t, filepath.Join(w.dir, from), nil, filepath.Join(w.bin, "gq"), "generate", "--lang", lang, "--schema", "schema.pg", "--queries", "queries", "--graph", graph, "--out", dir)
	}
}

// guide writes the program of the guide that is in a language, and that has a line, into a project.
func (w *world) guide(t *testing.T, lang, line, file string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "```"+lang+"\n")[1:] {
		program, _, _ := strings.Cut(block, "```")
		if strings.Contains(program, line) {
			write(t, file, strings.Replace(program, "http://127.0.0.1:8080", w.url, 1))
			return
		}
	}
	t.Fatalf("the guide has no program in %s with %q", lang, line)
}

func TestTypeScript(t *testing.T) {
	w := newWorld(t)
	const client = "../../../client/typescript"
	run(t, client, nil, "npm", "ci", "--silent", "--no-audit", "--no-fund")
	dir := t.TempDir()
	run(t, client, nil, "npm", "pack", "--silent", "--pack-destination", dir)
	write(t, filepath.Join(dir, "package.json"), `{"name": "empty", "private": true, "type": "module"}`)
	write(t, filepath.Join(dir, "tsconfig.json"), `{"compilerOptions": {"strict": true, "noUncheckedIndexedAccess": true, "exactOptionalPropertyTypes": true, "noUnusedLocals": true,
  "noUnusedParameters": true, "target": "es2022", "module": "nodenext", "types": ["node"]}, "include": ["*.ts"]}`)
	run(t, dir, nil, "npm", "install", "--silent", "--no-audit", "--no-fund", "./omnigraph-client-0.1.0.tgz", "typescript@5.9.3", "@types/node@20.19.25")
	w.generate(t, "ts", dir)
	copyTo(t, dir, "main.ts")
	copyTo(t, dir, "../../../codegen/testdata/languages/corpus.ts")
	copyTo(t, dir, "../../../codegen/testdata/languages/names.ts")
	w.guide(t, "ts", `from "@omnigraph/client"`, filepath.Join(dir, "guide.ts"))
	run(t, dir, nil, "npx", "--no-install", "tsc")
	t.Log(run(t, dir, w.env(), "node", "guide.js"))
	fmt.Print(run(t, dir, w.env(), "node", "main.js"))
}

func TestPython(t *testing.T) {
	w := newWorld(t)
	run(t, "../../..", nil, "test/venv.sh", "test/clients/packed")
	venv, err := filepath.Abs(".venv/bin")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run(t, "../../../client/python", nil, filepath.Join(venv, "python"), "-m", "build", "--no-isolation", "--wheel", "--outdir", dir)
	// The environment of the project has the packages of .venv and the wheel.
	run(t, dir, nil, "python3", "-m", "venv", "env")
	run(t, dir, nil, "sh", "-c", "echo "+filepath.Join(filepath.Dir(venv), "lib", "python3*", "site-packages")+" > $(echo env/lib/python3*/site-packages)/shared.pth")
	run(t, dir, nil, "env/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", "omnigraph-0.1.0-py3-none-any.whl")
	w.generate(t, "python", dir)
	w.guide(t, "python", "from omnigraph import", filepath.Join(dir, "guide.py"))
	copyTo(t, dir, "main.py")
	copyTo(t, dir, "../../../codegen/testdata/languages/corpus.py")
	copyTo(t, dir, "../../../codegen/testdata/languages/names.py")
	run(t, dir, nil, filepath.Join(venv, "mypy"), "--strict", "--python-executable", "env/bin/python", "main.py", "shop.py", "corpus.py", "names.py", "guide.py")
	run(t, dir, nil, filepath.Join(venv, "pyright"), "--pythonpath", "env/bin/python", "main.py", "shop.py", "corpus.py", "names.py", "guide.py")
	t.Log(run(t, dir, w.env(), "env/bin/python", "guide.py"))
	fmt.Print(run(t, dir, w.env(), "env/bin/python", "main.py", "async"))
	fmt.Print(run(t, dir, newWorld(t).env(), "env/bin/python", "main.py", "sync"))
}
