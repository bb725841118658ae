package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// TestAuditOverKills kills the server with SIGKILL under load, several times on the same data. The trail must have each
// call that was acknowledged longer before a kill than the bound, and a gap for each kill; its chain must be whole.
func TestAuditOverKills(t *testing.T) {
	// The guides promise a second, if the storage takes less than that; other tests may run on the machine.
	const bound = 2 * time.Second
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	dir := clusterDir(t)
	type call struct {
		id string
		at time.Time
	}
	var safe, late int // calls acknowledged longer before a kill than the bound, and later
	var answered []call
	var kills []time.Time
	for range rounds {
		p := start(t, dir)
		var mu sync.Mutex
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := 0; ; i++ {
					id := fmt.Sprintf("call-%d-%d-%d", len(kills), w, i)
					req, err := http.NewRequest(http.MethodPost, "http://"+p.addr+"/graphs/code/query", strings.NewReader(`{"query":"query q() { match { $s: Symbol } return { $s.id } limit 5 }"}`))
					if err != nil {
						t.Error(err)
						return
					}
					req.Header.Set("Content-Type", "application/json")
					req.Header.Set("Authorization", "Bearer "+p.token)
					req.Header.Set("X-Request-Id", id)
					status, err := send(req, nil)
					if err != nil {
						return // the server was killed
					}
					if status != http.StatusOK {
						t.Errorf("the query answered %d", status)
						return
					}
					mu.Lock()
					answered = append(answered, call{id, clock.Now()})
					mu.Unlock()
				}
			})
		}
		began, before := clock.Now(), len(kills)
		for ready := false; !ready && clock.Since(began) < time.Minute; time.Sleep(20 * time.Millisecond) {
			mu.Lock()
			for _, c := range answered { // one call of this round was answered long enough ago
				ready = ready || strings.HasPrefix(c.id, fmt.Sprintf("call-%d-", before)) && clock.Since(c.at) > bound+time.Second
			}
			mu.Unlock()
		}
		killed := clock.Now()
		p.kill()
		wg.Wait()
		kills = append(kills, killed)
	}
	start(t, dir).stop() // marks the last gap

	chains := verifiedChains(t, filepath.Join(dir, "data"))
	if len(chains) != 1 || len(chains[0].Gaps) != rounds {
		t.Fatalf("after %d kills: %+v", rounds, chains)
	}
	for i, g := range chains[0].Gaps {
		if before := kills[i].Sub(g.Since); before > bound || before < 0 {
			t.Errorf("gap %d begins %v before the kill, want at most %v", i, before, bound)
		}
	}
	recorded := recordedCalls(t, filepath.Join(dir, "data"))
	lost := 0
	for _, c := range answered {
		var round int
		fmt.Sscanf(c.id, "call-%d-", &round)
		switch {
		case kills[round].Sub(c.at) <= bound:
			late++
			if recorded[c.id] == 0 {
				lost++
			}
		case recorded[c.id] != 1:
			t.Errorf("%s was acknowledged %v before the kill, and is recorded %d times", c.id, kills[round].Sub(c.at), recorded[c.id])
		default:
			safe++
		}
	}
	t.Logf("%d calls acknowledged more than the bound before a kill are all recorded; of %d later ones %d are lost", safe, late, lost)
	if safe == 0 {
		t.Error("no call was acknowledged long enough before a kill")
	}
}

// TestAuditGuide runs the commands of docs/audit.md, word for word, against a server with the settings and the policy of the guide.
func TestAuditGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := clusterDir(t)
	var script strings.Builder
	script.WriteString("set -eu\n")
	yaml, commands := 0, 0
	for _, m := range regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		switch {
		case m[1] == "yaml" && strings.HasPrefix(m[2], "server:"):
			yaml++
			replace(t, filepath.Join(dir, "cluster.yaml"), "server:\n", m[2])
		case m[1] == "yaml":
			yaml++
			policy := filepath.Join(dir, "queries/code/policy.yaml")
			rules, err := os.ReadFile(policy)
			if err != nil {
				t.Fatal(err)
			}
			write(t, policy, string(rules)+"\n"+m[2])
		case m[1] == "sh":
			commands += strings.Count(m[2], "\n")
			script.WriteString(m[2])
		default:
			t.Errorf("a block of %s, which the test does not run", m[1])
		}
	}
	if yaml != 2 || commands != 6 {
		t.Errorf("the guide has %d blocks of YAML and %d commands", yaml, commands)
	}
	p := start(t, dir)
	if status, err := p.post("/graphs/code/query", "application/json", `{"query":"query q() { match { $s: Symbol } return { $s.id } }"}`, nil); err != nil || status != http.StatusOK {
		t.Fatalf("the query: %d, %v", status, err)
	}
	cmd := exec.Command("sh", "-c", script.String())
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "SERVER=http://"+p.addr, "OMNIGRAPH_TOKEN="+p.token)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), `"example.com/p.F1"`); n < 2 || !strings.Contains(string(out), "act-dev") {
		t.Errorf("the commands show the read of the symbol %d times:\n%s", n, out)
	}
	p.stop()
}
