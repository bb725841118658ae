package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestScripts runs the scripts of testdata/script, with the command in a process of its own. In
// addition to the commands of testscript they have
//
//	code N omnigraph …   run the command, which ends with the exit code N
//	golden NAME          compare standard output with testdata/golden/SCRIPT/NAME; ids and
//	                     times, which differ from run to run, are replaced
//	golden -stderr NAME  the same for standard error
//	head BRANCH VAR      set VAR to the commit at the head of the branch of store g
//	approval GRAPH       set APPROVAL and BREAKING to the digests that cluster plan prints for the graph
//	flip FILE [TEXT]     change one byte of FILE: the first one of TEXT, or the one in the middle
//	newer FILE           give FILE of a store, such as END, the next format number
//	serve [-fixed] STORE [POLICY]
//	                     serve a store as graph people at $URL until the script ends: token
//	                     t-ada is act-ada, and so on; with -fixed, requests cannot
//	                     change the schema, as in a cluster
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			testscript.Run(t, testscript.Params{Files: []string{file}, RequireExplicitExec: true, Setup: setup, Cmds: scriptCommands(t, name)})
		})
	}
}

type scriptCommand = func(ts *testscript.TestScript, neg bool, args []string)

func setup(env *testscript.Env) error {
	code, err := filepath.Abs("../../queries/code")
	if err != nil {
		return err
	}
	env.Setenv("CODE", code) // the folder of the schema of compiled-in queries
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		return err
	}
	env.Setenv("TESTDATA", testdata)
	env.Setenv("HOME", env.WorkDir)
	env.Values["steady"] = &steady{tokens: map[string]string{}}
	return nil
}

func scriptCommands(t *testing.T, script string) map[string]scriptCommand {
	return map[string]scriptCommand{
		"code": func(ts *testscript.TestScript, _ bool, args []string) {
			err := ts.Exec(args[1], args[2:]...)
			got := "0"
			if err != nil {
				got = strings.TrimPrefix(err.Error(), "exit status ")
			}
			if got != args[0] {
				ts.Fatalf("exit code %s, want %s\n%s%s", got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
			}
		},
		"golden": func(ts *testscript.TestScript, _ bool, args []string) {
			from := "stdout"
			if args[0] == "-stderr" {
				from, args = "stderr", args[1:]
			}
			text := ts.Value("steady").(*steady).replace(ts.ReadFile(from))
			golden.Check(t, filepath.Join("testdata", "golden", script, args[0]), []byte(strings.ReplaceAll(text, ts.Getenv("WORK"), "$WORK")))
		},
		"head": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Check(ts.Exec("omnigraph", "commit", "list", "--store", "g", "--branch", args[0], "--limit", "1", "--format", "csv"))
			id, _, _ := strings.Cut(strings.Split(ts.ReadFile("stdout"), "\n")[1], ",")
			ts.Setenv(args[1], id)
		},
		"approval": func(ts *testscript.TestScript, _ bool, args []string) {
			ts.Check(ts.Exec("omnigraph", append([]string{"cluster", "plan", "--format", "csv"}, args[1:]...)...))
			found := false
			for line := range strings.Lines(ts.ReadFile("stdout")) {
				for flag, variable := range map[string]string{"approve": "APPROVAL", "breaking": "BREAKING"} {
					if digest, ok := strings.CutPrefix(strings.TrimSpace(line), args[0]+",approve,'--"+flag+" "); ok {
						ts.Setenv(variable, digest)
						found = true
					}
				}
			}
			if !found {
				ts.Fatalf("the plan has nothing to approve for %s", args[0])
			}
		},
		"flip": func(ts *testscript.TestScript, _ bool, args []string) {
			path := ts.MkAbs(args[0])
			b, err := os.ReadFile(path)
			ts.Check(err)
			i := len(b) / 2
			if len(args) > 1 {
				if i = strings.Index(string(b), args[1]); i < 0 {
					ts.Fatalf("%s holds no %q", path, args[1])
				}
			}
			b[i] ^= 1
			ts.Check(os.WriteFile(path, b, 0o600))
		},
		"newer": func(ts *testscript.TestScript, _ bool, args []string) {
			path := ts.MkAbs(args[0])
			b, err := os.ReadFile(path)
			ts.Check(err)
			b[8]++ // the format; the checksum of the file is at its end
			end := len(b) - 4
			binary.LittleEndian.PutUint32(b[end:], crc32.Checksum(b[:end], crc32.MakeTable(crc32.Castagnoli)))
			ts.Check(os.WriteFile(path, b, 0o600))
		},
		"serve": func(ts *testscript.TestScript, _ bool, args []string) {
			policyFile, opts := "", rest.Options{}
			if args[0] == "-fixed" {
				opts.SchemasFixed, args = operations.FixedByCluster, args[1:]
			}
			if len(args) > 1 {
				policyFile = ts.MkAbs(args[1])
			}
			url, stop := serveWith(t, ts.MkAbs(args[0]), policyFile, opts)
			ts.Defer(stop)
			ts.Setenv("URL", url)
		},
	}
}

