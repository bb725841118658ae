package check_test

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/resolve"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

func init() {
	check.ParseSchema = func(t *testing.T, text string) *catalog.Schema {
		t.Helper()
		tree, faults := syntax.ParseSchema("x.pg", text)
		s, more := resolve.Schema(tree)
		if faults != nil || more != nil {
			t.Fatal(faults, more)
		}
		return s
	}
}
