package provider

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// TestOnUse makes a provider at its first use, and another one at once. Both must have the same
// model. If the API key is missing, the first call must fail with an error that contains the name
// of the variable.
func TestOnUse(t *testing.T) {
	t.Setenv("TEST_PROVIDER_KEY", "k")
	for _, c := range []*cluster.Embedding{
		{Name: "a", Kind: cluster.EmbedMock},
		{Name: "a", Kind: cluster.EmbedOpenAI, Model: "m", BaseURL: "http://127.0.0.1:1", KeyEnv: "TEST_PROVIDER_KEY"},
		{Name: "a", Kind: cluster.EmbedGemini, Model: "m", KeyEnv: "TEST_PROVIDER_KEY"},
	} {
		now, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		if late := OnUse(c); late.Model() != now.Model() {
			t.Errorf("%s: model %q, want %q", c.Kind, late.Model(), now.Model())
		}
	}
	if vectors, err := OnUse(&cluster.Embedding{Kind: cluster.EmbedMock}).Embed(t.Context(), []string{"x"}, 3); err != nil || len(vectors) != 1 || len(vectors[0]) != 3 {
		t.Errorf("found %v, %v", vectors, err)
	}
	none := OnUse(&cluster.Embedding{Name: "mine", Kind: cluster.EmbedOpenAI, Model: "m", KeyEnv: "TEST_PROVIDER_NONE"})
	if _, err := none.Embed(t.Context(), []string{"x"}, 3); err == nil || !strings.Contains(err.Error(), "embedding provider mine: the environment variable TEST_PROVIDER_NONE is not set") {
		t.Errorf("found %v", err)
	}
	if OnUse(nil) != nil {
		t.Error("no configuration gave a provider")
	}
}
