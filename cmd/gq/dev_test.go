package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
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
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// lockedBuffer is a buffer that several goroutines use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// eventually waits until the function returns true, for two minutes.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := clock.Now().Add(2 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if clock.Now().After(deadline) {
			t.Fatalf("for two minutes: %s", what)
		}
	}
}

// TestDev edits the files of a cluster with a thousand queries in twenty files while gq dev serves it.
func TestDev(t *testing.T) {
	slow.Test(t)
	program := filepath.Join(t.TempDir(), executable("omnigraph-server"))
	if out, err := exec.Command("go", "build", "-o", program, "../omnigraph-server").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const schema = "node Person {\n  name: String @key\n}\n"
	const first = "query people() @description(\"List the people.\") { match { $p: Person } return { $p.name as name } }\n"
	write("schema.pg", schema)
	write("queries/first.gq", first)
	for file := range 20 {
		text := ""
		for n := range 50 {
			text += fmt.Sprintf("query f%02d_of%02d($name: String) @description(\"Query %d.\") { match { $p: Person { name: $name } } return { $p.name as name } }\n\n", file, n, n)
		}
		write(fmt.Sprintf("queries/q%d.gq", file), text)
	}
	write("policy.yaml", "version: 1\nrules:\n  - id: development\n    allow: { actors: { ids: [act-dev] }, actions: [invoke_query, read] }\n")
	write("cluster.yaml", "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg, queries: queries/ }\npolicies:\n  people: { file: policy.yaml, applies_to: [people] }\n")
	write("seed.jsonl", `{"type":"Person","data":{"name":"Ada"}}`)

	var out, errs lockedBuffer
	d := &dev{dir: dir, bind: "127.0.0.1:0", server: program, seed: filepath.Join(dir, "seed.jsonl"), out: &out, err: &errs}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("gq dev printed\n%s\n%s", out.String(), errs.String())
		}
	}()
	address := regexp.MustCompile(`OMNIGRAPH_LISTEN_ADDR=(\S+)`)
	eventually(t, "the server does not listen", func() bool { return address.MatchString(out.String()) })
	url := "http://" + address.FindStringSubmatch(out.String())[1]
	call := func(query string) (int, string) {
		token, err := os.ReadFile(filepath.Join(dir, "data", "dev-token"))
		if err != nil {
			t.Fatal(err)
		}
		r, _ := http.NewRequest("POST", url+"/graphs/people/queries/"+query, strings.NewReader(`{}`))
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(text)
	}
	if status, answer := call("people"); status != 200 || !strings.Contains(answer, "Ada") {
		t.Errorf("the seed: %d %s", status, answer)
	}

	saved := clock.Now()
	again := first + "\nquery people_again() @description(\"List them again.\") { match { $p: Person } return { $p.name as name } }\n"
	write("queries/first.gq", again)
	eventually(t, "the new query is not callable", func() bool { status, _ := call("people_again"); return status == 200 })
	t.Logf("from the save to the call: %v", clock.Now().Sub(saved))
	eventually(t, "the new query is not printed", func() bool { return strings.Contains(out.String(), "people  query   + people_again") })

	write("queries/first.gq", strings.Replace(first, "$p.name", "$p.nam", 1))
	eventually(t, "the fault is not printed", func() bool {
		return strings.Contains(errs.String(), "first.gq:1:") && strings.Contains(errs.String(), "^")
	})
	if status, _ := call("people"); status != 200 {
		t.Errorf("a file with a fault stops the query: %d", status)
	}
	write("queries/first.gq", again)
	eventually(t, "the end of the fault is not printed", func() bool {
		return strings.Contains(out.String(), "no faults; the files are those of the last revision")
	})
	write("schema.pg", schema+"\nnode Team { name: String @key }\n")
	write("queries/first.gq", first+"\nquery teams() @description(\"List the teams.\") { match { $t: Team } return { $t.name as name } }\n")
	eventually(t, "a query of the new type is not callable", func() bool { status, _ := call("teams"); return status == 200 })
	if !strings.Contains(out.String(), "people  schema  + add_node node Team") {
		eventually(t, "the schema is not printed", func() bool { return strings.Contains(out.String(), "people  schema  + add_node node Team") })
	}
}
