package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// diskWriter is a graph on disk, with the names of the persons in acknowledged writes.
type diskWriter struct {
	g     *Graph
	acked []string
	lost  bool // whether a write was refused
	// shares is true if the path leads to another folder with the same log file. Until that log
	// file is full, its records belong to both folders, and no checkpoint can be made.
	shares bool
}

// write inserts persons, up to the first that is refused, and makes checkpoints. The only
// permitted refusals are *engine.Unavailable and *engine.Indeterminate.
func (w *diskWriter) write(t *testing.T, prefix string) {
	t.Helper()
	if w.g == nil {
		return
	}
	for i := range 40 {
		name := fmt.Sprint(prefix, i)
		_, err := w.g.Mutate(context.Background(), insertPerson, engine.Args{str(name), num(i)}, engine.WriteOptions{})
		if i%10 == 9 {
			checkErr := w.g.checkpoints.make(context.Background())
			if checkErr != nil && err == nil && !w.shares {
				t.Errorf("%s: a checkpoint after an acknowledged write: %v", prefix, checkErr)
			}
		}
		if err == nil {
			if w.lost {
				t.Errorf("%s is acknowledged after a refusal", name)
			}
			w.acked = append(w.acked, name)
			continue
		}
		var gone *engine.Unavailable
		var unknown *engine.Indeterminate
		if !errors.As(err, &gone) && !errors.As(err, &unknown) {
			t.Errorf("%s: %v (%T)", name, err, err)
		}
		if w.lost = true; errors.As(err, &gone) && gone.Reason == "" {
			t.Errorf("%s: %v gives no reason", name, err)
		}
	}
}

// has opens a folder, checks that the graph is intact and has the given persons, and closes it.
func has(t *testing.T, home string, persons []string) {
	t.Helper()
	ctx := context.Background()
	g, err := Open(ctx, fs.OS(), home, crashOptions)
	if err != nil {
		t.Errorf("%s does not open: %v", filepath.Base(home), err)
		return
	}
	defer g.Close()
	if err := g.Verify(ctx); err != nil {
		t.Errorf("%s: %v", filepath.Base(home), err)
	}
	for _, p := range persons {
		if got, err := answer(g, personByName, engine.Args{str(p)}, ""); err != nil || got == "" {
			t.Errorf("%s lost %s, which was acknowledged: %v", filepath.Base(home), p, err)
		}
	}
}

// linkAll makes hard links of the files in a folder.
func linkAll(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	must(t, err)
	for _, e := range entries {
		must(t, os.Link(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())))
	}
}

