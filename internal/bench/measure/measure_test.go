package measure

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	times := []time.Duration{1, 2, 3, 4}
	for _, test := range []struct {
		q    float64
		want time.Duration
	}{{0, 1}, {0.25, 1}, {0.26, 2}, {0.5, 2}, {0.75, 3}, {0.99, 4}, {1, 4}} {
		if got := Quantile(times, test.q); got != test.want {
			t.Errorf("quantile %v of %v is %d, want %d", test.q, times, got, test.want)
		}
	}
}

// TestDropCached checks that files stay readable, and that a missing folder is an error.
func TestDropCached(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux removes files from the page cache")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	if err := os.WriteFile(name, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := DropCached(dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "text" {
		t.Errorf("the file contains %q, error %v", text, err)
	}
	if err := DropCached(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing folder is no error")
	}
}

// TestFileBytes checks that the files in subfolders count, and that a missing folder is an error.
func TestFileBytes(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"file": "four", "sub/file": "eleven byte"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := FileBytes(dir); n != 15 || err != nil {
		t.Errorf("the files have %d bytes, error %v; want 15", n, err)
	}
	if _, err := FileBytes(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing folder has a size")
	}
}
