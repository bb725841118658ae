package operations

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// watchAnswer is the answer of a watched query at a commit.
type watchAnswer struct {
	commit string
	keys   []string          // what a row is known by: the ids of its entities, or its grouping values
	exact  []json.RawMessage // the rows in one form for all callers
	shown  []json.RawMessage // the rows in the form for the caller
}

// digest identifies the rows with their keys.
func (a *watchAnswer) digest() (d [16]byte) {
	h := sha256.New()
	for i, key := range a.keys {
		for _, text := range [][]byte{[]byte(key), a.exact[i]} {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
			h.Write(text)
		}
	}
	copy(d[:], h.Sum(nil))
	return d
}

// to returns the differences from one answer to another one. Rows of a key that several rows have are paired in their order.
func (a *watchAnswer) to(b *watchAnswer) (came, went []client.Row, changed []client.RowChange) {
	rest := map[string][]int{} // the rows of a that b has not shown yet, by key
	for i, key := range a.keys {
		rest[key] = append(rest[key], i)
	}
	for j, key := range b.keys {
		list := rest[key]
		if len(list) == 0 {
			came = append(came, client.Row(b.shown[j]))
			continue
		}
		i := list[0]
		rest[key] = list[1:]
		if !bytes.Equal(a.exact[i], b.exact[j]) {
			changed = append(changed, client.RowChange{Before: client.Row(a.shown[i]), After: client.Row(b.shown[j])})
		}
	}
	for i, key := range a.keys {
		if list := rest[key]; len(list) > 0 && list[0] == i {
			went, rest[key] = append(went, client.Row(a.shown[i])), list[1:]
		}
	}
	return came, went, changed
}

// wireRows returns rows in the form of the wire.
func wireRows(rows []json.RawMessage) []client.Row {
	out := make([]client.Row, len(rows))
	for i, r := range rows {
		out[i] = client.Row(r)
	}
	return out
}

// watchCursor is the place of a consumer: the commit whose answer it has, and digests of what that answer depends on. On the wire it
// is these 44 bytes in base64url:
//
//	commit                 16 bytes, a ULID
//	query, schema, rights  4 bytes each
//	answer                 16 bytes
//
// The digest of the answer makes the events exact whatever else changes: an event has differences only if the answer at the commit
// is, under the rights of now, the one that the consumer has.
type watchCursor struct {
	commit                string
	query, schema, rights [4]byte
	answer                [16]byte
}

// String returns the cursor on the wire.
func (c *watchCursor) String() string {
	id := ulid.MustParse(c.commit)
	b := slices.Concat(id[:], c.query[:], c.schema[:], c.rights[:], c.answer[:])
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseWatchCursor reads a cursor; it returns nil for an empty text. The error is a *tool.ArgumentError.
func parseWatchCursor(text string) (*watchCursor, error) {
	if text == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 44 {
		return nil, &tool.ArgumentError{Path: "cursor", Detail: "it is not the cursor of an event of a watch", Help: "send the cursor of the last event unchanged, or none to get the whole answer"}
	}
	c := &watchCursor{commit: ulid.ULID(b[:16]).String()}
	copy(c.query[:], b[16:])
	copy(c.schema[:], b[20:])
	copy(c.rights[:], b[24:])
	copy(c.answer[:], b[28:])
	return c, nil
}

// WatchedCommit returns the commit of a cursor, or "" if the text is none.
func WatchedCommit(cursor string) string {
	c, err := parseWatchCursor(cursor)
	if c == nil || err != nil {
		return ""
	}
	return c.commit
}

// differs returns the reason for a reset if a cursor depends on something else than a later one.
func (c *watchCursor) differs(now *watchCursor) string {
	switch {
	case c.query != now.query:
		return client.ResetQuery
	case c.schema != now.schema:
		return client.ResetSchema
	case c.rights != now.rights:
		return client.ResetRights
	}
	return ""
}

// shortDigest digests texts.
func shortDigest(texts ...[]byte) (d [4]byte) {
	h := sha256.New()
	for _, text := range texts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write(text)
	}
	copy(d[:], h.Sum(nil))
	return d
}

// keyedPlan returns a plan that also returns what a row is known by, and the indexes of the columns with that: the ids of the nodes and
// edges that it binds, or the grouping values. The rows and their order stay.
func keyedPlan(q *plan.Query) (keyed *plan.Query, key []int) {
	if q.Read.Grouped {
		for i, c := range q.Read.Columns {
			aggregates := false
			plan.WalkExpr(c.Expr, func(e plan.Expr) {
				_, agg := e.(plan.Agg)
				aggregates = aggregates || agg
			})
			if !aggregates {
				key = append(key, i)
			}
		}
		return q, key
	}
	own, read := *q, *q.Read
	own.Read = &read
	read.Columns = slices.Clone(read.Columns)
	for _, id := range read.Ties {
		v := read.Vars[id]
		text := value.Type{Kind: value.String, Nullable: v.Optional}
		if v.Entity == plan.Interface {
			key = append(key, len(read.Columns))
			read.Columns = append(read.Columns, plan.Column{Name: "type of " + v.Name, Expr: plan.Prop{Var: id, Name: "type", Type: text}, Type: text})
		}
		key = append(key, len(read.Columns))
		read.Columns = append(read.Columns, plan.Column{Name: "id of " + v.Name, Expr: plan.ID{Var: id}, Type: text})
	}
	return &own, key
}

