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

// Embedder computes vectors from texts.
type Embedder interface {
	// Model returns the name of the model, as schemas store it.
	Model() string
	// Embed returns one vector of dim components for each text.
	Embed(ctx context.Context, texts []string, dim int) ([][]float32, error)
}

// Vectors holds the vectors that were computed for a mutation, by property and text.
type Vectors map[embedding]value.Value

// embedding is a property and a text to compute a vector from.
type embedding struct {
	prop *catalog.Property
	text string
}

// embed computes the vectors of texts for a property. The error is a *engine.SchemaMismatch
// when the property's vectors come from another model, a *engine.Unsupported without a
// provider, or the provider's error.
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

// Embeds reports whether a run of the program may need an embedding provider.
func (p *Program) Embeds() bool {
	for _, d := range p.distances {
		if d.operand.typ.Kind == value.String {
			return true
		}
	}
	return false
}

// target returns the query vector of a distance in this run, or nil if it is null.
func (ev *evaluator) target(d *distance) ([]float32, error) {
	v := ev.constant(d.operand)
	switch {
	case v.IsNull():
		return nil, nil
	case v.Kind() == value.Vector:
		return v.Vector(), nil
	}
	vectors, err := embed(ev.ctx, ev.embedder, ev.types[d.v].Props[d.prop], v.Str())
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

// EmbedFor computes the vectors that a mutation needs: an insert or an update that assigns
// the source text of a vector, but not the vector itself, gets a computed vector. If e is
// nil, it returns no vectors. EmbedFor may wait for the provider, so call it before taking
// the write lock. The caller must have checked the arguments. The error is an *EmbedError.
func EmbedFor(ctx context.Context, e Embedder, q *plan.Query, s *version.Schema, args engine.Args) (Vectors, error) {
	if e == nil || BindMutation(q, s) != nil {
		return nil, nil // the write reports the error
	}
	var out Vectors
	w := &Write{Args: args}
	for _, statement := range q.Mutation.Statements {
		var t *version.Type
		var set []plan.Assign
		switch st := statement.(type) {
		case plan.Insert:
			t, set = s.Type(st.Entity, st.Type), st.Set
		case plan.Update:
			t, set = s.Type(plan.Node, st.Type), st.Set
		case plan.Delete:
			continue
		}
		if t == nil {
			continue // the query does not match the schema; BindMutation reports this
		}
		for _, p := range t.Props {
			v, ok := source(w, set, p)
			if !ok || v.IsNull() {
				continue
			}
			if _, made := out[embedding{p, v.Str()}]; made {
				continue
			}
			vectors, err := embed(ctx, e, p, v.Str())
			if err != nil {
				return nil, &EmbedError{Type: t.Name, Property: p.Name, Err: err}
			}
			if out == nil {
				out = Vectors{}
			}
			out[embedding{p, v.Str()}] = value.OfVector(vectors[0])
		}
	}
	return out, nil
}

// source returns the text that the vector of p must be computed from, or null. It reports
// false if the assignments set the vector itself, or do not set its source.
func source(w *Write, set []plan.Assign, p *catalog.Property) (text value.Value, ok bool) {
	if p.Embed == nil {
		return value.Null, false
	}
	for _, a := range set {
		switch a.Name {
		case p.Name:
			return value.Null, false
		case p.Embed.Source:
			if v := w.value(a.Value); v.IsNull() || v.Kind() == value.String && !v.IsList() {
				text, ok = v, true
			}
		}
	}
	return text, ok
}

// embedded fills in the computed vectors of an insert.
func (w *Write) embedded(t *version.Type, s plan.Insert, vals []value.Value) {
	if len(w.Vectors) == 0 {
		return
	}
	for i, p := range t.Props {
		if text, ok := source(w, s.Set, p); ok && !text.IsNull() {
			vals[i] = w.Vectors[embedding{p, text.Str()}]
		}
	}
}

// derived is a vector that an update must compute.
type derived struct {
	p, source int
	v         value.Value // null if the text is null, or without a provider
}

// derive lists the vectors that an update must compute.
func (w *Write) derive(t *version.Type, s plan.Update) []derived {
	var out []derived
	for i, p := range t.Props {
		text, ok := source(w, s.Set, p)
		if !ok {
			continue
		}
		from, _ := t.Prop(p.Embed.Source)
		d := derived{p: i, source: from}
		if !text.IsNull() {
			d.v = w.Vectors[embedding{p, text.Str()}]
		}
		out = append(out, d)
	}
	return out
}

// follow updates the vectors of an entity whose sources the update assigned. If the source
// has not changed, it keeps a vector that is not null, because a user may have given it. If
// the source has changed and the vector cannot be computed, the old vector is stale and
// becomes null.
func (w *Write) follow(t *version.Type, list []derived, was, row []value.Value) error {
	for _, d := range list {
		if value.Equal(was[d.source], row[d.source]) && (!was[d.p].IsNull() || d.v.IsNull()) {
			continue
		}
		if row[d.p] = d.v; d.v.IsNull() {
			if err := t.CheckValue(d.p, d.v); err != nil {
				return err
			}
		}
	}
	return nil
}

// EmbedError reports that the vector of a property could not be computed.
type EmbedError struct {
	Type, Property string
	Line           int64 // line of the call's first text in a load's input; else 0
	Err            error
}

func (e *EmbedError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("from line %d on: property %s of %s cannot be embedded: %v", e.Line, e.Property, e.Type, e.Err)
	}
	return fmt.Sprintf("property %s of %s cannot be embedded: %v", e.Property, e.Type, e.Err)
}

// Unwrap returns the cause.
func (e *EmbedError) Unwrap() error { return e.Err }
