package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// bin is the folder of the commands that TestMain builds and that the tests run.
var bin string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "omnigraph-server-test")
	if err != nil {
		panic(err)
	}
	bin = dir
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "github.com/omnigraph-go/omnigraph/cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as in make build
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// clusterDir returns a folder with the repository's cluster.yaml and queries, and with a graph of
// the testdata module of source/gocode.
func clusterDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "queries"), os.DirFS("../../queries")); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("../../cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "cluster.yaml"), string(config))
	store := filepath.Join(dir, "data", "code")
	omnigraph(t, "init", "--schema", filepath.Join(dir, "queries/code/schema.pg"), "--store", store)
	omnigraph(t, "load", "--store", store, "--data", graphFile(t), "--mode", "overwrite")
	return dir
}

// graphFile writes a file with a few symbols that notes can refer to.
func graphFile(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, `{"type":"Package","data":{"path":"example.com/p","name":"p","files":1,"lines":10}}`)
	fmt.Fprintln(&b, `{"type":"File","data":{"path":"p.go","lines":10}}`)
	for i := range 10 {
		path := fmt.Sprintf("example.com/p.F%d", i)
		fmt.Fprintf(&b, `{"type":"Symbol","data":{"path":%q,"name":"F%d","kind":"func","exported":true,"line":%d,"words":"p f %d"}}`+"\n", path, i, i+1, i)
		fmt.Fprintf(&b, `{"edge":"Holds","from":"example.com/p","to":%q,"data":{"id":"h%d"}}`+"\n", path, i)
		fmt.Fprintf(&b, `{"edge":"Declares","from":"p.go","to":%q,"data":{"id":"d%d"}}`+"\n", path, i)
	}
	name := filepath.Join(t.TempDir(), "graph.ndjson")
	write(t, name, b.String())
	return name
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func omnigraph(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(filepath.Join(bin, "omnigraph"), args...).CombinedOutput(); err != nil {
		t.Fatalf("omnigraph %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// process is a running server.
type process struct {
	t           *testing.T
	cmd         *exec.Cmd
	addr, token string

	mu             sync.Mutex
	stdout, stderr bytes.Buffer
	read           chan struct{} // closed when stdout has ended
}

// start runs the server with --dev and the arguments `args` on a free port. It waits until the
// server has printed its example call.
func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	return startWith(t, dir, "Serving", append(args, "--dev")...)
}

// startWith runs the server on a free port and waits for a line that starts with the text `sign`.
func startWith(t *testing.T, dir, sign string, args ...string) *process {
	t.Helper()
	args = append([]string{"--cluster", dir, "--bind", "127.0.0.1:0"}, args...)
	return startCommand(t, exec.Command(filepath.Join(bin, "omnigraph-server"), args...), sign)
}

// startCommand starts a server and waits for a line that starts with the text `sign`.
func startCommand(t *testing.T, cmd *exec.Cmd, sign string) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, read: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	ready := make(chan struct{})
	go func() {
		defer close(p.read)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			p.mu.Lock()
			fmt.Fprintln(&p.stdout, lines.Text())
			if v, ok := strings.CutPrefix(lines.Text(), "OMNIGRAPH_LISTEN_ADDR="); ok {
				p.addr = v
			}
			if v, ok := strings.CutPrefix(lines.Text(), "OMNIGRAPH_DEV_TOKEN="); ok {
				p.token = v
			}
			p.mu.Unlock()
			if strings.HasPrefix(lines.Text(), sign) {
				close(ready)
			}
		}
	}()
	select {
	case <-ready:
	case <-p.read:
		p.cmd.Wait()
		t.Fatalf("the server ended: %s", p.stderr.String())
	case <-time.After(30 * time.Second):
		t.Fatal("the server did not come up within 30 seconds")
	}
	return p
}

// output returns the server's output so far.
func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stdout.String()
}

// stop interrupts the server as Ctrl-C does, and checks that it ends with status 0.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		p.t.Fatal(err)
	}
	<-p.read
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("after an interrupt the server ended with %v: %s", err, p.stderr.String())
	}
}

// kill ends the server at once, as kill -9 does.
func (p *process) kill() {
	if p.cmd.ProcessState != nil {
		return
	}
	p.cmd.Process.Signal(syscall.SIGKILL)
	<-p.read
	p.cmd.Wait()
}

// post sends a request and decodes the JSON of the answer into `answer`, unless `answer` is nil.
// The error is a connection error: the server may have been killed.
func (p *process) post(path, contentType, body string, answer any) (status int, err error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+p.addr+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	req.Header.Set("Content-Type", contentType)
	return send(req, answer)
}

// send sends a request for post.
func send(req *http.Request, answer any) (status int, err error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	if answer != nil {
		if err := json.Unmarshal(b, answer); err != nil {
			return res.StatusCode, fmt.Errorf("%w: %s", err, b)
		}
	}
	return res.StatusCode, nil
}
