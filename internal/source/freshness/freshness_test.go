package freshness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// indexOf returns an index of files, begun after all changes so far.
func indexOf(t *testing.T, dir string, names ...string) *Index {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "probe") // its time shows that the clock of files has moved on
	first := time.Time{}
	for deadline := 0; ; deadline++ {
		if err := os.WriteFile(probe, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(probe)
		if err != nil {
			t.Fatal(err)
		}
		if first.IsZero() {
			first = Changed(info)
		}
		if Changed(info).Sub(first) > 3*Tick {
			first = Changed(info)
			break
		}
	}
	x := &Index{Folder: dir, Read: first, Files: map[string]string{}}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		x.Files[name] = Stamp(info)
	}
	return x
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, dir string)
		want   string
	}{
		{"nothing", func(*testing.T, string) {}, ""},
		{"a file with the same size and time", func(t *testing.T, dir string) {
			info, err := os.Stat(filepath.Join(dir, "a.go"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, "a.go", "package b\n")
			if err := os.Chtimes(filepath.Join(dir, "a.go"), info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, "a.go"},
		{"a removed file", func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "sub", "b.go")) }, "sub/b.go"},
		{"a new file", func(t *testing.T, dir string) { write(t, dir, "sub/new_test.go", "") }, "sub/new_test.go"},
		{"a new file for another platform", func(t *testing.T, dir string) { write(t, dir, "left_plan9.go", "package a\n") }, "left_plan9.go"},
		{"go.mod", func(t *testing.T, dir string) { write(t, dir, "go.mod", "module m\n\ngo 1.25\n") }, "go.mod"},
		{"other files", func(t *testing.T, dir string) {
			for _, name := range []string{"README.md", "testdata/x.go", ".hidden/x.go", "_x/x.go", "vendor/x/x.go", "node_modules/x.go", "nested/go.mod", "nested/x.go"} {
				write(t, dir, name, "")
			}
		}, ""},
		{"a folder that is moved in", func(t *testing.T, dir string) {
			if err := os.Rename(filepath.Join(dir, "testdata", "old"), filepath.Join(dir, "old")); err != nil {
				t.Fatal(err)
			}
		}, "old/c.go"},
		{"a renamed file", func(t *testing.T, dir string) {
			if err := os.Rename(filepath.Join(dir, "a.go"), filepath.Join(dir, "z.go")); err != nil {
				t.Fatal(err)
			}
		}, "a.go z.go"},
		{"a pipe in place of a file", func(t *testing.T, dir string) {
			_ = os.Remove(filepath.Join(dir, "a.go"))
			if err := exec.Command("mkfifo", filepath.Join(dir, "a.go")).Run(); err != nil {
				t.Skip("no mkfifo")
			}
		}, "a.go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"go.mod", "a.go", "sub/b.go", "left_plan9.go", "testdata/old/c.go"} {
				write(t, dir, name, "package a\n")
			}
			x := indexOf(t, dir, "a.go", "sub/b.go")
			tt.change(t, dir)
			s, err := x.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.Changed, " "); got != tt.want || s.Unknown != "" {
				t.Errorf("found %q (%q), want %q", got, s.Unknown, tt.want)
			}
		})
	}
	gone := &Index{Folder: filepath.Join(t.TempDir(), "gone"), Files: map[string]string{"a.go": "1 2 3"}}
	if s, err := gone.Check(t.Context()); err != nil || s.Changed != nil || !strings.Contains(s.Unknown, "not there") {
		t.Errorf("a folder that is not there: found %+v, %v", s, err)
	}
}

func TestHead(t *testing.T) {
	const one, two = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"a branch", map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": one + "\n"}, one},
		{"a packed branch", map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/packed-refs": "# pack-refs with: peeled\n" + two + " refs/heads/other\n" + one + " refs/heads/main\n"}, one},
		{"detached", map[string]string{".git/HEAD": two + "\n"}, two},
		{"a worktree", map[string]string{".git": "gitdir: repo/worktrees/w\n", "repo/worktrees/w/HEAD": "ref: refs/heads/w\n", "repo/worktrees/w/commondir": "../..\n", "repo/refs/heads/w": one + "\n"}, one},
		{"no repository", map[string]string{"a": ""}, "no Git repository"},
		{"no commit", map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, "cannot be read"},
		{"out of the repository", map[string]string{".git/HEAD": "ref: ../../secret\n", "secret": one}, "names no commit"},
		{"a circle", map[string]string{".git/HEAD": "ref: refs/a\n", ".git/refs/a": "ref: refs/a\n"}, "names no commit"},
		{"another format", map[string]string{".git/HEAD": "ref: refs/heads/.invalid\n"}, "cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				write(t, dir, name, text)
			}
			sub := filepath.Join(dir, "sub", "folder")
			if err := os.MkdirAll(sub, 0o755); err != nil {
				t.Fatal(err)
			}
			got, err := Head(sub)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
	for folder, want := range map[string]string{"/home/a/my project": "work/my-project", "/x/.hidden": "work/hidden", "/a/b": "work/b"} {
		if got := WorkBranch(folder); got != want {
			t.Errorf("WorkBranch(%q) = %q, want %q", folder, got, want)
		}
	}
}
