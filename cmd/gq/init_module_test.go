package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// initVar, when it is set, has the commands run that gq init prints.
const initVar = "OMNIGRAPH_TEST_INIT"

// TestInitLeadsToAServer makes a module in an empty folder and types what gq init prints,
// line by line, until the module's own server answers the module's own query.
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
	if len(typed) < 8 || !strings.HasPrefix(typed[0], "cd ") || !strings.HasPrefix(typed[len(typed)-1], "curl ") {
		t.Fatalf("gq init printed the commands %q", typed)
	}
	cd, serve, call := typed[0], typed[len(typed)-2], typed[len(typed)-1]

	first := openTerminal(t, work)
	for _, command := range typed[:len(typed)-2] {
		first.run(command, 10*time.Minute)
	}
	first.start(serve, "Serving;", time.Minute)
	second := openTerminal(t, work)
	second.run(cd, time.Second)
	checkAnswer(t, second.run(call, time.Minute))
	checkTools(t, bind, filepath.Join(work, "brain"))
	first.interrupt(30 * time.Second)

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
		t.Errorf("go generate did not write %d files that gq init made", len(before))
	}
	second.run("make lint test", 10*time.Minute)
}

// checkAnswer holds the printed call to what the seed has.
func checkAnswer(t *testing.T, out string) {
	t.Helper()
	var answer struct {
		Result struct {
			StructuredContent struct {
				Rows []struct{ Reason, Document, Title string }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rows := answer.Result.StructuredContent.Rows
	if len(rows) != 1 || rows[0].Document != "pricing-study" || !strings.Contains(rows[0].Reason, "plan it") {
		t.Errorf("the call answers %s", out)
	}
}

// checkTools asks the server as an agent's client does, with the token of --dev.
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
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "record_decision", Arguments: map[string]any{"params": map[string]any{
		"slug": "s", "title": "t", "reason": "r", "by": "mei", "document": "late-payments",
	}}})
	if err != nil || res.IsError {
		t.Errorf("record_decision: %v %+v", err, res)
	}
}

type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// generated reads what a module has of gq generate.
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

// terminal is a shell that is typed into, line by line. What it runs is a process group of
// its own, as what a terminal runs is.
type terminal struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{} // closed when the shell has ended

	mu   sync.Mutex
	out  bytes.Buffer
	more chan struct{} // has an item when out has grown
}

// endMark is printed, with the exit status, when a command that was typed has ended.
const endMark = "\n=== the command ended with "

func openTerminal(t *testing.T, dir string) *terminal {
	t.Helper()
	c := &terminal{t: t, cmd: exec.Command("sh"), ended: make(chan struct{}), more: make(chan struct{}, 1)}
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = dir, c, c
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.WaitDelay = 10 * time.Second
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		_ = c.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = c.stdin.Close()
		select {
		case <-c.ended:
		case <-time.After(time.Second):
			_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
			<-c.ended
		}
	})
	return c
}

// Write takes what the shell prints.
func (c *terminal) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
	return c.out.Write(p)
}

// run types a command, waits for its end, and returns what it printed. It must succeed.
func (c *terminal) run(command string, limit time.Duration) string {
	c.t.Helper()
	out, status := c.until(command, endMark, limit)
	if status != "0" {
		c.t.Fatalf("%s: exit status %s\n%s", command, status, out)
	}
	return out
}

// start types a command that goes on, and waits until it has printed a sign.
func (c *terminal) start(command, sign string, limit time.Duration) {
	c.t.Helper()
	c.until(command, sign, limit)
}

// until types a command and waits for a sign. It returns what was printed before, and the
// rest of the sign's line.
func (c *terminal) until(command, sign string, limit time.Duration) (before, rest string) {
	c.t.Helper()
	c.mu.Lock()
	c.out.Reset()
	c.mu.Unlock()
	if _, err := fmt.Fprintf(c.stdin, "%s\nprintf '%s%%s\\n' $?\n", command, strings.ReplaceAll(endMark, "\n", `\n`)); err != nil {
		c.t.Fatal(err)
	}
	return c.wait(command, sign, limit)
}

func (c *terminal) wait(command, sign string, limit time.Duration) (before, rest string) {
	c.t.Helper()
	late := time.After(limit)
	for {
		c.mu.Lock()
		out := c.out.String()
		c.mu.Unlock()
		before, after, found := strings.Cut(out, sign)
		if rest, _, whole := strings.Cut(after, "\n"); found && whole {
			return before, rest
		}
		select {
		case <-c.more:
		case <-c.ended:
			c.t.Fatalf("%s: the shell ended\n%s", command, out)
		case <-late:
			c.t.Fatalf("%s: not done after %v\n%s", command, limit, out)
		}
	}
}

// interrupt does what Ctrl-C does, and waits until the command that runs has ended.
func (c *terminal) interrupt(limit time.Duration) {
	c.t.Helper()
	if err := syscall.Kill(-c.cmd.Process.Pid, syscall.SIGINT); err != nil {
		c.t.Fatal(err)
	}
	select {
	case <-c.ended: // a shell that is no terminal's ends with what it runs
	case <-time.After(limit):
		c.t.Fatalf("nothing ended within %v of the interrupt", limit)
	}
}
