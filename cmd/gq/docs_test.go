package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// TestReferenceIsFresh compares the committed pages with what is printed.
func TestReferenceIsFresh(t *testing.T) {
	files, err := referencePages()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files.Names() {
		golden.Check(t, "../../"+referenceDir+"/"+name, files[name])
	}
}

// unshown are the codes that no text is known to yield.
var unshown = regexp.MustCompile(`^C14$`)

// TestEveryCodeHasAnExample runs every example and looks for its code in what it
// reports.
func TestEveryCodeHasAnExample(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range entries() {
		code := string(e.Code)
		if seen[code] {
			t.Errorf("%s is documented twice", code)
		}
		seen[code] = true
		if e.Title == "" || e.Explanation == "" {
			t.Errorf("%s has no title or no explanation", code)
		}
		if unshown.MatchString(code) {
			if e.Example != "" {
				t.Errorf("%s has an example after all", code)
			}
			continue
		}
		list, err := newExample(e).run()
		if err != nil || len(list) == 0 {
			t.Errorf("%s: %d reports, %v", code, len(list), err)
		}
	}
	for code := range seen {
		if !slices.ContainsFunc(families, func(f family) bool { return f.letter == code[:1] }) {
			t.Errorf("%s is of no family, and on no page", code)
		}
	}
}

func TestDocs(t *testing.T) {
	module(t, map[string]string{"sub/x": ""})
	t.Chdir("sub")
	if code, _, stderr := gqRun("docs", "--check"); code != exitFailed || !strings.Contains(stderr, "diagnostics.md is stale") {
		t.Errorf("check before: exit %d\n%s", code, stderr)
	}
	if code, stdout, stderr := gqRun("docs"); code != exitDone || stdout != "../docs/reference/diagnostics.md\n../docs/reference/grammar.md\n" {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := gqRun("docs", "--check"); code != exitDone || stdout+stderr != "" {
		t.Errorf("check after: exit %d\n%s%s", code, stdout, stderr)
	}
	if err := os.WriteFile("../docs/reference/grammar.md", []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := gqRun("docs", "--check", "--out", "../docs/reference"); code != exitFailed || !strings.Contains(stderr, "grammar.md is stale") {
		t.Errorf("check of a change: exit %d\n%s", code, stderr)
	}
	if code, _, _ := gqRun("docs", "more"); code != exitUsage {
		t.Errorf("an argument: exit %d", code)
	}
}
