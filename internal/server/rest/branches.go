package rest

import (
	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// listBranches answers GET /graphs/{id}/branches.
func (x *exchange) listBranches() error {
	list := &operations.ListBranches{Limit: x.number("limit", 0), PageToken: x.query.Get("page_token")}
	list.Answer = func(branches []operations.ListedBranch, next string) any {
		a := &client.BranchList{Branches: make([]string, len(branches)), Heads: make([]client.BranchHead, len(branches)), NextPageToken: next}
		for i, b := range branches {
			a.Branches[i] = b.Name
			a.Heads[i] = operations.BranchHead(b)
		}
		return a
	}
	return x.answer(list, encoding.Options{})
}

// createBranch answers POST /graphs/{id}/branches.
func (x *exchange) createBranch() error {
	var b client.BranchBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	wantName(o, "name", b.Name)
	if err := o.Done(); err != nil {
		return err
	}
	call := &operations.CreateBranch{Name: tool.BranchName(b.Name), From: tool.BranchName(b.From), Commit: b.FromCommit}
	return x.answer(operations.Shaped(call, func(created *operations.BranchCreateResult) any {
		made := created.OverREST()
		made.URI = x.uri()
		return made
	}), encoding.Options{})
}

// deleteBranch answers DELETE /graphs/{id}/branches/{branch}.
func (x *exchange) deleteBranch() error {
	call := &operations.DeleteBranch{Name: tool.BranchName(x.r.PathValue("branch"))}
	return x.answer(operations.Shaped(call, func(gone *operations.BranchDeleteResult) any {
		return &client.BranchDeleted{URI: x.uri(), Name: gone.Name, ActorID: gone.ActorID}
	}), encoding.Options{})
}

// mergeBranches merges a branch and then, if requested, deletes the source. If the deletion
// fails, the merge stays; the answer reports the failure.
func (x *exchange) mergeBranches() error {
	var b client.MergeBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	wantName(o, "source", b.Source)
	if err := o.Done(); err != nil {
		return err
	}
	k := x.runOptions()
	m := &operations.MergeAndDelete{Delete: b.DeleteBranch, MergeBranches: operations.MergeBranches{Source: tool.BranchName(b.Source), Target: tool.BranchName(b.Target), Options: engine.MergeOptions{
		IfCommit: k.IfCommit, IdempotencyKey: k.IdempotencyKey, Message: k.Message, DryRun: b.DryRun,
	}}}
	a, err := m.Do(func(_ string, call tool.Call) error {
		_, err := x.do(call, encoding.Options{})
		return err
	}, x.text)
	if err != nil {
		return err
	}
	return x.reply(a)
}

// wantName records a fault if the member that names a branch is empty. Otherwise the call
// would be about main.
func wantName(o *arguments.Object, member, name string) {
	if o.Has(member) && name == "" {
		o.Fail(member, "found an empty text, expected the name of a branch", "")
	}
}
