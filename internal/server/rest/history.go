package rest

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// defaultChanges is the number of changes of a page if the request gives no limit.
const defaultChanges = 1000

// look answers with data or metadata of a commit. If the route is tagged and the client already has the answer for that
// commit, look answers 304 and reads nothing. An answer that more than the commit decides has a route that is not tagged.
func (x *exchange) look(call *operations.Look) error {
	if x.route.Tagged {
		call.Unless = x.clientHas
	}
	return x.answer(call, encoding.Options{})
}

// reads returns the handler of an operation that reads the branch or the commit of the query string.
func reads(operation func(branch tool.BranchName, commit string) *operations.Look) func(*exchange) error {
	return func(x *exchange) error { return x.look(operation(x.branch(), x.snapshotted())) }
}

// growth counts the entities of a branch at some of its commits.
func (x *exchange) growth() error {
	return x.look(x.g.LookGrowth(x.actor(), x.branch(), x.number("points", operations.MaxGrowth)))
}

// commits lists the commits of a branch.
func (x *exchange) commits() error {
	token := x.query.Get("page_token")
	if err := x.onePosition("before", token); err != nil {
		return err
	}
	return x.look(operations.LookCommits(x.branch(), engine.CommitRange{Before: uint64(x.number("before", 0)), Limit: x.number("limit", 0)}, token, x.query.Get("grep"), operations.CommitList))
}

// onePosition returns an error if a request gives the start of a page twice: by a page token and by
// the parameter for a position.
func (x *exchange) onePosition(position, token string) error {
	if token == "" || x.query.Get(position) == "" {
		return nil
	}
	return &tool.ArgumentError{Path: "page_token", Detail: "found together with " + position + ", expected only one of them", Help: "each of them gives the start of the page"}
}

// commit answers with the metadata of a commit.
func (x *exchange) commit() error {
	return x.look(operations.LookCommit(x.branch(), x.r.PathValue("commit")))
}

// changes lists the changes of a commit.
func (x *exchange) changes() error {
	r := engine.ChangeRange{Limit: x.number("limit", defaultChanges), Entities: x.query["kind"], Types: x.query["type"]}
	for _, op := range x.query["op"] {
		kind, _ := operations.ParseOp(op) // check has refused other names
		r.Kinds = append(r.Kinds, kind)
	}
	if err := operations.CheckPage(r.Limit); err != nil {
		return err
	}
	return x.look(operations.LookChanges(x.branch(), x.r.PathValue("commit"), r, x.query.Get("page_token")))
}

// nodeHistory lists the commits that changed a node.
func (x *exchange) nodeHistory() error {
	return x.look(operations.LookNodeHistory(x.branch(), x.query.Get("type"), x.query.Get("id"), uint64(x.number("before", 0)), x.number("limit", 0)))
}
