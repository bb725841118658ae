//go:build unix

package revision

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestSpecialFiles reads repositories with pipes and links in the place of files.
func TestSpecialFiles(t *testing.T) {
	r := newRepository(t)
	r.write("a", "a")
	r.git("add", ".")
	r.git("commit", "--quiet", "--message", "first")
	head := r.git("rev-parse", "HEAD")
	if err := syscall.Mkfifo(filepath.Join(r.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(t, "a pipe that Git does not see", r.dir, head, "clean")
	replace := func(name string, with func(string) error) {
		t.Helper()
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := with(name); err != nil {
			t.Fatal(err)
		}
	}
	pipe := func(name string) error { return syscall.Mkfifo(name, 0o600) }
	replace(filepath.Join(r.dir, "a"), pipe)
	check(t, "a pipe in the place of a file", r.dir, head, "modified")
	replace(filepath.Join(r.dir, "a"), func(name string) error { return os.Symlink("/dev/zero", name) })
	check(t, "a link to a device", r.dir, head, "modified")
	replace(filepath.Join(r.dir, ".gitignore"), pipe)
	check(t, "a pipe with patterns", r.dir, head, "modified")
	replace(filepath.Join(r.dir, ".git", "objects", head[:2], head[2:]), pipe)
	check(t, "a pipe in the place of the commit", r.dir, head, "not known whether files differ")
	replace(filepath.Join(r.dir, ".git", "HEAD"), pipe)
	check(t, "a pipe in the place of HEAD", r.dir, "", "cannot be read")
	replace(filepath.Join(r.dir, ".git"), pipe)
	check(t, "a pipe in the place of the repository", r.dir, "", "neither a folder nor a file")
}
