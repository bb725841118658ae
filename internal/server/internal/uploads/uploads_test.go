package uploads

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// TestBrokenState starts with the state of an upload that was cut off while it was written.
func TestBrokenState(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, strings.Repeat("0", 32))
	for _, name := range []string{data, data + ".info"} {
		if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		age  time.Duration
		left int
	}{{0, 2}, {2 * time.Hour, 0}} {
		if _, err := New(Options{Dir: dir, Keep: time.Hour, Now: func() time.Time { return clock.Now().Add(c.age) }}); err != nil {
			t.Errorf("after %v: %v", c.age, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != c.left {
			t.Errorf("after %v: found the files %v, %v, expected %d", c.age, left, err, c.left)
		}
	}
}
