package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// terminalSession is a shell on a pseudo-terminal.
type terminalSession struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	done chan struct{} // closed when the shell has closed the terminal

	mu    sync.Mutex
	said  strings.Builder
	more  chan struct{} // has an element when there is more in said
	taken int           // the bytes of said that expect has seen
}

// onTerminal runs a command of this binary on a pseudo-terminal.
func onTerminal(t *testing.T, args ...string) *terminalSession {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other pseudo-terminals, which the library of this test does not open")
	}
	s := &terminalSession{t: t, cmd: exec.CommandContext(t.Context(), "omnigraph", args...), done: make(chan struct{}), more: make(chan struct{}, 1)}
	s.cmd.Env = append(os.Environ(), "TERM=xterm")
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 40, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	go s.listen()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.tty.Close()
		<-s.done
	})
	return s
}

// listen keeps what the command prints.
func (s *terminalSession) listen() {
	defer close(s.done)
	buffer := make([]byte, 4096)
	for {
		n, err := s.tty.Read(buffer)
		s.mu.Lock()
		s.said.Write(buffer[:n])
		s.mu.Unlock()
		select {
		case s.more <- struct{}{}:
		default:
		}
		if err != nil {
			return // the command has ended
		}
	}
}

// expect waits until the command has printed a text after those that were expected before.
func (s *terminalSession) expect(want string) {
	s.t.Helper()
	limit := time.NewTimer(15 * time.Second)
	defer limit.Stop()
	for {
		s.mu.Lock()
		text := s.said.String()
		s.mu.Unlock()
		if i := strings.Index(text[s.taken:], want); i >= 0 {
			s.taken += i + len(want)
			return
		}
		select {
		case <-s.more:
		case <-limit.C:
			s.t.Fatalf("expected %q after\n%s\nfound\n%q", want, text[:s.taken], text[s.taken:])
		}
	}
}

// enter types keys.
func (s *terminalSession) enter(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the end of the command, and checks its exit code.
func (s *terminalSession) ends(want int) {
	s.t.Helper()
	<-s.done
	_ = s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != want {
		s.t.Errorf("exit %d, want %d\n%s", got, want, s.said.String())
	}
}

const ctrlC, ctrlD, tab, up = "\x03", "\x04", "\t", "\x1b[A"

// TestShell works at the prompt of a shell on a store, as a person does.
func TestShell(t *testing.T) {
	inFolder(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	if code, _, stderr := omnigraph(t, "", "branch", "create", "--store", "graph", "next"); code != 0 {
		t.Fatal(stderr)
	}
	s := onTerminal(t, "shell", "--store", "graph")
	s.expect("graph> ")
	s.enter("query q() {\r")
	s.expect("..> ")
	s.enter("mat" + tab)
	s.expect("match")
	s.enter(" { $p: Per" + tab)
	s.expect("Person")
	s.enter(" } return { $p.na" + tab + " } order { $p.name }\r")
	s.expect("..> ")
	s.enter("}\r")
	s.expect("ada")
	s.expect("2 rows")
	s.expect("graph> ")

	s.enter("query q() { match")
	s.expect("match") // once the prompt reads keys, Ctrl-C is a key
	s.enter(ctrlC)    // drops the text
	s.expect("graph> ")
	s.enter("query q() { match { $p: Persn } return { $p } }\r")
	s.expect("did you mean Person?")
	s.expect("graph> ")
	s.enter(`\br` + tab + "ne" + tab + "\r")
	s.expect("graph@next> ")
	s.enter("query m() { insert Person { name: \"cyd\" } }\r")
	s.expect("next    m")
	s.expect("graph@next> ")
	s.enter(`\format csv` + "\r")
	s.expect("graph@next> ")
	s.enter(`\params {"name": "cyd"}` + "\r")
	s.expect("graph@next> ")
	s.enter("query q($name: String) { match { $p: Person { name: $name } } return { $p.name as who } }\r")
	s.expect("who\r\ncyd\r\n")
	s.expect("graph@next> ")
	s.enter(" query hidden() { match { $p: Person } return { count($p) as n } }\r")
	s.expect("n\r\n3\r\n")
	s.expect("graph@next> ")
	s.enter(ctrlD)
	s.ends(0)

	path := filepath.Join(home, ".omnigraph", "history")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history: %v, %v", info.Mode(), err)
	}
	const first = "query q() { match { $p: Person } return { $p.name } order { $p.name } }"
	if !strings.HasPrefix(string(text), first+"\n") || !strings.Contains(string(text), "\n\\branch next\n") || strings.Contains(string(text), "hidden") {
		t.Errorf("the history is\n%s", text)
	}
	s = onTerminal(t, "shell", "--store", "graph", "--format", "json")
	s.expect("graph> ")
	s.enter(strings.Repeat(up, strings.Count(string(text), "\n")) + "\r")
	s.expect(`"rows":[{"p.name":"ada"},{"p.name":"bob"}]`)
	s.expect("graph> ")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.ends(1)
}

// TestShellStopsOneStatement checks that Ctrl-C stops a query that runs on a server, and not the shell.
func TestShellStopsOneStatement(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	asked := make(chan string, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body strings.Builder
		buffer := make([]byte, 1024)
		for n, err := r.Body.Read(buffer); ; n, err = r.Body.Read(buffer) {
			body.Write(buffer[:n])
			if err != nil {
				break
			}
		}
		if strings.Contains(body.String(), "slow") {
			asked <- body.String()
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"query_name":"q","columns":["n"],"rows":[{"n":1}],"row_count":1}`)
	}))
	defer srv.Close()
	s := onTerminal(t, "shell", "--server", srv.URL, "--graph", "people")
	for range 2 {
		s.expect("people> ")
		s.enter("query slow() { match { $p: Person } return { $p } }\r")
		<-asked
		s.enter(ctrlC)
		s.expect("stopped")
	}
	s.expect("people> ")
	s.enter("query q() { match { $p: Person } return { count($p) as n } }\r")
	s.expect("1 row")
	s.expect("people> ")
	s.enter(`\quit` + "\r")
	s.ends(0)
}
