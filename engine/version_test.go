package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
)

func TestCheckBranchName(t *testing.T) {
	const expected = "expected letters a to z and A to Z, digits, _ - . and /"
	for _, tt := range []struct{ name, want string }{ // "" means that the name is valid
		{"main", ""},
		{"A-1_2.3/b..c/.d", ""},
		{"...", ""},
		{strings.Repeat("x", 200), ""},
		{"", "the branch name has 0 characters, expected 1 to 200"},
		{strings.Repeat("x", 201), "the branch name has 201 characters, expected 1 to 200"},
		{strings.Repeat("ä", 201), "the branch name has 201 characters, expected 1 to 200"},
		{"/a", `the branch name "/a" has an empty segment; use / only between segments`},
		{"a//b", `the branch name "a//b" has an empty segment; use / only between segments`},
		{".", `the branch name "." has the segment ".", which clients remove from URLs; choose another name`},
		{"a/.", `the branch name "a/." has the segment ".", which clients remove from URLs; choose another name`},
		{"./a", `the branch name "./a" has the segment ".", which clients remove from URLs; choose another name`},
		{"a/../b", `the branch name "a/../b" has the segment "..", which clients remove from URLs; choose another name`},
		{"a b", `the branch name "a b" has " " at position 2, ` + expected},
		{"für", `the branch name "für" has "ü" at position 2, ` + expected},
		{"日本", `the branch name "日本" has "日" at position 1, ` + expected},
		{"a😀", `the branch name "a😀" has "😀" at position 2, ` + expected},
		{"a\u202eb", `the branch name "a\u202eb" has "\u202e" at position 2, ` + expected},
		{"a\xc3", `the branch name "a\xc3" has "\xc3" at position 2, ` + expected},
		{"a`", "the branch name \"a`\" has \"`\" at position 2, " + expected},
	} {
		err := engine.CheckBranchName(tt.name)
		var bad *engine.BadArgument
		switch {
		case tt.want == "" && err == nil:
		case !errors.As(err, &bad) || bad.Param != "name" || bad.Detail != tt.want:
			t.Errorf("%q: got  %v\nwant %s", tt.name, err, tt.want)
		}
	}
}
