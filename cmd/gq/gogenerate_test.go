package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGoGenerate renames and removes query files, and runs go generate once after each change. The
// directive is in a package that go generate visits before the generated package, or after it.
func TestGoGenerate(t *testing.T) {
	gq := filepath.Join(t.TempDir(), "gq.exe")
	if out, err := exec.Command("go", "build", "-o", gq, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct {
		folder string // of the directive
		stays  bool   // an emptied file stays until the next run
	}{{"cmd", true}, {"queries", false}} {
		t.Run(tt.folder, func(t *testing.T) {
			module(t, map[string]string{
				"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people:\n    schema: schema.pg\n    queries: queries/\n",
				"schema.pg":    goodSchema, "queries/a.gq": goodQuery,
				"queries/b.gq":             strings.ReplaceAll(goodQuery, "find", "find_too"),
				tt.folder + "/generate.go": "package p\n\n//go:generate " + filepath.ToSlash(gq) + " generate\n",
			})
			generate := func(want string) {
				t.Helper()
				cmd := exec.Command("go", "generate", "./...")
				cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("go generate: %v\n%s", err, out)
				}
				if !strings.Contains(string(out), want) {
					t.Errorf("go generate wrote %q, want %q", out, want)
				}
			}
			there := func(name string, want bool) {
				t.Helper()
				if _, err := os.Stat(filepath.Join("generated", "people", name)); (err == nil) != want {
					t.Errorf("%s is there: %v, want %v", name, err == nil, want)
				}
			}
			generate("generated/people/a_gq.go\n")
			if err := os.Rename("queries/a.gq", "queries/c.gq"); err != nil {
				t.Fatal(err)
			}
			generate("\ngenerated/people/c_gq.go\n")
			there("a_gq.go", tt.stays)
			if code, _, stderr := gqRun("generate", "--check"); code != exitDone {
				t.Errorf("check: %s", stderr)
			}
			if err := os.Remove("queries/b.gq"); err != nil {
				t.Fatal(err)
			}
			generate("generated/people/b_gq.go\n")
			there("a_gq.go", false)
			there("b_gq.go", tt.stays)
			if code, _, stderr := gqRun("generate"); code != exitDone {
				t.Error(stderr)
			}
			there("b_gq.go", false)
			there("c_gq.go", true)
		})
	}
}

// TestFaultsUnderGoGenerate checks that the paths in diagnostics are relative to the root of the
// module even if the go:generate directive is in a subfolder of the module.
func TestFaultsUnderGoGenerate(t *testing.T) {
	for want, graphs := range map[string]string{
		"g/a.gq:1:28: error T1: ":        "  people:\n    schema: g/schema.pg\n    queries: g/\n",
		"cluster.yaml:5:13: error C8: ":  "  people:\n    schema: gone.pg\n",
		"cluster.yaml:7:3: error G10: ":  "  people:\n    schema: g/schema.pg\n    queries: g/\n  pe-ople:\n    schema: g/schema.pg\n    queries: g/\n",
		"cluster.yaml:7:7: error G8: g/": "  people:\n    schema: g/schema.pg\n    queries:\n      gone: {file: g/b.gq}\n",
	} {
		module(t, map[string]string{
			"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n" + graphs,
			"g/schema.pg":  goodSchema, "g/a.gq": "query find() { match { $p: Persn } return { $p } }\n", "g/b.gq": goodQuery,
		})
		if strings.Contains(want, "G8") || strings.Contains(want, "G10") {
			if err := os.Remove("g/a.gq"); err != nil {
				t.Fatal(err)
			}
		}
		t.Chdir("g")
		t.Setenv("GOFILE", "generate.go")
		t.Setenv("GOPACKAGE", "g")
		if code, _, stderr := gqRun("generate"); code != exitFailed || !strings.HasPrefix(stderr, want) {
			t.Errorf("exit %d, want %s\n%s", code, want, stderr)
		}
	}
}

// TestFaultsFromAFolder checks that the paths in diagnostics are relative to the current directory,
// both in their places and in their messages.
func TestFaultsFromAFolder(t *testing.T) {
	module(t, map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people:\n    schema: g/schema.pg\n    queries: g/\n",
		"g/schema.pg":  goodSchema, "g/a.gq": goodQuery + goodQuery,
	})
	t.Chdir("g")
	const want = "a.gq:2:7: error T27: duplicate query find, first declared at a.gq:1:7"
	for _, verb := range []string{"generate", "lint"} {
		code, stdout, stderr := gqRun(verb)
		if code != exitFailed || !strings.Contains("\n"+stdout+stderr, "\n"+want) {
			t.Errorf("gq %s: exit %d, want %s\n%s%s", verb, code, want, stdout, stderr)
		}
	}
}
