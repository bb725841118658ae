package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ready returns the status and body of /readyz, and the answer of graph_health.
func (p *process) ready() (status int, body, health string) {
	p.t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+p.addr+"/readyz", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	var answer json.RawMessage
	if _, err := p.rpc(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"graph_health","arguments":{}}}`, &answer); err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, string(b), string(answer)
}

// addNotes adds notes until one is refused or n are added. It returns the last status.
func (p *process) addNotes(acked map[string]bool, prefix, text string, n int) (status int) {
	p.t.Helper()
	for i := range n {
		slug := fmt.Sprint(prefix, i)
		body := fmt.Sprintf(`{"params":{"slug":%q,"symbol":"example.com/p.F1","text":%q}}`, slug, text)
		var err error
		if status, err = p.post("/graphs/code/queries/add_note", "application/json", body, nil); err != nil {
			p.t.Fatal(err)
		}
		if status != http.StatusOK {
			return status
		}
		acked[slug] = true
	}
	return status
}

// eventuallyWrites waits until a write is accepted and the server reports that it is ready.
func (p *process) eventuallyWrites(acked map[string]bool, prefix string) {
	p.t.Helper()
	for i := range 300 {
		status := p.addNotes(acked, fmt.Sprint(prefix, i, "-"), "t", 1)
		code, body, _ := p.ready()
		if status == http.StatusOK && code == http.StatusOK {
			return
		}
		if status != http.StatusOK && status != http.StatusServiceUnavailable {
			p.t.Fatalf("a write answers %d", status)
		}
		if i == 299 {
			p.t.Fatalf("30 seconds later a write answers %d, and /readyz %d %s", status, code, body)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// refused checks that /readyz and graph_health report that writes are refused.
func (p *process) refused() {
	p.t.Helper()
	status, body, health := p.ready()
	if status != http.StatusServiceUnavailable || !strings.Contains(body, `"not_ready"`) || !strings.Contains(body, `"failing"`) {
		p.t.Errorf("/readyz answers %d %s while writes are refused", status, body)
	}
	if !strings.Contains(health, "failing") && !strings.Contains(health, "unavailable") {
		p.t.Errorf("graph_health answers %s while writes are refused", health)
	}
}

func (p *process) ends() {
	p.t.Helper()
	p.term()
	if err := p.ended(); err != nil {
		p.t.Errorf("after SIGTERM the server ended with %v", err)
	}
}

// all starts the server again and checks that the graph has every acknowledged note.
func all(t *testing.T, dir string, acked map[string]bool) {
	t.Helper()
	found := verify(t, start(t, dir))
	for slug := range acked {
		if !found[slug] {
			t.Errorf("the acknowledged note %s is lost", slug)
		}
	}
}

// TestFullDisk fills the server's disk. The server must refuse writes and report that. When there
// is room again, it must accept writes without a restart. SIGTERM must end it with status 0 even if
// the disk is full.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may mount a tmpfs")
	}
	dir := clusterDir(t)
	data := filepath.Join(dir, "data")
	if err := errors.Join(os.Rename(data, data+".made"), os.Mkdir(data, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size=48m"); err != nil {
		t.Skipf("mounting a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(data, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := os.CopyFS(data, os.DirFS(data+".made")); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(data, "ballast")
	fill := func() {
		f, err := os.Create(ballast)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	text := strings.Repeat("long ", 8000)
	acked := map[string]bool{}
	p := start(t, dir)
	for round := range 2 {
		if status := p.addNotes(acked, fmt.Sprint("before-", round, "-"), "t", 5); status != http.StatusOK {
			t.Fatalf("a write answers %d", status)
		}
		fill()
		if status := p.addNotes(acked, fmt.Sprint("full-", round, "-"), text, 1000); status != http.StatusServiceUnavailable {
			t.Fatalf("a write on a full disk answers %d, want 503", status)
		}
		p.refused()
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		p.eventuallyWrites(acked, fmt.Sprint("after-", round, "-"))
	}
	fill()
	if status := p.addNotes(acked, "last-", text, 1000); status != http.StatusServiceUnavailable {
		t.Fatalf("a write on a full disk answers %d, want 503", status)
	}
	p.ends()
	all(t, dir, acked) // the disk is still full
}

// TestMovedFolder moves the folder of a graph away while the server runs, and then puts a copy in
// its place. The server must refuse writes and report that until it has opened the folder again.
// The folder at the path must have every commit that the server acknowledged.
func TestMovedFolder(t *testing.T) {
	dir := clusterDir(t)
	home := filepath.Join(dir, "data", "code")
	moved := home + ".moved"
	acked := map[string]bool{}
	p := start(t, dir)
	if status := p.addNotes(acked, "before-", "t", 5); status != http.StatusOK {
		t.Fatalf("a write answers %d", status)
	}
	if err := os.Rename(home, moved); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if status := p.addNotes(acked, fmt.Sprint("gone-", i), "t", 1); status != http.StatusServiceUnavailable {
			t.Fatalf("a write to a folder that is gone answers %d, want 503", status)
		}
		p.refused()
	}
	if err := os.CopyFS(home, os.DirFS(moved)); err != nil {
		t.Fatal(err)
	}
	p.eventuallyWrites(acked, "after-")
	if err := os.Remove(filepath.Join(home, "LOCK")); err != nil {
		t.Fatal(err)
	}
	if out, err := run("omnigraph", "verify", "--store", home); err == nil || !strings.Contains(out, "locked") {
		t.Errorf("a second process opens the graph without its LOCK: %v: %s", err, out)
	}
	if status := p.addNotes(acked, "more-", "t", 5); status != http.StatusOK {
		t.Errorf("a write without LOCK answers %d", status)
	}
	p.ends()
	omnigraph(t, "verify", "--store", moved)
	all(t, dir, acked)
}

// run runs a command that TestMain has built.
func run(name string, args ...string) (out string, err error) {
	b, err := exec.Command(filepath.Join(bin, name), args...).CombinedOutput()
	return string(b), err
}
