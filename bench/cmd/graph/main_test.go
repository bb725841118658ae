package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestRun(t *testing.T) {
	var printed bytes.Buffer
	if err := run([]string{"-size", "0.001"}, &printed, io.Discard); err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(printed.Bytes(), []byte{'\n'}); lines < 1_000 {
		t.Errorf("%d lines, want at least a thousand", lines)
	}
	file := filepath.Join(t.TempDir(), "graph.ndjson")
	if err := run([]string{"-size", "0.001", "-out", file}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written, printed.Bytes()) {
		t.Error("the file is not what is printed")
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-size", "0"}, {"-size", "many"}, {"more"}, {"-out", filepath.Join(t.TempDir(), "no", "folder")}} {
		if err := run(args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
