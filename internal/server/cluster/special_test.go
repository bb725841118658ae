//go:build unix

package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipeAmongQueries reads a file whose folder of queries has a pipe, which must not be waited for.
func TestPipeAmongQueries(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  a: { schema: a.pg, queries: q/ }\n", "a.pg": "node N { x: String @key }\n", "q/plain.gq": "",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A link to a file, as a mounted configuration has it, is read.
	if err := os.Symlink("plain.gq", filepath.Join(dir, "q", "link.gq")); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(filepath.Join(dir, "cluster.yaml")); err != nil && strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a link is refused: %v", err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "q", "pipe.gq"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(filepath.Join(dir, "cluster.yaml")); err == nil || !strings.Contains(err.Error(), `queries: "q/pipe.gq" is not a file`) {
		t.Errorf("found %v", err)
	}
}
