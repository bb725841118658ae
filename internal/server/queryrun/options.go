// Package queryrun runs compiled queries with the options that a caller may give: branch,
// snapshot, page token, dry run, idempotency key and expected commit.
package queryrun

import (
	"cmp"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Options are the options for running a query, other than its parameters and its branch.
type Options struct {
	Snapshot  string // for reads: the commit to read, instead of a branch; or an instant, see [tool.IsInstant]
	PageToken string // for reads: the end of the previous page

	DryRun         bool   // for mutations, as are the fields below: report, but do not commit
	IdempotencyKey string // see [engine.WriteOptions]
	IfCommit       string // the write fails unless this commit is the branch's head
	Message        string // of the commit

	unguarded string // notes about conditions that are null, one a line
}

// Notes returns the notes for the answer to a write about conditions that the caller sent as null.
func (k *Options) Notes() []string {
	if k.unguarded == "" {
		return nil
	}
	return strings.Split(k.unguarded, "\n")
}

// ReadOptions reads the run options of a read, except the branch. It notes a fault if both
// snapshot and branch are present, and for each option that only mutations have.
func ReadOptions(o *arguments.Object) Options {
	refuseOptions(o, "a read", writeOnly)
	k := Options{Snapshot: orEmpty(o.OptString("snapshot")), PageToken: orEmpty(o.OptString("page_token"))}
	if o.Gives("branch") {
		k.alone(o)
	}
	return k
}

// WriteOptions reads the run options of a mutation or a load, except the branch. It notes a
// fault for each option that only reads have.
func WriteOptions(o *arguments.Object) Options {
	refuseOptions(o, "a mutation", readOnly)
	k := Options{IdempotencyKey: o.Guard("idempotency_key"), IfCommit: o.Guard("if_commit"), Message: orEmpty(o.OptString("message")),
		unguarded: strings.Join(o.Unguarded("if_commit", "idempotency_key"), "\n")}
	if dry := o.OptBool("dry_run"); dry != nil {
		k.DryRun = *dry
	}
	return k
}

// readOnly and writeOnly list the options that only reads or only mutations have. Each option has
// the reason why the other kind of query has no use for it.
var (
	readOnly  = [][2]string{{"snapshot", "a mutation writes to the head of a branch"}, {"page_token", "a mutation returns no rows"}}
	writeOnly = [][2]string{
		{"dry_run", "a read changes nothing"}, {"idempotency_key", "a read can be repeated safely"},
		{"if_commit", "to read a commit, use snapshot"}, {"message", "a read makes no commit"},
	}
)

// refuseOptions notes a fault for each of the given options that is present, because it does not
// apply to this kind of query.
func refuseOptions(o *arguments.Object, kind string, options [][2]string) {
	for _, k := range options {
		o.Refuse(k[0], "does not apply to "+kind, k[1])
	}
}

// Check checks the options of a mutation or of a read on a branch. The error is a
// *tool.ArgumentError if an option is set that does not apply to that kind of query, or if a read
// has both a snapshot and a branch.
func (k *Options) Check(mutation bool, branch tool.BranchName) error {
	if *k == (Options{}) {
		return nil
	}
	o := &arguments.Object{}
	set := map[string]bool{
		"snapshot": k.Snapshot != "", "page_token": k.PageToken != "",
		"dry_run": k.DryRun, "idempotency_key": k.IdempotencyKey != "", "if_commit": k.IfCommit != "", "message": k.Message != "",
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
	if !mutation && branch != "" {
		k.alone(o)
	}
	return o.Done()
}

// alone notes a fault if the snapshot is a commit. REQUIRES: the caller names a branch too.
func (k *Options) alone(o *arguments.Object) {
	if k.Snapshot != "" && !tool.IsInstant(k.Snapshot) {
		o.Fail("snapshot", "found together with branch, expected only one of them", "a snapshot names a commit, so it needs no branch; an instant may have one")
	}
}

// Need returns the permission to read the snapshot, or the branch if there is no snapshot.
func (k *Options) Need(branch tool.BranchName, via tool.Via) tool.Need {
	if tool.IsInstant(k.Snapshot) { // [tool.Server.AsOf] asks for the right to the commit
		return tool.Need{Action: tool.Read, Branch: branch, Via: via}
	}
	return tool.Need{Action: tool.Read, Branch: branch, Commit: k.Snapshot, Via: via}
}

// Write returns the options for a write to a branch.
func (k *Options) Write(env *tool.Env, branch tool.Branch) engine.WriteOptions {
	return engine.WriteOptions{Branch: branch.Name(), Actor: env.Actor, Message: cmp.Or(k.Message, env.Message), Tool: env.Tool, DryRun: k.DryRun, IdempotencyKey: k.IdempotencyKey, IfCommit: k.IfCommit}
}

// orEmpty returns the text that s points to, or "".
func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
