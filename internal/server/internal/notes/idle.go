package notes

import (
	"context"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// ForIdle returns the notes on a mutation that changed nothing at a target: which key or enum value in its
// conditions does not exist, or else which of its statements found nothing. Like [ForEmpty], it is
// only for a caller that may read the whole branch.
func ForIdle(ctx context.Context, g engine.Graph, q *plan.Query, args engine.Args, at engine.Target) []string {
	look := &lookup{ctx: ctx, graph: g, at: at}
	schema, err := g.Schema(ctx, at)
	if err != nil {
		return nil
	}
	var notes []string
	add := func(note string) {
		if note != "" && len(notes) < maxNotes && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	for _, s := range q.Mutation.Statements {
		switch s := s.(type) {
		case plan.Update:
			add(look.idle(schema.Catalog, s.Entity, s.Type, s.Where, args, "update"))
		case plan.Delete:
			add(look.idle(schema.Catalog, s.Entity, s.Type, s.Where, args, "delete"))
		case plan.Insert: // always counts
		case plan.ForEach:
			if s.Read == nil {
				add("the list has no element for which its statements find anything")
				break
			}
			found := look.forRead(schema.Catalog, &plan.Query{Params: q.Params, Read: s.Read}, args)
			for _, note := range found {
				add(note)
			}
			if len(found) == 0 {
				add("the match has no row for which its statements find anything; run the match as a read to see its rows")
			}
		}
	}
	return notes
}

// idle returns the note on an update or a delete that found nothing; `verb` is the word for the statement.
func (l *lookup) idle(s *catalog.Schema, entity plan.Entity, typ string, where []plan.Pred, args engine.Args, verb string) string {
	equal := equalities{}
	for _, p := range where {
		v := value.Null
		switch e := p.Value.(type) {
		case plan.Lit:
			v = e.Value
		case plan.ParamRef:
			v = args[e.Index]
		}
		name := p.Name
		if name == "id" {
			name = ""
		}
		switch {
		case v.IsNull() || v.Kind() != p.Type.Kind:
		case p.Op == plan.Eq && !v.IsList():
			equal[name] = []value.Value{v}
		case p.Op == plan.In && v.IsList() && len(v.Elems()) > 0:
			equal[name] = v.Elems()
		}
	}
	if len(equal) > 0 {
		if note := l.note(s, plan.Var{Entity: entity, Type: typ}, equal); note != "" {
			return note
		}
	}
	return fmt.Sprintf("no %s meets the conditions of the %s; run them as a read, with fewer of them, to see what does", typ, verb)
}

// elsewhere returns the end of the note that no node of some types has a key: which other type has one with this text. It
// looks the text up as an id, in at most maxTypes types.
func (l *lookup) elsewhere(s *catalog.Schema, types []*catalog.Node, members []string, equal equalities) string {
	if len(members) != 1 || len(equal[members[0]]) != 1 || equal[members[0]][0].Kind() != value.String {
		return ""
	}
	text := equal[members[0]][0]
	left := maxTypes
	for _, n := range s.Nodes {
		if slices.Contains(types, n) || len(n.Key) != 1 || n.Property(n.Key[0]).Type.Kind != value.String {
			continue
		}
		if left--; left < 0 {
			return ""
		}
		if found, err := l.keys(n, 1, nil, compare(plan.Eq, plan.ID{}, text)); err == nil && len(found) > 0 {
			return fmt.Sprintf("; it is the id of a %s: ask for a %s instead, or for what its edges reach", n.Name, n.Name)
		}
	}
	return ""
}
