package rest

import (
	"context"
	"slices"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// changeFeed lists the changes of a branch after a cursor, as one page or as a stream of events.
func (x *exchange) changeFeed() error {
	r := operations.FeedRange{
		Branch: x.branch(), Cursor: x.query.Get("cursor"), Latest: x.query.Get("start") == client.StartLatest, PageToken: x.query.Get("page_token"),
		Select: engine.ChangeRange{Limit: x.number("limit", defaultChanges), Entities: x.query["kind"], Types: x.query["type"]}, Now: x.opts.Now,
	}
	for _, op := range x.query["op"] {
		kind, _ := operations.ParseOp(op) // check has refused other names
		r.Select.Kinds = append(r.Select.Kinds, kind)
	}
	if err := operations.CheckPage(r.Select.Limit); err != nil {
		return err
	}
	if r.PageToken == "" && r.Cursor != "" && x.query.Has("start") {
		return errCursorAndStart
	}
	if IsSubscription(x.r) {
		return x.subscribe(r)
	}
	if err := x.reachCursor(&r); err != nil {
		return err
	}
	return x.answer(operations.ReadFeed(r), encoding.Options{})
}

// reachCursor waits until this server knows the commit of the cursor or of the page token. A server
// that follows another one may not have it yet when a subscriber changes the server. An unknown commit
// is not an error here: the call itself reports it, after the policy allowed the read.
func (x *exchange) reachCursor(r *operations.FeedRange) (err error) {
	switch {
	case r.PageToken != "":
		err = x.g.ReachPage(x.ctx(), r.PageToken)
	case r.Cursor != "":
		_, commit := encoding.SplitFeedCursor(r.Cursor)
		err = x.g.Reach(x.ctx(), commit)
	}
	if err != nil && x.ctx().Err() != nil {
		return err
	}
	return nil
}

// baseline sends the entities of the head of a branch, and then the cursor that continues after them.
func (x *exchange) baseline() error {
	var b client.BaselineBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	oneOf(o, "kind", b.Kind, client.KindNode, client.KindEdge)
	oneOf(o, "op", b.Op, client.OpInsert, client.OpUpdate, client.OpDelete)
	if err := o.Done(); err != nil {
		return err
	}
	return x.export(exportRequest{branch: tool.BranchName(b.Branch), media: mediaNDJSON, send: func(ctx context.Context, g engine.Graph, out *stream) error {
		types, err := baselineTypes(ctx, g, out.commit, &b)
		if err != nil {
			return err
		}
		if len(types) > 0 {
			if _, err := g.Export(ctx, out, engine.Target{Commit: out.commit}, engine.ExportOptions{Types: types, StringIntegers: x.stringIntegers()}); err != nil {
				return err
			}
		}
		end := client.BaselineEnd{SnapshotCommitID: out.commit, ResumeCursor: encoding.FeedCursor(out.pin, out.commit)}
		line, err := encoding.JSON(client.BaselineLine{Baseline: end})
		if err != nil {
			return err
		}
		_, err = out.Write(append(line, '\n'))
		return err
	}})
}

// oneOf records a fault for each item of a member that is not one of the allowed texts.
func oneOf(o *arguments.Object, member string, items []string, allowed ...string) {
	p := Param{Enum: allowed}
	for _, item := range items {
		if !slices.Contains(allowed, item) {
			o.Fail(member, "found \""+short(item)+"\", expected "+p.wanted(), "")
		}
	}
}

// baselineTypes returns the names of the types whose entities a baseline lists. The error for an
// unknown type is an *engine.NotFound.
func baselineTypes(ctx context.Context, g engine.Graph, commit string, b *client.BaselineBody) ([]string, error) {
	s, err := g.Schema(ctx, engine.Target{Commit: commit})
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, name := range b.Type {
		spelled, ok := operations.TypeNamed(s.Catalog, name)
		if !ok {
			return nil, &engine.NotFound{What: "type", Name: name}
		}
		wanted[spelled] = true
	}
	if len(b.Op) > 0 && !slices.Contains(b.Op, client.OpInsert) {
		return nil, nil
	}
	var names []string
	add := func(kind, name string) {
		if (len(b.Kind) == 0 || slices.Contains(b.Kind, kind)) && (len(b.Type) == 0 || wanted[name]) {
			names = append(names, name)
		}
	}
	eachType(s.Catalog, add)
	return names, nil
}

// eachType calls a function with the kind and the name of each type of a schema.
func eachType(s *catalog.Schema, f func(kind, name string)) {
	for _, n := range s.Nodes {
		f(client.KindNode, n.Name)
	}
	for _, e := range s.Edges {
		f(client.KindEdge, e.Name)
	}
}
