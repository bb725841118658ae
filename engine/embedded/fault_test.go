//go:build fault_tombstone || fault_hops || fault_overlay || fault_dropped || fault_members || fault_unmatched || fault_nulls || fault_distinct || fault_collect || fault_having || fault_cut || fault_block_row || fault_block_limit || fault_alternatives || fault_lastwalk || fault_types || fault_ids || fault_upsert || fault_block || fault_factor || fault_closing || fault_terms || fault_opposite || fault_record || fault_draft

package embedded_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine/enginetest"
)

// overheard is a testing.TB that records failures instead of failing.
type overheard struct {
	testing.TB
	heard string
}

func (o *overheard) Errorf(format string, args ...any) {
	o.heard += fmt.Sprintf(format, args...)
}

// TestFaultIsFound expects the random comparison to find the fault that a build tag seeds:
// fault_hops, fault_overlay, fault_tombstone, fault_dropped, fault_members, fault_unmatched, fault_nulls, fault_distinct,
// fault_collect, fault_having, fault_cut, fault_block_row, fault_block_limit, fault_alternatives, fault_lastwalk, fault_types, fault_ids,
// fault_upsert, fault_block, fault_factor, fault_closing, fault_terms, fault_opposite, fault_record or fault_draft. Run it with go test -tags fault_hops -run TestFaultIsFound ./engine/embedded.
func TestFaultIsFound(t *testing.T) {
	o := &overheard{TB: t}
	n := enginetest.RunRandom(o, openInMemory, enginetest.Options{Seed: 1, Cases: 10_000})
	if o.heard == "" {
		t.Fatalf("not found in %d statements", n)
	}
	difference, _, _ := strings.Cut(o.heard, "\nschema:")
	t.Logf("found after %d statements: %.400s", n, difference)
}
