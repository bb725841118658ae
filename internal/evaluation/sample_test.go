package evaluation_test

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/evaluation"
)

// TestSamplesValid loads the samples of types with @valid.
func TestSamplesValid(t *testing.T) {
	const text = `node Person { name: String @key }
node Company @valid(founded, closed) { name: String @key founded: DateTime closed: DateTime? }
edge WorksAt: Person -> Company @valid(since, until) { since: Date until: Date? }`
	schema, faults := gq.CompileSchema(gq.Source{Name: "s.pg", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.OpenMemory(t.Context(), text, schema, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, s := range evaluation.Samples(schema) {
		if res, err := g.Load(t.Context(), strings.NewReader(s.Data), engine.LoadOptions{Mode: engine.Append}); err != nil || res.Commit == nil {
			t.Errorf("the sample of %s: %+v, %v", s.Type, res, err)
		}
	}
}
