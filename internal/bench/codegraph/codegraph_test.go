package codegraph

import (
	"bytes"
	"testing"
)

func TestNDJSON(t *testing.T) {
	size := Size{Packages: 3, Symbols: 40, Calls: 25}
	one, two := size.NDJSON(7), size.NDJSON(7)
	if !bytes.Equal(one, two) {
		t.Error("the same size and seed give different graphs")
	}
	if bytes.Equal(one, size.NDJSON(8)) {
		t.Error("the seed changes nothing")
	}
	if got := bytes.Count(one, []byte{'\n'}); got != size.Lines() {
		t.Errorf("%d lines, Lines says %d", got, size.Lines())
	}
}
