package exec

import (
	"context"
	"fmt"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Embedder turns texts into vectors.
type Embedder interface {
	// Model names the model, as schemas record it.
	Model() string
	// Embed returns a vector of dim components for each text.
	Embed(ctx context.Context, texts []string, dim int) ([][]float32, error)
}

// Vectors holds the vectors of texts that a mutation embeds.
type Vectors map[embedding]value.Value

// embedding is a text for a property.
type embedding struct {
	prop *catalog.Property
	text string
}

// embed computes the vectors of texts for a property. The error is a
// *engine.SchemaMismatch when the property's vectors come from another model, a
// *engine.Unsupported without a provider, or the provider's.
func embed(ctx context.Context, e Embedder, p *catalog.Property, texts ...string) ([][]float32, error) {
	switch {
	case e == nil:
		return nil, &engine.Unsupported{Construct: "a text in the place of a vector, without an embedding provider,"}
	case p.Embed != nil && p.Embed.Model != "" && p.Embed.Model != e.Model():
		return nil, mismatch("the vectors of %s are of the model %s, and the embedding provider's model is %s; configure the provider of that model, or give a vector", p.Name, p.Embed.Model, e.Model())
	}
	vectors, err := e.Embed(ctx, texts, p.Type.Dim)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, &engine.Unavailable{Reason: fmt.Sprintf("the embedding provider gave %d vectors for %d texts", len(vectors), len(texts))}
	}
	for _, v := range vectors {
		if len(v) != p.Type.Dim {
			return nil, &engine.Unavailable{Reason: fmt.Sprintf("the embedding provider gave a vector of %d components, wanted %d", len(v), p.Type.Dim)}
		}
	}
	return vectors, nil
}

// Embeds reports whether a run of the program needs an embedding provider.
func (p *Program) Embeds() bool {
	for _, d := range p.distances {
		if d.operand.typ.Kind == value.String {
			return true
		}
	}
	return false
}

// target returns the vector of a distance in this run, nil for null.
func (st *state) target(d *distance) ([]float32, error) {
	v := st.constant(d.operand)
	switch {
	case v.IsNull():
		return nil, nil
	case v.Kind() == value.Vector:
		return v.Vector(), nil
	}
	vectors, err := embed(st.ctx, st.embedder, st.types[d.v].Props[d.prop], v.Str())
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// EmbedFor computes what a mutation's inserts leave to be embedded: the required vectors
// that are not assigned and whose sources are; without a provider none. It may wait for
// the provider, and so comes before the turn to write. The arguments have been checked.
// The error is a *EmbedError.
func EmbedFor(ctx context.Context, e Embedder, q *plan.Query, s *version.Schema, args engine.Args) (Vectors, error) {
	if e == nil || BindMutation(q, s) != nil {
		return nil, nil // the write says so
	}
	var out Vectors
	w := &Write{Args: args}
	for _, statement := range q.Mutation.Statements {
		insert, ok := statement.(plan.Insert)
		if !ok {
			continue
		}
		t := s.Type(insert.Entity, insert.Type)
		if t == nil {
			continue // the query does not fit, as the binding will say
		}
		for _, p := range t.Props {
			text, ok := source(w, insert, p)
			if !ok {
				continue
			}
			vectors, err := embed(ctx, e, p, text)
			if err != nil {
				return nil, &EmbedError{Type: t.Name, Property: p.Name, Err: err}
			}
			if out == nil {
				out = Vectors{}
			}
			out[embedding{p, text}] = value.OfVector(vectors[0])
		}
	}
	return out, nil
}

// source returns the text of which an insert leaves a vector to be computed.
func source(w *Write, s plan.Insert, p *catalog.Property) (text string, ok bool) {
	if p.Embed == nil || p.Type.Nullable {
		return "", false
	}
	for _, a := range s.Set {
		switch a.Name {
		case p.Name:
			return "", false
		case p.Embed.Source:
			if v := w.value(a.Value); !v.IsNull() && v.Kind() == value.String && !v.IsList() {
				text, ok = v.Str(), true
			}
		}
	}
	return text, ok
}

// embedded fills in the vectors that an insert leaves to be computed.
func (w *Write) embedded(t *version.Type, s plan.Insert, vals []value.Value) {
	if len(w.Vectors) == 0 {
		return
	}
	for i, p := range t.Props {
		if text, ok := source(w, s, p); ok {
			vals[i] = w.Vectors[embedding{p, text}]
		}
	}
}

// EmbedError says that the vector of a property could not be computed.
type EmbedError struct {
	Type, Property string
	Err            error
}

func (e *EmbedError) Error() string {
	return fmt.Sprintf("property %s of %s cannot be embedded: %v", e.Property, e.Type, e.Err)
}

// Unwrap returns the cause.
func (e *EmbedError) Unwrap() error { return e.Err }
