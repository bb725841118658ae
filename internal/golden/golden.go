// Package golden compares test output with a golden file.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// update makes tests rewrite their golden files.
var update = flag.Bool("update", false, "rewrite the golden files with the results of the tests")

// Updating reports whether the golden files are being rewritten. A test that derives a golden file
// from another file must then rewrite that file too.
func Updating() bool { return *update }

// Check fails the test if `got` differs from the file at `path`, which is relative to the test's
// folder. With -update, Check writes `got` to the file instead.
func Check(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); run with -update if the change is intended:\n%s", path, diff)
	}
}
