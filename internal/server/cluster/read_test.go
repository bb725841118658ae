package cluster

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

func TestRead(t *testing.T) {
	cfg, err := Read("testdata/ok/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(cfg, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/ok/cluster.golden", append(got, '\n'))
	if g := cfg.Graph("listed"); g == nil || g.ID != "listed" || cfg.Graph("lost") != nil {
		t.Errorf("graph by id: %+v", g)
	}
	if got := strings.Join(cfg.PolicyGraphs("testdata/ok/policy.yaml"), " "); got != "code named" {
		t.Errorf("policy applies to %q", got)
	}
}

// TestRepository reads the configuration of this repository.
func TestRepository(t *testing.T) {
	cfg, err := Read("../../../cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if g := cfg.Graph("code"); g == nil || g.Policy == "" || len(g.QueryFiles) == 0 || len(cfg.Notes) > 0 {
		t.Errorf("graph code: %+v, notes %v", g, cfg.Notes)
	}
}

// TestPathsOfAnotherFolder reads the file by an absolute path. The paths in the file are relative
// to its folder.
func TestPathsOfAnotherFolder(t *testing.T) {
	dir, err := filepath.Abs("testdata/ok")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	cfg, err := Read(filepath.Join(dir, "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "data"); cfg.Storage != want {
		t.Errorf("storage %q, expected %q", cfg.Storage, want)
	}
}

// TestSharedStorage reads a file with shared storage, and one with a folder in the form of a mapping.
func TestSharedStorage(t *testing.T) {
	const rest = "graphs: { code: { schema: schema.pg } }\n"
	cfg, err := Parse("testdata/ok/cluster.yaml", []byte(`version: 1
storage: { url: "s3://graphs/prod?region=eu-central-1", cache: ./cache, cache_bytes: 50GiB, lease: 20s }
peers: ["https://og-1.internal:8080", "http://127.0.0.1:8080/"]
`+rest))
	if err != nil {
		t.Fatal(err)
	}
	want := Shared{URL: "s3://graphs/prod?region=eu-central-1", Cache: "testdata/ok/cache", CacheBytes: 50 << 30, Lease: 20 * time.Second,
		Idle: DefaultIdle, MaxStaleness: DefaultMaxStaleness, Retention: DefaultRetention}
	if cfg.Storage != "" || cfg.Shared == nil || *cfg.Shared != want || cfg.Folder() != want.Cache {
		t.Errorf("read %q and %+v, want %+v", cfg.Storage, cfg.Shared, want)
	}
	if got := strings.Join(cfg.Peers, " "); got != "https://og-1.internal:8080 http://127.0.0.1:8080" {
		t.Errorf("the peers are %s", got)
	}
	cfg, err = Parse("testdata/ok/cluster.yaml", []byte("version: 1\nstorage: { url: ./data }\n"+rest))
	if err != nil || cfg.Storage != "testdata/ok/data" || cfg.Shared != nil || cfg.Folder() != cfg.Storage {
		t.Errorf("a folder as url: %+v, %v", cfg, err)
	}
}

func TestNoFile(t *testing.T) {
	if _, err := Read("testdata/nowhere.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := map[diag.Code]bool{}
	for _, file := range files {
		_, err := Read(file)
		var list diag.List
		if !errors.As(err, &list) {
			t.Errorf("%s: got %v, expected a diag.List", file, err)
			continue
		}
		if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "5550123") {
			t.Errorf("%s: a secret shows: %v", file, err)
		}
		for _, d := range list {
			seen[d.Code] = true
		}
		golden.Check(t, strings.TrimSuffix(file, ".yaml")+".golden", []byte(err.Error()+"\n"))
	}
	for _, c := range strictyaml.Codes() {
		switch c.Code {
		case strictyaml.TooLarge, strictyaml.Undetermined: // only generated files can show these faults
		default:
			if !seen[c.Code] {
				t.Errorf("no file shows %s: %s", c.Code, c.Purpose)
			}
		}
	}
}

// FuzzParse checks that no file makes the reader panic, and that a configuration without faults is
// complete.
func FuzzParse(f *testing.F) {
	for _, path := range []string{"testdata/ok/cluster.yaml", "testdata/faults/shape.yaml", "testdata/faults/files.yaml", "testdata/faults/secrets.yaml", "testdata/faults/unsupported.yaml", "testdata/faults/oidc.yaml"} {
		src, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		cfg, err := Parse("testdata/ok/cluster.yaml", src)
		if err != nil {
			return
		}
		if (cfg.Storage == "") == (cfg.Shared == nil) || len(cfg.Graphs) == 0 {
			t.Errorf("%q: read as %+v", src, cfg)
		}
		for _, g := range cfg.Graphs {
			if g.ID == "" || g.Schema == "" || g.MaxRows < 1 || g.MaxBytes < 1 {
				t.Errorf("%q: graph %+v", src, g)
			}
		}
	})
}

