package mutate

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/exec/eval"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Vectors holds the vectors that were computed for a mutation, by property and text.
type Vectors map[embedding]value.Value

// embedding is a property and a text to compute a vector from.
type embedding struct {
	prop *catalog.Property // the vector property
	text string            // its source text
}

// EmbedFor computes the vectors that a mutation needs: an insert or an update that assigns
// the source text of a vector, but not the vector itself, gets a computed vector. If e is
// nil, it returns no vectors. EmbedFor may wait for the provider, so call it before taking
// the write lock. The caller must have checked the arguments. The error is an *EmbedError.
func EmbedFor(ctx context.Context, e eval.Embedder, q *plan.Query, s *schema.Schema, args engine.Args) (Vectors, error) {
	if e == nil || Bind(q, s) != nil {
		return nil, nil // the write reports the error
	}
	type request struct {
		t     *schema.Type
		p     *catalog.Property
		texts []string // without duplicates
	}
	var requests []*request
	of := map[*catalog.Property]*request{}
	seen := map[embedding]bool{}
	w := &Write{Args: args, ctx: ctx}
	add := func(t *schema.Type, set []plan.Assign) {
		for _, p := range t.Props {
			v, ok := embedSource(w, set, p)
			if !ok || v.IsNull() || seen[embedding{p, v.Str()}] {
				continue
			}
			seen[embedding{p, v.Str()}] = true
			if of[p] == nil {
				of[p] = &request{t: t, p: p}
				requests = append(requests, of[p])
			}
			of[p].texts = append(of[p].texts, v.Str())
		}
	}
	for _, statement := range q.Mutation.Statements {
		rows, list := oneRow, []plan.Statement{statement}
		if each, ok := statement.(plan.ForEach); ok {
			if list = each.Statements; each.List != nil {
				var err error
				if rows, err = w.elements(each); err != nil {
					return nil, nil // the write reports the error
				}
			}
		}
		for _, st := range list {
			entity, typ := plan.Target(st)
			set, _ := plan.Written(st)
			for _, w.cells = range rows {
				add(s.Type(entity, typ), set)
			}
		}
	}
	var out Vectors
	for _, r := range requests {
		vectors, err := eval.EmbedTexts(ctx, e, r.p, r.texts)
		if err != nil {
			return nil, &eval.EmbedError{Type: r.t.Name, Property: r.p.Name, Err: err}
		}
		if out == nil {
			out = Vectors{}
		}
		for i, text := range r.texts {
			out[embedding{r.p, text}] = value.OfVector(vectors[i])
		}
	}
	return out, nil
}

// embedSource returns the text that the vector of p must be computed from, or null. It reports
// false if the assignments set the vector itself, or do not set its source.
func embedSource(w *Write, set []plan.Assign, p *catalog.Property) (text value.Value, ok bool) {
	if p.Embed == nil {
		return value.Null, false
	}
	for _, a := range set {
		switch a.Name {
		case p.Name:
			return value.Null, false
		case p.Embed.Source:
			if dependsOnStored(a.Value, w.cells) {
				return value.Null, true
			}
			// A text that is too large makes the assignment fail, which reports the error.
			if v, err := w.value(a.Value); err != nil || v.IsNull() || v.Kind() == value.String && !v.IsList() {
				text, ok = v, true
			}
		}
	}
	return text, ok
}

// dependsOnStored reports whether an expression depends on an entity of the graph. A Cell depends
// on an entity, unless the row is an element of a list; only then `cells` is not nil.
func dependsOnStored(e plan.Expr, cells []value.Value) bool {
	depends := false
	plan.WalkExpr(e, func(e plan.Expr) {
		switch e.(type) {
		case plan.Old, plan.ID, plan.KeyOf:
			depends = true
		case plan.Cell:
			depends = depends || cells == nil
		default: // the other expressions depend on the arguments alone
		}
	})
	return depends
}

// embedded fills in the computed vectors of an insert.
func (w *Write) embedded(t *schema.Type, set []plan.Assign, vals []value.Value) {
	if len(w.Vectors) == 0 {
		return
	}
	for i, p := range t.Props {
		if text, ok := embedSource(w, set, p); ok && !text.IsNull() {
			vals[i] = w.Vectors[embedding{p, text.Str()}]
		}
	}
}

// derived is a vector that an update must compute.
type derived struct {
	p, source int         // positions of the vector property and of its source
	v         value.Value // null if the text is null, or without a provider
}

// derive lists the vectors that an update must compute.
func (w *Write) derive(t *schema.Type, set []plan.Assign) []derived {
	var out []derived
	for i, p := range t.Props {
		text, ok := embedSource(w, set, p)
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

// updateDerived updates the vectors of an entity, if the update assigned the source texts of the
// vectors. If a source has not changed, updateDerived keeps a vector that is not null, because a
// user may have given it. If the source has changed and the vector cannot be computed, the old
// vector is stale and becomes null.
func (w *Write) updateDerived(t *schema.Type, list []derived, was, row []value.Value) error {
	for _, d := range list {
		if value.Equal(was[d.source], row[d.source]) && (!was[d.p].IsNull() || d.v.IsNull()) {
			continue
		}
		row[d.p] = d.v
		if d.v.IsNull() { // a required vector cannot be; any other one was computed for the property, and fits
			if err := t.CheckValue(d.p, d.v); err != nil {
				return err
			}
		}
	}
	return nil
}
