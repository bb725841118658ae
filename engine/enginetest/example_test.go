package enginetest_test

import (
	"flag"
	"fmt"
	"log"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/engine/enginetest"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// The tests of an engine are the three functions below. The example runs the last one; in the
// engine's own module, go test runs all three.
func Example() {
	e := embedded.NewMemoryEngine() // the engine under test
	places := 0
	place := func(testing.TB) string {
		places++
		return fmt.Sprint("graph", places)
	}
	open := func(t testing.TB, source string, schema *catalog.Schema) engine.Graph {
		g, err := e.Create(t.Context(), place(t), source, schema, engine.OpenOptions{})
		if err != nil {
			t.Fatalf("create: %v", err)
		}
		return g
	}

	tests := map[string]func(t *testing.T){
		"TestConformance": func(t *testing.T) { enginetest.Run(t, open) },
		"TestRandom":      func(t *testing.T) { enginetest.RunRandom(t, open, enginetest.FromFlags()) },
		"TestOpen":        func(t *testing.T) { enginetest.RunOpen(t, e, place) },
	}
	fmt.Println("TestOpen passes:", run("TestOpen", tests["TestOpen"]))
	// Output: TestOpen passes: true
}

// run runs one test and reports whether it passed. go test runs tests by itself, but an example has
// to start them, and must not print their names.
func run(name string, test func(*testing.T)) bool {
	verbose := flag.Lookup("test.v")
	was := verbose.Value.String()
	if err := verbose.Value.Set("false"); err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := verbose.Value.Set(was); err != nil {
			log.Fatal(err)
		}
	}()
	all := func(_, _ string) (bool, error) { return true, nil }
	return testing.RunTests(all, []testing.InternalTest{{Name: name, F: test}})
}
