package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestMain lets scripts run this test binary as the command omnigraph.
func TestMain(m *testing.M) { testscript.Main(leakChecked{m}, map[string]func(){"omnigraph": main}) }

// leakChecked makes a test run fail if it leaves goroutines running.
type leakChecked struct{ *testing.M }

func (m leakChecked) Run() int {
	code := m.M.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

const schema = `node Person { name: String @key
  age: I32? }
edge Knows: Person -> Person {
  @unique(src, dst)
}
`

const seed = `{"type":"Person","data":{"name":"ada","age":36}}
{"type":"Person","data":{"name":"bob"}}
{"edge":"Knows","from":"ada","to":"bob"}
`

// omnigraph runs the command in this process.
func omnigraph(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// inFolder changes to a new folder with schema.pg, bad.pg, seed.ndjson and the store graph, which
// holds the seed.
func inFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	write(t, "schema.pg", schema)
	write(t, "bad.pg", "node Person { name: Strng @key }\nnode Person { }\n")
	write(t, "seed.ndjson", seed)
	for _, args := range [][]string{{"init", "--schema", "schema.pg", "--store", "graph"}, {"load", "--store", "graph", "--data", "seed.ndjson"}} {
		if code, _, stderr := omnigraph(t, "", args...); code != 0 {
			t.Fatalf("%v: %d %s", args, code, stderr)
		}
	}
}

// state returns the head commit of a store and the numbers of its nodes and edges.
func state(t *testing.T, store string) (head engine.Commit, nodes, edges int64) {
	t.Helper()
	g, err := embedded.Open(t.Context(), fs.OS(), store, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	s, err := g.Snapshot(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Nodes {
		nodes += c.Count
	}
	for _, c := range s.Edges {
		edges += c.Count
	}
	return s.Commit, nodes, edges
}

// TestFaults checks faulty command lines. Each must end with its exit code and with a message about
// the place and the remedy. It must print nothing on standard output and leave the store unchanged.
func TestFaults(t *testing.T) {
	inFolder(t)
	before, _, _ := state(t, "graph")
	for _, tt := range []struct {
		name  string
		args  string
		stdin string
		exit  int
		want  []string
	}{
		{"unknown command", "frobnicate", "", 2, []string{`unknown command "frobnicate"`, "omnigraph --help"}},
		{"unknown flag", "load --sotre graph", "", 2, []string{"--sotre", "omnigraph load --help"}},
		{"argument", "load graph", "", 2, []string{`"graph" was given`}},
		{"init without schema", "init --store x", "", 2, []string{"--schema is missing", "omnigraph init --help"}},
		{"init without store", "init --schema schema.pg", "", 2, []string{"--store is missing"}},
		{"no schema file", "init --schema none.pg --store x", "", 1, []string{"none.pg"}},
		{"bad schema", "init --schema bad.pg --store x", "", 1, []string{"bad.pg:1:21: error P10", "^~~~~", "write String;", "bad.pg has errors; the command created no graph"}},
		{"init over a graph", "init --schema schema.pg --store graph", "", 1, []string{"graph"}},
		{"load without store", "load --data seed.ndjson", "", 2, []string{"--store or --server is missing"}},
		{"load without data", "load --store graph", "", 2, []string{"--data is missing"}},
		{"load mode", "load --store graph --data seed.ndjson --mode replace", "", 2, []string{`--mode is "replace"`, "merge, patch, append, overwrite or sync"}},
		{"no store", "load --store none --data seed.ndjson", "", 1, []string{`"none" not found`, "omnigraph init --schema FILE --store none"}},
		{"no data file", "load --store graph --data none.ndjson", "", 1, []string{"none.ndjson"}},
		{"folder as data", "load --store graph --data .", "", 1, []string{"nothing was loaded"}},
		{"bad lines", "load --store graph --data -", `{"type":"Person","data":{"name":"dan"}}` + "\n" + `{"type":"Persn","data":{}}` + "\n\n" + `{"type":"Person","data":{"name":"eve","age":"old"}}`, 1,
			[]string{"standard input: nothing was loaded", "line 2", "Persn", "line 4, data.age", "I32"}},
		{"no JSON", "load --store graph --data bad.pg", "", 1, []string{"bad.pg: nothing was loaded: line 1"}},
		{"missing endpoint", "load --store graph --data -", `{"edge":"Knows","from":"ada","to":"nobody"}`, 1, []string{"line 1", "nobody"}},
		{"append what exists", "load --store graph --mode append --data -", `{"type":"Person","data":{"name":"dan"}}` + "\n" + `{"type":"Person","data":{"name":"ada"}}`, 1, []string{"line 2", `Person "ada" exists already`}},
		{"overwrite under a kept edge", "load --store graph --mode overwrite --data -", `{"type":"Person","data":{"name":"dan"}}`, 1, []string{"nothing was loaded", "Knows"}},
		{"server without a graph", "snapshot --server http://h", "", 2, []string{"--graph is missing"}},
		{"server of another scheme", "snapshot --server ftp://h --graph g", "", 2, []string{`--server is "ftp://h"`, "http://127.0.0.1:8080"}},
		{"server with a query", "snapshot --server http://h/?a=b --graph g", "", 2, []string{"without ? and #"}},
		{"server with a password", "snapshot --server http://u:hidden@h --graph g", "", 2, []string{"--server contains a user name or a password", "OMNIGRAPH_TOKEN"}},
		{"branch from nowhere", "load --store graph --data seed.ndjson --from main", "", 2, []string{"--from needs --branch"}},
		{"blob of what", "blob --store graph --type Person --id ada", "", 2, []string{"--property is missing"}},
		{"no blob", "blob --store graph --type Person --id ada --property name", "", 1, []string{"Person.name is of type String", "expected a Blob"}},
		{"index what", "index rust", "", 2, []string{`"rust" is not a language that omnigraph can index`, "omnigraph index go"}},
		{"index no module", "index go --dir .", "", 1, []string{"there is no go.mod in ."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := omnigraph(t, tt.stdin, strings.Fields(tt.args)...)
			if code != tt.exit || stdout != "" {
				t.Errorf("exit code %d, want %d; printed %q", code, tt.exit, stdout)
			}
			for _, want := range tt.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q is not in:\n%s", want, stderr)
				}
			}
		})
	}
	t.Run("empty name of a branch", func(t *testing.T) {
		code, stdout, stderr := omnigraph(t, "", "branch", "delete", "--store", "graph", "")
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, "NAME is an empty text; see omnigraph branch delete --help") {
			t.Errorf("exit code %d, printed %q and %q", code, stdout, stderr)
		}
	})
	if after, nodes, edges := state(t, "graph"); after.ID != before.ID || nodes != 2 || edges != 1 {
		t.Errorf("the faults left %d nodes and %d edges at %s, was %s", nodes, edges, after.ID, before.ID)
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a failed init left a store")
	}
}

