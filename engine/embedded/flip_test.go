package embedded

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
)

// flips is how many bytes of each file are flipped, one at a time.
const flips = 60

// TestFlippedBytes flips bytes of what the scripts leave on the disk. Whoever opens the
// graph and reads all of it is told which object is corrupt, or finds what was written:
// the byte was of no use. At the end of the log a flip looks like a write that the power
// cut, and the deed may be missing as a whole.
func TestFlippedBytes(t *testing.T) {
	for _, s := range scripts() {
		t.Run(s.name, func(t *testing.T) {
			before, after := exported(t, s, len(s.deeds)-1), exported(t, s, len(s.deeds))
			mem := fs.NewMem()
			if n := s.run(mem); n != len(s.deeds) {
				t.Fatalf("%d deeds done", n)
			}
			names, err := mem.List(dir)
			if err != nil {
				t.Fatal(err)
			}
			reported := map[string]int{}
			for _, name := range names {
				name := filepath.Join(dir, name)
				data, err := fs.ReadFile(mem, name)
				if err != nil {
					t.Fatal(err)
				}
				for i := range min(flips, len(data)) {
					off := i * len(data) / min(flips, len(data))
					flipped := slices.Clone(data)
					flipped[off] ^= 1 << (i % 8)
					text, err := exportOf(t, withFile(t, mem, name, flipped))
					what := fmt.Sprintf("%s, byte %d", filepath.Base(name), off)
					var corrupt *engine.Corrupt
					switch {
					case errors.As(err, &corrupt):
						reported[filepath.Ext(name)]++
						if corrupt.Object == "" || corrupt.Detail == "" {
							t.Errorf("%s: %v names nothing", what, err)
						}
					case err != nil:
						t.Errorf("%s: %v, want *engine.Corrupt", what, err)
					case text != after && text != before:
						t.Errorf("%s: the graph is served as\n%s\nwant\n%s", what, text, after)
					}
				}
			}
			t.Logf("reported by kind of file: %v", reported)
			if len(reported) < 2 {
				t.Errorf("only files %v were found corrupt", reported)
			}
		})
	}
}

// exported is what the graph holds after the first deeds of a script.
func exported(t *testing.T, s script, deeds int) string {
	t.Helper()
	mem := fs.NewMem()
	s.deeds = s.deeds[:deeds]
	if n := s.run(mem); n != deeds {
		t.Fatalf("%d deeds done, want %d", n, deeds)
	}
	text, err := exportOf(t, mem)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// exportOf opens a graph and exports every branch.
func exportOf(t *testing.T, fsys fs.FS) (text string, err error) {
	g, err := Open(t.Context(), fsys, dir, crashOptions)
	if err != nil {
		return "", err
	}
	defer g.Close()
	branches, err := g.Branches(t.Context())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, br := range branches {
		fmt.Fprintf(&b, "branch %s at %d\n", br.Name, br.Head.Seq)
		if _, err := g.Export(t.Context(), &b, engine.Target{Branch: br.Name}, engine.ExportOptions{}); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// withFile copies a file system with another content of one file.
func withFile(t *testing.T, mem *fs.Mem, name string, data []byte) *fs.Mem {
	t.Helper()
	bad := mem.Crash(0)
	f, err := bad.OpenWrite(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(data, 0)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return bad
}
