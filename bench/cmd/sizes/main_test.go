package main

import (
	"io"
	"strings"
	"testing"
)

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
