package launch

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDevToken holds that the token is kept, and that neither it nor the folder that it
// makes can be read by others.
func TestDevToken(t *testing.T) {
	storage := filepath.Join(t.TempDir(), "data")
	token, err := devToken(storage)
	if err != nil || len(token) < 26 {
		t.Fatalf("%q, %v", token, err)
	}
	if again, err := devToken(storage); err != nil || again != token {
		t.Errorf("the second time it is another: %v", err)
	}
	for path, want := range map[string]os.FileMode{storage: 0o700, filepath.Join(storage, devTokenFile): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, wanted %v", path, info.Mode(), err, want)
		}
	}
}
