package outfile

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/spf13/cobra"
)

// TestWrite checks that Write replaces a file as a whole, follows a link to the file
// without replacing the link, and changes no other file.
func TestWrite(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("there", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"there/people.ndjson": "old", "people.ndjson.tmp": "mine"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("there/people.ndjson", "people.ndjson"); err != nil {
		t.Fatal(err)
	}
	holds := func(name, want string) {
		t.Helper()
		if b, err := os.ReadFile(name); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v, expected %q", name, b, err, want)
		}
	}
	writing := func(text string, fault error) error {
		return Write(&cobra.Command{}, "people.ndjson", func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, fault)
		})
	}

	brokeOff := errors.New("broke off")
	if err := writing("half", brokeOff); !errors.Is(err, brokeOff) {
		t.Errorf("an export that broke off: %v", err)
	}
	holds("people.ndjson", "old")

	if err := writing("new", nil); err != nil {
		t.Fatal(err)
	}
	holds("there/people.ndjson", "new")
	holds("people.ndjson.tmp", "mine")
	if info, err := os.Lstat("people.ndjson"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	if info, err := os.Stat("there/people.ndjson"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the private file is %v, %v", info.Mode(), err)
	}
	for dir, want := range map[string]int{".": 3, "there": 1} {
		if left, err := os.ReadDir(dir); err != nil || len(left) != want {
			t.Errorf("%s holds %v, %v", dir, left, err)
		}
	}
}
