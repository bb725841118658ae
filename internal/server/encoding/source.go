package encoding

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// shortHash is the number of digits of a Git commit in an answer.
const shortHash = 12

// sourceOf returns what an answer says about the source code from which the graph at a commit was read, and a note if the code
// has changed since. It returns nil if the graph is of other data, or if the caller may not read the whole branch.
func sourceOf(ctx context.Context, env *tool.Env, commit string) (*client.SourceState, string) {
	if env == nil || env.Source == nil || !env.MayRead() {
		return nil, ""
	}
	s := env.Source.At(ctx, commit)
	if s == nil {
		return nil, ""
	}
	out := &client.SourceState{Indexed: short(s.Indexed), Unknown: s.Unknown}
	if !s.Known {
		return out, ""
	}
	out.Head, out.Dirty = short(s.Head), &s.Dirty
	if s.Head != "" && s.Indexed != "" {
		out.Behind = &s.Behind
	}
	var differ []string
	if s.Behind {
		differ = append(differ, "another commit is checked out")
	}
	if s.Dirty > 0 {
		differ = append(differ, fmt.Sprintf("%d files differ, such as %s", s.Dirty, strings.Join(s.Changed, ", ")))
	}
	if differ == nil {
		return out, ""
	}
	return out, "the code has changed since it was read: " + strings.Join(differ, "; ") + "; read these files, or the branch " +
		strconv.Quote(s.Branch) + " if omnigraph index go --watch keeps it"
}

// short returns the first digits of a Git commit.
func short(hash string) string { return hash[:min(len(hash), shortHash)] }
