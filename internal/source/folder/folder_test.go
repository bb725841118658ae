//go:build unix

package folder_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/source/folder"
)

// TestReadFile reads what a folder from somebody else may have in place of a file.
func TestReadFile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(outside, []byte("secret\n"), 0o600))
	must(os.WriteFile(filepath.Join(dir, "plain"), []byte("one\ntwo"), 0o600))
	must(os.WriteFile(filepath.Join(dir, "large"), make([]byte, 101), 0o600))
	must(os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	must(os.Symlink("../plain", filepath.Join(dir, "sub", "within")))
	must(os.Symlink(outside, filepath.Join(dir, "absolute")))
	must(os.Symlink("../../../../../../../../"+outside, filepath.Join(dir, "relative")))
	must(os.Symlink(filepath.Dir(outside), filepath.Join(dir, "up")))
	must(os.Symlink("loop", filepath.Join(dir, "loop")))
	must(os.Symlink("/dev/zero", filepath.Join(dir, "zero")))
	must(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	must(err)
	defer socket.Close()
	sparse := filepath.Join(dir, "sparse")
	must(os.WriteFile(sparse, nil, 0o600))
	must(os.Truncate(sparse, 1<<40))

	f, err := folder.Open(dir)
	must(err)
	defer f.Close()
	for _, name := range []string{"plain", "sub/within", filepath.Join(f.Dir(), "plain")} {
		if text, err := f.ReadFile(name, 100); err != nil || string(text) != "one\ntwo" {
			t.Errorf("%s: found %q, %v", name, text, err)
		}
		if n, ok := f.Lines(name); n != 2 || !ok {
			t.Errorf("%s: found %d lines, %v", name, n, ok)
		}
	}
	for _, tt := range []struct {
		name string
		want error
	}{
		{"sub", folder.ErrNotRegular}, {"pipe", folder.ErrNotRegular}, {"socket", folder.ErrNotRegular},
		{"large", folder.ErrTooLarge}, {"sparse", folder.ErrTooLarge}, {"missing", os.ErrNotExist},
	} {
		if _, err := f.ReadFile(tt.name, 100); !errors.Is(err, tt.want) {
			t.Errorf("%s: found %v, want %v", tt.name, err, tt.want)
		}
	}
	for _, name := range []string{"absolute", "relative", "up/secret", "loop", "zero", outside, "../" + filepath.Base(filepath.Dir(outside)) + "/secret"} {
		text, err := f.ReadFile(name, 100)
		if err == nil || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("%s: found %q, %v", name, text, err)
		}
	}
	for _, name := range []string{"pipe", "sparse", "absolute", "zero", "sub"} {
		if n, ok := f.Lines(name); ok {
			t.Errorf("%s: found %d lines", name, n)
		}
	}
}