func TestLoadModes(t *testing.T) {
	for _, tt := range []struct {
		name, args, stdin string
		nodes, edges      int64
		want              string
	}{
		{"merge by default", "", `{"type":"Person","data":{"name":"ada"}}` + "\n" + `{"type":"Person","data":{"name":"cyd"}}`, 3, 1, "node         Person  2\ncommit "},
		{"append", "--mode append", `{"type":"Person","data":{"name":"cyd"}}`, 3, 1, "node         Person  1\ncommit "},
		{"overwrite", "--mode overwrite", `{"type":"Person","data":{"name":"cyd"}}` + "\n" + `{"edge":"Knows","from":"cyd","to":"cyd"}`, 1, 1, "node         Person  1\nedge         Knows   1\ncommit "},
		{"what is there", "", `{"type":"Person","data":{"name":"ada","age":36}}`, 2, 1, "nothing was committed"},
		{"nothing", "", "\n\n", 2, 1, "the input has no entities"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inFolder(t)
			code, stdout, stderr := omnigraph(t, tt.stdin, strings.Fields("load --store graph --data - --as act-ada --format table "+tt.args)...)
			if code != 0 || stderr != "" || !strings.Contains(stdout, tt.want) {
				t.Fatalf("exit code %d, printed %q and %q, want %q", code, stdout, stderr, tt.want)
			}
			head, nodes, edges := state(t, "graph")
			if nodes != tt.nodes || edges != tt.edges {
				t.Errorf("%d nodes and %d edges, want %d and %d", nodes, edges, tt.nodes, tt.edges)
			}
			if _, id, ok := strings.Cut(stdout, "commit 0"); ok && (!strings.HasPrefix("0"+id, head.ID+"; nodes: 1 inserted, ") || head.Actor != "act-ada") {
				t.Errorf("printed commit 0%s, the head is %s by %q", id, head.ID, head.Actor)
			}
		})
	}
}

