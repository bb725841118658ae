//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	xmodule "golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/omnigraph-go/omnigraph/internal/codegen/scaffold"
)

// tidied runs go mod tidy in dir and checks that it adds no module that Omnigraph does not require.
func tidied(t *testing.T, dir string, env ...string) {
	t.Helper()
	cmd := exec.Command("go", "mod", "tidy")
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -modcacherw"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("finding module")) {
		t.Fatalf("go mod tidy: %v\n%s\ntools.go pins such modules", err, out)
	}
}

// TestInitTidies checks that go mod tidy in a new module does not look up the version of any
// module.
func TestInitTidies(t *testing.T) {
	root := checkout(t)
	t.Chdir(t.TempDir())
	if code, _, stderr := gqRun("init", "brain", "--replace", root); code != exitDone {
		t.Fatal(stderr)
	}
	tidied(t, "brain")
}

// TestInitOfARelease makes a module proxy from the files of this checkout, and a new module that
// requires the version of the proxy, as a released gq would make it. The test loads every package
// that the commands of the quickstart build, but does not compile any.
func TestInitOfARelease(t *testing.T) {
	if os.Getenv(initVar) == "" {
		t.Skip(initVar + " is not set; run make test-init")
	}
	const version = "v0.99.0"
	proxy, dir := t.TempDir(), filepath.Join(t.TempDir(), "brain")
	publish(t, checkout(t), proxy, version)
	m := &scaffold.Module{Path: "example.com/brain", Version: version, Bind: "127.0.0.1:8080"}
	files, err := m.Files()
	if err != nil {
		t.Fatal(err)
	}
	if err := scaffold.Write(dir, files); err != nil {
		t.Fatal(err)
	}
	known, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(known))
	env := []string{
		"GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(words[0]) + "/cache/download," + words[1],
		"GONOSUMDB=" + scaffold.Omnigraph, "GOMODCACHE=" + t.TempDir(),
	}
	tidied(t, dir, env...)
	cmd := exec.Command("go", "list", "-deps", "-test", "./...", "tool")
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly -modcacherw"), env...)
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"example.com/brain/generated/team", scaffold.Omnigraph + "/cmd/omnigraph", scaffold.Omnigraph + "/cmd/gq"} {
		if err != nil || !strings.Contains(string(out), want+"\n") {
			t.Fatalf("go list: %v, want %s\n%s", err, want, out)
		}
	}
}

// publish writes a version of the module in root to the folder of a module proxy. The version has
// the files that git tracks or would add.
func publish(t *testing.T, root, proxy, version string) {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Skipf("git does not list the files of %s: %v", root, err)
	}
	var files []zip.File
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil && !strings.HasPrefix(name, "bench/peers/") { // that is a module of its own
			files = append(files, zipFile{root, name})
		}
	}
	dir := filepath.Join(proxy, filepath.FromSlash(scaffold.Omnigraph), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list": version + "\n", version + ".mod": string(gomod), version + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := zip.Create(f, xmodule.Version{Path: scaffold.Omnigraph, Version: version}, files); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// zipFile is a file of a module: the folder of the module and the slash-separated name in it.
type zipFile struct{ root, name string }

func (f zipFile) Path() string                 { return f.name }
func (f zipFile) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(f.root, f.name)) }
func (f zipFile) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.root, f.name)) }
