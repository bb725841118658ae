package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// TestMonitoring lets Prometheus read the metrics of two servers with shared storage. promtool accepts the alert rules,
// Prometheus evaluates each of them, and each expression of the dashboard.
func TestMonitoring(t *testing.T) {
	for _, program := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed; on Debian, apt-get install prometheus", program)
		}
	}
	rules, err := filepath.Abs("../../docs/deployment/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f := newFleet(t, 2, storageURL(t, "folder"))
	f.start(0)
	f.start(1)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "token"), sharedToken)
	config := filepath.Join(dir, "prometheus.yml")
	targets := strings.ReplaceAll(strings.Join(f.peers, ", "), "http://", "")
	write(t, config, fmt.Sprintf(`global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [%s]
scrape_configs:
  - job_name: omnigraph
    authorization: { credentials_file: token }
    static_configs: [{ targets: [%s] }]
`, rules, targets))
	if out, err := exec.Command("promtool", "check", "config", config).CombinedOutput(); err != nil || !strings.Contains(string(out), "rules found") {
		t.Fatalf("promtool check config: %v\n%s", err, out)
	}

	p := startPrometheus(t, dir, config)
	p.eventually("two servers are read twice", func() bool {
		return len(p.query("count_over_time(up{job=\"omnigraph\"}[1m]) > 1 and up == 1")) == 2
	})
	p.eventually("each rule was evaluated", func() bool {
		var answer struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError, State string }
			}
		}
		p.get("rules", nil, &answer)
		known := 0
		for _, r := range answer.Groups[0].Rules {
			if r.Health == "err" || r.State == "firing" {
				t.Fatalf("the rule %s: %s, %s", r.Name, r.State, r.LastError)
			}
			if r.Health == "ok" {
				known++
			}
		}
		return known == len(answer.Groups[0].Rules)
	})

	text, err := os.ReadFile("../../docs/deployment/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	// These have no series yet, because nothing of the kind has happened, or the graphs have no quota.
	empty := map[string]bool{"Refused for the load": true, "Refused before the policy": true, "Denied by the policy": true, "Embedding calls": true, "Calls that fail, by outcome": true}
	seen := 0
	for _, panel := range dashboard.Panels {
		for i, target := range panel.Targets {
			expr := strings.NewReplacer("$graph", ".*", "$__rate_interval", "1m").Replace(target.Expr)
			found := p.query(expr)
			if len(found) == 0 && i == 0 && !empty[panel.Title] {
				t.Errorf("the panel %s is empty: %s", panel.Title, expr)
			}
			seen++
		}
	}
	if seen < 20 {
		t.Errorf("the dashboard has %d expressions", seen)
	}
}

// prometheus is a running Prometheus.
type prometheus struct {
	t    *testing.T
	addr string
}

// startPrometheus runs Prometheus with a configuration and data in a folder. It stops at the end of the test.
func startPrometheus(t *testing.T, dir, config string) *prometheus {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &prometheus{t, ln.Addr().String()}
	ln.Close()
	cmd := exec.Command("prometheus", "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+p.addr)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("Prometheus logs\n%.4000s", text)
		}
	})
	p.eventually("Prometheus answers", func() bool {
		res, err := http.Get("http://" + p.addr + "/-/ready")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return p
}

// eventually waits until a condition holds.
func (p *prometheus) eventually(what string, holds func() bool) {
	p.t.Helper()
	for deadline := clock.Now().Add(patient); !holds(); time.Sleep(100 * time.Millisecond) {
		if clock.Now().After(deadline) {
			p.t.Fatalf("not within %v: %s", patient, what)
		}
	}
}

// query returns the values of an expression.
func (p *prometheus) query(expr string) []json.RawMessage {
	p.t.Helper()
	var answer struct{ Result []json.RawMessage }
	p.get("query", url.Values{"query": {expr}}, &answer)
	return answer.Result
}

// get decodes the data in the answer of a route of Prometheus.
func (p *prometheus) get(route string, values url.Values, data any) {
	p.t.Helper()
	res, err := http.Get("http://" + p.addr + "/api/v1/" + route + "?" + values.Encode())
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	answer := struct {
		Status string
		Data   any
	}{Data: data}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Status != "success" {
		p.t.Fatalf("%s %s: %v, %s", route, values.Get("query"), err, body)
	}
}
