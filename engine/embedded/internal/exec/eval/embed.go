package eval

import (
	"context"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/ir"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Embedder computes vectors from texts.
type Embedder = engine.Embedder

// embed computes the vectors of texts for a property. The error is a *engine.SchemaMismatch
// when the property's vectors come from another model, a *engine.Unsupported without a
// provider, or the provider's error.
func embed(ctx context.Context, e Embedder, p *catalog.Property, texts ...string) ([][]float32, error) {
	switch {
	case e == nil:
		return nil, &engine.Unsupported{Construct: "turning a text into a vector", NoEmbedder: true}
	case p.Embed != nil && p.Embed.Model != "" && p.Embed.Model != e.Model():
		return nil, ir.Mismatch("the vectors of %s come from the model %s, but the embedding provider uses the model %s; configure a provider with the first model, or give a vector", p.Name, p.Embed.Model, e.Model())
	}
	vectors, err := e.Embed(ctx, texts, p.Type.Dim)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, &engine.Unavailable{Reason: fmt.Sprintf("the embedding provider returned %d vectors for %d texts", len(vectors), len(texts))}
	}
	for _, v := range vectors {
		if len(v) != p.Type.Dim {
			return nil, &engine.Unavailable{Reason: fmt.Sprintf("the embedding provider returned a vector of %d components, expected %d", len(v), p.Type.Dim)}
		}
	}
	return vectors, nil
}

// target returns the query vector of a distance in this run, or nil if it is null.
func (ev *Evaluator) target(d *ir.Distance) ([]float32, error) {
	v := ev.Constant(d.Operand)
	switch {
	case v.IsNull():
		return nil, nil
	case v.Kind() == value.Vector:
		return v.Vector(), nil
	}
	vectors, err := embed(ev.Ctx, ev.embedder, ev.Types[d.Var].Props[d.Prop], v.Str())
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// EmbedTexts computes the vectors of texts for a property. The error is a
// *engine.SchemaMismatch when the property's vectors come from another model, a
// *engine.Unsupported if e is nil, or the provider's error.
func EmbedTexts(ctx context.Context, e Embedder, p *catalog.Property, texts []string) ([][]float32, error) {
	return embed(ctx, e, p, texts...)
}

// EmbedError reports that the vector of a property could not be computed.
type EmbedError struct {
	Type, Property string // names of the type and its property
	Line           int64  // line of the call's first text in a load's input; else 0
	Err            error
}

func (e *EmbedError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("from line %d on, property %s of %s cannot be embedded: %v", e.Line, e.Property, e.Type, e.Err)
	}
	return fmt.Sprintf("property %s of %s cannot be embedded: %v", e.Property, e.Type, e.Err)
}

// Unwrap returns the cause.
func (e *EmbedError) Unwrap() error { return e.Err }
