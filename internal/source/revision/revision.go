// Package revision finds out which commit of its repository a folder holds.
package revision

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
)

// Of returns the commit that is checked out in the Git repository of a folder, and reports whether files of
// the folder that Git tracks differ from it. The commit is empty if the folder belongs to no repository,
// if the repository has no commit, or if git is not installed.
func Of(ctx context.Context, dir string) (commit string, modified bool) {
	out, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return "", false
	}
	changes, err := git(ctx, dir, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules", "--", ".")
	if err != nil {
		return "", false
	}
	return strings.TrimSpace(string(out)), len(bytes.TrimSpace(changes)) > 0
}

// git runs git in a folder. It does not run the file monitor that the repository configures.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false", "--no-optional-locks"}, args...)...)
	cmd.Dir = dir
	return cmd.Output()
}
