package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReproducible builds the release a second time, from a copy of the sources in another folder,
// with another time zone, umask and Go environment. All artifacts must have the same bytes.
func TestReproducible(t *testing.T) {
	sources, out := filepath.Join(t.TempDir(), "copy of the sources"), filepath.Join(t.TempDir(), "dist")
	copySources(t, "..", sources)
	cmd := exec.Command("sh", "-c", `umask 077; exec "$0" "$@"`,
		command, "build", "-version", testVersion, "-commit", "0a1b2c", "-root", sources, "-out", out, "-platforms", platform.String())
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(),
		"TZ=Pacific/Kiritimati", "LANG=tr_TR.UTF-8", "GOFLAGS=-tags=shiftedclock,timetzdata -ldflags=-w -mod=mod",
		"GOAMD64=v3", "GOARM64=v8.2", "GOEXPERIMENT=nogreenteagc", "CGO_ENABLED=1", "HOSTNAME=elsewhere")
	if *cold {
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
