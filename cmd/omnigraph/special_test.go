//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestStoreWithSpecialFiles runs the commands that read a store from somebody else, in which links, pipes and
// devices have the place of files.
func TestStoreWithSpecialFiles(t *testing.T) {
	inFolder(t)
	entries, err := os.ReadDir("graph")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.Name() == "LOCK" || e.Name() == "END" || ext == ".log" || ext == ".manifest" || ext == ".seg" {
			files = append(files, e.Name())
		}
	}
	if len(files) < 4 || !slices.Contains(files, "LOCK") || !slices.Contains(files, "END") {
		t.Fatalf("the store has the files %v only", files)
	}
	head, _, _ := state(t, "graph")
	precious, err := filepath.Abs("precious")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []struct {
		what string
		make func(name string) error
	}{
		{"a pipe", func(name string) error { return syscall.Mkfifo(name, 0o600) }},
		{"a link out of the store", func(name string) error { return os.Symlink(precious, name) }},
		{"a relative link out of the store", func(name string) error { return os.Symlink("../precious", name) }},
		{"a link to a device", func(name string) error { return os.Symlink("/dev/zero", name) }},
		{"a link to the same file elsewhere", func(name string) error { return os.Symlink("../graph/"+filepath.Base(name), name) }},
		{"a folder", func(name string) error { return os.Mkdir(name, 0o700) }},
		{"a file with holes", func(name string) error {
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(name, 1<<43)
		}},
	} {
		for _, file := range files {
			if kind.what == "a file with holes" && file == "LOCK" {
				continue // its content has no meaning
			}
			if err := os.RemoveAll("hostile"); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS("hostile", os.DirFS("graph")); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join("hostile", file)
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			if err := kind.make(name); err != nil {
				t.Skip(err)
			}
			for _, args := range [][]string{{"verify", "--store", "hostile"}, {"copy", "hostile", "target"}, {"restore", "--at", head.ID, "hostile", "target"}} {
				code, stdout, stderr := omnigraph(t, "", args...)
				if file == "LOCK" && args[0] != "verify" { // it is not read
					if code != 0 {
						t.Errorf("%s in the place of %s: %v: exit %d: %s", kind.what, file, args, code, stderr)
					}
				} else if code == 0 || !strings.Contains(stdout+stderr, file) {
					t.Errorf("%s in the place of %s: %v: exit %d, and the answer does not name the file: %s%s", kind.what, file, args, code, stdout, stderr)
				}
				if err := os.RemoveAll("target"); err != nil {
					t.Fatal(err)
				}
			}
			if text, err := os.ReadFile(precious); err != nil || string(text) != "precious" {
				t.Fatalf("%s in the place of %s: the file outside has %q, %v", kind.what, file, text, err)
			}
		}
	}
	if left, err := fs.Glob(os.DirFS("."), ".target*"); err != nil || len(left) > 0 {
		t.Errorf("the commands left %v, %v", left, err)
	}
}
