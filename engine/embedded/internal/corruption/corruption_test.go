package corruption

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// TestCatch checks that Catch returns thrown errors and lets other panics continue.
func TestCatch(t *testing.T) {
	call := func(f func()) (err error) {
		defer Catch(Watch(), &err)
		f()
		return nil
	}
	var c *engine.Corrupt
	if err := call(func() { Corrupt("file", "byte %d", 7) }); !errors.As(err, &c) || c.Object != "file" || c.Detail != "byte 7" {
		t.Errorf("thrown: %v", err)
	}
	if err := call(func() {}); err != nil {
		t.Errorf("nothing thrown: %v", err)
	}
	for name, f := range map[string]func(){
		"a bug":         func() { panic("a bug") },
		"a nil pointer": func() { _ = *(*int)(nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the panic of %s was swallowed", name)
				}
			}()
			_ = call(f)
		}()
	}
}

// TestMappedFileIsCut reads a mapping after the file was truncated.
func TestMappedFileIsCut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not mapped here")
	}
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := fs.OS().Map(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 4096); err != nil {
		t.Fatal(err)
	}
	sum := 0
	read := func() (err error) {
		defer Catch(Watch(), &err)
		for _, b := range m.Bytes() {
			sum += int(b)
		}
		return nil
	}
	var c *engine.Corrupt
	if err := read(); !errors.As(err, &c) || c.Object != name {
		t.Errorf("%v, expected a *engine.Corrupt that names %s", err, name)
	}
	runtime.KeepAlive(m)
}