// TestLocked opens a graph in a second process. The error must identify the process that has the
// graph open.
func TestLocked(t *testing.T) {
	inFolder(t)
	g, err := embedded.Open(t.Context(), fs.OS(), "graph", embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if code, _, stderr := omnigraph(t, "", "load", "--store", "graph", "--data", "seed.ndjson"); code != 1 || !strings.Contains(stderr, "locked by process") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestIndexGo(t *testing.T) {
	module, err := filepath.Abs("../../internal/source/gocode/testdata/shop")
	if err != nil {
		t.Fatal(err)
	}
	codeSchema, err := filepath.Abs("../../queries/code/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]string{"GOWORK": "off", "GOFLAGS": "-mod=mod", "GOPROXY": "off"} {
		t.Setenv(name, v)
	}
	t.Chdir(t.TempDir())
	code, piped, stderr := omnigraph(t, "", "index", "go", "--dir", module)
	if code != 0 || !strings.HasPrefix(piped, `{"type":"Module"`) || stderr != "" {
		t.Fatalf("exit code %d: %.200s %s", code, piped, stderr)
	}
	write(t, "code.ndjson", "what was there before")
	code, stdout, stderr := omnigraph(t, "", "index", "go", "./...", "--dir", module, "--out", "code.ndjson")
	if code != 0 || stdout != "" || !strings.Contains(stderr, "packages") {
		t.Fatalf("exit code %d: %s %s", code, stdout, stderr)
	}
	readAt := regexp.MustCompile(`"read_at":"[^"]*"`)
	if b, err := os.ReadFile("code.ndjson"); err != nil || readAt.ReplaceAllString(string(b), "") != readAt.ReplaceAllString(piped, "") {
		t.Errorf("the file differs from what is printed: %v", err)
	}
	if left, _ := filepath.Glob("*.tmp*"); left != nil {
		t.Errorf("left behind: %v", left)
	}

	if code, _, stderr := omnigraph(t, "", "init", "--schema", codeSchema, "--store", "code"); code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := omnigraph(t, "", "load", "--store", "code", "--data", "code.ndjson", "--mode", "overwrite"); code != 0 {
		t.Fatal(stderr)
	}
	if _, nodes, edges := state(t, "code"); nodes+edges != int64(strings.Count(piped, "\n")) {
		t.Errorf("%d nodes and %d edges of %d lines", nodes, edges, strings.Count(piped, "\n"))
	}

	// A link to a device stays, and the output goes to the device.
	if err := os.Symlink(os.DevNull, "sink"); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := omnigraph(t, "", "index", "go", "--dir", module, "--out", "sink"); code != 0 {
		t.Fatal(stderr)
	}
	if info, err := os.Lstat("sink"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
	// A failed write leaves no file.
	if code, _, _ := omnigraph(t, "", "index", "go", "--dir", module, "--out", "none/code.ndjson"); code != 1 {
		t.Errorf("exit code %d", code)
	}
}
