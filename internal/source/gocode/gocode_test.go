package gocode

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
)

// env keeps the go command from using the network or a workspace that contains this repository.
func env() []string { return append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off") }

func TestReadGolden(t *testing.T) {
	var out [2]bytes.Buffer
	for i := range out {
		g, err := Read(t.Context(), Options{Dir: "testdata/shop", Env: env()})
		if err != nil {
			t.Fatal(err)
		}
		lines, err := g.WriteNDJSON(&out[i])
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Count(out[i].Bytes(), []byte{'\n'}); got != lines {
			t.Errorf("WriteNDJSON says %d lines and wrote %d", lines, got)
		}
	}
	if !bytes.Equal(out[0].Bytes(), out[1].Bytes()) {
		t.Error("reading the same module twice gives different graphs")
	}
	// The standard library's lines of code differ between releases.
	var stable []string
	for line := range strings.Lines(out[0].String()) {
		if strings.Contains(line, `"type":"Package"`) && !strings.Contains(line, "example.com") {
			continue
		}
		stable = append(stable, line)
	}
	golden.Check(t, "testdata/shop.ndjson", []byte(strings.Join(stable, "")))
}

// TestReadDeps also reads the dependencies. The nodes and edges of a read without them must be
// unchanged, and calls must lead into the standard library and continue within it.
func TestReadDeps(t *testing.T) {
	own, err := Read(t.Context(), Options{Dir: "testdata/shop", Env: env()})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Read(t.Context(), Options{Dir: "testdata/shop", Env: env(), Deps: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range own.Symbols {
		if !s.External && !slices.Contains(all.Symbols, s) {
			t.Errorf("symbol %+v is different when dependencies are read", s)
		}
	}
	for _, f := range own.Files {
		if !slices.Contains(all.Files, f) {
			t.Errorf("file %+v is different when dependencies are read", f)
		}
	}
	for _, c := range own.Calls {
		if !slices.Contains(all.Calls, c) {
			t.Errorf("call %+v is different when dependencies are read", c)
		}
	}
	from := func(c codegraph.Counted, prefix string) bool { return strings.HasPrefix(c.From, prefix) }
	if !slices.ContainsFunc(all.Calls, func(c codegraph.Counted) bool {
		return from(c, "example.com/") && !strings.HasPrefix(c.To, "example.com/")
	}) {
		t.Error("no call leads out of the module")
	}
	if !slices.ContainsFunc(all.Calls, func(c codegraph.Counted) bool { return from(c, "fmt.") && c.To == "unicode/utf8.RuneCountInString" }) {
		t.Error("the graph has no call from fmt to unicode/utf8")
	}
	if !slices.ContainsFunc(all.Files, func(f codegraph.File) bool { return f.Path == "std/fmt/print.go" }) {
		t.Error("there is no file std/fmt/print.go")
	}
	paths := map[string]bool{}
	for _, s := range all.Symbols {
		if paths[s.Path] {
			t.Errorf("two symbols are %s", s.Path)
		}
		paths[s.Path] = true
	}
	if len(all.Packages) < len(own.Packages)+10 || len(paths) < 1000 {
		t.Errorf("%d packages, %d symbols: dependencies are missing", len(all.Packages), len(paths))
	}
}

func TestReadProgress(t *testing.T) {
	var stages []string
	_, err := Read(t.Context(), Options{Dir: "testdata/shop", Env: env(), Progress: func(stage string, done, total int) {
		if done == 0 {
			stages = append(stages, stage)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(stages, ", "); got != "type-checking packages, reading symbols, reading references, matching interfaces" {
		t.Errorf("stages: %s", got)
	}
}

func TestReadFaults(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(t.Context(), Options{Dir: dir, Env: env()}); err == nil {
		t.Error("a folder without a module was read")
	}
	if _, err := Read(t.Context(), Options{Dir: filepath.Join(dir, "nowhere"), Env: env()}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a folder that does not exist: %v", err)
	}
	write("go.mod", "module example.com/broken\n\ngo 1.26\n")
	write("broken.go", "package broken\n\nvar x int = \"text\"\n")
	_, err := Read(t.Context(), Options{Dir: dir, Env: env()})
	var load *LoadError
	if !errors.As(err, &load) {
		t.Fatalf("got %v, want a *LoadError", err)
	}
	if !strings.Contains(err.Error(), "broken.go:3:13") {
		t.Errorf("the error names no place: %v", err)
	}
}
