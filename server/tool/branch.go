package tool

import "github.com/omnigraph-go/omnigraph/engine"

// mainBranch is the name of the branch that every graph has. The server and the commands name it here only.
const mainBranch = engine.MainBranch

// BranchName is how a caller names a branch. It is the name of the branch; or draft or draft/NAME, which stand
// for a draft of the caller; or empty for main, or for a draft if the policy confines the writes of the caller
// to drafts. [Env.Branch] returns the branch.
type BranchName string

// OrMain returns the name, or the name of main if it is empty. It is for a call in which no name means main also for a
// caller whose writes go to drafts, or in which no name would mean any branch.
func (n BranchName) OrMain() BranchName {
	if n == "" {
		return mainBranch
	}
	return n
}

// Branch is a branch of the graph, which a [BranchName] stands for. The zero Branch is main.
type Branch struct {
	name string // empty for main
}

// BranchNamed returns the branch with a name that comes from the graph or from the policy: from a commit, a
// proposal, a list of branches. The name in a call may stand for another branch: use [Env.Branch].
func BranchNamed(name string) Branch {
	if name == mainBranch {
		return Branch{}
	}
	return Branch{name}
}

// Name returns the name of the branch. It is never empty.
func (b Branch) Name() string {
	if b.name == "" {
		return mainBranch
	}
	return b.name
}

// String returns the name of the branch.
func (b Branch) String() string { return b.Name() }

// IsMain reports whether the branch is main.
func (b Branch) IsMain() bool { return b == Branch{} }

// At returns the target that is the head of the branch.
func (b Branch) At() engine.Target { return engine.Target{Branch: b.Name()} }

// Since returns the target that is the head of the branch, if that has the commit or descends from it. For a reader of
// the target, the error is an *engine.NotFound otherwise.
func (b Branch) Since(commit string) engine.Target {
	return engine.Target{Branch: b.Name(), AtLeast: commit}
}

// DraftID returns the id of the draft that the branch belongs to; ok is false for another branch.
func (b Branch) DraftID() (id string, ok bool) { return engine.DraftID(b.name) }
