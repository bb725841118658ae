//go:build unix

package gocode

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSpecialFiles reads trees with pipes, devices, links out of the tree and large files.
func TestSpecialFiles(t *testing.T) {
	const outside = "-- outside/secret.go --\npackage secret\n\n// Secret is none of the tree's business.\nfunc Secret() {}\n-- outside/go.mod --\nmodule example.com/outside\n\ngo 1.25\n"
	const module = outside + "-- m/go.mod --\nmodule example.com/m\n\ngo 1.25\n-- m/a.go --\npackage m\n\nfunc A() {}\n-- m/sub/b.go --\npackage sub\n\nfunc B() {}\n"
	link := func(target, name string) func(t *testing.T, dir string) error {
		return func(t *testing.T, dir string) error {
			return os.Symlink(strings.ReplaceAll(target, "DIR", dir), filepath.Join(dir, name))
		}
	}
	pipe := func(name string) func(t *testing.T, dir string) error {
		return func(t *testing.T, dir string) error { return syscall.Mkfifo(filepath.Join(dir, name), 0o600) }
	}
	const left = "m lacks 1 files that are links out of the folder, no regular files, or Go files of more than 33554432 bytes"
	for _, tt := range []struct {
		name, text string
		add        func(t *testing.T, dir string) error
		want       string // a part of the summary or of the error
		err        bool
	}{
		{"a pipe", module, pipe("m/p.go"), left, false},
		{"a pipe in another folder", module, pipe("m/sub/p.go"), left, false},
		{"a pipe with tests", module, pipe("m/p_test.go"), left, false},
		{"a pipe that Go does not read", module, pipe("m/p"), "func m.A", false},
		{"a pipe with checksums", module, pipe("m/go.sum"), "func m.A", false},
		{"a pipe in the place of a module below", module, pipe("m/sub/go.mod"), "func m/sub.B", false},
		{"a pipe in the place of go.mod", outside + "-- m/a.go --\npackage m\n", pipe("m/go.mod"), "go.mod is not a regular file; replace it", true},
		{"a pipe in the place of go.work", module, pipe("m/go.work"), "go.work is not a regular file; replace it", true},
		{"a link to another file", module, link("DIR/outside/secret.go", "m/l.go"), left, false},
		{"a relative link to another file", module, link("../outside/secret.go", "m/l.go"), left, false},
		{"a link to a device", module, link("/dev/zero", "m/l.go"), left, false},
		{"a link to nothing", module, link("nowhere", "m/l.go"), left, false},
		{"a link to itself", module, link("l.go", "m/l.go"), left, false},
		{"a link to a file of the module", strings.Replace(module, "package m\n\nfunc A", "package sub\n\nfunc A", 1), link("../a.go", "m/sub/l.go"), "func m/sub.A line 3", false},
		{"a linked folder", module, link("../outside", "m/linked"), "func m.A", false},
		{"a linked folder that is imported", module + "-- m/c.go --\npackage m\n\nimport secret \"example.com/m/linked\"\n\nfunc C() { secret.Secret() }\n", link("../outside", "m/linked"), "example.com/m/linked", true},
		{"a folder that leads to itself", module, link("..", "m/sub/up"), "func m/sub.B", false},
		{"a linked module of a workspace", module + "-- m/go.work --\ngo 1.25\n\nuse (\n\t.\n\t./linked\n)\n", link("../outside", "m/linked"), "func m.A", false},
		{"a pipe in the folder of Git, which is imported", module + "-- m/c.go --\npackage m\n\nimport _ \"example.com/m/.git/x\"\n-- m/.git/x/x.go --\npackage x\n", pipe("m/.git/x/p.go"), left, false},
		{"a folder that may not be read", module, func(t *testing.T, dir string) error {
			if os.Getuid() == 0 {
				t.Skip("root may read every folder")
			}
			closed := filepath.Join(dir, "m", "_closed")
			t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
			return os.Mkdir(closed, 0)
		}, "m lacks 1 folders that this process may not read", false},
		{"a large file", module, func(t *testing.T, dir string) error {
			name := filepath.Join(dir, "m", "large.go")
			if err := os.WriteFile(name, []byte("package m\n//"), 0o600); err != nil {
				return err
			}
			return os.Truncate(name, 1<<40)
		}, left, false},
		{"a large go.mod of the module", module, func(t *testing.T, dir string) error { return os.Truncate(filepath.Join(dir, "m", "go.mod"), 1<<40) }, "go.mod has more than", true},
		{"a large go.sum", module, func(t *testing.T, dir string) error {
			name := filepath.Join(dir, "m", "go.sum")
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(name, 1<<40)
		}, "func m.A", false},
		{"a package that lacks a file", strings.Replace(module, "func A() {}", "func A() { Secret() }", 1), link("../outside/secret.go", "m/l.go"), "m lacks 1 references in packages that use cgo or lack files", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(txtarFolder(t, tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.add(t, dir); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			g, err := Read(ctx, Options{Dir: filepath.Join(dir, "m"), Env: bareEnv()})
			got := ""
			if (err != nil) != tt.err {
				t.Fatalf("found the error %v", err)
			}
			if got = textOf(err); g != nil {
				got = summary(g)
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q in it", got, tt.want)
			}
			if strings.Contains(got, "none of the tree's business") || strings.Contains(got, "Secret line") {
				t.Errorf("the graph has what is outside of the folder: %s", got)
			}
		})
	}
}

// textOf returns the text of an error, or "".
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
