package check

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// ParseSchema parses a schema without faults. The tests of package check_test set it, because package resolve imports
// this package.
var ParseSchema func(t *testing.T, text string) *catalog.Schema
