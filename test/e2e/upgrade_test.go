package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// passSocket makes a server start with the socket f, as systemd starts the service of a socket unit.
// LISTEN_PID must be the id of the server's process, which the shell becomes.
func passSocket(cmd *exec.Cmd, f *os.File) *exec.Cmd {
	shell := exec.Command("sh", append([]string{"-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"`}, cmd.Args...)...)
	shell.ExtraFiles = []*os.File{f} // descriptor 3
	shell.Env = append(os.Environ(), cmd.Env...)
	return shell
}

// upgradable is a server that the next one replaces on the same socket.
type upgradable interface {
	term()        // asks the server to end, as systemctl stop does
	ended() error // waits until the server has ended; the error has what it wrote to standard error
}

// TestUpgrade upgrades a server on a socket that the test holds, and on one that systemd's own program
// opened and passed on.
func TestUpgrade(t *testing.T) {
	arguments := func(dir, addr string) []string {
		return []string{filepath.Join(bin, "omnigraph-server"), "--cluster", dir, "--bind", addr, "--require-all", "--dev"}
	}
	t.Run("socket of the test", func(t *testing.T) {
		dir := clusterDir(t)
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		socket, err := ln.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		addr, args := ln.Addr().String(), arguments(dir, ln.Addr().String())
		upgrade(t, dir, addr, func() (upgradable, string) {
			p := startCommand(t, passSocket(exec.Command(args[0], args[1:]...), socket), "OMNIGRAPH_DEV_TOKEN=")
			if p.addr != addr {
				t.Fatalf("the server listens on %s, the socket on %s", p.addr, addr)
			}
			return p, p.token
		})
	})
	t.Run("systemd-socket-activate", func(t *testing.T) {
		dir, addr := clusterDir(t), freeAddress(t)
		s := superviseSocket(t, addr, arguments(dir, addr)...)
		upgrade(t, dir, addr, s.launch)
		s.stop()
	})
}

// upgrade replaces a server several times while 16 clients write and read over connections that they
// keep, some with pauses between their calls. launch starts a server on the socket, and returns it with
// its token. Every call must succeed and no client repeats a call, so the graph must have as many
// notes as writes were acknowledged. With --require-all, a server that finds the graph locked ends.
func upgrade(t *testing.T, dir, addr string, launch func() (upgradable, string)) {
	const clients, upgrades = 16, 4
	p, token := launch()

	var stopped atomic.Bool
	var calls atomic.Int64
	var wg sync.WaitGroup
	var written atomic.Int64
	for c := range clients {
		// Transport repeats a call on its own if the server closes an idle connection, but only calls
		// that are safe to repeat. Every call here is a POST, which it does not repeat.
		client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
		call := func(path, text string) bool {
			req, err := http.NewRequest(http.MethodPost, "http://"+addr+path, strings.NewReader(text))
			if err != nil {
				t.Error(err)
				return false
			}
			req.GetBody = nil // a body that cannot be read again
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("Content-Type", "application/json")
			res, err := client.Do(req)
			if err != nil {
				t.Errorf("client %d: %v", c, err)
				return false
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("client %d: %s has status %d, %v, %s", c, path, res.StatusCode, err, body)
				return false
			}
			calls.Add(1)
			time.Sleep(time.Duration(c%4) * 20 * time.Millisecond)
			return true
		}
		wg.Go(func() {
			defer client.CloseIdleConnections()
			for i := 0; !stopped.Load(); i++ {
				slug := fmt.Sprintf("upgrade-%d-%d", c, i)
				if !call("/graphs/code/queries/add_note", fmt.Sprintf(`{"params":{"slug":%q,"symbol":"example.com/p.F%d","text":"t"}}`, slug, i%10)) {
					return
				}
				written.Add(1)
				if !call("/graphs/code/queries/get_symbol", `{"params":{"path":"example.com/p.F3"}}`) {
					return
				}
			}
		})
	}
	var longest time.Duration
	for n := range upgrades {
		before := calls.Load()
		for deadline := clock.Now().Add(time.Minute); calls.Load() < before+200 && clock.Now().Before(deadline) && !t.Failed(); {
			time.Sleep(10 * time.Millisecond)
		}
		began := clock.Now()
		p.term()
		old := p
		if n%2 == 0 {
			// As systemd does: the next server starts when the old process has ended.
			if err := old.ended(); err != nil {
				t.Errorf("the old server ended with %v", err)
			}
			p, _ = launch()
		} else {
			// The next server starts at once and waits until the old one has closed the graph.
			p, _ = launch()
			if err := old.ended(); err != nil {
				t.Errorf("the old server ended with %v", err)
			}
		}
		longest = max(longest, clock.Since(began))
	}
	before := calls.Load()
	for deadline := clock.Now().Add(time.Minute); calls.Load() < before+200 && clock.Now().Before(deadline) && !t.Failed(); {
		time.Sleep(10 * time.Millisecond)
	}
	stopped.Store(true)
	wg.Wait()
	if calls.Load() < upgrades*200 {
		t.Errorf("only %d calls were made: the test proves nothing", calls.Load())
	}
	t.Logf("%d calls over %d upgrades, the longest of which took %v", calls.Load(), upgrades, longest)
	p.term()
	if err := p.ended(); err != nil {
		t.Errorf("the last server ended with %v", err)
	}
	reader := start(t, dir)
	defer reader.stop()
	var stored struct {
		Rows []struct{ N int64 } `json:"rows"`
	}
	status, err := reader.post("/graphs/code/query", "application/json", `{"query":"query q() { match { $x: Note } return { count($x) as n } }"}`, &stored)
	if err != nil || status != http.StatusOK || len(stored.Rows) != 1 || stored.Rows[0].N != written.Load() {
		t.Errorf("%d writes were acknowledged, and the graph has %v: status %d, %v", written.Load(), stored.Rows, status, err)
	}
}

// TestSocketFaults checks that the server refuses a socket that does not fit its command line.
func TestSocketFaults(t *testing.T) {
	dir := clusterDir(t)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	unix, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	for _, c := range []struct {
		name string
		ln   interface{ File() (*os.File, error) }
		args []string
		says string
	}{
		{"another address", tcp.(*net.TCPListener), []string{"--bind", "127.0.0.1:1"}, "--bind is 127.0.0.1:1, but the socket that the server received listens on " + tcp.Addr().String()},
		{"not TCP", unix.(*net.UnixListener), nil, "does not listen on TCP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := c.ln.File()
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cmd := passSocket(exec.Command(filepath.Join(bin, "omnigraph-server"), append([]string{"--cluster", dir, "--dev"}, c.args...)...), f)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.says) {
				t.Errorf("%v, %s; want %q", err, out, c.says)
			}
		})
	}
}
