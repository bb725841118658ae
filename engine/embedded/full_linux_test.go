package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// tmpfs returns a file system of 4 MiB that a large file can fill.
func tmpfs(t *testing.T) *fullDisk {
	if os.Getuid() != 0 {
		t.Skip("only root may mount a tmpfs")
	}
	at := t.TempDir()
	if err := syscall.Mount("tmpfs", at, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("mounting a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(at, "ballast")
	return &fullDisk{
		fs: fs.OS(), home: filepath.Join(at, "graph"),
		fill: func(t *testing.T) {
			f, err := os.Create(ballast)
			must(t, err)
			defer f.Close()
			for err == nil {
				_, err = f.Write(make([]byte, 4096))
			}
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
		},
		empty: func(t *testing.T) { must(t, os.Remove(ballast)) },
	}
}
