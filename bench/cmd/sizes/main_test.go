package main

import (
	"io"
	"strings"
	"testing"
)

// TestHasRows checks that the titles of the columns do not count as a row.
func TestHasRows(t *testing.T) {
	for result, want := range map[string]bool{
		`{"columns":["name"],"rows":[{"name":"Ada"}],"row_count":1}`: true,
		`{"columns":["name"],"rows":[],"row_count":0}`:               false,
		`{"error":"name"}`: false,
		`{"rows":[1`:       false,
	} {
		if got := hasRows([]byte(result)); got != want {
			t.Errorf("%s has rows: %t, want %t", result, got, want)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"-rows many", `-rows "many"`},
		{"-rows 1000000000", "at most 100"},
		{"-runs 0", "-runs must be above 0"},
		{"extra", `unexpected argument "extra"`},
	} {
		err := run(t.Context(), strings.Fields(test.args), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error with %q", test.args, err, test.want)
		}
	}
}