// TestTwoWriters moves, removes, replaces or copies the lock file or the folder of a graph that a
// process has open. Then a second process opens the graph. There must be only one history: either
// the second process is refused, or it opens another folder. In the latter case the first process
// must not acknowledge writes once its path leads to another folder. Every folder must open
// afterwards.
func TestTwoWriters(t *testing.T) {
	copyTo := func(t *testing.T, from, to string) { must(t, os.CopyFS(to, os.DirFS(from))) }
	for _, c := range []struct {
		name   string
		do     func(t *testing.T, home, other string)
		second string // "home" or "other": the folder that the second process opens
		opens  bool   // whether the second process may open it
		loses  bool   // whether the first process must refuse further writes
		holds  string // the folder with the history of the first process afterwards; empty for none
	}{
		{"nothing happened", func(*testing.T, string, string) {}, "home", false, false, "home"},
		{"LOCK removed", func(t *testing.T, home, _ string) { must(t, os.Remove(filepath.Join(home, "LOCK"))) }, "home", false, false, "home"},
		{"LOCK renamed", func(t *testing.T, home, _ string) {
			must(t, os.Rename(filepath.Join(home, "LOCK"), filepath.Join(home, "LOCK.old")))
		}, "home", false, false, "home"},
		{"LOCK replaced", func(t *testing.T, home, _ string) {
			must(t, os.Remove(filepath.Join(home, "LOCK")))
			must(t, os.WriteFile(filepath.Join(home, "LOCK"), []byte("1\n"), 0o600))
		}, "home", false, false, "home"},
		{"folder renamed, opened by the new name", func(t *testing.T, home, other string) { must(t, os.Rename(home, other)) }, "other", false, true, "other"},
		{"folder renamed, opened by the old name", func(t *testing.T, home, other string) { must(t, os.Rename(home, other)) }, "home", false, true, "other"},
		{"folder renamed, and a copy in its place", func(t *testing.T, home, other string) {
			must(t, os.Rename(home, other))
			copyTo(t, other, home)
		}, "home", true, true, "other"},
		{"folder renamed, and a copy with its LOCK removed in its place", func(t *testing.T, home, other string) {
			must(t, os.Rename(home, other))
			copyTo(t, other, home)
			must(t, os.Remove(filepath.Join(home, "LOCK")))
		}, "home", true, true, "other"},
		{"folder renamed, and a link to it in its place", func(t *testing.T, home, other string) {
			must(t, os.Rename(home, other))
			must(t, os.Symlink(other, home))
		}, "home", false, false, "other"},
		{"folder copied", func(t *testing.T, home, other string) { copyTo(t, home, other) }, "other", true, false, "home"},
		{"folder copied by hard links", func(t *testing.T, home, other string) {
			must(t, os.Mkdir(other, 0o700))
			linkAll(t, home, other)
		}, "other", false, false, "home"},
		{"folder renamed, and a copy by hard links in its place", func(t *testing.T, home, other string) {
			must(t, os.Rename(home, other))
			must(t, os.Mkdir(home, 0o700))
			linkAll(t, other, home)
		}, "home", false, true, "home"},
		{"folder removed, and a copy in its place", func(t *testing.T, home, other string) {
			copyTo(t, home, other)
			must(t, os.RemoveAll(home))
			must(t, os.Rename(other, home))
		}, "home", true, true, ""},
		{"log replaced by a copy", func(t *testing.T, home, _ string) {
			logs, err := filepath.Glob(filepath.Join(home, "*.log"))
			must(t, err)
			name := logs[len(logs)-1]
			data, err := os.ReadFile(name)
			must(t, err)
			must(t, os.Remove(name))
			must(t, os.WriteFile(name, data, 0o600))
		}, "home", false, true, "home"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := context.Background()
			base := t.TempDir()
			home, other := filepath.Join(base, "home"), filepath.Join(base, "other")
			g, err := Create(ctx, fs.OS(), home, "// people", people(), crashOptions)
			must(t, err)
			first := &diskWriter{g: g}
			first.write(t, "before")
			before := first.acked
			c.do(t, home, other)
			place := map[string]string{"home": home, "other": other}
			g2, err := Open(ctx, fs.OS(), place[c.second], crashOptions)
			second := &diskWriter{g: g2}
			if c.opens != (err == nil) {
				t.Errorf("the second opener gets %v", err)
			}
			var held *engine.Unavailable
			var missing *engine.NotFound
			if err != nil && !errors.As(err, &held) && !errors.As(err, &missing) {
				t.Errorf("the second opener is refused with %v (%T)", err, err)
			}
			first.shares = c.name == "folder renamed, and a copy by hard links in its place"
			first.write(t, "first")
			second.write(t, "second")
			first.write(t, "more")
			if first.lost != c.loses {
				t.Errorf("the first writer lost: %t, want %t", first.lost, c.loses)
			}
			if c.loses {
				if len(first.acked) != len(before) && !first.shares {
					t.Errorf("the first writer acknowledged %d more", len(first.acked)-len(before))
				}
				if first.g.Failure() == nil || !first.g.MustReopen() {
					t.Error("the first writer does not say that it fails")
				}
			}
			must(t, first.g.Close())
			if second.g != nil {
				must(t, second.g.Close())
				has(t, place[c.second], append(append([]string{}, before...), second.acked...))
			}
			if c.holds != "" {
				has(t, place[c.holds], first.acked)
			}
			if c.name == "folder copied by hard links" {
				// Both folders share their log files until one of them is opened.
				has(t, other, before)
				has(t, home, first.acked)
				for _, at := range []string{other, home} {
					g, err := Open(ctx, fs.OS(), at, crashOptions)
					must(t, err)
					w := &diskWriter{g: g}
					w.write(t, filepath.Base(at))
					must(t, g.Close())
					has(t, at, w.acked)
				}
				has(t, other, before)
			}
		})
	}
}
