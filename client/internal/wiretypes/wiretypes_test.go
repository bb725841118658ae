package wiretypes

import (
	"os"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
)

// The folder of package client, and its clients in other languages.
const (
	client = "../../"
	tsDir  = client + "typescript/src/"
	pyDir  = client + "python/omnigraph/"
)

// TestFiles compares the generated files of the clients with the OpenAPI document and the Go source that they come from.
func TestFiles(t *testing.T) {
	read := func(path string) []byte {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	types, err := Read(read("../../../docs/reference/openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	refusals, err := Refusals(read(client + "error.go"))
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, tsDir+"wire.ts", types.TypeScript())
	golden.Check(t, tsDir+"refusals.ts", TypeScriptErrors(refusals))
	golden.Check(t, pyDir+"wire.py", types.Python())
	golden.Check(t, pyDir+"refusals.py", PythonErrors(refusals))
	for _, name := range []string{"_async.py", "_async_rows.py"} {
		golden.Check(t, pyDir+strings.Replace(name, "async", "sync", 1), Blocking(name, read(pyDir+name)))
	}
}
