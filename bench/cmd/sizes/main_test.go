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

func TestStatusBytes(t *testing.T) {
	status := []byte("Name:\tomnigraph\nVmSwap:\t       0 kB\nRssAnon:\t    1024 kB\n")
	if n := statusBytes(status, "RssAnon:"); n != 1<<20 {
		t.Errorf("RssAnon is %d bytes, want 1 MiB", n)
	}
	if n := statusBytes(status, "VmRSS:"); n != 0 {
		t.Errorf("a line that is missing counts %d bytes", n)
	}
}
