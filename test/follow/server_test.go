package follow

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// graphServer is an omnigraph-server that a test kills.
type graphServer struct {
	cmd *exec.Cmd
	out bytes.Buffer
	url string
	dir string // with cluster.yaml
}

// newServers makes the folders of n servers of the graph g, with the given storage, and applies the cluster.
func newServers(w *world, n int, storage string) []*graphServer {
	w.Helper()
	servers := make([]*graphServer, n)
	peers := ""
	for i := range servers {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			w.Fatal(err)
		}
		defer ln.Close() // each port stays in use until all ports are chosen
		servers[i] = &graphServer{url: "http://" + ln.Addr().String(), dir: filepath.Join(w.dir, fmt.Sprint("server", i))}
		peers += servers[i].url + ", "
	}
	config := "version: 1\nstorage: " + storage + "\ngraphs: { g: { schema: schema.pg } }\n"
	if n > 1 {
		config += "peers: [" + strings.TrimSuffix(peers, ", ") + "]\n"
	}
	for _, s := range servers {
		if err := os.Mkdir(s.dir, 0o700); err != nil {
			w.Fatal(err)
		}
		for name, text := range map[string]string{"cluster.yaml": config, "schema.pg": schema} {
			if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
				w.Fatal(err)
			}
		}
	}
	w.omnigraph("cluster", "apply", "--cluster", servers[0].dir)
	return servers
}

// start runs the server until it answers.
func (s *graphServer) start(w *world, i int) {
	w.Helper()
	at := strings.TrimPrefix(s.url, "http://")
	s.cmd = exec.Command(serverBin, "--cluster", s.dir, "--bind", at, "--node", fmt.Sprint("og-", i), "--advertise", s.url, "--unauthenticated")
	s.out.Reset()
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	if err := s.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.cmd.Process.Kill() })
	for end := clock.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if exec.CommandContext(w.Context(), bin, "snapshot", "--server", s.url, "--graph", "g").Run() == nil {
			return
		}
		if clock.Now().After(end) {
			s.kill()
			w.Fatalf("the server does not answer within a minute:\n%s", s.out.String())
		}
	}
}

// kill ends the server at once.
func (s *graphServer) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // killed
}

// followed waits until the graph equals the tables. If the follower has ended, because the server was away before it had read the
// graph, it starts another one.
func (w *world) followed(p *process) *process {
	w.Helper()
	w.until("the graph equals the tables", func() bool {
		select {
		case err := <-p.done:
			if out := p.out.String(); strings.Contains(out, "copying the tables") || strings.Contains(out, "following the changes") {
				w.Fatalf("the follower ended with %v:\n%s", err, p.out.String())
			}
			p = w.start()
		default:
		}
		return slices.Equal(w.lines(), w.rows())
	})
	return p
}

// TestServerKills kills the server that has the graph in the midst of random transactions, in each round and also during the
// copy. The follower goes on, and after each kill the graph becomes equal to the tables.
func TestServerKills(t *testing.T) {
	slow.Test(t)
	if *seed == 0 {
		*seed = uint64(clock.Now().UnixNano())
	}
	t.Logf("seed %d", *seed)
	rnd := rand.New(rand.NewPCG(*seed, 1))
	w := newWorld(t, tables)
	server := newServers(w, 1, "./data")[0]
	server.start(w, 0)
	w.graph = []string{"--server", server.url, "--graph", "g"}
	conn := w.connect()
	defer conn.Close(context.Background())
	const each = 56
	committed, kills := 0, max(3, *rounds*2/3)
	var p *process
	for range kills {
		at := rnd.IntN(each)
		for k := range each {
			if transaction(t, conn, rnd) {
				committed++
			}
			if k == at {
				if p == nil {
					p = w.start()
				}
				time.Sleep(time.Duration(rnd.IntN(400)) * time.Millisecond) // anywhere in its start, the copy or a load
				server.kill()
			}
		}
		server.start(w, 0)
		p = w.followed(p)
	}
	w.compare()
	t.Logf("%d transactions, %d kills of the server; %d entities", committed, kills, len(w.rows()))
}

// TestTakeover kills the server that writes the graph in shared storage, while another one forwards the changes of a follower to it.
func TestTakeover(t *testing.T) {
	slow.Test(t)
	w := newWorld(t, tables)
	rnd := rand.New(rand.NewPCG(1, 2))
	servers := newServers(w, 2, fmt.Sprintf("{ url: %q, cache: ./cache, lease: 1s, max_staleness: 10s }", "file://"+filepath.Join(w.dir, "bucket")))
	for i, s := range servers {
		s.start(w, i)
		if i == 0 { // the first server that writes becomes the writer
			w.write("first.ndjson", `{"type":"Person","data":{"no":1000,"name":"first"}}`+"\n")
			w.omnigraph("load", "--server", s.url, "--graph", "g", "--data", filepath.Join(w.dir, "first.ndjson"), "--mode", "append")
			w.exec("INSERT INTO people VALUES (1000, 'first')")
		}
	}
	w.graph = []string{"--server", servers[1].url, "--graph", "g"}
	conn := w.connect()
	defer conn.Close(context.Background())
	transaction(t, conn, rnd)
	p := w.followed(w.start())
	for k := range 60 {
		transaction(t, conn, rnd)
		if k == 20 {
			servers[0].kill()
		}
	}
	w.followed(p)
}
