package clientconfig

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestProgram checks that no client gets the path of a program that is removed before the client
// starts it.
func TestProgram(t *testing.T) {
	module, other := t.TempDir(), t.TempDir()
	below := filepath.Join(module, "queries")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, text := range map[string]string{module: "module brain\n\ntool " + thisTool + "\n", other: "module other\n"} {
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const made, cached = "/tmp/go-build2031521886/b001/exe/omnigraph", "/root/.cache/go-build/6f/6f0c0ffee0c0ffee0c0ffee0c0ffee0c0ffee0c0ffee0c0ffee0c0ffee0c0ffe-d/omnigraph"
	for _, tt := range []struct {
		executable, dir string
		want            []string // without the path of go; nil for an error
	}{
		{"/usr/local/bin/omnigraph", other, []string{"/usr/local/bin/omnigraph"}},
		{"/home/ada/go-build/bin/omnigraph", other, []string{"/home/ada/go-build/bin/omnigraph"}},
		{made, module, []string{"-C", module, "tool", "omnigraph"}},
		{cached, below, []string{"-C", module, "tool", "omnigraph"}},
		{made, other, nil},
		{cached, other, nil},
	} {
		got, err := Program(tt.executable, tt.dir)
		switch {
		case tt.want == nil:
			if err == nil || !strings.Contains(err.Error(), "go install") {
				t.Errorf("%s in %s: %q, %v", tt.executable, tt.dir, got, err)
			}
		case err != nil || !slices.Equal(got, tt.want) && !slices.Equal(got[1:], tt.want):
			t.Errorf("%s in %s: %q, %v, expected %q", tt.executable, tt.dir, got, err, tt.want)
		}
	}
}
