package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestWriteFile checks that writeFile replaces a file as a whole, follows a link to the file
// without replacing the link, and changes no other file.
func TestWriteFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("there", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"there/people.ndjson": "old", "people.ndjson.tmp": "mine"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("there/people.ndjson", "people.ndjson"); err != nil {
		t.Fatal(err)
	}
	holds := func(name, want string) {
		t.Helper()
		if b, err := os.ReadFile(name); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v, expected %q", name, b, err, want)
		}
	}
	writing := func(text string, fault error) error {
		return writeFile(&cobra.Command{}, "people.ndjson", func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, fault)
		})
	}

	brokeOff := errors.New("broke off")
	if err := writing("half", brokeOff); !errors.Is(err, brokeOff) {
		t.Errorf("an export that broke off: %v", err)
	}
	holds("people.ndjson", "old")

	if err := writing("new", nil); err != nil {
		t.Fatal(err)
	}
	holds("there/people.ndjson", "new")
	holds("people.ndjson.tmp", "mine")
	if info, err := os.Lstat("people.ndjson"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	if info, err := os.Stat("there/people.ndjson"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the private file is %v, %v", info.Mode(), err)
	}
	for dir, want := range map[string]int{".": 3, "there": 1} {
		if left, err := os.ReadDir(dir); err != nil || len(left) != want {
			t.Errorf("%s holds %v, %v", dir, left, err)
		}
	}
}

// writerFunc is a function that implements io.Writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestExportEndsEarly ends an export of a store in its middle: by a signal, and by an output that fails. The
// command must end with the cause, and release the store.
func TestExportEndsEarly(t *testing.T) {
	inFolder(t)
	var data bytes.Buffer
	for i := range 40_000 {
		fmt.Fprintf(&data, `{"type":"Person","data":{"name":"a person with the number %d"}}`+"\n", i)
	}
	if code, _, stderr := omnigraph(t, data.String(), "load", "--store", "graph", "--data", "-"); code != 0 {
		t.Fatal(stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	for _, tt := range []struct {
		name string
		out  writerFunc
		want string
	}{
		{"an output that fails", func([]byte) (int, error) { return 0, errors.New("broken pipe") }, "omnigraph: broken pipe\n"},
		{"a signal", func(p []byte) (int, error) { cancel(); return len(p), nil }, "omnigraph: context canceled\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stderr bytes.Buffer
			if code := run(ctx, []string{"export", "--store", "graph"}, strings.NewReader(""), tt.out, &stderr); code != exitFailed || stderr.String() != tt.want {
				t.Errorf("exit code %d and %q, expected %d and %q", code, stderr.String(), exitFailed, tt.want)
			}
			if _, nodes, _ := state(t, "graph"); nodes != 40_002 {
				t.Errorf("the store has %d nodes", nodes)
			}
		})
	}
}
