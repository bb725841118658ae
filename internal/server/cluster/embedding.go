package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// Embedding is a provider that computes vectors from texts.
type Embedding struct {
	Name    string // its key under providers.embedding
	Kind    string // one of the Embed constants
	BaseURL string // "" means the provider's own URL
	Model   string // "" for EmbedMock, which has only one model
	// KeyEnv is the environment variable that holds the secret, or "". The file must never hold the
	// secret itself.
	KeyEnv string
}

// The kinds of embedding providers.
const (
	EmbedOpenAI = "openai-compatible" // a service with the embeddings API of OpenAI
	EmbedGemini = "gemini"
	EmbedMock   = "mock" // needs no network; equal texts have equal vectors, without other meaning
)

// providers reads the embedding providers by name. The result includes faulty providers, so that a
// graph that refers to one does not cause a second report.
func (p *reader) providers(n *strictyaml.Node) map[string]*Embedding {
	out := map[string]*Embedding{}
	f, ok := n.Mapping("providers", providersSettings)
	if !ok {
		return out
	}
	entries, _ := f["embedding"].Entries("providers.embedding")
	for _, e := range entries {
		what := "provider " + e.Key
		x := &Embedding{Name: e.Key}
		out[e.Key] = x
		f, ok := e.Value.Mapping(what, embeddingSettings)
		if !ok {
			continue
		}
		x.KeyEnv = secret(f["api_key"], "api_key")
		if n := e.At.Require(f, "kind", what); n != nil {
			x.Kind, _ = n.Word()
		}
		x.BaseURL, _ = f["base_url"].Text("base_url")
		x.Model, _ = f["model"].Text("model")
		switch {
		case x.Kind == EmbedMock:
			for _, key := range []string{"base_url", "model", "api_key"} {
				if n := f[key]; n != nil {
					n.AtKey().Fault(strictyaml.Contradicts, fmt.Sprintf("a provider of kind mock cannot have %s", key), "remove it, or name another kind")
				}
			}
		case x.Kind != "":
			e.At.Require(f, "model", what)
			if x.BaseURL != "" && !strings.HasPrefix(x.BaseURL, "https://") && !strings.HasPrefix(x.BaseURL, "http://") {
				f["base_url"].Fault(strictyaml.BadValue, fmt.Sprintf("base_url is %q, expected an address that begins with https:// or http://", x.BaseURL), "")
			}
		}
	}
	return out
}

// embedding reads which provider a graph uses.
func (p *reader) embedding(g *Graph, n *strictyaml.Node) {
	if n == nil {
		return
	}
	name, ok := n.Text("embedding_provider")
	if !ok {
		return
	}
	if g.Embedding = p.embeddings[name]; g.Embedding == nil {
		n.Unknown(strictyaml.UnknownName, "provider", name, "embedding_provider", slices.Sorted(maps.Keys(p.embeddings)))
	}
}
