package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs/faultfs"
)

// TestFailedLoadFreesItsFiles makes a load fail because the disk is full, after it has written
// temporary files. The space of these files must be free soon, even though the garbage collector does
// not run by itself.
func TestFailedLoadFreesItsFiles(t *testing.T) {
	var left atomic.Int64 // number of temporary files that can still be made
	home := filepath.Join(t.TempDir(), "graph")
	g, err := Create(t.Context(), faultfs.New(fs.OS(), func(op faultfs.Op) *faultfs.Fault {
		if op.Kind == faultfs.OpCreate && strings.HasSuffix(op.Name, ".seg.tmp") && left.Add(-1) < 0 {
			return &faultfs.Fault{Err: syscall.ENOSPC}
		}
		return nil
	}), home, "// people", people(), spillOptions())
	must(t, err)
	defer g.Close()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	left.Store(4)
	if err := loadText(g, engine.Merge, manyPeople(0, 5000)); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the load ends with %v", err)
	}
	eventually(t, "no temporary file is mapped", func() bool {
		maps, err := os.ReadFile("/proc/self/maps")
		must(t, err)
		return !strings.Contains(string(maps), ".seg.tmp")
	})
}
