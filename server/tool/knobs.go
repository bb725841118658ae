package tool

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/server/place"
)

// Knobs are the options for running a query, other than its parameters and its branch.
type Knobs struct {
	Snapshot  string // for reads: the commit to read, instead of a branch
	PageToken string // for reads: the end of the previous page

	DryRun         bool   // for mutations, like the fields below: report without committing
	IdempotencyKey string // see [engine.WriteOptions]
	IfCommit       string
}

// ReadKnobs reads the run options of a read, except the branch. It notes a fault if both
// snapshot and branch are present, and for each option that only mutations have.
func ReadKnobs(o *Object) Knobs {
	refuse(o, "a read", writeOnly)
	k := Knobs{Snapshot: orEmpty(o.OptString("snapshot")), PageToken: orEmpty(o.OptString("page_token"))}
	if k.Snapshot != "" && o.Has("branch") {
		o.Fail("snapshot", "found beside branch, wanted one of the two", "a snapshot is a commit, whichever branch it is on")
	}
	return k
}

// WriteKnobs reads the run options of a mutation or a load, except the branch. It notes a
// fault for each option that only reads have.
func WriteKnobs(o *Object) Knobs {
	refuse(o, "a mutation", readOnly)
	k := Knobs{IdempotencyKey: orEmpty(o.OptString("idempotency_key")), IfCommit: orEmpty(o.OptString("if_commit"))}
	if dry := o.OptBool("dry_run"); dry != nil {
		k.DryRun = *dry
	}
	return k
}

// readOnly and writeOnly list the options that only reads or only mutations have, each with
// the reason why the other kind has no use for it.
var (
	readOnly  = [][2]string{{"snapshot", "a mutation writes to the head of a branch"}, {"page_token", "a mutation returns no rows"}}
	writeOnly = [][2]string{
		{"dry_run", "a read changes nothing"}, {"idempotency_key", "a read may be repeated as it is"},
		{"if_commit", "a read names the commit that it wants as snapshot"},
	}
)

// refuse notes a fault for each of the given options that is present, because it does not
// apply to this kind of query.
func refuse(o *Object, kind string, knobs [][2]string) {
	for _, k := range knobs {
		o.Refuse(k[0], "does not apply to "+kind, k[1])
	}
}

// Check returns an *ArgumentError if an option is set that does not apply to a mutation or
// a read, or if a read has both a snapshot and a branch. Otherwise it returns nil.
func (k *Knobs) Check(mutation bool, branch string) error {
	o := &Object{}
	set := map[string]bool{
		"snapshot": k.Snapshot != "", "page_token": k.PageToken != "",
		"dry_run": k.DryRun, "idempotency_key": k.IdempotencyKey != "", "if_commit": k.IfCommit != "",
	}
	kind, foreign := "a read", writeOnly
	if mutation {
		kind, foreign = "a mutation", readOnly
	}
	for _, f := range foreign {
		if set[f[0]] {
			o.Fail(f[0], "does not apply to "+kind, f[1])
		}
	}
	if !mutation && k.Snapshot != "" && branch != "" {
		o.Fail("snapshot", "found beside branch, wanted one of the two", "a snapshot is a commit, whichever branch it is on")
	}
	return o.Done()
}

// Grant returns the permission to read the snapshot, or the branch if there is no snapshot.
func (k *Knobs) Grant(branch string, via Via) Grant {
	return Grant{Action: Read, Branch: branch, Commit: k.Snapshot, Via: via}
}

// Write returns the options for a write to a branch. An empty branch means main.
func (k *Knobs) Write(env *Env, branch string) engine.WriteOptions {
	if branch == "" {
		branch = engine.MainBranch
	}
	return engine.WriteOptions{Branch: branch, Actor: env.Actor, DryRun: k.DryRun, IdempotencyKey: k.IdempotencyKey, IfCommit: k.IfCommit}
}