// readExprs calls visit for every expression of a read.
func readExprs(r *plan.Read, visit func(plan.Expr)) {
	for _, c := range r.Columns {
		plan.WalkExpr(c.Expr, visit)
	}
	for _, o := range r.Order {
		plan.WalkExpr(o.Expr, visit)
	}
	plan.WalkClauses(r.Match, visit)
	plan.WalkClauses(r.Having, visit)
}

// checkWatchable returns a *tool.ArgumentError for a query whose answer depends on more than the state that it reads, or never changes.
func checkWatchable(q *plan.Query, s *catalog.Schema) error {
	refuse := func(detail, help string) error {
		return &tool.ArgumentError{Path: "query", Detail: q.Name + " " + detail, Help: help}
	}
	switch {
	case q.Mutation != nil:
		return refuse("is a mutation, expected a read", "watch a read")
	case q.AsOf != nil:
		return refuse("reads as of an instant, so its answer never changes", "leave as of out of the query")
	case q.Read.Valid.UsesNow():
		return refuse("uses now(), so its answer changes without a commit", "give the query a parameter with the day, and watch it with a day")
	}
	var err error
	readExprs(q.Read, func(e plan.Expr) {
		switch e := e.(type) {
		case plan.Now:
			err = refuse("uses now(), so its answer changes without a commit", "give the query a parameter with the instant, and watch it with an instant")
		case plan.Nearest:
			if p := propertyOf(q.Read, e.Prop, s); p != nil && p.Approximate {
				err = refuse("searches "+q.Read.Vars[e.Prop.Var].Type+"."+p.Name+" with @ann, so two runs may find different rows", "watch a query without nearest, or search a property without @ann")
			} else if isText(e.Vector, q.Params) {
				err = refuse("embeds a text, and the provider may answer differently each time", "give the query a parameter with the vector")
			}
		default:
		}
	})
	return err
}

// propertyOf returns the property of a schema that an expression names, or nil.
func propertyOf(r *plan.Read, p plan.Prop, s *catalog.Schema) *catalog.Property {
	v := r.Vars[p.Var]
	var list []*catalog.Property
	switch v.Entity {
	case plan.Node:
		if n := s.Node(v.Type); n != nil {
			list = n.Properties
		}
	case plan.Edge:
		if e := s.Edge(v.Type); e != nil {
			list = e.Properties
		}
	default:
	}
	if i := slices.IndexFunc(list, func(have *catalog.Property) bool { return have.Name == p.Name }); i >= 0 {
		return list[i]
	}
	return nil
}

// isText reports whether an operand of nearest is a text.
func isText(e plan.Expr, params []plan.Param) bool {
	switch e := e.(type) {
	case plan.Lit:
		return e.Value.Kind() == value.String
	case plan.ParamRef:
		return params[e.Index].Type.Kind == value.String
	default:
		return false
	}
}

const (
	// maxFootprintCommits is the number of commits that an evaluation compares with the footprint of the query. Past it, the query runs.
	maxFootprintCommits = 64

	// maxFootprintChanges is the number of changes of a commit that are compared. A commit with more touches the query.
	maxFootprintChanges = 256
)

// footprint says what a query reads: types, and of each the properties, or all of them. It is a superset: a commit that touches none
// of it leaves the answer as it is.
type footprint struct {
	whole bool               // every change counts
	types []string           // names of the types of nodes and edges
	props map[[2]string]bool // entity and type, or type and property, that the query reads
	all   bool               // any property of the types counts
}

// footprintOf returns the footprint of a read. With an interface it is everything: the types that implement it are not in the plan.
// At a valid time it is everything too: an edge is there only with its ends, and a walk passes types that are not in the plan.
func footprintOf(q *plan.Query) *footprint {
	f := &footprint{props: map[[2]string]bool{}, whole: q.Read.Valid != nil}
	for _, u := range q.Uses {
		switch {
		case u.Entity == plan.Interface:
			f.whole = true
		case u.Property != "":
			f.props[[2]string{u.Type, u.Property}] = true
		}
		f.types = append(f.types, u.Type)
	}
	f.whole = f.whole || len(f.types) == 0
	readExprs(q.Read, func(e plan.Expr) {
		if _, whole := e.(plan.Whole); whole {
			f.all = true
		}
	})
	return f
}

// touchedBy reports whether a commit changes something that the query reads.
func (f *footprint) touchedBy(ctx context.Context, g engine.Graph, commit string) (bool, error) {
	if f.whole {
		return true, nil
	}
	changes, err := g.Changes(ctx, commit, engine.ChangeRange{Types: f.types, Limit: maxFootprintChanges, Uncounted: true})
	if err != nil {
		return false, err
	}
	return changes.More || slices.ContainsFunc(changes.List, f.touches), nil
}

// touches reports whether a change concerns the query.
func (f *footprint) touches(c engine.EntityChange) bool {
	return c.Kind != engine.Updated || f.all || slices.ContainsFunc(c.Properties, func(p engine.PropertyChange) bool {
		isEnd := c.Entity == "edge" && (p.Name == "from" || p.Name == "to")
		return isEnd || f.props[[2]string{c.Type, p.Name}]
	})
}
