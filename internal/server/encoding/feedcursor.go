package encoding

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

// FeedCursor returns the cursor of the change feed after a commit. If the caller named the branch by an alias,
// `pin` is the branch that the alias stood for; otherwise it is empty. The cursor is then BRANCH@COMMIT, and
// the feed continues on that branch whatever the alias stands for later.
func FeedCursor(pin, commit string) string {
	if pin == "" {
		return commit
	}
	return pin + "@" + commit
}

// SplitFeedCursor returns the branch that a cursor names, or "", and the commit of the cursor. No name of a
// branch has an @.
func SplitFeedCursor(cursor string) (pin, commit string) {
	pin, commit, ok := strings.Cut(cursor, "@")
	branch := tool.BranchNamed(pin)
	if _, draft := branch.DraftID(); !ok || pin == "" || !draft && !branch.IsMain() {
		return "", cursor
	}
	return pin, commit
}