// serve serves a store over REST.
func serve(t *testing.T, store, policyFile string) (url string, stop func()) {
	t.Helper()
	return serveWith(t, store, policyFile, rest.Options{})
}

// serveWith serves a store over REST with options.
func serveWith(t *testing.T, store, policyFile string, opts rest.Options) (url string, stop func()) {
	t.Helper()
	g, err := embedded.Open(t.Context(), fs.OS(), store, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var authorizer access.Authorizer = policy.Unrestricted("people")
	if policyFile != "" {
		if authorizer, err = policy.Read(policyFile, policy.Options{Graph: "people"}); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := g.Schema(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	config := servedgraph.Config{ID: "people", Graph: g, Authorizer: authorizer, Limits: servedgraph.Limits{LoadBytes: opts.MaxLoad}}
	if catalogs[0].SchemaDigest == schema.Digest {
		config.Catalog = catalogs[0]
	}
	served, err := servedgraph.NewGraph(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	h := rest.Handler(map[string]*servedgraph.Graph{"people": served, "code": served, "files": served}, opts)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer t-")
		if !ok {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"no valid token","code":"unauthorized"}`)
			return
		}
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), &access.Actor{ID: "act-" + name, Source: "token"})))
	}))
	return srv.URL, func() {
		srv.Close()
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// steady replaces texts that differ from run to run by texts of the same width. It replaces times,
// and it numbers ids in the order of their first appearance.
type steady struct{ tokens map[string]string }

var varying = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{26}\b|\b\d{4}-\d\d-\d\dT[0-9:.]{15}Z|"(?:created|authored|expires)_at":\d+|\b\d{16}\b|"next_page_token":"[^"]*"|127\.0\.0\.1:\d+|go1\.[0-9.]+`)

func (s *steady) replace(text string) string {
	return varying.ReplaceAllStringFunc(text, func(m string) string {
		switch {
		case strings.HasPrefix(m, `"created_at"`), strings.HasPrefix(m, `"authored_at"`), strings.HasPrefix(m, `"expires_at"`):
			return strings.TrimRight(m, "0123456789") + "0"
		case strings.HasPrefix(m, `"next_page_token"`):
			return `"next_page_token":"TOKEN"`
		case strings.Contains(m, "T") && strings.HasSuffix(m, "Z") && len(m) == 27:
			return "2026-01-01T00:00:00.000000Z"
		case strings.HasPrefix(m, "127."):
			return net.JoinHostPort("127.0.0.1", "0")
		case strings.HasPrefix(m, "go1."):
			return "go1.x"
		case len(m) == 16:
			return strings.Repeat("0", 16)
		}
		if s.tokens[m] == "" {
			s.tokens[m] = fmt.Sprintf("ID%024d", len(s.tokens)+1)
		}
		return s.tokens[m]
	})
}
