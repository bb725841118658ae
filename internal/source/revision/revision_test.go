package revision

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is a Git repository for a test.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	t.Setenv("HOME", t.TempDir())
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := repository{t, dir}
	r.git("init", "--quiet")
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repository) write(name, text string) {
	r.t.Helper()
	name = filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// check compares the state of a folder. The argument `want` is "clean", "modified", or a part of the reason
// why that is not known.
func check(t *testing.T, when, dir, commit, want string, read ...string) {
	t.Helper()
	s, err := Of(t.Context(), dir, read)
	if err != nil {
		t.Fatal(err)
	}
	got := s.Unknown
	if s.Modified != nil {
		got = "clean"
		if *s.Modified {
			got = "modified"
		}
	}
	if s.Commit != commit || got != want && (s.Modified != nil || !strings.Contains(got, want)) {
		t.Errorf("%s: found the commit %q, %s, want %q, %s", when, s.Commit, got, commit, want)
	}
}

func TestOf(t *testing.T) {
	r := newRepository(t)
	check(t, "no commit", r.dir, "", "there is no commit yet")
	check(t, "no repository", t.TempDir(), "", "belongs to no Git repository")
	check(t, "no folder", filepath.Join(r.dir, "nowhere"), "", "no such file")

	r.write("a", "a\nb\n")
	r.write("sub/b", "b")
	r.write(".gitignore", "*.log\nbuild/\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "--message", "first")
	head := r.git("rev-parse", "HEAD")
	sub := filepath.Join(r.dir, "sub")
	check(t, "clean", r.dir, head, "clean")

	r.write("x.log", "ignored")
	r.write("build/deep/x", "ignored")
	check(t, "ignored files", r.dir, head, "clean")
	check(t, "an ignored file that was read", r.dir, head, "modified", filepath.Join(r.dir, "x.log"))
	check(t, "a file in an ignored folder that was read", r.dir, head, "modified", filepath.Join(r.dir, "build", "deep", "x"))
	check(t, "an ignored file of another folder that was read", sub, head, "clean", filepath.Join(r.dir, "x.log"))
	if err := os.MkdirAll(filepath.Join(r.dir, "empty", "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	check(t, "an empty folder", r.dir, head, "clean")

	r.write("new", "n")
	check(t, "a file that Git does not track", r.dir, head, "modified")
	check(t, "a folder without changes", sub, head, "clean")
	r.git("add", "new")
	check(t, "a file that is staged", r.dir, head, "modified")
	r.git("rm", "--quiet", "--force", "new")
	r.write("other/deep/new", "n")
	check(t, "a file in a folder that Git does not track", r.dir, head, "modified")
	check(t, "a folder that Git does not track", filepath.Join(r.dir, "other"), head, "modified")
	if err := os.RemoveAll(filepath.Join(r.dir, "other")); err != nil {
		t.Fatal(err)
	}

	r.write("a", "a\r\nb\r\n")
	check(t, "other ends of lines", r.dir, head, "clean")
	r.write("a", "a\r\nc\r\n")
	check(t, "other ends of lines and a change", r.dir, head, "modified")
	r.write("a", "a\nc\n")
	check(t, "a change", r.dir, head, "modified")
	if err := os.Remove(filepath.Join(r.dir, "a")); err != nil {
		t.Fatal(err)
	}
	check(t, "a file that was removed", r.dir, head, "modified")
	if err := os.Symlink("sub/b", filepath.Join(r.dir, "a")); err != nil {
		t.Fatal(err)
	}
	check(t, "a link in the place of a file", r.dir, head, "modified")
	r.git("checkout", "--quiet", "--force", "--", "a")
	check(t, "restored", r.dir, head, "clean")
}

// TestForms reads repositories that store their history in several ways.
func TestForms(t *testing.T) {
	r := newRepository(t)
	for i := range 200 {
		r.write(fmt.Sprintf("dir/file%03d", i), strings.Repeat(fmt.Sprintln(i), 50))
	}
	if err := os.Symlink("dir/file001", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	r.git("add", ".")
	r.git("commit", "--quiet", "--message", "1")
	for i := range 5 {
		r.write("dir/file100", fmt.Sprint(i))
		r.git("commit", "--quiet", "--all", "--message", "more")
	}
	head := r.git("rev-parse", "HEAD")
	check(t, "loose objects", r.dir, head, "clean")
	r.git("gc", "--quiet", "--aggressive")
	r.git("pack-refs", "--all")
	check(t, "packed", r.dir, head, "clean")
	r.git("checkout", "--quiet", "--detach", "HEAD~2")
	check(t, "a detached HEAD", r.dir, r.git("rev-parse", "HEAD"), "clean")
	r.git("checkout", "--quiet", "-")

	at := filepath.Join(t.TempDir(), "worktree")
	r.git("worktree", "add", "--quiet", "--detach", at, "HEAD~1")
	check(t, "a worktree", at, r.git("rev-parse", "HEAD~1"), "clean")
	if err := os.WriteFile(filepath.Join(at, "dir", "file001"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	check(t, "a change in a worktree", at, r.git("rev-parse", "HEAD~1"), "modified")
	check(t, "the repository of the worktree", r.dir, head, "clean")

	module := newRepository(t)
	module.write("m", "m")
	module.git("add", ".")
	module.git("commit", "--quiet", "--message", "1")
	r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module.dir, "module")
	r.git("commit", "--quiet", "--message", "submodule")
	check(t, "with a submodule", r.dir, r.git("rev-parse", "HEAD"), "clean")
	check(t, "a submodule", filepath.Join(r.dir, "module"), module.git("rev-parse", "HEAD"), "clean")
}

// TestHostile reads repositories that run commands when Git reads them, or that are broken.
func TestHostile(t *testing.T) {
	r := newRepository(t)
	r.write("a.go", "package a\n")
	r.write(".gitattributes", "* filter=x diff=x\n")
	r.git("add", ".")
	r.git("commit", "--quiet", "--message", "first")
	head := r.git("rev-parse", "HEAD")
	top := r.git("rev-parse", "HEAD^{tree}")
	ran := filepath.Join(t.TempDir(), "ran")
	touch := "touch " + ran + "; cat"
	for key, value := range map[string]string{
		"filter.x.clean": touch, "filter.x.smudge": touch, "filter.x.process": touch, "core.fsmonitor": touch, "core.hooksPath": filepath.Dir(ran),
		"core.sshCommand": touch, "core.pager": touch, "diff.external": touch, "diff.x.textconv": touch, "core.alternateRefsCommand": touch,
	} {
		r.git("config", key, value)
	}
	r.write("a.go", "package a\n") // with another time, so that Git reads it again
	check(t, "commands in the configuration", r.dir, head, "clean")
	r.write(".git/config", "[core\n")
	check(t, "a broken configuration", r.dir, head, "clean")
	if _, err := os.Stat(ran); err == nil {
		t.Fatal("a command of the repository was run")
	}

	tree := filepath.Join(".git", "objects", top[:2], top[2:])
	commit := filepath.Join(".git", "objects", head[:2], head[2:])
	whole := map[string]string{}
	for _, name := range []string{".git/HEAD", tree, commit} {
		text, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		whole[name] = string(text)
		if err := os.Chmod(filepath.Join(r.dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ when, name, text, commit, want string }{
		{"no reference", ".git/HEAD", "ref: refs/heads/missing\n", "", "there is no commit yet"},
		{"a reference out of the folder", ".git/HEAD", "ref: ../../secret\n", "", "cannot be read"},
		{"references in a circle", ".git/HEAD", "ref: HEAD\n", "", "cannot be read"},
		{"an empty HEAD", ".git/HEAD", "", "", "cannot be read"},
		{"a commit that is missing", ".git/HEAD", strings.Repeat("1", 40) + "\n", strings.Repeat("1", 40), "not known whether files differ"},
		{"a corrupt commit", commit, "no zlib", head, "not known whether files differ"},
		{"a corrupt tree", tree, "no zlib", head, "not known whether files differ"},
		{"a tree that is cut off", tree, deflated("tree 9\x00100644 a.", 1), head, "is corrupt"},
		{"a tree that is larger than it says", tree, deflated("tree 9\x00", 80), head, "has more than"},
		{"a commit that is larger than it says", commit, deflated("commit 9\x00", 80), head, "has more than"},
	} {
		r.write(tt.name, tt.text)
		check(t, tt.when, r.dir, tt.commit, tt.want)
		r.write(tt.name, whole[tt.name])
	}
	check(t, "whole again", r.dir, head, "clean")
}

// deflated returns a text that is followed by a number of MiB, compressed.
func deflated(text string, mib int64) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	zero := bytes.Repeat([]byte("0"), 1<<20)
	for range mib {
		_, _ = w.Write(zero)
	}
	_ = w.Close()
	return b.String()
}
