package launch

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/omnigraph-go/omnigraph/generated/code"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestSampleOf checks that sampleOf returns another query that can be called if the sample query of
// the program no longer exists.
func TestSampleOf(t *testing.T) {
	catalogs := []*tool.Catalog{code.Catalog()}
	for _, tt := range []struct {
		name  string
		p     Program
		graph string
		want  string // a query, or empty for none
	}{
		{"named", Program{Catalogs: catalogs, Sample: Sample{Graph: "code", Query: "unused_functions"}}, "code", "unused_functions"},
		{"gone", Program{Catalogs: catalogs, Sample: Sample{Graph: "code", Query: "gone"}}, "code", "most_called"},
		{"not named", Program{Catalogs: catalogs}, "code", "most_called"},
		{"another graph", Program{Catalogs: catalogs, Sample: Sample{Graph: "team", Query: "gone"}}, "code", ""},
		{"no catalog", Program{}, "code", ""},
	} {
		q := sampleOf(tt.p, tt.graph)
		if (q == nil) != (tt.want == "") || q != nil && q.Info().Name != tt.want {
			t.Errorf("%s: found %v, want %q", tt.name, q, tt.want)
		}
	}
}

// TestDevToken checks that the token is stable, and that other users can read neither the token
// nor the folder that devToken creates.
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
			t.Errorf("%s: %v, %v, expected %v", path, info.Mode(), err, want)
		}
	}
}

// TestPrintRows checks that data cannot send control sequences to the terminal.
func TestPrintRows(t *testing.T) {
	for _, row := range []any{[]any{"x\x1b[2J\ny", "für"}, map[string]any{"a": "x\x1b[2J\ny", "b": "für"}} {
		var b bytes.Buffer
		content := map[string]any{"query_name": "q", "columns": []string{"a", "b"}, "row_count": 1, "rows": []any{row}}
		if err := printRows(&b, content); err != nil {
			t.Fatal(err)
		}
		if want := "\nq returns 1 row:\n\na            b\nx\\x1b[2J\\ny  für\n"; b.String() != want {
			t.Errorf("%v: got %q, want %q", row, b.String(), want)
		}
	}
}
