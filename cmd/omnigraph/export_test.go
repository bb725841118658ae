package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

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
