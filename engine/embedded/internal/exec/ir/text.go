package ir

import (
	"reflect"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TextMatch is a bound text match.
type TextMatch struct {
	Src   plan.TextMatch // the match in the plan
	Kind  plan.TextKind  // any token, phrase or fuzzy
	Prop  *Expr          // the property to search in
	Query *Expr          // the search text
	Edits *Expr          // nil for the default
}

// text binds a text match and returns its position in b.texts.
func (b *binder) text(m plan.TextMatch) (int, error) {
	if i, ok := b.boundText(m); ok {
		return i, nil
	}
	t := &TextMatch{Src: m, Kind: m.Kind}
	var err error
	if t.Prop, err = b.expr(m.Prop); err != nil {
		return 0, err
	}
	if t.Query, err = b.expr(m.Query); err != nil {
		return 0, err
	}
	if t.Prop.Type.Kind != value.String || t.Prop.Type.List {
		return 0, Mismatch("%s cannot search a property of type %s", m.Kind, t.Prop.Type)
	}
	if !isText(t.Query) {
		return 0, Mismatch("%s cannot search for a value of type %s", m.Kind, t.Query.Type)
	}
	if t.Query.Kind != ExprConst {
		return 0, &engine.Unsupported{Construct: m.Kind.String() + " with a search text that differs from row to row"}
	}
	if m.MaxEdits != nil {
		if t.Edits, err = b.expr(m.MaxEdits); err != nil {
			return 0, err
		}
		if t.Edits.Kind != ExprConst {
			return 0, &engine.Unsupported{Construct: "fuzzy with a distance that differs from row to row"}
		}
	}
	key := keyOf(plan.Matched{Match: m})
	if b.textsOf == nil {
		b.textsOf = map[string][]int{}
	}
	b.textsOf[key] = append(b.textsOf[key], len(b.Texts))
	b.Texts = append(b.Texts, t)
	return len(b.Texts) - 1, nil
}

// isText reports whether the query of a text search is a text or null.
func isText(query *Expr) bool {
	if lit, ok := query.Src.(plan.Lit); ok && lit.Value.IsNull() {
		return true
	}
	return query.Type.Kind == value.String && !query.Type.List
}

// boundText finds a text match that is already bound.
func (b *binder) boundText(m plan.TextMatch) (int, bool) {
	for _, i := range b.textsOf[keyOf(plan.Matched{Match: m})] {
		b.Step(1)
		if reflect.DeepEqual(b.Texts[i].Src, m) {
			return i, true
		}
	}
	return 0, false
}
