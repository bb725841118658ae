package naive

import (
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// This file contains the part of the model that is about valid time: a read about a time meets a copy of the graph from which everything
// that was not valid then has been removed.

// validityOf returns the @valid of a type, or nil.
func validityOf(s *catalog.Schema, kind plan.Entity, typ string) *catalog.Validity {
	if kind == plan.Edge {
		return s.Edge(typ).Valid
	}
	return s.Node(typ).Valid
}

// hasValid reports whether a type of a state has @valid.
func hasValid(s *state) (has bool) {
	s.eachType(func(kind plan.Entity, typ string) { has = has || validityOf(s.schema, kind, typ) != nil })
	return has
}

// timeOf returns the instant of a DateTime, or the start of a Date in UTC.
func timeOf(v value.Value) time.Time {
	if v.Kind() == value.Date {
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(v.Int()))
	}
	return time.UnixMicro(v.Int()).UTC()
}

// then returns the copy of a state that a read about a time meets. A type of which the rights hide when its entities are valid is as one without @valid.
func (g *Graph) then(s *state, q *plan.Query, args engine.Args, at time.Time, reads *engine.Rights) (*state, error) {
	v := q.Read.Valid
	if v == nil {
		return s, nil
	}
	instant := func(e plan.Expr) time.Time {
		if lit, ok := e.(plan.Lit); ok {
			return timeOf(lit.Value)
		}
		if ref, ok := e.(plan.ParamRef); ok {
			return timeOf(args[ref.Index])
		}
		return at.Truncate(time.Microsecond)
	}
	from := instant(v.From)
	valid := func(since, until time.Time, ends bool) bool {
		began := !since.After(from) && (g.fault != SinceExcluded || since.Before(from))
		return began && (!ends || until.After(from) || g.fault == UntilIncluded && until.Equal(from))
	}
	if v.To != nil {
		to := instant(v.To)
		if !from.Before(to) {
			bad := &engine.BadArgument{Param: "query", Detail: "the period is empty"}
			for _, e := range []plan.Expr{v.From, v.To} {
				if ref, ok := e.(plan.ParamRef); ok {
					bad.Param = q.Params[ref.Index].Name
				}
			}
			return nil, bad
		}
		if g.fault != PeriodIsStart {
			valid = func(since, until time.Time, ends bool) bool { return since.Before(to) && (!ends || from.Before(until)) }
		}
	}
	gone := map[place]bool{}
	s.eachType(func(kind plan.Entity, typ string) {
		when := validityOf(s.schema, kind, typ)
		if when == nil || hidesTimes(s, when, reads, kind, typ) {
			return
		}
		for id, e := range s.of(kind, typ) {
			var until time.Time
			end := e.props[when.Until]
			if !end.IsNull() {
				until = timeOf(end)
			}
			if !valid(timeOf(e.props[when.Since]), until, !end.IsNull()) {
				gone[place{kind, typ, id}] = true
			}
		}
	})
	if g.fault == EndsOutlived {
		seen := s.clone()
		for at := range gone {
			if at.kind == plan.Edge {
				delete(seen.edges[at.typ], at.id)
			}
		}
		return seen, nil
	}
	return g.without(s, gone), nil
}

// hidesTimes reports whether the rights hide when the entities of a type with @valid begin or end to be valid.
func hidesTimes(s *state, when *catalog.Validity, reads *engine.Rights, kind plan.Entity, typ string) bool {
	return slices.ContainsFunc([]string{when.Since, when.Until}, func(name string) bool {
		return rightsOf(reads, kind, typ).Hides(name) && !(kind == plan.Node && s.schema.Node(typ).IsKey(name))
	})
}

// checkTimes reports the entities that existed and now begin or end to be valid at another time, although the caller may not read both times.
func (t *tx) checkTimes(reads *engine.Rights) {
	if reads == nil {
		return
	}
	t.after.eachType(func(kind plan.Entity, typ string) {
		when := validityOf(t.after.schema, kind, typ)
		if when == nil || !hidesTimes(t.after, when, reads, kind, typ) {
			return
		}
		for id, e := range t.after.of(kind, typ) {
			if was := t.before.of(kind, typ)[id]; was != nil && (changes(t.after, was, e, when.Since) || changes(t.after, was, e, when.Until)) {
				t.errs = append(t.errs, &engine.NotAllowed{Entity: kind.String(), Type: typ, ID: id})
			}
		}
	})
}

// checkValid reports the entities that do not begin to be valid before they end.
func (t *tx) checkValid(kind plan.Entity, typ string, entities []*entity, report func(e *entity, property, rule, detail string)) {
	when := validityOf(t.after.schema, kind, typ)
	if when == nil || t.g.fault == ValidUnruled {
		return
	}
	for _, e := range entities {
		since, began := e.props[when.Since]
		until, ends := e.props[when.Until]
		if began && ends && !until.IsNull() && !since.IsNull() && !timeOf(since).Before(timeOf(until)) {
			report(e, when.Until, "valid", "it ends before it begins")
		}
	}
}