// TestProtected checks the protected branches of a graph whose policy is a .cedar file.
func TestProtected(t *testing.T) {
	read := func(policy, graph string) (*Config, error) {
		t.Helper()
		dir := t.TempDir()
		for name, text := range map[string]string{"schema.pg": "", "policy.cedar": "", "policy.yaml": "", "cluster.yaml": "version: 1\nstorage: ./data\n" +
			"graphs:\n  people: { schema: schema.pg" + graph + " }\n" + policy +
			"server: { oidc: { issuer: 'https://idp.example', audience: a, groups: { idp-reviewers: reviewers } } }\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return Read(filepath.Join(dir, "cluster.yaml"))
	}
	const cedar = "policies: { base: { file: policy.cedar, applies_to: [people] } }\n"
	const branches = ", protected_branches: [{ name: main, approvals: 2, from: { group: reviewers }, checks: true, owner_approves: false }], owners: { act-bot: [act-ada] }, filters: { north: { type: Person, where: '$it.a = 1' } }"
	cfg, err := read(cedar, branches)
	if err != nil {
		t.Fatal(err)
	}
	got := cfg.Graphs[0].Protected
	if n := got.Branches[0].Needs; got.Branches[0].Name != "main" || n.Approvals != 2 || n.Group.Key != "reviewers" || !n.Checks || n.OwnerApproves || got.Owned[0].Owners[0].Key != "act-ada" ||
		got.Filters[0].Name != "north" || got.Filters[0].Type != "Person" || got.Filters[0].Where != "$it.a = 1" {
		t.Errorf("read %+v", got)
	}
	for _, tt := range []struct{ policy, graph, want string }{
		{"policies: { base: { file: policy.yaml, applies_to: [people] } }\n", branches, "no policy in a .cedar file applies to it"},
		{"", ", owners: { act-bot: [act-ada] }", "no policy in a .cedar file applies to it"},
		{cedar, ", protected_branches: [{ name: main, from: { group: nosuch } }]", `unknown group "nosuch" in the protection of branch main`},
		{"policies: { base: { file: policy.yaml, applies_to: [people] } }\n", ", filters: { f: { type: Person, where: '$it.a = 1' } }", "no policy in a .cedar file applies to it"},
		{cedar, ", filters: { f: { type: Person } }", "filter f has no where"},
		{cedar, ", filters: { f: { type: Person, were: x } }", `did you mean where?`},
		{cedar, ", filters: { 'f g': { type: Person, where: x } }", `a filter's name must be`},
		{cedar, ", protected_branches: [main, main]", "branch main is in protected_branches twice"},
	} {
		if _, err := read(tt.policy, tt.graph); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s%s: %v, want %s", tt.policy, tt.graph, err, tt.want)
		}
	}
}

// TestMetaThresholds reads a file that refers to missing files, and texts that are not valid
// configurations.
func TestMetaThresholds(t *testing.T) {
	for src, want := range map[string]map[string]int{
		"": {}, "x: [": {}, "graphs: 1": {},
		"version: 1\nstorage: ./data\ngraphs:\n  a: { schema: gone.pg, queries: gone/, mcp: { meta_threshold: 7 } }\n  b: { schema: gone.pg, colour: red }\n": {"a": 7, "b": DefaultMetaThreshold},
	} {
		if got := MetaThresholds([]byte(src)); !maps.Equal(got, want) {
			t.Errorf("%q: found %v, expected %v", src, got, want)
		}
	}
}

// TestMode reads each form of the list of stored queries.
func TestMode(t *testing.T) {
	for mcp, want := range map[string]int{
		"mode: auto": DefaultMetaThreshold, "mode: auto, meta_threshold: 7": 7,
		"mode: meta": 1, "mode: meta, meta_threshold: 7": 1,
		"mode: per_query": math.MaxInt32, "mode: per_query, meta_threshold: 7": math.MaxInt32,
	} {
		src := "version: 1\nstorage: ./data\ngraphs:\n  a: { schema: gone.pg, queries: gone/, mcp: { " + mcp + " } }\n"
		if got := MetaThresholds([]byte(src))["a"]; got != want {
			t.Errorf("%s: two tools from %d queries on, expected %d", mcp, got, want)
		}
	}
}
