package codegraph

import (
	"bytes"
	"encoding/json"
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
	pairs := map[[2]string]bool{}
	for l := range bytes.Lines(Size{Packages: 2, Symbols: 6, Calls: 20}.NDJSON(7)) {
		var e struct{ Edge, From, To string }
		if err := json.Unmarshal(l, &e); err != nil {
			t.Fatal(err)
		}
		pair := [2]string{e.From, e.To}
		if e.Edge == "Calls" && pairs[pair] {
			t.Errorf("the pair %v is listed twice", pair)
		}
		pairs[pair] = pairs[pair] || e.Edge == "Calls"
	}
	if len(pairs) < 20 {
		t.Errorf("%d pairs, want 20 of calls", len(pairs))
	}
}
