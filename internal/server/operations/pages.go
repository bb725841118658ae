package operations

import (
	"errors"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// CommitPage is the end of a page of the commits of a branch.
type CommitPage struct {
	Branch tool.Branch
	Before uint64 // the next page has smaller sequence numbers only
}

// Token returns the token of the next page.
func (p CommitPage) Token(env *tool.Env) string {
	return env.SealPage(pagetoken.Place{List: pagetoken.Commits, Branch: p.Branch.Name(), After: strconv.FormatUint(p.Before, 10)})
}

// openCommits returns the sequence number where a page of the commits of a branch starts. If the
// token is empty, it returns 0 for the first page. The error is a *tool.ArgumentError.
func openCommits(env *tool.Env, token string, branch tool.Branch) (before uint64, err error) {
	if token == "" {
		return 0, nil
	}
	p, err := env.OpenPage(token, pagetoken.Commits)
	switch {
	case err != nil:
		return 0, err
	case p.Branch != branch.Name():
		return 0, tool.BadPageToken("belongs to the branch " + p.Branch)
	}
	return strconv.ParseUint(p.After, 10, 64)
}

// ChangePage is the end of a page of the changes of a commit.
type ChangePage struct {
	Commit string                // id of the commit
	After  engine.ChangePosition // the last change of the page
}

// Token returns the token of the next page.
func (p ChangePage) Token(env *tool.Env) string {
	return env.SealPage(pagetoken.Place{List: pagetoken.Changes, Commit: p.Commit, After: positionText(p.After)})
}

// positionText returns the text of a position, which parseChangePosition reads.
func positionText(p engine.ChangePosition) string { return p.Entity + "/" + p.Type + "/" + p.ID }

// OpenChanges returns a position. A page of the changes of a commit starts after that position. If
// the token is empty, the position is zero, for the first page. The error is a *tool.ArgumentError.
func OpenChanges(env *tool.Env, token, commit string) (after engine.ChangePosition, err error) {
	if token == "" {
		return after, nil
	}
	p, err := env.OpenPage(token, pagetoken.Changes)
	switch {
	case err != nil:
		return after, err
	case p.Commit != commit:
		return after, tool.BadPageToken("belongs to the commit " + p.Commit)
	}
	after, _ = parseChangePosition(p.After)
	return after, nil
}

// parseChangePosition reads a position as the kind of the entity, its type and its id, separated by
// slashes. The id may contain slashes.
func parseChangePosition(text string) (engine.ChangePosition, bool) {
	parts := strings.SplitN(text, "/", 3)
	if len(parts) != 3 || parts[0] != "node" && parts[0] != "edge" {
		return engine.ChangePosition{}, false
	}
	return engine.ChangePosition{Entity: parts[0], Type: parts[1], ID: parts[2]}, true
}

// LostChanges converts an error of the engine for a caller who reads the changes of a commit page
// by page. If the commit was cleaned up since the first page, it returns a *tool.ArgumentError.
func LostChanges(err error, token, commit string) error {
	var missing *engine.NotFound
	if token == "" || !errors.As(err, &missing) {
		return err
	}
	return &tool.ArgumentError{Path: "page_token", Detail: "the commit that the token reads, " + commit + ", was cleaned up", Help: "the changes of the commit can no longer be read"}
}
