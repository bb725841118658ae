package exec_test

import (
	"context"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/engine/enginetest"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/slow"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// randomStatements is the number of random statements that [TestOperators] compares with the model.
const randomStatements = 6_000

// TestOperators runs the cases of the suite and random statements on the operators of this package and of the packages
// below it.
func TestOperators(t *testing.T) {
	slow.Test(t)
	open := func(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
		g, err := embedded.Create(context.Background(), fs.NewMem(), "graph", source, schema, embedded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	t.Run("random", func(t *testing.T) {
		enginetest.RunRandom(t, open, enginetest.Options{Seed: 1, Cases: randomStatements, Workers: 2})
	})
	t.Run("suite", func(t *testing.T) { enginetest.Run(t, open) })
}