// Reading describes the state of the graph that a read runs on.
type Reading struct {
	Asked engine.Target // what the caller named, for the answer
	At    engine.Target // what the engine reads
	place *place.Place  // nil on the first page
}

// Reading returns the state that a read on a branch runs on. An empty branch means main.
// All pages after the first run on the same commit as the first. The error is an
// *ArgumentError.
func (k *Knobs) Reading(env *Env, branch string) (*Reading, error) {
	if branch == "" {
		branch = engine.MainBranch
	}
	r := &Reading{Asked: engine.Target{Branch: branch}}
	if k.Snapshot != "" {
		r.Asked = engine.Target{Commit: k.Snapshot}
	}
	r.At = r.Asked
	r.At.Now = env.Now
	if k.PageToken == "" {
		return r, nil
	}
	p, err := openToken(env, k.PageToken)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Snapshot && p.Commit != k.Snapshot:
		return nil, badToken("is of the snapshot " + p.Commit)
	case !p.Snapshot && (k.Snapshot != "" || p.Branch != branch):
		return nil, badToken("is of the branch " + p.Branch)
	}
	r.place = p
	r.At = engine.Target{Commit: p.Commit, Now: p.Now}
	return r, nil
}

// Run runs a read. It returns an *ArgumentError if a later page has another query or other
// arguments than the first page.
func (r *Reading) Run(ctx context.Context, env *Env, q *plan.Query, args engine.Args) (*Outcome, error) {
	out := &ReadOutcome{Query: q.Name, Target: r.Asked, Plan: q, Args: args, Now: r.At.Now}
	if r.place != nil {
		switch {
		case r.place.Plan != place.PlanDigest(q):
			return nil, badToken("is of another query, or of another version of this one")
		case r.place.Args != place.ArgsDigest(args):
			return nil, badToken("is of a call with other parameters")
		}
		out.Row = r.place.Row
	}
	result, err := env.Graph.Query(ctx, q, args, r.At)
	if err != nil {
		return nil, r.Lost(err)
	}
	out.Result = result
	return &Outcome{Read: out}, nil
}

// Lost converts an error of the engine for the caller. If the commit of a later page no
// longer exists, it returns an *ArgumentError about the page token.
func (r *Reading) Lost(err error) error {
	var missing *engine.NotFound
	if r.place == nil || !errors.As(err, &missing) {
		return err
	}
	return &ArgumentError{
		Path: "page_token", Detail: "the commit that it reads, " + r.place.Commit + ", was cleaned up",
		Help: "call without page_token, for the first page of the present rows",
	}
}

// openToken opens a page token. It returns an error if the token is for another graph or another
// actor.
func openToken(e *Env, token string) (*place.Place, error) {
	if e.Pages == nil {
		return nil, badToken("cannot be opened here")
	}
	p, err := e.Pages.Open(token)
	var invalid *place.Invalid
	switch {
	case errors.As(err, &invalid):
		return nil, badToken(invalid.Reason)
	case err != nil:
		return nil, err
	case p.Graph != e.GraphID:
		return nil, badToken("is of another graph")
	case p.Actor != e.Actor:
		return nil, badToken("was given to another actor")
	}
	return p, nil
}

// NextToken returns the token for the page that follows n more rows of a read, or "" if page
// tokens are not available.
func NextToken(e *Env, r *ReadOutcome, n int) string {
	if e.Pages == nil {
		return ""
	}
	p := &place.Place{
		Graph: e.GraphID, Actor: e.Actor, Branch: r.Target.Branch, Snapshot: r.Target.Commit != "", Commit: r.Result.Commit(),
		Now: r.Now, Plan: place.PlanDigest(r.Plan), Args: place.ArgsDigest(r.Args), Row: r.Row + int64(n),
	}
	return e.Pages.Seal(p)
}

func badToken(reason string) error {
	return &ArgumentError{
		Path: "page_token", Detail: "it " + reason,
		Help: "send next_page_token as it was, with the arguments of the first page; or leave it out, for the first page",
	}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
