//go:build gq_noparse

package server_test

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
)

// TestServesWithoutParser runs in a build whose parser fails at every text: the server
// boots and answers every stored query all the same.
func TestServesWithoutParser(t *testing.T) {
	if _, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: "node A { a: String @key }"}); !faults.HasErrors() {
		t.Fatal("the parser works in this build, so the test would prove nothing")
	}
	everyStoredQuery(t)
}
