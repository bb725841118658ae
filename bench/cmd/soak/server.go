package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

const (
	graphID = "code"

	// drainLimit is how long the server lets calls under way finish, and how much later
	// it may be gone.
	drainLimit = 15*time.Second + 5*time.Second

	startLimit = 30 * time.Second
)

// The actors of the policy that is served: one may do everything, one reads and writes
// to branches of its own, one reads and writes texts of its own.
const (
	everything = "act-dev"
	reader     = "act-ada"
	indexer    = "act-ci"
)

func tokenOf(actor string) string { return "soak-token-of-" + actor }

// server is a running server.
type server struct {
	cmd   *exec.Cmd
	addr  string
	ended chan error // receives once, when the process has ended

	log lockedBuffer
}

// lockedBuffer keeps the end of what is written to it.
type lockedBuffer struct {
	mu   sync.Mutex
	file *os.File // gets all of it, if set
	tail []byte
}

const maxTail = 64 << 10

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tail = append(b.tail, p...)
	if len(b.tail) > 2*maxTail {
		b.tail = bytes.Clone(b.tail[len(b.tail)-maxTail:])
	}
	if b.file != nil {
		return b.file.Write(p)
	}
	return len(p), nil
}

// logged is the end of the server's log.
func (p *server) logged() string {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return string(p.log.tail[max(0, len(p.log.tail)-4096):])
}

// startServer makes a cluster with the graph of the repository, empty but for a few
// symbols that notes can be about, and serves it.
func startServer(ctx context.Context, dir string, o options) (*server, error) {
	if err := os.CopyFS(filepath.Join(dir, "queries"), os.DirFS(filepath.Join(o.repo, "queries"))); err != nil {
		return nil, err
	}
	config, err := os.ReadFile(filepath.Join(o.repo, "cluster.yaml"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "cluster.yaml"), config, 0o644); err != nil {
		return nil, err
	}
	seed := filepath.Join(dir, "seed.ndjson")
	if err := os.WriteFile(seed, []byte(symbols()), 0o644); err != nil {
		return nil, err
	}
	store := filepath.Join(dir, "data", graphID)
	for _, args := range [][]string{
		{"init", "--schema", filepath.Join(dir, "queries", graphID, "schema.pg"), "--store", store},
		{"load", "--store", store, "--data", seed, "--mode", "merge"},
	} {
		if out, err := exec.CommandContext(ctx, filepath.Join(o.bin, "omnigraph"), args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("omnigraph %s: %w\n%s", args[0], err, out)
		}
	}
	p := &server{ended: make(chan error, 1)}
	if o.log != "" {
		if p.log.file, err = os.Create(o.log); err != nil {
			return nil, err
		}
	}
	// Not CommandContext: the server is told to stop in its own way.
	p.cmd = exec.Command(filepath.Join(o.bin, "omnigraph-server"), "--cluster", dir, "--bind", "127.0.0.1:0")
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "OMNIGRAPH_") {
			p.cmd.Env = append(p.cmd.Env, kv)
		}
	}
	for _, actor := range []string{everything, reader, indexer} {
		name := "OMNIGRAPH_TOKEN_" + strings.ToUpper(strings.ReplaceAll(actor, "-", "_"))
		p.cmd.Env = append(p.cmd.Env, name+"="+tokenOf(actor))
	}
	p.cmd.Stderr = &p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	listening := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if addr, ok := strings.CutPrefix(lines.Text(), "OMNIGRAPH_LISTEN_ADDR="); ok {
				listening <- addr
			}
		}
		p.ended <- p.cmd.Wait()
	}()
	select {
	case p.addr = <-listening:
		return p, nil
	case err := <-p.ended:
		return nil, fmt.Errorf("the server did not start: %v\n%s", err, p.logged())
	case <-time.After(startLimit):
	case <-ctx.Done():
	}
	p.kill()
	return nil, fmt.Errorf("the server did not listen within %v\n%s", startLimit, p.logged())
}

const numSymbols = 50

func symbolPath(i int) string { return fmt.Sprintf("example.com/p.F%d", i%numSymbols) }

func symbols() string {
	var b strings.Builder
	for i := range numSymbols {
		fmt.Fprintf(&b, `{"type":"Symbol","data":{"path":%q,"name":"F%d","kind":"func","exported":true,"line":%d,"words":"p f %d"}}`+"\n", symbolPath(i), i, i+1, i)
	}
	return b.String()
}

// ending is how the server ended after SIGTERM.
type ending struct {
	took time.Duration
	err  error // nil for status 0 within the limit
}

func (p *server) terminate() ending {
	start := clock.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return ending{0, err}
	}
	select {
	case err := <-p.ended:
		p.ended <- err
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, p.logged())
		}
		return ending{clock.Since(start), err}
	case <-time.After(drainLimit):
		p.kill()
		return ending{clock.Since(start), fmt.Errorf("it was still there after %v\n%s", drainLimit, p.logged())}
	}
}

// kill ends the process if it is still there, and waits for its end.
func (p *server) kill() {
	_ = p.cmd.Process.Kill() // fails when it has ended
	p.ended <- <-p.ended
	if p.log.file != nil {
		p.log.file.Close()
	}
}
