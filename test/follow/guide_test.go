package follow

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/slow"
)

// TestGuide runs the blocks of docs/import-follow.md in order.
func TestGuide(t *testing.T) {
	slow.Test(t)
	text, err := os.ReadFile("../../docs/import-follow.md")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "SELECT 1")
	blocks := 0
	for _, m := range regexp.MustCompile("(?s)```(sh|sql|pg|yaml) ?([^\n]*)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		blocks++
		switch m[1] {
		case "sql":
			for _, s := range strings.SplitAfter(strings.TrimSpace(m[3]), ";\n") {
				w.exec(s)
			}
		case "sh":
			cmd := exec.CommandContext(t.Context(), "sh", "-euc", m[3])
			cmd.Dir = w.dir
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"), "DATABASE_URL="+w.address)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", m[3], err, out)
			}
		default:
			w.write(m[2], m[3])
		}
	}
	after, err := os.ReadFile(filepath.Join(w.dir, "after.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	after = regexp.MustCompile(`omnigraph\.\d+:`).ReplaceAll(after, []byte("omnigraph.N:")) // the identifier of the database system
	want := `{"type":"Person","data":{"id":"2","no":2,"name":"Bob"},"sources":"+omnigraph.N:name"}
{"type":"Book","data":{"id":"i1","isbn":"i1","title":"Tides"},"sources":"+omnigraph.N:title"}
{"edge":"Owns","from":"2","to":"i1","data":{"id":`
	if blocks < 7 || !strings.HasPrefix(string(after), want) || strings.Count(string(after), "\n") != 3 {
		t.Errorf("after %d blocks the graph is\n%s\nexpected\n%s…", blocks, after, want)
	}
}
