package operations

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	// maxChanges is the largest page of changes. A call with a higher limit, or with none, gets a page
	// of this size; the REST API refuses a higher limit, see CheckPage.
	maxChanges = 10_000

	// maxChangeBytes limits the values in a page of changes, in memory and as JSON. A page always
	// has at least one change.
	maxChangeBytes = 8 << 20
)

// ParseOp returns the kind of change that the REST API calls by the given name.
func ParseOp(name string) (kind engine.ChangeKind, ok bool) {
	for kind, op := range encoding.Ops {
		if op == name {
			return kind, true
		}
	}
	return 0, false
}

// CheckPage returns an *engine.TooLarge if a page of changes cannot have as many changes as `limit` says.
func CheckPage(limit int) error {
	if limit <= maxChanges {
		return nil
	}
	return &engine.TooLarge{Resource: "changes in a page", Limit: maxChanges, Actual: int64(limit), Hint: "set a smaller limit, and read the other changes from further pages"}
}

// LookChanges returns the call that lists a page of the changes of a commit. The argument `token`
// is the token of the page, or empty; if it is empty, r.After says where the page starts. The
// answer is a client.ChangesAnswer. If the commit has no parent, or another schema than its parent,
// the error is a *wireerror.DiffRefused. If the state of the commit or of its parent was reclaimed,
// the error is a *wireerror.HistoryGap. If the schema lacks a type in r.Types, the error is an
// *engine.NotFound.
func LookChanges(branch tool.BranchName, commit string, r engine.ChangeRange, token string) *Look {
	if r.Limit <= 0 || r.Limit > maxChanges {
		r.Limit = maxChanges
	}
	r.Images, r.MaxBytes = true, maxChangeBytes
	return &Look{Branch: branch, Commit: commit, Whole: true, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		r := r
		var err error
		if token != "" {
			if r.After, err = OpenChanges(env, token, c.ID); err != nil {
				return nil, err
			}
		}
		if err := comparable(ctx, env.Graph, c); err != nil {
			return nil, err
		}
		if r.Types, err = typesNamed(ctx, env.Graph, c, r.Types); err != nil {
			return nil, asGap(err)
		}
		changes, err := env.Graph.Changes(ctx, c.ID, r)
		if err != nil {
			return nil, asGap(err)
		}
		return changesAnswer(env, changes), nil
	}}
}

// comparable returns a *wireerror.DiffRefused unless the commit has a parent with the same schema.
func comparable(ctx context.Context, g engine.Graph, c engine.Commit) error {
	if len(c.Parents) == 0 {
		return &wireerror.DiffRefused{Commit: c.ID, Reason: client.ReasonParentless}
	}
	parent, err := g.Commit(ctx, c.Parents[0])
	if err != nil || parent.Schema == c.Schema {
		return err
	}
	typ, err := firstChanged(ctx, g, parent.ID, c.ID)
	if err = asGap(err); err != nil && !errors.As(err, new(*wireerror.HistoryGap)) {
		return err
	}
	return &wireerror.DiffRefused{Commit: c.ID, Reason: client.ReasonSchemaBoundary, Type: typ}
}

// firstChanged returns the first node or edge type that the schemas of two commits declare in
// different ways. It returns "" if all types are the same.
func firstChanged(ctx context.Context, g engine.Graph, from, to string) (string, error) {
	was, err := g.Schema(ctx, engine.Target{Commit: from})
	if err != nil {
		return "", err
	}
	is, err := g.Schema(ctx, engine.Target{Commit: to})
	if err != nil {
		return "", err
	}
	for _, step := range catalog.Diff(was.Catalog, is.Catalog).Steps {
		if step.Type != "" && step.Kind != catalog.InterfaceType {
			return step.Type, nil
		}
	}
	return "", nil
}

// typesNamed returns the names of types in the spelling of the schema of a commit. The error is an
// *engine.NotFound.
func typesNamed(ctx context.Context, g engine.Graph, c engine.Commit, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	schema, err := g.Schema(ctx, engine.Target{Commit: c.ID})
	if err != nil {
		return nil, err
	}
	types := make([]string, len(names))
	for i, name := range names {
		var ok bool
		if types[i], ok = TypeNamed(schema.Catalog, name); !ok {
			return nil, &engine.NotFound{What: "type", Name: name}
		}
	}
	return types, nil
}

// TypeNamed returns the name of a type in the spelling of the schema; ok is false if the schema lacks
// the type.
func TypeNamed(s *catalog.Schema, name string) (spelled string, ok bool) {
	if n := s.Node(name); n != nil {
		return n.Name, true
	}
	if e := s.Edge(name); e != nil {
		return e.Name, true
	}
	return "", false
}

// asGap converts the error for a commit with a reclaimed state to a *wireerror.HistoryGap.
func asGap(err error) error {
	var missing *engine.NotFound
	if errors.As(err, &missing) && missing.Reclaimed {
		return &wireerror.HistoryGap{Commit: missing.Name}
	}
	return err
}

// changesAnswer returns the changes of a commit in the form of the answer.
func changesAnswer(env *tool.Env, changes *engine.Changes) *client.ChangesAnswer {
	a := &client.ChangesAnswer{Cause: causeOf(changes.Commit)}
	var more bool
	if a.Changes, more = wireChanges(env, changes.List, changes.More); more {
		a.NextPageToken = new(ChangePage{Commit: changes.Commit.ID, After: changes.List[len(a.Changes)-1].Position()}.Token(env))
	}
	return a
}

// wireChanges converts the changes at the beginning of a list to their wire form, up to
// maxChangeBytes in total. It reports whether further changes follow. The argument `more` says
// whether changes follow after the end of the list.
func wireChanges(env *tool.Env, list []engine.EntityChange, more bool) ([]client.EntityChange, bool) {
	changes, bytes, values := []client.EntityChange{}, 0, encoding.ValuesIn(env)
	for i := range list {
		c := &list[i]
		before, n := encoding.Image(c.Entity, c.Before, values)
		after, m := encoding.Image(c.Entity, c.After, values)
		if bytes += n + m; i > 0 && bytes > maxChangeBytes {
			return changes, true
		}
		changes = append(changes, client.EntityChange{
			Kind: c.Entity, Type: client.ChangedType{ID: c.TypeID, Name: c.Type}, ID: c.ID, Op: encoding.Ops[c.Kind], Before: before, After: after,
		})
	}
	return changes, more && len(changes) > 0
}
