package main

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestReproducible builds the release a second time, from a copy of the sources in another folder,
// with another time zone, umask and Go environment. With -cold, its build cache is empty, and another user
// builds it if root runs the test. All artifacts must have the same bytes.
func TestReproducible(t *testing.T) {
	work, err := os.MkdirTemp("", "omnigraph release")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(work)
	sources, out, home := filepath.Join(work, "copy of the sources"), filepath.Join(work, "dist"), filepath.Join(work, "home")
	copySources(t, "..", sources)
	tool := filepath.Join(work, "release")
	program, err := os.ReadFile(command)
	if err == nil {
		err = errors.Join(os.WriteFile(tool, program, 0o755), os.Mkdir(home, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `umask 077; exec "$0" "$@"`,
		tool, "build", "-version", testVersion, "-commit", "0a1b2c", "-root", sources, "-out", out, "-platforms", platform.String())
	cmd.Dir = home
	cmd.Env = append(os.Environ(),
		"TZ=Pacific/Kiritimati", "LANG=tr_TR.UTF-8", "GOFLAGS=-tags=shiftedclock,timetzdata -ldflags=-w -mod=mod",
		"GOAMD64=v3", "GOARM64=v8.2", "GOEXPERIMENT=nogreenteagc", "CGO_ENABLED=1", "HOSTNAME=elsewhere")
	switch {
	case *cold && os.Getuid() == 0:
		buildAsAnother(t, cmd, work, home)
	case *cold:
		cmd.Env = append(cmd.Env, "GOCACHE="+t.TempDir())
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names := func(dir string) (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	first, second := names(dist), names(out)
	if len(first) < 8 || !slices.Equal(first, second) {
		t.Fatalf("the first release has the files %q, the second %q", first, second)
	}
	for _, name := range first {
		again, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(read(t, name), again) {
			t.Errorf("%s differs between the two releases", name)
		}
	}
}

// otherUser is the number of a user, and of a group, that owns no file here. Such a user needs no
// account.
const otherUser = 54321

// buildAsAnother makes the command run as another user, who owns everything in the folder work and has
// its own home, temporary files, module cache and empty build cache. The modules come from the cache of
// this user, over a proxy, since other users cannot read that cache. The test keeps the build cache of
// this user out of reach, so the build is a cold one.
func buildAsAnother(t *testing.T, cmd *exec.Cmd, work, home string) {
	t.Helper()
	settings, err := exec.Command("go", "env", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules, root, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	proxy := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(modules, "cache", "download"))))
	t.Cleanup(proxy.Close)
	cmd.Env = append(cmd.Env, "HOME="+home, "TMPDIR="+home, "GOCACHE="+filepath.Join(home, "build"), "GOPATH="+filepath.Join(home, "go"),
		"GOMODCACHE="+filepath.Join(home, "modules"), "GOPROXY="+proxy.URL, "GOSUMDB=off", "GOTOOLCHAIN=local",
		"USER=other", "LOGNAME=other", "PATH="+filepath.Join(root, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
	err = filepath.WalkDir(work, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, otherUser, otherUser)
	})
	if err != nil {
		t.Fatal(err)
	}
	check := exec.Command(filepath.Join(root, "bin", "go"), "version")
	check.Env, check.Dir, check.SysProcAttr = cmd.Env, home, cmd.SysProcAttr
	if out, err := check.CombinedOutput(); err != nil {
		t.Fatalf("another user cannot run the Go release in %s; install it where every user can read it: %v\n%s", root, err, out)
	}
}

// copySources copies a checkout without the files that it does not track: results of builds, data
// and the packages of npm.
func copySources(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if rel != "." && (e.Name() == "node_modules" || e.Name() == ".git" || e.Name() == ".venv" || slices.Contains([]string{"bin", "data", "dist"}, rel)) {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		if !e.Type().IsRegular() || strings.HasSuffix(rel, ".test") {
			return nil
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}
