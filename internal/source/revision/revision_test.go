package revision

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	check := func(when, dir, commit string, modified bool) {
		t.Helper()
		if gotCommit, gotModified := Of(t.Context(), dir); gotCommit != commit || gotModified != modified {
			t.Errorf("%s: found %q, %v, want %q, %v", when, gotCommit, gotModified, commit, modified)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	check("no repository", dir, "", false)
	run("init", "--quiet")
	check("no commit", dir, "", false)
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("a", "a")
	write("sub/b", "b")
	run("add", ".")
	run("commit", "--quiet", "--message", "first")
	head := run("rev-parse", "HEAD")
	check("clean", dir, head, false)
	write("new", "n")
	check("a file that Git does not track", dir, head, false)
	write("a", "changed")
	check("changed", dir, head, true)
	check("a folder without changes", filepath.Join(dir, "sub"), head, false)
	check("no folder", filepath.Join(dir, "nowhere"), "", false)
}
